//! A variant while it is made: the calls so far, renumbered and rewritten, and their types.

use super::VaryRefusal;
use crate::fx::{self, Expr, Trace, TraceNode, ValueRef};
use crate::python::PythonSource;
use crate::reading::{Reading, check_size};
use crate::translate::Translator;
use crate::value::PyValue;
use crate::weights::Weight;
use passhost_ir::{Infer, TensorType};
use passhost_protocol::reader::SampleError;
use ruff_text_size::TextSize;

/// A program that is made from another one call by call.
pub struct CandidateProgram<'a, 'i> {
    source: &'a PythonSource<'a>,
    /// What it is made from.
    pub before: &'a Reading,
    program: Trace,
    weights: Vec<Weight>,
    translator: Translator<'a, 'i>,
    /// What each value of the program before has become.
    moved: Vec<ValueRef>,
}

impl<'a, 'i> CandidateProgram<'a, 'i> {
    /// Before the first call, with these records for the parameters.
    pub fn new(
        source: &'a PythonSource<'a>,
        before: &'a Reading,
        weights: Vec<Weight>,
        infer: &'i mut dyn Infer,
    ) -> Result<CandidateProgram<'a, 'i>, SampleError> {
        check_size(source.file(), &weights)?;
        let parameters = before.program.parameters.clone();
        let translator = Translator::new(source, &parameters, &weights, infer)?;
        let moved = (0..parameters.len()).map(|position| ValueRef(position as u32)).collect();
        let program = Trace { parameters, nodes: vec![], outputs: vec![] };
        Ok(CandidateProgram { source, before, program, weights, translator, moved })
    }

    /// The call at `position` of the program before, on the values of this one.
    pub fn moved(&self, position: usize) -> TraceNode {
        self.before.program.nodes[position].map(&mut |value| fx::moved(&self.moved, value))
    }

    /// Adds a call that the program before does not have; its result.
    pub fn insert(&mut self, node: TraceNode) -> Result<ValueRef, SampleError> {
        self.translator.node(&node)?;
        let result = self.program.result(self.program.nodes.len());
        self.program.nodes.push(node);
        Ok(result)
    }

    /// Adds the call that stands for the next one of the program before; its result.
    pub fn push(&mut self, node: TraceNode) -> Result<ValueRef, SampleError> {
        let result = self.insert(node)?;
        self.moved.push(result);
        Ok(result)
    }

    /// What an argument of this program is.
    pub fn evaluate(&self, argument: &Expr) -> PyValue {
        self.translator.evaluate(argument)
    }

    /// The type of an argument of this program that is a tensor.
    pub fn ty(&self, argument: &Expr) -> Option<&TensorType> {
        self.translator.ty(&self.evaluate(argument))
    }

    /// The shapes of an argument of this program that is a tensor, before and now.
    pub fn shapes(&self, before: &Expr, now: &Expr) -> Option<(&'a [i64], &[i64])> {
        Some((self.shape_before(&self.before.evaluate(before))?, &self.ty(now)?.shape))
    }

    /// The shape that the call at `position` returned before, if that was one tensor.
    pub fn result_before(&self, position: usize) -> Option<&'a [i64]> {
        let result = Expr::Value(self.before.program.result(position));
        self.shape_before(&self.before.evaluate(&result))
    }

    /// Calls `f` with the shapes before and now of every tensor that the parameter or call with this result is. The
    /// numbers of tensors, if they differ.
    pub fn each(&self, value: ValueRef, f: &mut impl FnMut(&[i64], &[i64])) -> Option<(usize, usize)> {
        let now = self.evaluate(&fx::moved(&self.moved, value));
        self.pair(&self.before.evaluate(&Expr::Value(value)), &now, f)
    }

    fn pair(&self, before: &PyValue, now: &PyValue, f: &mut impl FnMut(&[i64], &[i64])) -> Option<(usize, usize)> {
        if let (PyValue::List(before), PyValue::List(now)) = (before, now) {
            if before.len() != now.len() {
                return Some((before.len(), now.len()));
            }
            return before.iter().zip(now).find_map(|(before, now)| self.pair(before, now, f));
        }
        if let (Some(before), Some(now)) = (self.shape_before(before), self.translator.ty(now)) {
            f(before, &now.shape);
        }
        None
    }

    fn shape_before(&self, value: &PyValue) -> Option<&'a [i64]> {
        value.tensor().map(|tensor| &self.before.graph().ty(tensor).shape[..])
    }

    /// Says what is not clear about a call.
    pub fn unclear(&self, node: &TraceNode, reason: &str) -> VaryRefusal {
        let place = self.source.place(TextSize::new(node.offset));
        VaryRefusal(format!("{place}: `{}`: {reason}", node.target.op_name()))
    }

    /// The finished variant.
    pub fn finish(mut self) -> Result<Reading, SampleError> {
        let outputs = self.before.program.outputs.iter();
        self.program.outputs = outputs.map(|output| output.map(&mut |value| fx::moved(&self.moved, value))).collect();
        let translation = self.translator.finish(&self.program.outputs)?;
        Reading::new(self.source, self.program, self.weights, translation)
    }
}
