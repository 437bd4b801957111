//! Index expressions: what they depend on, where they are affine, and their values.

use super::isa::multiversion;
use passhost_ir::kernel::{IndexExpr, IndexId, Kernel, Reg};

/// A set of axes, one bit each.
pub(crate) type AxisSet = u32;

/// `constant + sum of slopes[axis] * axis`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Affine {
    pub(crate) constant: i64,
    /// One per axis, parallel axes first.
    pub(crate) slopes: Vec<i64>,
}

impl Affine {
    fn zip(&self, other: &Affine, f: impl Fn(i64, i64) -> Option<i64>) -> Option<Affine> {
        let slopes = self.slopes.iter().zip(&other.slopes).map(|(a, b)| f(*a, *b)).collect::<Option<_>>()?;
        Some(Affine { constant: f(self.constant, other.constant)?, slopes })
    }

    /// Whether the value is a position in a dimension of extent `size` at every point of axes of these extents.
    pub(crate) fn within(&self, extents: &[i64], size: i64) -> bool {
        let (mut low, mut high) = (i128::from(self.constant), i128::from(self.constant));
        for (slope, extent) in self.slopes.iter().zip(extents) {
            let reach = i128::from(*slope) * i128::from((extent - 1).max(0));
            if reach < 0 { low += reach } else { high += reach }
        }
        low >= 0 && high < i128::from(size)
    }
}

/// What an expression depends on, and how.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// The axes that its value depends on.
    pub(crate) depends: AxisSet,
    /// Set where it is affine in all axes.
    pub(crate) affine: Option<Affine>,
    /// Its change along each axis, where that is the same everywhere.
    pub(crate) slopes: Vec<Option<i64>>,
}

/// The form of an expression whose operands' forms are known; `value` gives what a body value depends on.
pub(crate) fn form(expr: IndexExpr, forms: &[Form], axes: usize, value: impl Fn(Reg) -> AxisSet) -> Form {
    let get = |id: IndexId| &forms[id.0 as usize];
    let both = |a: IndexId, b: IndexId, f: fn(i64, i64) -> Option<i64>| {
        let (a, b) = (get(a), get(b));
        Form {
            depends: a.depends | b.depends,
            affine: a.affine.as_ref().zip(b.affine.as_ref()).and_then(|(a, b)| a.zip(b, f)),
            slopes: a.slopes.iter().zip(&b.slopes).map(|(a, b)| f((*a)?, (*b)?)).collect(),
        }
    };
    let constant = |constant: i64| Form {
        depends: 0,
        affine: Some(Affine { constant, slopes: vec![0; axes] }),
        slopes: vec![Some(0); axes],
    };
    // A function of something is constant along the axes that the something is constant along.
    let opaque = |depends: AxisSet| Form {
        depends,
        affine: None,
        slopes: (0..axes).map(|axis| (depends >> axis & 1 == 0).then_some(0)).collect(),
    };
    match expr {
        IndexExpr::Axis(axis) => {
            let mut form = constant(0);
            form.depends = 1 << axis;
            form.slopes[axis as usize] = Some(1);
            if let Some(affine) = &mut form.affine {
                affine.slopes[axis as usize] = 1;
            }
            form
        }
        IndexExpr::Const(value) => constant(value),
        IndexExpr::Add(a, b) => both(a, b, i64::checked_add),
        IndexExpr::Sub(a, b) => both(a, b, i64::checked_sub),
        IndexExpr::Mul(a, factor) => {
            let a = get(a);
            Form {
                depends: a.depends,
                affine: a.affine.as_ref().and_then(|a| a.zip(a, |x, _| x.checked_mul(factor))),
                slopes: a.slopes.iter().map(|slope| (*slope)?.checked_mul(factor)).collect(),
            }
        }
        IndexExpr::FloorDiv(a, _) | IndexExpr::Mod(a, _) => opaque(get(a).depends),
        IndexExpr::Value(reg) => opaque(value(reg)),
    }
}

/// An index expression's operation; operands are earlier nodes of the same [`Program`].
#[derive(Debug, Clone, Copy)]
enum Node {
    Axis(usize),
    Const(i64),
    Add(usize, usize),
    Sub(usize, usize),
    Mul(usize, i64),
    FloorDiv(usize, i64),
    Mod(usize, i64),
    /// A gather: a position in [`Program::values`].
    Value(usize),
}

/// What is needed to evaluate a few index expressions.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    nodes: Vec<Node>,
    /// The nodes that hold the results.
    pub(crate) results: Vec<usize>,
    /// The body values that it reads.
    pub(crate) values: Vec<Reg>,
    /// The expressions it evaluates, in order.
    pub(crate) expressions: Vec<IndexId>,
}

/// How the position along an axis follows from a point's number in a domain.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Walk {
    /// `number / inner % extent`
    Varies { inner: i64, extent: i64 },
    /// The same everywhere.
    Fixed(i64),
}

impl Walk {
    /// The position at point `number`.
    #[inline(always)]
    pub(crate) fn at(self, number: i64) -> i64 {
        match self {
            Walk::Varies { inner, extent } => number / inner % extent,
            Walk::Fixed(position) => position,
        }
    }
}

/// Points evaluated together.
pub(crate) const LANES: usize = 128;

impl Program {
    /// A program for the expressions `roots` of a kernel.
    pub(crate) fn new(kernel: &Kernel, roots: &[IndexId]) -> Program {
        let mut needed = vec![false; kernel.index.len()];
        mark(kernel, roots, &mut needed);
        let mut place = vec![usize::MAX; needed.len()];
        let mut program = Program { nodes: vec![], results: vec![], values: vec![], expressions: vec![] };
        for (at, expr) in kernel.index.iter().enumerate().filter(|(at, _)| needed[*at]) {
            place[at] = program.nodes.len();
            let of = |id: IndexId| place[id.0 as usize];
            let node = match *expr {
                IndexExpr::Axis(axis) => Node::Axis(axis as usize),
                IndexExpr::Const(value) => Node::Const(value),
                IndexExpr::Add(a, b) => Node::Add(of(a), of(b)),
                IndexExpr::Sub(a, b) => Node::Sub(of(a), of(b)),
                IndexExpr::Mul(a, factor) => Node::Mul(of(a), factor),
                IndexExpr::FloorDiv(a, divisor) => Node::FloorDiv(of(a), divisor),
                IndexExpr::Mod(a, divisor) => Node::Mod(of(a), divisor),
                IndexExpr::Value(reg) => {
                    program.values.push(reg);
                    Node::Value(program.values.len() - 1)
                }
            };
            program.nodes.push(node);
            program.expressions.push(IndexId(at as u32));
        }
        program.results = roots.iter().map(|root| place[root.0 as usize]).collect();
        program
    }

    /// Evaluates at one point, given as the position along each axis. `scratch` is overwritten.
    pub(crate) fn at_point(&self, axes: &[Walk], number: i64, scratch: &mut Vec<i64>, value: impl Fn(usize) -> i64) {
        scratch.clear();
        for node in &self.nodes {
            let result = match *node {
                Node::Axis(axis) => axes[axis].at(number),
                Node::Const(value) => value,
                Node::Add(a, b) => scratch[a].wrapping_add(scratch[b]),
                Node::Sub(a, b) => scratch[a].wrapping_sub(scratch[b]),
                Node::Mul(a, factor) => scratch[a].wrapping_mul(factor),
                Node::FloorDiv(a, divisor) => scratch[a].div_euclid(divisor),
                Node::Mod(a, divisor) => scratch[a].rem_euclid(divisor),
                Node::Value(gathered) => value(gathered),
            };
            scratch.push(result);
        }
    }

    /// Evaluates at points `number ..`, `len` of them; `scratch` then holds a list of [`LANES`] per node.
    pub(crate) fn at_points(
        &self,
        isa: super::isa::Isa,
        axes: &[Walk],
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
                Node::Axis(axis) => axis_positions(axes[axis], number, &mut target[..len]),
                Node::Const(value) => target.fill(value),
                Node::Add(a, b) => add(isa, target, &before[a], &before[b]),
                Node::Sub(a, b) => sub(isa, target, &before[a], &before[b]),
                Node::Mul(a, factor) => mul(isa, target, &before[a], factor),
                Node::FloorDiv(a, divisor) => floor_div(isa, target, &before[a], divisor, true),
                Node::Mod(a, divisor) => floor_div(isa, target, &before[a], divisor, false),
                Node::Value(gathered) => {
                    for (lane, target) in target[..len].iter_mut().enumerate() {
                        *target = value(gathered, lane);
                    }
                }
            }
        }
    }
}

/// Marks what these expressions need, themselves included.
fn mark(kernel: &Kernel, roots: &[IndexId], needed: &mut [bool]) {
    // An explicit stack keeps a hostile chain of a thousand expressions off the call stack.
    let mut stack = roots.to_vec();
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut needed[id.0 as usize], true) {
            continue;
        }
        match kernel.index[id.0 as usize] {
            IndexExpr::Add(a, b) | IndexExpr::Sub(a, b) => stack.extend([a, b]),
            IndexExpr::Mul(a, _) | IndexExpr::FloorDiv(a, _) | IndexExpr::Mod(a, _) => stack.push(a),
            IndexExpr::Axis(_) | IndexExpr::Const(_) | IndexExpr::Value(_) => {}
        }
    }
}

/// The positions along an axis at points `number ..`.
pub(crate) fn axis_positions(walk: Walk, number: i64, target: &mut [i64]) {
    match walk {
        Walk::Fixed(position) => target.fill(position),
        Walk::Varies { inner: 1, extent } => {
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
        Walk::Varies { inner, extent } => {
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
