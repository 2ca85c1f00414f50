// contrary.rs - code that contradicts itself, and code beside it that does not. The marks are those of test_examples.c.

fn is_odd_day(day: u32) -> bool {
    day != SUNDAY || day != MONDAY // FIRES inverted-condition/always
}

fn is_outside(at: i32) -> bool {
    at < 0 && at > 99 // FIRES inverted-condition/never
}

fn quiet_inverted_condition_days(day: u32) -> bool {
    (day != SUNDAY && day != MONDAY) || day > 99
}

fn is_within(left: i32, right: i32, x: i32) -> bool {
    x < left || right < x || x < left // FIRES copied-block/operands
}

fn is_same(first: &Area, other: &Area) -> bool {
    first.left == other.left && other.right == other.right // FIRES copied-block/equal
}

fn is_within(x: u32, left: u32, right: u32) -> bool {
    x > left && x < right && x > left // FIRES copied-block/operands-chain
}

fn quiet_copied_block_operands(x: f64, left: u32) -> bool {
    x != x || left == 3
}

fn price_of(kind: u32) -> u32 {
    if kind == SMALL {
        1
    } else if kind == LARGE {
        2
    } else if kind == SMALL { // FIRES copied-block/again
        3
    } else {
        0
    }
}

fn quiet_copied_block_again_same(kind: u32, n: u32) {
    if kind == SMALL || n == 0 {
        open_shop(1);
    } else if n == 0 {
        open_shop(1);
    }
}

fn show_kind(kind: u32, n: u32) {
    if kind == SMALL || n == 0 {
        open_shop(1);
    } else if n == 0 { // FIRES copied-block/again-part
        open_shop(n);
    }
}

fn quiet_copied_block_again(kind: u32) -> u32 {
    if kind == SMALL && is_sale() {
        1
    } else if kind == SMALL {
        2
    } else {
        0
    }
}

fn show_price(price: u32, is_sale: bool) {
    if is_sale { // FIRES copied-block/branches
        show_number(price);
    } else {
        show_number(price);
    }
}

fn quiet_copied_block_branches(price: u32, is_sale: bool) -> u32 {
    if is_sale { price - 1 } else { price }
}

impl Area {
    fn set_left(&mut self, left: u32) {
        self.left = self.left; // FIRES copied-block/itself-own
        self.right = left;
    }
}

fn keep_size(mut area: Area) -> Area {
    area.left = area.left; // FIRES copied-block/itself-other
    area
}

fn quiet_copied_block_itself(mut area: Area, left: u32) -> Area {
    area.left = left;
    area
}

fn share_of(whole: u32, n: u32) -> u32 {
    if n == 0 {
        return whole / n; // FIRES division-by-zero/zero-branch
    }
    0
}

fn quiet_division_by_zero_branch(whole: u32, n: u32) -> u32 {
    if n == 0 {
        return 0;
    }
    whole / n
}

fn fee_of(kind: u32) -> u32 {
    if kind == SMALL || kind == LARGE {
        1
    } else if kind == LARGE { // FIRES copied-block/again-part
        2
    } else {
        0
    }
}

fn quiet_copied_block_again_half(kind: u32) -> u32 {
    if kind == SMALL && is_sale() {
        1
    } else if kind == SMALL || kind == LARGE {
        2
    } else {
        0
    }
}

fn make_shelf(client: &Client, name: &str) -> Shelf {
    let is_there = client.ask(name);
    if !is_there || !is_there { // FIRES copied-block/asked-twice
        return client.make(name);
    }
    client.get(name)
}
