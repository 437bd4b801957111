//! What was read of a variant, on its way from the reader child to those who do more with it than evaluate it. They take
//! it as the child's word: its parts are held against each other before anything indexes one by another.

use crate::constraints::{Constraints, Extent};
use crate::fx::{Expr, TraceNode, ValueRef};
use crate::reading::{Reading, check_size};
use crate::translate::InputSource;
use crate::value::PyValue;
use crate::vary::{Varied, VaryRefusal};
use crate::weights::Weight;
use passhost_ir::{Graph, OpTable, verify_graph};
use passhost_protocol::decode_counted;
use passhost_protocol::reader::SampleError;
use serde::de::DeserializeOwned;
use std::collections::HashSet;

/// Elements of all lists in an answer: a whole model has some hundred thousand.
const ITEMS: usize = 16 << 20;

impl Reading {
    /// What a reader child answered about a variant.
    ///
    /// # Errors
    ///
    /// Why the child could not read it; or [`SampleError::Program`] if what it read contradicts itself.
    pub fn from_answer(answer: &[u8]) -> Result<Reading, SampleError> {
        let reading: Reading = whole::<Result<Reading, SampleError>>(answer)??;
        reading.check().map_err(contradiction)?;
        Ok(reading)
    }
}

impl Varied {
    /// What a reader child answered about a change of a variant.
    ///
    /// # Errors
    ///
    /// As [`Reading::from_answer`]; the inner one if the change is not possible.
    pub fn from_answer(answer: &[u8]) -> Result<Result<Varied, VaryRefusal>, SampleError> {
        let varied = whole::<Result<Result<Varied, VaryRefusal>, SampleError>>(answer)??;
        if let Ok(varied) = &varied {
            varied.reading.check().and_then(|()| varied.constraints.check()).map_err(contradiction)?;
        }
        Ok(varied)
    }
}

fn whole<T: DeserializeOwned>(answer: &[u8]) -> Result<T, SampleError> {
    decode_counted(answer, ITEMS).map_err(|error| contradiction(error.to_string()))
}

fn contradiction(reason: String) -> SampleError {
    SampleError::Program { file: "what the reader process sent".to_owned(), reason }
}

impl Reading {
    /// What every reading keeps to.
    fn check(&self) -> Result<(), String> {
        let Reading { program, weights, translation } = self;
        verify_graph(&translation.graph, OpTable::sample()).map_err(|error| error.to_string())?;
        let (parameters, nodes) = (program.parameters.len(), translation.graph.nodes.len());
        let records: HashSet<&str> = weights.iter().map(|weight| weight.name.as_str()).collect();
        let is_value = |value: &ValueRef| value.index() < parameters + program.nodes.len();
        let is_record = |weight: &Weight| {
            let elements = weight.data.as_ref().map_or(weight.ty.numel(), |data| data.len() as u64);
            weight.ty.check().is_ok() && elements == weight.ty.numel()
        };
        let is_source = |source: &InputSource| match source {
            InputSource::Parameter(position) => *position < parameters,
            InputSource::Random(random) => random.ty.check().is_ok(),
        };
        let earlier = |(position, node): (usize, &TraceNode)| {
            node.operands().iter().all(|operand| operand.index() < parameters + position)
        };
        let rules = [
            ("records of weights", weights.iter().all(is_record) && check_size("", weights).is_ok()),
            ("parameters", program.parameters.iter().all(|parameter| records.contains(parameter.name.as_str()))),
            ("calls", program.nodes.iter().enumerate().all(earlier)),
            ("outputs", program.outputs.iter().flat_map(Expr::values).all(|value| is_value(&value))),
            ("values", translation.values.len() == parameters + program.nodes.len()),
            ("tensors", translation.values.iter().all(|value| value.is_of(&translation.graph))),
            ("inputs", translation.inputs.len() == translation.graph.inputs.len()),
            ("sources of inputs", translation.inputs.iter().all(is_source)),
            ("fixed parameters", translation.fixed.iter().all(|position| *position < parameters)),
            ("random numbers", translation.random.iter().all(|value| value.index() >= parameters && is_value(value))),
            ("nodes of calls", translation.nodes.len() == program.nodes.len()),
            ("nodes", translation.nodes.iter().all(|range| range.start <= range.end && range.end <= nodes)),
        ];
        match rules.iter().find(|(_, holds)| !holds) {
            Some((what, _)) => Err(format!("its {what} do not fit the rest")),
            None => Ok(()),
        }
    }
}

impl PyValue {
    fn is_of(&self, graph: &Graph) -> bool {
        match self {
            PyValue::Tensor(value) | PyValue::Batched(value, _) | PyValue::Element(value) => {
                value.index() < graph.values.len()
            }
            PyValue::Slice(parts) => parts.iter().all(|part| part.is_of(graph)),
            PyValue::List(items) => items.iter().all(|item| item.is_of(graph)),
            _ => true,
        }
    }
}

impl Constraints {
    fn check(&self) -> Result<(), String> {
        let mut extents = self.shapes.iter().flat_map(|(_, extents)| extents);
        let known = |extent: &Extent| !matches!(extent, Extent::Symbol(symbol) if *symbol >= self.symbols.len());
        if extents.all(known) { Ok(()) } else { Err("an extent is a symbol that there is not".to_owned()) }
    }
}
