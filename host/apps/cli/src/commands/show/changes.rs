//! What a pass changed, node by node.

use passhost_ir::Graph;
use passhost_result::untrusted::escaped;

/// Pairs of nodes that are looked at, at most: beyond that, what lies between equal beginnings and ends is replaced as one.
const MOST: usize = 1 << 24;

/// The nodes of two graphs as lines: behind `-` those that are gone, behind `+` those that are new, behind spaces those
/// that stay.
pub fn changes(before: &Graph, after: &Graph) -> Vec<String> {
    let (before, after) = (texts(before), texts(after));
    let start = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let mut lines = marked(' ', &before[..start]);
    lines.extend(differences(old, new));
    lines.extend(marked(' ', &before[before.len() - end..]));
    lines
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

/// By the longest common subsequence.
fn differences(old: &[String], new: &[String]) -> Vec<String> {
    if old.len().saturating_mul(new.len()) > MOST {
        return [marked('-', old), marked('+', new)].concat();
    }
    let columns = new.len() + 1;
    // The length of the longest common subsequence of what is left from each pair of places on.
    let mut longest = vec![0u32; (old.len() + 1) * columns];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * columns + j] = if old[i] == new[j] {
                longest[(i + 1) * columns + j + 1] + 1
            } else {
                longest[(i + 1) * columns + j].max(longest[i * columns + j + 1])
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, vec![]);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.extend(marked(' ', &old[i..=i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && longest[(i + 1) * columns + j] >= longest[i * columns + j + 1]) {
            lines.extend(marked('-', &old[i..=i]));
            i += 1;
        } else {
            lines.extend(marked('+', &new[j..=j]));
            j += 1;
        }
    }
    lines
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
