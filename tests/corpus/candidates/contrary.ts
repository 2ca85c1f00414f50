// contrary.ts - code that contradicts itself, and code beside it that does not. The marks are those of test_examples.c.

function isOddDay(day: any) {
    return day !== 'sunday' || day !== 'monday'; // FIRES inverted-condition/always
}

function isOutside(at: any) {
    return at < 0 && at > 99; // FIRES inverted-condition/never
}

function quiet_inverted_condition_days(day: any) {
    return (day !== 'sunday' && day !== 'monday') || day < 0 || day > 99 || (day > 3 && day < 9);
}

function quiet_inverted_condition_environment() {
    return process.env.SHOP_OPEN !== undefined || process.env.SHOP_CLOSED !== undefined; // FIRES missing-null-check/chain
}

function quiet_inverted_condition_environment_modes(mode: any) {
    return mode !== process.env.SHOP_MODE || mode !== process.env.DOOR_MODE; // FIRES missing-null-check/chain
}

function quiet_inverted_condition_limits() {
    return Shop.MOST !== undefined || Shop.LEAST !== undefined;
}

function themeOf(isDark: any, size: any) {
    return useMemo(() => (isDark ? makeTheme() : makeTheme()), [size]); // FIRES copied-block/branches
}

function quiet_copied_block_hook(isDark: any, size: any) {
    return useMemo(() => (isDark && size > 1 ? makeTheme() : makeTheme()), [isDark, size]);
}

function countAway(last: any) {
    for (let i = 0; i > last; i++) { // FIRES inverted-condition/steps-up
        show(i);
    }
    for (let k = last; k < 8; k--) { // FIRES inverted-condition/steps-down
        show(k);
    }
}

function quiet_inverted_condition_steps(last: any) {
    for (let i = 0; i < last; i++) {
        show(i);
    }
    for (let i = 8; i > 0; i--) {
        show(i);
    }
}

function isNew(key: any, known: any) {
    return !key in known; // FIRES wrong-operator/negated-in
}

function quiet_wrong_operator_in(key: any, known: any) {
    return !(key in known);
}

function isOpen(state: any) {
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

function isWithin(left: any, right: any, x: any) {
    return x < left || right < x || x < left; // FIRES copied-block/operands
}

function isSame(box: any, other: any) {
    if (!box || !other) {
        return false;
    }
    return box.left === other.left && other.right === other.right; // FIRES copied-block/equal
}

// The last part of a chain is its value; only not-a-number is not equal to itself.
function isWithin(x: any, left: any, right: any) {
    return x > left && x < right && x > left; // FIRES copied-block/operands-chain
}

function quiet_copied_block_operands_int(hash: any) {
    return hash & hash;
}

function quiet_copied_block_operands(x: any, box: any) {
    const known = box && x !== x && box;
    return known;
}

function priceOf(kind: any) {
    if (kind === 'small') {
        return 1;
    } else if (kind === 'large') {
        return 2;
    } else if (kind === 'small') { // FIRES copied-block/again
        return 3;
    }
    return 0;
}

function quiet_copied_block_again_same(kind: any, n: any) {
    if (kind === 'small' || n === 0) {
        openShop(kind);
    } else if (n === 0) {
        openShop(kind);
    }
}

function showKind(kind: any, n: any) {
    if (kind === 'small' || n === 0) {
        openShop(kind);
    } else if (n === 0) { // FIRES copied-block/again-part
        openShop(n);
    }
}

function quiet_copied_block_again(kind: any) {
    if (kind === 'small' && isSale()) {
        return 1;
    } else if (kind === 'small') {
        return 2;
    } else if (kind === 'sm all') {
        return 3;
    }
    return 0;
}

function showPrice(price: any, isSale: any) {
    if (isSale) { // FIRES copied-block/branches
        showNumber(price);
    } else {
        showNumber(price);
    }
}

function rateOf(isSale: any) {
    return isSale ? null : null; // FIRES copied-block/branches-literal
}

function quiet_copied_block_branches(price: any, isSale: any) {
    return isSale ? price - 1 : price;
}

function showAll(n: any) {
    let j = 0;
    for (let i = 0; i < n; j++) { // FIRES copied-block/loop-variable
        show(j);
    }
}

function quiet_copied_block_loop(n: any) {
    let j = 0;
    for (let i = 0; i < n; j++) {
        i = stepFrom(j);
    }
}

class Box {
    left: any;
    right: any;

    constructor(left: any, right: any) {
        this.left = this.left; // FIRES copied-block/itself-own
        this.right = right;
    }
}

function quiet_copied_block_itself(box: any, other: any) {
    if (box && other) {
        box.left = other.left;
    }
}

function setState(state: any) {
    state === 'open'; // FIRES wrong-operator/dropped-comparison
}

function quiet_wrong_operator_comparison(state: any) {
    return state === 'open';
}

function feeOf(kind: any) {
    if (kind === 'small' || kind === 'large') {
        return 1;
    } else if (kind === 'large') { // FIRES copied-block/again-part
        return 2;
    }
    return 0;
}

function quiet_copied_block_again_half(kind: any) {
    if (kind === 'small' && isSale()) {
        return 1;
    } else if (kind === 'small' || kind === 'large') {
        return 2;
    }
    return 0;
}

async function makeShelf(client: any, name: any, words: any) {
    const answer = await client.ask(name); // FIRES missing-null-check/parameter
    const isThere = answer && answer.body;
    if (!isThere || !isThere) { // FIRES copied-block/asked-twice
        return client.make(name, words);
    }
    const shelf = await client.get(name);
    return shelf && words.first;
}

function leftOfBoth(box: any, other: any) {
    if (!box || !box) { // FIRES copied-block/operands
        return 0;
    }
    return box.left + other.left; // FIRES missing-null-check/parameter
}
