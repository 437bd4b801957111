//! Where convolutions take and give their images with channels last.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use autofuse::{Autofuse, H200};
use expect_test::expect;
use passhost_guest_sdk::ir::verify_rewrite;
use passhost_guest_sdk::ir::{Arg, DeviceFacts, Graph, InferError, Node, NodeKind, OpName, OpTable, TensorType};
use passhost_guest_sdk::testing::{DEVICE, Types, expect_same_bits, rewrite_for};
use passhost_guest_sdk::{Infer, Pass, Rewriter};

fn parse(text: &str) -> Graph {
    Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A residual block between ops that become kernels. `sum` has the two parts of the sum.
fn block(sum: &str) -> String {
    format!(
        "graph(%x: f16[1,32,3,2], %k: f16[32,32,9,9], %l: f16[32,32,9,9], %m: f16[32], %v: f16[32], %w: f16[32], %b: f16[32]) {{
           %a: f16[1,32,3,2] = aten::relu(%x)
           %c: f16[1,32,3,2] = aten::conv2d(%a, %k, padding=[4, 4])
           %n: f16[1,32,3,2] = aten::batch_norm(%c, %w, %b, %m, %v, false, 0.1, 1e-05, true)
           %r: f16[1,32,3,2] = aten::relu(%n)
           %d: f16[1,32,3,2] = aten::conv2d(%r, %l, padding=[4, 4])
           %p: f16[1,32,3,2] = aten::batch_norm(%d, %w, %b, %m, %v, false, 0.1, 1e-05, true)
           %s: f16[1,32,3,2] = aten::add.Tensor({sum})
           %o: f16[1,32,3,2] = aten::relu(%s)
           return (%o)
         }}"
    )
}

/// The rewrite for a device. The host accepts it, and its bits are those of the ops one by one.
fn rewritten(text: &str, device: &DeviceFacts) -> Graph {
    let graph = parse(text);
    let (rewritten, _) = rewrite_for(&Autofuse, graph.clone(), device).unwrap();
    let verified = verify_rewrite(&graph, &rewritten, OpTable::insert(), &mut Types::default());
    assert!(verified.is_ok(), "{verified:?}\n{rewritten}");
    assert_eq!(expect_same_bits(&graph, &rewritten), Ok(()), "{rewritten}");
    rewritten
}

/// The nodes, of kernels what they read and the order in which they write.
fn outline(graph: &Graph) -> String {
    let text = graph.to_string();
    let is_shown = |line: &&str| line.starts_with("  #") || line.starts_with("    out ");
    text.lines().filter(is_shown).map(|line| format!("{}\n", line.trim().trim_end_matches(" {"))).collect()
}

fn convolutions(graph: &Graph) -> impl Iterator<Item = &Node> {
    let is_one = |node: &&Node| matches!(&node.kind, NodeKind::Aten { op, .. } if op.name == "aten::conv2d");
    graph.nodes.iter().filter(is_one)
}

/// How many convolutions of a graph give their channels last.
fn with_channels_last(graph: &Graph) -> usize {
    convolutions(graph).filter(|node| !graph.ty(node.outputs[0]).is_contiguous()).count()
}

#[test]
fn kernels_around_convolutions_write_channels_last() {
    let first = rewritten(&block("%p, %a"), &H200);
    expect![[r#"
        #12 %25: f16[1,3,2,32] = kernel(%x)
        out v6 over [p0, p1, p2] as [1,3,2,32]
        #17 %15: f16[1,32,3,2]{192,1,64,32} = aten::permute(%25, [0, 3, 1, 2])
        #13 %26: f16[32,9,9,32] = kernel(%k)
        out v2 over [p0, p1, p2, p3] as [32,9,9,32]
        #18 %16: f16[32,32,9,9]{2592,1,288,32} = aten::permute(%26, [0, 3, 1, 2])
        #1 %17: f16[1,32,3,2]{192,1,64,32} = aten::conv2d(%15, %16, padding=[4, 4])
        #14 %27: f16[1,3,2,32] = kernel(%17, %w, %b, %m, %v)
        out v21 over [p0, p1, p2] as [1,3,2,32]
        #19 %19: f16[1,32,3,2]{192,1,64,32} = aten::permute(%27, [0, 3, 1, 2])
        #15 %28: f16[32,9,9,32] = kernel(%l)
        out v2 over [p0, p1, p2, p3] as [32,9,9,32]
        #20 %20: f16[32,32,9,9]{2592,1,288,32} = aten::permute(%28, [0, 3, 1, 2])
        #4 %21: f16[1,32,3,2]{192,1,64,32} = aten::conv2d(%19, %20, padding=[4, 4])
        #16 %o: f16[1,32,3,2] = kernel(%21, %w, %b, %m, %v, %15)
        out v28 over [p0, p1, p2] as [1,32,3,2]
    "#]]
    .assert_eq(&outline(&first));
    let second = rewritten(&block("%a, %p"), &H200);
    assert_eq!((with_channels_last(&second), second.nodes.len()), (2, first.nodes.len()), "{second}");
}

#[test]
fn ops_between_convolutions_keep_channels_last() {
    let cases = [
        (
            "a pool, a sum with an input, and a join",
            "graph(%x: f16[1,32,4,4], %y: f16[1,32,2,2], %k: f16[32,32,9,9], %l: f16[32,64,9,9]) {
               %a: f16[1,32,4,4] = aten::relu(%x)
               %c: f16[1,32,4,4] = aten::conv2d(%a, %k, padding=[4, 4])
               %p: f16[1,32,2,2] = aten::max_pool2d(%c, [2, 2], [2, 2])
               %s: f16[1,32,2,2] = aten::add.Tensor(%y, %p)
               %j: f16[1,64,2,2] = aten::cat([%s, %p], 1)
               %d: f16[1,32,2,2] = aten::conv2d(%j, %l, padding=[4, 4])
               %o: f16[1,32,2,2] = aten::relu(%d)
               return (%o)
             }",
            2,
        ),
        (
            "a product of one position, in tiles, is a kernel that reads and writes them",
            "graph(%x: f16[1,32,4,4], %k: f16[32,32,9,9], %l: f16[32,32,1,1]) {
               %a: f16[1,32,4,4] = aten::relu(%x)
               %c: f16[1,32,4,4] = aten::conv2d(%a, %k, padding=[4, 4])
               %p: f16[1,32,4,4] = aten::conv2d(%c, %l)
               %d: f16[1,32,4,4] = aten::conv2d(%p, %k, padding=[4, 4])
               %o: f16[1,32,4,4] = aten::relu(%d)
               return (%o)
             }",
            2,
        ),
        (
            "one by itself between kernels, the mean of its images behind it",
            "graph(%x: bf16[1,32,3,2], %k: bf16[32,32,9,9]) {
               %a: bf16[1,32,3,2] = aten::relu(%x)
               %c: bf16[1,32,3,2] = aten::conv2d(%a, %k, padding=[4, 4])
               %s: bf16[1,32,3,2] = aten::silu(%c)
               %m: bf16[1,32] = aten::mean.dim(%s, [2, 3])
               return (%m)
             }",
            1,
        ),
    ];
    for (name, text, expected) in cases {
        let graph = rewritten(text, &H200);
        assert_eq!(with_channels_last(&graph), expected, "{name}: {graph}");
        assert_eq!(convolutions(&graph).count(), expected, "{name}: {graph}");
        let is_clone = |node: &Node| matches!(&node.kind, NodeKind::Aten { op, .. } if op.name == "aten::clone");
        assert!(!graph.nodes.iter().any(is_clone), "{name}: {graph}");
    }
}

/// Their elements are calculated by no test.
#[test]
fn large_transposed_convolutions_of_f32_take_channels_last() {
    let text = |channels: i64, [given, side]: [i64; 2], call: &str, behind: &str| {
        let image = format!("f32[16,{channels},{side},{side}]");
        format!(
            "graph(%x: f32[16,{channels},{given},{given}], %k: f32[{channels},{channels},3,3], %b: f32[{channels}]) {{
               %y: f32[16,{channels},{given},{given}] = aten::sigmoid(%x)
               %c: {image} = {call}
               %r: {image} = aten::relu(%c)
               %o: {image} = {behind}
               return (%o)
             }}"
        )
    };
    let call = "aten::conv_transpose2d.input(%y, %k, %b, [1, 1], [1, 1])";
    let far = "aten::conv_transpose2d.input(%y, %k, %b, [1, 1], [2, 2], [1, 1], 1, [2, 2])";
    let (tanh, norm) = ("aten::tanh(%r)", "aten::group_norm(%r, 4, %b, %b)");
    let cases = [
        ("of 64 channels", 64, [128, 128], call, tanh, 1),
        ("of 16 channels", 16, [256, 256], call, tanh, 1),
        ("of too few channels", 8, [512, 512], call, tanh, 0),
        ("of channels that the library would pad", 20, [256, 256], call, tanh, 0),
        ("of few elements", 64, [120, 120], call, tanh, 0),
        ("in front of a norm", 64, [128, 128], call, norm, 0),
        ("that ATen leaves to no library", 64, [128, 129], far, tanh, 0),
        ("that is not transposed", 64, [128, 128], "aten::conv2d(%y, %k, %b, padding=[1, 1])", tanh, 0),
    ];
    for (name, channels, side, call, behind, expected) in cases {
        let graph = parse(&text(channels, side, call, behind));
        let (rewritten, _) = rewrite_for(&Autofuse, graph.clone(), &H200).unwrap();
        let verified = verify_rewrite(&graph, &rewritten, OpTable::insert(), &mut Types::default());
        assert!(verified.is_ok(), "{name}: {verified:?}\n{rewritten}");
        let is_one =
            |node: &&Node| matches!(&node.kind, NodeKind::Aten { op, .. } if op.name.starts_with("aten::conv"));
        let last = rewritten.nodes.iter().filter(is_one).filter(|node| !rewritten.ty(node.outputs[0]).is_contiguous());
        assert_eq!(last.count(), expected, "{name}: {rewritten}");
    }
}

#[test]
fn other_convolutions_keep_rows() {
    let block = block("%p, %a");
    let of_channels =
        |channels: &str| block.replace("32,", &format!("{channels},")).replace("[32]", &format!("[{channels}]"));
    let grouped =
        block.replace("f16[32,32,9,9]", "f16[32,16,9,9]").replace("padding=[4, 4])", "padding=[4, 4], groups=2)");
    let depthwise =
        block.replace("f16[32,32,9,9]", "f16[32,1,9,9]").replace("padding=[4, 4])", "padding=[4, 4], groups=32)");
    let normed = "%n: f16[1,32,3,2] = aten::group_norm(%c, 4, %w, %b)";
    let single = "graph(%x: f16[1,32,3,2], %k: f16[32,32,9,9], %y: f16[32,3,2]) {
       %c: f16[1,32,3,2] = aten::conv2d(%x, %k, padding=[4, 4])
       %r: f16[32,3,2] = aten::relu(%y)
       return (%c, %r)
     }";
    let norms = format!(
        "graph(%x: f16[1,32,3,2], %k: f16[32,32,9,9], %w: f16[32], %b: f16[32]) {{
           %a: f16[1,32,3,2] = aten::group_norm(%x, 4, %w, %b)
           %c: f16[1,32,3,2] = aten::conv2d(%a, %k, padding=[4, 4])
           {normed}
           %d: f16[1,32,3,2] = aten::conv2d(%n, %k, padding=[4, 4])
           %o: f16[1,32,3,2] = aten::group_norm(%d, 4, %w, %b)
           return (%o)
         }}"
    );
    let cases = [
        ("on a CPU", &*block, &DEVICE),
        ("small ones of f32", &block.replace("f16", "f32"), &H200),
        ("of channels that the library would pad", &of_channels("36"), &H200),
        ("with weights that take long to copy", &of_channels("88"), &H200),
        ("in groups", &grouped, &H200),
        ("in groups of one, which are kernels", &depthwise, &H200),
        ("without a kernel at either side", single, &H200),
        ("between norms", &norms, &H200),
        ("all of it is returned", &block.replace("(%o)", "(%a, %c, %r, %d, %s, %o)"), &H200),
    ];
    for (name, text, device) in cases {
        let (graph, _) = rewrite_for(&Autofuse, parse(text), device).unwrap();
        assert_eq!(with_channels_last(&graph), 0, "{name}: {graph}");
    }
    // The next smaller ones do not.
    let (graph, _) = rewrite_for(&Autofuse, parse(&of_channels("80")), &H200).unwrap();
    assert_eq!(with_channels_last(&graph), 2, "{graph}");
}

/// A host that says of convolutions what PyTorch returns for other ones, or lets nothing be copied.
struct Host {
    is_row_major: bool,
    allows: bool,
}

impl Infer for Host {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let types = Types::default().infer(op, args)?;
        let is_other = self.is_row_major && op.name == "aten::conv2d";
        Ok(types.into_iter().map(|ty| if is_other { TensorType::contiguous(ty.dtype, ty.shape) } else { ty }).collect())
    }

    fn may_insert(&mut self, _: &OpName) -> bool {
        self.allows
    }
}

#[test]
fn the_host_decides() {
    let last = |is_row_major, allows| {
        let mut rewriter = Rewriter::new(parse(&block("%p, %a")));
        Autofuse.run(&mut rewriter, &H200, &mut Host { is_row_major, allows }).unwrap();
        let (graph, refusals) = rewriter.finish();
        let has_reason = refusals.iter().any(|refusal| refusal.reason.starts_with("its channels do not come last"));
        (with_channels_last(&graph), has_reason)
    };
    assert_eq!(last(false, true), (2, false));
    assert_eq!(last(false, false), (0, false), "the policy allows no copy");
    assert_eq!(last(true, true), (0, true), "the library of the device takes rows");
}
