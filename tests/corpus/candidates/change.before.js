// change.js before a change took something from its functions.

function firstOf(box) {
    if (!box) {
        return -1
    }
    return box.n
}

function itemOf(all, n, i) {
    if (i >= n) {
        return -1
    }
    return all[i]
}

function readInParts(stream, size) {
    if (size < 1) {
        throw new RangeError('size')
    }
    return stream.readSome(size)
}

function partOf(all, n) {
    return n ? all / n : 0
}

function drop(box) {
    say(box)
    box.close();
}

function leaveBox(box, n) {
    if (n > 3) {
        say(box);
    }
    box.close();
    return n
}

function renameBox(box, kind, name) {
    if (kind === 7) {
        return -1
    }
    return nameIt(box, kind, name)
}

function readPair(data, size) {
    if (size < 8) {
        return -1
    }
    return readLong(data)
}

function storeAll(box, n) {
    if (storeItem(box, n) < 0) {
        return -1
    }
    return 0
}

function quiet_missing_null_check(box) {
    if (!box) {
        return -1
    }
    return box.n
}

function quiet_missing_bounds_check(all, n, i) {
    if (i >= n) {
        return -1
    }
    return all[i]
}

function quiet_division_by_zero(all, n) {
    if (n === 0) {
        return 0
    }
    return all / n
}

function quiet_resource_leak(box) {
    say(box)
    box.close();
}

function quiet_regression(box, kind, name) {
    if (kind === 7) {
        return -1
    }
    return nameIt(box, kind, name)
}
