//! Outputs that are the same whatever is drawn. They are known before anything runs, so that nobody can tell who calculates
//! them from who knows them by heart.

use crate::canonical::needed_nodes;
use crate::functional::{FunctionalError, functionalise};
use crate::{Graph, InputSpec, NodeKind, OpTable, returns_views_alone};

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

/// Why no pass can be judged by a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unscorable {
    /// Its outputs are the same in every draw.
    #[error("no output depends on an input that is drawn: whatever a pass returns could be known by heart")]
    Fixed,
    /// It returns its inputs, as they are or in another view.
    #[error("every output that counts is a view of an input: nothing is calculated that a pass could make faster")]
    ViewsAlone,
}

/// Why no pass can be judged by a program with these inputs, if none can. One without a functional form is for others to
/// refuse.
pub fn unscorable(program: &Graph, inputs: &[InputSpec], ops: &OpTable) -> Option<Unscorable> {
    let drawn: Vec<bool> = inputs.iter().map(|input| !input.is_fixed()).collect();
    let varying = varying(program, &drawn, ops).ok()?;
    let counts = varying.as_ref().map_or(program, |varying| &varying.program);
    if counts.outputs.is_empty() {
        return Some(Unscorable::Fixed);
    }
    returns_views_alone(counts, ops).then_some(Unscorable::ViewsAlone)
}

/// For each node of a program whether an output or an op that writes depends on it.
fn needed(program: &Graph, ops: &OpTable) -> Vec<bool> {
    needed_nodes(program, |node| match &node.kind {
        NodeKind::Aten { op, .. } => ops.get(op).is_none_or(crate::Schema::writes),
        NodeKind::Kernel { .. } => false,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::Draw;

    fn of(text: &str, drawn: &[bool]) -> Option<(String, Vec<usize>)> {
        let found = varying(&Graph::parse(text).unwrap(), drawn, OpTable::sample()).unwrap();
        found.map(|varying| (varying.program.to_string(), varying.left_out))
    }

    #[test]
    fn what_no_pass_can_be_judged_by_is_named() {
        let why = |nodes: &str, draw: Draw| {
            let graph = Graph::parse(&format!("graph(%x: i64[4]) {{\n{nodes}\n  return (%y)\n}}\n")).unwrap();
            let ty = graph.ty(graph.inputs[0]).clone();
            let inputs = [InputSpec { name: "x".into(), ty, draw, min: None, max: None }];
            unscorable(&graph, &inputs, OpTable::sample())
        };
        let drawn = || Draw::Uniform { low: 0, high: 9 };
        let fixed = || Draw::Uniform { low: 3, high: 3 };
        assert_eq!(why("  %y: i64[4] = aten::abs(%x)", drawn()), None);
        assert_eq!(why("  %y: i64[4] = aten::abs(%x)", fixed()), Some(Unscorable::Fixed));
        assert_eq!(why("  %y: i64[2,2] = aten::view(%x, [2, 2])", drawn()), Some(Unscorable::ViewsAlone));
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
