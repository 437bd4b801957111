//! Many variants under several plugins, and the file that keeps what became of each: a batch that ends early, however
//! that comes, goes on where it ended.
//!
//! The file has one JSON value a line. The first is the [`Header`], which says everything that all have in common; each
//! other one is a [`BatchLine`]: a variant that a plugin ended on, or a sample that could not be used. A line is appended in
//! one piece, and on the disk before the next variant begins. [`read`] makes [`Document`](passhost_result::document::Document)s of
//! them, those that an evaluation of each sample by itself would have given.

mod documents;
mod error;
mod external;
mod file;
mod finished;
mod header;
mod line;
mod read;
mod report;
mod run;
mod work;
mod worker;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

pub(crate) use documents::frame;
pub use error::BatchError;
pub use external::ExternalRunner;
pub use file::BatchFile;
pub use finished::Finished;
pub use header::{Header, PluginEntry, SampleEntry};
pub use line::{BatchLine, SampleLine, SampleName, VariantLine};
pub use read::{Batch, read};
pub(crate) use report::{MeasuredSample, Reporter};
pub(crate) use run::hear_of;
pub(crate) use work::SampleQueue;
pub use work::{BatchEvent, BatchWork, Checking};

/// Names the form of the file; the number grows when a field changes its meaning or goes.
pub const SCHEMA: &str = "passhost.batch/2";

/// An older form that is read as well: members of its results had other names.
const OLDER_SCHEMA: &str = "passhost.batch/1";
