//! Ops that enlarge or shrink a tensor by interpolation.

use super::call::Uncovered;
use super::math::math;
use super::moves::Move;
use crate::args::Args;
use crate::index::Index;
use crate::index::sampling::{Centre, Sampling};
use crate::view::View;
use passhost_ir::{Arg, Dtype, Graph, Node, OpName, ValueId};

/// Weighted sums of the elements of a tensor around a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Resample {
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
    below: Index,
}

/// Which elements around a sample count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taps {
    /// The two next to it.
    Linear,
    /// The two next to it and those beyond these.
    Cubic,
}

impl ResampledAxis {
    /// The element below the sample for a position.
    pub(super) fn below(&self, position: &Index) -> Index {
        self.below.within(std::slice::from_ref(position))
    }
}

/// The largest denominator with which places are looked for as quotients.
const LARGEST_DENOMINATOR: i64 = 1 << 12;

/// An op that resamples.
pub(super) struct ResampleOp {
    pub(super) name: &'static str,
    /// How many trailing dimensions are resampled.
    dims: usize,
    kind: Interpolation,
}

#[derive(Clone, Copy, PartialEq)]
enum Interpolation {
    /// The nearest element, by where elements start.
    Nearest,
    /// The nearest element, by their middles.
    NearestExact,
    Between(Taps),
}

pub(super) const OPS: &[ResampleOp] = &[
    ResampleOp { name: "aten::upsample_nearest1d", dims: 1, kind: Interpolation::Nearest },
    ResampleOp { name: "aten::upsample_nearest2d", dims: 2, kind: Interpolation::Nearest },
    ResampleOp { name: "aten::upsample_nearest3d", dims: 3, kind: Interpolation::Nearest },
    ResampleOp { name: "aten::_upsample_nearest_exact1d", dims: 1, kind: Interpolation::NearestExact },
    ResampleOp { name: "aten::_upsample_nearest_exact2d", dims: 2, kind: Interpolation::NearestExact },
    ResampleOp { name: "aten::_upsample_nearest_exact3d", dims: 3, kind: Interpolation::NearestExact },
    ResampleOp { name: "aten::upsample_linear1d", dims: 1, kind: Interpolation::Between(Taps::Linear) },
    ResampleOp { name: "aten::upsample_bilinear2d", dims: 2, kind: Interpolation::Between(Taps::Linear) },
    ResampleOp { name: "aten::upsample_trilinear3d", dims: 3, kind: Interpolation::Between(Taps::Linear) },
    ResampleOp { name: "aten::upsample_bicubic2d", dims: 2, kind: Interpolation::Between(Taps::Cubic) },
];

/// What a resampling op makes of its operand.
pub(super) enum Resampled {
    /// Elements as they are.
    Move(Move),
    /// Sums of several.
    Sums(Resample),
}

/// How a call of an op finds its elements; an error where it is not covered.
pub(super) fn find(
    graph: &Graph,
    node: &Node,
    op: &ResampleOp,
    call: (&OpName, &[Arg]),
) -> Result<Resampled, Uncovered> {
    let [output] = node.outputs[..] else { return Err("has several results".to_owned()) };
    resample(graph, op, call.0.overload == "vec", Args::new(call.1), output)
}

fn resample(
    graph: &Graph,
    op: &ResampleOp,
    is_vec: bool,
    args: Args<'_>,
    output: ValueId,
) -> Result<Resampled, Uncovered> {
    let source = args.tensor(0).ok_or("has no tensor as argument 0")?;
    let (from, to) = (graph.ty(source), graph.ty(output));
    let first =
        from.rank().checked_sub(op.dims).filter(|_| from.rank() == to.rank()).ok_or("has too few dimensions")?;
    if from.shape == to.shape {
        let view = View { source, coordinates: Index::axes(&to.shape) };
        return Ok(Resampled::Move(Move::Map(view)));
    }
    let interpolates = matches!(op.kind, Interpolation::Between(_));
    let dtype = if interpolates { math(from.dtype).filter(|dtype| dtype.is_float()) } else { Some(Dtype::F32) };
    let dtype = dtype.ok_or_else(|| format!("interpolates {}", from.dtype))?;
    let aligned = interpolates && args.bool(2) == Some(true);
    let (mut coordinates, mut axes) = (Index::axes(&to.shape), vec![None; first]);
    for dim in 0..op.dims {
        let (extent, result) = (from.shape[first + dim], to.shape[first + dim]);
        // Behind the size, and for interpolation whether corners are aligned: one scale for each dimension, or a list.
        let place = if interpolates { 3 } else { 2 };
        let given = match (is_vec, args.get(place)) {
            (true, Some(Arg::Floats(scales))) => scales.get(dim).copied(),
            (true, _) => None,
            (false, _) => args.number(place + dim),
        };
        let sampling = Sampling::new(dtype, scale(extent, result, aligned, given, dtype), op.kind.centre(aligned));
        let below = quotient(sampling, result).unwrap_or_else(|| Index::axis(0, result).sampled(sampling));
        match op.kind {
            Interpolation::Between(taps) => axes.push(Some(ResampledAxis { sampling, taps, extent, below })),
            _ => {
                let place = below.within(&coordinates[first + dim..]);
                coordinates[first + dim] = place.clamped(0, extent - 1);
            }
        }
    }
    Ok(match op.kind {
        Interpolation::Between(_) => Resampled::Sums(Resample { source, axes, dtype }),
        _ => Resampled::Move(Move::Map(View { source, coordinates })),
    })
}

impl Interpolation {
    fn centre(self, aligned: bool) -> Centre {
        match self {
            Interpolation::Nearest => Centre::Corner,
            Interpolation::NearestExact => Centre::Middle,
            Interpolation::Between(_) if aligned => Centre::Corner,
            Interpolation::Between(Taps::Linear) => Centre::MiddleToMiddleInside,
            Interpolation::Between(Taps::Cubic) => Centre::MiddleToMiddle,
        }
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
