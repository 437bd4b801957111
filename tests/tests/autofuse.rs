//! What `autofuse` costs as a component: fuel on large graphs, and bytes.
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
fn a_thousand_nodes_take_a_tenth_of_the_fuel() {
    let allowed = GuestLimits::default().fuel / 10;
    for (name, fuel) in fuel(1_000) {
        assert!(fuel <= allowed, "{name} takes {fuel} of {allowed}");
    }
}

/// Whether the name section of a component mentions rules of a module of the SDK.
fn links(component: &[u8], module: &str) -> bool {
    let name = format!("5rules{}{module}", module.len());
    component.windows(name.len()).any(|found| found == name.as_bytes())
}

#[test]
fn a_component_holds_the_rules_of_the_groups_that_it_names() {
    let read = |name: &str| std::fs::read(plugin(name)).unwrap();
    let [all, norms, pointwise] = ["autofuse", "fuse-norms", "fuse-pointwise"].map(read);
    assert!(all.len() <= 1_000_000, "autofuse has {} bytes", all.len());
    assert!(norms.len() < all.len() && pointwise.len() < norms.len());
    let cases = [
        ("arithmetic", [true, true, true]),
        ("pooling", [true, true, false]),
        ("loss", [true, false, false]),
        ("triangle", [true, false, false]),
    ];
    for (module, expected) in cases {
        assert_eq!([&all, &norms, &pointwise].map(|component| links(component, module)), expected, "{module}");
    }
}

#[test]
fn five_thousand_nodes_stay_within_the_limits() {
    assert_eq!(fuel(5_000).len(), 4);
}
