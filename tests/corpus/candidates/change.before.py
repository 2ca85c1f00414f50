"""change.py before a change took something from its functions."""


def first_of(box):
    if box is None:
        return -1
    return box.n


def item_of(all, n, i):
    if i >= n:
        return -1
    return all[i]


def read_in_parts(stream, size):
    if size < 1:
        raise ValueError("size")
    return stream.read_some(size)


def part_of(all, n):
    return all / n if n else 0


def drop(box):
    say(box)
    box.close()


def leave_box(box, n):
    if n > 3:
        say(box)
    box.close()
    return n


def count_up(box):
    box.lock.lock()
    box.n += 1
    if box.n > 9:
        box.lock.unlock()
        return -1
    box.lock.unlock()
    return box.n


def rename_box(box, kind, name):
    if kind == 7:
        return -1
    return name_it(box, kind, name)


def read_pair(data, size):
    if size < 8:
        return -1
    return read_long(data)


def store_all(box, n):
    if store_item(box, n) < 0:
        return -1
    return 0


def quiet_missing_null_check(box):
    if box is None:
        return -1
    return box.n


def quiet_missing_bounds_check(all, n, i):
    if i >= n:
        return -1
    return all[i]


def quiet_division_by_zero(all, n):
    if n == 0:
        return 0
    return all / n


def quiet_resource_leak(box):
    say(box)
    box.close()


def quiet_regression(box, kind, name):
    if kind == 7:
        return -1
    return name_it(box, kind, name)
