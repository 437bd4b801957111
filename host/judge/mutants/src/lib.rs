//! Mutants of a graph: plausible cheats, each a change of a few nodes, as compiler writers mutate a program to test its
//! tests. A check that refuses them all looks where a cheat would differ; one that lets a mutant live says which it does
//! not see.
//!
//! A [class](classes) makes mutants of one kind. Two at once are a *composition*, which no class was written for.

mod classes;
mod draft;
mod equivalent;
mod reached;

use classes::CLASSES;
use draft::Site;
use passhost_ir::{Graph, NodeKind};
use reached::Reached;
use std::collections::{HashMap, HashSet};

/// Nodes of a graph, and elements of its largest value, beyond which the strength of a check is not determined.
pub const MOST_NODES: usize = 300;
/// As [`MOST_NODES`].
pub const MOST_ELEMENTS: u64 = 1 << 20;

/// A cheat.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// What kind it is of; of a composition both, joined by a plus sign.
    pub class: String,
    /// The values that are computed otherwise.
    pub at: String,
    /// The cheat's graph, with the inputs and the outputs of the original.
    pub graph: Graph,
    /// The rule by which it computes what the original does.
    pub equivalent: Option<&'static str>,
}

/// Whether a graph is small enough for mutants of it to be run.
pub fn is_within_limits(graph: &Graph) -> bool {
    graph.nodes.len() <= MOST_NODES && graph.values.iter().all(|value| value.ty.numel() <= MOST_ELEMENTS)
}

/// All mutants of a graph, in the order of its values: inputs, then results of nodes. What no input reaches has none: it is
/// the same in every run, so that an honest pass computes it once as well.
pub fn mutants(graph: &Graph) -> Vec<Mutant> {
    let reached = Reached::of(graph);
    let site = |node, value| Site { graph, node, value, of_floats: reached.by_floats.contains(&value) };
    let inputs = graph.inputs.iter().map(|&value| site(None, value));
    let nodes = graph.nodes.iter().enumerate().filter_map(|(position, node)| {
        let written = matches!(&node.kind, NodeKind::Aten { op, .. } if op.name.ends_with('_'));
        let is_site = node.outputs.len() == 1 && !written && reached.by_any.contains(&node.outputs[0]);
        is_site.then(|| site(Some(position), node.outputs[0]))
    });
    let mut seen = HashSet::new();
    let mut all = vec![];
    for site in inputs.chain(nodes) {
        for (class, make) in CLASSES {
            for mutated in make(&site) {
                if seen.insert(mutated.to_string()) {
                    let at = format!("%{}", graph.value(site.value).name);
                    let equivalent = equivalent::rule(&site, class);
                    all.push(Mutant { class: (*class).into(), at, graph: mutated, equivalent });
                }
            }
        }
    }
    all
}

/// At most so many of them, of every class before two of one, in this order. Which ones follows from the seed.
pub fn sampled(all: Vec<Mutant>, most: usize, seed: u64) -> Vec<Mutant> {
    let key = |at: usize| mixed(seed ^ mixed(at as u64));
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&at| key(at));
    let mut before: Vec<(usize, usize)> = vec![];
    for (number, &at) in order.iter().enumerate() {
        let same = order[..number].iter().filter(|&&other| all[other].class == all[at].class).count();
        before.push((same, at));
    }
    before.sort_unstable();
    let mut all: Vec<Option<Mutant>> = all.into_iter().map(Some).collect();
    before.into_iter().take(most).filter_map(|(_, at)| all[at].take()).collect()
}

/// Two halves, with as many of each class as can be. Which half gets more of one follows from the seed.
pub fn halves(mut all: Vec<Mutant>, seed: u64) -> (Vec<Mutant>, Vec<Mutant>) {
    let mut of_class: HashMap<String, u64> = HashMap::new();
    let mut is_first = |mutant: &mut Mutant| {
        let before = of_class.entry(mutant.class.clone()).or_insert_with(|| mixed(seed ^ mutant.class.len() as u64));
        *before = before.wrapping_add(1);
        before.is_multiple_of(2)
    };
    let first = all.extract_if(.., &mut is_first).collect();
    (first, all)
}

/// So many compositions of two mutants of different classes. The second is none of what the first one inserted: to take that
/// away again would be no cheat.
pub fn compositions(graph: &Graph, count: usize, seed: u64) -> Vec<Mutant> {
    let first: Vec<Mutant> = mutants(graph).into_iter().filter(|mutant| mutant.equivalent.is_none()).collect();
    let first = sampled(first, count, seed);
    let second = |(number, one): (usize, Mutant)| {
        let mut others = mutants(&one.graph);
        let is_of_original = |at: &str| graph.values.iter().any(|value| at.strip_prefix('%') == Some(&value.name));
        others.retain(|other| other.class != one.class && other.equivalent.is_none() && is_of_original(&other.at));
        let chosen = mixed(seed ^ number as u64) as usize % others.len().max(1);
        let other = others.into_iter().nth(chosen)?;
        let (class, at) = (format!("{} + {}", one.class, other.class), format!("{}, {}", one.at, other.at));
        Some(Mutant { class, at, graph: other.graph, equivalent: None })
    };
    first.into_iter().enumerate().filter_map(second).collect()
}

/// A number that depends on every bit of another one (SplitMix64).
fn mixed(number: u64) -> u64 {
    let x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests;
