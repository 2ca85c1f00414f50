// What a change took away: change.before.ts is the file before it. The marks are those of test_examples.c.

function firstOf(box: Box) {
    return box.n // FIRES missing-null-check/removed-test
}

function itemOf(all: number[], n: number, i: number) {
    return all[i] // FIRES missing-bounds-check/removed-upper
}

function readInParts(stream: Stream, size: number) {
    return stream.readSome(size) // FIRES missing-bounds-check/removed-lower
}

function partOf(all: number, n: number) {
    return all / n // FIRES division-by-zero/removed-test
}

function drop(box: Box) {
    say(box) // FIRES resource-leak/removed-release
}

function leaveBox(box: Box, n: number) {
    if (n > 3) {
        say(box);
        box.close(); // FIRES resource-leak/removed-way
    }
    return n
}

function renameBox(box: Box, kind: number, name: string) {
    return nameIt(box, kind, name) // FIRES regression/removed-test
}

function readPair(data: string, size: number) {
    return readLong(data) // FIRES regression/removed-guard
}

function storeAll(box: Box, n: number) {
    storeItem(box, n); // FIRES regression/removed-check
    return 0
}

function quiet_missing_null_check(box: Box) {
    if (!box || box.n < 1) {
        return -1
    }
    return box.n
}

function quiet_missing_bounds_check(all: number[], n: number, i: number) {
    if (!isIn(n, i)) {
        return -1
    }
    return all[i]
}

function quiet_division_by_zero(all: number, n: number) {
    n = n || 1
    return all / n
}

function quiet_resource_leak(box: Box) {
    say(box)
    keepBox(box)
}

function quiet_regression(box: Box, kind: number, name: string) {
    if (!mayRename(box, kind)) {
        return -1
    }
    return nameIt(box, kind, name)
}
