// habits.tsx - forms of code that are nearly always a mistake, and code beside it that is none. The marks are those of
// test_examples.c.

async function isClosed(day: number) {
    await pause(day);
    return day > 5;
}

async function openGate(day: number) {
    return isClosed(day) ? 1 : 0; // FIRES missing-await/tested
}

function numbersOf(texts: string[]) {
    return texts.map(parseInt); // FIRES wrong-call/parse missing-null-check/parameter
}
