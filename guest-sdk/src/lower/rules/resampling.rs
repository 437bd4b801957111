//! Ops that enlarge or shrink a tensor by interpolation.

use crate::index::Index;
use crate::index::sampling::{Centre, Sampling};
use crate::lower::math::math;
use crate::lower::moves::maps::map;
use crate::lower::node_call::NodeCall;
use crate::lower::resample::{Resample, ResampledAxis, Taps};
use crate::lower::rule::{Found, Recipe, Rule};
use passhost_ir::{Arg, Dtype, NodeKind};

/// With a size, and with a size and scales in lists.
const BOTH: &[&str] = &["", "vec"];

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::found("aten::upsample_nearest1d", BOTH, |call| resampled(call, 1, NEAREST)),
    Rule::found("aten::upsample_nearest2d", BOTH, |call| resampled(call, 2, NEAREST)),
    Rule::found("aten::upsample_nearest3d", BOTH, |call| resampled(call, 3, NEAREST)),
    Rule::found("aten::_upsample_nearest_exact1d", BOTH, |call| resampled(call, 1, NEAREST_EXACT)),
    Rule::found("aten::_upsample_nearest_exact2d", BOTH, |call| resampled(call, 2, NEAREST_EXACT)),
    Rule::found("aten::_upsample_nearest_exact3d", BOTH, |call| resampled(call, 3, NEAREST_EXACT)),
    Rule::found("aten::upsample_linear1d", BOTH, |call| resampled(call, 1, LINEAR)),
    Rule::found("aten::upsample_bilinear2d", BOTH, |call| resampled(call, 2, LINEAR)),
    Rule::found("aten::upsample_trilinear3d", BOTH, |call| resampled(call, 3, LINEAR)),
    Rule::found("aten::upsample_bicubic2d", BOTH, |call| resampled(call, 2, CUBIC)),
];

/// Where samples lie if corners are not aligned, and which elements around them count if it is not the nearest alone.
type Interpolation = (Centre, Option<Taps>);

/// The nearest element, by where elements start.
const NEAREST: Interpolation = (Centre::Corner, None);
/// The nearest element, by their middles.
const NEAREST_EXACT: Interpolation = (Centre::Middle, None);
const LINEAR: Interpolation = (Centre::MiddleToMiddleInside, Some(Taps::Linear));
const CUBIC: Interpolation = (Centre::MiddleToMiddle, Some(Taps::Cubic));

/// The largest denominator with which places are looked for as quotients.
const LARGEST_DENOMINATOR: i64 = 1 << 12;

/// Trailing dimensions resampled.
fn resampled(call: &NodeCall<'_>, dims: usize, (centre, taps): Interpolation) -> Found {
    let (source, to) = (call.tensor(0)?, call.result()?);
    let from = call.graph.ty(source);
    let first = from.rank().checked_sub(dims).filter(|_| from.rank() == to.rank()).ok_or("has too few dimensions")?;
    let mut coordinates = Index::axes(&to.shape);
    if from.shape == to.shape {
        return map(source, coordinates);
    }
    let dtype = if taps.is_some() { math(from.dtype).filter(|dtype| dtype.is_float()) } else { Some(Dtype::F32) };
    let dtype = dtype.ok_or_else(|| format!("interpolates {}", from.dtype))?;
    let is_vec = matches!(&call.node.kind, NodeKind::Aten { op, .. } if op.overload == "vec");
    let aligned = taps.is_some() && call.args.bool(2) == Some(true);
    let centre = if aligned { Centre::Corner } else { centre };
    let mut axes = vec![None; first];
    for dim in 0..dims {
        let (extent, result) = (from.shape[first + dim], to.shape[first + dim]);
        // Behind the size, and for interpolation whether corners are aligned: one scale for each dimension, or a list.
        let place = if taps.is_some() { 3 } else { 2 };
        let given = match (is_vec, call.args.get(place)) {
            (true, Some(Arg::Floats(scales))) => scales.get(dim).copied(),
            (true, _) => None,
            (false, _) => call.args.number(place + dim),
        };
        let sampling = Sampling::new(dtype, scale(extent, result, aligned, given, dtype), centre);
        let below = quotient(sampling, result).unwrap_or_else(|| Index::axis(0, result).sampled(sampling));
        match taps {
            Some(taps) => axes.push(Some(ResampledAxis { sampling, taps, extent, below })),
            None => {
                let place = below.within(&coordinates[first + dim..]);
                coordinates[first + dim] = place.clamped(0, extent - 1);
            }
        }
    }
    match taps {
        Some(_) => Ok(Recipe::Resample(Resample { source, axes, dtype })),
        None => map(source, coordinates),
    }
}

/// How far samples lie apart, in elements of the source.
fn scale(from: i64, to: i64, aligned: bool, given: Option<f64>, dtype: Dtype) -> f64 {
    let ratio = |from: i64, to: i64| match dtype {
        Dtype::F64 => from as f64 / to as f64,
        _ => f64::from(from as f32 / to as f32),
    };
    match given.filter(|&scale| scale > 0.0) {
        _ if aligned && to > 1 => ratio(from - 1, to - 1),
        _ if aligned => 0.0,
        Some(given) => 1.0 / given,
        None => ratio(from, to),
    }
}

/// The elements below the samples as `(axis 0 * a + b) / c`, if such a quotient gives all of them: executors know more of
/// one than of what floats give.
fn quotient(sampling: Sampling, extent: i64) -> Option<Index> {
    let axis = Index::axis(0, extent);
    let agrees = |index: &Index| (0..extent).all(|position| index.eval(&[position]) == sampling.floor(position));
    quotients(sampling, &axis).into_iter().find(agrees)
}

/// What a sampling is of an index where the scale is exactly a fraction: for those that come nearer and nearer to the scale,
/// with denominators up to [`LARGEST_DENOMINATOR`].
fn quotients(sampling: Sampling, index: &Index) -> Vec<Index> {
    let quotient = |(numerator, denominator): (i64, i64)| {
        let offset = match sampling.centre {
            Centre::Corner => 0,
            Centre::Middle => numerator,
            Centre::MiddleToMiddle | Centre::MiddleToMiddleInside => numerator - denominator,
        };
        // Twice the fraction, so that half an element is a whole number; only as fine as it has to be.
        let common = divisor(divisor(2 * numerator, offset.abs()), 2 * denominator).max(1);
        let index = index.times(2 * numerator / common).shifted(offset / common).div(2 * denominator / common);
        let high = index.range().1.max(0);
        if sampling.centre == Centre::MiddleToMiddleInside { index.clamped(0, high) } else { index }
    };
    fractions(sampling.scale()).into_iter().map(quotient).collect()
}

/// The convergents of the continued fraction of a positive number, as numerators and denominators.
fn fractions(x: f64) -> Vec<(i64, i64)> {
    let mut found = Vec::new();
    let (mut before, mut last) = ((0, 1), (1, 0));
    let mut rest = x;
    while rest.is_finite() && rest < LARGEST_DENOMINATOR as f64 * 1e3 {
        let whole = rest.floor() as i64;
        let next = (whole * last.0 + before.0, whole * last.1 + before.1);
        if next.1 > LARGEST_DENOMINATOR {
            break;
        }
        found.push(next);
        (before, last) = (last, next);
        rest = 1.0 / (rest - rest.floor());
    }
    found
}

/// The greatest common divisor.
fn divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_quotients_where_these_give_all_of_them() {
        let axis = Index::axis(0, 12);
        let cases = [
            (1.0 / 3.0, Centre::Corner, axis.div(3)),
            (1.0 / 3.0, Centre::Middle, axis.times(2).shifted(1).div(6)),
            (0.5, Centre::MiddleToMiddle, axis.times(2).shifted(-1).div(4)),
            (0.5, Centre::MiddleToMiddleInside, axis.times(2).shifted(-1).div(4).clamped(0, 5)),
            (2.5, Centre::Corner, axis.times(5).div(2)),
        ];
        for (scale, centre, expected) in cases {
            let sampling = Sampling::new(Dtype::F32, scale, centre);
            assert!(quotients(sampling, &axis).contains(&expected), "{scale} {centre:?}");
            for at in 0..12 {
                assert_eq!(expected.eval(&[at]), sampling.floor(at), "{scale} {centre:?} at {at}");
            }
        }
    }
}
