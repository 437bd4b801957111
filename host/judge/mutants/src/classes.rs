//! The classes of mutants. A new one is a row of [`CLASSES`] and a function from a place to graphs.

use crate::draft::Site;
use passhost_ir::{Arg, Dtype, Graph, TensorType, ValueId};

/// A class: what it is called, and the mutants that it makes at a place.
pub(crate) type Class = (&'static str, fn(&Site<'_>) -> Vec<Graph>);

pub(crate) const CLASSES: &[Class] = &[
    ("guard", guard),
    ("eps", eps),
    ("term", term),
    ("comparison", comparison),
    ("branch", branch),
    ("part of a row", part_of_a_row),
    ("tail", tail),
    ("first row for all", first_row),
    ("input as recorded", input_as_recorded),
    ("function near zero", near_zero),
    ("approximation", approximation),
    ("softmax without maximum", softmax),
    ("one-pass variance", one_pass),
    ("precision", precision),
    ("another cast", cast),
    ("operands exchanged", exchanged),
    ("NaN and infinity replaced", replaced),
    ("index", index),
    ("wrong dimension", wrong_dimension),
    ("padding side", padding_side),
    ("integers narrowed", narrowed),
];

/// Constants up to this are there for safety's sake.
const EPS: f64 = 1e-3;

fn some<const N: usize>(made: [Option<Graph>; N]) -> Vec<Graph> {
    made.into_iter().flatten().collect()
}

/// Drops what bounds, replaces or masks.
fn guard(site: &Site<'_>) -> Vec<Graph> {
    match site.name().as_str() {
        "relu" | "relu6" | "clamp" | "clamp_min" | "clamp_max" | "hardtanh" | "nan_to_num" | "masked_fill" | "abs"
        | "leaky_relu" | "threshold" => some([site.handing_on(0)]),
        _ => vec![],
    }
}

/// Drops a bias, a scale, a gate or a residual.
fn term(site: &Site<'_>) -> Vec<Graph> {
    match site.op().as_str() {
        "add.Tensor" | "mul.Tensor" | "maximum" | "minimum" => some([site.handing_on(0), site.handing_on(1)]),
        "sub.Tensor" | "div.Tensor" => some([site.handing_on(0)]),
        "add.Scalar" | "sub.Scalar" | "mul.Scalar" | "div.Scalar" | "pow.Tensor_Scalar" => some([site.handing_on(0)]),
        _ => vec![],
    }
}

/// Drops a small constant that is added, or that a norm has.
fn eps(site: &Site<'_>) -> Vec<Graph> {
    if site.op() == "add.Scalar" && matches!(site.args().get(1), Some(Arg::Float(eps)) if eps.abs() <= EPS) {
        return some([site.handing_on(0)]);
    }
    let names = ["layer_norm", "batch_norm", "native_batch_norm", "group_norm", "instance_norm", "rms_norm"];
    let is_eps = |arg: &Arg| matches!(arg, Arg::Float(eps) if *eps > 0.0 && *eps <= EPS);
    let at = site.args().iter().rposition(is_eps).filter(|_| names.contains(&site.name().as_str()));
    at.and_then(|at| site.given(at, 0.0)).into_iter().collect()
}

/// `>` for `>=`, and the like.
fn comparison(site: &Site<'_>) -> Vec<Graph> {
    let op = site.op();
    let other = match op.split('.').next() {
        Some("gt") => "ge",
        Some("ge") => "gt",
        Some("lt") => "le",
        Some("le") => "lt",
        _ => return vec![],
    };
    some([site.calling(&op.replacen(&op[..2], other, 1), site.args().to_vec())])
}

/// Takes one branch everywhere.
fn branch(site: &Site<'_>) -> Vec<Graph> {
    match site.name().as_str() {
        "where" => some([site.handing_on(1), site.handing_on(2)]),
        _ => vec![],
    }
}

/// The dimensions that an argument names, counted from the front.
fn dims(arg: Option<&Arg>, rank: usize) -> Vec<usize> {
    let from_front = |dim: &i64| dim.rem_euclid(rank.max(1) as i64) as usize;
    match arg {
        Some(Arg::Int(dim)) => vec![from_front(dim)],
        Some(Arg::Ints(dims)) => dims.iter().map(from_front).collect(),
        _ => vec![],
    }
}

/// Reduces the first half of each row, or all but its first element.
fn part_of_a_row(site: &Site<'_>) -> Vec<Graph> {
    let op = site.op();
    let reduces =
        ["sum.dim_IntList", "mean.dim", "amax", "amin", "any.dim", "all.dim", "logsumexp", "argmax", "argmin"];
    let Some(operand) = site.operand(0).filter(|_| reduces.contains(&op.as_str())) else { return vec![] };
    let shape = &site.graph.ty(operand).shape;
    let Some(&dim) = dims(site.args().get(1), shape.len()).last() else { return vec![] };
    let extent = shape[dim];
    let part = |range| {
        site.with(|draft| {
            let part = draft.slice(operand, dim, range)?;
            let mut args = site.args().to_vec();
            args[0] = part.into();
            draft.call(&op, args, site.ty().clone())
        })
    };
    if extent < 4 { vec![] } else { some([part((0, extent / 2)), part((1, extent))]) }
}

/// Leaves the last 4% of the rows of an output zero, or all after element 64.
fn tail(site: &Site<'_>) -> Vec<Graph> {
    let ty = site.ty();
    let Some(dim) = ty.rank().checked_sub(1).filter(|_| site.is_output() && ty.dtype.is_float()) else { return vec![] };
    let extent = ty.shape[dim];
    if extent < 8 || !ty.is_contiguous() {
        return vec![];
    }
    let first = |left: i64| {
        site.with(|draft| {
            let most = draft.slice(site.value, dim, (0, left))?;
            draft.call("constant_pad_nd", vec![most.into(), [0, extent - left].into()], ty.clone())
        })
    };
    some([first(extent - (extent + 24) / 25), (extent > 68).then(|| first(64)).flatten()])
}

/// Computes an output for the first index of its first dimension alone.
fn first_row(site: &Site<'_>) -> Vec<Graph> {
    let ty = site.ty();
    if !site.is_output() || ty.rank() < 2 || ty.shape[0] < 2 {
        return vec![];
    }
    let mut spread = ty.clone();
    spread.strides[0] = 0;
    some([site.with(|draft| {
        let first = draft.slice(site.value, 0, (0, 1))?;
        let all = draft.call("expand", vec![first.into(), ty.shape.clone().into()], spread)?;
        draft.call("clone", vec![all.into()], TensorType::contiguous(ty.dtype, ty.shape.clone()))
    })])
}

/// Takes an input for ones or for zeros.
fn input_as_recorded(site: &Site<'_>) -> Vec<Graph> {
    if site.node.is_some() || site.ty().numel() == 0 {
        return vec![];
    }
    let like = |op| site.calling(op, vec![site.value.into()]);
    match site.ty().dtype {
        dtype if dtype.is_float() => some([like("ones_like"), like("zeros_like")]),
        Dtype::Bool => some([like("ones_like"), like("zeros_like")]),
        _ => vec![],
    }
}

/// A function by what it is near zero.
fn near_zero(site: &Site<'_>) -> Vec<Graph> {
    match site.name().as_str() {
        "sin" | "tanh" | "tan" | "expm1" | "log1p" | "atan" | "asin" | "sinh" | "erf" => some([site.handing_on(0)]),
        "exp" => some([site.operand(0).and_then(|x| site.calling("add.Scalar", vec![x.into(), 1.0.into()]))]),
        "cos" => some([site.operand(0).and_then(|x| site.calling("ones_like", vec![x.into()]))]),
        _ => vec![],
    }
}

/// A function by a cheaper one that is alike.
fn approximation(site: &Site<'_>) -> Vec<Graph> {
    let Some(x) = site.operand(0) else { return vec![] };
    let as_op = |op: &str| site.calling(op, vec![x.into()]);
    match site.name().as_str() {
        "gelu" => {
            let other = if site.args().get(1).and_then(Arg::as_str) == Some("tanh") { "none" } else { "tanh" };
            some([site.given(1, other), as_op("silu")])
        }
        "silu" => some([as_op("hardswish")]),
        "sigmoid" => some([as_op("hardsigmoid")]),
        "tanh" => some([as_op("hardtanh")]),
        "softplus" | "elu" | "leaky_relu" | "celu" | "selu" => some([as_op("relu")]),
        "mish" => some([as_op("silu")]),
        _ => vec![],
    }
}

/// Exponentials by their sum, which overflow.
fn softmax(site: &Site<'_>) -> Vec<Graph> {
    let Some(x) = site.operand(0).filter(|_| matches!(site.name().as_str(), "softmax" | "_softmax")) else {
        return vec![];
    };
    let ty = site.ty().clone();
    let Some(&dim) = dims(site.args().get(1), ty.rank()).first() else { return vec![] };
    let mut row = ty.shape.clone();
    row[dim] = 1;
    let row = TensorType::contiguous(ty.dtype, row);
    some([site.with(|draft| {
        let powers = draft.call("exp", vec![x.into()], draft.graph.ty(x).clone())?;
        let sum = draft.call("sum.dim_IntList", vec![powers.into(), [dim as i64].into(), true.into()], row)?;
        draft.call("div.Tensor", vec![powers.into(), sum.into()], ty)
    })])
}

/// A value by way of narrower types, but for those that it comes from or goes on as: then nothing changes.
fn converted(site: &Site<'_>, dtypes: &[Dtype]) -> Vec<Graph> {
    let back = |&dtype: &Dtype| {
        site.with(|draft| {
            let narrow = TensorType { dtype, ..site.ty().clone() };
            let there = draft.call("to.dtype", vec![site.value.into(), dtype.into()], narrow)?;
            draft.call("to.dtype", vec![there.into(), site.ty().dtype.into()], site.ty().clone())
        })
    };
    dtypes.iter().filter(|&&dtype| !site.is_of(dtype)).filter_map(back).collect()
}

/// One value in lower precision.
fn precision(site: &Site<'_>) -> Vec<Graph> {
    match site.ty().dtype {
        Dtype::F64 => converted(site, &[Dtype::F32]),
        Dtype::F32 => converted(site, &[Dtype::F16, Dtype::Bf16]),
        _ => vec![],
    }
}

/// A variance as the mean of squares less the square of the mean, which cancels far from zero.
fn one_pass(site: &Site<'_>) -> Vec<Graph> {
    let (ty, args) = (site.ty(), site.args());
    let Some(x) = site.operand(0).filter(|_| site.name() == "layer_norm" && ty.rank() > 0) else { return vec![] };
    if !matches!(args.get(1), Some(Arg::Ints(shape)) if shape.len() == 1) {
        return vec![];
    }
    let mut row = ty.shape.clone();
    row[ty.rank() - 1] = 1;
    let row = TensorType::contiguous(ty.dtype, row);
    some([site.with(|draft| {
        let mean = draft.call("mean.dim", vec![x.into(), [-1].into(), true.into()], row.clone())?;
        let squares = draft.call("mul.Tensor", vec![x.into(), x.into()], ty.clone())?;
        let squares = draft.call("mean.dim", vec![squares.into(), [-1].into(), true.into()], row.clone())?;
        let square = draft.call("mul.Tensor", vec![mean.into(), mean.into()], row.clone())?;
        let variance = draft.call("sub.Tensor", vec![squares.into(), square.into()], row.clone())?;
        let safe = draft.call("add.Scalar", vec![variance.into(), args.get(4)?.clone()], row.clone())?;
        let factor = draft.call("rsqrt", vec![safe.into()], row.clone())?;
        let centred = draft.call("sub.Tensor", vec![x.into(), mean.into()], ty.clone())?;
        let mut normed = draft.call("mul.Tensor", vec![centred.into(), factor.into()], ty.clone())?;
        for (op, at) in [("mul.Tensor", 2), ("add.Tensor", 3)] {
            if let Some(&affine) = args.get(at).and_then(Arg::as_value) {
                normed = draft.call(op, vec![normed.into(), affine.into()], ty.clone())?;
            }
        }
        Some(normed)
    })])
}

/// A cast to the other half type, or to integers that rounds.
fn cast(site: &Site<'_>) -> Vec<Graph> {
    let Some(x) = site.operand(0).filter(|_| matches!(site.name().as_str(), "to" | "_to_copy" | "type_as")) else {
        return vec![];
    };
    match site.ty().dtype {
        Dtype::F16 => converted(site, &[Dtype::Bf16]),
        Dtype::Bf16 => converted(site, &[Dtype::F16]),
        Dtype::I64 | Dtype::I32 if site.graph.ty(x).dtype.is_float() => some([site.with(|draft| {
            let whole = draft.call("round", vec![x.into()], draft.graph.ty(x).clone())?;
            let mut args = site.args().to_vec();
            args[0] = whole.into();
            draft.call(&site.op(), args, site.ty().clone())
        })]),
        _ => vec![],
    }
}

/// Integers in fewer bits.
fn narrowed(site: &Site<'_>) -> Vec<Graph> {
    let is_index = matches!(site.name().as_str(), "arange" | "argmax" | "argmin" | "argsort");
    if site.ty().dtype == Dtype::I64 && !is_index { converted(site, &[Dtype::I16]) } else { vec![] }
}

/// One operand in the place of the other.
fn exchanged(site: &Site<'_>) -> Vec<Graph> {
    let (first, second) = match site.op().as_str() {
        "sub.Tensor" | "div.Tensor" | "gt.Tensor" | "ge.Tensor" | "lt.Tensor" | "le.Tensor" => (0, 1),
        "where.self" => (1, 2),
        _ => return vec![],
    };
    let mut args = site.args().to_vec();
    args.swap(first, second);
    some([site.calling(&site.op(), args)])
}

/// Zero for NaN and the largest number for infinity; infinity for NaN; where there can be one, an infinity of the other sign.
fn replaced(site: &Site<'_>) -> Vec<Graph> {
    if !site.is_output() || !site.ty().dtype.is_float() {
        return vec![];
    }
    let infinity = f64::INFINITY;
    let by = |values: [f64; 3]| {
        let values = values.into_iter().map(Arg::Float);
        site.calling("nan_to_num", std::iter::once(site.value.into()).chain(values).collect())
    };
    let largest = site.calling("nan_to_num", vec![site.value.into()]);
    let other_sign = if site.is_bounded() { None } else { by([f64::NAN, -infinity, infinity]) };
    some([largest, by([infinity, infinity, -infinity]), other_sign])
}

/// The last row of a table is never looked up, or the first one in its place.
fn index(site: &Site<'_>) -> Vec<Graph> {
    let (table, indices, dim) = match site.name().as_str() {
        "embedding" => (0, 1, 0),
        "index_select" | "gather" => (0, 2, dims(site.args().get(1), rank_of(site, 0)).first().copied().unwrap_or(0)),
        _ => return vec![],
    };
    let (Some(table), Some(used)) = (site.operand(table), site.operand(indices)) else { return vec![] };
    let Some(&extent) = site.graph.ty(table).shape.get(dim).filter(|&&extent| extent > 1) else { return vec![] };
    let bounded_by = |op, by: i64| {
        site.with(|draft| {
            let ty = draft.graph.ty(used).clone();
            let bounded = draft.call(op, vec![used.into(), by.into()], ty)?;
            let mut args = site.args().to_vec();
            args[indices] = bounded.into();
            draft.call(&site.op(), args, site.ty().clone())
        })
    };
    some([bounded_by("clamp_max", extent - 2), bounded_by("remainder.Scalar", extent - 1)])
}

fn rank_of(site: &Site<'_>, operand: usize) -> usize {
    site.operand(operand).map_or(0, |value| site.graph.ty(value).rank())
}

/// A vector along another dimension that happens to be as large.
fn wrong_dimension(site: &Site<'_>) -> Vec<Graph> {
    let [.., rows, columns] = site.ty().shape[..] else { return vec![] };
    let is_broadcast = matches!(site.op().as_str(), "add.Tensor" | "sub.Tensor" | "mul.Tensor" | "div.Tensor");
    let vector: Option<ValueId> = site.operand(1).filter(|_| rank_of(site, 1) == 1 && is_broadcast && rows == columns);
    let Some(vector) = vector.filter(|_| columns > 1) else { return vec![] };
    some([site.with(|draft| {
        let ty = TensorType { shape: vec![rows, 1], strides: vec![1, 1], ..draft.graph.ty(vector).clone() };
        let column = draft.call("unsqueeze", vec![vector.into(), (-1).into()], ty)?;
        let mut args = site.args().to_vec();
        args[1] = column.into();
        draft.call(&site.op(), args, site.ty().clone())
    })])
}

/// Pads in front what is to be padded behind.
fn padding_side(site: &Site<'_>) -> Vec<Graph> {
    let pads = match (site.name().as_str(), site.args().get(1)) {
        ("constant_pad_nd", Some(Arg::Ints(pads))) => pads,
        _ => return vec![],
    };
    let swapped: Vec<i64> = pads.chunks(2).flat_map(|pair| pair.iter().rev()).copied().collect();
    some([(swapped != *pads).then(|| site.given(1, swapped)).flatten()])
}
