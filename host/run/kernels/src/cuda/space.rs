//! Points, and how addresses depend on them.
//!
//! The axes of a kernel form up to two *domains*: the rows, and the points of a row. The points of a domain are numbered
//! row-major; a thread works on a few neighbours, the *lanes*, along one of the domains. Where a tensor is read or written
//! by all lanes at neighbouring addresses, one access does for all.

use crate::access::Offset;
use passhost_ir::Dtype;
use passhost_ir::kernel::{IndexId, Kernel};

/// Some axes, numbered together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AxisDomain {
    /// Outermost first.
    pub(super) axes: Vec<usize>,
    /// Extents of these axes.
    pub(super) extents: Vec<i64>,
}

impl AxisDomain {
    pub(super) fn new(kernel: &Kernel, axes: Vec<usize>) -> AxisDomain {
        let extents = axes.iter().map(|axis| kernel.extent(*axis as u32).unwrap_or(1)).collect();
        AxisDomain { axes, extents }
    }

    /// How many points there are.
    pub(super) fn points(&self) -> u64 {
        passhost_ir::numel(&self.extents)
    }

    /// By how much a point's number grows along an axis, and the axis' extent.
    pub(super) fn walk(&self, axis: usize) -> Option<(i64, i64)> {
        let at = self.axes.iter().position(|known| *known == axis)?;
        Some((self.extents[at + 1..].iter().product(), self.extents[at]))
    }

    /// The innermost axis that has more than one position.
    pub(super) fn innermost(&self) -> Option<usize> {
        let at = self.extents.iter().rposition(|extent| *extent > 1)?;
        Some(self.axes[at])
    }

    /// Neighbouring axes along which an address changes as along one axis, outermost first; axes of extent 1 are left
    /// out. `slopes` holds the change along each axis of the kernel.
    pub(super) fn groups(&self, slopes: &[i64]) -> Vec<AxisGroup> {
        let mut groups: Vec<AxisGroup> = vec![];
        let mut inner = 1;
        for (axis, extent) in self.axes.iter().zip(&self.extents).rev().filter(|(_, extent)| **extent > 1) {
            let slope = slopes[*axis];
            match groups.last_mut() {
                Some(group) if slope == group.slope.saturating_mul(group.extent) => group.extent *= extent,
                _ => groups.push(AxisGroup { inner, extent: *extent, slope }),
            }
            inner *= extent;
        }
        groups.reverse();
        groups
    }
}

/// Axes that act as one: the position along it is `number / inner % extent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AxisGroup {
    /// Points per step.
    pub(super) inner: i64,
    pub(super) extent: i64,
    /// Elements per step.
    pub(super) slope: i64,
}

/// What the lanes of a thread have in common when they read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lanes {
    /// All use one element.
    One,
    /// They use neighbouring elements, the first at a multiple of their number.
    Neighbours,
    /// Nothing: each has its own address.
    Each,
}

/// Where the elements of an access lie.
#[derive(Debug, Clone)]
pub(super) enum Address {
    /// At this offset, always inside.
    Affine(Offset),
    /// At one index per dimension, each times its stride; it may lie outside.
    Indexed { index: Vec<IndexId>, strides: Vec<i64> },
}

/// An access of a kernel to a tensor.
pub(super) struct MemoryAccess {
    pub(super) address: Address,
    pub(super) dtype: Dtype,
    /// That of the tensor, in bytes.
    pub(super) alignment: usize,
    /// For each dimension whether its index is proven.
    pub(super) in_bounds: Vec<bool>,
    /// Bytes of the whole tensor.
    pub(super) bytes: u64,
}

/// Where a store's element lies: it is dense in the order of its axes.
pub(super) fn store_offset(kernel: &Kernel, order: &[u32]) -> Offset {
    Offset::of_store(order, &extents(kernel))
}

/// The extents of all axes, parallel axes first.
pub(super) fn extents(kernel: &Kernel) -> Vec<i64> {
    kernel.parallel.iter().chain(&kernel.reduce).copied().collect()
}
