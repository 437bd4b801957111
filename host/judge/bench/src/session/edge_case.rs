//! Rounds in which inputs are unusual, of which there are as many as the inputs of a graph allow.

use crate::bounded::{bounded_inputs, indexed_rows};
use crate::edge_cases::{EdgeCaseDraw, draws};
use passhost_ir::{Draw, Graph, InputSpec};
use passhost_result::UnusualRound;

/// A round in which inputs are unusual.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct EdgeCase {
    /// Which, and whether the range that is recorded of each is kept.
    pub inputs: Vec<(usize, bool)>,
    /// In which way.
    pub draw: EdgeCaseDraw,
}

/// Ways in which all inputs are unusual at once that can be: cheats that keep apart what each input alone does.
const TOGETHER: [EdgeCaseDraw; 8] = [
    EdgeCaseDraw::Zeros,
    EdgeCaseDraw::ConstantRow,
    EdgeCaseDraw::Small,
    EdgeCaseDraw::Negative,
    EdgeCaseDraw::FewNumbers,
    EdgeCaseDraw::NoNumberRow,
    EdgeCaseDraw::MaskedRow,
    EdgeCaseDraw::Closed,
];

impl EdgeCase {
    /// All that there are for these inputs of a graph.
    pub fn all(specs: &[InputSpec], graph: &Graph) -> Vec<EdgeCase> {
        let bounded: Vec<(usize, bool)> = bounded_inputs(graph).into_iter().enumerate().collect();
        let ways = |&(input, bounded): &(usize, bool)| {
            draws(&specs[input], bounded).iter().map(move |&draw| EdgeCase { inputs: vec![(input, bounded)], draw })
        };
        let rows = indexed_rows(graph).into_iter().enumerate().filter(|(input, rows)| {
            let ranges = !matches!(specs[*input].draw, Draw::Integers(_));
            rows.is_some() && ranges && !specs[*input].is_fixed() && specs[*input].ty.numel() > 0
        });
        let rows = rows.map(|(input, _)| EdgeCase { inputs: vec![(input, true)], draw: EdgeCaseDraw::Rows });
        let together = TOGETHER.iter().map(|&draw| {
            let can = |(input, bounded): &&(usize, bool)| draws(&specs[*input], *bounded).contains(&draw);
            EdgeCase { inputs: bounded.iter().filter(can).copied().collect(), draw }
        });
        let equal = bounded.iter().enumerate().filter_map(|(at, &(input, _))| {
            let is_same = |other: &(usize, bool)| {
                let [one, other] = [&specs[input], &specs[other.0]];
                other.ty == one.ty && other.draw == one.draw && !other.is_fixed()
            };
            let is_first = !bounded[..at].iter().any(is_same);
            let inputs = || bounded[at..].iter().filter(|other| is_same(other)).copied().collect();
            is_first.then(|| EdgeCase { inputs: inputs(), draw: EdgeCaseDraw::EqualInputs })
        });
        let of_several = together.chain(equal).filter(|case| case.inputs.len() > 1);
        bounded.iter().flat_map(ways).chain(rows).chain(of_several).collect()
    }

    /// As findings name it.
    pub fn round(&self, specs: &[InputSpec]) -> UnusualRound {
        UnusualRound { input: self.name(specs), draw: self.draw.to_string() }
    }

    /// The names of its inputs.
    pub fn name(&self, specs: &[InputSpec]) -> String {
        let names: Vec<&str> = self.inputs.iter().map(|(input, _)| specs[*input].name.as_str()).collect();
        names.join(", ")
    }
}
