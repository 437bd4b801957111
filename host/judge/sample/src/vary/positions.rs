//! Positions that a variant looks up: a longer sequence may have more of them than a table has rows, which no type says.

use super::candidate::Candidate;
use crate::fx::{Expr, Node, Target, ValueRef};
use crate::value::PyValue;
use std::collections::HashMap;

/// The largest elements of the ranges that a program makes, as far as they are followed to a table.
#[derive(Debug, Default)]
pub struct Positions(HashMap<ValueRef, i64>);

impl Positions {
    /// Takes note of a call whose result is `result`. Why it cannot be, if it looks up more rows than its table has.
    pub fn note(&mut self, candidate: &Candidate<'_, '_>, node: &Node, result: ValueRef) -> Result<(), String> {
        let name = match &node.target {
            Target::Function(path) => path.rsplit('.').next().unwrap_or(path),
            Target::Method(name) | Target::Attribute(name) => name.as_str(),
            Target::Operator(name) => name,
            Target::GetItem => "getitem",
            Target::InPlace(_) | Target::SetItem => return Ok(()),
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
    fn sum(&self, candidate: &Candidate<'_, '_>, node: &Node, sign: i64) -> Option<i64> {
        let number = candidate.evaluate(node.args.get(1)?).int()?;
        self.of(node.args.first())?.checked_add(number.checked_mul(sign)?)
    }

    /// `embedding(positions, table)`.
    fn check(&self, candidate: &Candidate<'_, '_>, node: &Node) -> Result<(), String> {
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
fn range_end(candidate: &Candidate<'_, '_>, node: &Node) -> Option<i64> {
    let given: Vec<PyValue> = node.args.iter().map(|argument| candidate.evaluate(argument)).collect();
    let named = node.kwargs.iter().find(|(name, _)| name == "end").map(|(_, end)| candidate.evaluate(end));
    match (&given[..], named) {
        ([PyValue::Int(end)] | [_, PyValue::Int(end)] | [_, PyValue::Int(end), PyValue::Int(1)], None) => Some(*end),
        ([] | [_], Some(PyValue::Int(end))) => Some(end),
        _ => None,
    }
}
