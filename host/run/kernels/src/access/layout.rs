//! Where the elements of inputs and outputs lie: strides and alignments, and addresses as forms over the axes.

use super::binding::{BoundInput, BoundOutput};
use super::forms::IndexForm;
use passhost_ir::contiguous_strides;
use passhost_ir::kernel::{IndexId, Kernel};

/// The strides of the inputs and the alignment of all tensors that a kernel is emitted for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelLayout {
    /// Strides of each input, in elements.
    pub strides: Vec<Vec<i64>>,
    /// A power of two, at most 16, that the address of each input's first element is a multiple of, in bytes.
    pub alignments: Vec<usize>,
    /// The same for each output.
    pub outputs: Vec<usize>,
}

impl KernelLayout {
    /// Contiguous inputs as an allocator places them.
    pub fn contiguous(kernel: &Kernel) -> KernelLayout {
        KernelLayout {
            strides: kernel.inputs.iter().map(|input| contiguous_strides(&input.shape)).collect(),
            alignments: vec![16; kernel.inputs.len()],
            outputs: vec![16; kernel.stores.len()],
        }
    }

    /// That of bound tensors.
    pub fn of(inputs: &[BoundInput<'_>], outputs: &[BoundOutput]) -> KernelLayout {
        let alignment = |address: usize| 1usize << address.trailing_zeros().min(4);
        KernelLayout {
            strides: inputs.iter().map(|input| input.strides.to_vec()).collect(),
            alignments: inputs.iter().map(|input| alignment(input.pointer as usize)).collect(),
            outputs: outputs.iter().map(|output| alignment(output.pointer as usize)).collect(),
        }
    }
}

/// Strides of a tensor of this shape, 0 where a dimension has no second element: such a stride means nothing and may be
/// huge.
pub(crate) fn effective_strides(shape: &[i64], strides: &[i64]) -> Vec<i64> {
    shape.iter().zip(strides).map(|(extent, stride)| if *extent > 1 { *stride } else { 0 }).collect()
}

/// An element's place in its tensor: `base + sum of slopes[axis] * position`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offset {
    pub(crate) base: i64,
    /// One per axis of the kernel; 0 for an axis with one position.
    pub(crate) slopes: Vec<i64>,
}

impl Offset {
    /// The offset that indices of these forms have in a tensor of these effective strides; none if one is not affine.
    /// The indices must be in bounds everywhere, `extents` are those of all axes.
    pub(crate) fn of_load(forms: &[IndexForm], index: &[IndexId], strides: &[i64], extents: &[i64]) -> Option<Offset> {
        let (mut base, mut slopes) = (0i64, vec![0i64; extents.len()]);
        for (id, stride) in index.iter().zip(strides) {
            let affine = forms[id.0 as usize].affine.as_ref()?;
            base += affine.constant * stride;
            for (total, slope) in slopes.iter_mut().zip(&affine.slopes) {
                // An axis with one position may have any slope; it is dropped below.
                *total = total.wrapping_add(slope.wrapping_mul(*stride));
            }
        }
        // An axis with one position changes nothing.
        for (slope, _) in slopes.iter_mut().zip(extents).filter(|(_, extent)| **extent <= 1) {
            *slope = 0;
        }
        Some(Offset { base, slopes })
    }

    /// The offset in an output that is dense in the order of these axes.
    pub(crate) fn of_store(order: &[u32], extents: &[i64]) -> Offset {
        let ordered: Vec<i64> = order.iter().map(|axis| extents[*axis as usize]).collect();
        let mut slopes = vec![0; extents.len()];
        for (axis, stride) in order.iter().zip(contiguous_strides(&ordered)) {
            let axis = *axis as usize;
            slopes[axis] = if extents[axis] == 1 { 0 } else { stride };
        }
        Offset { base: 0, slopes }
    }
}

/// Whether most accesses lie such that neighbours along the axis `row`, not along `point`, are side by side in memory.
/// An access is its slopes and its weight.
pub(crate) fn prefers_columns<'a>(accesses: impl Iterator<Item = (&'a [i64], u64)>, row: usize, point: usize) -> bool {
    let vote = |(slopes, weight): (&[i64], u64)| {
        let column = slopes[row] == 1 && slopes[point] != 1;
        (i128::from(column) - i128::from(slopes[point] == 1)) * i128::from(weight)
    };
    accesses.map(vote).sum::<i128>() > 0
}
