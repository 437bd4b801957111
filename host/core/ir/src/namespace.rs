//! Names of ops whose namespace is left out, as in Python.

use std::borrow::Cow;

/// What to do about such a name.
pub const HINT: &str = "names of ops begin with `aten::`";

/// Whether a name has a namespace.
pub fn is_in(name: &str) -> bool {
    // Searching for a text of any length would be a part of every component.
    name.as_bytes().windows(2).any(|pair| pair == b"::")
}

/// The name with the namespace that is meant.
pub fn completed(name: &str) -> Cow<'_, str> {
    if is_in(name) { name.into() } else { format!("aten::{name}").into() }
}
