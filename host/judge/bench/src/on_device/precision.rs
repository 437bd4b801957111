//! Errors against a double precision run, by ops of PyTorch on the device: what [`crate::ulps::ulp_errors`] counts, with
//! sums in another order.

use super::OnDeviceError;
use super::contested::last_places;
use super::ops::{VALUE, all, call, count, flat, float, is_close, narrowed, op, parts, total};
use crate::judge::float_kind;
use crate::precision::{LessPrecise, are_explained, less_precise, may_be_lost, report, slices};
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
    let differing = differing(ty, [&rewritten, &eager, &exact], None)?;
    let truth = Truth::new([&exact, &eager], None, 0..ty.numel() as usize, ty.dtype)?;
    let eagers = truth.errors(&eager)?;
    let own = if differing.is_empty() && rewritten.same_bytes(&eager)? { eagers } else { truth.errors(&rewritten)? };
    Ok((less_precise(&differing), report((eagers, own), truth.holds_of_eager()?)))
}

/// The errors of the rewrite and of eager in each slice in which they differ, but for elements that overflow in eager or in
/// `other`, or in the truth alone. All in one dimension.
fn differing(
    ty: &TensorType,
    [rewritten, eager, exact]: [&Tensor; 3],
    other: Option<&Tensor>,
) -> Result<Vec<[UlpErrors; 2]>, OnDeviceError> {
    let mut differing = vec![];
    for range in slices(ty) {
        let [own, eagers] = [narrowed(rewritten, &range)?, narrowed(eager, &range)?];
        // The same values are equally precise.
        if own.same_bytes(&eagers)? {
            continue;
        }
        let part = Truth::new([exact, eager], other, range, ty.dtype)?;
        differing.push([part.errors(rewritten)?, part.errors(eager)?]);
    }
    Ok(differing)
}

/// As [`crate::precision::is_as_precise`].
pub fn is_as_precise(ty: &TensorType, t: i8, three: [&Tensor; 3]) -> Result<bool, OnDeviceError> {
    let [rewritten, eager, exact] = three;
    let counts = Strays::of(ty, t, [rewritten, eager, exact])?;
    if !may_be_lost(ty, counts.lost) {
        return Ok(false);
    }
    let [rewritten, eager, exact] = [flat(rewritten)?, flat(eager)?, flat(exact)?];
    let other = are_explained(counts.overflown[0], counts.overflown[1]).then_some(&rewritten);
    let differing = differing(ty, [&rewritten, &eager, &exact], other)?;
    Ok(less_precise(&differing).is_none() || are_explained(counts.strays[0], counts.strays[1]))
}

/// How many elements of the rewrite and of eager are lost, overflow and stray.
#[derive(Default)]
struct Strays {
    lost: [[usize; 2]; 2],
    overflown: [usize; 2],
    strays: [usize; 2],
}

impl Strays {
    fn of(ty: &TensorType, t: i8, three: [&Tensor; 3]) -> Result<Strays, OnDeviceError> {
        let kind =
            float_kind(ty.dtype).ok_or(OnDeviceError::Unsuited("whole numbers are as precise or not on the CPU"))?;
        let tolerance = passhost_score::tolerance(kind, f64::from(t));
        let mut counts = Strays::default();
        for part in parts(three, 0..ty.numel() as usize)? {
            let (_, [rewritten, eager, exact]) = part?;
            let [is_own, is_eagers, is_exact] =
                [op("isfinite", &[&rewritten])?, op("isfinite", &[&eager])?, op("isfinite", &[&exact])?];
            // Where the truth is near the end of the type's range, an infinity of its sign is a rounding.
            let end = [VALUE, Arg::Float(ty.dtype.largest() / 2.0)];
            let is_far_from_it = call("lt", "Scalar", &end, &[&op("abs", &[&exact])?])?;
            let sign = op("sign", &[&exact])?;
            let programs = [(&rewritten, &is_own, &is_eagers), (&eager, &is_eagers, &is_own)];
            for (which, (values, is_finite, is_others)) in programs.into_iter().enumerate() {
                let is_same = op("eq.Tensor", &[&op("sign", &[values])?, &sign])?;
                let is_of_its_sign = op("logical_and", &[&op("isinf", &[values])?, &is_same])?;
                let is_known = op("logical_and", &[is_others, &is_exact])?;
                let is_lost = op("logical_and", &[&op("logical_not", &[is_finite])?, &is_known])?;
                let is_overflown = op("logical_and", &[&is_of_its_sign, &is_far_from_it])?;
                let is_other = op("logical_not", &[&is_of_its_sign])?;
                for (lost, is_so) in counts.lost[which].iter_mut().zip([is_overflown, is_other]) {
                    *lost += count(&op("logical_and", &[&is_lost, &is_so])?)? as usize;
                }
                counts.overflown[which] += count(&op("logical_xor", &[is_finite, &is_exact])?)? as usize;
                let is_far = op("logical_not", &[&is_close(values, &exact, tolerance)?])?;
                let are_finite = op("logical_and", &[is_finite, &is_exact])?;
                counts.strays[which] += count(&op("logical_and", &[&is_far, &are_finite])?)? as usize;
            }
        }
        Ok(counts)
    }
}

/// A range of a double precision run's result and of eager's, in one dimension.
struct Truth<'a> {
    exact: &'a Tensor,
    eager: &'a Tensor,
    /// A program that may overflow in other places.
    other: Option<&'a Tensor>,
    range: Range<usize>,
    /// Element type of the output.
    dtype: Dtype,
    /// An eighth of the elements' root mean square: below it no last place counts as smaller.
    scale: f64,
    /// The elements that overflow in one of the two programs and not there, or the other way round.
    excluded: u64,
}

impl<'a> Truth<'a> {
    fn new(
        [exact, eager]: [&'a Tensor; 2],
        other: Option<&'a Tensor>,
        range: Range<usize>,
        dtype: Dtype,
    ) -> Result<Truth<'a>, OnDeviceError> {
        let mut truth = Truth { exact, eager, other, range, dtype, scale: 0.0, excluded: 0 };
        let (mut counted, mut squared) = (0, 0.0);
        for part in parts([exact, eager], truth.range.clone())? {
            let (first, [exact, eager]) = part?;
            let skip = truth.skip(first, &exact, &eager)?;
            let left_out = op("logical_or", &[&op("logical_not", &[&op("isfinite", &[&exact])?])?, &skip])?;
            truth.excluded += count(&skip)?;
            counted += exact.ty().numel() - count(&left_out)?;
            let squares = op("mul.Tensor", &[&exact, &exact])?;
            call("masked_fill_", "Scalar", &[VALUE, VALUE, Arg::Float(0.0)], &[&squares, &left_out])?;
            squared += total(&squares)?;
        }
        truth.scale = (squared / counted.max(1) as f64).sqrt() / 8.0;
        if !truth.scale.is_finite() {
            return Err(OnDeviceError::Unsuited("squares that overflow are added up on the CPU"));
        }
        Ok(truth)
    }

    /// What counts nothing of a part of both that begins there.
    fn skip(&self, first: usize, exact: &Tensor, eager: &Tensor) -> Result<Tensor, OnDeviceError> {
        let is_exact = op("isfinite", &[exact])?;
        let mut skip = op("logical_xor", &[&is_exact, &op("isfinite", &[eager])?])?;
        if let Some(other) = self.other {
            let other = narrowed(other, &(first..first + exact.ty().numel() as usize))?;
            skip = op("logical_or", &[&skip, &op("logical_xor", &[&is_exact, &op("isfinite", &[&other])?])?])?;
        }
        Ok(skip)
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
            let (first, [values, exact, eager]) = part?;
            let skip = self.skip(first, &exact, &eager)?;
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
            let (first, [exact, eager]) = part?;
            let skip = self.skip(first, &exact, &eager)?;
            let right = op("logical_or", &[&is_close(&eager, &exact, tolerance)?, &skip])?;
            if !all(&right)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
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
