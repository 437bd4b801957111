//! Errors against a double precision run, by ops of PyTorch on the device: what [`crate::ulps::ulp_errors`] counts, with
//! sums in another order.

use super::OnDeviceError;
use crate::judge::float_kind;
use crate::precision::{LessPrecise, less_precise, report, slices};
use crate::ulps::UlpErrors;
use passhost_ir::{Arg, Dtype, OpName, TensorType};
use passhost_result::TruthReport;
use passhost_score::Tolerance;
use passhost_torch::{PreparedCall, Tensor};
use std::ops::Range;

/// The exponent field of a number of `f64`: with nothing else, the number is its power of two.
const EXPONENT: i64 = 0x7ff0_0000_0000_0000;

/// How precise both programs are, and where the rewrite is less precise than it may be.
pub fn judge(
    ty: &TensorType,
    [rewritten, eager, truth]: [&Tensor; 3],
) -> Result<(Option<LessPrecise>, TruthReport), OnDeviceError> {
    let (rewritten, eager, exact) = (flat(rewritten)?, flat(eager)?, flat(truth)?);
    let skip = op("logical_xor", &[&op("isfinite", &[&exact])?, &op("isfinite", &[&eager])?])?;
    let truth = Truth::new(exact, skip, ty.dtype)?;
    let mut differing = vec![];
    for range in slices(ty) {
        let [own, eagers] = [narrowed(&rewritten, &range)?, narrowed(&eager, &range)?];
        // The same values are equally precise.
        if own.same_bytes(&eagers)? {
            continue;
        }
        let part = truth.part(&range)?;
        differing.push([part.errors(&own)?, part.errors(&eagers)?]);
    }
    let errors = (truth.errors(&eager)?, truth.errors(&rewritten)?);
    Ok((less_precise(&differing), report(errors, truth.holds_of(&eager)?)))
}

/// A double precision run's result, in one dimension.
struct Truth {
    exact: Tensor,
    /// The elements that overflow in eager and not there, or the other way round.
    skip: Tensor,
    /// One unit in the last place of the output's type at each element, none smaller than at an eighth of the elements' root
    /// mean square.
    last_places: Tensor,
    /// Element type of the output.
    dtype: Dtype,
}

impl Truth {
    fn new(exact: Tensor, skip: Tensor, dtype: Dtype) -> Result<Truth, OnDeviceError> {
        let last_places = last_places(&exact, &skip, dtype)?;
        Ok(Truth { exact, skip, last_places, dtype })
    }

    fn part(&self, range: &Range<usize>) -> Result<Truth, OnDeviceError> {
        Truth::new(narrowed(&self.exact, range)?, narrowed(&self.skip, range)?, self.dtype)
    }

    /// The errors of values.
    fn errors(&self, values: &Tensor) -> Result<UlpErrors, OnDeviceError> {
        let excluded = integer(&call("sum", "", &[VALUE, Arg::None], &[&self.skip])?) as u64;
        let count = values.ty().numel() - excluded;
        if count == 0 {
            return Ok(UlpErrors { rms: 0.0, p999: 0.0, excluded });
        }
        // One tensor that is overwritten step by step: there may be no room for more.
        let error = op("sub.Tensor", &[values, &self.exact])?;
        op("abs_", &[&error])?;
        op("div_.Tensor", &[&error, &self.last_places])?;
        // An infinity or a NaN that should not be there is an error without bound.
        let [infinity, zero] = [f64::INFINITY, 0.0].map(Arg::Float);
        call("nan_to_num_", "", &[VALUE, infinity.clone(), infinity, zero.clone()], &[&error])?;
        let counts_nothing = op("logical_or", &[&self.skip, &self.is_met_by(values)?])?;
        call("masked_fill_", "Scalar", &[VALUE, VALUE, zero], &[&error, &counts_nothing])?;
        let squares = total(&op("mul.Tensor", &[&error, &error])?)?;
        // Below all others, what is left out is not among the largest.
        call("masked_fill_", "Scalar", &[VALUE, VALUE, Arg::Float(-1.0)], &[&error, &self.skip])?;
        let largest = count - (count - 1) * 999 / 1000;
        let order = [VALUE, Arg::Int(largest as i64), Arg::Int(0), Arg::Bool(true), Arg::Bool(false)];
        let least = op("min", &[&call("topk", "", &order, &[&error])?])?;
        Ok(UlpErrors { rms: (squares / count as f64).sqrt(), p999: float(&least), excluded })
    }

    /// The elements where values are equal to it, or both are NaN.
    fn is_met_by(&self, values: &Tensor) -> Result<Tensor, OnDeviceError> {
        let equal = op("eq.Tensor", &[values, &self.exact])?;
        let both = op("logical_and", &[&op("isnan", &[values])?, &op("isnan", &[&self.exact])?])?;
        op("logical_or", &[&equal, &both])
    }

    /// Whether eager is right at t = -5 when this is taken as the reference.
    fn holds_of(&self, eager: &Tensor) -> Result<bool, OnDeviceError> {
        let Some(kind) = float_kind(self.dtype) else { return Ok(true) };
        let right = is_close(eager, &self.exact, passhost_score::tolerance(kind, -5.0))?;
        Ok(integer(&op("all", &[&op("logical_or", &[&right, &self.skip])?])?) != 0)
    }
}

/// See [`Truth`].
fn last_places(exact: &Tensor, skip: &Tensor, dtype: Dtype) -> Result<Tensor, OnDeviceError> {
    let infinite = op("logical_not", &[&op("isfinite", &[exact])?])?;
    let left_out = op("logical_or", &[&infinite, skip])?;
    let counted = exact.ty().numel() as i64 - integer(&call("sum", "", &[VALUE, Arg::None], &[&left_out])?);
    let squares = op("mul.Tensor", &[exact, exact])?;
    call("masked_fill_", "Scalar", &[VALUE, VALUE, Arg::Float(0.0)], &[&squares, &left_out])?;
    let scale = (total(&squares)? / counted.max(1) as f64).sqrt() / 8.0;
    drop(squares);
    if !scale.is_finite() {
        return Err(OnDeviceError::Unsuited("squares that overflow are added up on the CPU"));
    }
    let places = op("abs", &[exact])?;
    call("clamp_min_", "", &[VALUE, Arg::Float(scale)], &[&places])?;
    let bits = call("view", "dtype", &[VALUE, Arg::Dtype(Dtype::I64)], &[&places])?;
    call("bitwise_and_", "Scalar", &[VALUE, Arg::Int(EXPONENT)], &[&bits])?;
    // What is left is the power of two at or below each.
    call("mul_", "Scalar", &[VALUE, Arg::Float(dtype.ulp(1.0))], &[&places])?;
    call("clamp_min_", "", &[VALUE, Arg::Float(dtype.ulp(0.0))], &[&places])?;
    Ok(places)
}

/// As [`passhost_score::is_close`].
pub(super) fn is_close(value: &Tensor, reference: &Tensor, tolerance: Tolerance) -> Result<Tensor, OnDeviceError> {
    let arguments = [VALUE, VALUE, Arg::Float(tolerance.rtol), Arg::Float(tolerance.atol), Arg::Bool(true)];
    call("isclose", "", &arguments, &[value, reference])
}

/// In double precision and one dimension.
fn flat(tensor: &Tensor) -> Result<Tensor, OnDeviceError> {
    in_one_dimension(&doubled(tensor)?)
}

pub(super) fn doubled(tensor: &Tensor) -> Result<Tensor, OnDeviceError> {
    let to = [VALUE, Arg::Dtype(Dtype::F64), Arg::Bool(false), Arg::Bool(false), Arg::None];
    call("to", "dtype", &to, &[tensor])
}

pub(super) fn in_one_dimension(tensor: &Tensor) -> Result<Tensor, OnDeviceError> {
    call("reshape", "", &[VALUE, Arg::Ints(vec![-1])], &[tensor])
}

/// Stands for a tensor.
pub(super) const VALUE: Arg<()> = Arg::Value(());

/// An op of ATen on tensors, of which the first result counts.
pub(super) fn call(
    name: &str,
    overload: &str,
    arguments: &[Arg<()>],
    tensors: &[&Tensor],
) -> Result<Tensor, OnDeviceError> {
    let Some(first) = tensors.first() else { return Err(OnDeviceError::Unsuited("an op without operands")) };
    let op = OpName { name: format!("aten::{name}"), overload: overload.to_owned() };
    let target = first.target();
    let results = target.within(|scope| PreparedCall::new(target, &op, arguments)?.call(scope, tensors))?;
    results.into_iter().next().ok_or(OnDeviceError::Unsuited("an op without results"))
}

/// The same of an op `name` or `name.overload` that takes tensors alone, or beside them what is usual.
pub(super) fn op(name: &str, tensors: &[&Tensor]) -> Result<Tensor, OnDeviceError> {
    let (name, overload) = name.split_once('.').unwrap_or((name, ""));
    let mut arguments: Vec<Arg<()>> = tensors.iter().map(|_| VALUE).collect();
    if name == "sub" {
        arguments.push(Arg::Int(1));
    }
    call(name, overload, &arguments, tensors)
}

pub(super) fn narrowed(tensor: &Tensor, range: &Range<usize>) -> Result<Tensor, OnDeviceError> {
    let arguments = [VALUE, Arg::Int(0), Arg::Int(range.start as i64), Arg::Int(range.len() as i64)];
    call("narrow", "", &arguments, &[tensor])
}

fn total(tensor: &Tensor) -> Result<f64, OnDeviceError> {
    Ok(float(&call("sum", "", &[VALUE, Arg::None], &[tensor])?))
}

fn float(tensor: &Tensor) -> f64 {
    f64::from_bits(integer(tensor) as u64)
}

/// The eight bytes or fewer of a single element.
pub(super) fn integer(tensor: &Tensor) -> i64 {
    let mut bytes = [0; 8];
    let found = tensor.to_bytes();
    let count = found.len().min(bytes.len());
    bytes[..count].copy_from_slice(&found[..count]);
    i64::from_le_bytes(bytes)
}
