//! What a pass changed, node by node.

use passhost_ir::Graph;
use passhost_result::untrusted::escaped;
use similar::{Algorithm, DiffTag, capture_diff_slices};

/// The nodes of two graphs as lines: behind `-` those that are gone, behind `+` those that are new, behind spaces those
/// that stay.
pub fn changes(before: &Graph, after: &Graph) -> Vec<String> {
    let (before, after) = (texts(before), texts(after));
    let operations = capture_diff_slices(Algorithm::Myers, &before, &after);
    let lines = operations.iter().flat_map(|operation| match operation.as_tag_tuple() {
        (DiffTag::Equal, old, _) => marked(' ', &before[old]),
        (_, old, new) => [marked('-', &before[old]), marked('+', &after[new])].concat(),
    });
    lines.collect()
}

/// Each node with its id, and what the graph returns.
fn texts(graph: &Graph) -> Vec<String> {
    let names: Vec<String> = graph
        .outputs
        .iter()
        .map(|output| {
            graph.values.get(output.index()).map_or("%?".to_owned(), |value| format!("%{}", escaped(&value.name)))
        })
        .collect();
    let nodes = graph.nodes.iter().map(|node| graph.node_text(node));
    nodes.chain([format!("return ({})", names.join(", "))]).collect()
}

fn marked(mark: char, texts: &[String]) -> Vec<String> {
    texts.iter().flat_map(|text| text.lines().map(move |line| format!("{mark} {line}"))).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_are_gone_new_and_kept_are_told_apart() {
        let before = "graph(%x: f32[4]) {
            #0 %a: f32[4] = aten::exp(%x)
            #1 %b: f32[4] = aten::relu(%a)
            #2 %c: f32[4] = aten::neg(%b)
            return (%c)
        }";
        let after = "graph(%x: f32[4]) {
            #0 %a: f32[4] = aten::exp(%x)
            #9 %k: f32[4] = aten::abs(%a)
            #2 %c: f32[4] = aten::neg(%k)
            return (%c)
        }";
        let [before, after] = [before, after].map(|text| Graph::parse(text).unwrap());
        let expected = [
            "  #0 %a: f32[4] = aten::exp(%x)",
            "- #1 %b: f32[4] = aten::relu(%a)",
            "- #2 %c: f32[4] = aten::neg(%b)",
            "+ #9 %k: f32[4] = aten::abs(%a)",
            "+ #2 %c: f32[4] = aten::neg(%k)",
            "  return (%c)",
        ];
        assert_eq!(changes(&before, &after), expected);
        assert!(changes(&before, &before).iter().all(|line| line.starts_with("  ")));
    }
}
