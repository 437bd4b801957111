//! Holds docs/kernels.md true: its kernel is what the lowering makes of its graph, its source what the GPU executor makes
//! of the kernel. `UPDATE_EXPECT=1` writes both anew.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_guest_sdk::ir::{Graph, NodeId, kernel};
use passhost_guest_sdk::lower::{self, Group};
use passhost_kernels::KernelLayout;
use passhost_kernels::cuda::{DeviceProperties, emit};
use std::path::Path;

/// Where the text of the page's block of this kind is.
fn block(page: &str, kind: &str) -> std::ops::Range<usize> {
    let fence = format!("```{kind}\n");
    let start = page.find(&fence).unwrap_or_else(|| panic!("no block of {kind}")) + fence.len();
    start..start + page[start..].find("```").unwrap()
}

#[test]
fn the_page_shows_what_the_programs_print() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/kernels.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let graph = Graph::parse(&page[block(&page, "graph")]).unwrap();
    let nodes: Vec<NodeId> = graph.nodes.iter().map(|node| node.id).collect();
    let lowered = lower::region(&graph, &nodes, Group::ALL).unwrap();
    let kernel = lowered.kernel();
    let facts = kernel::verify(kernel).unwrap();
    let source = emit(kernel, &facts, &KernelLayout::contiguous(kernel), &DeviceProperties::H200).text;
    let (_, entry) = source.split_once("extern \"C\"").unwrap();

    let mut expected = page.clone();
    expected.replace_range(block(&expected, "kernel"), &format!("{kernel}\n"));
    expected.replace_range(block(&expected, "cuda"), &format!("extern \"C\"{entry}"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert!(page == expected, "docs/kernels.md is stale (UPDATE_EXPECT=1 writes it anew); expected:\n{expected}");
    }
}
