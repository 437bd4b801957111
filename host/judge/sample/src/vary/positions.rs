//! Positions that a variant looks up: a longer sequence may have more of them than a table has rows, which no type says.

use super::candidate::CandidateProgram;
use crate::fx::{CallTarget, Expr, TraceNode, ValueRef};
use crate::value::PyValue;
use std::collections::HashMap;

/// The largest elements of the ranges that a program makes, as far as they are followed to a table.
#[derive(Debug, Default)]
pub struct Positions(HashMap<ValueRef, i64>);

impl Positions {
    /// Takes note of a call whose result is `result`. Why it cannot be, if it looks up more rows than its table has.
    pub fn note(
        &mut self,
        candidate: &CandidateProgram<'_, '_>,
        node: &TraceNode,
        result: ValueRef,
    ) -> Result<(), String> {
        let name = match &node.target {
            CallTarget::Function(path) => path.rsplit('.').next().unwrap_or(path),
            CallTarget::Method(name) | CallTarget::Attribute(name) => name.as_str(),
            CallTarget::Operator(name) => name,
            CallTarget::GetItem => "getitem",
            CallTarget::InPlace(_) | CallTarget::SetItem => return Ok(()),
        };
        let largest = match name {
            "arange" => range_end(candidate, node).map(|end| end.saturating_sub(1)),
            "view" | "reshape" | "flatten" | "squeeze" | "unsqueeze" | "expand" | "repeat" | "transpose"
            | "permute" | "contiguous" | "clone" | "detach" | "to" | "long" | "int" | "getitem" => {
                self.of(node.args.first())
            }
            "add" => self.sum(candidate, node, 1),
            "sub" => self.sum(candidate, node, -1),
            "embedding" => return self.check(candidate, node),
            _ => None,
        };
        if let Some(largest) = largest {
            self.0.insert(result, largest);
        }
        Ok(())
    }

    fn of(&self, argument: Option<&Expr>) -> Option<i64> {
        match argument? {
            Expr::Value(value) => self.0.get(value).copied(),
            _ => None,
        }
    }

    /// Of `positions + number` or `positions - number`.
    fn sum(&self, candidate: &CandidateProgram<'_, '_>, node: &TraceNode, sign: i64) -> Option<i64> {
        let number = candidate.evaluate(node.args.get(1)?).int()?;
        self.of(node.args.first())?.checked_add(number.checked_mul(sign)?)
    }

    /// `embedding(positions, table)`.
    fn check(&self, candidate: &CandidateProgram<'_, '_>, node: &TraceNode) -> Result<(), String> {
        let rows = node.args.get(1).and_then(|table| candidate.ty(table)).and_then(|ty| ty.shape.first());
        match (self.of(node.args.first()), rows) {
            (Some(largest), Some(&rows)) if largest >= rows => {
                Err(format!("positions reach {largest}, and its table has {rows} rows"))
            }
            _ => Ok(()),
        }
    }
}

/// The end of a range that counts up by one from a number of its own.
fn range_end(candidate: &CandidateProgram<'_, '_>, node: &TraceNode) -> Option<i64> {
    let given: Vec<PyValue> = node.args.iter().map(|argument| candidate.evaluate(argument)).collect();
    let named = node.kwargs.iter().find(|(name, _)| name == "end").map(|(_, end)| candidate.evaluate(end));
    match (&given[..], named) {
        ([PyValue::Int(end)] | [_, PyValue::Int(end)] | [_, PyValue::Int(end), PyValue::Int(1)], None) => Some(*end),
        ([] | [_], Some(PyValue::Int(end))) => Some(end),
        _ => None,
    }
}
