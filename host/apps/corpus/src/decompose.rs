//! Cuts whole models into pieces that are samples of their own.
//!
//! - single ops: every call by itself;
//! - typical pieces: sequences of 4 to 63 calls that occur more than once, in one model or in several;
//! - fusible pieces: the longest stretches of calls that fit one kernel behind at most one call of a library.
//!
//! A piece reads what enters it as `in_0`, `in_1`, ..., and returns what the rest of the model reads. Shapes and other
//! numbers that Python knows are written where they are used. Pieces that have the same canonical graph are one.
//!
//! `docs/graphnet.md` says more about the rules.

mod class;
mod cut;
mod fusible;
mod interval;
mod kernel;
mod label;
mod literal;
mod memory;
mod piece;
mod refusal;
mod rows;
mod steps;
mod task;
#[cfg(test)]
mod tests;
mod typical;
mod values;

pub use passhost_ir::ops::Class;
pub use piece::{Draft, Piece};
pub use refusal::Refusal;
pub use task::{Origin, Task, Tasks, Variant, covering};
pub use typical::{LONGEST, SHORTEST, repeated};

use interval::{Interval, intervals};
use passhost_sample::Reading;
use std::ops::Range;
use steps::Steps;

/// What pieces a model is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Every call by itself.
    SoleOp,
    /// Sequences of calls that occur more than once.
    Typical,
    /// The longest stretches that fit one kernel.
    Fusible,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::SoleOp, Kind::Typical, Kind::Fusible];

    /// The name of the folder that its tasks lie in.
    pub const fn category(self) -> &'static str {
        match self {
            Kind::SoleOp => "sole_op_subgraphs",
            Kind::Typical => "typical_subgraphs",
            Kind::Fusible => "fusible_subgraphs",
        }
    }
}

/// A whole model, ready to be cut. Ranges of its calls count only those that compute something.
#[derive(Debug)]
pub struct Model<'r> {
    steps: Steps<'r>,
    ranges: Vec<Interval>,
}

impl<'r> Model<'r> {
    /// Of a variant of a sample.
    pub fn of(reading: &'r Reading) -> Model<'r> {
        let steps = Steps::of(reading);
        let recorded = |value| steps.record(value).map_or(Interval::ALL, Interval::of_weight);
        let ranges = intervals(reading.graph(), &steps.memory, recorded);
        Model { ranges, steps }
    }

    /// The name of the op of each call, `None` for those that can be in no piece.
    pub fn ops(&self) -> Vec<Option<String>> {
        let op = |position: usize| self.steps.reading.program.nodes[position].target.op_name();
        self.steps.list.iter().map(|step| step.excluded.is_none().then(|| op(step.position))).collect()
    }

    /// Every call by itself.
    pub fn sole_ops(&self) -> Vec<Range<usize>> {
        (0..self.steps.list.len()).map(|step| step..step + 1).collect()
    }

    /// The longest stretches that fit one kernel, without overlap.
    pub fn fusible(&self) -> Vec<Range<usize>> {
        fusible::stretches(&self.steps)
    }

    /// Cuts a range out.
    ///
    /// # Errors
    ///
    /// If it cannot be a sample of its own.
    ///
    /// # Panics
    ///
    /// If the range is empty or there are no such calls.
    pub fn cut(&self, range: Range<usize>) -> Result<Draft, Refusal> {
        Draft::new(&self.steps, self.nodes(&range), cut::cut(&self.steps, range)?, &self.ranges)
    }

    /// What a range is called by: its layer and its ops, as `layer.3.attention-softmax-dropout`.
    ///
    /// # Panics
    ///
    /// If there are no such calls.
    pub fn label(&self, range: &Range<usize>) -> String {
        label::label(&self.steps, range)
    }

    /// The nodes of the model's program from the first call of a range to the last.
    ///
    /// # Panics
    ///
    /// If the range is empty or there are no such calls.
    pub fn nodes(&self, range: &Range<usize>) -> Range<usize> {
        self.steps.list[range.start].position..self.steps.list[range.end - 1].position + 1
    }
}
