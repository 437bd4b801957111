//! Whether a rewrite is wrong on unusual inputs, by the elements that it has otherwise than eager and a run in double
//! precision, where those two agree. They are found where the tensors are.

use crate::edge_cases::EdgeCaseDraw;
use crate::held::HeldTensor;
use crate::judge::float_kind;
use crate::on_device;
use crate::on_device::contested::{Around, Contested, EXPONENT_AT};
use crate::precision::{OVERFLOWING, are_explained, strays};
use passhost_ir::{Dtype, TensorType};
use passhost_score::{Tolerance, is_close};
use rayon::prelude::*;

/// A rewrite may be so many times further from the truth than eager is anywhere, plus [`SLACK`] last places.
const FACTOR: f64 = 4.0;
const SLACK: f64 = 64.0;
/// Elements that may fall on the other side of a threshold by a rounding where an input is far from zero: a rounding there
/// is a thousand times as large beside what is left when the mean is taken away.
const TIPPED: usize = 4;

/// The first element of a suspect that the rewrite has otherwise than eager, where eager says what it must be, and how
/// many there are. `allowed` is the t of the tolerance.
pub fn wrong(
    ty: &TensorType,
    (allowed, domain): (i8, EdgeCaseDraw),
    outputs: [&HeldTensor; 3],
    shaken: Option<&HeldTensor>,
) -> Option<(usize, usize)> {
    let [rewritten, eager, truth] = outputs;
    if truth.count() != ty.numel() {
        return None;
    }
    let exactly = Tolerance { rtol: 0.0, atol: 0.0 };
    let tolerance = float_kind(ty.dtype).map_or(exactly, |kind| passhost_score::tolerance(kind, f64::from(allowed)));
    let tensors = match outputs.map(HeldTensor::tensor) {
        [Some(rewritten), Some(eager), Some(truth)] => Some([rewritten, eager, truth]),
        _ => None,
    };
    let there = tensors.filter(|_| shaken.is_none_or(|shaken| shaken.tensor().is_some()));
    let there = there.and_then(|tensors| {
        on_device::contested::contested(tensors, shaken.and_then(HeldTensor::tensor), tolerance).ok()
    });
    let contested = there.unwrap_or_else(|| {
        let doubles = |held: &HeldTensor| held.elements().to_f64();
        Contested::of([rewritten, eager, truth].map(doubles), shaken.map(doubles), tolerance)
    });
    contested.wrong(ty, domain, || {
        let there = tensors
            .and_then(|[_, eager, truth]| on_device::contested::around(ty.dtype, [eager, truth], tolerance).ok());
        there.unwrap_or_else(|| {
            Around::of((ty, allowed), [&eager.elements().to_f64(), &truth.elements().to_f64()], tolerance)
        })
    })
}

impl Contested {
    /// Of whole outputs.
    pub fn of([rewritten, eager, truth]: [Vec<f64>; 3], shaken: Option<Vec<f64>>, tolerance: Tolerance) -> Contested {
        let close = |a: f64, b: f64| is_close(a, b, tolerance);
        let is_contested = |at: &usize| {
            let (own, eager, truth) = (rewritten[*at], eager[*at], truth[*at]);
            !close(own, eager) && !close(own, truth) && close(eager, truth)
        };
        let places: Vec<usize> = (0..eager.len()).into_par_iter().filter(is_contested).collect();
        let there = |all: &Vec<f64>| places.iter().map(|&at| all[at]).collect::<Vec<f64>>();
        let (values, shaken) = ([&rewritten, &eager, &truth].map(there), shaken.as_ref().map(there));
        Contested { places, values, shaken }
    }

    /// The first element that is wrong, and how many there are.
    fn wrong(&self, ty: &TensorType, domain: EdgeCaseDraw, around: impl FnOnce() -> Around) -> Option<(usize, usize)> {
        // Elements that say nothing, as a rounding may decide each.
        let tipped = if matches!(domain, EdgeCaseDraw::Offset | EdgeCaseDraw::OwnMeans) { TIPPED } else { 0 };
        let mut wrong: Vec<usize> = (0..self.places.len()).collect();
        let is_float = float_kind(ty.dtype).is_some();
        wrong.retain(|&at| !is_float || self.is_said(at, domain) && !self.is_at_the_end(at, ty.dtype));
        let overflows = |at: &usize| {
            let (rewritten, eager) = (self.values[0][*at], self.values[1][*at]);
            let is_of_its_sign = domain == EdgeCaseDraw::Large && eager.is_finite() && eager * rewritten > 0.0;
            rewritten.is_infinite() && (rewritten == -eager || is_of_its_sign)
        };
        if wrong.iter().filter(|at| overflows(at)).count() as u64 <= ty.numel() / OVERFLOWING {
            wrong.retain(|at| !overflows(at));
        }
        let first = |wrong: &[usize]| wrong.first().map(|&at| (self.places[at], wrong.len()));
        first(&wrong)?;
        let around = around();
        if !is_float {
            // They must be equal; where eager itself flips some by its roundings, so may the rewrite.
            return first(&wrong).filter(|&(_, count)| count > FACTOR as usize * around.strays + tipped);
        }
        let [rewritten, eager, truth] = &self.values;
        let far = |at: usize| last_places(ty.dtype, rewritten[at], truth[at], around.scale);
        wrong.retain(|&at| far(at) > FACTOR * around.eagers + SLACK && !self.is_unsettled(at));
        // Finite ones alone stray; a NaN or an infinity in the place of a number is no rounding.
        let numbers = wrong.iter().filter(|&&at| rewritten[at].is_finite() && eager[at].is_finite()).count();
        let by_luck = numbers == wrong.len() && are_explained(numbers.saturating_sub(tipped), around.strays);
        first(&wrong).filter(|_| !by_luck)
    }

    /// Whether eager says what an element must be.
    fn is_said(&self, at: usize, domain: EdgeCaseDraw) -> bool {
        let (rewritten, eager) = (self.values[0][at], self.values[1][at]);
        // What infinities make of each other depends on the formula, and equal ones differ.
        let has_nans = matches!(domain, EdgeCaseDraw::NotNumbers | EdgeCaseDraw::NoNumberRow);
        let is_lost = eager.is_infinite() && (rewritten.is_finite() || rewritten == -eager);
        eager.is_finite() || (eager.is_nan() && has_nans) || is_lost
    }

    /// Whether the rewrite has an infinity where the truth is of its sign and near the end of the type's range: a rounding.
    fn is_at_the_end(&self, at: usize, dtype: Dtype) -> bool {
        let (rewritten, truth) = (self.values[0][at], self.values[2][at]);
        rewritten.is_infinite()
            && rewritten.signum() == truth.signum()
            && truth.abs() >= dtype.largest() / 2.0
            && truth.is_finite()
    }

    /// Whether the rewrite's value is within what roundings of the inputs do to the truth.
    fn is_unsettled(&self, at: usize) -> bool {
        let truth = self.values[2][at];
        let moved = self.shaken.as_ref().map(|shaken| (shaken[at] - truth).abs());
        moved.is_some_and(|moved| (self.values[0][at] - truth).abs() <= FACTOR * moved)
    }
}

impl Around {
    /// Of whole outputs.
    pub fn of((ty, allowed): (&TensorType, i8), [eager, truth]: [&[f64]; 2], tolerance: Tolerance) -> Around {
        if float_kind(ty.dtype).is_none() {
            let flips = eager.iter().zip(truth).filter(|(eager, truth)| eager != truth).count();
            return Around { scale: 0.0, eagers: 0.0, strays: flips };
        }
        let scale = scale(truth);
        let close = eager.par_iter().zip(truth).filter(|&(&eager, &truth)| is_close(eager, truth, tolerance));
        let eagers = close.map(|(&eager, &truth)| last_places(ty.dtype, eager, truth, scale)).reduce(|| 0.0, f64::max);
        Around { scale, eagers, strays: strays(ty, allowed, eager, truth) }
    }
}

/// See [`Around`].
fn scale(truth: &[f64]) -> f64 {
    let mut magnitudes: Vec<f64> = truth.iter().map(|value| value.abs()).filter(|value| value.is_finite()).collect();
    if magnitudes.is_empty() {
        return 0.0;
    }
    let middle = magnitudes.len() / 2;
    let (_, &mut median, _) = magnitudes.select_nth_unstable_by(middle, f64::total_cmp);
    f64::from_bits(median.to_bits() >> EXPONENT_AT << EXPONENT_AT) / 8.0
}

/// How far a value is from the truth, in last places of a type at the truth; no bound for what is not finite where the
/// other is.
fn last_places(dtype: Dtype, value: f64, truth: f64, scale: f64) -> f64 {
    if value == truth || (value.is_nan() && truth.is_nan()) {
        return 0.0;
    }
    let error = (value - truth).abs() / dtype.ulp(truth.abs().max(scale));
    if error.is_nan() { f64::INFINITY } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::bytes;

    fn first_wrong(rewritten: &[f32], eager: &[f32], truth: &[f64]) -> Option<usize> {
        first_wrong_in(EdgeCaseDraw::Zeros, rewritten, eager, truth)
    }

    fn first_wrong_in(domain: EdgeCaseDraw, rewritten: &[f32], eager: &[f32], truth: &[f64]) -> Option<usize> {
        let ty = TensorType::contiguous(Dtype::F32, [truth.len() as i64]);
        let [rewritten, eager] = [rewritten, eager].map(|values| HeldTensor::host(ty.dtype, bytes(values)));
        wrong(&ty, (-4, domain), [&rewritten, &eager, &doubles(truth)], None).map(|(first, _)| first)
    }

    fn doubles(values: &[f64]) -> HeldTensor {
        HeldTensor::host(Dtype::F64, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    const NAN: f32 = f32::NAN;
    const INF: f32 = f32::INFINITY;

    #[test]
    fn what_eager_says_is_held_against_the_rewrite() {
        assert_eq!(first_wrong(&[1.0, NAN], &[1.0, 2.0], &[1.0, 2.0]), Some(1), "finite in both others");
        assert_eq!(
            first_wrong_in(EdgeCaseDraw::NotNumbers, &[0.0, 2.0], &[NAN, 2.0], &[f64::NAN, 2.0]),
            Some(0),
            "a NaN is passed on"
        );
        assert_eq!(first_wrong(&[0.0, 2.0], &[INF, 2.0], &[f64::INFINITY, 2.0]), Some(0), "an infinity is lost");
        assert_eq!(first_wrong(&[-INF, 2.0], &[INF, 2.0], &[f64::INFINITY, 2.0]), Some(0), "one of the other sign");
        assert_eq!(first_wrong(&[1.0, 2.1], &[1.0, 2.0], &[1.0, 2.0]), Some(1));
    }

    #[test]
    fn an_infinity_near_the_end_of_the_range_is_a_rounding() {
        assert_eq!(first_wrong(&[INF, 2.0], &[3e38, 2.0], &[3e38, 2.0]), None);
        assert_eq!(first_wrong(&[-INF, 2.0], &[3e38, 2.0], &[3e38, 2.0]), Some(0), "of the other sign");
        assert_eq!(first_wrong(&[INF, 2.0], &[3e37, 2.0], &[3e37, 2.0]), Some(0), "far from it");
        assert_eq!(first_wrong(&[NAN, 2.0], &[3e38, 2.0], &[3e38, 2.0]), Some(0));
    }

    #[test]
    fn one_in_a_million_may_be_infinite_with_the_other_sign_or_where_eager_is_not() {
        let of = |value: f32, wrong: f32, places: &[usize]| {
            let domain = if places.is_empty() { EdgeCaseDraw::Literals } else { EdgeCaseDraw::Large };
            let places = if places.is_empty() { &[5] } else { places };
            let eager = vec![value; OVERFLOWING as usize];
            let mut rewritten = eager.clone();
            places.iter().for_each(|&at| rewritten[at] = wrong);
            first_wrong_in(domain, &rewritten, &eager, &vec![f64::from(value); eager.len()])
        };
        assert_eq!((of(INF, -INF, &[5]), of(INF, -INF, &[5, 77])), (None, Some(5)));
        assert_eq!((of(1e38, INF, &[5]), of(1e38, INF, &[5, 77])), (None, Some(5)));
        assert_eq!((of(1e38, -INF, &[5]), of(1e38, NAN, &[5])), (Some(5), Some(5)));
        assert_eq!((of(1e38, INF, &[]), of(0.0, INF, &[5])), (Some(5), Some(5)), "what is tried in single places");
    }

    #[test]
    fn what_eager_does_not_know_is_nobodys_mistake() {
        assert_eq!(first_wrong(&[NAN, 2.0], &[INF, 2.0], &[1e39, 2.0]), None, "eager overflows");
        assert_eq!(first_wrong(&[1e30, 2.0], &[NAN, 2.0], &[0.0, 2.0]), None, "eager has lost itself");
        assert_eq!(first_wrong(&[1.0, 2.0], &[1.0, 3.0], &[1.0, 2.0]), None, "the rewrite is the one that is right");
        assert_eq!(first_wrong(&[INF, 2.0], &[NAN, 2.0], &[f64::NAN, 2.0]), None, "inf - inf, by another formula inf");
        assert_eq!(first_wrong(&[NAN, 2.0], &[INF, 2.0], &[f64::INFINITY, 2.0]), None);
        assert_eq!(first_wrong_in(EdgeCaseDraw::NotNumbers, &[NAN, 2.0], &[NAN, 2.0], &[f64::NAN, 2.0]), None);
    }

    #[test]
    fn an_element_that_cancelled_may_be_off_by_what_its_summands_are() {
        let truth = [1000.0, -900.0, 800.0, 1e-3];
        let eager = [1000.0, -900.0, 800.0, 1e-3];
        let near = [1000.0, -900.0, 800.0, 1e-3 + 4e-4];
        assert_eq!(first_wrong(&near, &eager, &truth), None);
        let far = [1000.0, -900.0, 800.0, 1.0];
        assert_eq!(first_wrong(&far, &eager, &truth), Some(3));
    }

    #[test]
    fn integers_are_equal_unless_eager_itself_flips() {
        let ty = TensorType::contiguous(Dtype::I8, [4]);
        let wrong_in = |domain, rewritten: [u8; 4], eager: [u8; 4], truth: [f64; 4]| {
            let [rewritten, eager] = [rewritten, eager].map(|bytes| HeldTensor::host(ty.dtype, bytes.to_vec()));
            super::wrong(&ty, (-4, domain), [&rewritten, &eager, &doubles(&truth)], None)
        };
        let wrong = |rewritten, eager, truth| wrong_in(EdgeCaseDraw::Zeros, rewritten, eager, truth);
        assert_eq!(wrong_in(EdgeCaseDraw::Offset, [0, 1, 1, 0], [0; 4], [0.0; 4]), None, "roundings decide there");
        assert_eq!(wrong([0, 1, 1, 0], [0; 4], [0.0; 4]), Some((1, 2)));
        assert_eq!(wrong([0, 1, 0, 0], [0, 0, 0, 1], [0.0; 4]), None);
        assert_eq!(wrong([0; 4], [0; 4], [0.0; 4]), None);
    }

    #[test]
    fn what_roundings_of_the_inputs_undo_is_no_offence() {
        let ty = TensorType::contiguous(Dtype::F32, [2]);
        let [rewritten, eager] = [[-0.2, 5.0], [0.0, 4.0]].map(|values| HeldTensor::host(ty.dtype, bytes(&values)));
        let wrong = |shaken: Option<Vec<f64>>| {
            let shaken = shaken.map(|shaken| doubles(&shaken));
            super::wrong(
                &ty,
                (-4, EdgeCaseDraw::Extremes),
                [&rewritten, &eager, &doubles(&[0.0, 4.0])],
                shaken.as_ref(),
            )
        };
        assert_eq!(wrong(None), Some((0, 2)));
        assert_eq!(wrong(Some(vec![1e20, 4.1])), Some((1, 1)), "the second moves by a tenth of the difference");
        assert_eq!(wrong(Some(vec![1e20, 3.0])), None);
    }
}
