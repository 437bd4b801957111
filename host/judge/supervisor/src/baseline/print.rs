//! A verified program as the calls that Python makes: names of our own, ops of our table, and arguments that are printed
//! here. No text of a sample gets into it.

use passhost_ir::{Arg, Graph, MemoryFormat, Node, NodeKind, OpTable, Schema, SchemaArg, TensorType, ValueId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// A program in the words of Python.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct PythonProgram {
    /// Names of the parameters.
    inputs: Vec<String>,
    calls: Vec<PythonCall>,
    /// Names of what is returned.
    outputs: Vec<String>,
}

/// A call of an op.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct PythonCall {
    /// Without its namespace.
    op: String,
    overload: String,
    /// Positional ones, without those at the end that are the defaults.
    arguments: Vec<String>,
    /// Those that can only be given by name and are not the defaults.
    keywords: Vec<(String, String)>,
    /// Names of what it defines.
    results: Vec<String>,
    /// Whether it returns several, or a list.
    unpacks: bool,
    /// Values of calls that nobody reads behind this one.
    dead: Vec<String>,
}

/// An input or an output in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub(super) struct Spec {
    dtype: String,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// Why a program has no form in Python.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PrintError {
    /// Its op is not on our list.
    #[error("node {node} calls `{op}`, which is not on the list of ops")]
    Op { node: u32, op: String },
    /// An argument that no sample should have.
    #[error("node {node} (`{op}`): `{argument}` is no word: {text:?}")]
    Text { node: u32, op: String, argument: String, text: String },
    /// A rewrite's kernel: there is none in a reference program.
    #[error("node {node} is a kernel")]
    Kernel { node: u32 },
}

impl PythonProgram {
    /// Of a reference program for `device`, `cpu` or `cuda:0`.
    pub fn of(graph: &Graph, device: &str) -> Result<PythonProgram, PrintError> {
        let calls = graph.nodes.iter().zip(let_go(graph));
        let calls = calls.map(|(node, dead)| Ok(PythonCall { dead: names(&dead), ..call(node, device)? }));
        let (inputs, outputs) = (names(&graph.inputs), names(&graph.outputs));
        Ok(PythonProgram { inputs, calls: calls.collect::<Result<_, _>>()?, outputs })
    }
}

impl Spec {
    pub fn of(ty: &TensorType) -> Spec {
        Spec { dtype: ty.dtype.torch_name().into(), shape: ty.shape.to_vec(), strides: ty.strides.to_vec() }
    }

    /// The type that it describes, if there is one.
    pub fn ty(&self) -> Option<TensorType> {
        let dtype = passhost_ir::Dtype::from_torch_name(&self.dtype)?;
        let mut ty = TensorType::contiguous(dtype, self.shape.clone());
        if self.strides.len() != self.shape.len() || self.shape.iter().any(|&extent| extent < 0) {
            return None;
        }
        ty.strides.clone_from(&self.strides);
        Some(ty)
    }
}

/// For each node the values of nodes that nobody reads behind it and that are not returned.
fn let_go(graph: &Graph) -> Vec<Vec<ValueId>> {
    let mut last: BTreeMap<ValueId, usize> = BTreeMap::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        last.extend(node.outputs.iter().chain(&node.operands()).map(|value| (*value, at)));
    }
    graph.inputs.iter().chain(&graph.outputs).for_each(|value| {
        last.remove(value);
    });
    let mut dead = vec![vec![]; graph.nodes.len()];
    last.into_iter().for_each(|(value, at)| dead[at].push(value));
    dead
}

fn name(value: ValueId) -> String {
    format!("v{}", value.0)
}

fn names(values: &[ValueId]) -> Vec<String> {
    values.iter().copied().map(name).collect()
}

fn call(node: &Node, device: &str) -> Result<PythonCall, PrintError> {
    let id = node.id.0;
    let NodeKind::Aten { op, args } = &node.kind else { return Err(PrintError::Kernel { node: id }) };
    let unknown = || PrintError::Op { node: id, op: op.to_string() };
    let schema = OpTable::sample().get(op).filter(|schema| schema.args.len() == args.len()).ok_or_else(unknown)?;
    let short = op.name.strip_prefix("aten::").ok_or_else(unknown)?;
    let given = schema.args.iter().zip(args);
    // Where the schema has `alpha` last, Python's bindings take it by name alone, or by name as well.
    let ends_in_alpha = |declared: &SchemaArg| declared.name == "alpha" && schema.args.last() == Some(declared);
    let (positional, keywords): (Vec<_>, Vec<_>) =
        given.partition(|(declared, _)| !declared.kwarg_only && !ends_in_alpha(declared));
    // Where no reduction is given, Python's bindings of losses take none, whatever the schema says.
    let is_default = |(declared, arg): &(&SchemaArg, &Arg)| {
        declared.name != "reduction" && declared.default.as_ref().is_some_and(|default| same(default, arg))
    };
    let needed = positional.iter().rposition(|given| !is_default(given)).map_or(0, |last| last + 1);
    let printed = |(declared, arg): &(&SchemaArg, &Arg)| {
        text(arg, device).map_err(|text| PrintError::Text {
            node: id,
            op: op.to_string(),
            argument: declared.name.clone(),
            text,
        })
    };
    let arguments = positional[..needed].iter().map(printed).collect::<Result<_, _>>()?;
    let named = keywords.iter().filter(|given| !is_default(given));
    let keywords = named.map(|given| Ok((given.0.name.clone(), printed(given)?))).collect::<Result<_, _>>()?;
    let (op, overload) = (short.to_owned(), op.overload.clone());
    Ok(PythonCall {
        op,
        overload,
        arguments,
        keywords,
        results: names(&node.outputs),
        unpacks: unpacks(schema),
        dead: vec![],
    })
}

fn unpacks(schema: &Schema) -> bool {
    schema.returns.len() > 1 || schema.returns.iter().any(|result| result.ty.list.is_some())
}

/// Floats compare by their bits: `-0.0` is not the default `0.0`.
fn same(default: &Arg<Infallible>, given: &Arg) -> bool {
    match (default, given) {
        (Arg::Float(default), Arg::Float(given)) => default.to_bits() == given.to_bits(),
        _ => default.map(|&never| match never {}) == *given,
    }
}

/// An argument as Python's text; the string that has no safe one is the error.
fn text(arg: &Arg, device: &str) -> Result<String, String> {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    Ok(match arg {
        Arg::None => "None".into(),
        Arg::Bool(flag) => boolean(*flag).into(),
        Arg::Int(number) => number.to_string(),
        Arg::Float(number) => float(*number),
        Arg::Str(word) if is_word(word) => format!("'{word}'"),
        Arg::Str(text) => return Err(text.clone()),
        Arg::Dtype(dtype) => format!("torch.{}", dtype.torch_name()),
        Arg::MemoryFormat(format) => memory_format(*format).into(),
        Arg::Strided => "torch.strided".into(),
        Arg::Device => format!("torch.device('{device}')"),
        Arg::Value(value) => name(*value),
        Arg::Values(values) => list(names(values)),
        Arg::OptionalValues(values) => {
            list(values.iter().map(|value| value.map_or_else(|| "None".into(), name)).collect())
        }
        Arg::Ints(numbers) => list(numbers.iter().map(ToString::to_string).collect()),
        Arg::Floats(numbers) => list(numbers.iter().copied().map(float).collect()),
        Arg::Bools(flags) => list(flags.iter().map(|flag| boolean(*flag).to_owned()).collect()),
    })
}

fn boolean(flag: bool) -> &'static str {
    if flag { "True" } else { "False" }
}

/// A literal that reads as the same number: one that is too large for a float is infinite.
fn float(number: f64) -> String {
    match number {
        _ if number.is_nan() => "(1e999 - 1e999)".into(),
        f64::INFINITY => "1e999".into(),
        f64::NEG_INFINITY => "-1e999".into(),
        _ => format!("{number:?}"),
    }
}

/// `tanh`, `reflect`, `bij,bjk->bik`: nothing that ends a literal.
fn is_word(text: &str) -> bool {
    text.chars().all(|char| char.is_ascii_alphanumeric() || "_,.-> ".contains(char))
}

fn memory_format(format: MemoryFormat) -> &'static str {
    match format {
        MemoryFormat::Contiguous => "torch.contiguous_format",
        MemoryFormat::Preserve => "torch.preserve_format",
        MemoryFormat::ChannelsLast => "torch.channels_last",
        MemoryFormat::ChannelsLast3d => "torch.channels_last_3d",
    }
}

#[cfg(test)]
mod tests;
