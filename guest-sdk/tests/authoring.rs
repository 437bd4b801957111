//! Holds AUTHORING.md: what it shows compiles, passes the verifier and computes what it says; and it fits a prompt.
//!
//! The Rust of the page lies in `tests/guide`, where it is compiled, and is copied to the page from there.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "guide/pass.rs"]
mod pass;
#[path = "guide/snippets.rs"]
mod snippets;
#[path = "guide/softmax.rs"]
mod softmax;
#[path = "guide/two_stage.rs"]
mod two_stage;

use passhost_guest_sdk::ir::{OpTable, verify_graph};
use passhost_guest_sdk::prelude::*;
use passhost_guest_sdk::testing::{DEVICE, Types, assert_same};

const PAGE: &str = include_str!("../../AUTHORING.md");

/// Tokenizers of language models make a token of 3.5 characters or more of prose and code in English.
const CHARACTERS_PER_TOKEN: f64 = 3.5;

/// The fenced blocks of a kind, each with what stands behind the kind.
fn blocks(kind: &str) -> Vec<(&'static str, &'static str)> {
    let fenced = PAGE.split("```").skip(1).step_by(2);
    let of_kind = |block: &'static str| {
        let (heading, text) = block.split_once('\n')?;
        let (found, name) = heading.split_once(' ').unwrap_or((heading, ""));
        (found == kind).then_some((name, text))
    };
    fenced.filter_map(of_kind).collect()
}

#[test]
fn the_page_fits_a_prompt() {
    let tokens = PAGE.chars().count() as f64 / CHARACTERS_PER_TOKEN;
    assert!(tokens < 6000.0, "AUTHORING.md has {tokens:.0} tokens, which must be fewer than 6000");
}

#[test]
fn the_rust_of_the_page_is_what_is_compiled() {
    let compiled = [
        include_str!("guide/pass.rs"),
        include_str!("guide/snippets.rs"),
        include_str!("guide/softmax.rs"),
        include_str!("guide/two_stage.rs"),
    ];
    let blocks = blocks("rust");
    assert_eq!(blocks.len(), 6);
    for (_, block) in blocks {
        assert!(compiled.iter().any(|file| file.contains(block)), "no file of tests/guide has this block:\n{block}");
    }
}

/// Puts a kernel of the page in the place of a whole graph.
struct Whole(&'static str);

impl Pass for Whole {
    fn info(&self) -> PassInfo {
        PassInfo::new("whole", "0.1.0", "Replaces a graph by a kernel")
    }

    fn run(&self, rewriter: &mut Rewriter, _: &DeviceFacts, _: &mut dyn Infer) -> Result<(), PassError> {
        let graph = rewriter.graph();
        let nodes: Vec<NodeId> = graph.nodes.iter().map(|node| node.id).collect();
        let (inputs, outputs) = (graph.inputs.clone(), graph.outputs.clone());
        rewriter.replace_with(&nodes, self.0, inputs, outputs)?;
        Ok(())
    }
}

#[test]
fn the_kernels_of_the_page_compute_what_it_says() {
    let graphs = [
        (
            "pointwise",
            "graph(%x: f16[6,32], %b: f16[32]) {
               %s: f16[6,32] = aten::add.Tensor(%x, %b)
               %y: f16[6,32] = aten::silu(%s)
               return (%y)
             }",
        ),
        (
            "norm",
            "graph(%x: f32[4,32], %y: f32[4,32]) {
               %s: f32[4,32] = aten::add.Tensor(%x, %y)
               %p: f32[4,32] = aten::pow.Tensor_Scalar(%s, 2)
               %m: f32[4,1] = aten::mean.dim(%p, [-1], keepdim=true)
               %e: f32[4,1] = aten::add.Scalar(%m, 1e-6)
               %r: f32[4,1] = aten::rsqrt(%e)
               %n: f32[4,32] = aten::mul.Tensor(%s, %r)
               return (%s, %n)
             }",
        ),
        (
            "window",
            "graph(%x: f32[2,8,8]) {
               %y: f32[2,4,4] = aten::max_pool2d(%x, [3, 3], [2, 2], [1, 1])
               return (%y)
             }",
        ),
        (
            "gather",
            "graph(%i: i64[5], %t: f32[10,16]) {
               %r: f32[5,16] = aten::embedding(%t, %i)
               return (%r)
             }",
        ),
    ];
    let kernels = blocks("kernel");
    assert_eq!(kernels.len(), graphs.len());
    for (name, kernel) in kernels {
        let printed = kernel.parse::<Kernel>().unwrap().to_string();
        let between: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        let is_short = ["norm", "window"].contains(&name);
        assert_eq!(
            kernel.lines().eq(between),
            !is_short,
            "{name} is written as kernels are printed, but for short indices"
        );
        let (_, graph) = graphs.iter().find(|(known, _)| *known == name).unwrap();
        assert_same(&Whole(kernel), graph);
    }
}

#[test]
fn the_passes_of_the_page_keep_what_graphs_compute() {
    assert_same(
        &pass::FuseAll,
        "graph(%x: f16[4,64], %y: f16[4,64]) {
           %gate: f16[4,64] = aten::silu(%x)
           %product: f16[4,64] = aten::mul.Tensor(%gate, %y)
           %rows: f16[4,64] = aten::softmax.int(%product, -1)
           return (%rows)
         }",
    );
    for dtype in ["f32", "f16", "bf16"] {
        let graph = format!(
            "graph(%scores: {dtype}[2,3,4,5], %mask: {dtype}[2,1,1,5]) {{
               %scaled: {dtype}[2,3,4,5] = aten::mul.Scalar(%scores, 0.125)
               %masked: {dtype}[2,3,4,5] = aten::add.Tensor(%scaled, %mask)
               %weights: {dtype}[2,3,4,5] = aten::softmax.int(%masked, -1)
               return (%weights)
             }}"
        );
        assert_same(&softmax::MaskedSoftmax, &graph);
    }
    assert_same(
        &two_stage::ReluMean,
        "graph(%x: f32[3,256]) {
           %g: f32[3,256] = aten::relu(%x)
           %m: f32[3] = aten::mean.dim(%g, [-1])
           return (%m)
         }",
    );
}

#[test]
fn the_graph_of_the_page_is_one() {
    let [(_, text)] = blocks("graph")[..] else { panic!("one graph") };
    verify_graph(&Graph::parse(text).unwrap(), OpTable::sample()).unwrap();
}

#[test]
fn the_snippets_of_the_page_do_what_they_say() {
    let graph = Graph::parse(
        "graph(%x: f32[4,8], %w: f32[8]) {
           %n: f32[4,8] = aten::layer_norm(%x, [8], %w)
           %r: f32[4,8] = aten::relu(%n)
           return (%r)
         }",
    )
    .unwrap();
    snippets::patterns(&graph).unwrap();
    let found = |graph: &Graph| op("aten::relu", [any("x")]).named("out").find(graph).remove(0);
    let mut edited = Rewriter::new(graph.clone());
    snippets::editing(&mut edited, &found(&graph), &mut Types::default()).unwrap();
    assert_eq!(edited.graph().nodes.len(), 2);
    let mut built = Rewriter::new(graph.clone());
    snippets::builder(&mut built, &found(&graph)).unwrap();
    assert!(matches!(built.graph().nodes[1].kind, NodeKind::Kernel { .. }));
    let host: &mut dyn Infer = &mut Types::default();
    pass::FuseAll.run(&mut built, &DEVICE, host).unwrap();
}

/// The calls that the page lists beside its example of the builder, in a kernel that the verifier takes.
#[test]
fn the_calls_of_the_builder_that_the_page_names_are_there() {
    let k = KernelBuilder::new([4], [6]);
    let at = vec![k.axis(0), k.affine(1, 2, -1)];
    let x = k.load(k.input(Dtype::F32, [4, 11]), at, PaddingMode::Clamp);
    let smooth = k.unary(Unary::Erf, k.unary(Unary::Rsqrt, k.binary(Binary::Max, x, k.float(Dtype::F32, 1e-3))));
    let place = k.position(k.axis(0));
    let is_first = k.compare(Compare::Lt, place, k.int(Dtype::I64, 1));
    let kept = k.select(is_first, k.fma(smooth, x, x), k.rounded(Dtype::F16, smooth));
    let all = k.select(k.bool(true), k.reduce(ReduceOp::Max, kept), k.add(k.sum(kept), k.mean(kept)));
    k.store(all, [0], [4]);
    let kernel = k.finish();
    assert!(kernel.is_ok(), "{kernel:?}");
}
