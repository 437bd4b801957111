//! An op with its constant arguments, resolved once and called many times.

use crate::bridge::ffi;
use crate::target::{META, Scope, Target};
use crate::tensor::{Tensor, first_line, scalar_type};
use cxx::UniquePtr;
use passhost_ir::{Arg, MemoryFormat, OpName};
use std::fmt;

/// Why an op could not be prepared or called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpError {
    /// It is outside of PyTorch's own namespace.
    #[error("`{0}` is not in the namespace aten")]
    Namespace(String),
    /// A device has no memory left for what was asked.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// libtorch has no kernel for the device.
    #[error("{0}")]
    NotImplemented(String),
    /// It gave a tensor with elements of a type that graphs do not have.
    #[error("it gives elements of c10's type {0}, which graphs do not have")]
    ElementType(i8),
    /// libtorch refused the name, the arguments or the operands.
    #[error("{0}")]
    Torch(String),
}

impl From<cxx::Exception> for OpError {
    fn from(exception: cxx::Exception) -> OpError {
        // The marks that the shim puts before the words of these kinds of exceptions.
        let said = first_line(exception.what().trim_start_matches(['\u{1e}', '\u{1f}']));
        match exception.what().chars().next() {
            Some('\u{1f}') => OpError::OutOfMemory(without_advice(&said)),
            Some('\u{1e}') => OpError::NotImplemented(said),
            _ => OpError::Torch(said),
        }
    }
}

/// What is said of a full GPU, how much was asked for and how much there is, without what follows on settings to try.
fn without_advice(message: &str) -> String {
    let said = message.strip_prefix("CUDA out of memory. ").unwrap_or(message);
    said.split_inclusive(". ").take(2).collect::<String>().trim_end().to_owned()
}

/// An op, looked up, with every argument but its tensors.
pub struct PreparedCall(UniquePtr<ffi::Call>);

// SAFETY: a call holds a handle on the dispatcher's tables, which all threads share, and constants that nobody else has.
unsafe impl Send for PreparedCall {}

impl fmt::Debug for PreparedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PreparedCall")
    }
}

impl PreparedCall {
    /// Looks the op up, for tensors of this target. Arguments stand in schema order, one per schema argument; what stands
    /// for a tensor only marks its place.
    pub fn new<V>(target: &Target, op: &OpName, args: &[Arg<V>]) -> Result<PreparedCall, OpError> {
        PreparedCall::on(op, args, target.number())
    }

    /// The same for tensors without data.
    pub(crate) fn on_meta<V>(op: &OpName, args: &[Arg<V>]) -> Result<PreparedCall, OpError> {
        PreparedCall::on(op, args, META)
    }

    fn on<V>(op: &OpName, args: &[Arg<V>], device: i32) -> Result<PreparedCall, OpError> {
        if !op.name.starts_with("aten::") {
            return Err(OpError::Namespace(op.to_string()));
        }
        let mut call = ffi::prepare(&op.name, &op.overload, device)?;
        for arg in args {
            let call = call.pin_mut();
            match arg {
                Arg::None => call.push_none(),
                Arg::Bool(value) => call.push_bool(*value),
                Arg::Int(value) => call.push_int(*value),
                Arg::Float(value) => call.push_float(*value),
                Arg::Str(value) => call.push_string(value),
                Arg::Dtype(value) => call.push_int(i64::from(scalar_type(*value))),
                Arg::MemoryFormat(value) => call.push_int(match value {
                    MemoryFormat::Contiguous => 0,
                    MemoryFormat::Preserve => 1,
                    MemoryFormat::ChannelsLast => 2,
                    MemoryFormat::ChannelsLast3d => 3,
                }),
                // The number of the strided layout.
                Arg::Strided => call.push_int(0),
                Arg::Device => call.push_device(),
                Arg::Value(_) => call.push_tensor(),
                Arg::Values(values) => call.push_tensors(values.len()),
                Arg::OptionalValues(values) => {
                    call.push_optional_tensors(&values.iter().map(Option::is_some).collect::<Vec<_>>())
                }
                Arg::Ints(values) => call.push_ints(values),
                Arg::Floats(values) => call.push_floats(values),
                Arg::Bools(values) => call.push_bools(values),
            }?;
        }
        call.finish()?;
        Ok(PreparedCall(call))
    }

    /// Calls the op with these tensors, in the order of their places. A returned list is flattened.
    pub fn call(&self, scope: &Scope, tensors: &[&Tensor]) -> Result<Vec<Tensor>, OpError> {
        let addresses: Vec<usize> = tensors.iter().map(|tensor| tensor.address()).collect();
        // SAFETY: the tensors are borrowed for the duration of the call.
        let results = unsafe { self.0.invoke(&addresses) }?;
        let mut taken = Vec::with_capacity(results.len());
        let mut refused = None;
        // All are taken over, though one is refused, so that each is freed.
        for address in results {
            // SAFETY: the results are new objects that nobody else owns.
            match unsafe { Tensor::from_op(address, scope.target) } {
                Ok(tensor) => taken.push(tensor),
                Err(error) => refused = Some(error),
            }
        }
        refused.map_or(Ok(taken), Err)
    }

    /// The same on bare addresses, for tensors without data.
    ///
    /// # Safety
    ///
    /// Every element is the address of a live `at::Tensor`. The caller owns the results.
    pub(crate) unsafe fn call_addresses(&self, addresses: &[usize]) -> Result<Vec<usize>, OpError> {
        // SAFETY: by this function's contract.
        Ok(unsafe { self.0.invoke(addresses) }?)
    }
}

#[cfg(test)]
mod tests {
    use super::without_advice;

    #[test]
    fn a_full_gpu_is_described_without_advice() {
        let message = "CUDA out of memory. Tried to allocate 148.00 MiB. GPU 0 has a total capacity of 139.80 GiB of which \
                       13.56 MiB is free. Process 449 has 139.11 GiB memory in use. If reserved but unallocated memory is";
        let expected =
            "Tried to allocate 148.00 MiB. GPU 0 has a total capacity of 139.80 GiB of which 13.56 MiB is free.";
        assert_eq!(without_advice(message), expected);
    }
}
