//! What `autofuse` costs on large graphs, as a component.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_guest_sdk::testing::{NoHost, sized};
use passhost_ir::{DeviceFacts, DeviceKind, NodeKind};
use passhost_protocol::guest::GuestLimits;
use passhost_supervisor::guest::Guest;
use passhost_supervisor::{Confinement, Plugin};
use passhost_tests::plugin;

/// An H200.
const DEVICE: DeviceFacts = DeviceFacts {
    kind: DeviceKind::Cuda,
    multiprocessors: 132,
    l2_bytes: 50 << 20,
    bandwidth: 4_800_000_000_000,
    launch_ns: 2_000,
};

/// The fuel of the pass for each graph of this size.
fn fuel(size: usize) -> Vec<(&'static str, u64)> {
    let limits = GuestLimits::default();
    let plugin = Plugin::read(&plugin("autofuse"), limits.wasm).unwrap();
    let mut guest = Guest::load(&plugin, limits, None, Confinement::default()).unwrap();
    let mut run = |(name, graph)| {
        let (rewrite, usage) = guest.run(&graph, DEVICE, 0, &mut NoHost).unwrap();
        let rewrite = rewrite.unwrap_or_else(|failure| panic!("{name}: {failure}"));
        let kernels = rewrite.graph.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Kernel { .. })).count();
        println!("{name}: {} nodes, {kernels} kernels, fuel {}", graph.nodes.len(), usage.fuel);
        assert!(kernels > 0, "{name}");
        (name, usage.fuel)
    };
    sized::all(size).unwrap().into_iter().map(&mut run).collect()
}

#[test]
fn a_thousand_nodes_take_an_eighth_of_the_fuel() {
    let allowed = GuestLimits::default().fuel / 8;
    for (name, fuel) in fuel(1_000) {
        assert!(fuel <= allowed, "{name} takes {fuel} of {allowed}");
    }
}

#[test]
fn five_thousand_nodes_stay_within_the_limits() {
    assert_eq!(fuel(5_000).len(), 4);
}
