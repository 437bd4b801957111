//! Attacks on the host and honest passes that look like some, as text files, and what must come of each. A case is a
//! directory `tests/adversarial/<class>/<case>`; README.md there says how to write one.
//!
//! [`cases`] reads them, a [`Bench`] plays one after the other, and [`verdict::check`] holds what was found against what
//! must be.

pub mod case;
mod file;
pub mod machine_code;
pub mod plugin;
mod sample;
pub mod side_by_side;
pub mod table;
mod trial;
pub mod verdict;

pub use case::{Case, Expectation, cases};
pub use trial::{Bench, Found};

/// Why a case could not be played. Nothing that a plugin or a sample does leads here.
pub type Trouble = Box<dyn std::error::Error + Send + Sync>;
