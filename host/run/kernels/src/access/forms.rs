//! Index expressions: what they depend on, where they are affine, and what they are multiples of.

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

    /// The value at a position along each axis, as long as it does not overflow.
    pub(crate) fn at(&self, positions: &[i64]) -> i64 {
        self.slopes.iter().zip(positions).fold(self.constant, |sum, (slope, position)| sum + slope * position)
    }

    /// The least and the largest value at points of axes of these extents.
    pub(crate) fn range(&self, extents: &[i64]) -> (i128, i128) {
        let (mut low, mut high) = (i128::from(self.constant), i128::from(self.constant));
        for (slope, extent) in self.slopes.iter().zip(extents) {
            let reach = i128::from(*slope) * i128::from((extent - 1).max(0));
            if reach < 0 { low += reach } else { high += reach }
        }
        (low, high)
    }

    /// Whether the value is a position in a dimension of extent `size` at every point of axes of these extents.
    pub(crate) fn within(&self, extents: &[i64], size: i64) -> bool {
        let (low, high) = self.range(extents);
        low >= 0 && high < i128::from(size)
    }
}

/// What an expression depends on, and how.
#[derive(Debug, Clone)]
pub(crate) struct IndexForm {
    /// The axes that its value depends on.
    pub(crate) depends: AxisSet,
    /// Set where it is affine in all axes.
    pub(crate) affine: Option<Affine>,
    /// Its change along each axis, where that is the same everywhere.
    pub(crate) slopes: Vec<Option<i64>>,
}

/// The form of an expression whose operands' forms are known; `value` gives what a body value depends on.
pub(crate) fn form(expr: IndexExpr, forms: &[IndexForm], axes: usize, value: impl Fn(Reg) -> AxisSet) -> IndexForm {
    let get = |id: IndexId| &forms[id.0 as usize];
    let both = |a: IndexId, b: IndexId, f: fn(i64, i64) -> Option<i64>| {
        let (a, b) = (get(a), get(b));
        IndexForm {
            depends: a.depends | b.depends,
            affine: a.affine.as_ref().zip(b.affine.as_ref()).and_then(|(a, b)| a.zip(b, f)),
            slopes: a.slopes.iter().zip(&b.slopes).map(|(a, b)| f((*a)?, (*b)?)).collect(),
        }
    };
    let constant = |constant: i64| IndexForm {
        depends: 0,
        affine: Some(Affine { constant, slopes: vec![0; axes] }),
        slopes: vec![Some(0); axes],
    };
    // A function of something is constant along the axes that the something is constant along.
    let opaque = |depends: AxisSet| IndexForm {
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
            IndexForm {
                depends: a.depends,
                affine: a.affine.as_ref().and_then(|a| a.zip(a, |x, _| x.checked_mul(factor))),
                slopes: a.slopes.iter().map(|slope| (*slope)?.checked_mul(factor)).collect(),
            }
        }
        IndexExpr::FloorDiv(a, _) | IndexExpr::Mod(a, _) => opaque(get(a).depends),
        IndexExpr::Value(reg) => opaque(value(reg)),
    }
}

/// For each index expression of a kernel whether these need it, themselves included.
pub(crate) fn needed_by(kernel: &Kernel, roots: &[IndexId]) -> Vec<bool> {
    let mut needed = vec![false; kernel.index.len()];
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
    needed
}

/// A number that an index expression is a multiple of wherever the position along `axis` is a multiple of `count`; 0
/// for the constant 0. Expressions read earlier ones, so the list is walked once.
pub(crate) fn multiple_of(kernel: &Kernel, id: IndexId, axis: usize, count: i64) -> i64 {
    let mut known: Vec<i64> = Vec::with_capacity(id.0 as usize + 1);
    for expr in &kernel.index[..=id.0 as usize] {
        let of = |id: IndexId| known[id.0 as usize];
        known.push(match *expr {
            IndexExpr::Axis(known) if known as usize == axis => count,
            IndexExpr::Axis(other) if kernel.extent(other) == Some(1) => 0,
            IndexExpr::Axis(_) | IndexExpr::Value(_) => 1,
            IndexExpr::Const(value) => value.saturating_abs(),
            IndexExpr::Add(a, b) | IndexExpr::Sub(a, b) => gcd(of(a), of(b)),
            IndexExpr::Mul(a, factor) => of(a).saturating_mul(factor.saturating_abs()),
            IndexExpr::FloorDiv(a, divisor) if of(a) % divisor == 0 => of(a) / divisor,
            IndexExpr::FloorDiv(..) => 1,
            IndexExpr::Mod(a, divisor) => gcd(of(a), divisor),
        });
    }
    known[id.0 as usize]
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
