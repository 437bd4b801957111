//! Block buffers: the lanes of one body value over a block of points.
//!
//! Lanes have one of five types. The other types of kernel IR exist in memory only: a narrow integer is held as `i32`
//! and a narrow float as `f32`, exactly; see [`element`](super::element).

use passhost_ir::Dtype;
use passhost_ir::kernel::Scalar;
use std::ops::{Deref, DerefMut};

/// The type of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneKind {
    /// `u8`, 0 or 1.
    Bool,
    /// `i32`
    I32,
    /// `i64`
    I64,
    /// `f32`
    F32,
    /// `f64`
    F64,
}

impl LaneKind {
    /// What lanes hold values of this type; `None` for complex types.
    pub(crate) fn of(dtype: Dtype) -> Option<LaneKind> {
        Some(match dtype {
            Dtype::Bool => LaneKind::Bool,
            Dtype::U8 | Dtype::I8 | Dtype::I16 | Dtype::I32 => LaneKind::I32,
            Dtype::I64 => LaneKind::I64,
            Dtype::F16 | Dtype::Bf16 | Dtype::F32 => LaneKind::F32,
            Dtype::F64 => LaneKind::F64,
            Dtype::C64 | Dtype::C128 => return None,
        })
    }

    /// Bytes per lane.
    pub(crate) fn size(self) -> usize {
        match self {
            LaneKind::Bool => 1,
            LaneKind::I32 | LaneKind::F32 => 4,
            LaneKind::I64 | LaneKind::F64 => 8,
        }
    }
}

/// The bytes of a cache line, which are those of the widest vector.
const LINE: usize = 64;

/// Lanes that begin with a cache line: vectors that straddle two take twice as long.
#[derive(Debug)]
pub(crate) struct Aligned<T> {
    storage: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy> Aligned<T> {
    fn filled(value: T, len: usize) -> Aligned<T> {
        let storage = vec![value; len + LINE / size_of::<T>()];
        let start = storage.as_ptr().align_offset(LINE).min(storage.len() - len);
        Aligned { storage, start, len }
    }
}

impl<T: Copy + Default> Clone for Aligned<T> {
    fn clone(&self) -> Aligned<T> {
        let mut clone = Aligned::filled(T::default(), self.len);
        clone.copy_from_slice(self);
        clone
    }
}

impl<T> Default for Aligned<T> {
    fn default() -> Aligned<T> {
        Aligned { storage: Vec::new(), start: 0, len: 0 }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.storage[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.storage[self.start..self.start + self.len]
    }
}

/// Lanes of one type.
#[derive(Debug, Clone)]
pub(crate) enum Buffer {
    Bool(Aligned<u8>),
    I32(Aligned<i32>),
    I64(Aligned<i64>),
    F32(Aligned<f32>),
    F64(Aligned<f64>),
}

impl Default for Buffer {
    fn default() -> Buffer {
        Buffer::Bool(Aligned::default())
    }
}

impl Buffer {
    /// `len` lanes of 0.
    pub(crate) fn zeroed(kind: LaneKind, len: usize) -> Buffer {
        match kind {
            LaneKind::Bool => Buffer::Bool(Aligned::filled(0, len)),
            LaneKind::I32 => Buffer::I32(Aligned::filled(0, len)),
            LaneKind::I64 => Buffer::I64(Aligned::filled(0, len)),
            LaneKind::F32 => Buffer::F32(Aligned::filled(0.0, len)),
            LaneKind::F64 => Buffer::F64(Aligned::filled(0.0, len)),
        }
    }

    /// One lane with the value of a literal of this type, `None` for complex types.
    pub(crate) fn literal(dtype: Dtype, scalar: Scalar) -> Option<Buffer> {
        let integer = match scalar {
            Scalar::Bool(value) => i64::from(value),
            Scalar::Int(value) => value,
            Scalar::Float(value) => value as i64,
        };
        let float = match scalar {
            Scalar::Bool(value) => f64::from(u8::from(value)),
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) => value,
        };
        Some(match dtype {
            Dtype::Bool => Buffer::Bool(Aligned::filled(u8::from(integer != 0), 1)),
            Dtype::U8 | Dtype::I8 | Dtype::I16 | Dtype::I32 => Buffer::I32(Aligned::filled(integer as i32, 1)),
            Dtype::I64 => Buffer::I64(Aligned::filled(integer, 1)),
            Dtype::F16 => Buffer::F32(Aligned::filled(half::f16::from_f32(float as f32).to_f32(), 1)),
            Dtype::Bf16 => Buffer::F32(Aligned::filled(half::bf16::from_f32(float as f32).to_f32(), 1)),
            Dtype::F32 => Buffer::F32(Aligned::filled(float as f32, 1)),
            Dtype::F64 => Buffer::F64(Aligned::filled(float, 1)),
            Dtype::C64 | Dtype::C128 => return None,
        })
    }

    /// The type of the lanes.
    pub(crate) fn kind(&self) -> LaneKind {
        match self {
            Buffer::Bool(_) => LaneKind::Bool,
            Buffer::I32(_) => LaneKind::I32,
            Buffer::I64(_) => LaneKind::I64,
            Buffer::F32(_) => LaneKind::F32,
            Buffer::F64(_) => LaneKind::F64,
        }
    }

    /// All lanes.
    #[inline(always)]
    pub(crate) fn view(&self) -> LaneView<'_> {
        match self {
            Buffer::Bool(lanes) => LaneView::Bool(lanes),
            Buffer::I32(lanes) => LaneView::I32(lanes),
            Buffer::I64(lanes) => LaneView::I64(lanes),
            Buffer::F32(lanes) => LaneView::F32(lanes),
            Buffer::F64(lanes) => LaneView::F64(lanes),
        }
    }

    /// All lanes, to be written.
    #[inline(always)]
    pub(crate) fn view_mut(&mut self) -> ViewMut<'_> {
        match self {
            Buffer::Bool(lanes) => ViewMut::Bool(lanes),
            Buffer::I32(lanes) => ViewMut::I32(lanes),
            Buffer::I64(lanes) => ViewMut::I64(lanes),
            Buffer::F32(lanes) => ViewMut::F32(lanes),
            Buffer::F64(lanes) => ViewMut::F64(lanes),
        }
    }
}

/// Lanes to read: those of a buffer, or of an input whose elements are lanes as they lie in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LaneView<'a> {
    Bool(&'a [u8]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    F32(&'a [f32]),
    F64(&'a [f64]),
}

impl LaneView<'_> {
    /// No lanes.
    pub(crate) const EMPTY: LaneView<'static> = LaneView::Bool(&[]);

    /// The type of the lanes.
    pub(crate) fn kind(self) -> LaneKind {
        match self {
            LaneView::Bool(_) => LaneKind::Bool,
            LaneView::I32(_) => LaneKind::I32,
            LaneView::I64(_) => LaneKind::I64,
            LaneView::F32(_) => LaneKind::F32,
            LaneView::F64(_) => LaneKind::F64,
        }
    }

    /// The lane at `at` as a position; floats have none and give 0.
    #[inline(always)]
    pub(crate) fn integer(self, at: usize) -> i64 {
        match self {
            LaneView::Bool(lanes) => i64::from(lanes[at]),
            LaneView::I32(lanes) => i64::from(lanes[at]),
            LaneView::I64(lanes) => lanes[at],
            LaneView::F32(_) | LaneView::F64(_) => 0,
        }
    }
}

/// Lanes to write: those of a buffer, or of an output whose elements are lanes as they lie in memory.
#[derive(Debug)]
pub(crate) enum ViewMut<'a> {
    Bool(&'a mut [u8]),
    I32(&'a mut [i32]),
    I64(&'a mut [i64]),
    F32(&'a mut [f32]),
    F64(&'a mut [f64]),
}

macro_rules! each_lanes {
    ($view:expr, $lanes:ident => $body:expr) => {
        match $view {
            ViewMut::Bool($lanes) => $body,
            ViewMut::I32($lanes) => $body,
            ViewMut::I64($lanes) => $body,
            ViewMut::F32($lanes) => $body,
            ViewMut::F64($lanes) => $body,
        }
    };
}

impl ViewMut<'_> {
    /// How many lanes there are.
    pub(crate) fn len(&self) -> usize {
        each_lanes!(self, lanes => lanes.len())
    }

    /// The lanes `at .. at + len`.
    #[inline(always)]
    pub(crate) fn part(&mut self, at: usize, len: usize) -> ViewMut<'_> {
        match self {
            ViewMut::Bool(lanes) => ViewMut::Bool(&mut lanes[at..at + len]),
            ViewMut::I32(lanes) => ViewMut::I32(&mut lanes[at..at + len]),
            ViewMut::I64(lanes) => ViewMut::I64(&mut lanes[at..at + len]),
            ViewMut::F32(lanes) => ViewMut::F32(&mut lanes[at..at + len]),
            ViewMut::F64(lanes) => ViewMut::F64(&mut lanes[at..at + len]),
        }
    }

    /// Repeats the first lane in all others.
    pub(crate) fn repeat_first(&mut self) {
        each_lanes!(self, lanes => {
            if let Some((first, rest)) = lanes.split_first_mut() {
                rest.fill(*first);
            }
        });
    }
}

/// A type of lanes.
pub(crate) trait Lane: Copy + Default + PartialOrd + Send + Sync + 'static {
    /// Lanes of this type. The plan gives every value lanes of its own type.
    fn of(view: LaneView<'_>) -> &[Self];
    /// As [`Lane::of`].
    fn of_mut(view: ViewMut<'_>) -> &mut [Self];
    /// Whether the value differs from itself.
    #[inline(always)]
    #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
    fn is_nan(self) -> bool {
        self != self
    }
}

macro_rules! lane {
    ($($ty:ty => $variant:ident),*) => {$(
        impl Lane for $ty {
            #[inline(always)]
            fn of(view: LaneView<'_>) -> &[$ty] {
                match view {
                    LaneView::$variant(lanes) => lanes,
                    other => unreachable!("expected lanes of {}, found {:?}", stringify!($ty), other.kind()),
                }
            }

            #[inline(always)]
            fn of_mut(view: ViewMut<'_>) -> &mut [$ty] {
                match view {
                    ViewMut::$variant(lanes) => lanes,
                    _ => unreachable!("lanes to write are not of {}", stringify!($ty)),
                }
            }
        }
    )*};
}
lane!(u8 => Bool, i32 => I32, i64 => I64, f32 => F32, f64 => F64);

/// Where an operation reads an operand.
#[derive(Clone, Copy)]
pub(crate) enum OperandSource<'a> {
    /// Lane by lane, from this offset on.
    Lanes(LaneView<'a>, usize),
    /// The lane at this offset, again and again.
    Splat(LaneView<'a>, usize),
}

/// A [`OperandSource`] of known type.
#[derive(Clone, Copy)]
pub(crate) enum LaneOperand<'a, T> {
    /// Lane by lane.
    Lanes(&'a [T]),
    /// The same value in every lane.
    Splat(T),
}

impl<T: Copy> LaneOperand<'_, T> {
    /// The value in one lane.
    #[inline(always)]
    pub(crate) fn at(self, lane: usize) -> T {
        match self {
            LaneOperand::Lanes(lanes) => lanes[lane],
            LaneOperand::Splat(value) => value,
        }
    }
}

impl<'a> OperandSource<'a> {
    /// Stands where an operation has no further operand.
    pub(crate) const NONE: OperandSource<'static> = OperandSource::Splat(LaneView::EMPTY, 0);

    /// `len` lanes of type `T`. Where one lane is repeated, `len` must be 1.
    #[inline(always)]
    pub(crate) fn lanes<T: Lane>(self, len: usize) -> &'a [T] {
        let (OperandSource::Lanes(view, offset) | OperandSource::Splat(view, offset)) = self;
        &T::of(view)[offset..offset + len]
    }

    /// `len` lanes of type `T`, or the lane that is repeated.
    #[inline(always)]
    pub(crate) fn operand<T: Lane>(self, len: usize) -> LaneOperand<'a, T> {
        match self {
            OperandSource::Lanes(view, offset) => LaneOperand::Lanes(&T::of(view)[offset..offset + len]),
            OperandSource::Splat(view, offset) => LaneOperand::Splat(T::of(view)[offset]),
        }
    }
}
