//! An op with its constant arguments, resolved once and called many times.

use crate::bridge::ffi;
use crate::error::TorchError;
use crate::target::{Scope, Target};
use crate::tensor::{Tensor, scalar_type};
use cxx::UniquePtr;
use passhost_ir::{Arg, OpName};

/// An op, looked up, with every argument but its tensors.
pub struct PreparedCall(UniquePtr<ffi::Call>);

// SAFETY: a call holds a handle on the dispatcher's tables, which all threads share, and constants that nobody else has.
unsafe impl Send for PreparedCall {}

impl PreparedCall {
    /// Looks the op up, for tensors of this target. Arguments stand in schema order, one per schema argument; what stands
    /// for a tensor only marks its place.
    pub fn new<V>(target: &Target, op: &OpName, args: &[Arg<V>]) -> Result<PreparedCall, TorchError> {
        PreparedCall::on(op, args, target.number())
    }

    /// The same for the device of this number.
    pub(crate) fn on<V>(op: &OpName, args: &[Arg<V>], device: i32) -> Result<PreparedCall, TorchError> {
        if !op.name.starts_with("aten::") {
            return Err(TorchError::Torch(format!("`{op}` is not in the namespace aten")));
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
                // The order of the enum is that of c10's.
                Arg::MemoryFormat(value) => call.push_int(*value as i64),
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

    /// The same, and products of matrices and convolutions on a GPU are prepared for the layout of their operands: one call of
    /// cuBLAS or cuDNN, as ATen makes it, without what ATen does before. Until it has given the same bits twice, and wherever it
    /// does not, ATen is called. So are ops of one tensor whose results lie in its memory: they are made anew without ATen.
    pub fn with_prepared_layouts(mut self) -> Result<PreparedCall, TorchError> {
        self.0.pin_mut().prepare_layouts()?;
        Ok(self)
    }

    /// Calls the op with these tensors, in the order of their places. A returned list is flattened.
    pub fn call(&self, scope: &Scope, tensors: &[&Tensor]) -> Result<Vec<Tensor>, TorchError> {
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
    pub(crate) unsafe fn call_addresses(&self, addresses: &[usize]) -> Result<Vec<usize>, TorchError> {
        // SAFETY: by this function's contract.
        Ok(unsafe { self.0.invoke(addresses) }?)
    }
}
