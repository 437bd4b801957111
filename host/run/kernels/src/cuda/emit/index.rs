//! Index expressions and the numbers of points.

use super::{CudaEmitter, IndexContext};
use crate::cuda::loops::{Expression, ThreadStep, Variable, call};
use passhost_ir::kernel::{IndexExpr, IndexId, Interval};

impl CudaEmitter<'_> {
    /// The variable of an index expression, which is computed here unless it is known.
    pub(super) fn index(&mut self, id: IndexId, context: &IndexContext<'_>) -> Expression {
        if let Some(known) = self.known(id, context) {
            return known.into();
        }
        let mut needed = vec![false; id.0 as usize + 1];
        needed[id.0 as usize] = true;
        for at in (0..needed.len()).rev() {
            needed[at] &= self.known(IndexId(at as u32), context).is_none();
            if needed[at] {
                operands(self.kernel.index[at])
                    .into_iter()
                    .flatten()
                    .for_each(|operand| needed[operand.0 as usize] = true);
            }
        }
        for at in (0..=id.0).filter(|at| needed[*at as usize]) {
            let (ty, value) = self.index_expression(IndexId(at), context);
            let name = Variable { copy: Some(self.indices), ..Variable::of("i", at) };
            self.indices += 1;
            self.define(ty, name, value);
        }
        self.known_index(id, context)
    }

    /// The variable of an index expression that was computed in this context.
    fn known(&self, id: IndexId, context: &IndexContext<'_>) -> Option<Variable> {
        self.steps.iter().skip(context.since).find_map(|step| match step {
            ThreadStep::Let(_, variables) => {
                variables.iter().map(|(name, _)| *name).find(|name| (name.stem, name.number) == ("i", Some(id.0)))
            }
            _ => None,
        })
    }

    fn known_index(&self, id: IndexId, context: &IndexContext<'_>) -> Expression {
        self.known(id, context).unwrap_or(Variable::of("i", id.0)).into()
    }

    /// The type and the value of an index expression whose operands are known.
    fn index_expression(&self, id: IndexId, context: &IndexContext<'_>) -> (&'static str, Expression) {
        let interval = |id: IndexId| self.facts.index_interval(id);
        let expr = self.kernel.index[id.0 as usize];
        let ty = integer_type(interval(id));
        // Where anything takes part that needs 64 bits, everything is computed in 64.
        let wide = |constant: i64| {
            let operands = operands(expr).into_iter().flatten().map(interval);
            let all = operands.chain([interval(id), Interval::point(constant)]).map(integer_type);
            if all.into_iter().any(|ty| ty == "i64") { "i64" } else { "int" }
        };
        let operand = |id: IndexId, ty: &'static str| self.known_index(id, context).cast(ty);
        let constant = |value: i64, ty: &str| Expression::Number(value.into(), if ty == "i64" { "ll" } else { "" });
        let value = match expr {
            IndexExpr::Axis(axis) => {
                let axis = axis as usize;
                let (domain, number) = match self.schedule.rows.walk(axis) {
                    Some(_) => (&self.schedule.rows, &context.row),
                    None => (&self.schedule.points, &context.point),
                };
                let (inner, extent) = domain.walk(axis).unwrap_or((1, 1));
                position(number, inner, extent, domain.points())
            }
            IndexExpr::Const(value) => constant(value, ty),
            IndexExpr::Add(a, b) => operand(a, wide(0)) + operand(b, wide(0)),
            IndexExpr::Sub(a, b) => operand(a, wide(0)) - operand(b, wide(0)),
            IndexExpr::Mul(a, factor) => operand(a, wide(factor)) * constant(factor, wide(factor)),
            IndexExpr::FloorDiv(a, divisor) | IndexExpr::Mod(a, divisor) => {
                let wide = wide(divisor);
                let is_remainder = matches!(expr, IndexExpr::Mod(..));
                if interval(a).low >= 0 {
                    let (unsigned, suffix) = if wide == "i64" { ("u64", "ull") } else { ("u32", "u") };
                    let (a, divisor) = (operand(a, unsigned), Expression::Number(divisor.into(), suffix));
                    if is_remainder { a % divisor } else { a / divisor }
                } else {
                    let function = if is_remainder { "floor_mod" } else { "floor_div" };
                    call(function, [operand(a, wide), constant(divisor, wide).cast(wide)])
                }
            }
            IndexExpr::Value(reg) => self.operand(reg, context),
        };
        (ty, value.group().cast(ty))
    }
}

/// The index expressions that one is made of.
fn operands(expr: IndexExpr) -> [Option<IndexId>; 2] {
    match expr {
        IndexExpr::Add(a, b) | IndexExpr::Sub(a, b) => [Some(a), Some(b)],
        IndexExpr::Mul(a, _) | IndexExpr::FloorDiv(a, _) | IndexExpr::Mod(a, _) => [Some(a), None],
        IndexExpr::Axis(_) | IndexExpr::Const(_) | IndexExpr::Value(_) => [None; 2],
    }
}

/// The position along axes that act as one, from the number of a point among `points`.
pub(super) fn position(number: &Expression, inner: i64, extent: i64, points: u64) -> Expression {
    let constant = |value: i64| bound(value.unsigned_abs(), number_type(points));
    let number = number.clone();
    if extent == 1 {
        return 0.into();
    }
    let divided = if inner == 1 { number } else { number / constant(inner) };
    let is_outermost = inner as u64 * extent as u64 == points;
    if is_outermost { divided.group() } else { (divided % constant(extent)).group() }
}

/// The type of the number of a point, with room for threads past the last.
pub(super) fn number_type(points: u64) -> &'static str {
    if points <= 1 << 30 { "u32" } else { "u64" }
}

pub(super) fn bound(points: u64, ty: &str) -> Expression {
    Expression::Number(points.into(), if ty == "u64" { "ull" } else { "u" })
}

fn integer_type(interval: Interval) -> &'static str {
    if interval.low >= i128::from(i32::MIN) && interval.high <= i128::from(i32::MAX) { "int" } else { "i64" }
}
