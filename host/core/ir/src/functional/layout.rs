//! The strides that PyTorch gives to new tensors and to broadcast ones.

use crate::{Dtype, MemoryFormat, TensorType, contiguous_strides};

/// The strides of what an elementwise op returns for these operands, as `at::TensorIterator` lays it out: row-major or
/// channels last where all operands are, the strides of the operands where these are all alike and dense, and otherwise
/// dense in the order of the strides of the first operand that has an order.
pub(crate) fn elementwise_strides(shape: &[i64], operands: &[&TensorType]) -> Vec<i64> {
    let all = |test: fn(&TensorType) -> bool| operands.iter().all(|ty| test(ty));
    if let [first, ..] = operands
        && operands.iter().all(|ty| ty.shape == shape)
    {
        if all(TensorType::is_contiguous) {
            return contiguous_strides(shape);
        }
        if all(|ty| is_in(ty, MemoryFormat::ChannelsLast)) {
            return formatted(first.dtype, shape.to_vec(), MemoryFormat::ChannelsLast).strides;
        }
        if all(is_dense) && operands.iter().all(|ty| ty.strides == first.strides) {
            return first.strides.clone();
        }
    }
    let strides: Vec<Vec<i64>> = operands.iter().map(|ty| broadcast_strides(ty, shape)).collect();
    ordered_strides(shape, &strides)
}

/// The strides of a copy that preserves the layout of its operand: the same if it is dense, else dense in that order.
pub(crate) fn preserved_strides(ty: &TensorType) -> Vec<i64> {
    if is_dense(ty) { ty.strides.clone() } else { ordered_strides(&ty.shape, std::slice::from_ref(&ty.strides)) }
}

/// The strides of `aten::expand` to a shape that the operand broadcasts to. After `inferExpandGeometry`.
pub(super) fn expanded_strides(ty: &TensorType, shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![0i64; shape.len()];
    if ty.rank() == 0 {
        return strides;
    }
    for dim in (0..shape.len()).rev() {
        let own = (dim + ty.rank()).checked_sub(shape.len());
        let (extent, stride) = match own {
            Some(own) => (ty.shape[own], ty.strides[own]),
            None => (1, shape[dim + 1].saturating_mul(strides[dim + 1])),
        };
        strides[dim] = if extent == shape[dim] { stride } else { 0 };
    }
    strides
}

fn is_dense(ty: &TensorType) -> bool {
    ty.memory_order().is_some()
}

/// Whether a shape broadcasts to another one.
pub(super) fn broadcasts(from: &[i64], to: &[i64]) -> bool {
    from.len() <= to.len() && from.iter().rev().zip(to.iter().rev()).all(|(&own, &wanted)| own == wanted || own == 1)
}

/// Strides with 0 for each dimension along which the operand repeats.
fn broadcast_strides(ty: &TensorType, shape: &[i64]) -> Vec<i64> {
    let stride = |dim: usize| {
        let own = (dim + ty.rank()).checked_sub(shape.len())?;
        (ty.shape[own] != 1 || shape[dim] == 1).then(|| ty.strides[own])
    };
    (0..shape.len()).map(|dim| stride(dim).unwrap_or(0)).collect()
}

/// Dense strides, the dimensions from the inside out ordered by the strides of the operands. After
/// `TensorIteratorBase::reorder_dimensions`: an insertion sort, because the comparison is no order. A stride of 0 says
/// nothing, and the first operand that says something decides.
fn ordered_strides(shape: &[i64], operands: &[Vec<i64>]) -> Vec<i64> {
    // Positive if `a` belongs outside of `b`.
    let compare = |a: usize, b: usize| {
        for strides in operands {
            match (strides[a], strides[b]) {
                (0, _) | (_, 0) => {}
                (x, y) if x < y => return -1,
                (x, y) if x > y => return 1,
                _ if shape[a] > shape[b] => return 1,
                _ => {}
            }
        }
        0
    };
    let mut order: Vec<usize> = (0..shape.len()).rev().collect();
    for from in 1..order.len() {
        let mut moving = from;
        for place in (0..from).rev() {
            match compare(order[place], order[moving]) {
                1 => {
                    order.swap(place, moving);
                    moving = place;
                }
                -1 => break,
                _ => {}
            }
        }
    }
    let mut strides = vec![0; shape.len()];
    let mut next = 1i64;
    for dim in order {
        strides[dim] = next;
        next = next.saturating_mul(shape[dim].max(1));
    }
    strides
}

/// Dimensions from the innermost to the outermost one of an image or a volume with its channels last.
pub(crate) fn channels_last_order(rank: usize) -> Option<&'static [usize]> {
    match rank {
        4 => Some(&[1, 3, 2, 0]),
        5 => Some(&[1, 4, 3, 2, 0]),
        _ => None,
    }
}

/// Whether the elements lie densely in this format.
pub(crate) fn is_in(ty: &TensorType, format: MemoryFormat) -> bool {
    let wanted = match format {
        MemoryFormat::ChannelsLast => 4,
        MemoryFormat::ChannelsLast3d => 5,
        MemoryFormat::Contiguous | MemoryFormat::Preserve => return ty.is_contiguous(),
    };
    let dense = formatted(ty.dtype, ty.shape.clone(), format);
    let strides = ty.strides.iter().zip(&dense.strides).zip(&ty.shape);
    ty.rank() == wanted && strides.into_iter().all(|((stride, dense), &extent)| extent == 1 || stride == dense)
}

/// A dense tensor in this format; row-major where the rank does not fit it.
pub fn formatted(dtype: Dtype, shape: Vec<i64>, format: MemoryFormat) -> TensorType {
    let last = matches!((format, shape.len()), (MemoryFormat::ChannelsLast, 4) | (MemoryFormat::ChannelsLast3d, 5));
    let Some(order) = channels_last_order(shape.len()).filter(|_| last) else {
        return TensorType::contiguous(dtype, shape);
    };
    TensorType { dtype, strides: strides_in(&shape, order.iter().copied()), shape }
}

/// Dense strides, the dimensions from the innermost to the outermost one.
pub(crate) fn strides_in(shape: &[i64], order: impl IntoIterator<Item = usize>) -> Vec<i64> {
    let (mut strides, mut stride) = (vec![1i64; shape.len()], 1i64);
    for dim in order {
        strides[dim] = stride;
        stride = stride.saturating_mul(shape[dim]);
    }
    strides
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::Graph;

    /// The types of the inputs of a graph.
    fn types(text: &str) -> Vec<TensorType> {
        let graph = Graph::parse(&format!("graph({text}) {{\n  return ()\n}}\n")).unwrap();
        graph.inputs.iter().map(|&input| graph.ty(input).clone()).collect()
    }

    #[test]
    fn elementwise_results_are_laid_out_as_in_pytorch() {
        for (operands, expected) in [
            ("%a: f32[2,3]", vec![3, 1]),
            ("%a: f32[2,3]{1,2}", vec![1, 2]),
            ("%a: f32[2,3]{1,2}, %b: f32[2,3]", vec![1, 2]),
            ("%a: f32[2,3], %b: f32[2,3]{1,2}", vec![3, 1]),
            ("%a: f32[2,3]{6,2}", vec![3, 1]),
            ("%a: f32[2,3]{1,9}", vec![1, 2]),
            ("%a: f32[2,3]{1,2}, %b: f32[3]", vec![1, 2]),
            ("%a: f32[2,3]{0,1}, %b: f32[2,3]{1,2}", vec![1, 2]),
            ("%a: f32[2,3,4,5]{60,1,15,3}, %b: f32[]", vec![60, 1, 15, 3]),
            ("%a: f32[2,1,4,5]{20,1,5,1}, %b: f32[2,1,4,5]{20,20,5,1}", vec![20, 20, 5, 1]),
        ] {
            let types = types(operands);
            let operands_of: Vec<&TensorType> = types.iter().collect();
            assert_eq!(elementwise_strides(&types[0].shape, &operands_of), expected, "{operands}");
        }
    }

    #[test]
    fn expanded_strides_agree_with_pytorch() {
        for (ty, shape, expected) in [
            ("%a: f32[3]", [2, 3], [0, 1]),
            ("%a: f32[3]", [1, 3], [3, 1]),
            ("%a: f32[1]", [2, 3], [0, 0]),
            ("%a: f32[]", [2, 3], [0, 0]),
            ("%a: f32[2,1]", [2, 3], [1, 0]),
        ] {
            assert_eq!(expanded_strides(&types(ty)[0], &shape), expected, "{ty} to {shape:?}");
        }
    }
}
