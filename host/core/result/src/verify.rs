//! A result document held against itself.

mod recompute;

pub use recompute::{Recomputed, floor_finding, recompute, recomputed};

use crate::untrusted::one_line;
use std::fmt;

/// Something that a document says otherwise than it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where in the document.
    pub item: String,
    /// What stands there.
    pub recorded: String,
    /// What follows from the rest of it, or what was found.
    pub found: String,
    /// Whether another device or another version of libtorch may be why.
    pub is_measured: bool,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { item, recorded, found, is_measured: _ } = self;
        write!(f, "{item}: recorded {recorded}, found {found}")
    }
}

/// Collects differences.
#[derive(Default)]
pub struct Differences {
    /// What was found.
    pub found: Vec<Difference>,
    /// Of those that are said from now on.
    pub is_measured: bool,
}

impl Differences {
    /// Two values that must be equal.
    pub fn equal<T: PartialEq + fmt::Debug>(&mut self, item: impl Into<String>, recorded: &T, found: &T) {
        if recorded != found {
            self.say(item, format!("{recorded:?}"), format!("{found:?}"));
        }
    }

    /// Two numbers that must be equal but for how they are written and the order in which they were summed.
    pub fn near(&mut self, item: impl Into<String>, recorded: f64, found: f64) {
        if !is_near(recorded, found) {
            self.say(item, recorded, found);
        }
    }

    /// A difference in words.
    pub fn say(&mut self, item: impl Into<String>, recorded: impl fmt::Display, found: impl fmt::Display) {
        let short = |text: String| one_line(&text, 300);
        let (recorded, found) = (short(recorded.to_string()), short(found.to_string()));
        self.found.push(Difference { item: short(item.into()), recorded, found, is_measured: self.is_measured });
    }
}

/// Whether two numbers are equal but for rounding.
pub fn is_near(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}
