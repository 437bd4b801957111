//! Tensors in memory as somebody else lays them out, between bytes that nobody may touch.

use crate::random::Random;
use passhost_ir::contiguous_strides;
use passhost_ir::kernel::Tensor;
use passhost_kernels::BoundInput;

/// Words before and after a tensor.
const MARGIN: usize = 16;

/// Strides of a tensor of this shape: contiguous, or with the dimensions in another order and gaps between.
pub fn strides(shape: &[i64], random: &mut Random) -> Vec<i64> {
    if random.chance(60) {
        return contiguous_strides(shape);
    }
    let mut order: Vec<usize> = (0..shape.len()).rev().collect();
    for last in (1..order.len()).rev() {
        if random.chance(50) {
            let other = random.below(last + 1);
            order.swap(last, other);
        }
    }
    let (mut strides, mut next) = (vec![0; shape.len()], *random.pick(&[1, 1, 1, 2]));
    for dim in order {
        strides[dim] = next;
        // A gap that keeps rows aligned, or one that does not.
        next = next * shape[dim].max(1) + *random.pick(&[0, 0, 0, 1, 2, 4, 8]);
    }
    strides
}

/// A tensor with these strides. What lies around and between its elements is `filler`.
pub struct Stored {
    words: Vec<u64>,
    filler: u64,
    bytes: usize,
}

impl Stored {
    /// A tensor with its elements in place.
    pub fn new(tensor: &Tensor, strides: &[i64], filler: u64) -> Stored {
        let size = tensor.dtype.size() as usize;
        let reach = tensor.shape.iter().zip(strides).map(|(extent, stride)| (extent - 1) * stride).sum::<i64>() + 1;
        let elements = if tensor.is_empty() { 0 } else { reach as usize };
        let mut stored = Stored::room(elements * size, filler);
        let mut bytes: Vec<u8> = stored.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        for position in 0..tensor.len() {
            let (mut rest, mut at) = (position as i64, 0);
            for (extent, stride) in tensor.shape.iter().zip(strides).rev() {
                at += rest % extent * stride;
                rest /= extent;
            }
            let at = 8 * MARGIN + at as usize * size;
            bytes[at..at + size].copy_from_slice(&tensor.data[position * size..][..size]);
        }
        for (word, bytes) in stored.words.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut whole = [0; 8];
            whole.copy_from_slice(bytes);
            *word = u64::from_ne_bytes(whole);
        }
        stored
    }

    /// Room for so many bytes.
    pub fn room(bytes: usize, filler: u64) -> Stored {
        Stored { words: vec![filler; bytes.div_ceil(8) + 2 * MARGIN], filler, bytes }
    }

    /// As an input of a kernel.
    pub fn bound<'a>(&'a self, tensor: &'a Tensor, strides: &'a [i64]) -> BoundInput<'a> {
        let pointer = self.words[MARGIN..].as_ptr().cast();
        BoundInput { pointer, bytes: self.bytes, dtype: tensor.dtype, shape: &tensor.shape, strides }
    }

    /// Where the bytes begin, to be written, and how many there are.
    pub fn place(&mut self) -> (*mut u8, usize) {
        (self.words[MARGIN..].as_mut_ptr().cast(), self.bytes)
    }

    /// The bytes, if what lies around them is as it was.
    pub fn contents(&self) -> Option<Vec<u8>> {
        let all: Vec<u8> = self.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let filler = self.filler.to_ne_bytes();
        let (start, end) = (8 * MARGIN, 8 * MARGIN + self.bytes);
        let around = (0..start).chain(end..all.len());
        around.into_iter().all(|at| all[at] == filler[at % 8]).then(|| all[start..end].to_vec())
    }

    /// All words, to see that none of them changes.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}
