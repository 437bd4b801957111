//! Lanes: the elements of one value over some points, side by side and as they lie in memory.
//!
//! A value of a kernel has lanes of its own type, whether they are in a buffer, in an input or in an output. So data that
//! is only moved is never converted, and code that moves it knows the size of an element alone.

use half::{bf16, f16};
use passhost_ir::Dtype;
use passhost_ir::kernel::Scalar;
use std::hint::black_box;

/// A type of lanes.
///
/// # Safety
/// Every bit pattern of the type's size is a valid value, and the type has no padding.
pub(crate) unsafe trait Element: Copy + Default + PartialOrd + Send + Sync + 'static {
    /// Whether the value differs from itself.
    #[inline(always)]
    #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
    fn is_nan(self) -> bool {
        self != self
    }
}

macro_rules! element {
    ($($ty:ty),*) => {$(
        // SAFETY: primitive numbers and transparent wrappers of them have neither padding nor invalid bit patterns.
        unsafe impl Element for $ty {}
    )*};
}
element!(u8, i8, i16, i32, i64, f32, f64, f16, bf16, u16, u32, u64);

/// Bytes as lanes of a type.
///
/// # Panics
/// Where they are not aligned for it, or no whole number of lanes.
#[inline(always)]
pub(crate) fn lanes<T: Element>(bytes: &[u8]) -> &[T] {
    // SAFETY: any bytes are valid elements.
    let (before, lanes, after) = unsafe { bytes.align_to::<T>() };
    assert!(before.is_empty() && after.is_empty(), "bytes are no lanes of this type");
    lanes
}

/// Bytes as lanes of a type, to be written.
///
/// # Panics
/// As [`lanes`].
#[inline(always)]
pub(crate) fn lanes_mut<T: Element>(bytes: &mut [u8]) -> &mut [T] {
    // SAFETY: any bytes are valid elements, and any elements valid bytes.
    let (before, lanes, after) = unsafe { bytes.align_to_mut::<T>() };
    assert!(before.is_empty() && after.is_empty(), "bytes are no lanes of this type");
    lanes
}

/// The bytes of lanes.
#[inline(always)]
pub(crate) fn bytes_of<T: Element>(lanes: &[T]) -> &[u8] {
    // SAFETY: elements are bytes without padding.
    unsafe { lanes.align_to::<u8>().1 }
}

/// Folds sixteen lanes. Halves are out of the compiler's sight, as it would have vectors of two lanes throughout, the last
/// of these folds' width.
#[inline(always)]
pub(crate) fn across<T: Element>(lanes: [T; 16], f: impl Fn(T, T) -> T) -> T {
    let lanes = black_box(lanes);
    let lanes: [T; 8] = black_box(std::array::from_fn(|i| f(lanes[i], lanes[i + 8])));
    let [a, b, c, d]: [T; 4] = black_box(std::array::from_fn(|i| f(lanes[i], lanes[i + 4])));
    f(f(a, c), f(b, d))
}

/// A cache line, and the widest vector: one that straddles two lines takes twice as long.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Bytes that begin with a cache line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffer(Vec<Line>);

impl Buffer {
    /// At least so many bytes, all 0.
    pub(crate) fn zeroed(bytes: usize) -> Buffer {
        Buffer(vec![Line([0; 64]); bytes.div_ceil(64)])
    }

    /// All bytes.
    #[inline(always)]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: lines are bytes without padding, and any bytes make lines.
        unsafe { self.0.align_to_mut::<u8>().1 }
    }
}

/// Elements by their bits alone, for code that only moves them.
pub(crate) trait Bits: Element {
    /// The element with these bits, the lowest ones.
    fn of(bits: u64) -> Self;
}

macro_rules! bits {
    ($($ty:ty),*) => {$(
        impl Bits for $ty {
            #[inline(always)]
            fn of(bits: u64) -> $ty {
                bits as $ty
            }
        }
    )*};
}
bits!(u8, u16, u32, u64);

/// Runs an expression with `$bits` standing for the integer of a size in bytes.
macro_rules! with_bits {
    ($size:expr, $bits:ident => $body:expr) => {
        match $size {
            1 => {
                type $bits = u8;
                $body
            }
            2 => {
                type $bits = u16;
                $body
            }
            4 => {
                type $bits = u32;
                $body
            }
            _ => {
                type $bits = u64;
                $body
            }
        }
    };
}
pub(crate) use with_bits;

/// Fills lanes of a size in bytes with an element.
pub(crate) fn fill(bytes: &mut [u8], size: usize, element: u64) {
    with_bits!(size, B => lanes_mut::<B>(bytes).fill(B::of(element)));
}

/// The bits of a literal in a type.
pub(crate) fn literal(dtype: Dtype, scalar: Scalar) -> u64 {
    let (integer, float) = match scalar {
        Scalar::Bool(value) => (i64::from(value), f64::from(u8::from(value))),
        Scalar::Int(value) => (value, value as f64),
        Scalar::Float(value) => (value as i64, value),
    };
    match dtype {
        Dtype::Bool => u64::from(integer != 0),
        Dtype::F16 => f16::from_f32(float as f32).to_bits().into(),
        Dtype::Bf16 => bf16::from_f32(float as f32).to_bits().into(),
        Dtype::F32 => (float as f32).to_bits().into(),
        Dtype::F64 => float.to_bits(),
        // Little of it is written where the type is narrow.
        _ => integer as u64,
    }
}
