//! Ops of PyTorch on tensors that stay where they are, and large tensors part by part: what lies beside them is bounded.

use super::OnDeviceError;
use passhost_ir::{Arg, Dtype, OpName};
use passhost_score::Tolerance;
use passhost_torch::{PreparedCall, Tensor};
use std::ops::Range;

/// Elements that are looked at together, in double precision. Tests have several parts, too.
const PART: usize = if cfg!(test) { 1 << 18 } else { 1 << 24 };

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

/// As [`passhost_score::is_close`].
pub(super) fn is_close(value: &Tensor, reference: &Tensor, tolerance: Tolerance) -> Result<Tensor, OnDeviceError> {
    let arguments = [VALUE, VALUE, Arg::Float(tolerance.rtol), Arg::Float(tolerance.atol), Arg::Bool(true)];
    call("isclose", "", &arguments, &[value, reference])
}

/// Whether a tensor of bools is true everywhere.
pub(super) fn all(of: &Tensor) -> Result<bool, OnDeviceError> {
    Ok(integer(&op("all", &[of])?) != 0)
}

/// How many of a tensor of bools are true.
pub(super) fn count(of: &Tensor) -> Result<u64, OnDeviceError> {
    Ok(integer(&call("sum", "", &[VALUE, Arg::None], &[of])?) as u64)
}

/// The sum of a tensor of `f64`.
pub(super) fn total(of: &Tensor) -> Result<f64, OnDeviceError> {
    Ok(float(&call("sum", "", &[VALUE, Arg::None], &[of])?))
}

/// The one element of a tensor of `f64`.
pub(super) fn float(tensor: &Tensor) -> f64 {
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

/// The elements of a range of the first axis.
pub(super) fn narrowed(tensor: &Tensor, range: &Range<usize>) -> Result<Tensor, OnDeviceError> {
    let arguments = [VALUE, Arg::Int(0), Arg::Int(range.start as i64), Arg::Int(range.len() as i64)];
    call("narrow", "", &arguments, &[tensor])
}

/// The same elements in one dimension.
pub(super) fn flat(tensor: &Tensor) -> Result<Tensor, OnDeviceError> {
    call("reshape", "", &[VALUE, Arg::Ints(vec![-1])], &[tensor])
}

/// In double precision; a tensor of `f64` is itself.
fn doubled(tensor: &Tensor) -> Result<Tensor, OnDeviceError> {
    if tensor.ty().dtype.is_complex() {
        return Err(OnDeviceError::Unsuited("complex numbers are compared on the CPU"));
    }
    let to = [VALUE, Arg::Dtype(Dtype::F64), Arg::Bool(false), Arg::Bool(false), Arg::None];
    call("to", "dtype", &to, &[tensor])
}

/// Parts of tensors that have this range, each in one dimension and in double precision, and where they begin.
pub(super) fn parts<const COUNT: usize>(
    tensors: [&Tensor; COUNT],
    range: Range<usize>,
) -> Result<impl Iterator<Item = Result<(usize, [Tensor; COUNT]), OnDeviceError>>, OnDeviceError> {
    let tensors = each(tensors, flat)?;
    Ok(range.clone().step_by(PART).map(move |first| {
        let part = first..(first + PART).min(range.end);
        Ok((first, each(tensors.each_ref(), |tensor| doubled(&narrowed(tensor, &part)?))?))
    }))
}

/// The same of each tensor.
fn each<const COUNT: usize>(
    tensors: [&Tensor; COUNT],
    of: impl Fn(&Tensor) -> Result<Tensor, OnDeviceError>,
) -> Result<[Tensor; COUNT], OnDeviceError> {
    let found = tensors.into_iter().map(of).collect::<Result<Vec<_>, _>>()?;
    found.try_into().map_err(|_| OnDeviceError::Unsuited("as many results as tensors"))
}
