//! What a rewrite leaves to the library: calls of ops that are neither kernels nor views.

use crate::entry::GraphItem;
use crate::fusion::both;
use passhost_ir::alias::only_views;
use passhost_ir::{NodeKind, OpTable, constant_nodes};
use passhost_result::document::Graphs;

/// The calls that the rewrite of a graph leaves to the library. `None` where its document does not have the graphs.
pub(crate) fn calls_of(item: &GraphItem<'_>) -> Option<Vec<String>> {
    library_calls(item.variant.rewrite.as_ref()?.graphs.as_ref()?)
}

/// The calls that a rewrite leaves to the library: their ops, `linear`, in their order, an op as often as it is called. What
/// is calculated once, before anything is timed, is not among them. `None` where the texts are no graphs, or long ones.
fn library_calls(graphs: &Graphs) -> Option<Vec<String>> {
    let (before, after) = both(graphs)?;
    let once = constant_nodes(&after, &before);
    let left =
        after.nodes.iter().filter(|node| !once.contains(&node.id) && !only_views(&after, node, OpTable::sample()));
    let name = |kind: &NodeKind| match kind {
        NodeKind::Aten { op, .. } => Some(op.name.trim_start_matches("aten::").to_owned()),
        NodeKind::Kernel { .. } => None,
    };
    Some(left.filter_map(|node| name(&node.kind)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "graph(%x: f32[8,8], %w: f32[8,8]) {
        #0 %a: f32[8,8] = aten::linear(%x, %w, none)
        #1 %b: f32[8,8] = aten::relu(%a)
        return (%b)
    }";

    /// The calls that are left by a rewrite with these nodes, of which the last gives `%y`.
    fn check(nodes: &str, expected: Option<&[&str]>) {
        let after = format!("graph(%x: f32[8,8], %w: f32[8,8]) {{ {nodes} return (%y) }}");
        let found = library_calls(&Graphs { before: BEFORE.into(), after });
        assert_eq!(
            found.as_ref().map(|calls| calls.iter().map(String::as_str).collect()),
            expected.map(<[&str]>::to_vec)
        );
    }

    #[test]
    fn calls_of_the_library_are_told_from_kernels_and_views() {
        let kernel = |operand: &str| {
            format!(
                "#9 %y: f32[8,8] = kernel(%{operand}) {{
                    space p0=8, p1=8
                    in x0: f32[8,8]
                    i0 = p0
                    i1 = p1
                    v0: f32 = load x0[i0, i1] clamp
                    v1: f32 = exp v0
                    out v1 over [p0, p1] as [8,8]
                }}\n"
            )
        };
        check(&kernel("x"), Some(&[]));
        check(&format!("#0 %a: f32[8,8] = aten::linear(%x, %w, none)\n{}", kernel("a")), Some(&["linear"]));
        check("#5 %y: f32[8,8]{1,8} = aten::t(%x)\n", Some(&[]));
        check("#5 %y: f32[64] = aten::reshape(%x, [64])\n", Some(&[]));
        check("#5 %a: f32[8,8]{1,8} = aten::t(%x)\n #6 %y: f32[64] = aten::reshape(%a, [64])\n", Some(&["reshape"]));
        check(
            "#5 %a: f32[8,8] = aten::mm(%x, %w)\n #6 %b: f32[8,8] = aten::relu(%a)\n #7 %y: f32[8,8] = aten::mm(%b, %w)\n",
            Some(&["mm", "relu", "mm"]),
        );
    }

    #[test]
    fn what_is_calculated_before_anything_is_timed_is_no_call() {
        let ones = "#5 %a: f32[8,8] = aten::ones([8, 8])\n";
        check(&format!("{ones} #6 %y: f32[8,8] = aten::mm(%x, %a)\n"), Some(&["mm"]));
        check(&ones.replace("%a", "%y"), Some(&["ones"]));
    }

    #[test]
    fn of_what_is_no_graph_nothing_is_known() {
        check("#5 %y: f32[8,8] = aten::relu(%nowhere)\n", None);
    }
}
