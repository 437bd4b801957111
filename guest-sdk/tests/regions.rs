//! Whole graphs as one kernel against ATen: what eager's CPU kernels made of the inputs in `regions.txt`,
//! `calculations.txt`, `moves.txt` and `windows.txt`. The Python files of the same names wrote these.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod golden;

use golden::{agrees, tensor};
use passhost_guest_sdk::ir::kernel::Tensor;
use passhost_guest_sdk::ir::{Graph, NodeId};
use passhost_guest_sdk::lower::{self, Group};
use passhost_guest_sdk::testing::evaluate;
use passhost_guest_sdk::{PassError, Rewriter};

/// Cases: a name, a graph, the elements of its inputs and of its results.
const CASES: [&str; 4] = [
    include_str!("regions.txt"),
    include_str!("calculations.txt"),
    include_str!("moves.txt"),
    include_str!("windows.txt"),
];

/// The graph with all of its nodes in one kernel.
fn fused(graph: &Graph) -> Result<Graph, PassError> {
    let mut rewriter = Rewriter::new(graph.clone());
    rewriter.remove_identities();
    let nodes: Vec<NodeId> = rewriter.graph().nodes.iter().map(|node| node.id).collect();
    let lowered = lower::region(rewriter.graph(), &nodes, Group::ALL)?;
    rewriter.replace(&lowered)?;
    Ok(rewriter.finish().0)
}

#[test]
fn one_kernel_gives_what_eager_gives() {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for case in CASES.into_iter().flat_map(|text| text.split_terminator("\n\n")) {
        cases += 1;
        let (text, rest) = case.split_once("\n}\n").unwrap();
        let (name, text) = text.split_once('\n').unwrap();
        let graph = Graph::parse(&format!("{text}\n}}")).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut lines = rest.lines();
        let mut read = |id: &_| tensor(graph.ty(*id), lines.next().unwrap());
        let inputs: Vec<Tensor> = graph.inputs.iter().map(&mut read).collect();
        // Where the roundings between ops flip.
        let close = (lines.next().unwrap() == "close").then_some(0.25);
        let expected: Vec<Tensor> =
            graph.outputs.iter().map(|id| tensor(graph.ty(*id), lines.next().unwrap())).collect();
        let fused = match fused(&graph) {
            Ok(fused) => fused,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        let found = evaluate(&fused, &inputs).unwrap_or_else(|error| panic!("{error}\n{text}"));
        // Fusing changes no bit against the ops one by one.
        assert_eq!(evaluate(&graph, &inputs).unwrap(), found, "{name}");
        for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let differs = |&at: &usize| !agrees(expected.dtype, close, found.get_f64(at), expected.get_f64(at));
            if let Some(at) = (0..expected.len()).find(differs) {
                let (found, expected) = (found.get_f64(at), expected.get_f64(at));
                wrong.push(format!("{name}: element {at} of result {number} is {found:e}, eager has {expected:e}"));
            }
        }
    }
    assert!(cases > 400, "only {cases} cases");
    assert!(wrong.is_empty(), "{} of {cases} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_op_in_the_tables_has_a_case() {
    let text = CASES.concat();
    let pointwise = [Group::POINTWISE, Group::CREATION, Group::SPREAD].map(Group::ops).concat();
    let names = Group::ALL.iter().flat_map(|group| group.ops()).filter(|op| !pointwise.contains(op));
    let is_tested = |op: &String| {
        let (name, _) = op.split_once('.').unwrap_or((op, ""));
        // Other names of ops that are tested, the same rule for another number of dimensions or another extremum.
        let like = match name {
            "aten::concat" | "aten::concatenate" => "aten::cat",
            "aten::tile" => "aten::repeat",
            "aten::reshape_as" | "aten::flatten" => "aten::reshape",
            "aten::_softmax" | "aten::_log_softmax" => "aten::softmax",
            "aten::avg_pool1d" | "aten::avg_pool3d" => "aten::avg_pool2d",
            "aten::max_pool1d" | "aten::max_pool3d" => "aten::max_pool2d",
            "aten::adaptive_avg_pool1d" | "aten::adaptive_avg_pool3d" | "aten::_adaptive_avg_pool2d" => {
                "aten::adaptive_avg_pool2d"
            }
            "aten::prod" => "aten::sum",
            "aten::min" => "aten::max",
            "aten::norm" => "aten::linalg_vector_norm",
            name => name,
        };
        text.contains(&format!("= {like}(")) || text.contains(&format!("= {like}."))
    };
    let untested: Vec<String> = names.filter(|op| !is_tested(op)).collect();
    assert!(untested.is_empty(), "no case for {untested:?}");
}

/// What the case is, a graph, and why its nodes do not become one kernel.
const REFUSED: [(&str, &str, &str); 9] = [
    (
        "a sort has no lowering",
        "graph(%x: f32[4,8]) {
           %v: f32[4,8], %i: i64[4,8] = aten::sort(%x)
           return (%v)
         }",
        "aten::sort has no lowering among those that the pass names",
    ),
    (
        "the bits of elements read as another type are no cast",
        "graph(%x: f32[4,8]) {
           %a: f32[4,8] = aten::relu(%x)
           %b: i32[4,8] = aten::view.dtype(%a, i32)
           %c: i32[4,8] = aten::abs(%b)
           return (%c)
         }",
        "aten::view.dtype has no lowering among those that the pass names",
    ),
    (
        "reductions of different extents",
        "graph(%x: f32[4,8]) {
           %a: f32[4,8] = aten::softmax.int(%x, -1)
           %b: f32[4,8] = aten::softmax.int(%a, 0)
           return (%b)
         }",
        "aten::softmax.int reduces [8] at a time, but the kernel [4]",
    ),
    (
        "equal extents, but along another dimension",
        "graph(%x: f32[4,4]) {
           %a: f32[4,4] = aten::softmax.int(%x, -1)
           %b: f32[4,4] = aten::softmax.int(%a, 0)
           return (%b)
         }",
        "aten::softmax.int is needed for other rows than that of the element",
    ),
    (
        "a result that is larger than the space",
        "graph(%x: f32[4,8]) {
           %a: f32[4,8] = aten::softmax.int(%x, -1)
           %b: f32[4,16] = aten::cat([%a, %x], -1)
           return (%b)
         }",
        "%b is f32[4,16], which a kernel over rows [4] of [8] elements cannot write",
    ),
    (
        "where the largest elements were",
        "graph(%x: f32[1,2,4,4]) {
           %a: f32[1,2,2,2], %i: i64[1,2,2,2] = aten::max_pool2d_with_indices(%x, [2, 2])
           return (%i)
         }",
        "aten::max_pool2d_with_indices gives positions in the whole tensor",
    ),
    (
        "an index of flags",
        "graph(%x: f32[4,8], %i: u8[2]) {
           %a: f32[2,8] = aten::index.Tensor(%x, [%i])
           return (%a)
         }",
        "aten::index.Tensor has indices of type u8; i64 and i32 are covered",
    ),
    (
        "a sum of three factors",
        "graph(%x: f32[4], %y: f32[4], %z: f32[4]) {
           %a: f32[4] = aten::einsum(\"i,i,i->i\", [%x, %y, %z])
           return (%a)
         }",
        "aten::einsum is not of two tensors",
    ),
    (
        "products of integers",
        "graph(%x: i64[4,2], %y: i64[2,4]) {
           %a: i64[4,4] = aten::mm(%x, %y)
           return (%a)
         }",
        "aten::mm multiplies i64; floats are covered",
    ),
];

#[test]
fn what_cannot_be_one_kernel_is_refused_by_name() {
    expect_refused(&REFUSED);
}

#[test]
fn what_a_rule_does_not_cover_is_refused_by_name() {
    let cases = [
        (
            "statistics that are updated",
            "graph(%x: f32[2,4,8], %m: f32[4], %v: f32[4]) {
               %a: f32[2,4,8] = aten::instance_norm(%x, none, none, %m, %v, true, 0.1, 1e-05, false)
               return (%a)
             }",
            "aten::instance_norm updates running statistics",
        ),
        (
            "a running sum that is read elsewhere than where its row is",
            "graph(%x: f32[4,8]) {
               %a: f32[4,8] = aten::cumsum(%x, 1)
               %b: f32[4,8] = aten::flip(%a, [1])
               %c: f32[4,8] = aten::sub.Tensor(%a, %b)
               return (%c)
             }",
            "aten::cumsum is needed for other rows than that of the element",
        ),
        (
            "a loss whose target stretches",
            "graph(%x: f32[4,8], %y: f32[8]) {
               %a: f32[] = aten::mse_loss(%x, %y)
               return (%a)
             }",
            "aten::mse_loss has operands of different shapes",
        ),
        (
            "the norm of a matrix",
            "graph(%x: f32[4,8]) {
               %a: f32[] = aten::linalg_norm(%x, 1)
               return (%a)
             }",
            "aten::linalg_norm has the norm of a matrix",
        ),
        (
            "exponents that are integers",
            "graph(%x: i64[8], %y: i64[8]) {
               %a: i64[8] = aten::pow.Tensor_Tensor(%x, %y)
               return (%a)
             }",
            "aten::pow.Tensor_Tensor has integers as exponents",
        ),
        (
            "no elements",
            "graph(%x: f32[0,8]) {
               %a: f32[0,8] = aten::asinh(%x)
               return (%a)
             }",
            "%a has no elements",
        ),
        (
            "a largest element of none",
            "graph(%x: f32[4,0]) {
               %a: f32[4] = aten::logsumexp(%x, [1])
               return (%a)
             }",
            "the kernel is refused: reduce axis 1 has extent 0; expected 1 or more: write an empty reduction as a constant",
        ),
    ];
    expect_refused(&cases);
}

/// Name, graph and reason.
fn expect_refused(cases: &[(&str, &str, &str)]) {
    for &(name, text, expected) in cases {
        let graph = Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let nodes: Vec<NodeId> = graph.nodes.iter().map(|node| node.id).collect();
        let error = lower::region(&graph, &nodes, Group::ALL).unwrap_err();
        assert_eq!(error.to_string(), expected, "{name}");
    }
}
