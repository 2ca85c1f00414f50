"""What a change took away: change.before.py is the file before it. The marks are those of test_examples.c."""


def first_of(box):
    return box.n  # FIRES missing-null-check/removed-test


def item_of(all, n, i):
    return all[i]  # FIRES missing-bounds-check/removed-upper


def read_in_parts(stream, size):
    return stream.read_some(size)  # FIRES missing-bounds-check/removed-lower


def part_of(all, n):
    return all / n  # FIRES division-by-zero/removed-test


def drop(box):
    say(box)  # FIRES resource-leak/removed-release


def leave_box(box, n):
    if n > 3:
        say(box)
        box.close()  # FIRES resource-leak/removed-way
    return n


def count_up(box):
    box.lock.lock()
    box.n += 1
    if box.n > 9:
        return -1  # FIRES regression/removed-lock
    box.lock.unlock()
    return box.n


def rename_box(box, kind, name):
    return name_it(box, kind, name)  # FIRES regression/removed-test


def read_pair(data, size):
    return read_long(data)  # FIRES regression/removed-guard


def store_all(box, n):
    store_item(box, n)  # FIRES regression/removed-check
    return 0


def quiet_missing_null_check(box):
    if box is None or box.n < 1:
        return -1
    return box.n


def quiet_missing_bounds_check(all, n, i):
    if not is_in(n, i):
        return -1
    return all[i]


def quiet_division_by_zero(all, n):
    n = n or 1
    return all / n


def quiet_resource_leak(box):
    say(box)
    keep_box(box)


def quiet_regression(box, kind, name):
    if not may_rename(box, kind):
        return -1
    return name_it(box, kind, name)
