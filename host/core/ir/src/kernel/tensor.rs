//! A dense tensor in host memory: what the interpreter reads, and what tests hand to executors.

use super::scalar::{self, Num};
use crate::Dtype;
use half::{bf16, f16};

/// Elements in row-major order, each in little-endian bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Element type; not complex.
    pub dtype: Dtype,
    /// Extent of each dimension.
    pub shape: Vec<i64>,
    /// The elements: their count times [`Dtype::size`] bytes.
    pub data: Vec<u8>,
}

impl Tensor {
    /// A tensor of zeros.
    pub fn zeros(dtype: Dtype, shape: impl Into<Vec<i64>>) -> Tensor {
        let shape = shape.into();
        let bytes = crate::numel(&shape) * dtype.size();
        Tensor { dtype, shape, data: vec![0; bytes as usize] }
    }

    /// A tensor whose element at each row-major position is `element(position)`, rounded or wrapped to the type.
    pub fn from_fn(dtype: Dtype, shape: impl Into<Vec<i64>>, mut element: impl FnMut(usize) -> Num) -> Tensor {
        let mut tensor = Tensor::zeros(dtype, shape);
        for position in 0..tensor.len() {
            tensor.set(position, element(position));
        }
        tensor
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        crate::numel(&self.shape) as usize
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a row-major position.
    ///
    /// # Panics
    /// Past the last element.
    pub fn get(&self, position: usize) -> Num {
        decode(self.dtype, &self.data[position * self.dtype.size() as usize..])
    }

    /// The element at a row-major position as a float.
    pub fn get_f64(&self, position: usize) -> f64 {
        self.get(position).as_f64()
    }

    /// Replaces the element at a row-major position by `value` in the tensor's type.
    ///
    /// # Panics
    /// Past the last element.
    pub fn set(&mut self, position: usize, value: Num) {
        let size = self.dtype.size() as usize;
        let bytes = encode(self.dtype, value);
        self.data[position * size..][..size].copy_from_slice(&bytes[..size]);
    }
}

/// The element that the first bytes encode. A `bool` byte other than 0 comes back as it is, so that a check sees it.
fn decode(dtype: Dtype, bytes: &[u8]) -> Num {
    // Sign and zero extension happen through the widest little-endian word.
    let size = dtype.size() as usize;
    let mut word = [0u8; 8];
    word[..size].copy_from_slice(&bytes[..size]);
    let word = u64::from_le_bytes(word);
    match dtype {
        Dtype::F16 => Num::Float(f16::from_bits(word as u16).to_f64()),
        Dtype::Bf16 => Num::Float(bf16::from_bits(word as u16).to_f64()),
        Dtype::F32 => Num::Float(f32::from_bits(word as u32).into()),
        Dtype::F64 => Num::Float(f64::from_bits(word)),
        Dtype::Bool => Num::Int(word as i64),
        _ => Num::Int(scalar::wrap(dtype, word as i64)),
    }
}

fn encode(dtype: Dtype, value: Num) -> [u8; 8] {
    let word = match (dtype, scalar::cast(dtype, value)) {
        (Dtype::F16, x) => u64::from(f16::from_f64(x.as_f64()).to_bits()),
        (Dtype::Bf16, x) => u64::from(bf16::from_f64(x.as_f64()).to_bits()),
        (Dtype::F32, x) => u64::from((x.as_f64() as f32).to_bits()),
        (Dtype::F64, x) => x.as_f64().to_bits(),
        (_, x) => x.as_i64() as u64,
    };
    word.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_round_trip_in_every_type() {
        for dtype in Dtype::ALL.into_iter().filter(|dtype| !dtype.is_complex()) {
            for value in [0.0, 1.0, -3.0, 0.5, 100.0] {
                let value = scalar::cast(dtype, Num::Float(value));
                let tensor = Tensor::from_fn(dtype, [3], |_| value);
                assert_eq!(tensor.get(2), value, "{dtype}");
            }
        }
        assert_eq!(Tensor::zeros(Dtype::F32, [2, 0]).len(), 0);
        assert_eq!(Tensor::zeros(Dtype::I16, []).len(), 1);
    }
}
