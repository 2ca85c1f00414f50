// habits.tsx - forms of code that are nearly always a mistake, and code beside it that is none. The marks are those of
// test_examples.c.

async function isClosed(day: number) {
    await pause(day);
    return day > 5;
}

async function openGate(day: number) {
    return isClosed(day) ? 1 : 0; // FIRES missing-await/tested
}

function quiet_wrong_call_one(text: any) {
    const one = Optional.ofNullable(text);
    return one.map(parseInt).filter(isFinite).orElse(maybe(text).map(parseInt)); // FIRES missing-null-check/result-of-any
}

function quiet_wrong_call_typed(one: Maybe<string>) {
    return one.map(parseInt); // FIRES missing-null-check/parameter
}

function numbersOfAll(texts: any) {
    return Array.from(texts).map(parseInt); // FIRES wrong-call/parse
}

function numbersOf(texts: string[]) {
    return texts.map(parseInt); // FIRES wrong-call/parse missing-null-check/parameter
}
