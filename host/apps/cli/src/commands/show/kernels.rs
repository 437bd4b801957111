//! The kernels of a rewrite: their text, what they move and calculate, and the CUDA C++ that they become.

use crate::terminal::{Terminal, Tone};
use passhost_child::TypesClient;
use passhost_ir::kernel::{Effort, remarks, verify};
use passhost_ir::{DeviceFacts, Graph, Kernel, Node, NodeKind};
use passhost_protocol::device::GpuProperties;
use passhost_result::untrusted;

/// For which GPU kernels are written where there is none: an H100.
const NOMINAL: GpuProperties = GpuProperties {
    capability: (9, 0),
    multiprocessors: 132,
    threads_per_multiprocessor: 2048,
    shared_bytes_per_multiprocessor: 233_472,
};

/// Characters of a line of CUDA C++.
const WIDTH: usize = 400;

/// Each kernel of a graph with what it takes on a device at least.
pub fn kernels(graph: &Graph, device: &DeviceFacts, terminal: &Terminal) -> Vec<String> {
    let kernels: Vec<(&Node, &Kernel)> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Kernel { kernel, .. } => Some((node, &**kernel)),
            NodeKind::Aten { .. } => None,
        })
        .collect();
    if kernels.is_empty() {
        return vec![terminal.paint(Tone::Dim, "# no kernels")];
    }
    kernels.into_iter().flat_map(|(node, kernel)| one(graph, node, kernel, device, terminal)).collect()
}

fn one(graph: &Graph, node: &Node, kernel: &Kernel, device: &DeviceFacts, terminal: &Terminal) -> Vec<String> {
    let mut lines: Vec<String> = graph.node_text(node).lines().map(|line| untrusted::indented(line, WIDTH)).collect();
    // One that is refused is said to be so where the graph is verified.
    let Ok(facts) = verify(kernel) else { return lines };
    let effort = Effort::of(kernel, &facts);
    let (memory, arithmetic) = (effort.memory_ns(device) / 1e3, effort.arithmetic_ns(device) / 1e3);
    let launch = f64::from(device.launch_ns) / 1e3;
    let limit = match () {
        () if launch > memory.max(arithmetic) => "the launch",
        () if memory >= arithmetic => "memory",
        () => "arithmetic",
    };
    let text = format!(
        "{effort}; on this {} about {memory:.2} us for memory, {arithmetic:.2} us for arithmetic, {launch:.2} us for the \
         launch: {limit} bounds it",
        device.kind
    );
    let remarks = remarks(kernel, &facts, device);
    let said = std::iter::once((Tone::Dim, text)).chain(remarks.into_iter().map(|remark| (Tone::Warn, remark)));
    for (tone, text) in said {
        lines.extend(terminal.painted(tone, &text, "# "));
    }
    lines
}

/// What the kernels of a verified graph are compiled from on a GPU; several that are one launch are one text.
pub fn cuda(graph: &Graph, gpu: Option<GpuProperties>, types: &mut TypesClient, terminal: &Terminal) -> Vec<String> {
    let properties = gpu.unwrap_or(NOMINAL);
    let sources = types.sources(graph, properties, false);
    let mut lines = vec![];
    for (number, source) in sources.iter().enumerate() {
        let whose = if gpu.is_some() { "this GPU" } else { "an H100, as no GPU was opened" };
        let title = format!("# CUDA C++ {} of {}, for {whose}", number + 1, sources.len());
        lines.push(terminal.paint(Tone::Strong, &title));
        lines.extend(own(source).lines().map(|line| untrusted::indented(line, WIDTH)));
    }
    if lines.is_empty() {
        lines.push(terminal.paint(Tone::Dim, "# no CUDA C++: nothing is compiled for this graph"));
    }
    lines
}

/// The text behind `host/run/kernels/src/cuda/prelude.cu`, which stands before every kernel.
fn own(source: &str) -> &str {
    let starts = ["// The number of a block among those of one body.", "extern \"C\""];
    let start = starts.iter().filter_map(|start| source.find(start)).min();
    start.map_or(source, |start| &source[start..])
}
