//! Running sums and products along a dimension.

use super::reduction::{accumulator, one_dim};
use crate::lower::call::{Emitted, OpCall};
use crate::lower::rule::Emit;
use crate::lower::rule::Rule;
use passhost_ir::kernel::ScanOp;

pub(in crate::lower) const RULES: &[Rule] = &[
    running("aten::cumsum", |c| total(c, ScanOp::Sum))
        .only("where no other reduction of the kernel goes over other dimensions, and each sum is read where it is"),
    running("aten::cumprod", |c| total(c, ScanOp::Prod)),
];

const fn running(name: &'static str, emit: Emit) -> Rule {
    Rule { scans: true, ..Rule::over(one_dim, name, &[""], emit) }.only("as cumsum")
}

/// In the type in which a sum of the result's type is accumulated.
fn total<'k>(c: &OpCall<'k>, op: ScanOp) -> Emitted<'k> {
    let element = c.widened(c.element(0)?, c.result)?.cast(accumulator(c, c.result)?);
    // Of one element that is the element, which a kernel has no axis for.
    Ok(if c.count()? == 1.0 { element } else { c.scan(op, element) })
}
