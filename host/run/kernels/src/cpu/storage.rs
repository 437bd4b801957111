//! Storage for tests: tensors laid out with strides, and kernels run on them.

use super::{CpuKernel, ThreadPool};
use crate::access::{BindError, BoundInput, BoundOutput};
use passhost_ir::kernel::Tensor;
use passhost_ir::{Dtype, contiguous_strides};

/// A tensor in storage of its own, aligned to 8 bytes.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) words: Vec<u64>,
    pub(super) bytes: usize,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<i64>,
    pub(super) strides: Vec<i64>,
}

impl Stored {
    /// Row-major, without gaps.
    pub(super) fn dense(tensor: &Tensor) -> Stored {
        Stored::strided(tensor, contiguous_strides(&tensor.shape))
    }

    /// With these strides. Where one is 0, elements along that dimension must be equal.
    pub(super) fn strided(tensor: &Tensor, strides: Vec<i64>) -> Stored {
        let size = tensor.dtype.size() as usize;
        let reach = tensor.shape.iter().zip(&strides).map(|(extent, stride)| (extent - 1) * stride).sum::<i64>() + 1;
        let elements = if tensor.is_empty() { 0 } else { reach as usize };
        let mut bytes = vec![0xa5; elements * size];
        for position in 0..tensor.len() {
            let (mut rest, mut at) = (position as i64, 0);
            for (extent, stride) in tensor.shape.iter().zip(&strides).rev() {
                at += rest % extent * stride;
                rest /= extent;
            }
            bytes[at as usize * size..][..size].copy_from_slice(&tensor.data[position * size..][..size]);
        }
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        });
        Stored { words: words.collect(), bytes: bytes.len(), dtype: tensor.dtype, shape: tensor.shape.clone(), strides }
    }

    pub(super) fn bound(&self) -> BoundInput<'_> {
        BoundInput {
            pointer: self.words.as_ptr().cast(),
            bytes: self.bytes,
            dtype: self.dtype,
            shape: &self.shape,
            strides: &self.strides,
        }
    }
}

/// Runs a kernel; returns the outputs' bytes. They start as garbage, between guards that must survive.
pub(super) fn run(kernel: &CpuKernel, inputs: &[Stored], threads: &dyn ThreadPool) -> Result<Vec<Vec<u8>>, BindError> {
    const GUARD: u64 = 0xfeed_face_cafe_beef;
    let sizes: Vec<usize> =
        kernel.kernel().output_types().iter().map(|ty| (ty.numel() * ty.dtype.size()) as usize).collect();
    let mut outputs: Vec<Vec<u64>> = sizes.iter().map(|size| vec![GUARD; size.div_ceil(8) + 2]).collect();
    let bound_inputs: Vec<BoundInput<'_>> = inputs.iter().map(Stored::bound).collect();
    let bound_outputs: Vec<BoundOutput> = outputs
        .iter_mut()
        .zip(&sizes)
        .map(|(words, bytes)| BoundOutput { pointer: words[1..].as_mut_ptr().cast(), bytes: *bytes })
        .collect();
    // SAFETY: the storage outlives the run, the outputs are borrowed mutably until then, and nobody else has them.
    unsafe { kernel.run(&bound_inputs, &bound_outputs, threads) }?;
    let results = outputs.iter().zip(&sizes).map(|(words, size)| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let guard: Vec<u8> = std::iter::repeat_n(GUARD.to_ne_bytes(), 2).flatten().collect();
        assert_eq!(bytes[..8], guard[..8], "the guard before an output was overwritten");
        assert_eq!(
            bytes[8 + size..],
            guard[size % 8..][..bytes.len() - 8 - size],
            "the guard after an output was overwritten"
        );
        bytes[8..8 + size].to_vec()
    });
    Ok(results.collect())
}
