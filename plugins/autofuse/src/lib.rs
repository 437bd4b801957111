//! One pass for any graph: removes what does nothing, and makes kernels of the ops for which that is estimated to take
//! less time on the device at hand. `docs/kernels.md` has the cost model and says how to read the log.
//!
//! Besides kernels it inserts `attention` as one call of the library's, and convolutions without their `bias`,
//! where the policy lets it.

mod attention;
mod bias;

use passhost_guest_sdk::ir::{DeviceKind, Graph, Node};
use passhost_guest_sdk::lower::{self, FusionPlan, Group};
use passhost_guest_sdk::{DeviceFacts, Infer, Pass, PassError, PassInfo, Rewriter, log, register, view};

/// An H200 as the host describes it: for tests of what the pass decides there.
pub const H200: DeviceFacts = DeviceFacts {
    kind: DeviceKind::Cuda,
    multiprocessors: 132,
    l2_bytes: 50 << 20,
    bandwidth: 4_800_000_000_000,
    launch_ns: 2_000,
};

/// The host cuts a pass off whose log is too long.
const MOST_LINES: usize = 200;

/// The pass.
pub struct Autofuse;

impl Pass for Autofuse {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "autofuse".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: "Makes kernels of whatever is estimated to gain by it, and rounds as eager does".to_owned(),
        }
    }

    fn run(&self, rewriter: &mut Rewriter, device: &DeviceFacts, host: &mut dyn Infer) -> Result<(), PassError> {
        rewriter.remove_dead_code();
        let idle = [Rewriter::remove_identities, Rewriter::remove_copies, Rewriter::remove_idle_writes];
        let removed: usize = idle.iter().map(|remove| remove(rewriter).len()).sum();
        rewriter.remove_dead_code();
        if removed > 0 {
            log!("{removed} idle nodes");
        }
        let calls = attention::call(rewriter, device, host)?;
        if calls > 0 {
            log!("attention is one library call, {calls} times");
        }
        let biases = bias::split(rewriter, device, host);
        if biases > 0 {
            log!("biases of {biases} convolutions are added behind them");
        }
        let mut plan = lower::fuse(rewriter.graph(), device, Group::ALL);
        let images = lower::lay_channels_last(rewriter, device, (&plan, Group::ALL), host);
        if images > 0 {
            log!("{images} nodes read images with channels last");
            plan = lower::fuse(rewriter.graph(), device, Group::ALL);
        }
        let (plan, rows) = lower::lay_row_major(rewriter, device, Group::ALL, plan);
        if rows > 0 {
            log!("{rows} results that kernels alone read lie row by row");
        }
        let kernels = rewriter.replace_all(plan.kernels.iter().map(|fused| &fused.lowered))?;
        for (kernel, fused) in kernels.iter().zip(&plan.kernels).take(MOST_LINES) {
            let (nodes, [kernel_us, calls_us]) = (fused.lowered.nodes().len(), [fused.kernel, fused.calls].map(us));
            log!("{kernel} is {nodes} nodes: estimated at {kernel_us:.1} us, ATen at {calls_us:.1} us");
        }
        summarise(&plan);
        if calculates_nothing(rewriter.graph()) {
            log!("every result is a view of an input: nothing is calculated");
        }
        for refusal in plan.refusals {
            rewriter.refuse(refusal.nodes, refusal.reason);
        }
        Ok(())
    }
}

/// Whether all results of a graph are views of its inputs.
fn calculates_nothing(graph: &Graph) -> bool {
    let outputs = |node: &Node| node.outputs.iter().all(|&output| view::step(graph, node, output).is_some());
    graph.nodes.iter().all(outputs)
}

fn summarise(plan: &FusionPlan) {
    if plan.is_forced {
        log!("no kernel is estimated to gain; this one costs least, and a graph without any counts as untouched");
    }
    let [eager, rewritten] = [plan.eager, plan.rewritten].map(us);
    log!("estimate: eager {eager:.1} us, rewritten {rewritten:.1} us, {:.2} times as fast", eager / rewritten);
}

fn us(nanoseconds: f64) -> f64 {
    nanoseconds / 1e3
}

register!(Autofuse);
