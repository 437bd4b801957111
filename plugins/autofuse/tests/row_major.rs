//! Where results between kernels lie in memory.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use autofuse::{Autofuse, H200};
use passhost_guest_sdk::ir::{Graph, NodeKind, OpTable, verify_rewrite};
use passhost_guest_sdk::testing::{Types, expect_same_bits, rewrite_for};

/// Sums of images that lie with their channels first, as rows of channels, each with a norm; `last` reads the second.
fn sums(last: &str) -> String {
    format!(
        "graph(%c: bf16[2,64,30], %e: bf16[30,64], %w: bf16[64], %b: bf16[64], %m: bf16[64,64]) {{
           %p: bf16[2,30,64]{{1920,1,30}} = aten::permute(%c, [0, 2, 1])
           %s: bf16[2,30,64]{{1920,1,30}} = aten::add.Tensor(%p, %e)
           %n: bf16[2,30,64] = aten::layer_norm(%s, [64], %w, %b)
           %l: bf16[2,30,64] = aten::linear(%n, %m)
           %t: bf16[2,30,64]{{1920,1,30}} = aten::add.Tensor(%s, %l)
           %o: bf16[2,30,64] = aten::layer_norm(%t, [64], %w, %b)
           {last}
         }}"
    )
}

/// How many results of kernels have another layout than their kernel writes them in.
fn permuted(text: &str) -> usize {
    let graph = Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (rewritten, _) = rewrite_for(&Autofuse, graph.clone(), &H200).unwrap();
    let verified = verify_rewrite(&graph, &rewritten, OpTable::insert(), &mut Types::default());
    assert!(verified.is_ok(), "{verified:?}\n{rewritten}");
    if !text.contains("aten::sort") {
        assert_eq!(expect_same_bits(&graph, &rewritten), Ok(()), "{rewritten}");
    }
    let is_permute = |kind: &NodeKind| matches!(kind, NodeKind::Aten { op, .. } if op.name == "aten::permute");
    rewritten.nodes.iter().filter(|node| is_permute(&node.kind)).count()
}

#[test]
fn what_kernels_alone_read_lies_row_by_row() {
    assert_eq!(permuted(&sums("return (%o)")), 0);
}

#[test]
fn what_something_else_reads_or_the_graph_returns_lies_as_aten_lays_it() {
    assert_eq!(permuted(&sums("return (%o, %t)")), 1);
    let sorted = "%v: bf16[2,30,64]{1920,1,30}, %i: i64[2,30,64]{1920,1,30} = aten::sort(%t)\n return (%o, %v)";
    assert_eq!(permuted(&sums(sorted)), 1);
    // Through a view as well.
    let viewed = "%v: bf16[2,64,30] = aten::transpose.int(%t, 1, 2)\n return (%o, %v)";
    assert_eq!(permuted(&sums(viewed)), 1);
}
