//! Scalar operations over lanes: how the functions of the [column](super::column) become loops.

use super::column::{binary_body, compare_body, unary_body};
use super::halves::{GROUP, Half, Instructions, from_bf16, in_arrays, to_bf16};
use super::isa::{Isa, multiversion};
use super::lanes::{Element, bytes_of, lanes, lanes_mut, with_bits};
use super::math::{nan_max, nan_min};
use half::{bf16, f16};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Unary};

/// An operation, with the type of its operands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Code {
    Unary(Unary, Dtype),
    Binary(Binary, Dtype),
    /// Of `f32`, where the first operand, the second and the result may be of a narrow float type instead.
    Narrow(Binary, Dtype, [bool; 3]),
    Compare(Compare, Dtype),
    /// Of elements of so many bytes.
    Select(usize),
    Fma(Dtype),
    /// From a type to another.
    Convert(Dtype, Dtype),
    /// Any byte that is not 0 becomes 1: bytes of a `bool` tensor.
    Truth,
    /// `i64` by a positive constant, rounded down.
    Quotient(i64),
    /// The remainder of that.
    Remainder(i64),
}

/// Computes all lanes of `out` from as many of each operand, and rounds `f32` to a narrow float type if one is given.
pub(crate) fn compute(isa: Isa, code: Code, round: Option<Dtype>, out: &mut [u8], sources: &[&[u8]; 3]) {
    match (code, round) {
        (Code::Binary(op, Dtype::F32), Some(to)) if is_narrow(op) => {
            return binary_narrow(isa, op, to, [false; 3], true, out, sources);
        }
        (Code::Narrow(op, dtype, narrow), _) => {
            return binary_narrow(isa, op, dtype, narrow, round.is_some(), out, sources);
        }
        (Code::Unary(op, dtype), _) => unary(isa, op, dtype, out, sources),
        (Code::Binary(op, dtype), _) => binary(isa, op, dtype, out, sources),
        (Code::Compare(op, dtype), _) => compare(isa, op, dtype, out, sources),
        (Code::Select(size), _) => select(isa, size, out, sources),
        (Code::Fma(dtype), _) => fma(isa, dtype, out, sources),
        (Code::Convert(from, to), _) => convert(isa, from, to, out, sources[0]),
        (Code::Truth, _) => truth(isa, out, sources),
        (Code::Quotient(divisor), _) => floor_divide(isa, divisor, true, out, sources[0]),
        (Code::Remainder(divisor), _) => floor_divide(isa, divisor, false, out, sources[0]),
    }
    if let Some(to) = round {
        round_in_place(isa, to, out);
    }
}

multiversion! { fn unary(op: Unary, dtype: Dtype, out: &mut [u8], sources: &[&[u8]; 3]) = unary_body; }
multiversion! { fn binary(op: Binary, dtype: Dtype, out: &mut [u8], sources: &[&[u8]; 3]) = binary_body; }
multiversion! { fn compare(op: Compare, dtype: Dtype, out: &mut [u8], sources: &[&[u8]; 3]) = compares_body; }
multiversion! {
    fn binary_narrow(
        op: Binary, dtype: Dtype, narrow: [bool; 3], round: bool, out: &mut [u8], sources: &[&[u8]; 3],
    ) = binary_narrow_body;
}
multiversion! { fn select(size: usize, out: &mut [u8], sources: &[&[u8]; 3]) = select_body; }
multiversion! { fn fma(dtype: Dtype, out: &mut [u8], sources: &[&[u8]; 3]) = fma_body; }
multiversion! { fn convert(from: Dtype, to: Dtype, out: &mut [u8], source: &[u8]) = convert_body; }
multiversion! { fn truth(out: &mut [u8], sources: &[&[u8]; 3]) = truth_body; }
multiversion! { fn floor_divide(divisor: i64, quotient: bool, out: &mut [u8], source: &[u8]) = floor_divide_body; }
multiversion! { fn round_in_place(to: Dtype, lanes: &mut [u8]) = round_body; }

/// An operation that the verifier does not let through for this type.
#[cold]
pub(super) fn undefined(operation: &str, lanes: &str) {
    unreachable!("`{operation}` is not defined for {lanes}; the kernel was verified")
}

#[inline(always)]
fn compares_body<I: Instructions>(op: Compare, dtype: Dtype, out: &mut [u8], sources: &[&[u8]; 3]) {
    match dtype {
        Dtype::Bool => compare_body::<u8>(op, out, sources),
        Dtype::I32 => compare_body::<i32>(op, out, sources),
        Dtype::I64 => compare_body::<i64>(op, out, sources),
        Dtype::F32 => compare_body::<f32>(op, out, sources),
        Dtype::F64 => compare_body::<f64>(op, out, sources),
        other => undefined(op.name(), other.name()),
    }
}

#[inline(always)]
pub(super) fn map1<A: Element, D: Element>(out: &mut [u8], sources: &[&[u8]; 3], f: impl Fn(A) -> D) {
    for (out, a) in lanes_mut::<D>(out).iter_mut().zip(lanes::<A>(sources[0])) {
        *out = f(*a);
    }
}

#[inline(always)]
pub(super) fn map2<A: Element, D: Element>(out: &mut [u8], sources: &[&[u8]; 3], f: impl Fn(A, A) -> D) {
    map_pairs(out, sources, f);
}

#[inline(always)]
fn map_pairs<A: Element, B: Element, D: Element>(out: &mut [u8], sources: &[&[u8]; 3], f: impl Fn(A, B) -> D) {
    let (a, b) = (lanes::<A>(sources[0]), lanes::<B>(sources[1]));
    for ((out, a), b) in lanes_mut::<D>(out).iter_mut().zip(a).zip(b) {
        *out = f(*a, *b);
    }
}

#[inline(always)]
fn map_arrays<A: Element, B: Element, D: Element>(
    out: &mut [u8],
    sources: &[&[u8]; 3],
    f: impl Fn([A; GROUP], [B; GROUP]) -> [D; GROUP],
) {
    in_arrays(lanes_mut(out), lanes(sources[0]), lanes(sources[1]), f);
}

#[inline(always)]
fn map3<A: Element, B: Element>(out: &mut [u8], sources: &[&[u8]; 3], f: impl Fn(A, B, B) -> B) {
    let (a, b, c) = (lanes::<A>(sources[0]), lanes::<B>(sources[1]), lanes::<B>(sources[2]));
    for (((out, a), b), c) in lanes_mut::<B>(out).iter_mut().zip(a).zip(b).zip(c) {
        *out = f(*a, *b, *c);
    }
}

#[inline(always)]
fn select_body<I: Instructions>(size: usize, out: &mut [u8], sources: &[&[u8]; 3]) {
    with_bits!(size, B => map3(out, sources, |condition: u8, a: B, b: B| if condition != 0 { a } else { b }));
}

#[inline(always)]
fn fma_body<I: Instructions>(dtype: Dtype, out: &mut [u8], sources: &[&[u8]; 3]) {
    match dtype {
        Dtype::F32 => map3(out, sources, |a: f32, b: f32, c: f32| a.mul_add(b, c)),
        Dtype::F64 => map3(out, sources, |a: f64, b: f64, c: f64| a.mul_add(b, c)),
        other => undefined("fma", other.name()),
    }
}

#[inline(always)]
fn truth_body<I: Instructions>(out: &mut [u8], sources: &[&[u8]; 3]) {
    map1(out, sources, |x: u8| u8::from(x != 0));
}

/// Quotients or remainders, rounded down.
#[inline(always)]
fn floor_divide_body<I: Instructions>(divisor: i64, quotient: bool, out: &mut [u8], source: &[u8]) {
    const LIMIT: u64 = 1 << 50;
    /// 1.5 * 2^52: adding it rounds to an integer that can be read from the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let (out, a) = (lanes_mut::<i64>(out), lanes::<i64>(source));
    let small = a.iter().fold(0, |most, x| most | x.unsigned_abs()) < LIMIT && divisor.unsigned_abs() < LIMIT;
    if !small {
        for (out, a) in out.iter_mut().zip(a) {
            *out = if quotient { a.div_euclid(divisor) } else { a.rem_euclid(divisor) };
        }
        return;
    }
    // The nearest integer to the quotient is at most one off, which the sign and size of the remainder tell.
    let inverse = 1.0 / divisor as f64;
    for (out, a) in out.iter_mut().zip(a) {
        let rounded = (*a as f64 * inverse) + ROUND;
        let q = (rounded.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64);
        let r = a.wrapping_sub(q.wrapping_mul(divisor));
        let step = i64::from(r >= divisor) - i64::from(r < 0);
        let (q, r) = (q.wrapping_add(step), r.wrapping_sub(step.wrapping_mul(divisor)));
        *out = if quotient { q } else { r };
    }
}

/// Whether there is a [`Code::Narrow`] of an operation.
pub(crate) fn is_narrow(op: Binary) -> bool {
    matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Min | Binary::Max)
}

#[inline(always)]
fn binary_narrow_body<I: Instructions>(
    op: Binary,
    dtype: Dtype,
    form: [bool; 3],
    round: bool,
    out: &mut [u8],
    sources: &[&[u8]; 3],
) {
    macro_rules! by_result {
        ($map:ident $n:ty, $widen:expr, $narrow:expr, $f:expr, $a:ty, $wide_a:expr, $b:ty, $wide_b:expr) => {
            match (form[2], round) {
                (true, _) => $map::<$a, $b, $n>(out, sources, |a, b| $narrow($f($wide_a(a), $wide_b(b)))),
                (_, true) => $map::<$a, $b, f32>(out, sources, |a, b| $widen($narrow($f($wide_a(a), $wide_b(b))))),
                _ => $map::<$a, $b, f32>(out, sources, |a, b| $f($wide_a(a), $wide_b(b))),
            }
        };
    }
    macro_rules! by_operand {
        ($map:ident $n:ty, $widen:expr, $narrow:expr, $f:expr) => {
            match form {
                [false, false, _] => by_result!($map $n, $widen, $narrow, $f, f32, |a| a, f32, |b| b),
                [true, false, _] => by_result!($map $n, $widen, $narrow, $f, $n, $widen, f32, |b| b),
                [false, true, _] => by_result!($map $n, $widen, $narrow, $f, f32, |a| a, $n, $widen),
                [true, true, _] => by_result!($map $n, $widen, $narrow, $f, $n, $widen, $n, $widen),
            }
        };
    }
    macro_rules! by_type {
        ($f:expr) => {
            if dtype == Dtype::F16 {
                let apply = |a: [f32; GROUP], b: [f32; GROUP]| -> [f32; GROUP] { std::array::from_fn(|i| $f(a[i], b[i])) };
                by_operand!(map_arrays f16, f16::widen::<I>, f16::narrow::<I>, apply)
            } else {
                by_operand!(map_pairs bf16, from_bf16, to_bf16, $f)
            }
        };
    }
    match op {
        Binary::Add => by_type!(|a: f32, b: f32| a + b),
        Binary::Sub => by_type!(|a: f32, b: f32| a - b),
        Binary::Mul => by_type!(|a: f32, b: f32| a * b),
        Binary::Div => by_type!(|a: f32, b: f32| a / b),
        Binary::Min => by_type!(|a: f32, b: f32| nan_min!(a, b)),
        Binary::Max => by_type!(|a: f32, b: f32| nan_max!(a, b)),
        other => undefined(other.name(), dtype.name()),
    }
}

#[inline(always)]
fn round_body<I: Instructions>(to: Dtype, bytes: &mut [u8]) {
    let (arrays, rest) = lanes_mut::<f32>(bytes).as_chunks_mut::<GROUP>();
    let mut last = [0.0; GROUP];
    last[..rest.len()].copy_from_slice(rest);
    let arrays = arrays.iter_mut().chain([&mut last]);
    if to == Dtype::Bf16 {
        arrays.for_each(|lanes| lanes.iter_mut().for_each(|lane| *lane = from_bf16(to_bf16(*lane))));
    } else {
        arrays.for_each(|lanes| *lanes = f16::widen::<I>(f16::narrow::<I>(*lanes)));
    }
    rest.copy_from_slice(&last[..rest.len()]);
}

/// The reciprocal of a power of two: multiplying by it gives the same bits as dividing and takes a tenth of the time.
#[inline(always)]
pub(crate) fn exact_reciprocal(divisor: f32) -> Option<f32> {
    let mantissa = (1 << (f32::MANTISSA_DIGITS - 1)) - 1;
    let power_of_two = divisor.is_normal() && divisor.to_bits() & mantissa == 0;
    Some(1.0 / divisor).filter(|reciprocal| power_of_two && reciprocal.is_normal())
}

/// Floats to integers truncate and saturate, integers wrap; from and to narrow floats go by way of `f32`.
#[inline(always)]
fn convert_body<I: Instructions>(from: Dtype, to: Dtype, out: &mut [u8], source: &[u8]) {
    match from {
        Dtype::Bool => from_bool::<I>(to, out, source),
        Dtype::U8 => from_u8::<I>(to, out, source),
        Dtype::I8 => from_i8::<I>(to, out, source),
        Dtype::I16 => from_i16::<I>(to, out, source),
        Dtype::I32 => from_i32::<I>(to, out, source),
        Dtype::I64 => from_i64::<I>(to, out, source),
        Dtype::F16 => from_half::<I, f16>(to, out, source),
        Dtype::Bf16 if to == Dtype::F32 => map1(out, &[source, &[], &[]], from_bf16),
        Dtype::Bf16 => from_half::<I, bf16>(to, out, source),
        Dtype::F32 => from_f32::<I>(to, out, source),
        Dtype::F64 => from_f64::<I>(to, out, source),
        Dtype::C64 | Dtype::C128 => undefined("cast", from.name()),
    }
}

macro_rules! conversions {
    ($($name:ident: $ty:ty, $zero:expr;)*) => {$(
        #[inline(always)]
        fn $name<I: Instructions>(to: Dtype, out: &mut [u8], source: &[u8]) {
            let a = &[source, &[], &[]];
            match to {
                Dtype::Bool => map1(out, a, |x: $ty| u8::from(x != $zero)),
                Dtype::U8 => map1(out, a, |x: $ty| x as u8),
                Dtype::I8 => map1(out, a, |x: $ty| x as i8),
                Dtype::I16 => map1(out, a, |x: $ty| x as i16),
                Dtype::I32 => map1(out, a, |x: $ty| x as i32),
                Dtype::I64 => map1(out, a, |x: $ty| x as i64),
                Dtype::F16 => in_arrays(lanes_mut(out), lanes(source), lanes::<$ty>(source), |x: [$ty; GROUP], _| {
                    f16::narrow::<I>(x.map(|x| x as f32))
                }),
                Dtype::Bf16 => map1(out, a, |x: $ty| to_bf16(x as f32)),
                Dtype::F32 => map1(out, a, |x: $ty| x as f32),
                Dtype::F64 => map1(out, a, |x: $ty| x as f64),
                Dtype::C64 | Dtype::C128 => undefined("cast", to.name()),
            }
        }
    )*};
}
conversions! {
    from_bool: u8, 0;
    from_u8: u8, 0;
    from_i8: i8, 0;
    from_i16: i16, 0;
    from_i32: i32, 0;
    from_i64: i64, 0;
    from_f32: f32, 0.0;
    from_f64: f64, 0.0;
}

#[inline(always)]
fn from_half<I: Instructions, N: Half>(to: Dtype, out: &mut [u8], source: &[u8]) {
    let source = lanes::<N>(source);
    if to == Dtype::F32 {
        return in_arrays(lanes_mut::<f32>(out), source, source, |x, _| N::widen::<I>(x));
    }
    let size = to.size() as usize;
    for (out, some) in out.chunks_mut(GROUP * size).zip(source.chunks(GROUP)) {
        let mut elements = [N::default(); GROUP];
        elements[..some.len()].copy_from_slice(some);
        from_f32::<I>(to, out, bytes_of(&N::widen::<I>(elements)[..some.len()]));
    }
}
