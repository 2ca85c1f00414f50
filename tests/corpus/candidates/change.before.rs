// change.rs before a change took something from its functions.

fn item_of(all: &[i32], n: usize, i: usize) -> i32 {
    if i >= n {
        return -1;
    }
    return all[i];
}

fn read_in_parts(stream: &mut Stream, size: i32) -> i32 {
    if size < 1 {
        return -1;
    }
    return stream.read_some(size);
}

fn part_of(all: i32, n: i32) -> i32 {
    if n == 0 {
        return 0;
    }
    return all / n;
}

fn rename_it(b: &mut Box1, kind: i32, name: &str) -> i32 {
    if kind == 7 {
        return -1;
    }
    return name_it(b, kind, name);
}

fn read_pair(data: &[u8], size: usize) -> i32 {
    if size < 8 {
        return -1;
    }
    return read_long(data);
}

fn quiet_missing_bounds_check(all: &[i32], n: usize, i: usize) -> i32 {
    if i >= n {
        return -1;
    }
    return all[i];
}

fn quiet_division_by_zero(all: i32, mut n: i32) -> i32 {
    if n == 0 {
        return 0;
    }
    return all / n;
}

fn quiet_regression(b: &mut Box1, kind: i32, name: &str) -> i32 {
    if kind == 7 {
        return -1;
    }
    return name_it(b, kind, name);
}
