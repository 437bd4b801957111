//! Tensors whose elements are known before anything runs: recorded constants, and what little arithmetic models do on
//! them before they turn them into Python numbers (`stride[0].item()`).

use crate::fx::operator::compared;
use passhost_ir::dims::wrap;
use passhost_ir::{Arg, Dtype, Graph, Schema, ValueId};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Elements beyond this are not followed.
const ELEMENTS: usize = 4096;

/// The elements of a tensor, row-major, and the parameters of `forward` they come from.
#[derive(Debug, Clone, PartialEq)]
struct KnownElements {
    values: Vec<f64>,
    parameters: BTreeSet<usize>,
}

/// The known tensors of a graph under construction.
#[derive(Debug, Default)]
pub struct KnownTensors {
    elements: HashMap<ValueId, KnownElements>,
    /// For views, the value whose memory they are views of.
    base: HashMap<ValueId, ValueId>,
    /// Memory that holds something else than the graph says.
    lost: HashSet<ValueId>,
    fixed: BTreeSet<usize>,
}

impl KnownTensors {
    /// Makes the elements of a parameter known.
    pub fn parameter(&mut self, value: ValueId, position: usize, values: Vec<f64>) {
        if values.len() <= ELEMENTS {
            self.elements.insert(value, KnownElements { values, parameters: BTreeSet::from([position]) });
        }
    }

    /// The elements of a tensor, if they are known. From now on the graph is built on them: the parameters that they
    /// come from must have the recorded values in every draw.
    pub fn read(&mut self, value: ValueId) -> Option<Vec<f64>> {
        let elements = self.elements.get(&value)?;
        self.fixed.extend(&elements.parameters);
        Some(elements.values.clone())
    }

    /// The parameters that must keep their recorded values.
    pub fn fixed(&self) -> &BTreeSet<usize> {
        &self.fixed
    }

    /// Takes note that something has written to the memory of a value which the graph does not show.
    pub fn lose(&mut self, value: ValueId) {
        self.forget(self.base(value));
        self.lost.insert(self.base(value));
    }

    /// Whether a value is in memory that was lost.
    pub fn is_lost(&self, value: ValueId) -> bool {
        self.lost.contains(&self.base(value))
    }

    fn forget(&mut self, base: ValueId) {
        let of_value = &self.base;
        self.elements.retain(|value, _| of_value.get(value).unwrap_or(value) != &base);
    }

    fn base(&self, value: ValueId) -> ValueId {
        self.base.get(&value).copied().unwrap_or(value)
    }

    /// Takes note of a node: what it returns may be known, what it overwrites no longer is.
    pub fn note(&mut self, schema: &Schema, args: &[Arg], outputs: &[ValueId], graph: &Graph) {
        let Some(&source) = args.iter().flat_map(Arg::values).next() else {
            if let ([output], Some(values)) = (outputs, constructed(schema, args, graph.ty(outputs[0]).numel())) {
                self.elements.insert(*output, KnownElements { values, parameters: BTreeSet::new() });
            }
            return;
        };
        let base = self.base(source);
        if schema.is_in_place() {
            self.forget(base);
        }
        // An op that might return a view is taken to.
        for output in outputs {
            self.base.insert(*output, base);
        }
        if schema.is_in_place() {
            return;
        }
        let [output] = outputs else { return };
        if graph.ty(*output).numel() > ELEMENTS as u64 {
            return;
        }
        if let Some(values) = self.computed(schema, args, *output, graph) {
            let operands = args.iter().flat_map(Arg::values);
            let parameters = operands.filter_map(|value| self.elements.get(value)).flat_map(|known| &known.parameters);
            let parameters = parameters.copied().collect();
            self.elements.insert(*output, KnownElements { values, parameters });
        }
    }

    /// The elements that an op returns for known operands.
    fn computed(&self, schema: &Schema, args: &[Arg], output: ValueId, graph: &Graph) -> Option<Vec<f64>> {
        let Some(Arg::Value(source)) = args.first() else { return None };
        let known = &self.elements.get(source)?.values;
        let (from, to) = (graph.ty(*source), graph.ty(output));
        let whole = to.numel() == 1;
        let fold = |f: fn(f64, f64) -> f64| {
            let folded = if whole { known.iter().copied().reduce(f) } else { None };
            folded.map(|one| vec![one])
        };
        let second = || number(args, 1);
        let each = |f: &dyn Fn(f64) -> f64| Some(known.iter().map(|&x| f(x)).collect::<Vec<f64>>());
        let integer = from.dtype.is_integer();
        let name = schema.op.name.trim_start_matches("aten::");
        let values = match (name, schema.op.overload.as_str()) {
            // The same elements in the same order.
            (
                "view" | "reshape" | "flatten" | "unflatten" | "squeeze" | "unsqueeze" | "contiguous" | "clone"
                | "detach" | "alias",
                _,
            ) => known.clone(),
            ("to" | "_to_copy" | "type_as", _) => known.iter().map(|&x| cast(x, to.dtype)).collect::<Option<_>>()?,
            ("select", "int") => {
                let (Some(Arg::Int(dim)), Some(Arg::Int(index))) = (args.get(1), args.get(2)) else { return None };
                selected(known, &from.shape, *dim, *index)?
            }
            ("eq" | "ne" | "lt" | "le" | "gt" | "ge", "Tensor") => {
                let Some(Arg::Value(other)) = args.get(1) else { return None };
                let other = &self.elements.get(other)?.values;
                if other.len() != known.len() {
                    return None;
                }
                let pairs = known.iter().zip(other);
                pairs.map(|(a, b)| Some(f64::from(u8::from(compared(name, a, b)?)))).collect::<Option<_>>()?
            }
            ("bitwise_not" | "logical_not", "") if to.dtype == Dtype::Bool => each(&|x| 1.0 - x)?,
            ("sum", "") => fold(|a, b| a + b)?,
            ("prod", "") => fold(|a, b| a * b)?,
            ("max", "") => fold(f64::max)?,
            ("min", "") => fold(f64::min)?,
            ("add" | "sub", "Scalar") if args.get(2) == Some(&Arg::Int(1)) => {
                let other = if name == "add" { second()? } else { -second()? };
                each(&|x| x + other)?
            }
            ("mul", "Scalar") => {
                let other = second()?;
                each(&|x| x * other)?
            }
            ("floor_divide", "Scalar") if integer => {
                let other = second().filter(|&other| other != 0.0)?;
                each(&|x| (x / other).floor())?
            }
            _ => return None,
        };
        // Integers stay exact as floats up to 2^53; an element beyond that is not followed.
        let exact = |x: &f64| !to.dtype.is_integer() || x.abs() < 9.0e15;
        (values.len() as u64 == to.numel() && values.iter().all(exact)).then_some(values)
    }
}

/// What `select` takes out of row-major elements.
fn selected(elements: &[f64], shape: &[i64], dim: i64, index: i64) -> Option<Vec<f64>> {
    let dim = wrap(dim, shape.len())?;
    let extent = usize::try_from(shape[dim]).ok()?;
    let index = wrap(index, extent)?;
    let inner = usize::try_from(shape[dim + 1..].iter().product::<i64>()).ok()?;
    let blocks = elements.chunks_exact(extent.checked_mul(inner).filter(|&length| length > 0)?);
    Some(blocks.flat_map(|block| &block[index * inner..(index + 1) * inner]).copied().collect())
}

/// The elements of a tensor that an op makes of numbers.
fn constructed(schema: &Schema, args: &[Arg], count: u64) -> Option<Vec<f64>> {
    let count = usize::try_from(count).ok().filter(|&count| count <= ELEMENTS)?;
    match schema.op.name.as_str() {
        "aten::scalar_tensor" => Some(vec![number(args, 0)?]),
        "aten::full" => Some(vec![number(args, 1)?; count]),
        "aten::zeros" => Some(vec![0.0; count]),
        "aten::ones" => Some(vec![1.0; count]),
        _ => None,
    }
}

/// The argument at a position, if it is a number.
fn number(args: &[Arg], position: usize) -> Option<f64> {
    match args.get(position)? {
        Arg::Int(value) => Some(*value as f64),
        Arg::Float(value) => Some(*value),
        _ => None,
    }
}

/// An element after a conversion; `None` for those that are rounded here otherwise than by PyTorch.
fn cast(x: f64, dtype: Dtype) -> Option<f64> {
    match dtype {
        Dtype::Bool => Some(f64::from(u8::from(x != 0.0))),
        Dtype::F64 => Some(x),
        Dtype::F32 => Some(f64::from(x as f32)),
        dtype if dtype.is_integer() => Some(x.trunc()),
        _ => None,
    }
}
