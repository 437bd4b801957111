//! What is known of a tensor without its elements.

use crate::Dtype;
use std::fmt;

/// The most bytes that one tensor may span: element count times element size.
pub const MAX_TENSOR_BYTES: u64 = 1 << 40;

/// The most dimensions a tensor may have, as in PyTorch's own kernels.
pub const MAX_RANK: usize = 16;

/// Element type, shape and strides. Strides count elements; layout matters because views are free and copies are not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TensorType {
    /// Element type.
    pub dtype: Dtype,
    /// Extent of each dimension, outermost first.
    pub shape: Vec<i64>,
    /// Elements between neighbours along each dimension.
    pub strides: Vec<i64>,
}

impl TensorType {
    /// A densely packed, row-major tensor.
    pub fn contiguous(dtype: Dtype, shape: impl Into<Vec<i64>>) -> TensorType {
        let shape = shape.into();
        let strides = contiguous_strides(&shape);
        TensorType { dtype, shape, strides }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements; 1 for rank 0. Saturates, so that a hostile shape is large and not small.
    pub fn numel(&self) -> u64 {
        numel(&self.shape)
    }

    /// Element count times element size, saturating.
    pub fn bytes(&self) -> u64 {
        self.numel().saturating_mul(self.dtype.size())
    }

    /// Whether the elements lie densely in row-major order. Strides of dimensions of extent 1 do not matter.
    pub fn is_contiguous(&self) -> bool {
        self.numel() == 0
            || self
                .shape
                .iter()
                .zip(&self.strides)
                .zip(contiguous_strides(&self.shape))
                .all(|((&extent, &stride), dense)| extent == 1 || stride == dense)
    }

    /// The dimensions in the order in which they lie in memory, outermost first; `None` if the tensor is not dense.
    pub fn memory_order(&self) -> Option<Vec<usize>> {
        if self.is_contiguous() {
            return Some((0..self.rank()).collect());
        }
        let mut order: Vec<usize> = vec![];
        for dim in 0..self.rank() {
            order.insert(order.partition_point(|&outer| self.strides[outer] >= self.strides[dim]), dim);
        }
        let mut expected = 1i64;
        for &dim in order.iter().rev() {
            if self.shape[dim] != 1 && self.strides[dim] != expected {
                return None;
            }
            expected = expected.saturating_mul(self.shape[dim]);
        }
        Some(order)
    }

    /// Checks that shape and strides belong together and that the tensor stays within [`MAX_TENSOR_BYTES`].
    pub fn check(&self) -> Result<(), TypeError> {
        let negative = |numbers: &[i64]| numbers.iter().copied().find(|&number| number < 0);
        Err(TypeError(if self.shape.len() != self.strides.len() {
            format!("{} extents but {} strides", self.shape.len(), self.strides.len())
        } else if self.rank() > MAX_RANK {
            format!("{} dimensions; at most {MAX_RANK} are supported", self.rank())
        } else if let Some(extent) = negative(&self.shape) {
            format!("extent {extent} is negative")
        } else if let Some(stride) = negative(&self.strides) {
            // PyTorch has none.
            format!("stride {stride} is negative")
        } else if self.bytes() > MAX_TENSOR_BYTES || self.reach_bytes() > MAX_TENSOR_BYTES {
            format!("{self} spans more than {MAX_TENSOR_BYTES} bytes")
        } else {
            return Ok(());
        }))
    }

    /// Bytes from the first element to the end of the last one, saturating; 0 for an empty tensor.
    pub fn reach_bytes(&self) -> u64 {
        if self.numel() == 0 {
            return 0;
        }
        let mut last = 0u64;
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            let extent = u64::try_from(extent - 1).unwrap_or(0);
            last = last.saturating_add(extent.saturating_mul(stride.unsigned_abs()));
        }
        last.saturating_add(1).saturating_mul(self.dtype.size())
    }
}

/// The product of the extents, saturating; 1 for an empty list, 0 if an extent is negative.
pub fn numel(shape: &[i64]) -> u64 {
    // A zero anywhere makes the product zero even if another factor would saturate it.
    if shape.iter().any(|&extent| extent <= 0) {
        return 0;
    }
    shape.iter().fold(1u64, |product, &extent| product.saturating_mul(extent.unsigned_abs()))
}

/// Row-major strides, as `torch.empty` gives them: extents of 0 count as 1.
pub fn contiguous_strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim].saturating_mul(shape[dim].max(1));
    }
    strides
}

/// `f16[2,3]`; strides follow only where the tensor is not contiguous: `f16[2,3]{1,2}`.
impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: &[i64]| items.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        write!(f, "{}[{}]", self.dtype, list(&self.shape))?;
        if self.strides != contiguous_strides(&self.shape) {
            write!(f, "{{{}}}", list(&self.strides))?;
        }
        Ok(())
    }
}

/// Why a tensor type is no type that the host handles.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TypeError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_saturate_and_zero_wins() {
        let huge = TensorType::contiguous(Dtype::F32, [i64::MAX, i64::MAX]);
        assert_eq!(huge.numel(), u64::MAX);
        assert!(huge.check().is_err_and(|error| error.to_string().contains("spans more than")));
        assert_eq!(TensorType::contiguous(Dtype::F32, [i64::MAX, i64::MAX, 0]).numel(), 0);
        assert_eq!(TensorType::contiguous(Dtype::F32, []).numel(), 1);
    }

    #[test]
    fn strides_of_extent_one_do_not_break_contiguity() {
        let t = TensorType { dtype: Dtype::F32, shape: vec![4, 1, 3], strides: vec![3, 99, 1] };
        assert!(t.is_contiguous());
        let t = TensorType { dtype: Dtype::F32, shape: vec![4, 3], strides: vec![1, 4] };
        assert!(!t.is_contiguous());
        assert_eq!(t.to_string(), "f32[4,3]{1,4}");
        assert_eq!(t.reach_bytes(), 48);
    }
}
