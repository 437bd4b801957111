//! How far outputs are from a run in double precision, in units of the last place.

use crate::element::HostElements;
use rayon::prelude::*;

/// Elements that one task looks at.
const CHUNK: usize = 1 << 14;

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
pub fn ulp_errors(output: HostElements<'_>, truth: &[f64], skip: &[bool]) -> UlpErrors {
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
fn errors_of(output: HostElements<'_>, truth: &[f64], skip: &[bool], scale: f64) -> Vec<f64> {
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
    use passhost_ir::Dtype;

    fn f32_bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn a_result_that_went_through_half_precision_stands_out() {
        let truth: Vec<f64> = (0..1000).map(|i| f64::from(i % 97 - 48) / 7.0).collect();
        let errors = |values: Vec<f32>| {
            let bytes = f32_bytes(&values);
            ulp_errors(HostElements { dtype: Dtype::F32, bytes: &bytes }, &truth, &vec![false; truth.len()])
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
        let errors = ulp_errors(HostElements { dtype: Dtype::F32, bytes: &bytes }, &truth, &[false; 4]);
        assert!(errors.rms > 4.0 && errors.rms < 70.0, "{errors:?}");
        // What is small throughout counts at its own scale.
        let small = truth.map(|exact| exact * 1e-6);
        let bytes = f32_bytes(&small.map(|exact| (exact + error * 1e-6) as f32));
        let again = ulp_errors(HostElements { dtype: Dtype::F32, bytes: &bytes }, &small, &[false; 4]);
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
        let output = HostElements { dtype: Dtype::F32, bytes: &bytes };
        let errors = ulp_errors(output, &[1.0, 1.0, 1e39], &[false, false, true]);
        assert_eq!((errors.p999, errors.excluded), (0.0, 1));
        assert!((errors.rms - 0.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(ulp_errors(output, &[1.0, 1.0, 5.0], &[false; 3]).rms, f64::INFINITY);
    }
}
