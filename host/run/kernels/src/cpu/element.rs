//! Element types in memory and the lanes that hold them.

use super::f16_slices;
use super::lanes::Lane;
use half::{bf16, f16};

/// A `bool` in memory. Any byte is accepted; what is not 0 is true.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Boolean(pub(crate) u8);

/// An element type in memory.
///
/// # Safety
/// Every bit pattern of the type's size is a valid value, and the type has no padding.
pub(crate) unsafe trait Element: Copy + Send + Sync + 'static {
    /// What holds it in a block buffer.
    type Lane: Lane;
    /// To a lane, exactly.
    fn widen(self) -> Self::Lane;
    /// From a lane: integers wrap, floats round to nearest even.
    fn narrow(lane: Self::Lane) -> Self;

    /// [`Element::widen`] for slices of equal length.
    #[inline(always)]
    fn widen_slice(lanes: &mut [Self::Lane], elements: &[Self]) {
        for (lane, element) in lanes.iter_mut().zip(elements) {
            *lane = element.widen();
        }
    }

    /// [`Element::narrow`] for slices of equal length.
    #[inline(always)]
    fn narrow_slice(elements: &mut [Self], lanes: &[Self::Lane]) {
        for (element, lane) in elements.iter_mut().zip(lanes) {
            *element = Self::narrow(*lane);
        }
    }
}

macro_rules! element {
    ($($ty:ty as $lane:ty),*) => {$(
        // SAFETY: primitive numbers have neither padding nor invalid bit patterns.
        unsafe impl Element for $ty {
            type Lane = $lane;

            #[inline(always)]
            fn widen(self) -> $lane {
                self as $lane
            }

            #[inline(always)]
            fn narrow(lane: $lane) -> $ty {
                lane as $ty
            }
        }
    )*};
}
element!(u8 as i32, i8 as i32, i16 as i32, i32 as i32, i64 as i64, f32 as f32, f64 as f64);

// SAFETY: a transparent wrapper of `u8`.
unsafe impl Element for Boolean {
    type Lane = u8;

    #[inline(always)]
    fn widen(self) -> u8 {
        u8::from(self.0 != 0)
    }

    #[inline(always)]
    fn narrow(lane: u8) -> Boolean {
        Boolean(lane)
    }
}

// SAFETY: `f16` is a transparent wrapper of `u16`, all of whose bit patterns are floats.
unsafe impl Element for f16 {
    type Lane = f32;

    #[inline(always)]
    fn widen(self) -> f32 {
        self.to_f32()
    }

    #[inline(always)]
    fn narrow(lane: f32) -> f16 {
        f16::from_f32(lane)
    }

    #[inline(always)]
    fn widen_slice(lanes: &mut [f32], elements: &[f16]) {
        let len = lanes.len().min(elements.len());
        f16_slices::widen(&mut lanes[..len], &elements[..len]);
    }

    #[inline(always)]
    fn narrow_slice(elements: &mut [f16], lanes: &[f32]) {
        let len = lanes.len().min(elements.len());
        f16_slices::narrow(&mut elements[..len], &lanes[..len]);
    }
}

/// The bits of the nearest `bf16`. Free of branches, unlike the library's, so that loops over it vectorise.
#[inline(always)]
fn bf16_bits(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
    (if x.is_nan() { bits | 0x0040_0000 } else { rounded } >> 16) as u16
}

// SAFETY: `bf16` is a transparent wrapper of `u16`, all of whose bit patterns are floats.
unsafe impl Element for bf16 {
    type Lane = f32;

    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    fn narrow(lane: f32) -> bf16 {
        bf16::from_bits(bf16_bits(lane))
    }
}

/// The nearest `bf16`, as an `f32`.
#[inline(always)]
pub(crate) fn round_to_bf16(x: f32) -> f32 {
    bf16::narrow(x).widen()
}

/// Runs an expression with `$element` standing for the Rust type of a [`Dtype`](passhost_ir::Dtype), or evaluates
/// `$otherwise` for complex types.
macro_rules! with_element {
    ($dtype:expr, $element:ident => $body:expr, else $otherwise:expr) => {
        $crate::cpu::element::with_element!(
            $dtype, $element => $body, else $otherwise,
            Bool: $crate::cpu::element::Boolean, U8: u8, I8: i8, I16: i16, I32: i32, I64: i64,
            F16: half::f16, Bf16: half::bf16, F32: f32, F64: f64
        )
    };
    ($dtype:expr, $element:ident => $body:expr, else $otherwise:expr, $($name:ident: $ty:ty),*) => {
        match $dtype {
            $(passhost_ir::Dtype::$name => {
                type $element = $ty;
                $body
            })*
            passhost_ir::Dtype::C64 | passhost_ir::Dtype::C128 => $otherwise,
        }
    };
}
pub(crate) use with_element;
