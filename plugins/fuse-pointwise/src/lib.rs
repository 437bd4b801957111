//! Fuses pointwise ops: each region becomes one kernel that reads its operands once and writes its results once.

use passhost_guest_sdk::lower::{self, Group, LowerError};
use passhost_guest_sdk::{DeviceFacts, Infer, Pass, PassError, PassInfo, Rewriter, ir::NodeId, log, register};

/// What lowers; the component holds no other rules.
const GROUPS: &[Group] = &[Group::POINTWISE, Group::MOVES];

/// The pass.
pub struct FusePointwise;

impl Pass for FusePointwise {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "fuse-pointwise".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: "Fuses regions of two or more pointwise ops into kernels that round as eager does".to_owned(),
        }
    }

    fn run(&self, rewriter: &mut Rewriter, _device: &DeviceFacts, _host: &mut dyn Infer) -> Result<(), PassError> {
        rewriter.remove_dead_code();
        rewriter.remove_identities();
        let partition = lower::partition(rewriter.graph(), GROUPS);
        for region in &partition.regions {
            fuse(rewriter, region);
        }
        for refusal in partition.refusals {
            rewriter.refuse(refusal.nodes, refusal.reason);
        }
        Ok(())
    }
}

/// Replaces a region by a kernel, or by several where one would break a limit. What cannot be fused is refused.
fn fuse(rewriter: &mut Rewriter, region: &[NodeId]) {
    let error = match lower::region(rewriter.graph(), region, GROUPS) {
        Ok(lowered) => match rewriter.replace(&lowered) {
            Ok(kernel) => return log!("{kernel} fuses {} nodes", region.len()),
            Err(error) => return rewriter.refuse(region, error.to_string()),
        },
        Err(error) => error,
    };
    // Nodes stand in graph order, and either half of a region that no path leaves and re-enters is one itself.
    let too_large = matches!(error, LowerError::Kernel(_)) && region.len() >= 4;
    if too_large {
        let (first, second) = region.split_at(region.len() / 2);
        fuse(rewriter, first);
        fuse(rewriter, second);
    } else {
        rewriter.refuse(region, error.to_string());
    }
}

register!(FusePointwise);
