// change.ts before a change took something from its functions.

function firstOf(box: Box) {
    if (!box) {
        return -1
    }
    return box.n
}

function itemOf(all: number[], n: number, i: number) {
    if (i >= n) {
        return -1
    }
    return all[i]
}

function readInParts(stream: Stream, size: number) {
    if (size < 1) {
        throw new RangeError('size')
    }
    return stream.readSome(size)
}

function partOf(all: number, n: number) {
    return n ? all / n : 0
}

function drop(box: Box) {
    say(box)
    box.close();
}

function leaveBox(box: Box, n: number) {
    if (n > 3) {
        say(box);
    }
    box.close();
    return n
}

function renameBox(box: Box, kind: number, name: string) {
    if (kind === 7) {
        return -1
    }
    return nameIt(box, kind, name)
}

function readPair(data: string, size: number) {
    if (size < 8) {
        return -1
    }
    return readLong(data)
}

function storeAll(box: Box, n: number) {
    if (storeItem(box, n) < 0) {
        return -1
    }
    return 0
}

function quiet_missing_null_check(box: Box) {
    if (!box) {
        return -1
    }
    return box.n
}

function quiet_missing_bounds_check(all: number[], n: number, i: number) {
    if (i >= n) {
        return -1
    }
    return all[i]
}

function quiet_division_by_zero(all: number, n: number) {
    if (n === 0) {
        return 0
    }
    return all / n
}

function quiet_resource_leak(box: Box) {
    say(box)
    box.close();
}

function quiet_regression(box: Box, kind: number, name: string) {
    if (kind === 7) {
        return -1
    }
    return nameIt(box, kind, name)
}
