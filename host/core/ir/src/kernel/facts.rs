//! What the verifier learns about a kernel: classes and ranges.

use super::interval::Interval;
use super::{Class, IndexExpr, IndexId, Kernel, KernelError, KernelLine, KernelRule, Op, Reg};

/// Index arithmetic stays within this distance of 0, so that adding a base or an extent to it cannot overflow.
const INDEX_MARGIN: i128 = 1 << 62;

/// What is known of each value and index expression of a verified kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The class of each body value.
    pub classes: Vec<Class>,
    /// The class of each index expression.
    pub index_classes: Vec<Class>,
    /// The range of each index expression.
    pub index_intervals: Vec<Interval>,
    /// How many instructions must have run before each index expression can be evaluated; 0 without gathers.
    pub index_needs: Vec<u32>,
    /// The range of each body value of integer or `bool` type; `None` for floats.
    pub value_intervals: Vec<Option<Interval>>,
    /// For each instruction, for each dimension of a load: whether its index is proven in bounds. Empty for others.
    pub in_bounds: Vec<Vec<bool>>,
}

impl Facts {
    /// The class of a body value.
    pub fn class(&self, value: Reg) -> Class {
        self.classes[value.0 as usize]
    }

    /// The class of an index expression.
    pub fn index_class(&self, index: IndexId) -> Class {
        self.index_classes[index.0 as usize]
    }

    /// The range of an index expression.
    pub fn index_interval(&self, index: IndexId) -> Interval {
        self.index_intervals[index.0 as usize]
    }

    /// Whether every index of this load is proven in bounds: it needs no guard.
    pub fn load_in_bounds(&self, load: Reg) -> bool {
        self.in_bounds[load.0 as usize].iter().all(|&proven| proven)
    }
}

/// Walks the body once. An index expression is looked at as soon as the values it needs are known; `needs` says how
/// many instructions that takes.
pub(super) fn derive(kernel: &Kernel, needs: &[u32]) -> Result<Facts, KernelError> {
    let ready = index_order(kernel, needs);
    let count = kernel.index.len();
    let mut facts = Facts {
        classes: Vec::with_capacity(kernel.body.len()),
        index_classes: vec![Class::Row; count],
        index_intervals: vec![Interval::point(0); count],
        index_needs: needs.to_vec(),
        value_intervals: Vec::with_capacity(kernel.body.len()),
        in_bounds: Vec::with_capacity(kernel.body.len()),
    };
    for (position, indices) in ready.into_iter().enumerate() {
        for index in indices {
            facts.index_classes[index.0 as usize] = index_class(kernel, &facts, index);
            facts.index_intervals[index.0 as usize] = index_interval(kernel, &facts, index)?;
        }
        if position < kernel.body.len() {
            let at = Reg(position as u32);
            let class = value_class(kernel, &facts, at);
            let interval = value_interval(kernel, &facts, at);
            let in_bounds = load_bounds(kernel, &facts, at);
            facts.classes.push(class);
            facts.value_intervals.push(interval);
            facts.in_bounds.push(in_bounds);
        }
    }
    Ok(facts)
}

/// For each position of the body, and for its end, the index expressions that can be evaluated there and not before.
pub(super) fn index_order(kernel: &Kernel, needs: &[u32]) -> Vec<Vec<IndexId>> {
    let mut ready: Vec<Vec<IndexId>> = vec![Vec::new(); kernel.body.len() + 1];
    for (index, &needed) in (0..).map(IndexId).zip(needs) {
        ready[needed as usize].push(index);
    }
    ready
}

fn join(classes: impl IntoIterator<Item = Class>) -> Class {
    if classes.into_iter().any(|class| class == Class::Elem) { Class::Elem } else { Class::Row }
}

fn index_class(kernel: &Kernel, facts: &Facts, index: IndexId) -> Class {
    match kernel.index[index.0 as usize] {
        IndexExpr::Axis(axis) if axis as usize >= kernel.parallel.len() => Class::Elem,
        IndexExpr::Axis(_) | IndexExpr::Const(_) => Class::Row,
        IndexExpr::Add(a, b) | IndexExpr::Sub(a, b) => join([facts.index_class(a), facts.index_class(b)]),
        IndexExpr::Mul(a, _) | IndexExpr::FloorDiv(a, _) | IndexExpr::Mod(a, _) => facts.index_class(a),
        IndexExpr::Value(value) => facts.class(value),
    }
}

fn index_interval(kernel: &Kernel, facts: &Facts, index: IndexId) -> Result<Interval, KernelError> {
    let of = |id: IndexId| facts.index_interval(id);
    let interval = match kernel.index[index.0 as usize] {
        // An empty axis has no position; 0 stands in, since nothing is ever evaluated there.
        IndexExpr::Axis(axis) => Interval::new(0, i128::from(kernel.extent(axis).unwrap_or(0)).max(1) - 1),
        IndexExpr::Const(value) => Interval::point(value),
        IndexExpr::Add(a, b) => of(a) + of(b),
        IndexExpr::Sub(a, b) => of(a) - of(b),
        IndexExpr::Mul(a, factor) => of(a) * Interval::point(factor),
        IndexExpr::FloorDiv(a, divisor) => return Ok(of(a).floor_div(divisor)),
        IndexExpr::Mod(a, divisor) => return Ok(of(a).floor_mod(divisor)),
        // A gathered value may be any integer: no arithmetic has touched it, and a load guards it.
        IndexExpr::Value(value) => return Ok(value_range(kernel, facts, value)),
    };
    if interval.low < -INDEX_MARGIN || interval.high > INDEX_MARGIN {
        let rule = KernelRule::IndexOverflow(interval.low, interval.high);
        return Err(rule.broken_by(KernelLine::Index(index.0)));
    }
    Ok(interval)
}

fn value_class(kernel: &Kernel, facts: &Facts, at: Reg) -> Class {
    match &kernel.body[at.0 as usize].op {
        Op::Const(_) | Op::Reduce(..) => Class::Row,
        Op::Scan(..) => Class::Elem,
        Op::Index(index) => facts.index_class(*index),
        Op::Load { index, .. } => join(index.iter().map(|&index| facts.index_class(index))),
        op => join(op.operands().into_iter().map(|operand| facts.class(operand))),
    }
}

/// The range of an integer or `bool` value; of its type where nothing better is known.
fn value_range(kernel: &Kernel, facts: &Facts, value: Reg) -> Interval {
    let position = value.0 as usize;
    let known = facts.value_intervals.get(position).copied().flatten();
    known.or_else(|| Interval::of(kernel.body[position].dtype)).unwrap_or(Interval::point(0))
}

fn value_interval(kernel: &Kernel, facts: &Facts, at: Reg) -> Option<Interval> {
    let inst = &kernel.body[at.0 as usize];
    let range = Interval::of(inst.dtype)?;
    let of = |value: Reg| value_range(kernel, facts, value);
    let operand_is_integer = |value: Reg| !kernel.body[value.0 as usize].dtype.is_float();
    Some(match inst.op {
        Op::Const(super::Scalar::Int(value)) => Interval::point(value),
        Op::Const(super::Scalar::Bool(value)) => Interval::point(value.into()),
        Op::Index(index) => facts.index_interval(index),
        Op::Unary(op, a) if operand_is_integer(a) => (op.interval())(range, of(a)).or_wrapped(range),
        Op::Binary(op, a, b) => (op.interval())(range, of(a), of(b)).or_wrapped(range),
        Op::Select(_, a, b) => of(a).union(of(b)),
        Op::Cast(a) if operand_is_integer(a) && range.contains(of(a)) => of(a),
        Op::Reduce(op, a) => {
            let count = i128::from(kernel.row_length());
            (op.interval())(range, of(a), Interval::new(count, count)).or_wrapped(range)
        }
        Op::Scan(op, a) => {
            let longest = i128::from(kernel.reduce.last().copied().unwrap_or(1));
            (op.reduction().interval())(range, of(a), Interval::new(1, longest)).or_wrapped(range)
        }
        _ => range,
    })
}

fn load_bounds(kernel: &Kernel, facts: &Facts, at: Reg) -> Vec<bool> {
    let Op::Load { input, index, .. } = &kernel.body[at.0 as usize].op else { return Vec::new() };
    let shape = &kernel.inputs[*input as usize].shape;
    index.iter().zip(shape).map(|(&index, &extent)| facts.index_interval(index).within_extent(extent)).collect()
}
