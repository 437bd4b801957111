//! Points, and how addresses depend on them.
//!
//! The axes of a kernel form up to two *domains*: the rows, and the points of a row. The points of a domain are numbered
//! row-major; a thread works on a few neighbours, the *lanes*, along one of the domains. Where a tensor is read or written
//! by all lanes at neighbouring addresses, one access does for all.

use crate::access::{KernelAnalysis, KernelLayout, Offset, effective_strides, multiple_of};
use passhost_ir::Dtype;
use passhost_ir::kernel::{IndexId, Kernel};

/// Some axes, numbered together.
#[derive(Debug, Clone, Default)]
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

/// The address of a load in a layout. `in_bounds` says whether its indices are proven.
pub(super) fn load_address(
    kernel: &Kernel,
    analysis: &KernelAnalysis,
    in_bounds: bool,
    (input, index): (u32, &[IndexId]),
    layout: &KernelLayout,
) -> Address {
    let input = input as usize;
    let strides = effective_strides(&kernel.inputs[input].shape, &layout.strides[input]);
    let offset = in_bounds.then(|| Offset::of_load(&analysis.forms, index, &strides, &extents(kernel))).flatten();
    offset.map_or_else(|| Address::Indexed { index: index.to_vec(), strides }, Address::Affine)
}

/// The address of a store: dense in the order of its axes.
pub(super) fn store_address(kernel: &Kernel, order: &[u32]) -> Address {
    Address::Affine(Offset::of_store(order, &extents(kernel)))
}

/// The extents of all axes, parallel axes first.
fn extents(kernel: &Kernel) -> Vec<i64> {
    kernel.parallel.iter().chain(&kernel.reduce).copied().collect()
}

/// What `count` lanes along a domain have in common at an address. The first lane is at a multiple of `count`.
/// `alignment` is that of the tensor, in bytes; `in_bounds` says for each dimension whether its index is proven.
pub(super) fn common(
    kernel: &Kernel,
    analysis: &KernelAnalysis,
    (along, other): (&AxisDomain, &AxisDomain),
    address: &Address,
    count: i64,
    (dtype, alignment): (Dtype, usize),
    in_bounds: &[bool],
) -> Lanes {
    if count == 1 {
        return Lanes::Each;
    }
    let aligned = alignment as i64 >= (count * dtype.size() as i64).min(16);
    match address {
        Address::Affine(Offset { base, slopes }) => {
            let groups = along.groups(slopes);
            let Some((last, outer)) = groups.split_last() else { return Lanes::One };
            if last.inner != 1 || last.extent % count != 0 {
                return Lanes::Each;
            }
            let multiples = outer.iter().chain(&other.groups(slopes)).all(|group| group.slope % count == 0);
            match last.slope {
                0 => Lanes::One,
                1 if aligned && multiples && base % count == 0 => Lanes::Neighbours,
                _ => Lanes::Each,
            }
        }
        Address::Indexed { index, strides } => {
            let Some(axis) = along.innermost() else { return Lanes::One };
            if kernel.extent(axis as u32).unwrap_or(1) % count != 0 {
                return Lanes::Each;
            }
            let slopes: Option<Vec<i64>> = index.iter().map(|id| analysis.forms[id.0 as usize].slopes[axis]).collect();
            let Some(slopes) = slopes else { return Lanes::Each };
            if slopes.iter().all(|slope| *slope == 0) {
                return Lanes::One;
            }
            let step: i64 = slopes.iter().zip(strides).map(|(slope, stride)| slope * stride).sum();
            // A guard must decide for all lanes alike.
            let guarded = slopes.iter().zip(in_bounds).any(|(slope, proven)| *slope != 0 && !proven);
            // An index that is clamped may end as any number, whatever it was a multiple of.
            let multiple = |id: &IndexId, proven: bool| if proven { multiple_of(kernel, *id, axis, count) } else { 1 };
            let multiples = index
                .iter()
                .zip(strides)
                .zip(in_bounds)
                .all(|((id, stride), proven)| multiple(id, *proven).saturating_mul(*stride) % count == 0);
            if step == 1 && !guarded && aligned && multiples { Lanes::Neighbours } else { Lanes::Each }
        }
    }
}
