//! Makes kernels of what the script left, as the reference passes do.

use crate::edit::named;
use crate::fragment::fresh;
use crate::play::Stage;
use crate::script::Step;
use passhost_guest_sdk::Rewriter;
use passhost_guest_sdk::ir::{Graph, Node, NodeId, NodeKind};
use passhost_guest_sdk::lower::{self, Group};

/// As the reference passes, products left to libraries.
const GROUPS: &[Group] = &[
    Group::POINTWISE,
    Group::CREATION,
    Group::SPREAD,
    Group::LOSSES,
    Group::REDUCTIONS,
    Group::NORMS,
    Group::POOLS,
    Group::MOVES,
    Group::GATHERS,
    Group::RESAMPLING,
];

/// `fuse` every region that the SDK finds, `fuse each` node by itself, or `fuse %a %b` the nodes that define these.
pub(crate) fn fuse(stage: &mut Stage<'_>, step: &Step<'_>) -> Result<(), String> {
    let mut rewriter = Rewriter::new(std::mem::take(&mut stage.graph));
    rewriter.remove_dead_code();
    let regions = match step.words().next() {
        None => {
            rewriter.remove_identities();
            lower::partition(rewriter.graph(), GROUPS).regions
        }
        Some("each") => rewriter.graph().nodes.iter().map(|node| vec![node.id]).collect(),
        Some(_) => vec![step.words().map(|name| defining(rewriter.graph(), name)).collect::<Result<_, _>>()?],
    };
    let asked = step.words().next().is_some_and(|word| word != "each");
    for region in &regions {
        let lowered = lower::region(rewriter.graph(), region, GROUPS).map_err(|error| error.to_string());
        let replaced = lowered.and_then(|lowered| rewriter.replace(&lowered).map_err(|error| error.to_string()));
        match replaced {
            Err(error) if asked => return Err(error),
            Err(error) => stage.refusals.push(error),
            Ok(_) => {}
        }
    }
    stage.graph = rewriter.finish().0;
    rename_strangers(&mut stage.graph, &stage.original);
    Ok(())
}

fn defining(graph: &Graph, name: &str) -> Result<NodeId, String> {
    let value = named(graph, name)?;
    let node = graph.nodes.iter().find(|node| node.outputs.contains(&value));
    node.map(|node| node.id).ok_or_else(|| format!("no node defines {name}"))
}

/// A kernel may have got the id of a node that the script had taken out before: it takes another.
fn rename_strangers(graph: &mut Graph, original: &Graph) {
    let unused = fresh(original).max(fresh(graph))..;
    let is_stranger = |node: &&mut Node| {
        matches!(node.kind, NodeKind::Kernel { .. }) && original.nodes.iter().any(|other| other.id == node.id)
    };
    for (node, id) in graph.nodes.iter_mut().filter(is_stranger).zip(unused) {
        node.id = NodeId(id);
    }
}
