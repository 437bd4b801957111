//! Outputs that are the same whatever is drawn. They are known before anything runs, so that nobody can tell who calculates
//! them from who knows them by heart.

use crate::functional::{FunctionalError, functionalise};
use crate::{Graph, NodeKind, OpTable};

/// A program without its outputs that depend on nothing that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Varying {
    /// The program with the other outputs, and without the nodes that only those needed.
    pub program: Graph,
    /// Positions of the outputs that are left out, in ascending order.
    pub left_out: Vec<usize>,
}

/// Leaves out what does not depend on an input that `drawn` says is different in each draw. `None` where every output
/// depends on one.
///
/// # Errors
///
/// If the program has no functional form: then nobody can say what depends on what.
pub fn varying(program: &Graph, drawn: &[bool], ops: &OpTable) -> Result<Option<Varying>, FunctionalError> {
    let graph = functionalise(program, ops)?.graph;
    let mut depends = vec![false; graph.values.len()];
    for (input, drawn) in graph.inputs.iter().zip(drawn) {
        depends[input.index()] = *drawn;
    }
    for node in &graph.nodes {
        let any = node.operands().iter().any(|operand| depends[operand.index()]);
        node.outputs.iter().for_each(|output| depends[output.index()] = any);
    }
    let left_out: Vec<usize> = (0..program.outputs.len()).filter(|&at| !depends[graph.outputs[at].index()]).collect();
    if left_out.is_empty() {
        return Ok(None);
    }
    let mut rest = program.clone();
    rest.outputs =
        (0..program.outputs.len()).filter(|at| !left_out.contains(at)).map(|at| program.outputs[at]).collect();
    // What nobody needed before is the sample's own waste, and stays.
    let (before, after) = (needed(program, ops), needed(&rest, ops));
    let keep: Vec<bool> = before.iter().zip(&after).map(|(before, after)| *after || !*before).collect();
    let program = rest.renumbered(&keep).unwrap_or(rest);
    Ok(Some(Varying { program, left_out }))
}

/// For each node of a program whether an output or an op that writes depends on it.
fn needed(program: &Graph, ops: &OpTable) -> Vec<bool> {
    let mut wanted = vec![false; program.values.len()];
    program.outputs.iter().for_each(|output| wanted[output.index()] = true);
    let mut needed = vec![false; program.nodes.len()];
    for (node, needed) in program.nodes.iter().zip(&mut needed).rev() {
        let writes = match &node.kind {
            NodeKind::Aten { op, .. } => ops.get(op).is_none_or(crate::Schema::writes),
            NodeKind::Kernel { .. } => false,
        };
        *needed = writes || node.outputs.iter().any(|output| wanted[output.index()]);
        if *needed {
            node.operands().iter().for_each(|operand| wanted[operand.index()] = true);
        }
    }
    needed
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn of(text: &str, drawn: &[bool]) -> Option<(String, Vec<usize>)> {
        let found = varying(&Graph::parse(text).unwrap(), drawn, OpTable::sample()).unwrap();
        found.map(|varying| (varying.program.to_string(), varying.left_out))
    }

    const TWO: &str = "graph(%x: f32[4], %p: f32[4]) {
  %a: f32[4] = aten::relu(%x)
  %b: f32[4] = aten::exp(%p)
  %c: f32[4] = aten::sin(%b)
  return (%c, %a)
}
";

    #[test]
    fn what_depends_on_nothing_drawn_is_left_out_with_what_it_needs() {
        let rest = "graph(%x: f32[4], %p: f32[4]) {\n  %a: f32[4] = aten::relu(%x)\n  return (%a)\n}\n";
        assert_eq!(of(TWO, &[true, false]), Some((rest.to_owned(), vec![0])));
        assert_eq!(of(TWO, &[true, true]), None);
        assert_eq!(of(TWO, &[false, false]).unwrap().1, [0, 1]);
    }

    #[test]
    fn an_output_that_is_written_into_depends_on_what_is_written() {
        let text = "graph(%x: f32[4]) {
  %z: f32[4] = aten::zeros([4])
  %w: f32[4] = aten::copy_(%z, %x)
  return (%z)
}
";
        assert_eq!(of(text, &[true]), None);
    }

    #[test]
    fn what_nobody_needed_before_stays() {
        let text = TWO.replace("return (%c, %a)", "return (%a)");
        assert_eq!(of(&text, &[true, false]), None);
        let dead = TWO.replace("  return", "  %d: f32[4] = aten::cos(%x)\n  return");
        assert!(of(&dead, &[true, false]).unwrap().0.contains("aten::cos"));
    }
}
