//! What follows from the row and the column of an element in a matrix.

use crate::lower::call::{Emitted, OpCall};
use crate::lower::rule::Rule;
use passhost_ir::kernel::Compare;

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::cheap("aten::tril", &[""], |c| kept(c, Compare::Le)),
    Rule::cheap("aten::triu", &[""], |c| kept(c, Compare::Ge)),
    Rule {
        reads: 0,
        ..Rule::cheap("aten::eye", &["", "m"], |c| {
            let is_on = c.position(0)?.compare(Compare::Eq, c.position(1)?);
            Ok(is_on.cast(c.math(c.result)?))
        })
    },
];

/// The elements on one side of a diagonal, zeros on the other.
fn kept<'k>(c: &OpCall<'k>, side: Compare) -> Emitted<'k> {
    let rank = c.place.len();
    if rank < 2 {
        return Err("has no rows and columns".to_owned());
    }
    let diagonal = c.position(rank - 1)? - c.position(rank - 2)?;
    let x = c.first()?;
    Ok(diagonal.compare(side, c.number(1)?).select(x, x.literal(0.0)))
}
