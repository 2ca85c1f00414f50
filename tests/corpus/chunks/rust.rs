use std::collections::HashMap;

pub const LIMIT: usize = 8;

/// A counter of words.
pub struct Counter {
    words: HashMap<String, usize>,
}

impl Counter {
    pub fn new() -> Self {
        Counter { words: HashMap::new() }
    }

    fn bump(&mut self, word: &str) {
        *self.words.entry(word.to_string()).or_insert(0) += 1;
    }
}

pub trait Sized2 {
    fn size(&self) -> usize;
}

#[get("/count")]
fn count_page(counter: &Counter) -> String {
    format!("{}", counter.words.len())
}

macro_rules! twice {
    ($e:expr) => { $e + $e };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let mut c = Counter::new();
        c.bump("a");
    }
}

impl<T: Clone> Sized2 for &mut inner::Pair<T, 2> {
    fn size(&self) -> usize {
        2
    }
}

impl<T: Sized2> Labelled for T {
    fn label(&self) -> String {
        String::new()
    }
}

impl<A, B> Labelled for (A, B) {
    fn label_of_pair(&self) -> String {
        String::new()
    }
}

pub enum Shape {
    Circle(f32),
    Square { side: f32 },
}

pub trait Maker {
    type Output;
}

cfg_rt! {
    use std::io;

    /// A set of tasks.
    pub struct LocalSet {
        tick: u8,
    }

    impl LocalSet {
        pub fn build() -> LocalSet {
            LocalSet { tick: 0 }
        }

        cfg_time! {
            /// Waits.
            pub fn wait_until(&self) {}
        }
    }

    cfg_unstable! {
        pub(crate) enum Deep {
            First,
        }
    }
}

bitflags! {
    pub struct Flags: u32 { const A = 1; }
}

steps! { one, two }

pub fn after() {
    cfg_rt! { fn local() {} }
}

fn in_macros(c: &Counter) {
    assert_eq!(c.total_of(1), (2), "{}", worth!(c));
    println!("{:?}", vec![grow::<Vec<u8>>(2), inner::shrink /* by one */ (3), c.next + (4)]);
    log::note!(fn defined(a: u8) { struct Pair(u8); self.bump(a) });
}
