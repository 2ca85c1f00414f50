// What a change took away: change.before.rs is the file before it. The marks are those of test_examples.c.

fn item_of(all: &[i32], n: usize, i: usize) -> i32 {
    return all[i]; // FIRES missing-bounds-check/removed-upper
}

fn read_in_parts(stream: &mut Stream, size: i32) -> i32 {
    return stream.read_some(size); // FIRES missing-bounds-check/removed-lower
}

fn part_of(all: i32, n: i32) -> i32 {
    return all / n; // FIRES division-by-zero/removed-test
}

fn rename_it(b: &mut Box1, kind: i32, name: &str) -> i32 {
    return name_it(b, kind, name); // FIRES regression/removed-test
}

fn read_pair(data: &[u8], size: usize) -> i32 {
    return read_long(data); // FIRES regression/removed-guard
}

fn quiet_missing_bounds_check(all: &[i32], n: usize, i: usize) -> i32 {
    if !is_in(n, i) {
        return -1;
    }
    return all[i];
}

fn quiet_division_by_zero(all: i32, mut n: i32) -> i32 {
    n = or_one(n);
    return all / n;
}

fn quiet_regression(b: &mut Box1, kind: i32, name: &str) -> i32 {
    if !may_rename(b, kind) {
        return -1;
    }
    return name_it(b, kind, name);
}
