//! A graph made ready to run many times: ops resolved, kernels compiled, memory freed at each value's last use.

use crate::alias::{mutated_inputs, reusable};
use crate::device::{Compiled, Device};
use passhost_ir::{Arg, Dtype, Graph, Node, NodeId, NodeKind, OpName, TensorType, ValueId};
use passhost_protocol::device::{ReferenceError, RewriteError};
use passhost_torch::{PreparedCall, Tensor};
use std::collections::HashMap;
use std::rc::Rc;

/// A runnable graph.
pub struct Program {
    device: Rc<Device>,
    steps: Vec<Step>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    slots: usize,
    /// Inputs that a run overwrites, by position: whoever runs this restores them.
    pub mutated_inputs: Vec<usize>,
}

struct Step {
    node: NodeId,
    name: String,
    action: Action,
    outputs: Vec<usize>,
    /// Types that the outputs must have; empty where they are yet to be found out.
    declared: Vec<TensorType>,
    /// Values that nobody reads after this step.
    last_uses: Vec<usize>,
}

enum Action {
    /// An op and the slots of its tensor arguments, in order.
    Call(PreparedCall, Vec<usize>),
    /// A kernel, the slots of its inputs, and the types of its outputs.
    Kernel(Compiled, Vec<usize>, Vec<TensorType>),
}

/// A step that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepError {
    /// Which node.
    pub node: NodeId,
    /// Its op, or `kernel`.
    pub op: String,
    /// What was said.
    pub message: String,
    /// Declared and found type, where a result has another type than declared.
    pub types: Option<(String, String)>,
}

impl From<StepError> for RewriteError {
    fn from(error: StepError) -> RewriteError {
        match error.types {
            Some((declared, found)) => RewriteError::WrongType { node: error.node, op: error.op, declared, found },
            None => RewriteError::Op { node: error.node, op: error.op, message: error.message },
        }
    }
}

/// What libtorch says when a GPU is full, without its advice.
pub fn out_of_memory(message: &str) -> Option<String> {
    let (_, said) = message.split_once("CUDA out of memory. ")?;
    Some(said.split_inclusive(". ").take(2).collect::<String>().trim_end().to_owned())
}

impl From<StepError> for ReferenceError {
    fn from(error: StepError) -> ReferenceError {
        match out_of_memory(&error.message) {
            Some(message) => ReferenceError::Memory { message },
            None => ReferenceError::Op { node: error.node, op: error.op, message: error.message },
        }
    }
}

/// What a program is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The reference: types are found out, in-place ops stay.
    Reference,
    /// The reference in double precision: wherever an op names a narrower float type, it gets `f64`.
    Truth,
    /// A rewrite: every result must have the declared type.
    Rewrite,
}

impl Program {
    /// Resolves ops and compiles kernels. `in_place` names nodes that overwrite their first operand where nobody else
    /// reads it.
    pub fn compile(
        graph: &Graph,
        mode: Mode,
        in_place: &HashMap<NodeId, OpName>,
        device: &Rc<Device>,
    ) -> Result<Program, StepError> {
        let mut last_use: HashMap<ValueId, usize> = HashMap::new();
        for (position, node) in graph.nodes.iter().enumerate() {
            for value in node.operands().into_iter().chain(node.outputs.iter().copied()) {
                last_use.insert(value, position);
            }
        }
        for value in graph.outputs.iter().chain(&graph.inputs) {
            last_use.insert(*value, usize::MAX);
        }
        let reusable = reusable(graph);
        let mut steps = Vec::with_capacity(graph.nodes.len());
        for (position, node) in graph.nodes.iter().enumerate() {
            let name = name_of(node);
            let failed = |message: String| StepError { node: node.id, op: name.clone(), message, types: None };
            let action = match &node.kind {
                NodeKind::Aten { op, args } => {
                    let op = in_place.get(&node.id).filter(|_| reusable.contains(&node.id)).unwrap_or(op);
                    let args: Vec<Arg> = args.iter().map(|arg| widened(arg, mode)).collect();
                    let operands = args.iter().flat_map(Arg::values).map(|value| value.index()).collect();
                    let call = PreparedCall::new(op, &args).map_err(|error| failed(error.to_string()))?;
                    Action::Call(call, operands)
                }
                NodeKind::Kernel { kernel, inputs } => {
                    let compiled = device.compile(kernel).map_err(failed)?;
                    let inputs = inputs.iter().map(|value| value.index()).collect();
                    Action::Kernel(compiled, inputs, kernel.output_types())
                }
            };
            let mut last_uses: Vec<usize> = node
                .operands()
                .iter()
                .chain(&node.outputs)
                .filter(|value| last_use.get(value) == Some(&position))
                .map(|value| value.index())
                .collect();
            last_uses.sort_unstable();
            last_uses.dedup();
            steps.push(Step {
                node: node.id,
                name,
                action,
                outputs: node.outputs.iter().map(|value| value.index()).collect(),
                declared: match mode {
                    Mode::Rewrite => node.outputs.iter().map(|&value| graph.ty(value).clone()).collect(),
                    Mode::Reference | Mode::Truth => Vec::new(),
                },
                last_uses,
            });
        }
        Ok(Program {
            device: device.clone(),
            steps,
            inputs: graph.inputs.iter().map(|value| value.index()).collect(),
            outputs: graph.outputs.iter().map(|value| value.index()).collect(),
            slots: graph.values.len(),
            mutated_inputs: mutated_inputs(graph),
        })
    }

    /// Runs once. One tensor per input; returns one per output.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, StepError> {
        self.run_observed(inputs, |_, _| ())
    }

    /// As [`Program::run`], calling `observe` with the slot and the tensor of each value as soon as it exists.
    pub fn run_observed(
        &self,
        inputs: &[Tensor],
        observe: impl FnMut(usize, &Tensor),
    ) -> Result<Vec<Tensor>, StepError> {
        self.run_steps(inputs, true, observe)
    }

    /// As [`Program::run`] for timed runs: takes for granted the types that a run before found right, and waits for the
    /// device.
    pub fn run_timed(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, StepError> {
        let outputs = self.run_steps(inputs, false, |_, _| ())?;
        self.finish()?;
        Ok(outputs)
    }

    /// Waits for the device. An error that shows here is that of a step before.
    pub fn finish(&self) -> Result<(), StepError> {
        let last = self.steps.last().map_or(NodeId(0), |step| step.node);
        let failed = |message| StepError { node: last, op: "or a node before".into(), message, types: None };
        self.device.synchronize().map_err(failed)
    }

    fn run_steps(
        &self,
        inputs: &[Tensor],
        check_types: bool,
        mut observe: impl FnMut(usize, &Tensor),
    ) -> Result<Vec<Tensor>, StepError> {
        let mut slots: Vec<Option<Tensor>> = Vec::with_capacity(self.slots);
        slots.resize_with(self.slots, || None);
        for (&slot, tensor) in self.inputs.iter().zip(inputs) {
            observe(slot, tensor);
            slots[slot] = Some(tensor.shallow_clone());
        }
        for step in &self.steps {
            let results = step.run(&self.device, &slots)?;
            for (index, (&slot, tensor)) in step.outputs.iter().zip(results).enumerate() {
                if let Some(declared) = step.declared.get(index).filter(|_| check_types) {
                    step.check_type(declared, &tensor)?;
                }
                observe(slot, &tensor);
                slots[slot] = Some(tensor);
            }
            for &slot in &step.last_uses {
                slots[slot] = None;
            }
        }
        let missing = || StepError {
            node: NodeId(0),
            op: "return".into(),
            message: "an output was never computed; this is a bug of passhost".into(),
            types: None,
        };
        self.outputs.iter().map(|&slot| slots[slot].as_ref().map(Tensor::shallow_clone).ok_or_else(missing)).collect()
    }
}

impl Step {
    fn run(&self, device: &Device, slots: &[Option<Tensor>]) -> Result<Vec<Tensor>, StepError> {
        let operand = |&slot: &usize| {
            slots[slot].as_ref().ok_or_else(|| self.failed("an operand was freed too early; this is a bug of passhost"))
        };
        match &self.action {
            Action::Call(call, operands) => {
                let operands: Vec<&Tensor> = operands.iter().map(operand).collect::<Result<_, _>>()?;
                let results = call.call(&operands).map_err(|error| self.failed(error))?;
                if results.len() != self.outputs.len() {
                    return Err(self.failed(format!("{} results, expected {}", results.len(), self.outputs.len())));
                }
                Ok(results)
            }
            Action::Kernel(kernel, inputs, types) => {
                let inputs: Vec<&Tensor> = inputs.iter().map(operand).collect::<Result<_, _>>()?;
                device.run(kernel, &inputs, types).map_err(|error| self.failed(error))
            }
        }
    }

    fn failed(&self, message: impl std::fmt::Display) -> StepError {
        StepError { node: self.node, op: self.name.clone(), message: message.to_string(), types: None }
    }

    /// Strides of dimensions of extent 1 are free, and a rewrite's outputs compare by logical index.
    fn check_type(&self, declared: &TensorType, tensor: &Tensor) -> Result<(), StepError> {
        let found = tensor.ty();
        if found.dtype == declared.dtype && found.shape == declared.shape {
            return Ok(());
        }
        Err(StepError { types: Some((declared.to_string(), found.to_string())), ..self.failed("wrong type") })
    }
}

fn name_of(node: &Node) -> String {
    match &node.kind {
        NodeKind::Aten { op, .. } => op.to_string(),
        NodeKind::Kernel { .. } => "kernel".into(),
    }
}

/// The argument as the mode wants it: in double precision, an op that names a narrower float type means `f64`.
fn widened(arg: &Arg, mode: Mode) -> Arg {
    match arg {
        Arg::Dtype(dtype) if mode == Mode::Truth && dtype.is_float() => Arg::Dtype(Dtype::F64),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::out_of_memory;

    #[test]
    fn a_full_gpu_is_told_from_other_errors_in_two_sentences() {
        let message = "Internal torch error: CUDA out of memory. Tried to allocate 148.00 MiB. GPU 0 has a total capacity of \
                       139.80 GiB of which 13.56 MiB is free. Process 449 has 139.11 GiB memory in use. If reserved but \
                       unallocated memory is large try setting";
        let expected =
            "Tried to allocate 148.00 MiB. GPU 0 has a total capacity of 139.80 GiB of which 13.56 MiB is free.";
        assert_eq!(out_of_memory(message).as_deref(), Some(expected));
        assert_eq!(out_of_memory("CUDA error: an illegal memory access was encountered"), None);
    }
}
