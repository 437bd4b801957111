//! A range of calls as a sample: its text, the records of its inputs, its hashes.

use super::cut::Cut;
use super::interval::Interval;
use super::refusal::Refusal;
use super::steps::Steps;
use super::values::{computed, fit};
use base16ct::lower::encode_string;
use passhost_ir::{Dtype, Infer, OpTable, TensorType, canonical_text, functionalise};
use passhost_sample::fx::{Expr, Trace};
use passhost_sample::{Reading, Weight, model_text, weight_text};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

/// A range of calls that can be a sample, not yet read back.
#[derive(Debug, Clone)]
pub struct Draft {
    nodes: Range<usize>,
    program: Trace,
    weights: Vec<Weight>,
    /// For each weight whether the model computes it.
    computed: Vec<bool>,
}

/// A piece of a model that is a sample of its own.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The nodes of the model's program that it was cut from.
    pub nodes: Range<usize>,
    /// The names of its ops, in order.
    pub ops: Vec<String>,
    /// Its ops and how they are connected, without numbers and element types: what the variants of a task share.
    pub skeleton: String,
    /// SHA-256 of the canonical text of its functional graph, in hexadecimal.
    pub hash: String,
    /// The element type that most of its float inputs have; that of any input, or of the result, if none is a float.
    pub dtype: Dtype,
    /// What it calls.
    pub program: Trace,
    /// The records of its parameters.
    pub weights: Vec<Weight>,
}

impl Draft {
    /// Of a range of the model's program that was cut out. `ranges` has what is known of each tensor of the model.
    pub(super) fn new(steps: &Steps<'_>, nodes: Range<usize>, cut: Cut, ranges: &[Interval]) -> Result<Draft, Refusal> {
        let graph = steps.graph();
        let mut draft = Draft { nodes, program: cut.program, weights: vec![], computed: vec![] };
        for (position, &input) in cut.inputs.iter().enumerate() {
            let value = graph.value(input);
            if value.ty.dtype.is_complex() {
                return Err(Refusal::Input(value.ty.to_string()));
            }
            let name = format!("in_{position}");
            // A view of a parameter has the same elements, or some of them, and so about the same statistics.
            let recorded = steps.record(steps.memory.base(input)).filter(|weight| weight.ty.dtype == value.ty.dtype);
            let is_whole = steps.record(input).is_some();
            let mut weight = match recorded {
                Some(weight) => {
                    let known = Weight { name, ty: contiguous(&value.ty), ..weight.clone() };
                    if is_whole { known } else { without_elements(known) }
                }
                None => computed(name, &value.ty, ranges[input.index()]),
            };
            weight.original_name =
                Some(recorded.filter(|_| is_whole).map_or(&value.name, |weight| &weight.name).clone());
            draft.computed.push(recorded.is_none());
            draft.weights.push(weight);
        }
        Ok(draft)
    }

    /// What tells it from all others: its text and the types of its inputs.
    pub fn key(&self) -> [u8; 32] {
        let mut text = model_text(&self.program);
        for weight in &self.weights {
            let _ = write!(text, "{};", weight.ty);
        }
        Sha256::digest(text).into()
    }

    /// The nodes of the model's program that it was cut from.
    pub fn nodes(&self) -> Range<usize> {
        self.nodes.clone()
    }

    /// Reads it back and completes the records of its inputs. `infer` knows the types of what ops return.
    ///
    /// # Errors
    ///
    /// If it is no sample, or its inputs cannot be drawn so that it runs.
    pub fn read(mut self, infer: &mut dyn Infer) -> Result<Piece, Refusal> {
        let text = model_text(&self.program);
        let reading = Reading::of_texts(&text, &weight_text(&self.weights), infer)?;
        for (position, weight) in self.weights.iter_mut().enumerate() {
            if !reading.is_fixed(position) {
                forget_uniform_mask(weight);
            }
        }
        let functional = functionalise(reading.graph(), OpTable::sample())?;
        let canonical = canonical_text(&functional.graph, OpTable::sample()).ok_or(Refusal::NoResult)?;
        fit(reading.graph(), &mut self.weights, &self.computed)?;
        let result = reading.graph().outputs.first().map(|&output| reading.graph().ty(output).dtype);
        Ok(Piece {
            ops: self.program.nodes.iter().map(|node| node.target.op_name()).collect(),
            skeleton: skeleton(&self.program),
            hash: digest(&canonical),
            dtype: main_dtype(&self.weights).or(result).unwrap_or(Dtype::F32),
            nodes: self.nodes,
            program: self.program,
            weights: self.weights,
        })
    }
}

/// A mask that was recorded where it masks nothing, or all, would be drawn like that each time.
fn forget_uniform_mask(weight: &mut Weight) {
    let whole = weight.ty.dtype.is_integer() || weight.ty.dtype == Dtype::Bool;
    let elements = weight.data.as_deref().filter(|_| whole).unwrap_or_default();
    if elements.len() > 1 && elements.iter().all(|&element| element == elements[0] && (0.0..=1.0).contains(&element)) {
        weight.data = None;
        (weight.min, weight.max) = if weight.ty.dtype == Dtype::Bool { (None, None) } else { (Some(0.0), Some(1.0)) };
    }
}

/// The record of a part of a tensor: its bounds are those of all.
fn without_elements(mut weight: Weight) -> Weight {
    if weight.data.is_some() && !weight.ty.dtype.is_float() {
        let Interval { low, high } = Interval::of_weight(&weight);
        (weight.min, weight.max) = (Some(low), Some(high));
    }
    weight.data = None;
    weight
}

fn contiguous(ty: &TensorType) -> TensorType {
    TensorType::contiguous(ty.dtype, &ty.shape[..])
}

/// The element type of most float inputs, the narrowest of several; that of the first input if none is a float.
fn main_dtype(weights: &[Weight]) -> Option<Dtype> {
    let mut counts: HashMap<Dtype, usize> = HashMap::new();
    for weight in weights.iter().filter(|weight| weight.ty.dtype.is_float()) {
        *counts.entry(weight.ty.dtype).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|&(dtype, count)| (count, std::cmp::Reverse(dtype)));
    most.map(|(dtype, _)| dtype).or_else(|| weights.first().map(|weight| weight.ty.dtype))
}

/// The ops of a program and what each takes, without numbers and element types.
fn skeleton(program: &Trace) -> String {
    let mut text = String::new();
    for node in &program.nodes {
        let _ = write!(text, "{}(", node.target.op_name());
        node.args.iter().for_each(|argument| shape_of(argument, &mut text));
        for (name, argument) in &node.kwargs {
            let _ = write!(text, "{name}=");
            shape_of(argument, &mut text);
        }
        text.push(')');
    }
    text.push_str("->");
    program.outputs.iter().for_each(|output| shape_of(output, &mut text));
    text
}

fn shape_of(argument: &Expr, text: &mut String) {
    match argument {
        Expr::Value(value) => {
            let _ = write!(text, "%{},", value.0);
        }
        Expr::Int(_) | Expr::Float(_) | Expr::Constant(_) | Expr::Device(..) => text.push_str("#,"),
        Expr::None => text.push_str("None,"),
        Expr::Bool(value) => {
            let _ = write!(text, "{value},");
        }
        Expr::Str(value) => {
            let _ = write!(text, "{value:?},");
        }
        Expr::Ellipsis => text.push_str("...,"),
        Expr::Slice(parts) => {
            text.push_str("slice(");
            parts.iter().for_each(|part| shape_of(part, text));
            text.push_str("),");
        }
        Expr::List(items) | Expr::Tuple(items) => {
            text.push('[');
            items.iter().for_each(|item| shape_of(item, text));
            text.push_str("],");
        }
    }
}

fn digest(text: &str) -> String {
    encode_string(&Sha256::digest(text))
}
