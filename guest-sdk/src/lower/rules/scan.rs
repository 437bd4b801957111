//! Running sums, products and extrema along a dimension.

use super::reduction::{accumulator, one_dim};
use crate::lower::call::{Emitted, OpCall};
use crate::lower::quantity::Quantity;
use crate::lower::rule::{Emit, Rule};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, ScanOp, Unary};

pub(in crate::lower) const RULES: &[Rule] = &[
    running("aten::cumsum", |c| total(c, ScanOp::Sum))
        .only("where no other reduction of the kernel goes over other dimensions, and each sum is read where it is"),
    running("aten::cumprod", |c| total(c, ScanOp::Prod)),
    running("aten::cummax", |c| extremum(c, ScanOp::Max)),
    running("aten::cummin", |c| extremum(c, ScanOp::Min)),
];

const fn running(name: &'static str, emit: Emit) -> Rule {
    Rule { scans: true, ..Rule::over(one_dim, name, &[""], emit) }.only("as cumsum")
}

/// In the type in which a sum of the result's type is accumulated.
fn total<'k>(c: &OpCall<'k>, op: ScanOp) -> Emitted<'k> {
    let element = c.widened(c.element(0)?, c.result)?.cast(accumulator(c, c.result)?);
    Ok(so_far(c, op, element))
}

/// The reduction so far. Of one element that is the element, which a kernel has no axis for.
fn so_far<'k>(c: &OpCall<'k>, op: ScanOp, element: Quantity<'k>) -> Quantity<'k> {
    if c.count() == Ok(1.0) { element } else { c.scan(op, element) }
}

/// The largest or smallest so far, and where the last such element was. After a NaN all are, and its place counts.
fn extremum<'k>(c: &OpCall<'k>, op: ScanOp) -> Emitted<'k> {
    let dtype = c.reduced()?;
    let mut x = c.widened(c.element(0)?, dtype)?;
    if dtype == Dtype::Bool {
        x = x.cast(Dtype::I32);
    }
    let best = so_far(c, op, x);
    if c.output == 0 {
        return Ok(best);
    }
    let mut is_best = x.compare(Compare::Eq, best);
    if dtype.is_float() {
        is_best = is_best.binary(Binary::Or, x.unary(Unary::IsNan));
    }
    let place = c.ordinal()?;
    Ok(so_far(c, ScanOp::Max, is_best.select(place, place.literal(0.0))))
}
