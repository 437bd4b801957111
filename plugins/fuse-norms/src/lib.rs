//! Fuses reductions and norms with what surrounds them: softmax, layer norm, RMS norm, means and pools become one kernel
//! each, together with the pointwise ops, views and copies before and behind them.
//!
//! Regions without a reduction are left to `fuse-pointwise`.

use passhost_guest_sdk::ir::{Graph, NodeId};
use passhost_guest_sdk::lower::{self, Group};
use passhost_guest_sdk::{DeviceFacts, Infer, Pass, PassError, PassInfo, Rewriter, log, register};

/// What lowers; the component holds no other rules.
const GROUPS: &[Group] = &[Group::POINTWISE, Group::MOVES, Group::REDUCTIONS, Group::NORMS, Group::POOLS];

/// The pass.
pub struct FuseNorms;

impl Pass for FuseNorms {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "fuse-norms".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: "Fuses reductions and norms with the ops around them into kernels that round as eager does"
                .to_owned(),
        }
    }

    fn run(&self, rewriter: &mut Rewriter, _device: &DeviceFacts, _host: &mut dyn Infer) -> Result<(), PassError> {
        rewriter.remove_dead_code();
        rewriter.remove_identities();
        let partition = lower::partition(rewriter.graph(), GROUPS);
        for region in &partition.regions {
            if !reduces(rewriter.graph(), region) {
                rewriter.refuse(region.clone(), "nothing is reduced here; fuse-pointwise is the pass for it");
                continue;
            }
            let replaced = lower::region(rewriter.graph(), region, GROUPS).map_err(PassError::from);
            match replaced.and_then(|lowered| Ok(rewriter.replace(&lowered)?)) {
                Ok(kernel) => log!("{kernel} fuses {} nodes", region.len()),
                Err(error) => rewriter.refuse(region.clone(), error.to_string()),
            }
        }
        for refusal in partition.refusals {
            rewriter.refuse(refusal.nodes, refusal.reason);
        }
        Ok(())
    }
}

/// Whether a region holds a reduction or a norm.
fn reduces(graph: &Graph, region: &[NodeId]) -> bool {
    graph.nodes.iter().any(|node| region.contains(&node.id) && lower::is_reduction(graph, node, GROUPS))
}

register!(FuseNorms);
