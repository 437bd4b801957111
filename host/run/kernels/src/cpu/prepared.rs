//! A kernel ready for storage of one layout, wherever it lies.

use super::bind::Binding;
use super::{CpuKernel, ThreadPool};
use crate::access::{BindError, BoundInput, BoundOutput};
use std::sync::Arc;

/// A kernel ready for tensors of one layout, wherever they lie. It can go to another thread.
#[derive(Debug)]
pub struct PreparedRun {
    kernel: Arc<CpuKernel>,
    binding: Binding,
    /// Bytes per element of each input, then of each output: what its address is a multiple of.
    alignments: Box<[u64]>,
}

impl PreparedRun {
    pub(super) fn new(
        kernel: &Arc<CpuKernel>,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
    ) -> Result<PreparedRun, BindError> {
        let (merged, binding) = kernel.bind(inputs, outputs)?;
        let declared = kernel.kernel();
        let alignments = declared
            .inputs
            .iter()
            .map(|input| input.dtype.size())
            .chain(declared.stores.iter().map(|store| declared.body[store.value.0 as usize].dtype.size()))
            .collect();
        Ok(PreparedRun { kernel: merged.unwrap_or(kernel).clone(), binding, alignments })
    }

    /// Computes the outputs from the inputs at these addresses, inputs first, on as many of `threads` as the work is worth.
    /// False, and nothing is computed, if an address is no multiple of its element size. After the first time it allocates
    /// nothing.
    ///
    /// # Safety
    /// The tensors have the types that it was prepared for, strides included. Outputs overlap nothing. Until this returns,
    /// inputs can be read and are written to by nobody, and outputs can be written and are accessed by nobody else.
    pub unsafe fn run(&mut self, threads: &dyn ThreadPool, addresses: &[u64]) -> bool {
        let aligned = |(address, size): (&u64, &u64)| address.is_multiple_of(*size);
        if addresses.len() != self.alignments.len() || !addresses.iter().zip(&self.alignments).all(aligned) {
            return false;
        }
        let (inputs, outputs) = addresses.split_at(self.kernel.kernel().inputs.len());
        for (view, address) in self.binding.inputs.iter_mut().zip(inputs) {
            // SAFETY: the address is aligned, and the caller vouches for a tensor of the type that the view was made for.
            unsafe { view.lie_at(*address as *const u8) };
        }
        for (store, address) in self.binding.stores.iter_mut().zip(outputs) {
            // SAFETY: as above.
            unsafe { store.view.lie_at(*address as *mut u8) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.binding.run(&self.kernel, threads) };
        true
    }
}
