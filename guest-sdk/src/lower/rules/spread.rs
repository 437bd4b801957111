//! Ops whose elements come from several places of an operand, or from one dimension each of two.

use super::transcendental::one_plus_exp_neg;
use crate::index::Index;
use crate::lower::call::{Emitted, OpCall};
use crate::lower::node_call::NodeCall;
use crate::lower::rule::{Align, OperandReads, Rule};
use passhost_ir::Dtype;
use passhost_ir::dims::wrap;
use passhost_ir::kernel::{Binary, Compare};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule {
        align: Align::At(halves),
        ..Rule::costly("aten::glu", &[""], |c| {
            let (x, gate) = c.pair()?;
            Ok(x * (1.0 / one_plus_exp_neg(gate)))
        })
    },
    Rule { align: Align::At(neighbours), ..Rule::cheap("aten::diff", &[""], difference) }
        .only("of neighbours, once, with at most one element in front"),
    Rule { align: Align::At(rows_and_columns), ..Rule::cheap("aten::outer", &[""], product) },
];

/// The place of what `diff` puts in front.
const FRONT: usize = 3;

fn halves(call: &NodeCall<'_>) -> OperandReads {
    let to = call.shapes()?.1;
    let dim = call.dim(1, to.len())?;
    let first = Index::axes(to);
    let mut second = first.clone();
    second[dim] = second[dim].shifted(to[dim]);
    Ok(vec![(0, first), (0, second)])
}

/// The element before and the one itself, or the one itself and the next where nothing stands in front; and what stands in
/// front of the first.
fn neighbours(call: &NodeCall<'_>) -> OperandReads {
    let to = call.shapes()?.1;
    if call.args.int(1) != Some(1) || call.args.tensor(4).is_some() {
        return Err("is taken several times or with something behind".to_owned());
    }
    let dim = call.dim(2, to.len())?;
    let here = Index::axes(to);
    let instead = |along: Index| {
        let mut place = here.clone();
        place[dim] = along;
        place
    };
    match call.args.tensor(FRONT) {
        None => Ok(vec![(0, here.clone()), (0, instead(here[dim].shifted(1)))]),
        Some(front) if call.shape(front).get(dim) == Some(&1) => {
            // In front of the first element there is none of the same tensor; what is read there is not used.
            let before = here[dim].shifted(-1).clamped(0, to[dim] - 1);
            Ok(vec![(0, instead(before)), (0, here.clone()), (FRONT, instead(Index::constant(0)))])
        }
        Some(_) => Err("has more than one element in front".to_owned()),
    }
}

fn rows_and_columns(call: &NodeCall<'_>) -> OperandReads {
    let axes = Index::axes(call.shapes()?.1);
    let [row, column] = &axes[..] else { return Err("has no rows and columns".to_owned()) };
    Ok(vec![(0, vec![row.clone()]), (1, vec![column.clone()])])
}

fn product<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let (a, b) = c.pair()?;
    Ok(a.binary(if c.result == Dtype::Bool { Binary::And } else { Binary::Mul }, b))
}

fn difference<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let (mut first, second) = c.pair()?;
    if c.args.tensor(FRONT).is_some() {
        let dim = c.args.int(2).and_then(|dim| wrap(dim, c.place.len())).ok_or("has no dimension")?;
        first = c.position(dim)?.compare(Compare::Eq, 0.0).select(c.operand(2, c.result)?, first);
    }
    Ok(if c.result == Dtype::Bool { second.binary(Binary::Xor, first) } else { second - first })
}
