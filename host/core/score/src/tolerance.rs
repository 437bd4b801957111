//! When a floating-point element is right at tolerance t.

use serde::{Deserialize, Serialize};

/// The strictest tolerance exponent.
pub const SMALLEST_T: i8 = -10;
/// The loosest tolerance exponent, reached by the mismatch-extended interpretation only.
pub const LARGEST_T: i8 = 5;

const RUNGS: usize = (LARGEST_T - SMALLEST_T) as usize + 1;

/// A floating-point dtype, as far as tolerances go.
///
/// Integers and bools have no tolerance: they are compared exactly, at every t.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FloatKind {
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

/// How far an element may be from its reference: |out - reference| <= atol + rtol * |reference|.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Relative part, a share of |reference|.
    pub rtol: f64,
    /// Absolute part, in the unit of the elements.
    pub atol: f64,
}

/// The tolerance of `kind` at `t`, by the table of the GraphNet report.
///
/// | dtype | rtol | atol |
/// | --- | --- | --- |
/// | f16 | 10^(3t/5) | 10^t |
/// | bf16 | 10^(1.796t/5) | 10^t |
/// | f32 | 10^(5.886t/5) | 10^t |
/// | f64 | 10^(7t/5) | 10^(7t/5) |
///
/// At t = -5 these are the defaults of `torch.testing`, whose bf16 and f32 rtol the exponents 1.796 and 5.886 give to
/// three digits. Both parts grow with t, so that what is right at t is right at every larger t.
pub fn tolerance(kind: FloatKind, t: f64) -> Tolerance {
    let (rtol_digits, atol_digits) = match kind {
        FloatKind::F16 => (3.0, 5.0),
        FloatKind::Bf16 => (1.796, 5.0),
        FloatKind::F32 => (5.886, 5.0),
        FloatKind::F64 => (7.0, 7.0),
    };
    Tolerance { rtol: 10_f64.powf(rtol_digits * t / 5.0), atol: 10_f64.powf(atol_digits * t / 5.0) }
}

/// Whether `out` is right where eager computed `reference`.
///
/// Equal values match, infinities of the same sign among them. NaN matches NaN and nothing else. Otherwise both must be
/// finite and |out - reference| <= atol + rtol * |reference|, evaluated in f64: no tolerance makes an infinity right.
pub fn is_close(out: f64, reference: f64, tolerance: Tolerance) -> bool {
    match without_tolerance(out, reference) {
        Some(right) => right,
        None => within(out, reference, tolerance),
    }
}

/// The answer for pairs that no tolerance changes; `None` where it depends on the tolerance.
fn without_tolerance(out: f64, reference: f64) -> Option<bool> {
    if out == reference {
        Some(true)
    } else if out.is_finite() && reference.is_finite() {
        None
    } else {
        Some(out.is_nan() && reference.is_nan())
    }
}

fn within(out: f64, reference: f64, tolerance: Tolerance) -> bool {
    (out - reference).abs() <= tolerance.atol + tolerance.rtol * reference.abs()
}

/// The tolerances of one dtype for every t in -10..=5, computed once so that an element costs a few comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    rungs: [Tolerance; RUNGS],
}

impl Ladder {
    /// The ladder of `kind`.
    pub fn new(kind: FloatKind) -> Ladder {
        Ladder { rungs: std::array::from_fn(|rung| tolerance(kind, f64::from(SMALLEST_T) + rung as f64)) }
    }

    /// Those of every t from -10 on.
    pub fn tolerances(&self) -> &[Tolerance] {
        &self.rungs
    }

    /// The least t in -10..=5 at which the element is right, `None` if it is right at none.
    pub fn first_right(&self, out: f64, reference: f64) -> Option<i8> {
        self.first_passes_at(SMALLEST_T, out, reference)
    }

    /// The least t in `least`..=5 at which the element is right, `None` if it is right at none.
    ///
    /// A tensor is right where its worst element is. Passing the answer for the elements before as `least` makes the
    /// common case, an element that is no worse than those, one comparison. Below -10, `least` counts as -10.
    pub fn first_passes_at(&self, least: i8, out: f64, reference: f64) -> Option<i8> {
        let least = least.max(SMALLEST_T);
        let candidates = self.rungs.get(rung_of(least)..).filter(|candidates| !candidates.is_empty())?;
        match without_tolerance(out, reference) {
            Some(right) => right.then_some(least),
            None if within(out, reference, candidates[0]) => Some(least),
            None => {
                let wrong = candidates.partition_point(|&rung| !within(out, reference, rung));
                (wrong < candidates.len()).then_some(least + wrong as i8)
            }
        }
    }
}

fn rung_of(t: i8) -> usize {
    (i16::from(t) - i16::from(SMALLEST_T)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [FloatKind; 4] = [FloatKind::F16, FloatKind::Bf16, FloatKind::F32, FloatKind::F64];

    fn assert_near(found: f64, expected: f64, relative: f64, what: &str) {
        assert!((found - expected).abs() <= relative * expected, "{what}: expected {expected:e}, found {found:e}");
    }

    #[test]
    fn t_minus_5_is_torch_testing() {
        // The exponents 1.796 and 5.886 are log10 of 1.6e-2 and 1.3e-6, rounded.
        for (kind, rtol, atol, relative) in [
            (FloatKind::F16, 1e-3, 1e-5, 1e-12),
            (FloatKind::Bf16, 1.6e-2, 1e-5, 5e-4),
            (FloatKind::F32, 1.3e-6, 1e-5, 5e-4),
            (FloatKind::F64, 1e-7, 1e-7, 1e-12),
        ] {
            let found = tolerance(kind, -5.0);
            assert_near(found.rtol, rtol, relative, &format!("rtol of {kind:?}"));
            assert_near(found.atol, atol, 1e-12, &format!("atol of {kind:?}"));
        }
    }

    #[test]
    fn tolerances_follow_the_table() {
        for (kind, t, rtol, atol) in [
            (FloatKind::F16, -10.0, 1e-6, 1e-10),
            (FloatKind::F16, 5.0, 1e3, 1e5),
            (FloatKind::Bf16, -10.0, 10_f64.powf(-3.592), 1e-10),
            (FloatKind::Bf16, 0.0, 1.0, 1.0),
            (FloatKind::F32, -2.0, 10_f64.powf(-2.3544), 1e-2),
            (FloatKind::F32, 0.0, 1.0, 1.0),
            (FloatKind::F64, -10.0, 1e-14, 1e-14),
            (FloatKind::F64, 5.0, 1e7, 1e7),
        ] {
            let found = tolerance(kind, t);
            assert_near(found.rtol, rtol, 1e-12, &format!("rtol of {kind:?} at {t}"));
            assert_near(found.atol, atol, 1e-12, &format!("atol of {kind:?} at {t}"));
        }
    }

    #[test]
    fn no_tolerance_makes_a_non_finite_value_right() {
        let loosest = tolerance(FloatKind::F64, 5.0);
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        for (out, reference, right) in [
            (nan, nan, true),
            (nan, -nan, true),
            (nan, 1.0, false),
            (1.0, nan, false),
            (nan, inf, false),
            (inf, nan, false),
            (inf, inf, true),
            (-inf, -inf, true),
            (inf, -inf, false),
            (-inf, inf, false),
            (f64::MAX, inf, false),
            (inf, f64::MAX, false),
            (0.0, -0.0, true),
        ] {
            assert_eq!(is_close(out, reference, loosest), right, "{out} for {reference}");
            for kind in KINDS {
                let expected = right.then_some(SMALLEST_T);
                assert_eq!(Ladder::new(kind).first_right(out, reference), expected, "{kind:?}: {out} for {reference}");
            }
        }
    }

    #[test]
    fn the_bound_is_relative_to_the_reference_and_inclusive() {
        let tolerance = Tolerance { rtol: 0.25, atol: 0.5 };
        for (out, reference, right) in [
            (5.5, 4.0, true),
            (2.5, 4.0, true),
            (5.500_000_1, 4.0, false),
            (-5.5, -4.0, true),
            (0.5, 0.0, true),
            (0.500_000_1, 0.0, false),
            // |4 - 5.9| = 1.9 is within 0.5 + 0.25 * 5.9 = 1.975 but not, the other way round, within 0.5 + 0.25 * 4.
            (4.0, 5.9, true),
            (5.9, 4.0, false),
        ] {
            assert_eq!(is_close(out, reference, tolerance), right, "{out} for {reference}");
        }
    }

    #[test]
    fn finite_values_whose_difference_overflows_are_wrong_at_strict_tolerances() {
        assert!(!is_close(f64::MAX, -f64::MAX, tolerance(FloatKind::F64, -5.0)));
    }

    #[test]
    fn the_ladder_agrees_with_is_close_at_every_t() {
        let references = [0.0, 1e-300, -3e-7, 0.1, 1.0, -1.5, 65504.0, 1e20, -f64::MAX];
        let factors = [1.0, 1.0 + 1e-14, 1.0 - 1e-9, 1.0 + 1e-6, 1.001, 0.98, 1.5, -1.0, 3e2, 1e6, 1e12];
        for kind in KINDS {
            let ladder = Ladder::new(kind);
            for reference in references {
                for out in factors.map(|factor| reference * factor).into_iter().chain([1e-12, 1e-3, 7.0, -1e6]) {
                    let one_by_one =
                        (SMALLEST_T..=LARGEST_T).find(|&t| is_close(out, reference, tolerance(kind, f64::from(t))));
                    assert_eq!(ladder.first_right(out, reference), one_by_one, "{kind:?}: {out} for {reference}");
                    for least in -12..=7 {
                        let expected = (least.max(SMALLEST_T)..=LARGEST_T)
                            .find(|&t| is_close(out, reference, tolerance(kind, f64::from(t))));
                        let found = ladder.first_passes_at(least, out, reference);
                        assert_eq!(found, expected, "{kind:?} from {least}: {out} for {reference}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_tensor_is_right_where_its_worst_element_is() {
        let ladder = Ladder::new(FloatKind::F64);
        for (elements, expected) in [
            (vec![], Some(-10)),
            (vec![(1.0, 1.0), (2.0, 2.0)], Some(-10)),
            (vec![(1e-7, 0.0), (1.0, 1.0)], Some(-5)),
            (vec![(1.0, 1.0), (1.0, 0.0), (1e-7, 0.0)], Some(0)),
            (vec![(1.0, 0.0), (f64::NAN, 0.0), (1.0, 1.0)], None),
        ] {
            let worst = |least, &(out, reference): &(f64, f64)| ladder.first_passes_at(least, out, reference);
            assert_eq!(elements.iter().try_fold(SMALLEST_T, worst), expected, "{elements:?}");
        }
    }
}
