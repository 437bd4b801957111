//! Scalar operations over block buffers: how the functions of the [column](super::column) become loops.

use super::column::{
    binary_bool_body, binary_f32_body, binary_f64_body, binary_i32_body, binary_i64_body, compare_body,
    unary_bool_body, unary_f32_body, unary_f64_body, unary_i32_body, unary_i64_body,
};
pub(super) use super::element::round_to_bf16;
use super::f16_slices;
use super::isa::{Isa, multiversion};
use super::lanes::{Lane, LaneKind, LaneOperand, LaneView, OperandSource, ViewMut};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Unary};

/// An operation, with the type of the lanes that it reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Code {
    Unary(Unary, LaneKind),
    Binary(Binary, LaneKind),
    Compare(Compare, LaneKind),
    /// The type is that of the second and third operand.
    Select(LaneKind),
    Fma(LaneKind),
    /// To the lanes of a value of this type.
    Convert(LaneKind, Dtype),
    Copy(LaneKind),
}

/// Computes all lanes of `out`. The sources hold operands of the types that `code` says.
pub(crate) fn compute(isa: Isa, code: Code, mut out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) {
    if out.len() > 1 && !sources.iter().any(|source| matches!(source, OperandSource::Lanes(..))) {
        compute(isa, code, out.part(0, 1), sources);
        return out.repeat_first();
    }
    match code {
        Code::Unary(op, LaneKind::F32) => unary_f32(isa, op, out, sources),
        Code::Unary(op, LaneKind::F64) => unary_f64(isa, op, out, sources),
        Code::Unary(op, LaneKind::I32) => unary_i32(isa, op, out, sources),
        Code::Unary(op, LaneKind::I64) => unary_i64(isa, op, out, sources),
        Code::Unary(op, LaneKind::Bool) => unary_bool(isa, op, out, sources),
        Code::Binary(op, LaneKind::F32) => binary_f32(isa, op, out, sources),
        Code::Binary(op, LaneKind::F64) => binary_f64(isa, op, out, sources),
        Code::Binary(op, LaneKind::I32) => binary_i32(isa, op, out, sources),
        Code::Binary(op, LaneKind::I64) => binary_i64(isa, op, out, sources),
        Code::Binary(op, LaneKind::Bool) => binary_bool(isa, op, out, sources),
        Code::Compare(op, LaneKind::F32) => compare::<f32>(isa, op, out, sources),
        Code::Compare(op, LaneKind::F64) => compare::<f64>(isa, op, out, sources),
        Code::Compare(op, LaneKind::I32) => compare::<i32>(isa, op, out, sources),
        Code::Compare(op, LaneKind::I64) => compare::<i64>(isa, op, out, sources),
        Code::Compare(op, LaneKind::Bool) => compare::<u8>(isa, op, out, sources),
        Code::Select(LaneKind::F32) => select::<f32>(isa, out, sources),
        Code::Select(LaneKind::F64) => select::<f64>(isa, out, sources),
        Code::Select(LaneKind::I32) => select::<i32>(isa, out, sources),
        Code::Select(LaneKind::I64) => select::<i64>(isa, out, sources),
        Code::Select(LaneKind::Bool) => select::<u8>(isa, out, sources),
        Code::Fma(kind) => fma(isa, kind, out, sources),
        Code::Convert(LaneKind::F32, Dtype::F16) => {
            let lanes = f32::of_mut(out);
            lanes.copy_from_slice(sources[0].lanes(lanes.len()));
            f16_slices::round(lanes);
        }
        Code::Convert(from, Dtype::F16) => {
            let len = out.len();
            compute(isa, Code::Convert(from, Dtype::F32), out.part(0, len), sources);
            f16_slices::round(f32::of_mut(out));
        }
        Code::Convert(LaneKind::F32, to) => convert_f32(isa, to, out, sources),
        Code::Convert(LaneKind::F64, to) => convert_f64(isa, to, out, sources),
        Code::Convert(LaneKind::I32, to) => convert_i32(isa, to, out, sources),
        Code::Convert(LaneKind::I64, to) => convert_i64(isa, to, out, sources),
        Code::Convert(LaneKind::Bool, to) => convert_bool(isa, to, out, sources),
        Code::Copy(kind) => copy(kind, out, sources[0]),
    }
}

/// Rounds `f32` lanes to a narrow float type.
pub(crate) fn round(isa: Isa, dtype: Dtype, lanes: ViewMut<'_>) {
    match dtype {
        Dtype::F16 => f16_slices::round(f32::of_mut(lanes)),
        _ => round_bf16(isa, f32::of_mut(lanes)),
    }
}

multiversion! { fn round_bf16(lanes: &mut [f32]) = round_bf16_body; }

#[inline(always)]
fn round_bf16_body(lanes: &mut [f32]) {
    for lane in lanes {
        *lane = round_to_bf16(*lane);
    }
}

/// An operation that the verifier does not let through for this type.
#[cold]
pub(super) fn undefined(operation: &str, lanes: &str) {
    unreachable!("`{operation}` is not defined for {lanes}; the kernel was verified")
}

/// Lanes at a time where an operand is the same in every lane: it is spread over as many.
const SPREAD: usize = 128;

/// The lanes `start .. start + len` of an operand; at most [`SPREAD`] if it is spread.
#[inline(always)]
fn part<'a, T: Copy>(operand: LaneOperand<'a, T>, spread: &'a [T; SPREAD], start: usize, len: usize) -> &'a [T] {
    match operand {
        LaneOperand::Lanes(lanes) => &lanes[start..start + len],
        LaneOperand::Splat(_) => &spread[..len],
    }
}

#[inline(always)]
fn spread<T: Lane>(operand: LaneOperand<'_, T>) -> [T; SPREAD] {
    match operand {
        LaneOperand::Lanes(_) => [T::default(); SPREAD],
        LaneOperand::Splat(value) => [value; SPREAD],
    }
}

/// How many lanes to treat at a time.
#[inline(always)]
fn step(sources: &[OperandSource<'_>], len: usize) -> usize {
    let spread = sources.iter().any(|source| matches!(source, OperandSource::Splat(..)));
    if spread { SPREAD } else { len.max(1) }
}

#[inline(always)]
pub(super) fn map1<A: Lane, D: Lane>(out: ViewMut<'_>, sources: &[OperandSource<'_>; 3], f: impl Fn(A) -> D) {
    map1_into(D::of_mut(out), sources, f);
}

#[inline(always)]
pub(super) fn map1_into<A: Lane, D: Lane>(out: &mut [D], sources: &[OperandSource<'_>; 3], f: impl Fn(A) -> D) {
    let lanes = sources[0].lanes::<A>(out.len());
    for (out, a) in out.iter_mut().zip(lanes) {
        *out = f(*a);
    }
}

#[inline(always)]
pub(super) fn map2<A: Lane, D: Lane>(out: ViewMut<'_>, sources: &[OperandSource<'_>; 3], f: impl Fn(A, A) -> D) {
    map2_into(D::of_mut(out), sources, f);
}

#[inline(always)]
fn map2_into<A: Lane, D: Lane>(out: &mut [D], sources: &[OperandSource<'_>; 3], f: impl Fn(A, A) -> D) {
    match (sources[0].operand::<A>(out.len()), sources[1].operand::<A>(out.len())) {
        (LaneOperand::Lanes(a), LaneOperand::Lanes(b)) => {
            for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                *out = f(*a, *b);
            }
        }
        (LaneOperand::Lanes(a), LaneOperand::Splat(b)) => {
            for (out, a) in out.iter_mut().zip(a) {
                *out = f(*a, b);
            }
        }
        (LaneOperand::Splat(a), LaneOperand::Lanes(b)) => {
            for (out, b) in out.iter_mut().zip(b) {
                *out = f(a, *b);
            }
        }
        (LaneOperand::Splat(a), LaneOperand::Splat(b)) => out.fill(f(a, b)),
    }
}

/// As [`map2_into`] for costly functions: one loop serves operands of both forms, as code for each would take minutes to
/// compile.
#[inline(always)]
pub(super) fn map2_costly<A: Lane, D: Lane>(out: &mut [D], sources: &[OperandSource<'_>; 3], f: impl Fn(A, A) -> D) {
    let (a, b) = (sources[0].operand::<A>(out.len()), sources[1].operand::<A>(out.len()));
    let (a_spread, b_spread) = (spread(a), spread(b));
    let step = step(&sources[..2], out.len());
    for (number, out) in out.chunks_mut(step).enumerate() {
        let a = part(a, &a_spread, number * step, out.len());
        let b = part(b, &b_spread, number * step, out.len());
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = f(*a, *b);
        }
    }
}

#[inline(always)]
fn map3<A: Lane, B: Lane, D: Lane>(out: ViewMut<'_>, sources: &[OperandSource<'_>; 3], f: impl Fn(A, B, B) -> D) {
    let out = D::of_mut(out);
    let (a, b) = (sources[0].operand::<A>(out.len()), sources[1].operand::<B>(out.len()));
    let c = sources[2].operand::<B>(out.len());
    let (a_spread, b_spread, c_spread) = (spread(a), spread(b), spread(c));
    let step = step(sources, out.len());
    for (number, out) in out.chunks_mut(step).enumerate() {
        let a = part(a, &a_spread, number * step, out.len());
        let b = part(b, &b_spread, number * step, out.len());
        let c = part(c, &c_spread, number * step, out.len());
        for (((out, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
            *out = f(*a, *b, *c);
        }
    }
}

fn copy(kind: LaneKind, out: ViewMut<'_>, source: OperandSource<'_>) {
    fn lanes<T: Lane>(out: ViewMut<'_>, source: OperandSource<'_>) {
        let out = T::of_mut(out);
        out.copy_from_slice(source.lanes(out.len()));
    }
    match kind {
        LaneKind::Bool => lanes::<u8>(out, source),
        LaneKind::I32 => lanes::<i32>(out, source),
        LaneKind::I64 => lanes::<i64>(out, source),
        LaneKind::F32 => lanes::<f32>(out, source),
        LaneKind::F64 => lanes::<f64>(out, source),
    }
}

multiversion! { fn unary_bool(op: Unary, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = unary_bool_body; }
multiversion! { fn unary_i32(op: Unary, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = unary_i32_body; }
multiversion! { fn unary_i64(op: Unary, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = unary_i64_body; }
multiversion! { fn unary_f32(op: Unary, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = unary_f32_body; }
multiversion! { fn binary_bool(op: Binary, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = binary_bool_body; }
multiversion! { fn binary_i32(op: Binary, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = binary_i32_body; }
multiversion! { fn binary_i64(op: Binary, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = binary_i64_body; }
multiversion! { fn binary_f32(op: Binary, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = binary_f32_body; }
multiversion! { fn unary_f64(op: Unary, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = unary_f64_body; }
multiversion! { fn binary_f64(op: Binary, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = binary_f64_body; }
multiversion! { fn compare<T: Lane>(op: Compare, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = compare_body; }
multiversion! { fn select<T: Lane>(out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = select_body; }
multiversion! { fn fma(kind: LaneKind, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = fma_body; }
multiversion! { fn convert_bool(to: Dtype, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = convert_bool_body; }
multiversion! { fn convert_i32(to: Dtype, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = convert_i32_body; }
multiversion! { fn convert_i64(to: Dtype, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = convert_i64_body; }
multiversion! { fn convert_f32(to: Dtype, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = convert_f32_body; }
multiversion! { fn convert_f64(to: Dtype, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) = convert_f64_body; }

#[inline(always)]
fn fma_body(kind: LaneKind, out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) {
    match kind {
        LaneKind::F32 => map3(out, sources, |a: f32, b: f32, c: f32| a.mul_add(b, c)),
        LaneKind::F64 => map3(out, sources, |a: f64, b: f64, c: f64| a.mul_add(b, c)),
        _ => undefined("fma", "lanes that are no floats"),
    }
}

#[inline(always)]
fn select_body<T: Lane>(out: ViewMut<'_>, sources: &[OperandSource<'_>; 3]) {
    map3(out, sources, |condition: u8, a: T, b: T| if condition != 0 { a } else { b });
}

/// The smaller of two floats; NaN if either is.
macro_rules! nan_min {
    ($a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        if a < b || a.is_nan() { a } else { b }
    }};
}

/// The larger of two floats; NaN if either is.
macro_rules! nan_max {
    ($a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        if a > b || a.is_nan() { a } else { b }
    }};
}
pub(crate) use {nan_max, nan_min};

/// The exact reciprocal of a divisor that is the same in every lane.
#[inline(always)]
pub(super) fn repeated_reciprocal(sources: &[OperandSource<'_>; 3]) -> Option<f32> {
    let [OperandSource::Lanes(..), OperandSource::Splat(LaneView::F32(lanes), at), _] = sources else { return None };
    exact_reciprocal(lanes[*at])
}

/// The reciprocal of a power of two: multiplying by it gives the same bits as dividing and takes a tenth of the time.
#[inline(always)]
pub(crate) fn exact_reciprocal(divisor: f32) -> Option<f32> {
    let mantissa = (1 << (f32::MANTISSA_DIGITS - 1)) - 1;
    let power_of_two = divisor.is_normal() && divisor.to_bits() & mantissa == 0;
    Some(1.0 / divisor).filter(|reciprocal| power_of_two && reciprocal.is_normal())
}

/// Conversions to narrow floats go by way of `f32`, those to narrow integers leave their exact value in an `i32`.
macro_rules! conversions {
    ($name:ident, $ty:ty, $zero:expr) => {
        #[inline(always)]
        fn $name(to: Dtype, out: ViewMut<'_>, a: &[OperandSource<'_>; 3]) {
            match to {
                Dtype::Bool => map1(out, a, |x: $ty| u8::from(x != $zero)),
                Dtype::U8 => map1(out, a, |x: $ty| i32::from(x as u8)),
                Dtype::I8 => map1(out, a, |x: $ty| i32::from(x as i8)),
                Dtype::I16 => map1(out, a, |x: $ty| i32::from(x as i16)),
                Dtype::I32 => map1(out, a, |x: $ty| x as i32),
                Dtype::I64 => map1(out, a, |x: $ty| x as i64),
                Dtype::Bf16 => map1(out, a, |x: $ty| round_to_bf16(x as f32)),
                Dtype::F32 => map1(out, a, |x: $ty| x as f32),
                Dtype::F64 => map1(out, a, |x: $ty| x as f64),
                Dtype::F16 => unreachable!("rounding to f16 has a path of its own"),
                Dtype::C64 | Dtype::C128 => undefined("cast", "complex numbers"),
            }
        }
    };
}
conversions!(convert_i32_body, i32, 0);
conversions!(convert_i64_body, i64, 0);
conversions!(convert_f32_body, f32, 0.0);
conversions!(convert_f64_body, f64, 0.0);
conversions!(convert_bool_body, u8, 0);
