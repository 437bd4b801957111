//! Steps that are ready to run on one short vector of points after the other, and the lanes that they read and write.

use super::compute::Code;
use super::lanes::{LaneKind, LaneView, OperandSource, ViewMut};
use passhost_ir::Dtype;

/// VectorLanes of a vector, in a buffer, in an input or in an output.
#[derive(Debug, Clone, Copy)]
pub(super) struct VectorLanes {
    pub(super) kind: LaneKind,
    /// One lane, repeated.
    pub(super) splat: bool,
    pub(super) pointer: *mut u8,
}

// SAFETY: a table of lanes is filled anew by the thread that uses it before each use.
unsafe impl Send for VectorLanes {}

impl VectorLanes {
    /// VectorLanes to read only.
    pub(super) fn of(view: LaneView<'_>, splat: bool) -> VectorLanes {
        let pointer = match view {
            LaneView::Bool(lanes) => lanes.as_ptr().cast_mut(),
            LaneView::I32(lanes) => lanes.as_ptr().cast_mut().cast(),
            LaneView::I64(lanes) => lanes.as_ptr().cast_mut().cast(),
            LaneView::F32(lanes) => lanes.as_ptr().cast_mut().cast(),
            LaneView::F64(lanes) => lanes.as_ptr().cast_mut().cast(),
        };
        VectorLanes { kind: view.kind(), splat, pointer }
    }

    /// VectorLanes to read and write.
    pub(super) fn of_mut(view: ViewMut<'_>, splat: bool) -> VectorLanes {
        let (kind, pointer) = match view {
            ViewMut::Bool(lanes) => (LaneKind::Bool, lanes.as_mut_ptr()),
            ViewMut::I32(lanes) => (LaneKind::I32, lanes.as_mut_ptr().cast()),
            ViewMut::I64(lanes) => (LaneKind::I64, lanes.as_mut_ptr().cast()),
            ViewMut::F32(lanes) => (LaneKind::F32, lanes.as_mut_ptr().cast()),
            ViewMut::F64(lanes) => (LaneKind::F64, lanes.as_mut_ptr().cast()),
        };
        VectorLanes { kind, splat, pointer }
    }

    /// # Safety
    /// The lane is at most one past the last of the storage.
    #[inline(always)]
    pub(super) unsafe fn from(self, lane: usize) -> VectorLanes {
        // SAFETY: by this function's contract.
        VectorLanes { pointer: unsafe { self.pointer.add(lane * self.kind.size()) }, ..self }
    }

    /// # Safety
    /// There are `len` lanes, or one that is repeated, and nobody writes to them while the result is used.
    #[inline(always)]
    pub(super) unsafe fn source<'a>(self, len: usize) -> OperandSource<'a> {
        let len = if self.splat { 1 } else { len };
        // SAFETY: by this function's contract; pointers are made from slices of lanes of this type.
        let view = unsafe {
            match self.kind {
                LaneKind::Bool => LaneView::Bool(std::slice::from_raw_parts(self.pointer, len)),
                LaneKind::I32 => LaneView::I32(std::slice::from_raw_parts(self.pointer.cast(), len)),
                LaneKind::I64 => LaneView::I64(std::slice::from_raw_parts(self.pointer.cast(), len)),
                LaneKind::F32 => LaneView::F32(std::slice::from_raw_parts(self.pointer.cast(), len)),
                LaneKind::F64 => LaneView::F64(std::slice::from_raw_parts(self.pointer.cast(), len)),
            }
        };
        if self.splat { OperandSource::Splat(view, 0) } else { OperandSource::Lanes(view, 0) }
    }

    /// # Safety
    /// There are `len` lanes that may be written, and nobody else uses them while the result lives.
    #[inline(always)]
    pub(super) unsafe fn target<'a>(self, len: usize) -> ViewMut<'a> {
        // SAFETY: by this function's contract; pointers are made from slices of lanes of this type.
        unsafe {
            match self.kind {
                LaneKind::Bool => ViewMut::Bool(std::slice::from_raw_parts_mut(self.pointer, len)),
                LaneKind::I32 => ViewMut::I32(std::slice::from_raw_parts_mut(self.pointer.cast(), len)),
                LaneKind::I64 => ViewMut::I64(std::slice::from_raw_parts_mut(self.pointer.cast(), len)),
                LaneKind::F32 => ViewMut::F32(std::slice::from_raw_parts_mut(self.pointer.cast(), len)),
                LaneKind::F64 => ViewMut::F64(std::slice::from_raw_parts_mut(self.pointer.cast(), len)),
            }
        }
    }
}

/// A step that is ready for the vectors of a block. Numbers of lanes are positions in the table.
#[derive(Debug, Clone, Copy)]
pub(super) enum VectorStep {
    /// The whole block lies in a buffer, from these lanes on.
    Filled { target: usize, all: VectorLanes },
    /// Elements that are lanes as they lie in memory: those of the whole block.
    InPlace { target: usize, all: VectorLanes },
    /// A load's elements from `first` on are converted, into a buffer.
    Widen { target: usize, buffer: VectorLanes, load: usize, first: usize },
    /// A computation, into a buffer.
    Compute {
        code: Code,
        round: Option<Dtype>,
        target: usize,
        buffer: VectorLanes,
        sources: [usize; 3],
        operands: usize,
    },
    /// As `Compute`, straight into the output from these lanes on.
    ComputeInto { code: Code, round: Option<Dtype>, all: VectorLanes, sources: [usize; 3], operands: usize },
    /// An output's elements from `first` on are converted from lanes.
    Narrow { source: usize, store: usize, first: usize },
}
