//! Points, and how addresses depend on them.
//!
//! The axes of a kernel form up to two *domains*: the rows, and the points of a row. The points of a domain are numbered
//! row-major; a thread works on a few neighbours, the *lanes*, along one of the domains. Where a tensor is read or written
//! by all lanes at neighbouring addresses, one access does for all.

use crate::cpu::analysis::Analysis;
use passhost_ir::kernel::{IndexExpr, IndexId, Kernel};
use passhost_ir::{Dtype, contiguous_strides};

/// Some axes, numbered together.
#[derive(Debug, Clone, Default)]
pub(super) struct Domain {
    /// Outermost first.
    pub(super) axes: Vec<usize>,
    /// Extents of these axes.
    pub(super) extents: Vec<i64>,
}

impl Domain {
    pub(super) fn new(kernel: &Kernel, axes: Vec<usize>) -> Domain {
        let extents = axes.iter().map(|axis| kernel.extent(*axis as u32).unwrap_or(1)).collect();
        Domain { axes, extents }
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
    pub(super) fn groups(&self, slopes: &[i64]) -> Vec<Group> {
        let mut groups: Vec<Group> = vec![];
        let mut inner = 1;
        for (axis, extent) in self.axes.iter().zip(&self.extents).rev().filter(|(_, extent)| **extent > 1) {
            let slope = slopes[*axis];
            match groups.last_mut() {
                Some(group) if slope == group.slope.saturating_mul(group.extent) => group.extent *= extent,
                _ => groups.push(Group { inner, extent: *extent, slope }),
            }
            inner *= extent;
        }
        groups.reverse();
        groups
    }
}

/// Axes that act as one: the position along it is `number / inner % extent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    /// Points per step.
    pub(super) inner: i64,
    pub(super) extent: i64,
    /// Elements per step.
    pub(super) slope: i64,
}

/// Where the elements of an access lie.
#[derive(Debug, Clone)]
pub(super) enum Address {
    /// At `base + sum of slopes[axis] * position`, always inside.
    Affine { base: i64, slopes: Vec<i64> },
    /// At one index per dimension, each times its stride; it may lie outside.
    Indexed { index: Vec<IndexId>, strides: Vec<i64> },
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

/// The strides of the inputs and the alignment of all tensors that a kernel is emitted for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Strides of each input, in elements.
    pub strides: Vec<Vec<i64>>,
    /// A power of two, at most 16, that the address of each input's first element is a multiple of, in bytes.
    pub alignments: Vec<usize>,
    /// The same for each output.
    pub outputs: Vec<usize>,
}

impl Layout {
    /// Contiguous inputs as an allocator places them.
    pub fn contiguous(kernel: &Kernel) -> Layout {
        Layout {
            strides: kernel.inputs.iter().map(|input| contiguous_strides(&input.shape)).collect(),
            alignments: vec![16; kernel.inputs.len()],
            outputs: vec![16; kernel.stores.len()],
        }
    }
}

/// The address of a load in a layout.
pub(super) fn load_address(
    kernel: &Kernel,
    analysis: &Analysis,
    in_bounds: bool,
    (input, index): (u32, &[IndexId]),
    layout: &Layout,
) -> Address {
    let input = input as usize;
    let strides: Vec<i64> = kernel.inputs[input]
        .shape
        .iter()
        .zip(&layout.strides[input])
        // The stride of a dimension without a second element means nothing.
        .map(|(extent, stride)| if *extent > 1 { *stride } else { 0 })
        .collect();
    let axes = kernel.parallel.len() + kernel.reduce.len();
    let (mut base, mut slopes) = (0i64, vec![0i64; axes]);
    for (id, stride) in index.iter().zip(&strides) {
        match &analysis.forms[id.0 as usize].affine {
            Some(affine) if in_bounds => {
                base += affine.constant * stride;
                for (total, slope) in slopes.iter_mut().zip(&affine.slopes) {
                    *total = total.wrapping_add(slope.wrapping_mul(*stride));
                }
            }
            _ => return Address::Indexed { index: index.to_vec(), strides },
        }
    }
    for (slope, extent) in slopes.iter_mut().zip(kernel.parallel.iter().chain(&kernel.reduce)) {
        // An axis with one position changes nothing, whatever its slope.
        if *extent <= 1 {
            *slope = 0;
        }
    }
    Address::Affine { base, slopes }
}

/// The address of a store: dense in the order of its axes.
pub(super) fn store_address(kernel: &Kernel, order: &[u32]) -> Address {
    let extents: Vec<i64> = order.iter().map(|axis| kernel.extent(*axis).unwrap_or(1)).collect();
    let mut slopes = vec![0; kernel.parallel.len() + kernel.reduce.len()];
    for (axis, stride) in order.iter().zip(contiguous_strides(&extents)) {
        slopes[*axis as usize] = if kernel.extent(*axis) == Some(1) { 0 } else { stride };
    }
    Address::Affine { base: 0, slopes }
}

/// What `count` lanes along a domain have in common at an address. The first lane is at a multiple of `count`.
/// `alignment` is that of the tensor, in bytes; `in_bounds` says for each dimension whether its index is proven.
pub(super) fn common(
    kernel: &Kernel,
    analysis: &Analysis,
    (along, other): (&Domain, &Domain),
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
        Address::Affine { base, slopes } => {
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
            let multiples = index
                .iter()
                .zip(strides)
                .all(|(id, stride)| multiple_of(kernel, *id, axis, count).saturating_mul(*stride) % count == 0);
            if step == 1 && !guarded && aligned && multiples { Lanes::Neighbours } else { Lanes::Each }
        }
    }
}

/// A number that an index expression is a multiple of wherever the position along `axis` is a multiple of `count`; 0
/// for the constant 0. Expressions read earlier ones, so the list is walked once.
fn multiple_of(kernel: &Kernel, id: IndexId, axis: usize, count: i64) -> i64 {
    let mut known: Vec<i64> = Vec::with_capacity(id.0 as usize + 1);
    for expr in &kernel.index[..=id.0 as usize] {
        let of = |id: IndexId| known[id.0 as usize];
        known.push(match *expr {
            IndexExpr::Axis(known) if known as usize == axis => count,
            IndexExpr::Axis(other) if kernel.extent(other) == Some(1) => 0,
            IndexExpr::Axis(_) | IndexExpr::Value(_) => 1,
            IndexExpr::Const(value) => value.saturating_abs(),
            IndexExpr::Add(a, b) | IndexExpr::Sub(a, b) => gcd(of(a), of(b)),
            IndexExpr::Mul(a, factor) => of(a).saturating_mul(factor.saturating_abs()),
            IndexExpr::FloorDiv(a, divisor) if of(a) % divisor == 0 => of(a) / divisor,
            IndexExpr::FloorDiv(..) => 1,
            IndexExpr::Mod(a, divisor) => gcd(of(a), divisor),
        });
    }
    known[id.0 as usize]
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
