//! How the inputs of a sample are drawn. The description is data; the drawing happens on the device.

use crate::TensorType;

/// The distribution of one input tensor.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Draw {
    /// `mean + std * N(0, 1)`, one element in a thousand with eight times the deviation.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation, above 0.
        std: f64,
    },
    /// `median * exp(sigma * N(0, 1))`: of one sign, for variances.
    LogNormal {
        /// Median, not 0.
        median: f64,
        /// Standard deviation of the logarithm, above 0.
        sigma: f64,
    },
    /// Integers, uniform in the closed range.
    Uniform {
        /// Smallest.
        low: i64,
        /// Largest.
        high: i64,
    },
    /// `bool` or integers: zeros and ones mixed, at least one 1 in each row of the last dimension.
    Mask,
    /// Floats that are 0 or `low`, mixed, at least one 0 in each row of the last dimension.
    FloatMask {
        /// The value that masks.
        low: f64,
    },
    /// Integers of a recorded range that are drawn anew, with what holds of the recorded ones in each stretch of `row`
    /// elements.
    Like {
        /// What holds of them.
        structure: Structure,
        /// Elements of a stretch: a row of the last dimension, or the whole tensor.
        row: u64,
        /// Smallest.
        low: i64,
        /// Largest.
        high: i64,
    },
    /// These integers (or bools as 0 and 1), row-major. One element per tensor element.
    Integers(Vec<i64>),
    /// These floats, row-major: one per tensor element, or a single one for all.
    Floats(Vec<f64>),
}

/// What holds of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Structure {
    /// No two are equal, in any order: a permutation where there are as many as the range has numbers.
    Distinct,
    /// None is below the one before; the first is the smallest, the last the largest.
    Ascending {
        /// No two are equal either.
        distinct: bool,
    },
    /// A single 1 among zeros.
    OneHot,
    /// Ones, then zeros: a mask of what is padded at its end. At least one 1.
    PaddedAtEnd,
    /// Zeros, then ones. At least one 1.
    PaddedAtStart,
}

/// One input of a sample.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InputSpec {
    /// The parameter's name in the sample. Inputs are seeded by it.
    pub name: String,
    /// Element type and shape; always contiguous.
    pub ty: TensorType,
    /// Distribution.
    pub draw: Draw,
    /// Elements below are raised to this.
    pub min: Option<f64>,
    /// Elements above are lowered to this.
    pub max: Option<f64>,
}

impl InputSpec {
    /// Whether every draw gives the same tensor, so that no check may rely on its values changing.
    pub fn is_fixed(&self) -> bool {
        match &self.draw {
            Draw::Integers(_) | Draw::Floats(_) => true,
            Draw::Uniform { low, high } => low == high,
            _ => false,
        }
    }
}
