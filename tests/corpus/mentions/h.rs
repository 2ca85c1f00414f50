//! @no MAX_DEPTH
pub const MAX_DEPTH: u32 = 8;
pub static mut g_level: u32 = 0;
/* @no limit /* @no nested */ @no limit */
pub struct Conf<'a> {
    pub limit: u32,
    pub on_done: fn(u32) -> u32,
    name: &'a str,
}
pub fn work<'a>(c: &'a mut Conf, limit: u32) -> u32 {
    c.limit = limit; // @assigns
    unsafe { g_level += MAX_DEPTH; } // @assigns
    let s = "@no g_level \" MAX_DEPTH
@no limit";
    let r = r#"@no limit " "#;
    println!("{limit} of {MAX_DEPTH:>3}");
    let q = '"'; let n = '\''; let g = g_level; // @word
    match limit {
        MAX_DEPTH => return limit, // @word
        _ => {}
    }
    if c.limit == MAX_DEPTH { // @compares
        return c.limit; // @word
    }
    let d = Conf { limit: MAX_DEPTH, on_done: c.on_done, name: s };
    d.limit + g_level
}
