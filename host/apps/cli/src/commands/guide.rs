//! `passhost guide`

use crate::exit::Exit;
use crate::output::print_text;

/// AUTHORING.md.
pub const GUIDE: &str = include_str!("../../../../../AUTHORING.md");

pub fn run() -> Exit {
    print_text(GUIDE);
    Exit::Success
}
