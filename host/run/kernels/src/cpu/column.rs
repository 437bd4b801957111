//! The CPU's column of the [table of operations](passhost_ir::kernel::operations): what each runs on lanes of each type.
//!
//! A cell is a function of one lane or two, and becomes a loop for its operation and its type that the compiler
//! vectorises; one behind `by` is a loop of its own. `float` stands for `f32` and `f64`, `integer` for `i32` and `i64`.
//! Of a reduction, a cell takes two elements, or what is reduced of some and of others, into one; `first` says which of
//! two a position is of.
//! An operation without a row does not compile. One without a cell for a type is not let through by the verifier there.

use super::compute::{map1, map2, undefined};
use super::halves::Instructions;
use super::lanes::{Element, lanes, lanes_mut};
use super::math::{self, nan_max, nan_min};
use super::reduce::{Integer, ReduceForm, ReduceRow};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, ReduceOp, Unary};

/// Makes a function of rows, with the loops of all operations for lanes of all types.
macro_rules! column {
    ($op:ident by $map:ident; $body:ident where $rows:tt) => {
        #[inline(always)]
        pub(super) fn $body<I: Instructions>(op: $op, dtype: Dtype, out: &mut [u8], sources: &[&[u8]; 3]) {
            match dtype {
                Dtype::Bool => column!(@lanes bool $op $map (op, out, sources) $rows),
                Dtype::I32 => column!(@lanes i32 $op $map (op, out, sources) $rows),
                Dtype::I64 => column!(@lanes i64 $op $map (op, out, sources) $rows),
                Dtype::F32 => column!(@lanes f32 $op $map (op, out, sources) $rows),
                Dtype::F64 => column!(@lanes f64 $op $map (op, out, sources) $rows),
                other => undefined(op.name(), other.name()),
            }
        }
    };
    (@lanes $lanes:ident $op:ident $map:ident ($of:ident, $out:ident, $a:ident) { $($variant:ident { $($cells:tt)* })* }) => {
        match $of {
            $($op::$variant => column!(@cell $lanes $map ($of, $out, $a) $($cells)*),)*
        }
    };
    (@cell f32 $map:ident ($op:ident, $out:ident, $a:ident) f32 = $f:expr, $($rest:tt)*) => { $map::<f32, _>($out, $a, $f) };
    (@cell f32 $map:ident ($op:ident, $out:ident, $a:ident) float = $f:expr, $($rest:tt)*) => { $map::<f32, _>($out, $a, $f) };
    (@cell f32 $map:ident ($op:ident, $out:ident, $a:ident) f32 by $f:ident($($arg:expr),*), $($rest:tt)*) => {
        $f($out, $a, $($arg),*)
    };
    (@cell f64 $map:ident ($op:ident, $out:ident, $a:ident) f64 = $f:expr, $($rest:tt)*) => { $map::<f64, _>($out, $a, $f) };
    (@cell f64 $map:ident ($op:ident, $out:ident, $a:ident) float = $f:expr, $($rest:tt)*) => { $map::<f64, _>($out, $a, $f) };
    (@cell i32 $map:ident ($op:ident, $out:ident, $a:ident) i32 = $f:expr, $($rest:tt)*) => { $map::<i32, _>($out, $a, $f) };
    (@cell i32 $map:ident ($op:ident, $out:ident, $a:ident) integer = $f:expr, $($rest:tt)*) => { $map::<i32, _>($out, $a, $f) };
    (@cell i64 $map:ident ($op:ident, $out:ident, $a:ident) i64 = $f:expr, $($rest:tt)*) => { $map::<i64, _>($out, $a, $f) };
    (@cell i64 $map:ident ($op:ident, $out:ident, $a:ident) integer = $f:expr, $($rest:tt)*) => { $map::<i64, _>($out, $a, $f) };
    (@cell bool $map:ident ($op:ident, $out:ident, $a:ident) bool = $f:expr, $($rest:tt)*) => { $map::<u8, _>($out, $a, $f) };
    (@cell $lanes:ident $map:ident $to:tt $other:ident = $f:expr, $($rest:tt)*) => { column!(@cell $lanes $map $to $($rest)*) };
    (@cell $lanes:ident $map:ident $to:tt $other:ident by $f:ident $args:tt, $($rest:tt)*) => {
        column!(@cell $lanes $map $to $($rest)*)
    };
    (@cell $lanes:ident $map:ident ($op:ident, $out:ident, $a:ident)) => { undefined($op.name(), stringify!($lanes)) };
}

column! {
    Unary by map1; unary_body where {
        Neg { float = |x| -x, integer = |x| x.wrapping_neg(), }
        Abs { float = |x| x.abs(), integer = |x| x.wrapping_abs(), }
        Exp { f32 = math::exp, f64 = f64::exp, }
        Exp2 { f32 = math::exp2, f64 = f64::exp2, }
        Expm1 { f32 = math::expm1, f64 = f64::exp_m1, }
        Log { f32 = math::log, f64 = f64::ln, }
        Log2 { f32 = |x| f64::from(x).log2() as f32, f64 = f64::log2, }
        Log10 { f32 = |x| f64::from(x).log10() as f32, f64 = f64::log10, }
        Log1p { f32 = math::log1p, f64 = f64::ln_1p, }
        Sqrt { float = |x| x.sqrt(), }
        Rsqrt { f32 = math::rsqrt, f64 = |x| 1.0 / x.sqrt(), }
        Sin { f32 by trigonometry(math::sin, f64::sin), f64 = f64::sin, }
        Cos { f32 by trigonometry(math::cos, f64::cos), f64 = f64::cos, }
        Tan { f32 = |x| f64::from(x).tan() as f32, f64 = f64::tan, }
        Atan { f32 = |x| f64::from(x).atan() as f32, f64 = f64::atan, }
        Sinh { f32 = |x| f64::from(x).sinh() as f32, f64 = f64::sinh, }
        Cosh { f32 = |x| f64::from(x).cosh() as f32, f64 = f64::cosh, }
        Tanh { f32 = math::tanh, f64 = f64::tanh, }
        Erf { f32 = math::erf, f64 = libm::erf, }
        Floor { float = |x| x.floor(), }
        Ceil { float = |x| x.ceil(), }
        Trunc { float = |x| x.trunc(), }
        Round { float = |x| x.round_ties_even(), }
        Not { integer = |x| !x, bool = |x| x ^ 1, }
        IsNan { float = |x| u8::from(x.is_nan()), }
    }
}

column! {
    Binary by map2; binary_body where {
        Add { float = |a, b| a + b, integer = |a, b| a.wrapping_add(b), }
        Sub { float = |a, b| a - b, integer = |a, b| a.wrapping_sub(b), }
        Mul { float = |a, b| a * b, integer = |a, b| a.wrapping_mul(b), }
        Div { float = |a, b| a / b, integer = |a, b| if b == 0 { 0 } else { a.wrapping_div(b) }, }
        Rem { float = |a, b| a % b, integer = |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) }, }
        Pow { f32 by power(), f64 = f64::powf, }
        Atan2 { f32 = |a, b| f64::from(a).atan2(f64::from(b)) as f32, f64 = f64::atan2, }
        Min { float = |a, b| nan_min!(a, b), integer = |a, b| a.min(b), bool = |a, b| a & b, }
        Max { float = |a, b| nan_max!(a, b), integer = |a, b| a.max(b), bool = |a, b| a | b, }
        And { integer = |a, b| a & b, bool = |a, b| a & b, }
        Or { integer = |a, b| a | b, bool = |a, b| a | b, }
        Xor { integer = |a, b| a ^ b, bool = |a, b| a ^ b, }
        Shl {
            i32 = |a, b| if (0..32).contains(&b) { a << b } else { 0 },
            i64 = |a, b| if (0..64).contains(&b) { a << b } else { 0 },
        }
        Shr {
            i32 = |a, b| if (0..32).contains(&b) { a >> b } else { 0 },
            i64 = |a, b| if (0..64).contains(&b) { a >> b } else { 0 },
        }
    }
}

#[inline(always)]
pub(super) fn compare_body<T: Element>(op: Compare, out: &mut [u8], sources: &[&[u8]; 3]) {
    match op {
        Compare::Eq => map2(out, sources, |a: T, b: T| u8::from(a == b)),
        Compare::Ne => map2(out, sources, |a: T, b: T| u8::from(a != b)),
        Compare::Lt => map2(out, sources, |a: T, b: T| u8::from(a < b)),
        Compare::Le => map2(out, sources, |a: T, b: T| u8::from(a <= b)),
        Compare::Gt => map2(out, sources, |a: T, b: T| u8::from(a > b)),
        Compare::Ge => map2(out, sources, |a: T, b: T| u8::from(a >= b)),
    }
}

/// A vectorised function, then the standard library's where that is not accurate.
#[inline(always)]
fn trigonometry(out: &mut [u8], sources: &[&[u8]; 3], f: impl Fn(f32) -> f32, exact: fn(f64) -> f64) {
    map1(out, sources, f);
    let a = lanes::<f32>(sources[0]);
    if a.iter().fold(false, |any, x| any | math::needs_scalar_trigonometry(*x)) {
        for (out, x) in lanes_mut::<f32>(out).iter_mut().zip(a) {
            if math::needs_scalar_trigonometry(*x) {
                *out = exact(f64::from(*x)) as f32;
            }
        }
    }
}

/// The vectorised power, then the standard library's for zeros, infinities and NaN.
#[inline(always)]
fn power(out: &mut [u8], sources: &[&[u8]; 3]) {
    map2(out, sources, math::pow);
    let (a, b) = (lanes::<f32>(sources[0]), lanes::<f32>(sources[1]));
    for ((out, x), y) in lanes_mut::<f32>(out).iter_mut().zip(a).zip(b) {
        if math::needs_scalar_pow(*x, *y) {
            *out = f64::from(*x).powf(f64::from(*y)) as f32;
        }
    }
}

/// Makes a type of each reduction, and `by_reduction!(op, R => expression)`: the expression where `R` is the type of `op`.
macro_rules! reductions {
    ($($variant:ident: $form:ident { $($lanes:ident = |$x:ident, $y:ident| $body:expr,)* })*) => {
        $(
            pub(super) struct $variant;

            impl ReduceRow for $variant {
                const OP: ReduceOp = ReduceOp::$variant;
                const FORM: ReduceForm = ReduceForm::$form;
                $(reductions! { @cell $lanes $x $y $body })*
            }
        )*

        reductions! { @by [$] $($variant)* }
    };
    (@cell float $x:ident $y:ident $body:expr) => {
        reductions! { @cell f32 $x $y $body }
        reductions! { @cell f64 $x $y $body }
    };
    (@cell f32 $x:ident $y:ident $body:expr) => {
        #[inline(always)]
        fn f32($x: f32, $y: f32) -> f32 { $body }
    };
    (@cell f64 $x:ident $y:ident $body:expr) => {
        #[inline(always)]
        fn f64($x: f64, $y: f64) -> f64 { $body }
    };
    (@cell integer $x:ident $y:ident $body:expr) => {
        #[inline(always)]
        fn integer<T: Integer>($x: T, $y: T) -> T { $body }
    };
    (@cell bool $x:ident $y:ident $body:expr) => {
        #[inline(always)]
        fn bool($x: u8, $y: u8) -> u8 { $body }
    };
    (@cell first $x:ident $y:ident $body:expr) => {
        #[inline(always)]
        fn beats<T: Element>($x: T, $y: T) -> bool { $body }
    };
    (@by [$d:tt] $($variant:ident)*) => {
        macro_rules! by_reduction {
            ($d op:expr, $d type:ident => $d body:expr) => {
                match $d op {
                    $(ReduceOp::$variant => { type $d type = crate::cpu::column::$variant; $d body })*
                }
            };
        }
    };
}

reductions! {
    Sum: Fours { float = |x, y| x + y, integer = |x, y| x.wrapping_add(y), }
    Prod: Wide { f64 = |x, y| x * y, integer = |x, y| x.wrapping_mul(y), }
    Max: Lanes { float = |x, y| nan_max!(x, y), integer = |x, y| x.max(y), }
    Min: Lanes { float = |x, y| nan_min!(x, y), integer = |x, y| x.min(y), }
    Argmax: Position { first = |x, y| x > y, }
    Argmin: Position { first = |x, y| x < y, }
    Any: Lanes { bool = |x, y| x | y, }
    All: Lanes { bool = |x, y| x & y, }
}
pub(super) use by_reduction;
