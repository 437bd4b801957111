//! From a range of steps to a program of its own.

use super::literal::literal;
use super::refusal::Refusal;
use super::steps::{Definition, Step, Steps};
use passhost_ir::ValueId;
use passhost_sample::PyValue;
use passhost_sample::fx::{CallTarget, Expr, Parameter, Trace, TraceNode, ValueRef};
use std::collections::HashMap;
use std::ops::Range;

/// While a program is built, results are numbered from here: how many parameters there will be is not known.
const RESULTS: u32 = 1 << 31;

/// A range of steps as a program. Its parameters are called `in_0`, `in_1`, ... in the order of their first use, its
/// results `tmp_0`, `tmp_1`, ...
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) program: Trace,
    /// The tensors of the model that the parameters stand for.
    pub(super) inputs: Vec<ValueId>,
}

/// Cuts steps out. What the program returns is what the model reads behind them, or returns.
pub(super) fn cut(steps: &Steps<'_>, range: Range<usize>) -> Result<Cut, Refusal> {
    let mut cutter = Cutter { steps, range: range.clone(), inputs: vec![], nodes: vec![], inside: HashMap::new() };
    let list = &steps.list[range.clone()];
    for (step, number) in list.iter().zip(range.clone()) {
        cutter.push(number, step)?;
    }
    cutter.check_memory(list)?;
    let outputs = cutter.outputs(list)?;
    Ok(cutter.finish(outputs))
}

struct Cutter<'s, 'r> {
    steps: &'s Steps<'r>,
    range: Range<usize>,
    /// What enters, by the tensor and not by its name.
    inputs: Vec<ValueId>,
    nodes: Vec<TraceNode>,
    /// The values of the new program by what they are in the model: results of steps, and elements of tuples.
    inside: HashMap<Inside, ValueRef>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Inside {
    Result(usize),
    Element(usize, usize),
}

impl Cutter<'_, '_> {
    fn push(&mut self, number: usize, step: &Step) -> Result<(), Refusal> {
        let node = &self.steps.reading.program.nodes[step.position];
        let excluded = |reason| Refusal::Excluded { call: node.target.op_name(), reason };
        if let Some(reason) = step.excluded {
            return Err(excluded(reason));
        }
        let mut held = vec![];
        let args: Option<Vec<Expr>> = node.args.iter().map(|argument| self.argument(argument, &mut held)).collect();
        let kwargs = node.kwargs.iter().map(|(name, value)| Some((name.clone(), self.argument(value, &mut held)?)));
        let kwargs: Option<Vec<(String, Expr)>> = kwargs.collect();
        let (args, kwargs) = args.zip(kwargs).ok_or_else(|| excluded("an argument cannot be written"))?;
        let result = self.node(node.target.clone(), args, kwargs);
        self.inside.insert(Inside::Result(number), result);
        Ok(())
    }

    fn node(&mut self, target: CallTarget, args: Vec<Expr>, kwargs: Vec<(String, Expr)>) -> ValueRef {
        let result = ValueRef(RESULTS + self.nodes.len() as u32);
        self.nodes.push(TraceNode { name: String::new(), target, args, kwargs, offset: 0 });
        result
    }

    /// An argument in terms of the new program.
    fn argument(&mut self, argument: &Expr, held: &mut Vec<Expr>) -> Option<Expr> {
        for value in argument.values() {
            let expression = self.value(value)?;
            held.push(expression);
        }
        let mut expressions = held.drain(..);
        Some(argument.map(&mut |_| expressions.next().unwrap_or(Expr::None)))
    }

    /// A value of the model's program.
    fn value(&mut self, value: ValueRef) -> Option<Expr> {
        let known = self.steps.value(value);
        // A tuple that a step returned, as a whole.
        if let (PyValue::List(_), Some(position)) = (&known, self.steps.reading.program.definition(value)) {
            let list = &self.steps.list[self.range.clone()];
            if let Ok(found) = list.binary_search_by_key(&position, |step| step.position) {
                return self.inside.get(&Inside::Result(self.range.start + found)).copied().map(Expr::Value);
            }
        }
        self.expression(&known)
    }

    fn expression(&mut self, value: &PyValue) -> Option<Expr> {
        if let Some(literal) = literal(value) {
            return Some(literal);
        }
        match value {
            PyValue::Tensor(tensor) => Some(Expr::Value(self.tensor(*tensor))),
            PyValue::List(items) => {
                items.iter().map(|item| self.expression(item)).collect::<Option<_>>().map(Expr::Tuple)
            }
            PyValue::Slice(parts) => {
                let [start, stop, step] = &**parts;
                Some(Expr::Slice(Box::new([self.expression(start)?, self.expression(stop)?, self.expression(step)?])))
            }
            _ => None,
        }
    }

    /// A tensor: the result of a step inside, an element of one, or an input.
    fn tensor(&mut self, tensor: ValueId) -> ValueRef {
        let inside = |step: &usize| self.range.contains(step);
        match self.steps.definition(tensor) {
            Some(Definition::Step(step)) if inside(&step) => {
                if let Some(&result) = self.inside.get(&Inside::Result(step)) {
                    return result;
                }
            }
            Some(Definition::Element(step, element)) if inside(&step) => {
                if let Some(&found) = self.inside.get(&Inside::Element(step, element)) {
                    return found;
                }
                if let Some(&tuple) = self.inside.get(&Inside::Result(step)) {
                    let index = Expr::Int(i64::try_from(element).unwrap_or(i64::MAX));
                    let found = self.node(CallTarget::GetItem, vec![Expr::Value(tuple), index], vec![]);
                    self.inside.insert(Inside::Element(step, element), found);
                    return found;
                }
            }
            _ => {}
        }
        let tensor = self.steps.memory.tensor(tensor);
        let known = self.inputs.iter().position(|&input| input == tensor);
        let position = known.unwrap_or_else(|| {
            self.inputs.push(tensor);
            self.inputs.len() - 1
        });
        ValueRef(position as u32)
    }

    /// That no memory that is written enters as two tensors: outside, one would see what is written to the other.
    fn check_memory(&self, list: &[Step]) -> Result<(), Refusal> {
        for step in list {
            for &written in &step.writes {
                let base = self.steps.memory.base(written);
                if self.inputs.iter().filter(|&&input| self.steps.memory.base(input) == base).count() > 1 {
                    let call = self.steps.reading.program.nodes[step.position].target.op_name();
                    return Err(Refusal::SharedMemory { call });
                }
            }
        }
        Ok(())
    }

    fn outputs(&mut self, list: &[Step]) -> Result<Vec<ValueRef>, Refusal> {
        let end = self.range.end;
        let mut returned: Vec<ValueId> = vec![];
        for step in list {
            returned.extend(step.defines.iter().filter(|&&tensor| self.steps.is_read_from(end, tensor)));
        }
        let mut outputs: Vec<ValueRef> = vec![];
        let mut shown: Vec<ValueId> = vec![];
        for tensor in returned {
            outputs.push(self.tensor(tensor));
            shown.push(self.steps.memory.base(tensor));
        }
        // What is overwritten and read later under another name is a result as well.
        for step in list {
            for &written in &step.writes {
                let base = self.steps.memory.base(written);
                let object = step.reads.first().copied().filter(|&object| self.steps.memory.base(object) == base);
                if let Some(object) = object
                    && !shown.contains(&base)
                    && self.steps.is_memory_read_from(end, written)
                {
                    shown.push(base);
                    outputs.push(self.tensor(object));
                }
            }
        }
        if outputs.is_empty() {
            // Nobody reads it, and still it is what the calls are for.
            let last = list.iter().rev().find_map(|step| step.defines.last().or(step.reads.first()));
            outputs.push(self.tensor(*last.ok_or(Refusal::NoResult)?));
        }
        let mut seen = std::collections::HashSet::new();
        outputs.retain(|output| seen.insert(*output));
        Ok(outputs)
    }

    fn finish(self, outputs: Vec<ValueRef>) -> Cut {
        let count = self.inputs.len() as u32;
        let mut moved =
            |value: ValueRef| Expr::Value(if value.0 >= RESULTS { ValueRef(value.0 - RESULTS + count) } else { value });
        let parameter = |position| Parameter { name: format!("in_{position}"), is_symbol: false, offset: 0 };
        let mut program = Trace { parameters: (0..count).map(parameter).collect(), nodes: vec![], outputs: vec![] };
        let mut named = 0;
        for node in &self.nodes {
            // A subscript assignment has no result, and so no name.
            let name = if node.target == CallTarget::SetItem { String::new() } else { format!("tmp_{named}") };
            named += usize::from(!name.is_empty());
            program.nodes.push(TraceNode {
                name,
                target: node.target.clone(),
                args: node.args.iter().map(|argument| argument.map(&mut moved)).collect(),
                kwargs: node.kwargs.iter().map(|(key, value)| (key.clone(), value.map(&mut moved))).collect(),
                offset: 0,
            });
        }
        program.outputs = outputs.into_iter().map(moved).collect();
        Cut { program: program.on_device("cpu"), inputs: self.inputs }
    }
}
