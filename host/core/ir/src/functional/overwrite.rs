//! In-place ops as ops that return what they would have written.

use super::draft::with_operands;
use super::error::{FunctionalError, MAX_VIEWS};
use super::layout::{broadcasts, expanded_strides};
use super::memory::{MemoryWrite, ProgramMemory, ValueRead};
use super::region::{are_disjoint, elements_are_distinct};
use super::result::{functional_schema, functional_type};
use super::view::ViewStep;
use crate::ops::Puts;
use crate::{Arg, Node, NodeKind, OpRow, OpTable, Schema, TensorType, ValueId};

/// A node that writes to its first operand.
pub(super) struct InPlace<'a> {
    node: &'a Node,
    position: usize,
    /// What it calls.
    pub(super) schema: &'a Schema,
    args: &'a [Arg],
    /// What it overwrites.
    pub(super) target: ValueId,
    result: ValueId,
}

impl<'a> InPlace<'a> {
    /// The node at a position of the program, if it writes.
    pub(super) fn of(node: &'a Node, position: usize, ops: &'a OpTable) -> Option<InPlace<'a>> {
        let NodeKind::Aten { op, args } = &node.kind else { return None };
        let schema = ops.get(op).filter(|schema| schema.is_in_place())?;
        let target = args.iter().flat_map(Arg::values).next().copied()?;
        let &[result] = &node.outputs[..] else { return None };
        Some(InPlace { node, position, schema, args, target, result })
    }
}

impl ProgramMemory<'_> {
    /// Adds what an in-place node calculates. Says whether it may run in place again.
    pub(super) fn overwrite(&mut self, write: &InPlace<'_>, ops: &OpTable) -> Result<bool, FunctionalError> {
        let InPlace { node, target, result, .. } = *write;
        let no_counterpart = || {
            let op = &write.schema.op;
            FunctionalError(format!(
                "node {} calls `{op}`, for which no op without the `_` takes the same arguments",
                node.id
            ))
        };
        let counterpart = &functional_schema(write.schema, ops).ok_or_else(no_counterpart)?.op;
        let done = MemoryWrite { position: write.position, target };
        self.check_overlap(node, done)?;
        let mut operands = self.operands(node)?;
        let tensor = self.tensors.tensor(target);
        let current = self.refresh(tensor, ValueRead { node: Some(node.id), value: target })?;
        for (operand, value) in operands.iter_mut().zip(node.operands()) {
            if self.tensors.tensor(value) == tensor {
                *operand = current;
            }
        }
        let leads_back = self.leads_back(tensor);
        if OpRow::of(counterpart).is_some_and(|row| row.puts == Some(Puts::Whole))
            && leads_back == Some(true)
            && let Some(&source) = operands.get(1)
            && broadcasts(&self.draft.ty(source).shape, &self.ty(tensor).shape)
        {
            let value = self.fitted(source, self.ty(tensor));
            self.write(tensor, value, done, false);
            return Ok(false);
        }
        let wanted = self.ty(tensor);
        let found = functional_type(self.program, counterpart, write.args, wanted);
        let convert = found.strides != wanted.strides && leads_back.is_none();
        let calculated = if convert || found.dtype != wanted.dtype { self.draft.value(found.clone()) } else { result };
        self.draft.set_type(calculated, found.clone());
        let args = write.args.to_vec();
        let kind = with_operands(&NodeKind::Aten { op: counterpart.clone(), args }, &operands);
        self.draft.graph.nodes.push(Node { id: node.id, kind, outputs: vec![calculated] });
        if convert {
            self.draft.convert_into(calculated, current, result);
        } else if calculated != result {
            self.draft.cast_into(calculated, wanted.dtype, result);
        }
        self.write(tensor, result, done, true);
        let is_written_back = leads_back == Some(true) && calculated == result;
        Ok(found == *wanted || (is_written_back && found.dtype == wanted.dtype && found.shape == wanted.shape))
    }

    /// Whether a write to a tensor can be put back into the one that it is, through however many views, a view of; and
    /// whether it is a part of that. `None` where it cannot, or the tensor is no view.
    fn leads_back(&self, tensor: usize) -> Option<bool> {
        let mut is_part = false;
        let mut current = tensor;
        for _ in 0..MAX_VIEWS {
            let Some(view) = &self.tensors.get(current).view else { break };
            let whole = self.ty(view.of);
            let leads_on = match view.step {
                ViewStep::Addressed | ViewStep::Other => false,
                ViewStep::Spread => whole.numel() == self.ty(current).numel(),
                _ => true,
            };
            if !leads_on || !elements_are_distinct(whole) {
                return None;
            }
            is_part |= view.step.is_part();
            current = view.of;
        }
        (current != tensor && self.tensors.get(current).view.is_none()).then_some(is_part)
    }

    /// What is copied into a tensor, in its element type and shape.
    fn fitted(&mut self, source: ValueId, ty: &TensorType) -> ValueId {
        let mut value = source;
        if self.draft.ty(value).dtype != ty.dtype {
            value = self.draft.cast(value, ty.dtype);
        }
        let found = self.draft.ty(value);
        if found.shape != ty.shape {
            let strides = expanded_strides(found, &ty.shape);
            let expanded = TensorType { dtype: ty.dtype, shape: ty.shape.clone(), strides };
            let args = vec![Arg::Value(value), Arg::Ints(ty.shape.clone()), Arg::Bool(false)];
            value = self.draft.call("aten::expand", args, expanded);
        }
        value
    }

    /// Refuses writes whose result would depend on the order in which elements are read and written. PyTorch refuses the
    /// obvious cases, too.
    fn check_overlap(&self, node: &Node, write: MemoryWrite) -> Result<(), FunctionalError> {
        let tensor = self.tensors.tensor(write.target);
        let (ty, place) = (self.ty(tensor), self.tensors.get(tensor));
        if !elements_are_distinct(ty) {
            return Err(FunctionalError(format!(
                "{}, a {ty}, several of whose elements may lie in one place; write to a clone of it",
                self.overwriting(write)
            )));
        }
        for value in node.operands() {
            let other = self.tensors.tensor(value);
            let (other_type, other_place) = (self.ty(other), self.tensors.get(other));
            if other == tensor || other_place.root != place.root {
                continue;
            }
            let apart = place
                .offset
                .zip(other_place.offset)
                .is_some_and(|(a, b)| (a == b && ty == other_type) || are_disjoint((ty, a), (other_type, b)));
            if !apart {
                let (write, value) = (self.overwriting(write), self.name_of(value));
                return Err(FunctionalError(format!(
                    "{write} while it reads `%{value}`, which may share part of its memory; pass it a clone of `%{value}`"
                )));
            }
        }
        Ok(())
    }
}
