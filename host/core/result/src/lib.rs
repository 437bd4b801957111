//! The result document of an evaluation, and everything that follows from what is recorded in it: verdicts, measurements,
//! scores, and whether they agree with each other. Reports, boards and signatures need nothing else of an evaluation.
//!
//! # Reading results of somebody else
//!
//! `passhost eval --json FILE` writes a document. Whoever reads one from elsewhere takes its figures from its trials, not from
//! its word, and shows its text only through [`untrusted`]:
//!
//! ```
//! use passhost_result::document::Document;
//! use passhost_result::untrusted::one_line;
//! use passhost_result::verify::recomputed;
//!
//! fn summary(text: &str) -> Result<String, serde_json::Error> {
//!     let read = recomputed(serde_json::from_str::<Document>(text)?);
//!     let document = read.document;
//!     let score = match (&document.failure, document.headline()) {
//!         (_, Some(score)) => format!("{score:.2}"),
//!         (Some(failure), None) => format!("none: {}", one_line(&failure.message, 200)),
//!         (None, None) => "none".into(),
//!     };
//!     let wrong = read.differences.len() + read.left.len();
//!     let sample = one_line(&document.job.sample, 80);
//!     Ok(format!("{sample}: {score}; {wrong} of its figures do not follow from its trials"))
//! }
//!
//! assert!(summary(r#"{"schema": "somebody's"}"#).is_err());
//! ```
//!
//! # What is where
//!
//! [`document::Document`] is the document. Its parts that a child process reports are here as well: settings and limits, the
//! [comparison](outputs) of outputs, [`Finding`]s, [timed runs](trials). [`verdict`] says what one variant comes to,
//! [`timing`] what its times say, [`scoring`] what all variants come to together; [`verify`] holds a document against that.
//!
//! Text that a plugin, a sample or a child wrote is in most of these. It reaches nobody but through [`untrusted`].

mod device;
mod differing;
mod divergent_node;
pub mod document;
mod finding;
mod guest;
mod inputs;
mod launch;
mod left_out;
mod named;
mod note;
mod number;
pub mod outputs;
mod progress;
mod reached;
mod recount;
mod sandbox_profile;
mod schedules;
mod schema;
pub mod scoring;
mod settings;
mod spent;
mod strength;
pub mod timing;
pub mod trials;
pub mod untrusted;
pub mod verdict;
pub mod verify;

pub use device::DeviceInfo;
pub use differing::first_difference;
pub use divergent_node::{DivergentNode, ShownBy};
pub use finding::{EdgeCaseFinding, Finding};
pub use guest::{GuestLimits, GuestUsage, PassInfo, Refusal};
pub use inputs::{InputMode, Symbols};
pub use launch::Launch;
pub use left_out::left_out;
pub use named::{is_among, is_named};
pub use note::NoteKind;
pub use outputs::{Decided, OutputReport, TruthReport};
pub use passhost_policy::{Headline, Inserted, Policy};
pub use progress::Progress;
pub use recount::{CountedVariant, Recount, recount};
pub use sandbox_profile::SandboxProfile;
pub use schedules::{Candidate, TunedKernel};
pub use schema::{OLDER_SCHEMA, RENAMED, is_read, schema_of};
pub use settings::{OtherRounds, Settings, Share, UnusualRound, milliseconds};
pub use spent::{Spent, Work};
pub use strength::Strength;
pub use trials::{Block, DeviceTimes, ProbeTimes, ProcessTimes, Witness};
