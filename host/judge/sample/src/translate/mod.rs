//! From the calls of a program to a typed graph, by abstract interpretation: every Python value is known but for the
//! elements of tensors, and each call becomes one ATen op, or a few.

mod arguments;
mod attention;
mod builder;
mod creation;
mod forms;
mod functions;
mod indexing;
mod known;
mod methods;
mod numbers;
mod operators;
mod overload;
mod resampling;
mod unsupported;
mod vmap;

pub use builder::InputSource;

use crate::fx::parse::parse;
use crate::fx::{CallTarget, Expr, Parameter, Trace, TraceNode, ValueRef};
use crate::python::PythonSource;
use crate::value::PyValue;
use crate::weights::Weight;
use arguments::Arguments;
use attention::PythonFunction;
use builder::GraphBuilder;
use passhost_ir::{Graph, Infer, TensorType};
use passhost_protocol::reader::SampleError;
use ruff_text_size::TextSize;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use unsupported::Unsupported;

/// Numbers in all arguments and results of a program's calls together, a list's items counted: a list that is added to
/// itself doubles with every line. Whole models have some hundred thousand.
const NUMBERS: u64 = 4 << 20;

/// A typed graph with where it came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Translation {
    /// The program, in-place ops as written.
    pub graph: Graph,
    /// One per input of the graph.
    pub inputs: Vec<InputSource>,
    /// Parameters whose recorded values the graph is built on.
    pub fixed: BTreeSet<usize>,
    /// What each value of the program is.
    pub values: Vec<PyValue>,
    /// The values of the program that are random numbers and are read, in the order of the inputs that stand for them.
    pub random: Vec<ValueRef>,
    /// For each node of the program the nodes of the graph that it became.
    pub nodes: Vec<Range<usize>>,
}

/// Translates a program whose parameters have these records.
pub fn translate(
    source: &PythonSource<'_>,
    program: &Trace,
    weights: &[Weight],
    infer: &mut dyn Infer,
) -> Result<Translation, SampleError> {
    let mut translator = Translator::new(source, &program.parameters, weights, infer)?;
    for node in &program.nodes {
        translator.node(node)?;
    }
    translator.finish(&program.outputs)
}

/// A translation that goes on node by node, so that a node may depend on the types of those before it.
pub struct Translator<'a, 'i> {
    source: &'a PythonSource<'a>,
    builder: GraphBuilder<'i>,
    values: Vec<PyValue>,
    random: Vec<ValueRef>,
    nodes: Vec<Range<usize>>,
    /// What each value counts of [`NUMBERS`].
    weights: Vec<u64>,
    /// How many are left.
    room: u64,
    /// Offset of the last node, for messages.
    last: TextSize,
}

impl<'a, 'i> Translator<'a, 'i> {
    /// Before the first node of a program whose parameters have these records.
    pub fn new(
        source: &'a PythonSource<'a>,
        parameters: &[Parameter],
        weights: &[Weight],
        infer: &'i mut dyn Infer,
    ) -> Result<Translator<'a, 'i>, SampleError> {
        let by_name: HashMap<&str, &Weight> = weights.iter().map(|weight| (weight.name.as_str(), weight)).collect();
        let mut builder = GraphBuilder::new(infer);
        let mut values: Vec<PyValue> = Vec::with_capacity(parameters.len());
        for (position, parameter) in parameters.iter().enumerate() {
            let name = parameter.name.as_str();
            let weight = by_name.get(name).ok_or_else(|| {
                let at = TextSize::new(parameter.offset);
                source.error(at, format!("parameter `{name}` has no entry in weight_meta.py"))
            })?;
            let value = builder.input(name, weight.ty.clone(), InputSource::Parameter(position));
            if let Some(elements) = weight.elements() {
                builder.known.parameter(value, position, elements);
            }
            let tensor = PyValue::Tensor(value);
            // A symbolic integer is a number to Python.
            values.push(if parameter.is_symbol {
                methods::item(&mut builder, &tensor).unwrap_or(tensor)
            } else {
                tensor
            });
        }
        let (weights, last) = (values.iter().map(PyValue::weight).collect(), TextSize::default());
        Ok(Translator { source, builder, values, random: vec![], nodes: vec![], weights, room: NUMBERS, last })
    }

    /// Translates the next node, whose result becomes the next value.
    pub fn node(&mut self, node: &TraceNode) -> Result<(), SampleError> {
        let first = self.builder.graph.nodes.len();
        self.last = TextSize::new(node.offset);
        for operand in node.operands() {
            self.read(operand);
        }
        let of = |value: ValueRef| self.weights.get(value.index()).copied().unwrap_or(1);
        let arguments = node.args.iter().chain(node.kwargs.iter().map(|(_, value)| value));
        self.take_room(arguments.fold(0u64, |sum, argument| sum.saturating_add(argument.weight(&of))))?;
        let value = call(&mut self.builder, node, &self.values).map_err(|(call, Unsupported(reason))| {
            SampleError::Call { place: self.source.place(TextSize::new(node.offset)), call, reason }
        })?;
        let weight = value.weight();
        self.take_room(weight)?;
        self.builder.rename(&value, &node.name);
        self.values.push(value);
        self.weights.push(weight);
        self.nodes.push(first..self.builder.graph.nodes.len());
        Ok(())
    }

    /// Counts what the arguments or the result of a call hold, before there is a copy of it.
    fn take_room(&mut self, numbers: u64) -> Result<(), SampleError> {
        let room = self.room.checked_sub(numbers);
        self.room = room.ok_or_else(|| {
            let message = format!(
                "the lists that its calls take hold more than {NUMBERS} values; real samples are far below that"
            );
            self.source.error(self.last, message)
        })?;
        Ok(())
    }

    /// What an argument of the next node is.
    pub fn evaluate(&self, expression: &Expr) -> PyValue {
        PyValue::of(expression, &self.values)
    }

    /// The type of a value that is one tensor.
    pub fn ty(&self, value: &PyValue) -> Option<&TensorType> {
        value.tensor().map(|tensor| self.builder.ty(tensor))
    }

    /// The translation of a program that returns these.
    pub fn finish(mut self, outputs: &[Expr]) -> Result<Translation, SampleError> {
        for value in outputs.iter().flat_map(Expr::values) {
            self.read(value);
        }
        let refused = |what: &str| SampleError::Syntax {
            place: self.source.place(self.last),
            message: format!("returning {what} is not supported"),
        };
        for output in outputs {
            match PyValue::of(output, &self.values) {
                PyValue::Tensor(value) if self.builder.known.is_lost(value) => {
                    let Unsupported(message) = self.builder.lost(value);
                    return Err(SampleError::Syntax { place: self.source.place(self.last), message });
                }
                PyValue::Tensor(value) => self.builder.graph.outputs.push(value),
                // What is no tensor is known, and the same for every program.
                PyValue::None | PyValue::Bool(_) | PyValue::Int(_) | PyValue::Float(_) => {}
                other => return Err(refused(&format!("a {}", other.kind()))),
            }
        }
        if self.builder.graph.outputs.is_empty() {
            return Err(refused("no tensor"));
        }
        let Translator { builder, values, random, nodes, .. } = self;
        let fixed = builder.known.fixed().clone();
        Ok(Translation { graph: builder.graph, inputs: builder.sources, fixed, values, random, nodes })
    }

    /// Random numbers become an input of the graph when they are first read: what nobody reads costs nothing.
    fn read(&mut self, value: ValueRef) {
        if let Some(slot) = self.values.get_mut(value.index())
            && let PyValue::Random(drawn) = slot
        {
            *slot = self.builder.materialise(drawn.clone());
            self.random.push(value);
        }
    }
}

/// Translates one call; an error comes with the call as it would be shown.
fn call(
    builder: &mut GraphBuilder<'_>,
    node: &TraceNode,
    values: &[PyValue],
) -> Result<PyValue, (String, Unsupported)> {
    let positional: Vec<PyValue> = node.args.iter().map(|argument| PyValue::of(argument, values)).collect();
    let keyword = node.kwargs.iter().map(|(name, value)| (name.clone(), PyValue::of(value, values))).collect();
    let arguments = Arguments { positional, keyword };
    let kinds = arguments.kinds();
    let result = match &node.target {
        CallTarget::Function(path) if path == "torch.nn.functional.multi_head_attention_forward" => {
            attention::multi_head(builder, arguments).and_then(|function| written_out(builder, function))
        }
        CallTarget::Function(path) => functions::function(builder, path, arguments),
        CallTarget::Method(name) => methods::method(builder, name, arguments),
        CallTarget::Attribute(name) => {
            arguments.bind("object").and_then(|[object]| methods::attribute(builder, object, name))
        }
        CallTarget::Operator(name) => operators::operator(builder, name, arguments.positional),
        CallTarget::InPlace(name) => {
            arguments.bind("left, right").and_then(|[left, right]| operators::in_place(builder, name, left, right))
        }
        CallTarget::GetItem => {
            arguments.bind("base, index").and_then(|[base, index]| indexing::get(builder, base, one_index(index, node)))
        }
        CallTarget::SetItem => arguments
            .bind("base, index, value")
            .and_then(|[base, index, value]| indexing::set(builder, base, one_index(index, node), value)),
    };
    result.map_err(|error| (shown(&node.target, &kinds), error))
}

/// What a function returns that PyTorch has in Python.
fn written_out(builder: &mut GraphBuilder<'_>, function: PythonFunction) -> Result<PyValue, Unsupported> {
    let (parameters, mut values): (Vec<&str>, Vec<PyValue>) = function.names.into_iter().unzip();
    let body: String = function.body.lines().map(|line| format!("        {line}\n")).collect();
    let text = format!("class Function:\n    def forward(self, {}):\n{body}", parameters.join(", "));
    let program = parse(&PythonSource::new("a function of PyTorch".to_owned(), &text));
    let program = program.map_err(|error| Unsupported(error.to_string()))?;
    for node in &program.nodes {
        values.push(call(builder, node, &values).map_err(|(_, error)| error)?);
    }
    Ok(PyValue::List(program.outputs.iter().map(|output| PyValue::of(output, &values)).collect()))
}

/// `x[[0, 1]]` gathers, `x[0, 1]` selects twice.
fn one_index(index: PyValue, node: &TraceNode) -> PyValue {
    if let Some(Expr::List(_)) = node.args.get(1) { PyValue::List(vec![index]) } else { index }
}

/// The call with the kinds of its arguments: `torch.cat([T, T], dim=int)`.
fn shown(target: &CallTarget, kinds: &[String]) -> String {
    let argument = |position: usize| kinds.get(position).map_or("?", String::as_str);
    match target {
        CallTarget::Function(path) => format!("{path}({})", kinds.join(", ")),
        CallTarget::Method(name) => {
            format!("{}.{name}({})", argument(0), kinds.get(1..).unwrap_or_default().join(", "))
        }
        CallTarget::Attribute(name) => format!("{}.{name}", argument(0)),
        CallTarget::Operator(name) => format!("{name}({})", kinds.join(", ")),
        CallTarget::InPlace(name) => format!("i{name}({})", kinds.join(", ")),
        CallTarget::GetItem => format!("{}[{}]", argument(0), argument(1)),
        CallTarget::SetItem => format!("{}[{}] = {}", argument(0), argument(1), argument(2)),
    }
}
