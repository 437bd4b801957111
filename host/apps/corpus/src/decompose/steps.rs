//! The calls of a model that compute something, in order: what a piece of it is made of.
//!
//! A call whose result is known without running anything (a shape, Python arithmetic) is no step: where its result is
//! read, the number stands. Neither is one that only renames a tensor or takes one out of a tuple.

use super::memory::Memory;
use passhost_ir::{Graph, ValueId};
use passhost_sample::PyValue;
use passhost_sample::Reading;
use passhost_sample::Weight;
use passhost_sample::fx::{Expr, ValueRef};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A call that computes something.
#[derive(Debug)]
pub(super) struct Step {
    /// The node of the program.
    pub(super) position: usize,
    /// The nodes of the graph that it became.
    pub(super) nodes: Range<usize>,
    /// The tensors that its arguments are, repetitions included.
    pub(super) reads: Vec<ValueId>,
    /// The tensors that its result is, and that no step before it defined.
    pub(super) defines: Vec<ValueId>,
    /// The tensors to whose memory it writes.
    pub(super) writes: Vec<ValueId>,
    /// Why it can be in no piece.
    pub(super) excluded: Option<&'static str>,
}

/// Where a tensor of the graph comes from, as the program sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Definition {
    /// It is a parameter, or random numbers that the model draws.
    Input,
    /// It is the result of a step.
    Step(usize),
    /// It is an element of the tuple that a step returns.
    Element(usize, usize),
}

/// A model as a list of steps, with what is needed to take it apart.
#[derive(Debug)]
pub(super) struct Steps<'r> {
    pub(super) reading: &'r Reading,
    pub(super) list: Vec<Step>,
    pub(super) memory: Memory,
    definitions: HashMap<ValueId, Definition>,
    /// The records of the parameters by the tensors that they are.
    records: HashMap<ValueId, &'r Weight>,
    /// For each tensor the last step that reads it.
    last_read: HashMap<ValueId, usize>,
    /// The same for any tensor of the same memory, by the first of them.
    last_read_memory: HashMap<ValueId, usize>,
    returned: HashSet<ValueId>,
    returned_memory: HashSet<ValueId>,
}

impl<'r> Steps<'r> {
    /// Of a model.
    pub(super) fn of(reading: &'r Reading) -> Steps<'r> {
        let graph = reading.graph();
        let memory = Memory::of(graph);
        let returned: HashSet<ValueId> = graph.outputs.iter().copied().collect();
        let returned_memory = returned.iter().map(|&value| memory.base(value)).collect();
        let by_name: HashMap<&str, &Weight> =
            reading.weights.iter().map(|weight| (weight.name.as_str(), weight)).collect();
        let parameters = reading.program.parameters.iter().enumerate();
        let records = parameters.filter_map(|(position, parameter)| {
            let value = reading.evaluate(&Expr::Value(ValueRef(position as u32)));
            Some((value.tensor()?, *by_name.get(parameter.name.as_str())?))
        });
        let mut steps = Steps {
            records: records.collect(),
            reading,
            list: vec![],
            memory,
            definitions: graph.inputs.iter().map(|&input| (input, Definition::Input)).collect(),
            last_read: HashMap::new(),
            last_read_memory: HashMap::new(),
            returned,
            returned_memory,
        };
        (0..reading.program.nodes.len()).for_each(|position| steps.push(position));
        steps
    }

    /// The graph of the whole model.
    pub(super) fn graph(&self) -> &'r Graph {
        self.reading.graph()
    }

    /// What a value of the program is.
    pub(super) fn value(&self, value: ValueRef) -> PyValue {
        self.reading.evaluate(&Expr::Value(value))
    }

    /// Where a tensor comes from.
    pub(super) fn definition(&self, tensor: ValueId) -> Option<Definition> {
        self.definitions.get(&tensor).copied()
    }

    /// The step that a tensor comes from.
    pub(super) fn origin(&self, tensor: ValueId) -> Option<usize> {
        match self.definition(tensor)? {
            Definition::Input => None,
            Definition::Step(step) | Definition::Element(step, _) => Some(step),
        }
    }

    /// The record of the parameter that a tensor is.
    pub(super) fn record(&self, tensor: ValueId) -> Option<&'r Weight> {
        self.records.get(&tensor).copied()
    }

    /// Whether a step at `end` or behind reads a tensor, or the model returns it.
    pub(super) fn is_read_from(&self, end: usize, tensor: ValueId) -> bool {
        self.returned.contains(&tensor) || self.last_read.get(&tensor).is_some_and(|&last| last >= end)
    }

    /// The same of any tensor that shares its memory.
    pub(super) fn is_memory_read_from(&self, end: usize, tensor: ValueId) -> bool {
        let base = self.memory.base(tensor);
        self.returned_memory.contains(&base) || self.last_read_memory.get(&base).is_some_and(|&last| last >= end)
    }

    fn push(&mut self, position: usize) {
        let node = &self.reading.program.nodes[position];
        let operands: Vec<PyValue> = node.operands().into_iter().map(|value| self.value(value)).collect();
        let result = self.value(self.reading.program.result(position));
        let nodes = self.reading.nodes(position);
        let mut reads = vec![];
        operands.iter().for_each(|operand| tensors(operand, &mut reads));
        let mut defines = vec![];
        tensors(&result, &mut defines);
        defines.retain(|tensor| !self.definitions.contains_key(tensor));
        let writes: Vec<ValueId> = nodes.clone().filter_map(|node| self.memory.written(node)).collect();
        if defines.is_empty() && writes.is_empty() {
            return;
        }
        let excluded = operands.iter().chain([&result]).find_map(excluded);
        let number = self.list.len();
        match &result {
            PyValue::List(items) => {
                for (element, item) in items.iter().enumerate() {
                    if let PyValue::Tensor(tensor) = item {
                        self.definitions.entry(*tensor).or_insert(Definition::Element(number, element));
                    }
                }
            }
            _ => {
                for &tensor in &defines {
                    self.definitions.insert(tensor, Definition::Step(number));
                }
            }
        }
        for &tensor in &reads {
            self.last_read.insert(tensor, number);
            self.last_read_memory.insert(self.memory.base(tensor), number);
        }
        self.list.push(Step { position, nodes, reads, defines, writes, excluded });
    }
}

/// Every tensor that a value is or holds.
fn tensors(value: &PyValue, found: &mut Vec<ValueId>) {
    match value {
        PyValue::Tensor(tensor) | PyValue::Batched(tensor, _) | PyValue::Element(tensor) => found.push(*tensor),
        PyValue::List(items) => items.iter().for_each(|item| tensors(item, found)),
        PyValue::Slice(parts) => parts.iter().for_each(|part| tensors(part, found)),
        _ => {}
    }
}

/// Why a call with such an operand or result can be in no piece: neither can cross its border.
fn excluded(value: &PyValue) -> Option<&'static str> {
    match value {
        PyValue::Batched(..) => Some("it is inside vmap"),
        PyValue::Element(_) | PyValue::Unknown => Some("it takes or returns a number that depends on data"),
        PyValue::Random(_) => Some("it takes or returns random numbers"),
        PyValue::Slice(parts) => parts.iter().find_map(excluded),
        PyValue::List(items) => items.iter().find_map(|item| match item {
            PyValue::List(inner) if inner.iter().any(|item| matches!(item, PyValue::Tensor(_))) => {
                Some("it takes or returns tuples within tuples")
            }
            item => excluded(item),
        }),
        _ => None,
    }
}
