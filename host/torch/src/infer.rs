//! Result types without running: from the meta kernel where one is registered in C++, else from a table.

use crate::bridge::ffi;
use crate::call::{OpError, PreparedCall};
use crate::meta_table;
use crate::tensor::{first_line, from_scalar_type, scalar_type};
use passhost_ir::{Arg, Infer, InferError, OpName, OpTable, TensorType};

/// Infers the types of what ops on the sample list return.
#[derive(Debug, Clone, Copy, Default)]
pub struct MetaInfer;

impl Infer for MetaInfer {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        if OpTable::sample().get(op).is_none() && OpTable::insert().get(op).is_none() {
            return Err(InferError::NotAllowed(op.to_string()));
        }
        for ty in args.iter().flat_map(Arg::values) {
            ty.check().map_err(|error| refused(op, error.to_string()))?;
        }
        if let Some(types) = meta_table::result_types(op, args) {
            return types.map_err(|message| refused(op, message));
        }
        match on_meta(op, args) {
            Ok(types) => Ok(types),
            // The dispatcher's words for an op without a meta kernel.
            Err(message) if message.contains("'Meta' backend") || message.contains("no fake impl or Meta kernel") => {
                Err(InferError::Unknown(op.to_string()))
            }
            Err(message) => Err(refused(op, message)),
        }
    }
}

fn refused(op: &OpName, message: String) -> InferError {
    InferError::Refused { op: op.to_string(), message }
}

/// A tensor without data, freed with this.
struct MetaTensor(usize);

impl MetaTensor {
    fn new(ty: &TensorType) -> Result<MetaTensor, String> {
        ffi::meta_tensor(scalar_type(ty.dtype), &ty.shape, &ty.strides)
            .map(MetaTensor)
            .map_err(|error| first_line(error.what()))
    }

    fn ty(&self) -> Result<TensorType, String> {
        // SAFETY: this owns the live tensor behind the address.
        let (number, shape, strides) =
            unsafe { (ffi::tensor_dtype(self.0), ffi::tensor_sizes(self.0), ffi::tensor_strides(self.0)) };
        let dtype = from_scalar_type(number).ok_or_else(|| format!("element type {number} is not supported"))?;
        Ok(TensorType { dtype, shape, strides })
    }
}

impl Drop for MetaTensor {
    fn drop(&mut self) {
        // SAFETY: the address came from `meta_tensor` or `invoke`, and this is its only owner.
        unsafe { ffi::free_tensor(self.0) };
    }
}

fn on_meta(op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, String> {
    let tensors: Vec<MetaTensor> = args.iter().flat_map(Arg::values).map(MetaTensor::new).collect::<Result<_, _>>()?;
    let call = PreparedCall::on_meta(op, args).map_err(|error: OpError| error.to_string())?;
    let addresses: Vec<usize> = tensors.iter().map(|tensor| tensor.0).collect();
    // SAFETY: the tensors live until the end of this function.
    let results = unsafe { call.call_addresses(&addresses) }.map_err(|error| error.to_string())?;
    let results: Vec<MetaTensor> = results.into_iter().map(MetaTensor).collect();
    results.iter().map(MetaTensor::ty).collect()
}
