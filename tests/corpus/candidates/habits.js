// habits.js - forms of code that are nearly always a mistake, and code beside it that is none. The marks are those of
// test_examples.c.

async function isClosed(day) {
    await pause(day);
    return day > 5;
}

async function openGate(day) {
    if (isClosed(day)) { // FIRES missing-await/tested
        return 1;
    }
    return 0;
}

async function isFree(day) {
    const closed = isClosed(day); // FIRES missing-await/tested
    if (!closed) {
        return 1;
    }
    return 0;
}

async function showState(day) {
    return `state ${isClosed(day)}`; // FIRES missing-await/used
}

async function sizeOf(day) {
    const { size } = isClosed(day); // FIRES missing-await/used
    return size;
}

async function closeAll(days) {
    days.forEach(async (day) => { // FIRES missing-await/each missing-null-check/parameter
        await isClosed(day);
    });
    return days.length;
}

async function readGate(path) {
    const gate = await open(path);
    try {
        return readAll(gate); // FIRES missing-await/closed
    } finally {
        await gate.close(); // FIRES missing-null-check/result-of-any
    }
}

async function readAll(gate) {
    return gate.read(); // FIRES missing-null-check/parameter
}

async function readQuietly(gate) {
    try {
        return await gate.read(); // FIRES missing-null-check/parameter
    } catch (error) {
        return null;
    }
}

async function quiet_missing_await_caught(gate) {
    try {
        return readQuietly(gate);
    } catch (error) {
        return '';
    }
}

async function readOrNothing(gate) {
    try {
        return readAll(gate); // FIRES missing-await/caught
    } catch (error) {
        return null;
    }
}

// Awaited, handed to what waits for it, with a handler of its errors, or returned.
async function quiet_missing_await(day, gate) {
    if (await isClosed(day)) {
        return 1;
    }
    const job = isClosed(day);
    const jobs = [1, 2].map(async (x) => isClosed(x));
    isClosed(day).catch(report);
    void isClosed(day);
    isClosed(day);
    await Promise.all([job, ...jobs, isClosed(day)]);
    [1, 2].forEach((x) => show(x));
    try {
        return await readAll(gate);
    } finally {
        await gate.close(); // FIRES missing-null-check/parameter
    }
}

function quiet_missing_await_plain(days) {
    days.forEach(async (day) => { // FIRES missing-null-check/parameter
        await isClosed(day);
    });
    isClosed(1);
    return isClosed(2);
}

function priceOf(kind) {
    let price = 0;
    switch (kind) {
        case 'small':
            price = 1;
            break;
        case 'large':
            price = 2; // FIRES missing-break/runs-on
        case 'huge':
            price = 3;
            break;
        case 'free':
            price = 0;
            break;
        default:
            price = 4;
    }
    return price;
}

// A comment that says so, a case without statements, one that leaves, and a switch in which all run on.
function quiet_missing_break(kind) {
    let price = 0;
    switch (kind) {
        case 'small':
        case 'tiny':
            price = 1;
            break;
        case 'large':
            price = 2;
        // falls through
        case 'huge':
            price += 3;
            break;
        case 'free':
            throw new Error(kind);
        case 'any':
            price = 5;
        default:
            break;
    }
    switch (price) {
        case 1:
            price += 1;
        case 2:
            price += 2;
        case 3:
            price += 3;
        default:
            price += 4;
    }
    return price;
}

function middleOf(times) {
    const ordered = times.slice().sort(); // FIRES wrong-call/sort missing-null-check/parameter
    return (ordered[1] - ordered[0]) / 2; // FIRES missing-null-check/result-of-any
}

function lengths(names) {
    return names.map((name) => name.length).sort(); // FIRES wrong-call/sort missing-null-check/parameter
}

function quiet_wrong_call_one(text) {
    const one = Optional.ofNullable(text);
    return one.map(parseInt).filter(isFinite).orElse(maybe(text).map(parseInt)); // FIRES missing-null-check/result-of-any
}

function numbersOfAll(texts) {
    return Array.from(texts).map(parseInt); // FIRES wrong-call/parse
}

function numbersOf(texts) {
    return texts.map(parseInt); // FIRES wrong-call/parse missing-null-check/parameter
}

function isNumber(x) {
    return x !== NaN; // FIRES wrong-call/nan
}

function cleanName(name) {
    name.trim(); // FIRES wrong-call/dropped missing-null-check/parameter
    return name;
}

function plainName(name) {
    name.replace(/ /g, ''); // FIRES wrong-call/dropped missing-null-check/parameter
    return name;
}

function onlyOpen(gates) {
    gates.filter((gate) => gate.open); // FIRES wrong-call/dropped missing-null-check/parameter
    return gates;
}

function checkDay(day) {
    if (day > 7) {
        new Error('no such day'); // FIRES wrong-call/error
    }
    return day;
}

// With a comparator, of texts, with a base, and results that are used.
function quiet_wrong_call(names, times, location) {
    names.sort(); // FIRES missing-null-check/parameter
    times.sort((a, b) => a - b);
    const numbers = names.map((name) => parseInt(name, 10));
    location.replace('/home');
    names.map((name) => show(name));
    if (Number.isNaN(times[0])) {
        throw new Error('no time');
    }
    return numbers.filter((x) => x > times[0]); // FIRES missing-null-check/result-of-any
}
