//! Names of ops whose namespace is left out, as in Python.

use std::borrow::Cow;

/// What to do about such a name.
pub const HINT: &str = "names of ops begin with `aten::`";

/// Whether a name has a namespace.
pub fn is_in(name: &str) -> bool {
    // Searching for a text of any length would be a part of every component.
    name.as_bytes().windows(2).any(|pair| pair == b"::")
}

/// Whether a name is another one with letters that changed places, underscores missing or in another case.
pub fn is_mistyped(name: &str, known: &str) -> bool {
    let mut letters = [0; 32];
    for (text, step) in [(name, 1), (known, -1)] {
        text.bytes().filter(u8::is_ascii_alphabetic).for_each(|c| letters[usize::from(c & 31)] += step);
    }
    name != known && letters == [0; 32]
}

/// The name with the namespace that is meant.
pub fn completed(name: &str) -> Cow<'_, str> {
    if is_in(name) { name.into() } else { format!("aten::{name}").into() }
}
