// What a change took away: change.before.js is the file before it. The marks are those of test_examples.c.

function firstOf(box) {
    return box.n // FIRES missing-null-check/removed-test
}

function itemOf(all, n, i) {
    return all[i] // FIRES missing-bounds-check/removed-upper
}

function readInParts(stream, size) {
    return stream.readSome(size) // FIRES missing-bounds-check/removed-lower
}

function partOf(all, n) {
    return all / n // FIRES division-by-zero/removed-test
}

function drop(box) {
    say(box) // FIRES resource-leak/removed-release
}

function leaveBox(box, n) {
    if (n > 3) {
        say(box);
        box.close(); // FIRES resource-leak/removed-way
    }
    return n
}

function renameBox(box, kind, name) {
    return nameIt(box, kind, name) // FIRES regression/removed-test
}

function readPair(data, size) {
    return readLong(data) // FIRES regression/removed-guard
}

function storeAll(box, n) {
    storeItem(box, n); // FIRES regression/removed-check
    return 0
}

function quiet_missing_null_check(box) {
    if (!box || box.n < 1) {
        return -1
    }
    return box.n
}

function quiet_missing_bounds_check(all, n, i) {
    if (!isIn(n, i)) {
        return -1
    }
    return all[i]
}

function quiet_division_by_zero(all, n) {
    n = n || 1
    return all / n
}

function quiet_resource_leak(box) {
    say(box)
    keepBox(box)
}

function quiet_regression(box, kind, name) {
    if (!mayRename(box, kind)) {
        return -1
    }
    return nameIt(box, kind, name)
}
