//! Index expressions and the numbers of points.

use super::{CudaEmitter, IndexContext, LANE, ScheduleForm};
use crate::cuda::claims::Claim;
use crate::cuda::loops::{Expression, ThreadStep, Variable, call, number};
use passhost_ir::kernel::{IndexExpr, IndexId, Interval};
use std::collections::BTreeSet;

impl CudaEmitter<'_> {
    /// The variable of an index expression, which is computed here unless it is known.
    pub(super) fn index(&mut self, id: IndexId, context: &IndexContext<'_>) -> Expression {
        let (mut needed, mut stack) = (BTreeSet::new(), vec![id]);
        while let Some(id) = stack.pop() {
            if self.known(id, context).is_none() && needed.insert(id.0) {
                stack.extend(operands(self.of.kernel.index[id.0 as usize]).into_iter().flatten());
            }
        }
        for at in needed {
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
    fn index_expression(&mut self, id: IndexId, context: &IndexContext<'_>) -> (&'static str, Expression) {
        let interval = |id: IndexId| self.of.facts.index_interval(id);
        let expr = self.of.kernel.index[id.0 as usize];
        let ty = integer_type(interval(id));
        // Where anything takes part that needs 64 bits, everything is computed in 64.
        let wide = |constant: i64| {
            let operands = operands(expr).into_iter().flatten().map(interval);
            let all = operands.chain([interval(id), Interval::point(constant)]).map(integer_type);
            if all.into_iter().any(|ty| ty == "i64") { "i64" } else { "int" }
        };
        let operand = |id: IndexId, ty: &'static str| self.known_index(id, context).cast(ty);
        let value = match expr {
            IndexExpr::Axis(axis) => {
                let axis = axis as usize;
                let of_row = self.schedule.rows.walk(axis);
                let (inner, extent) = of_row.or_else(|| self.schedule.points.walk(axis)).unwrap_or((1, 1));
                self.position((of_row.is_some(), inner, extent), context)
            }
            IndexExpr::Const(value) => number(value, ty),
            IndexExpr::Add(a, b) => operand(a, wide(0)) + operand(b, wide(0)),
            IndexExpr::Sub(a, b) => operand(a, wide(0)) - operand(b, wide(0)),
            IndexExpr::Mul(a, factor) => operand(a, wide(factor)) * number(factor, wide(factor)),
            IndexExpr::FloorDiv(a, divisor) | IndexExpr::Mod(a, divisor) => {
                let wide = wide(divisor);
                let is_remainder = matches!(expr, IndexExpr::Mod(..));
                if interval(a).low >= 0 {
                    let unsigned = if wide == "i64" { "u64" } else { "u32" };
                    let (a, divisor) = (operand(a, unsigned), number(divisor, unsigned));
                    if is_remainder { a % divisor } else { a / divisor }
                } else {
                    let function = if is_remainder { "floor_mod" } else { "floor_div" };
                    call(function, [operand(a, wide), number(divisor, wide).cast(wide)])
                }
            }
            IndexExpr::Value(reg) => self.operand(reg, context),
        };
        (ty, value.group().cast(ty))
    }

    /// The number of the row, or of the point.
    pub(super) fn number(&self, context: &IndexContext<'_>, of_row: bool) -> Expression {
        let first = if of_row { &context.row } else { &context.point };
        let along = matches!(self.schedule.form, ScheduleForm::Columns { .. });
        if context.lane && along == of_row { (first.clone() + LANE).group() } else { first.clone() }
    }

    /// The position along axes that act as one, from the number of the row or of the point. The number of a thread's first
    /// lane is a multiple of its lanes: where steps or the extent are, too, that lane decides where all are.
    pub(super) fn position(
        &mut self,
        (of_row, inner, extent): (bool, i64, i64),
        context: &IndexContext<'_>,
    ) -> Expression {
        let domain = if of_row { &self.schedule.rows } else { &self.schedule.points };
        let (lanes, points) = (i64::from(self.schedule.lanes()), domain.points());
        let number = self.number(context, of_row);
        let first = self.number(&IndexContext { lane: false, ..context.clone() }, of_row);
        let is_side_by_side = inner == 1 && extent % lanes == 0;
        if first == number || self.schedule.tiles.is_some() || !(is_side_by_side || inner % lanes == 0) {
            return position(&number, inner, extent, points);
        }
        self.claim(Claim::Together { of_row, inner, extent });
        let first = position(&first, inner, extent, points);
        if is_side_by_side { (first + LANE).group() } else { first }
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
fn position(point: &Expression, inner: i64, extent: i64, points: u64) -> Expression {
    if extent == 1 {
        return 0.into();
    }
    let (point, ty) = (point.clone(), number_type(points));
    let divided = if inner == 1 { point } else { point / number(inner, ty) };
    let is_outermost = inner as u64 * extent as u64 == points;
    if is_outermost { divided.group() } else { (divided % number(extent, ty)).group() }
}

/// The type of the number of a point, with room for threads past the last.
pub(super) fn number_type(points: u64) -> &'static str {
    if points <= 1 << 30 { "u32" } else { "u64" }
}

fn integer_type(interval: Interval) -> &'static str {
    if interval.low >= i128::from(i32::MIN) && interval.high <= i128::from(i32::MAX) { "int" } else { "i64" }
}
