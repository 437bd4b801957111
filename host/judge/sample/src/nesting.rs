//! Lists in lists, as another process sends them.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::cell::Cell;

/// Lists in lists: more than brackets in a file can be, and little of a stack.
const NESTING: u32 = 128;

/// Deserialises what may hold more of its own kind, which must not take the stack of who reads it.
pub(crate) fn nested<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    thread_local!(static DEPTH: Cell<u32> = const { Cell::new(0) });
    let depth = DEPTH.get();
    if depth == NESTING {
        return Err(D::Error::custom("lists are nested too deeply"));
    }
    DEPTH.set(depth + 1);
    let value = T::deserialize(deserializer);
    DEPTH.set(depth);
    value
}
