//! Scores of a compiler pass: tolerances, failure classes, S(t), ES(t), AS and AS strict.
//!
//! Pure arithmetic over what was measured elsewhere: this crate runs nothing, knows no tensor and no other crate of the
//! workspace. S(t) and ES(t) are those of the GraphNet report, AS is PassBench's; AS strict and the confidence interval
//! are this project's.
//!
//! # From measurements to a score
//!
//! 1. [`Ladder`] says for every output element at which tolerance t in -10..=5 it becomes right.
//! 2. [`variant_passes_at`] combines the outputs of one graph variant, [`Repeats`] its times.
//! 3. A [`VariantOutcome`] holds both, or the [`FailureClass`] of a variant that gave nothing to compare.
//! 4. [`score()`] turns the outcomes of a sample into [`Scores`], [`confidence()`] into 95% intervals,
//!    and [`ratios()`] compares those of two entrants.
//!
//! ```
//! use passhost_score::{FailureClass, Options, VariantOutcome, score};
//!
//! let outcomes = [
//!     VariantOutcome::Compared { speedup: 2.0, passes_at: Some(-6), trivial_passes_at_minus_2: false, wrong_on_edge_cases: false, decided: None },
//!     VariantOutcome::Failed(FailureClass::Runtime),
//! ];
//! let scores = score(&outcomes, &Options::default())?;
//!
//! // One variant is right and twice as fast, the other scores b = 0.1 until t = 3 tolerates its failure.
//! assert!((scores.es[&0] - (2.0_f64 * 0.1).sqrt()).abs() < 1e-12);
//! assert!((scores.es[&3] - (2.0_f64 * 1.0).sqrt()).abs() < 1e-12);
//! assert!(scores.aggregate_score_strict < scores.aggregate_score);
//! # Ok::<(), passhost_score::ScoreError>(())
//! ```
//!
//! # Invariants
//!
//! - No result is NaN and no input panics: what has no meaning is a [`ScoreError`] that names it.
//! - The mean over single variants ("micro") is what counts. The closed form over aggregates ("macro") is computed
//!   beside it by other code, and [`Scores::macro_disagreement`] says how far the two are apart.
//! - The same input gives the same result, intervals included.

mod aggregate;
mod confidence;
mod error;
mod macro_form;
mod options;
mod outcome;
mod ratio;
mod repeats;
mod tolerance;
mod vectors;

pub use aggregate::{AGGREGATE_WEIGHTS, Scores, score};
pub use confidence::{Confidence, confidence, es_intervals, retimed};
pub use error::ScoreError;
pub use macro_form::{Aggregates, MacroForm};
pub use options::{Interpretation, Options};
pub use outcome::{Decided, FailureClass, VariantOutcome, variant_passes_at};
pub use ratio::{Ratio, Ratios, Side, ratios};
pub use repeats::{COVERAGE, Estimate, FALSE_VERDICTS, Interval, Repeats, Verdict, median};
pub use tolerance::{FloatKind, LARGEST_T, Ladder, SMALLEST_T, Tolerance, is_close, tolerance};
pub use vectors::{Case, VectorFile, VectorGraph, VectorStatus};
