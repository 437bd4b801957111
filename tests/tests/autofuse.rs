//! What `autofuse` costs as a component, fuel on large graphs and bytes, and what it does where a policy allows it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_child::guest::Guest;
use passhost_child::{Confinement, Plugin};
use passhost_guest_sdk::testing::NoHost;
use passhost_ir::{DeviceFacts, DeviceKind, NodeKind};
use passhost_result::GuestLimits;
use passhost_tests::{Passhost, directory, plugin};
use tempfile::TempDir;

#[path = "../../plugins/autofuse/tests/sized/mod.rs"]
mod sized;

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
        let (rewrite, usage) = guest.run(&graph, DEVICE, true, 0, &mut NoHost).unwrap();
        let rewrite = rewrite.unwrap_or_else(|failure| panic!("{name}: {failure}"));
        let kernels = rewrite.graph.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Kernel { .. })).count();
        println!("{name}: {} nodes, {kernels} kernels, fuel {}", graph.nodes.len(), usage.fuel);
        assert!(kernels > 0, "{name}");
        (name, usage.fuel)
    };
    sized::all(size).unwrap().into_iter().map(&mut run).collect()
}

#[test]
fn a_thousand_nodes_take_about_a_tenth_of_the_fuel() {
    let allowed = GuestLimits::default().fuel / 200 * 21;
    for (name, fuel) in fuel(1_000) {
        assert!(fuel <= allowed, "{name} takes {fuel} of {allowed}");
    }
}

/// Whether a component holds a text: the names of ops that have a rule, or what a rule says of calls that it leaves out.
fn mentions(component: &[u8], text: &str) -> bool {
    component.windows(text.len()).any(|found| found == text.as_bytes())
}

#[test]
fn a_component_holds_the_rules_of_the_groups_that_it_names() {
    let read = |name: &str| std::fs::read(plugin(name)).unwrap();
    let [all, norms, pointwise] = ["autofuse", "fuse-norms", "fuse-pointwise"].map(read);
    assert!(all.len() <= 656_000, "autofuse has {} bytes", all.len());
    assert!(norms.len() < all.len() && pointwise.len() < norms.len());
    // A pattern and a kernel of one's own: what any pass has at least, here in 161,057 bytes.
    let least = read("gate");
    assert!(least.len() <= 165_000, "the smallest pass has {} bytes", least.len());
    assert!(!mentions(&least, "aten::lerp"), "it has no rules");
    let cases = [
        ("aten::lerp", [true, true, true]),
        ("aten::max_pool2d", [true, true, false]),
        ("aten::mse_loss", [true, false, false]),
        ("aten::tril", [true, false, false]),
    ];
    for (op, expected) in cases {
        assert_eq!([&all, &norms, &pointwise].map(|component| mentions(component, op)), expected, "{op}");
    }
}

#[test]
fn five_thousand_nodes_stay_within_the_limits() {
    assert_eq!(fuel(5_000).len(), 4);
}

/// Attention as a GraphNet folder has it, with a mask.
fn attention_sample() -> TempDir {
    let directory = directory();
    let record = |name: &str, shape: &str| {
        format!(
            "class Program_weight_tensor_meta_{name}:\n\tname = \"{name}\"\n\tshape = {shape}\n\tdtype = \"torch.float32\"\n\tdevice = \"cpu\"\n\tmean = 0.0\n\tstd = 1.0\n\tdata = None\n"
        )
    };
    let weights = [
        record("in_0", "[2, 4, 96, 32]"),
        record("in_1", "[2, 4, 96, 32]"),
        record("in_2", "[2, 4, 96, 32]"),
        record("in_3", "[2, 1, 96, 96]"),
    ];
    let model = "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0, in_1, in_2, in_3):\n        \
        tmp_0 = in_1.transpose(-2, -1)\n        tmp_1 = torch.matmul(in_0, tmp_0)\n        tmp_2 = tmp_1 * 0.25\n        \
        tmp_3 = tmp_2 + in_3\n        tmp_4 = torch.nn.functional.softmax(tmp_3, dim=-1)\n        \
        tmp_5 = torch.matmul(tmp_4, in_2)\n        tmp_6 = torch.relu(tmp_5)\n        return (tmp_6,)\n";
    std::fs::write(directory.path().join("model.py"), model).unwrap();
    std::fs::write(directory.path().join("weight_meta.py"), weights.join("\n")).unwrap();
    directory
}

#[test]
fn attention_is_one_call_where_the_policy_lets_it_and_right_either_way() {
    let sample = attention_sample();
    let mut hashes = vec![];
    for (policy, is_called) in [("open", true), ("kernels", false)] {
        let run = Passhost::eval(&plugin("autofuse"), sample.path()).with(&["--policy", policy]).run();
        run.expect_end(0, &["right"]);
        let [variant] = run.variants() else { panic!("{policy}: one variant") };
        run.expect(variant["class"].is_null(), &format!("{policy}: {variant:#}"));
        let log = variant["usage"]["log"].as_str().unwrap_or_default();
        assert_eq!(log.contains("attention is one library call"), is_called, "{policy}: {log}");
        hashes.push(variant["rewrite"]["sha256"].clone());
    }
    assert_ne!(hashes[0], hashes[1]);
}
