//! One variant of a sample from its text to a typed graph, with what connects the two.

use crate::SampleText;
use crate::fx::{self, ValueRef};
use crate::inputs::{self, InputRole};
use crate::python::PythonSource;
use crate::translate::{self, InputSource, Translation};
use crate::value::PyValue;
use crate::weights::{self, Weight};
use passhost_ir::{Graph, Infer, InputSpec, OpTable, TensorType, ValueId, verify_graph};
use passhost_protocol::reader::{SampleError, SampleVariant};
use passhost_result::InputMode;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

/// Bytes of all inputs of one variant together.
const INPUT_BYTES: u64 = 1 << 36;

/// A variant as it was read: the calls of its `forward`, and the graph that they came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// What `forward` calls.
    pub program: fx::Trace,
    /// The records of its parameters.
    pub weights: Vec<Weight>,
    pub(crate) translation: Translation,
}

impl SampleText {
    /// Reads and translates variant `index`; `infer` knows the types of what ops return.
    ///
    /// # Errors
    ///
    /// If the variant is not in the supported subset or its parts do not fit each other.
    ///
    /// # Panics
    ///
    /// If there is no such variant.
    pub fn reading(&self, index: usize, infer: &mut dyn Infer) -> Result<Reading, SampleError> {
        let weights = self.weights(index)?;
        let model = PythonSource::new(self.shown(index, "model.py"), &self.variants[index].model);
        let reading = Reading::translate(&model, weights, infer)?;
        let parameters = reading.program.parameters.iter().map(|parameter| parameter.name.as_str());
        let parameters: HashSet<&str> = parameters.collect();
        if let Some(weight) = reading.weights.iter().find(|weight| !parameters.contains(weight.name.as_str())) {
            let (file, name) = (self.shown(index, "weight_meta.py"), weight.name.clone());
            return Err(SampleError::Weight { file, name, reason: "`forward` has no such parameter".to_owned() });
        }
        Ok(reading)
    }

    /// The records of the parameters of variant `index`.
    pub(crate) fn weights(&self, index: usize) -> Result<Vec<Weight>, SampleError> {
        let source = PythonSource::new(self.shown(index, "weight_meta.py"), &self.variants[index].weights);
        let weights = weights::weights(&source)?;
        check_size(source.file(), &weights)?;
        Ok(weights)
    }

    /// What a file of a variant is called in messages.
    fn shown(&self, index: usize, file: &str) -> String {
        self.files.shown(&self.variants[index].path.join(Path::new(file)))
    }

    /// Reads variant `index` as an evaluation needs it.
    ///
    /// # Errors
    ///
    /// As [`SampleText::reading`].
    ///
    /// # Panics
    ///
    /// If there is no such variant.
    pub fn load(&self, index: usize, mode: InputMode, infer: &mut dyn Infer) -> Result<SampleVariant, SampleError> {
        self.reading(index, infer).map(|reading| reading.variant(mode))
    }
}

/// Refuses records of more bytes than are drawn.
pub(crate) fn check_size(file: &str, weights: &[Weight]) -> Result<(), SampleError> {
    let bytes = weights.iter().fold(0u64, |sum, weight| sum.saturating_add(weight.ty.bytes()));
    if bytes <= INPUT_BYTES {
        return Ok(());
    }
    let reason = format!("all inputs together have {bytes} bytes; at most {INPUT_BYTES} are drawn");
    Err(SampleError::Weight { file: file.to_owned(), name: "*".to_owned(), reason })
}

impl Reading {
    /// Reads a model and the records of its parameters from their texts.
    ///
    /// # Errors
    ///
    /// As [`SampleText::reading`].
    pub fn of_texts(model: &str, records: &str, infer: &mut dyn Infer) -> Result<Reading, SampleError> {
        let weights = weights::weights(&PythonSource::new("weight_meta.py".to_owned(), records))?;
        Reading::translate(&PythonSource::new("model.py".to_owned(), model), weights, infer)
    }

    fn translate(
        model: &PythonSource<'_>,
        weights: Vec<Weight>,
        infer: &mut dyn Infer,
    ) -> Result<Reading, SampleError> {
        let program = fx::parse::parse(model)?;
        let translation = translate::translate(model, &program, &weights, infer)?;
        Reading::new(model, program, weights, translation)
    }

    /// A program with its translation, which must not contradict itself.
    pub(crate) fn new(
        model: &PythonSource<'_>,
        program: fx::Trace,
        weights: Vec<Weight>,
        translation: Translation,
    ) -> Result<Reading, SampleError> {
        verify_graph(&translation.graph, OpTable::sample())
            .map_err(|error| SampleError::Program { file: model.file().to_owned(), reason: error.to_string() })?;
        Ok(Reading { program, weights, translation })
    }

    /// What an argument of a node of the program is.
    pub fn evaluate(&self, expression: &fx::Expr) -> PyValue {
        PyValue::of(expression, &self.translation.values)
    }

    /// Whether the graph is built on the recorded elements of the parameter at `position`.
    pub fn is_fixed(&self, position: usize) -> bool {
        self.translation.fixed.contains(&position)
    }

    /// The typed graph, in-place ops as written.
    pub fn graph(&self) -> &Graph {
        &self.translation.graph
    }

    /// The tensors of the graph that a value of the program is: one, several if it is a tuple, none if it is a number.
    pub fn tensors(&self, value: ValueRef) -> Vec<ValueId> {
        let mut found = vec![];
        if let Some(value) = self.translation.values.get(value.index()) {
            collect(value, &mut found);
        }
        found
    }

    /// The type of a value of the program that is one tensor.
    pub fn ty(&self, value: ValueRef) -> Option<&TensorType> {
        let tensor = self.translation.values.get(value.index())?.tensor()?;
        Some(self.translation.graph.ty(tensor))
    }

    /// The nodes of the graph that the node of the program at `position` became: none if it is arithmetic of Python's,
    /// several if it is a function of Python's.
    pub fn nodes(&self, position: usize) -> Range<usize> {
        self.translation.nodes.get(position).cloned().unwrap_or(0..0)
    }

    /// The program as Python that gives the same outputs for the inputs of an evaluation: every tensor on `device`, and
    /// random numbers that the model draws are arguments behind its own. It is written from the calls that were read, so
    /// that running it executes nothing of the sample's.
    pub fn python(&self, device: &str) -> String {
        let results = (0..self.program.nodes.len()).map(|position| self.program.result(position));
        let unread = |value: &ValueRef| matches!(self.translation.values.get(value.index()), Some(PyValue::Random(_)));
        let unread: Vec<ValueRef> = results.filter(unread).collect();
        let program = self.program.lifted(&self.translation.random, &unread).on_device(device);
        fx::print::model(&program, &|value| match program.definition(value) {
            None => format!("p_{}", value.index()),
            Some(position) => format!("v_{position}"),
        })
    }

    /// The variant for an evaluation whose inputs are drawn in this way.
    pub fn variant(&self, mode: InputMode) -> SampleVariant {
        let program = self.translation.graph.clone();
        let by_name: HashMap<&str, &Weight> =
            self.weights.iter().map(|weight| (weight.name.as_str(), weight)).collect();
        let roles = inputs::roles(&program);
        let inputs = program.inputs.iter().zip(&self.translation.inputs).filter_map(|(&value, source)| {
            Some(match source {
                InputSource::Random(random) => inputs::random_spec(&program.value(value).name, random),
                InputSource::Parameter(position) => {
                    let weight = by_name.get(self.program.parameters[*position].name.as_str())?;
                    let role = roles.get(&value).copied().unwrap_or(InputRole::Other);
                    let fixed = self.translation.fixed.contains(position);
                    inputs::input_spec(weight, role, fixed, mode)
                }
            })
        });
        let inputs: Vec<InputSpec> = inputs.collect();
        SampleVariant { program, inputs, notes: vec![] }
    }
}

fn collect(value: &PyValue, found: &mut Vec<ValueId>) {
    match value {
        PyValue::Tensor(tensor) | PyValue::Batched(tensor, _) | PyValue::Element(tensor) => found.push(*tensor),
        PyValue::List(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}
