//! Between which numbers the elements of each tensor lie, as far as that follows from the recorded bounds of the inputs.
//!
//! Inputs of a piece that the model computes have no recorded statistics. What is known of their range is recorded: an
//! index stays inside its table, an additive mask stays a mask, what is positive stays so.

use super::class::{class_of, plain_name};
use super::memory::Memory;
use passhost_ir::ops::Class;
use passhost_ir::{Arg, Dtype, Graph, Node, NodeKind, TensorType, ValueId};
use passhost_sample::Weight;
use std::collections::HashMap;

/// A closed range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Interval {
    pub(super) const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    pub(super) fn new(low: f64, high: f64) -> Interval {
        if low.is_nan() || high.is_nan() || low > high { Interval::ALL } else { Interval { low, high } }
    }

    fn point(value: f64) -> Interval {
        Interval::new(value, value)
    }

    fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What is in both; one that would be empty is not narrowed.
    fn within(self, other: Interval) -> Interval {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        if low <= high { Interval { low, high } } else { other }
    }

    /// All that numbers of a type can be.
    fn of_type(dtype: Dtype) -> Interval {
        match dtype {
            Dtype::Bool => Interval::new(0.0, 1.0),
            Dtype::U8 => Interval::new(0.0, 255.0),
            _ => Interval::ALL,
        }
    }

    /// What a record says of a tensor. Integers without bounds are drawn as zeros and ones.
    pub(super) fn of_weight(weight: &Weight) -> Interval {
        if let Some(elements) = &weight.data {
            let hull = elements.iter().copied().map(Interval::point).reduce(Interval::hull);
            return hull.unwrap_or(Interval::ALL);
        }
        let whole = !weight.ty.dtype.is_float();
        match (weight.min, weight.max) {
            (Some(low), Some(high)) => Interval::new(low, high),
            _ if whole => Interval::new(0.0, 1.0),
            (low, high) => Interval::new(low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)),
        }
    }

    fn times(self, other: Interval) -> Interval {
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let corners = [
            product(self.low, other.low),
            product(self.low, other.high),
            product(self.high, other.low),
            product(self.high, other.high),
        ];
        Interval::new(
            corners.iter().copied().fold(f64::INFINITY, f64::min),
            corners.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    fn plus(self, other: Interval) -> Interval {
        Interval::new(self.low + other.low, self.high + other.high)
    }

    fn negated(self) -> Interval {
        Interval { low: -self.high, high: -self.low }
    }

    /// One over it; everything if it holds zero.
    fn inverse(self) -> Interval {
        if self.low > 0.0 || self.high < 0.0 { Interval::new(1.0 / self.high, 1.0 / self.low) } else { Interval::ALL }
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval::new(f(self.low), f(self.high))
    }
}

/// The range of every tensor of a program whose inputs have these ranges, at every time: a tensor that is overwritten
/// has the ranges before and after.
pub(super) fn intervals(graph: &Graph, memory: &Memory, input: impl Fn(ValueId) -> Interval) -> Vec<Interval> {
    let mut found: Vec<Interval> = graph.values.iter().map(|value| Interval::of_type(value.ty.dtype)).collect();
    let mut sharing: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
    for &value in &graph.inputs {
        found[value.index()] = input(value).within(Interval::of_type(graph.ty(value).dtype));
        sharing.entry(memory.base(value)).or_default().push(value);
    }
    for (position, node) in graph.nodes.iter().enumerate() {
        for (number, &output) in node.outputs.iter().enumerate() {
            let ty = graph.ty(output);
            let known = Call { graph, node, found: &found, ty }.result(number);
            found[output.index()] = known.within(Interval::of_type(ty.dtype));
            sharing.entry(memory.base(output)).or_default().push(output);
        }
        if let Some(written) = memory.written(position) {
            let new = found[written.index()];
            for other in sharing.get(&memory.base(written)).into_iter().flatten() {
                found[other.index()] = found[other.index()].hull(new);
            }
        }
    }
    found
}

/// Ops whose results lie between elements of their only operand.
const WITHIN_OPERAND: &[&str] = &[
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "amax",
    "amin",
    "aminmax",
    "cummax",
    "cummin",
    "dropout",
    "max",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mean",
    "median",
    "min",
    "sort",
    "topk",
];

/// A call whose operands' ranges are known.
struct Call<'a> {
    graph: &'a Graph,
    node: &'a Node,
    found: &'a [Interval],
    /// Of the result.
    ty: &'a TensorType,
}

impl Call<'_> {
    /// The range of result `number`.
    fn result(&self, number: usize) -> Interval {
        let NodeKind::Aten { op, args } = &self.node.kind else { return Interval::ALL };
        let name = plain_name(op);
        let first = self.at(args, 0);
        // The places of the largest, or of all in order.
        if number == 1 && self.ty.dtype == Dtype::I64 {
            return Interval::new(0.0, (self.longest() - 1.0).max(0.0));
        }
        let known = self.made(name, args).or_else(|| self.calculated(name, args)).or_else(|| self.selected(name, args));
        known.unwrap_or_else(|| match class_of(self.graph, self.node) {
            // Also a join: every element is one of some operand.
            Class::View | Class::Movement => {
                let operands = args.iter().filter(|arg| !matches!(arg, Arg::Int(_))).flat_map(Arg::values);
                operands.map(|&operand| self.found[operand.index()]).reduce(Interval::hull).unwrap_or(Interval::ALL)
            }
            Class::Gather => first,
            _ => Interval::ALL,
        })
    }

    /// The range of what a constructor makes, or an op whose result counts places.
    fn made(&self, name: &str, args: &[Arg]) -> Option<Interval> {
        Some(match name {
            "arange" => self.arange(args),
            "zeros" | "zeros_like" | "new_zeros" | "zero" => Interval::point(0.0),
            "ones" | "ones_like" | "new_ones" => Interval::point(1.0),
            "eye" | "one_hot" => Interval::new(0.0, 1.0),
            "scalar_tensor" => self.at(args, 0),
            "full" | "full_like" | "fill" | "copy" => self.at(args, 1),
            "new_full" => self.at(args, 2),
            "argmax" | "argmin" => {
                let count = self.operand(args, 0).map_or(0, |ty| ty.numel());
                Interval::new(0.0, count.saturating_sub(1) as f64)
            }
            "argsort" => Interval::new(0.0, (self.longest() - 1.0).max(0.0)),
            _ => return None,
        })
    }

    /// The range of what is calculated element by element.
    fn calculated(&self, name: &str, args: &[Arg]) -> Option<Interval> {
        let first = self.at(args, 0);
        Some(match name {
            "add" | "sub" | "subtract" | "rsub" => self.sum(name, args),
            "mul" | "multiply" if args.first() == args.get(1) => Interval::new(0.0, square(first).high),
            "mul" | "multiply" => first.times(self.at(args, 1)),
            "div" | "divide" | "true_divide" if args.len() == 2 => first.times(self.at(args, 1).inverse()),
            "div" | "divide" | "floor_divide" => self.whole_quotient(first, self.at(args, 1)),
            "remainder" if self.at(args, 1).low > 0.0 => {
                let high = self.at(args, 1).high;
                Interval::new(0.0, if self.ty.dtype.is_integer() { high - 1.0 } else { high })
            }
            "neg" | "negative" => first.negated(),
            "abs" | "absolute" => Interval::new(0.0, first.low.abs().max(first.high.abs())),
            "square" => square(first),
            "pow" => match args.get(1) {
                Some(Arg::Int(exponent)) if exponent % 2 == 0 && *exponent > 0 => {
                    square(first).map(|x| x.powf(*exponent as f64 / 2.0))
                }
                Some(Arg::Float(exponent)) if *exponent == 2.0 => square(first),
                _ if first.low > 0.0 => Interval::new(0.0, f64::INFINITY),
                _ => Interval::ALL,
            },
            "reciprocal" => first.inverse(),
            "relu" => first.map(|x| x.max(0.0)),
            "relu6" => Interval::new(0.0, 6.0),
            "sigmoid" | "softmax" | "_softmax" | "hardsigmoid" => Interval::new(0.0, 1.0),
            "tanh" | "sin" | "cos" | "erf" | "sign" | "cosine_similarity" => Interval::new(-1.0, 1.0),
            "exp" | "rsqrt" | "sqrt" | "softplus" | "var" | "std" | "norm" | "linalg_vector_norm" | "linalg_norm"
            | "count_nonzero" => Interval::new(0.0, f64::INFINITY),
            "ceil" | "floor" | "round" | "trunc" if args.len() == 1 => {
                Interval::new(first.low.floor(), first.high.ceil())
            }
            "clamp" | "clip" | "hardtanh" => self.clamped(first, args.get(1), args.get(2)),
            "clamp_min" => self.clamped(first, args.get(1), None),
            "clamp_max" => self.clamped(first, None, args.get(1)),
            "to" | "_to_copy" | "type_as" if self.ty.dtype.is_integer() => {
                Interval::new(first.low.trunc(), first.high.trunc())
            }
            "to" | "_to_copy" | "type_as" => first,
            _ => return None,
        })
    }

    /// The range of what is chosen among operands, or summed over them.
    fn selected(&self, name: &str, args: &[Arg]) -> Option<Interval> {
        let first = self.at(args, 0);
        Some(match name {
            "maximum" => combined(first, self.at(args, 1), f64::max),
            "minimum" => combined(first, self.at(args, 1), f64::min),
            "where" => self.at(args, 1).hull(self.at(args, 2)),
            "masked_fill" | "constant_pad_nd" => first.hull(self.at(args, 2)),
            "sum" | "nansum" => {
                self.summed(first, self.operand(args, 0).map_or(1, |ty| ty.numel() / self.ty.numel().max(1)))
            }
            "cumsum" => first.hull(self.summed(first, self.longest() as u64)),
            "pad" => first.hull(match args.get(3) {
                Some(Arg::None) | None => Interval::point(0.0),
                Some(_) => self.at(args, 3),
            }),
            "avg_pool1d" | "avg_pool2d" | "avg_pool3d" | "tril" | "triu" | "diag" | "diag_embed" | "block_diag"
            | "im2col" => first.hull(Interval::point(0.0)),
            name if WITHIN_OPERAND.contains(&name) && self.tensors(args) == 1 => first,
            // Sums of any number of elements.
            "index_add" | "scatter_add" if first.low >= 0.0 && self.at(args, 3).low >= 0.0 => {
                Interval::new(first.low, f64::INFINITY)
            }
            "diff" | "upsample_bicubic2d" => Interval::ALL,
            _ => return None,
        })
    }

    /// The largest extent of any dimension of an operand.
    fn longest(&self) -> f64 {
        let shapes = self.node.operands().into_iter().flat_map(|operand| self.graph.ty(operand).shape.clone());
        shapes.max().map_or(0.0, |extent| extent as f64)
    }

    /// The range of an argument: a tensor or a number.
    fn at(&self, args: &[Arg], position: usize) -> Interval {
        match args.get(position) {
            Some(Arg::Value(value)) => self.found[value.index()],
            Some(Arg::Int(value)) => Interval::point(*value as f64),
            Some(Arg::Float(value)) => Interval::point(*value),
            Some(Arg::Bool(value)) => Interval::point(f64::from(u8::from(*value))),
            _ => Interval::ALL,
        }
    }

    fn operand(&self, args: &[Arg], position: usize) -> Option<&TensorType> {
        match args.get(position) {
            Some(Arg::Value(value)) => Some(self.graph.ty(*value)),
            _ => None,
        }
    }

    fn tensors(&self, args: &[Arg]) -> usize {
        args.iter().flat_map(Arg::values).count()
    }

    fn arange(&self, args: &[Arg]) -> Interval {
        let number = |position: usize| self.at(args, position).low;
        let NodeKind::Aten { op, .. } = &self.node.kind else { return Interval::ALL };
        let (start, end, step) = match op.overload.as_str() {
            "" => (0.0, number(0), 1.0),
            "start" => (number(0), number(1), 1.0),
            _ => (number(0), number(1), number(2)),
        };
        let last = start + step * (self.ty.numel() as f64 - 1.0);
        let Interval { low, high } = if self.ty.dtype.is_integer() {
            Interval::point(start).hull(Interval::point(last))
        } else {
            Interval::point(start).hull(Interval::point(end))
        };
        Interval::new(low, high)
    }

    /// `a + alpha * b`, or with the signs of a subtraction.
    fn sum(&self, name: &str, args: &[Arg]) -> Interval {
        let (first, second) = (self.at(args, 0), self.at(args, 1));
        let alpha = if args.len() > 2 { self.at(args, 2) } else { Interval::point(1.0) };
        match name {
            "add" => first.plus(second.times(alpha)),
            "rsub" => second.plus(first.times(alpha).negated()),
            _ => first.plus(second.times(alpha).negated()),
        }
    }

    /// A quotient that is rounded down or towards zero.
    fn whole_quotient(&self, first: Interval, second: Interval) -> Interval {
        let quotient = first.times(second.inverse());
        Interval::new(quotient.low.floor(), quotient.high.ceil())
    }

    fn clamped(&self, x: Interval, low: Option<&Arg>, high: Option<&Arg>) -> Interval {
        let bound = |arg: Option<&Arg>, absent: f64| match arg {
            None | Some(Arg::None) => Interval::point(absent),
            Some(arg) => self.at(std::slice::from_ref(arg), 0),
        };
        let raised = combined(x, bound(low, f64::NEG_INFINITY), f64::max);
        combined(raised, bound(high, f64::INFINITY), f64::min)
    }

    fn summed(&self, x: Interval, count: u64) -> Interval {
        x.times(Interval::point(count as f64))
    }
}

fn square(x: Interval) -> Interval {
    let (low, high) = (x.low * x.low, x.high * x.high);
    let least = if x.low <= 0.0 && x.high >= 0.0 { 0.0 } else { low.min(high) };
    Interval::new(least, low.max(high))
}

fn combined(a: Interval, b: Interval, f: impl Fn(f64, f64) -> f64) -> Interval {
    // An infinite bound as an absent limit is no point.
    Interval { low: f(a.low, b.low), high: f(a.high, b.high) }
}
