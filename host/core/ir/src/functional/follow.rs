//! From a tensor to its views, and back.

use super::FunctionalError;
use super::memory::{ProgramMemory, ValueRead};
use super::region::elements_are_distinct;
use super::tensors::TensorView;
use super::view::ViewStep;
use crate::alias::view_strides;
use crate::{Arg, NodeKind, TensorType, ValueId, contiguous_strides};

impl ProgramMemory<'_> {
    /// Makes a view once more of what it is a view of, which is up to date.
    pub(super) fn view_again(
        &mut self,
        tensor: usize,
        view: &TensorView,
        read: ValueRead,
    ) -> Result<ValueId, FunctionalError> {
        let (ty, whole) = (self.ty(tensor).clone(), Arg::Value(self.value(view.of)));
        let optional = |index: Option<i64>| index.map_or(Arg::None, Arg::Int);
        let (op, args) = match &view.step {
            &ViewStep::Slice { dim, start, end, step } => {
                ("aten::slice.Tensor", vec![whole, Arg::Int(dim), optional(start), optional(end), Arg::Int(step)])
            }
            &ViewStep::Select { dim, index } => ("aten::select.int", vec![whole, Arg::Int(dim), Arg::Int(index)]),
            ViewStep::Spread => ("aten::expand", vec![whole, Arg::Ints(ty.shape.clone()), Arg::Bool(false)]),
            // Addresses count from the beginning of the memory, and only what is no view is known to begin there.
            ViewStep::Addressed if self.tensors.get(view.of).view.is_some() => return Err(self.lost(tensor, read)),
            step => {
                let made_by = self.tensors.get(tensor).made_by.and_then(|position| self.program.nodes.get(position));
                match made_by {
                    Some(node) if node.operands().len() == 1 && node.outputs.len() == 1 => {
                        let value = self.value(view.of);
                        let kind = node.kind.map_values(|_| value);
                        return Ok(self.draft.node(kind, ty));
                    }
                    Some(_) if *step == ViewStep::Shape => ("aten::view", vec![whole, Arg::Ints(ty.shape.clone())]),
                    _ => return Err(self.lost(tensor, read)),
                }
            }
        };
        Ok(self.draft.call(op, args, ty))
    }

    fn lost(&self, tensor: usize, read: ValueRead) -> FunctionalError {
        let write = self.last_write(tensor, read);
        self.shared(write, ValueRead { value: self.name(tensor), ..read })
    }

    /// The tensor that `tensor` is a view of, with `value` where the view shows it. The result may have other strides
    /// than the tensor has.
    pub(super) fn scattered(
        &mut self,
        tensor: usize,
        view: &TensorView,
        value: ValueId,
        read: ValueRead,
    ) -> Result<ValueId, FunctionalError> {
        let ty = self.ty(view.of).clone();
        if !elements_are_distinct(&ty) {
            return Err(self.not_writable(view.of, read));
        }
        let whole = self.value(view.of);
        let operands = || vec![Arg::Value(whole), Arg::Value(value)];
        let optional = |index: Option<i64>| index.map_or(Arg::None, Arg::Int);
        let with = |rest: &[Arg]| [&operands()[..], rest].concat();
        Ok(match &view.step {
            &ViewStep::Slice { dim, start, end, step } => {
                let args = with(&[Arg::Int(dim), optional(start), optional(end), Arg::Int(step)]);
                self.draft.scatter("aten::slice_scatter", args, ty)
            }
            &ViewStep::Select { dim, index } => {
                self.draft.scatter("aten::select_scatter", with(&[Arg::Int(dim), Arg::Int(index)]), ty)
            }
            ViewStep::Permute(order) => self.permuted_back(value, order),
            ViewStep::Shape => self.reshaped(value, &ty.shape),
            ViewStep::Spread if self.ty(tensor).numel() == ty.numel() => self.reshaped(value, &ty.shape),
            ViewStep::Spread | ViewStep::Addressed | ViewStep::Other => return Err(self.not_writable(tensor, read)),
        })
    }

    /// The dimensions of a value in the order they had before `order` was applied to them.
    fn permuted_back(&mut self, value: ValueId, order: &[usize]) -> ValueId {
        let from = self.draft.ty(value);
        let mut dims = vec![0; order.len()];
        let mut ty = from.clone();
        for (place, &dim) in order.iter().enumerate() {
            dims[dim] = place as i64;
            ty.shape[dim] = from.shape[place];
            ty.strides[dim] = from.strides[place];
        }
        self.draft.call("aten::permute", vec![Arg::Value(value), Arg::Ints(dims)], ty)
    }

    /// The elements of a value in another shape: a view of it where there is one.
    fn reshaped(&mut self, value: ValueId, shape: &[i64]) -> ValueId {
        let from = self.draft.ty(value);
        let view = view_strides(from, shape);
        let op = if view.is_some() { "aten::view" } else { "aten::reshape" };
        let strides = view.unwrap_or_else(|| contiguous_strides(shape));
        let ty = TensorType { dtype: from.dtype, shape: shape.to_vec(), strides };
        self.draft.call(op, vec![Arg::Value(value), Arg::Ints(shape.to_vec())], ty)
    }

    /// Refuses a call that picks elements by address out of memory that is no longer where it was.
    pub(super) fn check_addressed(&self, kind: &NodeKind, read: ValueRead) -> Result<(), FunctionalError> {
        let tensor = self.tensors.tensor(read.value);
        let Some(view) = &self.tensors.get(tensor).view else { return Ok(()) };
        let moved = self.is_written(tensor) && self.tensors.get(view.of).view.is_some();
        let by_address = matches!(kind, NodeKind::Aten { .. }) && view.step == ViewStep::Addressed;
        if moved && by_address { Err(self.lost(tensor, read)) } else { Ok(()) }
    }
}
