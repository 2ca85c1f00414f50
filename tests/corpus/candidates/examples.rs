// examples.rs - for each row of the rules about Rust a function in which it finds a place, marked at the end of its
// line, and for each rule one in which the same call or construct is harmless.
use std::collections::HashMap;
use std::env;
use std::fs;
use std::process::Command;

// ---- bounds and numbers ----

fn day_name(names: &[String], day: usize) -> String {
    names[day].clone() // FIRES missing-bounds-check/index
}

fn quiet_missing_bounds_check(names: &[String], day: usize) -> String {
    if day >= names.len() {
        return String::new();
    }
    names[day].clone()
}

fn total(prices: &[u64]) -> u64 {
    let mut sum = 0;
    let mut at = 0;
    while at <= prices.len() { // FIRES off-by-one/at-most-own
        sum += prices[at];
        at += 1;
    }
    sum
}

fn seek(source: &Source, data: &[u8]) -> Option<u8> {
    let at = source.position();
    if at > data.len() { // FIRES off-by-one/more-size
        return None;
    }
    byte_at(data, at)
}

fn quiet_off_by_one(prices: &[u64]) -> u64 {
    let mut sum = 0;
    let mut at = 0;
    while at < prices.len() {
        sum += prices[at];
        at += 1;
    }
    sum
}

fn make_table(rows: usize, columns: usize) -> Vec<u32> {
    Vec::with_capacity(rows * columns) // FIRES integer-overflow/size
}

fn make_image(width: u32, height: u32) -> Image {
    let size = width * height; // FIRES integer-overflow/kept
    new_image(size)
}

fn quiet_integer_overflow(rows: usize) -> Vec<u32> {
    Vec::with_capacity(rows)
}

fn mean(sum: u64, count: u64) -> u64 {
    sum / count // FIRES division-by-zero/divisor
}

fn mean(basket: &Basket, sum: u64) -> u64 {
    sum / units(basket) // FIRES division-by-zero/result
}

fn quiet_division_by_zero_result(basket: &Basket, sum: u64) -> u64 {
    if units(basket) == 0 {
        return 0;
    }
    sum / units(basket)
}

fn quiet_division_by_zero(sum: u64, count: u64) -> u64 {
    if count == 0 {
        return 0;
    }
    sum / count + sum / 2
}

// ---- values that may be absent ----

fn port_of(text: &str) -> u16 {
    text.parse().unwrap() // FIRES missing-null-check/unwrap
}

fn quiet_missing_null_check(text: &str) -> u16 {
    text.parse().unwrap_or(8080)
}

// ---- texts ----

fn archive(folder: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("tar cf backup.tar {}", folder)); // FIRES shell-injection/command
    command
}

fn start(program: &str) -> Command {
    Command::new(program) // FIRES shell-injection/program
}

fn quiet_shell_injection(folder: &str) -> Command {
    let mut command = Command::new("tar");
    command.arg("cf").arg("backup.tar").arg(folder);
    command
}

fn read_page(name: &str) -> std::io::Result<String> {
    fs::read_to_string(name) // FIRES path-traversal/parameter
}

fn remove_page(root: &Path, name: &str) -> std::io::Result<()> {
    fs::remove_file(root.join(name)) // FIRES path-traversal/inner
}

fn find_user(db: &Connection, name: &str) -> Row {
    db.query_row(&format!("select id from users where name = '{}'", name), []) // FIRES sql-injection/joined
}

fn quiet_sql_injection(db: &Connection, name: &str) -> Row {
    db.query_row("select id from users where name = ?1", [name])
}

fn quiet_path_traversal() -> std::io::Result<String> {
    fs::read_to_string("pages/index.html")
}

// ---- order ----

fn resize(width: u32, height: u32) -> u32 {
    area_of(width, height)
}

fn turn(width: u32, height: u32) -> u32 {
    resize(height, width) // FIRES swapped-arguments/both
}

fn turn_wide(height: u32, limit: u32) -> u32 {
    resize(height, limit) // FIRES swapped-arguments/names
}

fn quiet_swapped_arguments(width: u32, height: u32) -> u32 {
    resize(width, height)
}

fn remove_cache(path: &Path) {
    if path.exists() {
        remove_quietly(fs::remove_file(&path)); // FIRES check-use-race/path
    }
}

fn quiet_check_use_race() -> std::io::Result<()> {
    let path = cache_path();
    fs::remove_file(&path)
}

// ---- results ----

fn remove_upload(path: &str) {
    remove_file(path).ok(); // FIRES error-swallowed/dropped
}

fn quiet_error_swallowed(path: &str) -> std::io::Result<()> {
    remove_file(path)
}

// ---- secrets ----

fn connect() -> Database {
    let password = "hunter2-9f8b"; // FIRES hardcoded-secret/assigned
    open_database(password)
}

fn guest() -> Account {
    Account { name: "guest", password: "hunter2-9f8b" } // FIRES hardcoded-secret/member
}

fn quiet_hardcoded_secret_member(given: &str) -> Account {
    Account { name: "guest", password: given, token_file: "tokens-9f8b" }
}

fn quiet_hardcoded_secret() -> Database {
    let password = env::var("DB_PASSWORD").unwrap_or_default();
    open_database(&password)
}

fn digest(text: &[u8]) -> Digest {
    md5::compute(text) // FIRES weak-hash/call
}

fn quiet_weak_hash(text: &[u8]) -> Digest {
    Sha256::digest(text)
}

fn connect_plain() -> Database {
    let password = "opensesame"; // FIRES hardcoded-secret/plain
    open_database(password)
}

fn plain_guest() -> Account {
    Account { name: "guest", password: "opensesame" } // FIRES hardcoded-secret/plain-member
}

fn keep_password(password: &[u8]) -> Digest {
    md5::compute(password) // FIRES weak-hash/password
}

fn mark_of(secret: &[u8]) -> Digest {
    md5::compute(secret) // FIRES weak-hash/secret
}

fn quiet_weak_hash_etag(text: &[u8]) -> Digest {
    let etag = md5::compute(text);
    etag
}

fn mean_of(values: &[u64], sum: u64) -> u64 {
    sum / values.len() // FIRES division-by-zero/count
}

fn mean_kept(values: &[u64], sum: u64) -> u64 {
    let n = values.len();
    sum / n // FIRES division-by-zero/count-kept
}

fn quiet_division_by_zero_kept(values: &[u64], sum: u64) -> u64 {
    let n = values.len();
    if n == 0 {
        return 0;
    }
    sum / n
}

fn take_up_to(prices: &[u64], last: usize) {
    let mut at = 0;
    while at <= last { // FIRES off-by-one/at-most
        take(prices[at]);
        at += 1;
    }
}

fn mark_at(marks: &[u64], at: usize) -> u64 {
    if at > marks.len() { // FIRES off-by-one/more-own
        return 0;
    }
    marks[at]
}

// ---- passwords that are there for a while ----

fn first_account(accounts: &[Account]) -> Account {
    if accounts.is_empty() {
        return Account { name: "owner", password: "opensesame" }; // FIRES hardcoded-secret/first-member
    }
    accounts[0]
}

fn quiet_hardcoded_secret_asked(accounts: &[Account], password: &str) -> Account {
    if accounts.is_empty() {
        return Account { name: "owner", password: password };
    }
    accounts[0]
}
