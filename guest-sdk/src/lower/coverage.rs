//! What becomes of each op that a graph may have: the table behind `passhost ops` and docs/results/lowerings.md.

use super::LowerError;
use super::analysis::GraphAnalysis;
use super::boundary::Boundary;
use super::group::Group;
use super::region::lower;
use super::rule::{Recipe, meant};
use fixedbitset::FixedBitSet;
use passhost_ir::ops::Stays;
use passhost_ir::{Graph, NodeKind, OpName, OpRow};

/// What becomes of calls of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoweringCoverage {
    /// They become part of a kernel, some of them only where the condition holds.
    Kernel {
        /// What calls must be like, if not all are covered.
        condition: Option<&'static str>,
    },
    /// They rename elements: kernels read through them.
    View,
    /// They stay calls of the library, for this reason.
    Library(&'static str),
}

/// What becomes of calls of an op; `None` if it is on no list.
pub fn coverage(op: &OpName) -> Option<LoweringCoverage> {
    let rules = Group::ALL.iter().flat_map(|group| group.rules(meant(&op.name), &op.overload));
    let conditions: Vec<_> = rules.map(|rule| rule.only.condition()).collect();
    if !conditions.is_empty() {
        return Some(LoweringCoverage::Kernel { condition: conditions.into_iter().flatten().next() });
    }
    let row = OpRow::of(op)?;
    row.stays.map(|stays| LoweringCoverage::Library(reason(stays))).or(row.shows.map(|_| LoweringCoverage::View))
}

/// What becomes of one call by itself.
#[derive(Debug, Clone, PartialEq)]
pub enum CallCoverage {
    /// A kernel.
    Kernel,
    /// Nothing: it is a view, or gives back what it is given.
    View,
    /// It stays as it is.
    Library(LowerError),
}

/// What becomes of each call of a graph by itself, in graph order. Calls that nobody reads are left out.
pub fn call_coverage(graph: &Graph) -> Vec<(&OpName, CallCoverage)> {
    let analysis = GraphAnalysis::of(graph, Group::ALL);
    let fate = |position: usize| {
        let members = FixedBitSet::from_iter([position]);
        if Boundary::of(&analysis, &members).results.is_empty() {
            return None;
        }
        if analysis.is_view(position) {
            return Some(CallCoverage::View);
        }
        let is_large = matches!(
            analysis.recipe(position),
            Ok(Recipe::Contraction(contraction)) if !contraction.is_small(graph)
        );
        if is_large {
            return Some(CallCoverage::Library(LowerError::Large(analysis.name(position))));
        }
        Some(lower(&analysis, &members).map_or_else(CallCoverage::Library, |_| CallCoverage::Kernel))
    };
    let calls = graph.nodes.iter().enumerate().filter_map(|(position, node)| match &node.kind {
        NodeKind::Aten { op, .. } => Some((op, fate(position)?)),
        NodeKind::Kernel { .. } => None,
    });
    calls.collect()
}

/// Why calls of an op stay calls of the library, in words.
fn reason(stays: Stays) -> &'static str {
    match stays {
        Stays::Bits => "about the bits of elements, which kernels do not read as another type",
        Stays::Product => "a product of matrices: the library's kernels have the tensor cores",
        Stays::Attention => "attention, or a layer of it: two products of matrices and more in one call",
        Stays::Sort => "a sort: where an element goes depends on all others",
        Stays::Search => "a search: a loop over another tensor that ends where something is found",
        Stays::Scatter => {
            "a scatter: it writes where an index says, and a kernel writes each element of its result once"
        }
        Stays::Recurrent => "a recurrent layer: each step waits for the one before, with a product of matrices in it",
        Stays::Fourier => "a Fourier transform: the library has algorithms of its own for it",
        Stays::Complex => "about complex numbers, which kernels do not calculate with",
        Stays::Function => {
            "a function that the kernel language lacks, and cannot say with others as exactly as eager has it"
        }
        Stays::MatrixNorm => "the norm of a matrix, by its singular values or another reduction of a reduction",
        Stays::Memory => "about memory, not about elements",
        Stays::Loss => "a loss of training that no graph of GraphNet has: no rule yet",
        Stays::Gather => "reads where an index says: no rule yet",
        Stays::Move => "moves elements, or reads some around each: no rule yet",
        Stays::Gradient => "a gradient, of training steps of `torch.compile` alone: no rule yet",
        Stays::Rare => "in no graph of GraphNet: no rule",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::OpTable;

    #[test]
    fn every_op_stands_somewhere() {
        let schemas = OpTable::all().iter().filter(|schema| !schema.is_in_place());
        let unknown: Vec<String> =
            schemas.filter(|schema| coverage(&schema.op).is_none()).map(|schema| schema.op.to_string()).collect();
        assert!(unknown.is_empty(), "give a lowering or a reason to {unknown:?}");
    }

    #[test]
    fn no_op_with_a_lowering_has_a_reason_to_have_none() {
        for row in OpRow::all() {
            let are_lowered = OpTable::all()
                .overloads(&format!("aten::{}", row.name))
                .all(|schema| matches!(coverage(&schema.op), Some(LoweringCoverage::Kernel { .. })));
            assert!(!(row.stays.is_some() && are_lowered), "{} has a lowering: take away `stays=`", row.name);
        }
    }

    #[test]
    fn calls_become_kernels_views_or_stay() {
        let text = "graph(%x: f32[4,8]) {
  %a: f32[4,8] = aten::relu(%x)
  %b: f32[8,4] = aten::t(%a)
  %c: f32[8,4], %i: i64[8,4] = aten::sort(%b)
  %d: f32[8,4] = aten::neg(%c)
  %e: i32[8,4] = aten::view.dtype(%c, i32)
  return (%c, %e)
}
";
        let graph = Graph::parse(text).unwrap_or_else(|error| unreachable!("{error}"));
        let call_coverage: Vec<String> =
            call_coverage(&graph).into_iter().map(|(op, fate)| format!("{op} {fate:?}")).collect();
        let expected = [
            "aten::relu Kernel",
            "aten::t View",
            "aten::sort Library(NoLowering(\"aten::sort\"))",
            "aten::view.dtype Library(NoLowering(\"aten::view.dtype\"))",
        ];
        assert_eq!(call_coverage, expected);
    }
}
