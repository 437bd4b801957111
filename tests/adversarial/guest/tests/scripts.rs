//! What scripts make of a graph.

use adversarial_guest::{World, play};
use passhost_guest_sdk::ir::{Arg, Graph, Infer, InferError, NodeKind, OpName, TensorType};

/// A host that counts questions and keeps what is logged.
#[derive(Default)]
struct Host {
    questions: usize,
    log: Vec<String>,
}

impl World for Host {
    fn log(&mut self, line: &str) {
        self.log.push(line.to_owned());
    }
}

impl Infer for Host {
    fn infer(&mut self, op: &OpName, _: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        self.questions += 1;
        Err(InferError::Unknown(op.to_string()))
    }
}

fn graph() -> Graph {
    Graph::parse(
        "graph(%x: f32[8,4], %y: f32[8,4]) {
           %a: f32[8,4] = aten::add.Tensor(%x, %y)
           %b: f32[8,4] = aten::relu(%a)
           %c: f32[8,4] = aten::mul.Tensor(%b, %y)
           return (%c)
         }",
    )
    .expect("it is a graph")
}

#[track_caller]
fn check(script: &str, nodes: &[&str]) -> Graph {
    let played = play(script, graph(), &mut Host::default()).expect("the script plays");
    let text = played.graph.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| line.contains(" = ")).collect();
    assert_eq!(lines, nodes, "{text}");
    played.graph
}

#[test]
fn a_script_without_steps_leaves_the_graph_alone() {
    assert_eq!(play("# nothing\n", graph(), &mut Host::default()).map(|played| played.graph), Ok(graph()));
}

#[test]
fn a_dropped_op_hands_its_operand_on() {
    check(
        "drop aten::relu\n",
        &["%a: f32[8,4] = aten::add.Tensor(%x, %y)", "#2 %c: f32[8,4] = aten::mul.Tensor(%a, %y)"],
    );
}

#[test]
fn a_definition_takes_the_place_of_the_node_and_keeps_the_value() {
    check(
        "define %b\n  %k: {type %a} = aten::neg(%a)\n  %b: {type %b} = aten::neg(%k)\n",
        &[
            "%a: f32[8,4] = aten::add.Tensor(%x, %y)",
            "#3 %k: f32[8,4] = aten::neg(%a)",
            "#4 %b: f32[8,4] = aten::neg(%k)",
            "#2 %c: f32[8,4] = aten::mul.Tensor(%b, %y)",
        ],
    );
}

#[test]
fn repeated_lines_are_numbered() {
    let graph = check(
        "define %a\n  %r0: {type %x} = aten::relu(%x)\n  repeat 1 2 %r{n}: {type %x} = aten::relu(%r{n-1})\n  %a: {type %x} = aten::relu(%r2)\nreturn %a\ndrop aten::mul\ndrop aten::relu\n",
        &[],
    );
    assert_eq!(graph.outputs, graph.inputs[..1]);
}

#[test]
fn steps_that_do_not_apply_are_left_out() {
    for (condition, applies) in
        [("%x f32[8,4]", true), ("%x f16[8,4]", false), ("%none f32[8,4]", false), ("hash", true), ("calls", false)]
    {
        let script = format!("when {condition}\nreturn %a\nalways\ndamage inputs reverse\n");
        let played = play(&script, graph(), &mut Host::default()).expect("the script plays").graph;
        assert_eq!(played.outputs != graph().outputs, applies, "{condition}");
        assert_ne!(played.inputs, graph().inputs, "{condition}");
    }
}

#[test]
fn what_is_left_becomes_one_kernel_with_an_id_of_its_own() {
    let played = play("drop aten::relu\nfuse\n", graph(), &mut Host::default()).expect("the script plays").graph;
    assert!(matches!(&played.nodes[..], [node] if matches!(node.kind, NodeKind::Kernel { .. })), "{played}");
    assert!(graph().nodes.iter().all(|node| node.id != played.nodes[0].id), "{played}");
    let each = play("fuse each\n", graph(), &mut Host::default()).expect("the script plays").graph;
    assert_eq!(each.nodes.len(), 3, "{each}");
}

#[test]
fn questions_logs_and_refusals_are_as_many_as_asked_for() {
    let mut host = Host::default();
    let played = play("ask 3 2\nlog 2 5\nsay a\\eb\nrefuse 4 1\n", graph(), &mut host).expect("the script plays");
    assert_eq!((host.questions, played.refusals.len()), (3, 4));
    assert_eq!(host.log, ["xxxxx", "xxxxx", "a\u{1b}b"]);
}

#[test]
fn a_mistake_names_its_line() {
    let cases = [
        ("dance\n", "line 1: there is no step `dance`"),
        ("# first\ndrop aten::tanh\n", "line 2: there is no aten::tanh to drop"),
        ("return %q\n", "line 1: there is no value `%q`"),
        ("define %b\n  %k: f32[8,4] = aten::neg(%a)\n", "line 1: %b is no longer defined"),
        ("define %b\n  %x: f32[8,4] = aten::neg(%a)\n", "line 1: "),
        ("error as it should\n", "as it should"),
        ("damage output\n", "line 1: `damage` needs a number at word 3"),
        ("damage all\n", "line 1: there is no damage `all`"),
    ];
    for (script, expected) in cases {
        let error = play(script, graph(), &mut Host::default()).map(|played| played.graph.to_string());
        assert!(error.as_ref().is_err_and(|error| error.starts_with(expected)), "{script}: {error:?}");
    }
}
