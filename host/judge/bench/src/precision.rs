//! Whether a rewrite is as precise as eager, by a run in double precision.

use crate::element::HostElements;
use crate::held::HeldTensor;
use crate::judge::float_kind;
use crate::on_device;
use crate::ulps::{UlpErrors, ulp_errors};
use passhost_ir::TensorType;
use passhost_result::TruthReport;
use rayon::prelude::*;
use std::ops::Range;

/// A rewrite may be this much less precise than eager, plus [`ULP_SLACK`].
const ULP_FACTOR: f64 = 4.0;
const ULP_SLACK: f64 = 1.0;
/// One in so many slices may be less precise for any reason.
const ONE_SLICE_IN: usize = 32;
/// Of so many elements one may be infinite where eager is not, or with the other sign: parts of a product may overflow though
/// the whole does not, and a rounding decides the sign of what is next to zero and is multiplied by an infinity.
pub(crate) const OVERFLOWING: u64 = 1 << 20;
/// Slices of the leading dimension that precision is judged over, at most.
const SLICES: usize = 64;
/// Elements of a slice, at least: what one or two are off by is a matter of luck.
const SLICE: usize = 512;

/// How a rewrite is less precise than eager's own error explains: the measure, the ulps of the rewrite and those of eager.
pub type LessPrecise = (&'static str, f64, f64);

/// One of the measures of errors.
type Measure = fn(&UlpErrors) -> f64;

/// Whether a double precision run's result says how precise an output is.
pub fn can_judge(ty: &TensorType, truth: &HeldTensor) -> bool {
    ty.dtype.is_float() && truth.count() == ty.numel()
}

/// How precise both programs are, and where the rewrite is less precise than it may be. On the device where the elements
/// are there.
pub fn judge(ty: &TensorType, [rewritten, eager, truth]: [&HeldTensor; 3]) -> (Option<LessPrecise>, TruthReport) {
    // Smaller ones are judged by a few passes over a cache.
    if ty.numel() >= on_device::FULL as u64
        && let (Some(rewritten), Some(eager), Some(truth)) = (rewritten.tensor(), eager.tensor(), truth.tensor())
        && let Ok(judged) = on_device::precision::judge(ty, [rewritten, eager, truth])
    {
        return judged;
    }
    // What the device has no room for is judged on the CPU.
    let (rewritten, eager) = (rewritten.elements(), eager.elements());
    let truth = truth.elements().to_f64();
    let skip = overflown(eager, &truth);
    let less_precise = less_precise_than_eager(ty, rewritten, eager, &truth, &skip);
    let eagers = ulp_errors(eager, &truth, &skip);
    let own = if rewritten.bytes == eager.bytes { eagers } else { ulp_errors(rewritten, &truth, &skip) };
    (less_precise, report((eagers, own), right_against_truth(ty, eager, &truth, &skip)))
}

/// Of the errors of eager and of the rewrite.
pub fn report((eager, rewritten): (UlpErrors, UlpErrors), eager_passes: bool) -> TruthReport {
    TruthReport {
        eager_rms: eager.rms,
        rewritten_rms: rewritten.rms,
        eager_p999: eager.p999,
        rewritten_p999: rewritten.p999,
        eager_passes,
        excluded: eager.excluded,
    }
}

/// Whether a rewrite whose output differs from eager's at a tolerance of `t` is as precise: nowhere much further from the
/// truth, or beyond that tolerance in hardly more elements. What is no number where eager's is one is no rounding.
pub fn is_as_precise(ty: &TensorType, t: i8, [rewritten, eager, truth]: [&HeldTensor; 3]) -> bool {
    if ty.numel() >= on_device::FULL as u64
        && let (Some(rewritten), Some(eager), Some(truth)) = (rewritten.tensor(), eager.tensor(), truth.tensor())
        && let Ok(answer) = on_device::precision::is_as_precise(ty, t, [rewritten, eager, truth])
    {
        return answer;
    }
    let (rewritten, eager, truth) = (rewritten.elements(), eager.elements(), &truth.elements().to_f64());
    let skip = either_overflown(rewritten, eager, truth);
    let numbers = [rewritten.to_f64(), eager.to_f64()];
    if !may_be_lost(ty, [0, 1].map(|which| lost(ty, &numbers[which], &numbers[1 - which], truth))) {
        return false;
    }
    less_precise_than_eager(ty, rewritten, eager, truth, &skip).is_none()
        || are_explained(strays(ty, t, &numbers[0], truth), strays(ty, t, &numbers[1], truth))
}

/// Elements that are not finite where the other program's and the truth are: infinities of the truth's sign, and all others.
/// Such an infinity near the end of the type's range is a rounding, and not counted.
fn lost(ty: &TensorType, values: &[f64], others: &[f64], truth: &[f64]) -> [usize; 2] {
    let all = values.par_iter().zip(others).zip(truth);
    all.filter(|((value, other), exact)| !value.is_finite() && other.is_finite() && exact.is_finite())
        .map(|((value, _), exact)| match value.is_infinite() && value.signum() == exact.signum() {
            true => [usize::from(exact.abs() < ty.dtype.largest() / 2.0), 0],
            false => [0, 1],
        })
        .reduce(|| [0, 0], |one, other| [one[0] + other[0], one[1] + other[1]])
}

/// Whether eager's lost elements explain those of the rewrite. Few infinities need no explanation: parts of a long product
/// may overflow though the whole does not.
pub fn may_be_lost(ty: &TensorType, [[overflown, others], eagers]: [[usize; 2]; 2]) -> bool {
    let is_few = overflown as u64 <= ty.numel() / OVERFLOWING;
    are_explained(others + if is_few { 0 } else { overflown }, eagers[0] + eagers[1])
}

/// Whether so many elements that stray from the truth are what eager's own straying explains: where a graph amplifies
/// roundings, which elements stray is a matter of luck.
pub fn are_explained(strays: usize, eagers: usize) -> bool {
    strays as f64 <= ULP_FACTOR * eagers as f64
}

/// Finite elements that are not within the tolerance of `t` of a finite truth.
pub fn strays(ty: &TensorType, t: i8, values: &[f64], truth: &[f64]) -> usize {
    let Some(kind) = float_kind(ty.dtype) else { return 0 };
    let tolerance = passhost_score::tolerance(kind, f64::from(t));
    let strays = |(value, exact): (&f64, &f64)| {
        value.is_finite() && exact.is_finite() && !passhost_score::is_close(*value, *exact, tolerance)
    };
    values.par_iter().zip(truth).filter(|&pair| strays(pair)).count()
}

/// The elements that overflow in a program and not in truth, or the other way round.
fn overflown(program: HostElements<'_>, truth: &[f64]) -> Vec<bool> {
    let pairs = program.to_f64().into_par_iter().zip(truth);
    pairs.map(|(value, exact)| value.is_finite() != exact.is_finite()).collect()
}

/// Those of eager, and those of the rewrite if they are not many times more: where values reach the end of their type's
/// range, which of them go over it depends on roundings.
fn either_overflown(rewritten: HostElements<'_>, eager: HostElements<'_>, truth: &[f64]) -> Vec<bool> {
    let (own, eagers) = (overflown(rewritten, truth), overflown(eager, truth));
    let count = |overflown: &[bool]| overflown.iter().filter(|&&overflown| overflown).count();
    if !are_explained(count(&own), count(&eagers)) {
        return eagers;
    }
    own.into_iter().zip(eagers).map(|(own, eagers)| own || eagers).collect()
}

/// The elements of each slice of the leading dimension.
pub fn slices(ty: &TensorType) -> Vec<Range<usize>> {
    let count = ty.numel() as usize;
    let leading = ty.shape.first().map_or(1, |&extent| extent.max(1).unsigned_abs() as usize);
    let slices = leading.min(SLICES).min(count / SLICE).max(1);
    let row = count / leading;
    (0..slices).map(|slice| slice * leading / slices * row..(slice + 1) * leading / slices * row).collect()
}

/// How a rewrite is less precise than luck explains, if it is, by the errors of the rewrite and of eager in each slice in
/// which they differ.
///
/// The elements of a slice may share one error, such as that of a sum that is subtracted from a whole row. Whose error is
/// the smaller one there is a matter of luck: where two programs are equally precise, each is many times less precise than
/// the other in some slices. So a slice counts only where there is none in which eager is about as much less precise.
pub fn less_precise(slices: &[[UlpErrors; 2]]) -> Option<LessPrecise> {
    let measures: [(_, Measure); 2] = [("rms", |errors| errors.rms), ("99.9th percentile", |errors| errors.p999)];
    measures.into_iter().find_map(|(name, measure)| {
        let mut worse: Vec<LessPrecise> = vec![];
        let mut eagers: Vec<f64> = vec![];
        for slice in slices {
            let [rewritten, eager] = slice.each_ref().map(measure);
            worse.push((name, rewritten, eager));
            eagers.push(excess(eager, rewritten));
        }
        worse.sort_by(|one, other| excess(other.1, other.2).total_cmp(&excess(one.1, one.2)));
        eagers.sort_by(|one, other| other.total_cmp(one));
        let pairs = worse.into_iter().zip(eagers).skip(slices.len() / ONE_SLICE_IN);
        pairs.into_iter().find_map(|(slice, eagers)| {
            let excess = excess(slice.1, slice.2);
            (excess > 1.0 && excess > ULP_FACTOR * eagers).then_some(slice)
        })
    })
}

/// An error, by what is allowed beside another one.
fn excess(error: f64, other: f64) -> f64 {
    if other.is_infinite() { 0.0 } else { error / (ULP_FACTOR * other + ULP_SLACK) }
}

/// How the rewrite is less precise than eager, if it is.
fn less_precise_than_eager(
    ty: &TensorType,
    rewritten: HostElements<'_>,
    eager: HostElements<'_>,
    truth: &[f64],
    skip: &[bool],
) -> Option<LessPrecise> {
    let errors = |range: &Range<usize>| {
        let both = [rewritten, eager].map(|elements| elements.slice(range.clone()));
        let is_same = both[0].bytes == both[1].bytes;
        (!is_same).then(|| both.map(|elements| ulp_errors(elements, &truth[range.clone()], &skip[range.clone()])))
    };
    less_precise(&slices(ty).par_iter().filter_map(errors).collect::<Vec<_>>())
}

/// Whether eager is right at t = -5 when the double precision run is taken as the reference.
fn right_against_truth(ty: &TensorType, eager: HostElements<'_>, truth: &[f64], skip: &[bool]) -> bool {
    let Some(kind) = float_kind(ty.dtype) else { return true };
    let tolerance = passhost_score::tolerance(kind, -5.0);
    let values = eager.to_f64();
    let elements = values.par_iter().zip(truth).zip(skip);
    elements.all(|((&value, &exact), &skip)| skip || passhost_score::is_close(value, exact, tolerance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::Dtype;

    fn judged(rewritten: &[f32], eager: &[f32], truth: &[f64]) -> Option<&'static str> {
        let ty = TensorType::contiguous(Dtype::F32, vec![rewritten.len() as i64]);
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let (rewritten, eager) = (bytes(rewritten), bytes(eager));
        let elements = |bytes| HostElements { dtype: Dtype::F32, bytes };
        let skip = either_overflown(elements(&rewritten), elements(&eager), truth);
        let found = less_precise_than_eager(&ty, elements(&rewritten), elements(&eager), truth, &skip);
        found.map(|(measure, ..)| measure)
    }

    #[test]
    fn a_rewrite_that_is_as_far_from_the_truth_as_eager_is_no_less_precise() {
        assert_eq!(judged(&[1.5, 0.1], &[0.2, -0.7], &[0.9, 0.4]), None);
        assert_eq!(judged(&[1.5, 0.1], &[0.9, 0.4], &[0.9, 0.4]), Some("rms"));
    }

    #[test]
    fn what_is_luck_in_one_slice_is_as_much_in_another() {
        let errors = |rms: f64| UlpErrors { rms, p999: rms, excluded: 0 };
        let found = |slices: &[[f64; 2]]| {
            less_precise(&slices.iter().map(|slice| slice.map(errors)).collect::<Vec<_>>()).map(|found| found.1)
        };
        assert_eq!(found(&[[17.0, 0.5], [0.5, 12.0]]), None, "each has its share");
        assert_eq!(found(&[[17.0, 0.5], [1.0, 1.0]]), Some(17.0));
        assert_eq!(found(&[[170.0, 0.5], [0.5, 12.0]]), Some(170.0), "more than its share");
        assert_eq!(found(&[[100.0, 0.5], [90.0, 0.5], [0.5, 30.0]]), Some(90.0), "more often than its share");
        assert_eq!(found(&[[f64::INFINITY, 0.5]]), Some(f64::INFINITY));
        assert_eq!(found(&[[f64::INFINITY; 2], [0.5, f64::INFINITY]]), None);
        let mut many = vec![[1.0, 1.0]; 62];
        many.extend([[90.0, 0.5]; 2]);
        assert_eq!(found(&many), None, "two slices of 64");
        many[0] = [80.0, 0.5];
        assert_eq!(found(&many), Some(80.0), "three of 64");
    }

    #[test]
    fn what_strays_is_explained_by_as_much_of_eagers() {
        let ty = TensorType::contiguous(Dtype::F32, [4]);
        let truth = [1.0, -1.0, 2.0, f64::INFINITY];
        assert_eq!(strays(&ty, 0, &[1.1, 5.0, -9.0, 3.0], &truth), 2, "what is infinite says nothing");
        assert_eq!(strays(&ty, -5, &[1.1, -1.0, 2.0, 3.0], &truth), 1);
        assert!(are_explained(0, 0) && are_explained(4, 1));
        assert!(!are_explained(1, 0) && !are_explained(5, 1));
    }

    #[test]
    fn what_is_no_number_where_the_others_are_is_lost_but_at_the_end_of_the_range() {
        let ty = TensorType::contiguous(Dtype::F16, [4]);
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let eager = [1.0, 65_504.0, -1.0, inf];
        let truth = [1.0, 65_519.0, -1.0, 1e9];
        assert_eq!(lost(&ty, &[nan, 65_504.0, -1.0, inf], &eager, &truth), [0, 1]);
        assert_eq!(lost(&ty, &[1.0, inf, -inf, nan], &eager, &truth), [1, 0], "one overflows, one never was near");
        assert_eq!(lost(&ty, &[1.0, -inf, -1.0, 5.0], &eager, &truth), [0, 1], "of the other sign");
        assert_eq!(lost(&ty, &eager, &[1.0, 2.0, 3.0, 4.0], &truth), [0, 0]);
        let large = TensorType::contiguous(Dtype::F16, [1 << 20, 3]);
        let may = |ty, own, eagers| may_be_lost(ty, [own, eagers]);
        assert!(may(&ty, [0, 0], [0, 0]) && !may(&ty, [1, 0], [0, 0]) && may(&ty, [3, 1], [0, 1]));
        assert!(may(&large, [3, 0], [0, 0]) && !may(&large, [4, 0], [0, 0]) && !may(&large, [0, 1], [0, 0]));
    }

    #[test]
    fn values_at_the_end_of_their_range_may_go_over_it_in_either_program() {
        let (big, inf) = (3e38, f32::INFINITY);
        let truth = [4e38, f64::from(big), 4e38, 1.0];
        assert_eq!(judged(&[big, inf, inf, 1.0], &[inf, big, inf, 1.0], &truth), None);
        // Where eager stays in the range, so must the rewrite.
        assert_eq!(judged(&[1.0, inf], &[1.0, big], &[1.0, f64::from(big)]), Some("rms"));
    }
}
