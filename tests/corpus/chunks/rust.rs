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
