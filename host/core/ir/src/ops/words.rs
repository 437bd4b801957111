//! Reading a text when it is compiled.

/// What there must be, or an error of the compiler's that says so.
macro_rules! needed {
    ($found:expr, $what:literal) => {
        match $found {
            Some(found) => found,
            #[allow(clippy::panic, reason = "where the table is wrong, nothing is compiled")]
            None => panic!(concat!("table.txt: expected ", $what)),
        }
    };
}
pub(super) use needed;

/// What stands before the first of these letters, and what behind it: all and nothing where there is none.
pub(super) const fn split(text: &str, letter: u8) -> (&str, &str) {
    let mut at = 0;
    while at < text.len() {
        if text.as_bytes()[at] == letter {
            return (text.split_at(at).0, text.split_at(at + 1).1);
        }
        at += 1;
    }
    (text, "")
}

/// The first word, and what stands behind it.
pub(super) const fn next_word(text: &str) -> (&str, &str) {
    split(text.trim_ascii_start(), b' ')
}

/// The number that one digit is.
pub(super) const fn digit(text: &str) -> u8 {
    match text.as_bytes() {
        [digit @ b'0'..=b'9'] => *digit - b'0',
        _ => needed!(None, "a digit"),
    }
}

/// Whether two names are the same.
pub(super) const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
