//! What a refused graph says where it is wrong, for its author.

use super::{GraphError, NodeRule};
use crate::kernel::{carets, excerpt as kernel_excerpt};
use crate::{Graph, Node, NodeId, NodeKind};

/// Characters of a line that are shown.
const WIDTH: usize = 160;

impl GraphError {
    /// The node that is to blame, if one is.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            GraphError::LargeNodeId(node)
            | GraphError::RepeatedNodeId(node)
            | GraphError::Kernel(node, _)
            | GraphError::Node(node, _) => Some(*node),
            _ => None,
        }
    }

    /// The part of the node's line that is to blame.
    fn part(&self) -> String {
        let GraphError::Node(_, rule) = self else { return String::new() };
        match rule {
            NodeRule::UnknownOp(op, _)
            | NodeRule::NotInsertable(op)
            | NodeRule::LibraryCall(op, _)
            | NodeRule::Index(op, _)
            | NodeRule::TrustedOperands(op)
            | NodeRule::ReusedId(_, op) => op.clone(),
            NodeRule::KernelInput(_, ty) => format!("%{}", ty.value),
            NodeRule::KernelOutput(ty) | NodeRule::KeptType(ty) | NodeRule::InferredType(_, ty) => {
                format!("%{}: {}", ty.value, ty.found)
            }
            _ => String::new(),
        }
    }

    /// The lines of a refused graph's text form that are to blame, with carets under what is wrong; none where no single
    /// node is. It is the text of whoever made the graph, not yet fit for a terminal.
    pub fn excerpt(&self, graph: &Graph) -> Vec<String> {
        let Some(node) = self.node().and_then(|id| last_of(graph, id)) else { return vec![] };
        if let (GraphError::Kernel(_, source), NodeKind::Kernel { kernel, .. }) = (self, &node.kind) {
            let lines = kernel_excerpt(kernel, source.line);
            return lines.into_iter().map(|line| line.chars().take(WIDTH).collect()).collect();
        }
        let text = graph.node_text(node);
        let line: String = text.lines().next().unwrap_or_default().chars().take(WIDTH).collect();
        let carets = carets(&line, &self.part());
        vec![line, carets]
    }
}

/// Of two nodes with one id, the second is to blame.
fn last_of(graph: &Graph, id: NodeId) -> Option<&Node> {
    graph.nodes.iter().rev().find(|node| node.id == id)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::{OpTable, verify_graph};

    fn check(graph: &str, expected: &[&str]) {
        let graph = Graph::parse(graph).unwrap();
        let error = verify_graph(&graph, OpTable::insert()).unwrap_err();
        assert_eq!(error.excerpt(&graph), expected, "{error}");
    }

    #[test]
    fn a_refused_instruction_has_carets_under_it() {
        check(
            "graph(%x: f32[4,8]) {
               #9 %y: f32[4] = kernel(%x) {
                 space p0=4; reduce r0=8
                 in x0: f32[4,8]
                 i0 = p0
                 i1 = r0
                 v0: f32 = load x0[i0, i1] pad 0.0
                 v1: f16 = cast v0
                 v2: f32 = add v0, v1
                 v3: f32 = reduce sum v2
                 out v3 over [p0] as [4]
               }
               return (%y)
             }",
            &[
                "  ...",
                "  space p0=4; reduce r0=8",
                "  in x0: f32[4,8]",
                "  i0 = p0",
                "  i1 = r0",
                "  v0: f32 = load x0[i0, i1] pad 0.0",
                "  v1: f16 = cast v0",
                "  v2: f32 = add v0, v1",
                "  ^^^^^^^^^^^^^^^^^^^^",
                "  v3: f32 = reduce sum v2",
                "  out v3 over [p0] as [4]",
                "  ...",
            ],
        );
    }

    #[test]
    fn a_refused_call_has_carets_under_what_is_wrong() {
        check(
            "graph(%x: f32[4]) {
               #9 %y: f32[4] = aten::gelux(%x)
               return (%y)
             }",
            &["#9 %y: f32[4] = aten::gelux(%x)", "                ^^^^^^^^^^^"],
        );
    }

    #[test]
    fn an_unknown_op_is_told_those_that_may_be_meant() {
        for (name, near) in [
            ("gelu", "there is `aten::gelu`"),
            ("aten::relu.Tensor", "there is `aten::relu`"),
            ("aten::frobnicate", "use one of the listed ops or a kernel node"),
        ] {
            let mut graph = Graph::parse("graph(%x: f32[4]) { %y: f32[4] = aten::gelu(%x) return (%y) }").unwrap();
            let NodeKind::Aten { op, .. } = &mut graph.nodes[0].kind else { unreachable!("a call") };
            *op = crate::OpName::parse(name);
            let error = verify_graph(&graph, OpTable::insert()).unwrap_err().to_string();
            assert!(error.ends_with(near), "{error}");
        }
    }

    #[test]
    fn what_is_no_nodes_doing_has_no_excerpt() {
        check("graph(%x: f32[4]) { return (%x) }".replace("f32[4])", "f32[-4])").as_str(), &[]);
    }
}
