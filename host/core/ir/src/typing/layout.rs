//! How results lie in memory: what `at::empty_like`, `Tensor::suggest_memory_format` and `TensorIterator` decide.

use crate::functional::layout::{channels_last_order, elementwise_strides, formatted, is_in, preserved_strides};
use crate::{Dtype, MemoryFormat, TensorType};

/// As `at::empty_like` lays it out: with the operand's strides if its elements fill their memory, else with dense ones
/// in the same order.
pub(super) fn preserving(ty: &TensorType, dtype: Dtype) -> TensorType {
    TensorType { dtype, shape: ty.shape.clone(), strides: preserved_strides(ty) }
}

/// As an elementwise op lays it out that runs a `TensorIterator` over these operands, in this order. Their types of elements
/// play no part.
pub fn iterated(operands: &[&TensorType], dtype: Dtype) -> Result<TensorType, String> {
    let rank = operands.iter().map(|ty| ty.rank()).max().unwrap_or(0);
    let mut shape = vec![1; rank];
    for ty in operands {
        for (wanted, &extent) in shape[rank - ty.rank()..].iter_mut().zip(&ty.shape) {
            match (*wanted, extent) {
                (_, 1) => {}
                (1, _) => *wanted = extent,
                (a, b) if a == b => {}
                (a, b) => return Err(format!("extents of {a} and {b} elements are not the same, and neither is 1")),
            }
        }
    }
    let strides = elementwise_strides(&shape, operands);
    Ok(TensorType { dtype, shape, strides })
}

/// The layout that ops take a tensor for that may be stored channels last. Where the strides fit both, it is row-major.
pub(super) fn suggested(ty: &TensorType) -> MemoryFormat {
    let Some(order) = channels_last_order(ty.rank()) else { return MemoryFormat::Contiguous };
    if ty.strides[1] == 0 {
        return MemoryFormat::Contiguous;
    }
    let mut least = 0i64;
    for &dim in order {
        let (extent, stride) = (ty.shape[dim], ty.strides[dim]);
        if extent == 0 || stride < least || (dim == 0 && least == ty.strides[1]) {
            return MemoryFormat::Contiguous;
        }
        least = stride.saturating_mul(extent);
    }
    if ty.rank() == 4 { MemoryFormat::ChannelsLast } else { MemoryFormat::ChannelsLast3d }
}

/// As `Tensor::contiguous` makes it.
pub(super) fn contiguous_in(ty: &TensorType, format: MemoryFormat) -> TensorType {
    if is_in(ty, format) { ty.clone() } else { formatted(ty.dtype, ty.shape.clone(), format) }
}

/// The tensor with two dimensions exchanged.
pub(super) fn transposed(ty: &TensorType, a: usize, b: usize) -> TensorType {
    let mut ty = ty.clone();
    ty.shape.swap(a, b);
    ty.strides.swap(a, b);
    ty
}

/// A batch of one, as ops make it that also take a single image.
pub(super) fn batch_of_one(ty: &TensorType) -> TensorType {
    unsqueezed(ty, 0)
}

/// The tensor with a dimension of extent 1 more.
pub(super) fn unsqueezed(ty: &TensorType, dim: usize) -> TensorType {
    let mut wider = ty.clone();
    let stride = match (ty.shape.get(dim), ty.strides.get(dim)) {
        (Some(&extent), Some(&stride)) => extent.saturating_mul(stride),
        _ => 1,
    };
    wider.shape.insert(dim, 1);
    wider.strides.insert(dim, stride);
    wider
}

/// The tensor without this dimension.
pub(super) fn without(ty: &TensorType, dim: usize) -> TensorType {
    let mut narrower = ty.clone();
    narrower.shape.remove(dim);
    narrower.strides.remove(dim);
    narrower
}
