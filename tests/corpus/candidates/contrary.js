// contrary.js - code that contradicts itself, and code beside it that does not. The marks are those of test_examples.c.

function isOddDay(day) {
    return day !== 'sunday' || day !== 'monday'; // FIRES inverted-condition/always
}

function isOutside(at) {
    return at < 0 && at > 99; // FIRES inverted-condition/never
}

function quiet_inverted_condition_days(day) {
    return (day !== 'sunday' && day !== 'monday') || day < 0 || day > 99 || (day > 3 && day < 9);
}

function quiet_inverted_condition_environment() {
    return process.env.SHOP_OPEN !== undefined || process.env.SHOP_CLOSED !== undefined; // FIRES missing-null-check/chain
}

function quiet_inverted_condition_environment_modes(mode) {
    return mode !== process.env.SHOP_MODE || mode !== process.env.DOOR_MODE; // FIRES missing-null-check/chain
}

function quiet_inverted_condition_limits() {
    return Shop.MOST !== undefined || Shop.LEAST !== undefined;
}

function themeOf(isDark, size) {
    return useMemo(() => (isDark ? makeTheme() : makeTheme()), [size]); // FIRES copied-block/branches
}

function quiet_copied_block_hook(isDark, size) {
    return useMemo(() => (isDark && size > 1 ? makeTheme() : makeTheme()), [isDark, size]);
}

function countAway(last) {
    for (let i = 0; i > last; i++) { // FIRES inverted-condition/steps-up
        show(i);
    }
    for (let k = last; k < 8; k--) { // FIRES inverted-condition/steps-down
        show(k);
    }
}

function quiet_inverted_condition_steps(last) {
    for (let i = 0; i < last; i++) {
        show(i);
    }
    for (let i = 8; i > 0; i--) {
        show(i);
    }
}

function isNew(key, known) {
    return !key in known; // FIRES wrong-operator/negated-in
}

function quiet_wrong_operator_in(key, known) {
    return !(key in known);
}

function isOpen(state) {
    if (state = 'open') { // FIRES wrong-operator/assigned
        return 1;
    }
    return 0;
}

function quiet_wrong_operator_kept() {
    let line;
    while ((line = nextLine())) {
        show(line);
    }
}

function isWithin(left, right, x) {
    return x < left || right < x || x < left; // FIRES copied-block/operands
}

function isSame(box, other) {
    if (!box || !other) {
        return false;
    }
    return box.left === other.left && other.right === other.right; // FIRES copied-block/equal
}

// The last part of a chain is its value; only not-a-number is not equal to itself.
function isWithin(x, left, right) {
    return x > left && x < right && x > left; // FIRES copied-block/operands-chain
}

function quiet_copied_block_operands_int(hash) {
    return hash & hash;
}

function quiet_copied_block_operands(x, box) {
    const known = box && x !== x && box;
    return known;
}

function priceOf(kind) {
    if (kind === 'small') {
        return 1;
    } else if (kind === 'large') {
        return 2;
    } else if (kind === 'small') { // FIRES copied-block/again
        return 3;
    }
    return 0;
}

function quiet_copied_block_again_same(kind, n) {
    if (kind === 'small' || n === 0) {
        openShop(kind);
    } else if (n === 0) {
        openShop(kind);
    }
}

function showKind(kind, n) {
    if (kind === 'small' || n === 0) {
        openShop(kind);
    } else if (n === 0) { // FIRES copied-block/again-part
        openShop(n);
    }
}

function quiet_copied_block_again(kind) {
    if (kind === 'small' && isSale()) {
        return 1;
    } else if (kind === 'small') {
        return 2;
    } else if (kind === 'sm all') {
        return 3;
    }
    return 0;
}

function showPrice(price, isSale) {
    if (isSale) { // FIRES copied-block/branches
        showNumber(price);
    } else {
        showNumber(price);
    }
}

function rateOf(isSale) {
    return isSale ? null : null; // FIRES copied-block/branches-literal
}

function quiet_copied_block_told_apart(price, isSale) {
    if (isSale) {
        showNumber(price); // a price by the piece
    } else {
        // A price for all of them.
        showNumber(price);
    }
}

function quiet_copied_block_branches(price, isSale) {
    return isSale ? price - 1 : price;
}

function showAll(n) {
    let j = 0;
    for (let i = 0; i < n; j++) { // FIRES copied-block/loop-variable
        show(j);
    }
}

function quiet_copied_block_loop(n) {
    let j = 0;
    for (let i = 0; i < n; j++) {
        i = stepFrom(j);
    }
}

class Box {
    constructor(left, right) {
        this.left = this.left; // FIRES copied-block/itself-own
        this.right = right;
    }
}

function quiet_copied_block_itself(box, other) {
    if (box && other) {
        box.left = other.left;
    }
}

function setState(state) {
    state === 'open'; // FIRES wrong-operator/dropped-comparison
}

function quiet_wrong_operator_comparison(state) {
    return state === 'open';
}

function feeOf(kind) {
    if (kind === 'small' || kind === 'large') {
        return 1;
    } else if (kind === 'large') { // FIRES copied-block/again-part
        return 2;
    }
    return 0;
}

function quiet_copied_block_again_half(kind) {
    if (kind === 'small' && isSale()) {
        return 1;
    } else if (kind === 'small' || kind === 'large') {
        return 2;
    }
    return 0;
}

async function makeShelf(client, name, words) {
    const answer = await client.ask(name); // FIRES missing-null-check/parameter
    const isThere = answer && answer.body;
    if (!isThere || !isThere) { // FIRES copied-block/asked-twice
        return client.make(name, words);
    }
    const shelf = await client.get(name);
    return shelf && words.first;
}

function leftOfBoth(box, other) {
    if (!box || !box) { // FIRES copied-block/operands
        return 0;
    }
    return box.left + other.left; // FIRES missing-null-check/parameter
}
