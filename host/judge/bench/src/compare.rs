//! Compares one output of the rewrite with eager's, element by element, over all rounds.

use crate::device::Device;
use crate::element::Elements;
use crate::held::Held;
use crate::on_device::compare::compare;
use passhost_ir::{Dtype, TensorType};
use passhost_result::OutputReport;
use passhost_score::{FloatKind, Ladder};
use rayon::prelude::*;

/// Elements that one task compares.
const CHUNK: usize = 1 << 14;
/// An element that needs more tolerance than this t has is counted as wrong.
pub const WRONG_ABOVE: i8 = -5;
/// Integers and bools are right when equal, at every t; there is nothing in between.
const EXACT: i8 = passhost_score::SMALLEST_T;

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

/// What is known of one output so far.
#[derive(Debug, Clone)]
pub struct Comparison {
    report: OutputReport,
    judge: Judge,
}

/// Says what elements of one type are, beside those of eager.
#[derive(Debug, Clone)]
pub struct Judge {
    /// `None` where they must be equal.
    ladder: Option<Ladder>,
}

/// What one stretch of elements showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// The least tolerance at which all are right.
    pub right_from: Option<i8>,
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
        right_from: Some(EXACT),
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
            right_from: both(self.right_from, other.right_from),
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

impl Comparison {
    /// Of an output of this type, before any round.
    pub fn new(ty: TensorType) -> Comparison {
        let judge = Judge::new(ty.dtype);
        let report = OutputReport {
            ty,
            right_from: Some(EXACT),
            elements: 0,
            different: 0,
            wrong: 0,
            non_finite: 0,
            max_abs: 0.0,
            max_rel: 0.0,
            first_wrong: None,
            first_wrong_value: None,
            first_wrong_reference: None,
            truth: None,
            decided: None,
        };
        Comparison { report, judge }
    }

    /// Adds a round, compared where the elements are. Both are of the type given to [`Comparison::new`]. Returns the least
    /// t at which this round alone is right.
    pub fn add(&mut self, device: &Device, rewritten: &Held, eager: &Held) -> Option<i8> {
        let found = match (rewritten.bytes_on_device(), eager.bytes_on_device(), device.on_device(&self.report.ty)) {
            (Some(rewritten), Some(eager), Some(kernels)) => {
                let dtype = self.report.ty.dtype;
                compare(device.context(), kernels, &self.judge, dtype, [&rewritten, &eager]).ok()
            }
            _ => None,
        };
        // What the device has no room for is compared on the CPU.
        let found = found.unwrap_or_else(|| self.judge.all(rewritten.elements(), eager.elements()));
        let report = &mut self.report;
        report.elements += report.ty.numel();
        report.right_from = both(report.right_from, found.right_from);
        report.different += found.different;
        report.wrong += found.wrong;
        report.non_finite += found.non_finite;
        report.max_abs = report.max_abs.max(found.max_abs);
        report.max_rel = report.max_rel.max(found.max_rel);
        if let (None, Some((index, value, reference))) = (&report.first_wrong, found.first_wrong) {
            report.first_wrong = Some(unravel(index, &report.ty.shape));
            report.first_wrong_value = Some(value);
            report.first_wrong_reference = Some(reference);
        }
        found.right_from
    }

    /// The least t at which every round so far is right.
    pub fn right_from(&self) -> Option<i8> {
        self.report.right_from
    }

    /// The report over all rounds.
    pub fn into_report(self) -> OutputReport {
        self.report
    }
}

impl Judge {
    /// Of elements of this type.
    pub fn new(dtype: Dtype) -> Judge {
        Judge { ladder: float_kind(dtype).map(Ladder::new) }
    }

    /// What all elements show.
    pub fn all(&self, rewritten: Elements<'_>, eager: Elements<'_>) -> Stretch {
        let count = eager.len();
        (0..count.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| self.stretch(rewritten, eager, chunk * CHUNK..((chunk + 1) * CHUNK).min(count)))
            .reduce(|| Stretch::NOTHING, Stretch::join)
    }

    /// What the elements of a range show.
    pub fn stretch(&self, rewritten: Elements<'_>, eager: Elements<'_>, range: std::ops::Range<usize>) -> Stretch {
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
                    found.right_from = None;
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
            let least = found.right_from.map_or(WRONG_ABOVE, |t| t.min(WRONG_ABOVE));
            let right_from = ladder.first_right_from(least, value, truth);
            if right_from.is_none_or(|t| t > WRONG_ABOVE) {
                found.wrong += 1;
                found.first_wrong.get_or_insert((range.start + position / parts, value, truth));
            }
            found.right_from = both(found.right_from, right_from);
        }
        found
    }
}

/// The logical index of a row-major position.
pub fn unravel(mut position: usize, shape: &[i64]) -> Vec<i64> {
    let mut index = vec![0; shape.len()];
    for (slot, &extent) in index.iter_mut().zip(shape).rev() {
        let extent = usize::try_from(extent).unwrap_or(1).max(1);
        *slot = (position % extent) as i64;
        position /= extent;
    }
    index
}

/// Error statistics of one output against a double precision run, over one slice of its leading dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UlpErrors {
    /// Root mean square, in ulps of the output's type at the true value, or at an eighth of the values' root mean square.
    pub rms: f64,
    /// 99.9th percentile of the magnitude.
    pub p999: f64,
    /// Elements left out: truth finite where the output overflowed, or the other way round.
    pub excluded: u64,
}

/// The error of `output` against `truth`, in units of the last place of the output's type. `skip` marks elements where
/// eager and the double precision run differ by overflow.
///
/// Where sums cancel, the result is small and its error is that of the summands: counted in its own last places it is
/// large and a matter of luck. So no element's last place counts as smaller than that of an eighth of their root mean
/// square.
pub fn ulp_errors(output: Elements<'_>, truth: &[f64], skip: &[bool]) -> UlpErrors {
    let chunks = || (0..truth.len().div_ceil(CHUNK)).into_par_iter();
    let range = |chunk: usize| chunk * CHUNK..((chunk + 1) * CHUNK).min(truth.len());
    // Sums of chunks, added in order: the same on any number of threads.
    let parts: Vec<(f64, u64)> = chunks().map(|chunk| squares(&truth[range(chunk)], &skip[range(chunk)])).collect();
    let (sum, count) = parts.into_iter().fold((0.0, 0), |(sum, count), part| (sum + part.0, count + part.1));
    let scale = (sum / count.max(1) as f64).sqrt() / 8.0;
    let (squared, errors): (Vec<f64>, Vec<Vec<f64>>) = chunks()
        .map(|chunk| {
            let errors = errors_of(output.slice(range(chunk)), &truth[range(chunk)], &skip[range(chunk)], scale);
            (errors.iter().map(|error| error * error).sum::<f64>(), errors)
        })
        .unzip();
    let counted: usize = errors.iter().map(Vec::len).sum();
    let excluded = (truth.len() - counted) as u64;
    match counted.checked_sub(1) {
        None => UlpErrors { rms: 0.0, p999: 0.0, excluded },
        Some(last) => {
            let rms = (squared.iter().sum::<f64>() / counted as f64).sqrt();
            UlpErrors { rms, p999: ranked(&errors, last * 999 / 1000), excluded }
        }
    }
}

/// The sum of squares of what is finite and not marked, and how many that are.
fn squares(truth: &[f64], skip: &[bool]) -> (f64, u64) {
    let counted = truth.iter().zip(skip).filter(|(exact, skip)| exact.is_finite() && !**skip);
    counted.fold((0.0, 0), |(sum, count), (exact, _)| (sum + exact * exact, count + 1))
}

/// The number of this rank among numbers that are not negative and no NaNs, the least first. Such numbers are ordered as
/// their bits are: those that share the first bits with it are found by counting, and only they are sorted.
fn ranked(parts: &[Vec<f64>], mut rank: usize) -> f64 {
    const BUCKETS: usize = 1 << 12;
    let bucket = |value: f64| (value.abs().to_bits() >> 51) as usize;
    let counted = parts.par_iter().map(|part| {
        let mut counts = vec![0; BUCKETS];
        part.iter().for_each(|&value| counts[bucket(value)] += 1);
        counts
    });
    let add = |a: Vec<usize>, b: Vec<usize>| a.into_iter().zip(b).map(|(a, b)| a + b).collect();
    let counts = counted.reduce(|| vec![0; BUCKETS], add);
    let place = counts.iter().position(|&count| match rank.checked_sub(count) {
        Some(rest) => {
            rank = rest;
            false
        }
        None => true,
    });
    let mut near: Vec<f64> = parts.iter().flatten().copied().filter(|&value| Some(bucket(value)) == place).collect();
    match near.get(rank) {
        Some(_) => *near.select_nth_unstable_by(rank, f64::total_cmp).1,
        None => f64::NAN,
    }
}

/// The error of each element that is not marked, where no last place counts as smaller than that of `scale`.
fn errors_of(output: Elements<'_>, truth: &[f64], skip: &[bool], scale: f64) -> Vec<f64> {
    let mut errors = Vec::with_capacity(truth.len());
    let mut marked = truth.iter().zip(skip);
    output.for_each(|value| match marked.next() {
        None | Some((_, true)) => {}
        Some((&exact, false)) if value == exact || (value.is_nan() && exact.is_nan()) => errors.push(0.0),
        Some((&exact, false)) => {
            // An infinity or a NaN that should not be there is an error without bound.
            let error = (value - exact).abs() / output.dtype.ulp(exact.abs().max(scale));
            errors.push(if error.is_nan() { f64::INFINITY } else { error });
        }
    });
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn compare(out: &[f32], reference: &[f32], shape: &[i64]) -> OutputReport {
        let mut comparison = Comparison::new(TensorType::contiguous(Dtype::F32, shape));
        let held = |values| Held::host(Dtype::F32, f32_bytes(values));
        comparison.add(&Device::cpu(), &held(out), &held(reference));
        comparison.into_report()
    }

    #[test]
    fn equal_outputs_are_right_at_every_tolerance() {
        let report = compare(&[1.0, f32::NAN, f32::INFINITY], &[1.0, f32::NAN, f32::INFINITY], &[3]);
        assert_eq!((report.right_from, report.different, report.wrong), (Some(-10), 0, 0));
    }

    #[test]
    fn the_first_wrong_element_is_named_by_its_logical_index() {
        let mut out = vec![1.0f32; 6];
        out[4] = 1.5;
        out[5] = 7.0;
        let report = compare(&out, &[1.0; 6], &[2, 3]);
        assert_eq!(report.first_wrong, Some(vec![1, 1]));
        assert_eq!((report.first_wrong_value, report.first_wrong_reference), (Some(1.5), Some(1.0)));
        assert_eq!((report.wrong, report.max_abs), (2, 6.0));
    }

    #[test]
    fn nan_and_infinity_match_only_their_like() {
        for (out, reference) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::INFINITY, f32::NEG_INFINITY)] {
            let report = compare(&[out], &[reference], &[1]);
            assert_eq!(report.right_from, None, "{out} against {reference}");
        }
        assert_eq!(compare(&[f32::NAN], &[1.0], &[1]).non_finite, 1);
    }

    #[test]
    fn a_later_round_can_only_raise_the_tolerance() {
        let mut comparison = Comparison::new(TensorType::contiguous(Dtype::F32, [1]));
        let device = Device::cpu();
        let [one, off] = [1.0, 1.01].map(|value| Held::host(Dtype::F32, f32_bytes(&[value])));
        let wrong = comparison.add(&device, &off, &one);
        assert!(wrong.is_some_and(|t| t > -5));
        assert_eq!(comparison.add(&device, &one, &one), Some(-10));
        assert_eq!(comparison.right_from(), wrong);
    }

    #[test]
    fn integers_must_be_equal() {
        let mut comparison = Comparison::new(TensorType::contiguous(Dtype::I16, [2]));
        let [out, reference] = [2, 3].map(|last| Held::host(Dtype::I16, vec![1, 0, last, 0]));
        assert_eq!(comparison.add(&Device::cpu(), &out, &reference), None);
    }

    #[test]
    fn a_result_that_went_through_half_precision_stands_out() {
        let truth: Vec<f64> = (0..1000).map(|i| f64::from(i % 97 - 48) / 7.0).collect();
        let errors = |values: Vec<f32>| {
            let bytes = f32_bytes(&values);
            ulp_errors(Elements { dtype: Dtype::F32, bytes: &bytes }, &truth, &vec![false; truth.len()])
        };
        let eager = errors(truth.iter().map(|exact| *exact as f32).collect());
        let halved = errors(truth.iter().map(|exact| half::f16::from_f64(*exact).to_f32()).collect());
        assert!(eager.rms < 1.0 && halved.rms > 500.0 && halved.p999 > 1000.0, "{eager:?} {halved:?}");
    }

    #[test]
    fn an_element_that_cancelled_counts_at_the_scale_of_the_others() {
        // An error of 2^-20 everywhere: 8 last places of 1, and thousands of 1e-5.
        let error = 2f64.powi(-20);
        let truth = [1.0, -1.0, 1.0, 1e-5];
        let bytes = f32_bytes(&truth.map(|exact| (exact + error) as f32));
        let errors = ulp_errors(Elements { dtype: Dtype::F32, bytes: &bytes }, &truth, &[false; 4]);
        assert!(errors.rms > 4.0 && errors.rms < 70.0, "{errors:?}");
        // What is small throughout counts at its own scale.
        let small = truth.map(|exact| exact * 1e-6);
        let bytes = f32_bytes(&small.map(|exact| (exact + error * 1e-6) as f32));
        let again = ulp_errors(Elements { dtype: Dtype::F32, bytes: &bytes }, &small, &[false; 4]);
        assert!((again.rms / errors.rms).log2().abs() < 1.5, "{again:?}");
    }

    #[test]
    fn a_rank_is_that_of_a_sorted_list() {
        let values: Vec<f64> = (0..3000u32).map(|at| f64::from(at.wrapping_mul(2_654_435_761) % 1000) / 7.0).collect();
        let parts = [&values[..1000], &[], &values[1000..], &[f64::INFINITY, 0.0, 1e-310]].map(<[f64]>::to_vec);
        let mut sorted = parts.concat();
        sorted.sort_by(f64::total_cmp);
        for rank in [0, 1, 2, 3, 1500, 2990, sorted.len() - 2, sorted.len() - 1] {
            assert_eq!(ranked(&parts, rank), sorted[rank], "{rank}");
        }
    }

    #[test]
    fn ulp_errors_leave_out_what_is_marked_and_see_infinities() {
        let bytes = f32_bytes(&[1.0, 1.0 + f32::EPSILON, f32::INFINITY]);
        let output = Elements { dtype: Dtype::F32, bytes: &bytes };
        let errors = ulp_errors(output, &[1.0, 1.0, 1e39], &[false, false, true]);
        assert_eq!((errors.p999, errors.excluded), (0.0, 1));
        assert!((errors.rms - 0.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(ulp_errors(output, &[1.0, 1.0, 5.0], &[false; 3]).rms, f64::INFINITY);
    }
}
