//! What many result documents say together: [`summarise`] puts those of each plugin into one [`Summary`], [`compare`] holds
//! several entrants against each other on the graphs that all of them were tried on, and [`contests`] has all that a page about
//! them shows. They are values that a table, a page or a JSON file can be made of.
//!
//! Nothing here runs or reads anything: times are those that documents record, scores are computed by `passhost-score`
//! from them.
//!
//! # Which question an interval answers
//!
//! - Of AS, AS strict and ratios: what would come out if the *same graphs* were measured again on hosts as they were. It is Student's t over
//!   processes, as in a single document.
//! - Of a mean over samples ([`OverSamples`]): what would come out for *other samples like these*. It is Student's t over
//!   samples, each of which counts once however many graphs it has.

mod aggregated;
mod compare;
mod conditions;
mod contest;
mod entry;
mod fusion;
mod headroom;
mod library;
mod light;
mod names;
mod part;
mod place;
mod rebase;
mod sayings;
mod slices;
mod summary;

pub use aggregated::{Aggregated, aggregated};
pub use compare::{
    AgainstFirst, ComparisonError, DeviceTimeRatio, EntrantComparison, EntrantStanding, Missing, NEARLY, ScoreChange,
    compare, compare_sharing,
};
pub use conditions::{Conditions, Eager};
pub use contest::{Contest, ContestCell, ContestDeviceScores, ContestEntrant, ContestRow, contests};
pub use entry::{Apart, Entrant, EntrantResults, GraphFilter, Sourced, by_launch, entries};
pub use fusion::{Fusion, NodeFate, fusion};
pub use headroom::{Clock, GraphTime, Headroom, RightGraph};
pub use light::{CALL_US, Floor, FloorShare, KERNEL_US, SpeedOfLight};
pub use names::short_names;
pub use part::{ClockScores, FastP, MeanSpeedup, OverSamples, PartScores, headline_name};
pub use place::GraphPlace;
pub use sayings::Saying;
pub use slices::{Breakdown, BreakdownRow};
pub use summary::{Extreme, Slice, Summary, UnmeasuredReason, summarise, without_numbers};
