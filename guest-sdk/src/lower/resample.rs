//! Weighted sums of the elements of a tensor around a place.

use crate::index::Index;
use crate::index::sampling::Sampling;
use passhost_ir::{Dtype, ValueId};

/// Weighted sums of the elements of a tensor around a place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Resample {
    /// The tensor.
    pub(super) source: ValueId,
    /// For each dimension how it is sampled; `None` where it is as it was.
    pub(super) axes: Vec<Option<ResampledAxis>>,
    /// The type that weights and sums are calculated in.
    pub(super) dtype: Dtype,
}

/// How samples lie along a dimension.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ResampledAxis {
    pub(super) sampling: Sampling,
    pub(super) taps: Taps,
    /// Extent in the source.
    pub(super) extent: i64,
    /// The element below the sample for the position along axis 0.
    pub(super) below: Index,
}

/// Which elements around a sample count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taps {
    /// The two next to it.
    Linear,
    /// The two next to it and those beyond these.
    Cubic,
}
