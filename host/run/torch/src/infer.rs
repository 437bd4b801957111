//! Result types without running: from the meta kernel where one is registered in C++, else from a table.

use crate::bridge::ffi;
use crate::call::PreparedCall;
use crate::error::TorchError;
use crate::target::{META, Target};
use crate::tensor::{from_scalar_type, scalar_type};
use passhost_ir::typing::result_types;
use passhost_ir::{Arg, Infer, InferError, OpName, OpTable, TensorType};

/// Infers the types of what ops on the sample list return.
#[derive(Debug, Clone, Copy, Default)]
pub struct MetaInfer;

impl Infer for MetaInfer {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let Some(schema) = OpTable::sample().get(op) else { return Err(InferError::NotAllowed(op.to_string())) };
        let refused = |message: String| InferError::Refused { op: op.to_string(), message };
        schema.check_args(args).map_err(|error| refused(error.to_string()))?;
        if let Some(number) = args.iter().find_map(below_least) {
            return Err(refused(format!("{number} is below {LEAST}, the least number that it takes")));
        }
        let check = |ty: &TensorType| ty.check().map_err(|error| refused(error.to_string()));
        args.iter().flat_map(Arg::values).try_for_each(check)?;
        let meta = |op: &OpName, args: &[Arg<TensorType>]| meta_kernel(op, args).map_err(|error| error.to_string());
        let types = match result_types(schema, args, &meta) {
            Some(answer) => answer.map_err(refused)?,
            None => meta_kernel(op, args).map_err(|error| match error {
                TorchError::NotImplemented(_) => InferError::Unknown(op.to_string()),
                error => refused(error.to_string()),
            })?,
        };
        types.iter().try_for_each(check)?;
        if schema.is_in_place()
            && let (Some(written), Some(Arg::Value(this))) = (types.first(), args.first())
            && written != this
        {
            return Err(refused(format!("it would turn its operand {this} into {written}")));
        }
        Ok(types)
    }
}

/// libtorch takes numbers below this one for references to symbols.
const LEAST: i64 = -(1 << 62);

fn below_least(arg: &Arg<TensorType>) -> Option<i64> {
    match arg {
        Arg::Int(number) => Some(*number).filter(|&number| number < LEAST),
        Arg::Ints(numbers) => numbers.iter().copied().find(|&number| number < LEAST),
        _ => None,
    }
}

/// Asks the meta kernel of an op, whether or not that is on a list: [`TorchError::NotImplemented`] if the dispatcher has none in
/// C++. No elements are ever allocated.
pub(crate) fn meta_kernel(op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, TorchError> {
    let call = PreparedCall::on(op, args, META)?;
    let tensors: Vec<MetaTensor> = args.iter().flat_map(Arg::values).map(MetaTensor::new).collect::<Result<_, _>>()?;
    let addresses: Vec<usize> = tensors.iter().map(|tensor| tensor.0).collect();
    // SAFETY: the tensors live until the end of this function.
    let results = Target::cpu().inference().within(|_| unsafe { call.call_addresses(&addresses) })?;
    let results: Vec<MetaTensor> = results.into_iter().map(MetaTensor).collect();
    results.iter().map(MetaTensor::ty).collect()
}

/// A tensor without data, freed with this.
struct MetaTensor(usize);

impl MetaTensor {
    fn new(ty: &TensorType) -> Result<MetaTensor, TorchError> {
        Ok(MetaTensor(ffi::meta_tensor(scalar_type(ty.dtype), &ty.shape, &ty.strides)?))
    }

    fn ty(&self) -> Result<TensorType, TorchError> {
        // SAFETY: this owns the live tensor behind the address.
        let (number, shape, strides) =
            unsafe { (ffi::tensor_dtype(self.0)?, ffi::tensor_sizes(self.0)?, ffi::tensor_strides(self.0)?) };
        let dtype = from_scalar_type(number).ok_or(TorchError::ElementType(number))?;
        Ok(TensorType { dtype, shape, strides })
    }
}

impl Drop for MetaTensor {
    fn drop(&mut self) {
        // SAFETY: the address came from `meta_tensor` or `invoke`, and this is its only owner.
        unsafe { ffi::free_tensor(self.0) };
    }
}
