//! Errors against a double precision run, by ops of PyTorch on the device: what [`crate::ulps::ulp_errors`] counts, with
//! sums in another order.

use super::OnDeviceError;
use super::contested::last_places;
use super::ops::{VALUE, all, call, count, flat, float, is_close, narrowed, op, parts, total};
use crate::judge::float_kind;
use crate::precision::{LessPrecise, less_precise, report, slices};
use crate::ulps::UlpErrors;
use passhost_ir::{Arg, Dtype, TensorType};
use passhost_result::TruthReport;
use passhost_torch::Tensor;
use std::ops::Range;

/// How precise both programs are, and where the rewrite is less precise than it may be.
pub fn judge(
    ty: &TensorType,
    [rewritten, eager, truth]: [&Tensor; 3],
) -> Result<(Option<LessPrecise>, TruthReport), OnDeviceError> {
    let [rewritten, eager, exact] = [flat(rewritten)?, flat(eager)?, flat(truth)?];
    let mut differing = vec![];
    for range in slices(ty) {
        let [own, eagers] = [narrowed(&rewritten, &range)?, narrowed(&eager, &range)?];
        // The same values are equally precise.
        if own.same_bytes(&eagers)? {
            continue;
        }
        let part = Truth::new([&exact, &eager], range, ty.dtype)?;
        differing.push([part.errors(&rewritten)?, part.errors(&eager)?]);
    }
    let truth = Truth::new([&exact, &eager], 0..ty.numel() as usize, ty.dtype)?;
    let eagers = truth.errors(&eager)?;
    let own = if differing.is_empty() && rewritten.same_bytes(&eager)? { eagers } else { truth.errors(&rewritten)? };
    Ok((less_precise(&differing), report((eagers, own), truth.holds_of_eager()?)))
}

/// A range of a double precision run's result and of eager's, in one dimension.
struct Truth<'a> {
    exact: &'a Tensor,
    eager: &'a Tensor,
    range: Range<usize>,
    /// Element type of the output.
    dtype: Dtype,
    /// An eighth of the elements' root mean square: below it no last place counts as smaller.
    scale: f64,
    /// The elements that overflow in eager and not there, or the other way round.
    excluded: u64,
}

impl<'a> Truth<'a> {
    fn new([exact, eager]: [&'a Tensor; 2], range: Range<usize>, dtype: Dtype) -> Result<Truth<'a>, OnDeviceError> {
        let (mut counted, mut excluded, mut squared) = (0, 0, 0.0);
        for part in parts([exact, eager], range.clone())? {
            let (_, [exact, eager]) = part?;
            let skip = overflows(&exact, &eager)?;
            let left_out = op("logical_or", &[&op("logical_not", &[&op("isfinite", &[&exact])?])?, &skip])?;
            excluded += count(&skip)?;
            counted += exact.ty().numel() - count(&left_out)?;
            let squares = op("mul.Tensor", &[&exact, &exact])?;
            call("masked_fill_", "Scalar", &[VALUE, VALUE, Arg::Float(0.0)], &[&squares, &left_out])?;
            squared += total(&squares)?;
        }
        let scale = (squared / counted.max(1) as f64).sqrt() / 8.0;
        if !scale.is_finite() {
            return Err(OnDeviceError::Unsuited("squares that overflow are added up on the CPU"));
        }
        Ok(Truth { exact, eager, range, dtype, scale, excluded })
    }

    /// The errors of values, which are a whole output's.
    fn errors(&self, values: &Tensor) -> Result<UlpErrors, OnDeviceError> {
        let excluded = self.excluded;
        let count = self.range.len() as u64 - excluded;
        if count == 0 {
            return Ok(UlpErrors { rms: 0.0, p999: 0.0, excluded });
        }
        // Of the largest, the least.
        let ranked = (count - (count - 1) * 999 / 1000) as i64;
        let (mut squared, mut largest): (f64, Option<Tensor>) = (0.0, None);
        for part in parts([values, self.exact, self.eager], self.range.clone())? {
            let (_, [values, exact, eager]) = part?;
            let skip = overflows(&exact, &eager)?;
            let error = op("sub.Tensor", &[&values, &exact])?;
            op("abs_", &[&error])?;
            op("div_.Tensor", &[&error, &last_places(&exact, self.scale, self.dtype)?])?;
            // An infinity or a NaN that should not be there is an error without bound.
            let [infinity, zero] = [f64::INFINITY, 0.0].map(Arg::Float);
            call("nan_to_num_", "", &[VALUE, infinity.clone(), infinity, zero.clone()], &[&error])?;
            let counts_nothing = op("logical_or", &[&skip, &is_met(&values, &exact)?])?;
            call("masked_fill_", "Scalar", &[VALUE, VALUE, zero], &[&error, &counts_nothing])?;
            squared += total(&op("mul.Tensor", &[&error, &error])?)?;
            // Below all others, what is left out is not among the largest.
            call("masked_fill_", "Scalar", &[VALUE, VALUE, Arg::Float(-1.0)], &[&error, &skip])?;
            largest = Some(joined_largest(largest, error, ranked)?);
        }
        let p999 = largest.map_or(Ok(0.0), |largest| Ok::<_, OnDeviceError>(float(&op("min", &[&largest])?)))?;
        Ok(UlpErrors { rms: (squared / count as f64).sqrt(), p999, excluded })
    }

    /// Whether eager is right at t = -5 when this is taken as the reference.
    fn holds_of_eager(&self) -> Result<bool, OnDeviceError> {
        let Some(kind) = float_kind(self.dtype) else { return Ok(true) };
        let tolerance = passhost_score::tolerance(kind, -5.0);
        for part in parts([self.exact, self.eager], self.range.clone())? {
            let (_, [exact, eager]) = part?;
            let right = op("logical_or", &[&is_close(&eager, &exact, tolerance)?, &overflows(&exact, &eager)?])?;
            if !all(&right)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The elements that overflow in one and not in the other.
fn overflows(exact: &Tensor, eager: &Tensor) -> Result<Tensor, OnDeviceError> {
    op("logical_xor", &[&op("isfinite", &[exact])?, &op("isfinite", &[eager])?])
}

/// The elements where values are equal to the truth, or both are NaN.
fn is_met(values: &Tensor, exact: &Tensor) -> Result<Tensor, OnDeviceError> {
    let equal = op("eq.Tensor", &[values, exact])?;
    let both = op("logical_and", &[&op("isnan", &[values])?, &op("isnan", &[exact])?])?;
    op("logical_or", &[&equal, &both])
}

/// The so many largest elements of both, or all if they are fewer.
fn joined_largest(before: Option<Tensor>, more: Tensor, ranked: i64) -> Result<Tensor, OnDeviceError> {
    let largest = |of: &Tensor| {
        let ranked = ranked.min(of.ty().numel() as i64);
        call("topk", "", &[VALUE, Arg::Int(ranked), Arg::Int(0), Arg::Bool(true), Arg::Bool(false)], &[of])
    };
    let more = largest(&more)?;
    let Some(before) = before else { return Ok(more) };
    largest(&call("cat", "", &[Arg::Values(vec![(), ()]), Arg::Int(0)], &[&before, &more])?)
}
