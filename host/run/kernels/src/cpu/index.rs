//! The values of index expressions, at one point or at many.

use super::isa::multiversion;
use crate::access::needed_by;
use passhost_ir::kernel::{IndexExpr, IndexId, Kernel, Reg};

/// An index expression's operation; operands are earlier nodes of the same [`IndexProgram`].
#[derive(Debug, Clone, Copy)]
enum IndexNode {
    Axis(usize),
    Const(i64),
    Add(usize, usize),
    Sub(usize, usize),
    Mul(usize, i64),
    FloorDiv(usize, i64),
    Mod(usize, i64),
    /// A gather: a position in [`IndexProgram::values`].
    Value(usize),
}

/// What is needed to evaluate a few index expressions.
#[derive(Debug, Clone)]
pub(crate) struct IndexProgram {
    nodes: Vec<IndexNode>,
    /// The nodes that hold the results.
    pub(crate) results: Vec<usize>,
    /// The body values that it reads.
    pub(crate) values: Vec<Reg>,
}

/// How the position along an axis follows from a point's number in a domain.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AxisWalk {
    /// `number / inner % extent`
    Varies { inner: i64, extent: i64 },
    /// The same everywhere.
    Fixed(i64),
}

impl AxisWalk {
    /// The position at point `number`.
    #[inline(always)]
    pub(crate) fn at(self, number: i64) -> i64 {
        match self {
            AxisWalk::Varies { inner, extent } => number / inner % extent,
            AxisWalk::Fixed(position) => position,
        }
    }
}

/// Points evaluated together.
pub(crate) const LANES: usize = 128;

impl IndexProgram {
    /// A program for the expressions `roots` of a kernel.
    pub(crate) fn new(kernel: &Kernel, roots: &[IndexId]) -> IndexProgram {
        let needed = needed_by(kernel, roots);
        let mut place = vec![usize::MAX; needed.len()];
        let mut program = IndexProgram { nodes: vec![], results: vec![], values: vec![] };
        for (at, expr) in kernel.index.iter().enumerate().filter(|(at, _)| needed[*at]) {
            place[at] = program.nodes.len();
            let of = |id: IndexId| place[id.0 as usize];
            let node = match *expr {
                IndexExpr::Axis(axis) => IndexNode::Axis(axis as usize),
                IndexExpr::Const(value) => IndexNode::Const(value),
                IndexExpr::Add(a, b) => IndexNode::Add(of(a), of(b)),
                IndexExpr::Sub(a, b) => IndexNode::Sub(of(a), of(b)),
                IndexExpr::Mul(a, factor) => IndexNode::Mul(of(a), factor),
                IndexExpr::FloorDiv(a, divisor) => IndexNode::FloorDiv(of(a), divisor),
                IndexExpr::Mod(a, divisor) => IndexNode::Mod(of(a), divisor),
                IndexExpr::Value(reg) => {
                    program.values.push(reg);
                    IndexNode::Value(program.values.len() - 1)
                }
            };
            program.nodes.push(node);
        }
        program.results = roots.iter().map(|root| place[root.0 as usize]).collect();
        program
    }

    /// Evaluates at one point, given as the position along each axis. `scratch` is overwritten.
    pub(crate) fn at_point(
        &self,
        axes: &[AxisWalk],
        number: i64,
        scratch: &mut Vec<i64>,
        value: impl Fn(usize) -> i64,
    ) {
        scratch.clear();
        for node in &self.nodes {
            let result = match *node {
                IndexNode::Axis(axis) => axes[axis].at(number),
                IndexNode::Const(value) => value,
                IndexNode::Add(a, b) => scratch[a].wrapping_add(scratch[b]),
                IndexNode::Sub(a, b) => scratch[a].wrapping_sub(scratch[b]),
                IndexNode::Mul(a, factor) => scratch[a].wrapping_mul(factor),
                IndexNode::FloorDiv(a, divisor) => scratch[a].div_euclid(divisor),
                IndexNode::Mod(a, divisor) => scratch[a].rem_euclid(divisor),
                IndexNode::Value(gathered) => value(gathered),
            };
            scratch.push(result);
        }
    }

    /// Evaluates at points `number ..`, `len` of them; `scratch` then holds a list of [`LANES`] per node.
    pub(crate) fn at_points(
        &self,
        isa: super::isa::Isa,
        axes: &[AxisWalk],
        number: i64,
        len: usize,
        scratch: &mut Vec<[i64; LANES]>,
        value: impl Fn(usize, usize) -> i64,
    ) {
        if scratch.len() < self.nodes.len() {
            scratch.resize(self.nodes.len(), [0; LANES]);
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let (before, rest) = scratch.split_at_mut(at);
            let target = &mut rest[0];
            match *node {
                IndexNode::Axis(axis) => axis_positions(axes[axis], number, &mut target[..len]),
                IndexNode::Const(value) => target.fill(value),
                IndexNode::Add(a, b) => add(isa, target, &before[a], &before[b]),
                IndexNode::Sub(a, b) => sub(isa, target, &before[a], &before[b]),
                IndexNode::Mul(a, factor) => mul(isa, target, &before[a], factor),
                IndexNode::FloorDiv(a, divisor) => floor_div(isa, target, &before[a], divisor, true),
                IndexNode::Mod(a, divisor) => floor_div(isa, target, &before[a], divisor, false),
                IndexNode::Value(gathered) => {
                    for (lane, target) in target[..len].iter_mut().enumerate() {
                        *target = value(gathered, lane);
                    }
                }
            }
        }
    }
}

/// The positions along an axis at points `number ..`.
pub(crate) fn axis_positions(walk: AxisWalk, number: i64, target: &mut [i64]) {
    match walk {
        AxisWalk::Fixed(position) => target.fill(position),
        AxisWalk::Varies { inner: 1, extent } => {
            let (mut position, mut done) = (number % extent, 0);
            while done < target.len() {
                let run = (extent - position).min((target.len() - done) as i64) as usize;
                for (i, target) in target[done..done + run].iter_mut().enumerate() {
                    *target = position + i as i64;
                }
                done += run;
                position = 0;
            }
        }
        AxisWalk::Varies { inner, extent } => {
            let (mut position, mut left) = (number / inner % extent, inner - number % inner);
            let mut done = 0;
            while done < target.len() {
                let run = left.min((target.len() - done) as i64) as usize;
                target[done..done + run].fill(position);
                done += run;
                left = inner;
                position = if position + 1 == extent { 0 } else { position + 1 };
            }
        }
    }
}

#[inline(always)]
fn add_body(target: &mut [i64; LANES], a: &[i64; LANES], b: &[i64; LANES]) {
    for i in 0..LANES {
        target[i] = a[i].wrapping_add(b[i]);
    }
}

#[inline(always)]
fn sub_body(target: &mut [i64; LANES], a: &[i64; LANES], b: &[i64; LANES]) {
    for i in 0..LANES {
        target[i] = a[i].wrapping_sub(b[i]);
    }
}

#[inline(always)]
fn mul_body(target: &mut [i64; LANES], a: &[i64; LANES], factor: i64) {
    for i in 0..LANES {
        target[i] = a[i].wrapping_mul(factor);
    }
}

/// Quotients or remainders, rounded down.
#[inline(always)]
fn floor_div_body(target: &mut [i64; LANES], a: &[i64; LANES], divisor: i64, quotient: bool) {
    const LIMIT: u64 = 1 << 50;
    /// 1.5 * 2^52: adding it rounds to an integer that can be read from the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let small = a.iter().fold(0, |most, x| most | x.unsigned_abs()) < LIMIT && divisor.unsigned_abs() < LIMIT;
    if !small {
        for i in 0..LANES {
            target[i] = if quotient { a[i].div_euclid(divisor) } else { a[i].rem_euclid(divisor) };
        }
        return;
    }
    // The nearest integer to the quotient is at most one off, which the sign and size of the remainder tell.
    let inverse = 1.0 / divisor as f64;
    for i in 0..LANES {
        let rounded = (a[i] as f64 * inverse) + ROUND;
        let q = (rounded.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64);
        let r = a[i].wrapping_sub(q.wrapping_mul(divisor));
        let step = i64::from(r >= divisor) - i64::from(r < 0);
        let (q, r) = (q + step, r.wrapping_sub(step.wrapping_mul(divisor)));
        target[i] = if quotient { q } else { r };
    }
}

multiversion! { fn add(target: &mut [i64; LANES], a: &[i64; LANES], b: &[i64; LANES]) = add_body; }
multiversion! { fn sub(target: &mut [i64; LANES], a: &[i64; LANES], b: &[i64; LANES]) = sub_body; }
multiversion! { fn mul(target: &mut [i64; LANES], a: &[i64; LANES], factor: i64) = mul_body; }
multiversion! { fn floor_div(target: &mut [i64; LANES], a: &[i64; LANES], divisor: i64, quotient: bool) = floor_div_body; }
