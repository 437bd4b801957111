//! Passes that a scripted model writes, one after the other.

/// Does not compile: it calls what there is not, on line 12.
pub const BROKEN: &str = include_str!("../scripted-passes/broken.rs");
/// Puts one of its operands, and half of that again, in place of the last op.
pub const WRONG: &str = include_str!("../scripted-passes/wrong.rs");
/// Makes kernels of everything.
pub const RIGHT: &str = include_str!("../scripted-passes/right.rs");
/// Puts the same in place of the last op, and makes no kernel.
pub const INSERTS: &str = include_str!("../scripted-passes/inserts.rs");
