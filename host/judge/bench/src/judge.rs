//! What elements of a rewrite's output are beside those of eager.

use crate::element::HostElements;
use passhost_ir::Dtype;
use passhost_score::{FloatKind, Ladder};
use rayon::prelude::*;

/// Elements that one task compares.
const CHUNK: usize = 1 << 14;
/// An element that needs more tolerance than this t has is counted as wrong.
pub const WRONG_ABOVE: i8 = -5;
/// Integers and bools are right when equal, at every t; there is nothing in between.
pub const EXACT: i8 = passhost_score::SMALLEST_T;

/// Whose tolerances an element type has: `None` for integers and bools, which must be equal. The parts of complex
/// numbers count as floats.
pub fn float_kind(dtype: Dtype) -> Option<FloatKind> {
    match dtype {
        Dtype::F16 => Some(FloatKind::F16),
        Dtype::Bf16 => Some(FloatKind::Bf16),
        Dtype::F32 | Dtype::C64 => Some(FloatKind::F32),
        Dtype::F64 | Dtype::C128 => Some(FloatKind::F64),
        _ => None,
    }
}

/// Says what elements of one type are, beside those of eager.
#[derive(Debug, Clone)]
pub struct ElementJudge {
    /// `None` where they must be equal.
    ladder: Option<Ladder>,
}

/// What one stretch of elements showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// The least tolerance at which all are right.
    pub passes_at: Option<i8>,
    /// Elements that differ.
    pub different: u64,
    /// Those that are wrong at t = -5.
    pub wrong: u64,
    /// Those that are not finite where eager's are.
    pub non_finite: u64,
    /// The largest absolute error.
    pub max_abs: f64,
    /// The largest relative error.
    pub max_rel: f64,
    /// The position of the first wrong element, its value and eager's.
    pub first_wrong: Option<(usize, f64, f64)>,
}

impl Stretch {
    /// What no elements show.
    pub const NOTHING: Stretch = Stretch {
        passes_at: Some(EXACT),
        different: 0,
        wrong: 0,
        non_finite: 0,
        max_abs: 0.0,
        max_rel: 0.0,
        first_wrong: None,
    };

    /// What both show.
    pub fn join(self, other: Stretch) -> Stretch {
        Stretch {
            passes_at: both(self.passes_at, other.passes_at),
            different: self.different + other.different,
            wrong: self.wrong + other.wrong,
            non_finite: self.non_finite + other.non_finite,
            max_abs: self.max_abs.max(other.max_abs),
            max_rel: self.max_rel.max(other.max_rel),
            first_wrong: match (self.first_wrong, other.first_wrong) {
                (Some(a), Some(b)) => Some(if a.0 <= b.0 { a } else { b }),
                (a, b) => a.or(b),
            },
        }
    }
}

/// The larger of two least tolerances, where none is larger than any.
pub fn both(a: Option<i8>, b: Option<i8>) -> Option<i8> {
    Some(a?.max(b?))
}

impl ElementJudge {
    /// Of elements of this type.
    pub fn new(dtype: Dtype) -> ElementJudge {
        ElementJudge { ladder: float_kind(dtype).map(Ladder::new) }
    }

    /// What all elements show.
    pub fn all(&self, rewritten: HostElements<'_>, eager: HostElements<'_>) -> Stretch {
        let count = eager.len();
        (0..count.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| self.stretch(rewritten, eager, chunk * CHUNK..((chunk + 1) * CHUNK).min(count)))
            .reduce(|| Stretch::NOTHING, Stretch::join)
    }

    /// What the elements of a range show.
    pub fn stretch(
        &self,
        rewritten: HostElements<'_>,
        eager: HostElements<'_>,
        range: std::ops::Range<usize>,
    ) -> Stretch {
        let mut found = Stretch::NOTHING;
        let (out, reference) = (rewritten.slice(range.clone()), eager.slice(range.clone()));
        // Bit-equal stretches are the common case, and a comparison of bytes is many times faster than one of numbers.
        if out.bytes == reference.bytes {
            return found;
        }
        let Some(ladder) = &self.ladder else {
            for index in 0..out.len() {
                if out.raw(index) != reference.raw(index) {
                    found.different += 1;
                    found.wrong += 1;
                    found.passes_at = None;
                    let (value, truth) = (out.get(index), reference.get(index));
                    found.max_abs = found.max_abs.max((value - truth).abs());
                    found.first_wrong.get_or_insert((range.start + index, value, truth));
                }
            }
            return found;
        };
        let (values, references) = (out.to_f64(), reference.to_f64());
        let parts = values.len() / out.len().max(1);
        for (position, (&value, &truth)) in values.iter().zip(&references).enumerate() {
            if value == truth || (value.is_nan() && truth.is_nan()) {
                continue;
            }
            found.different += 1;
            if truth.is_finite() && !value.is_finite() {
                found.non_finite += 1;
            }
            let error = (value - truth).abs();
            if error.is_finite() {
                found.max_abs = found.max_abs.max(error);
                if truth != 0.0 {
                    found.max_rel = found.max_rel.max(error / truth.abs());
                }
            }
            // An element that is no worse than those before, and not wrong, takes one comparison.
            let least = found.passes_at.map_or(WRONG_ABOVE, |t| t.min(WRONG_ABOVE));
            let passes_at = ladder.first_passes_at(least, value, truth);
            if passes_at.is_none_or(|t| t > WRONG_ABOVE) {
                found.wrong += 1;
                found.first_wrong.get_or_insert((range.start + position / parts, value, truth));
            }
            found.passes_at = both(found.passes_at, passes_at);
        }
        found
    }
}
