//! What goes through a plugin and comes back, and what is reported about it.

use crate::child::{Echo, Guest};
use crate::component::{core, from_text, plugin, writes_stderr};
use passhost_ir::kernel::{
    Binary, Compare, IndexExpr, IndexId, InputDecl, Inst, Op, PaddingMode, ReduceOp, Reg, Scalar, ScanOp, Store, Unary,
};
use passhost_ir::{
    Arg, Dtype, Graph, Infer, InferError, Kernel, MemoryFormat, Node, NodeId, NodeKind, OpName, TensorType, ValueId,
};
use passhost_protocol::guest::FromGuest;
use passhost_result::{GuestLimits, PassInfo};

/// A graph with every kind of everything. It makes no sense, which is none of the sandbox's business.
fn graph_of_everything() -> Graph {
    let mut graph = Graph::default();
    for dtype in Dtype::ALL {
        graph.add_value(format!("x{dtype}"), TensorType { dtype, shape: vec![2, -1], strides: vec![i64::MAX] });
    }
    graph.inputs = vec![ValueId(0), ValueId(u32::MAX)];
    graph.outputs = vec![ValueId(3)];
    let mut args = vec![
        Arg::None,
        Arg::Bool(true),
        Arg::Int(i64::MIN),
        Arg::Float(-0.5),
        Arg::Str("tänh".into()),
        Arg::Strided,
        Arg::Device,
        Arg::Value(ValueId(1)),
        Arg::Values(vec![ValueId(1), ValueId(2)]),
        Arg::OptionalValues(vec![None, Some(ValueId(4))]),
        Arg::Ints(vec![-1, 2]),
        Arg::Floats(vec![f64::INFINITY, 0.1]),
        Arg::Bools(vec![true, false]),
    ];
    args.extend(Dtype::ALL.map(Arg::Dtype));
    args.extend(
        [MemoryFormat::Contiguous, MemoryFormat::Preserve, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d]
            .map(Arg::MemoryFormat),
    );
    let aten = NodeKind::Aten { op: OpName::new("aten::no_such", "Tensor"), args };
    graph.nodes.push(Node { id: NodeId(7), kind: aten, outputs: vec![ValueId(5)] });
    let kernel = NodeKind::Kernel { kernel: Box::new(kernel_of_everything()), inputs: vec![ValueId(2)] };
    graph.nodes.push(Node { id: NodeId(u32::MAX), kind: kernel, outputs: vec![] });
    graph
}

fn kernel_of_everything() -> Kernel {
    let (a, b, c) = (Reg(0), Reg(1), Reg(2));
    let (i, j) = (IndexId(0), IndexId(1));
    let mut ops = vec![
        Op::Const(Scalar::Bool(true)),
        Op::Const(Scalar::Int(-3)),
        Op::Const(Scalar::Float(1e300)),
        Op::Index(j),
        Op::Load { input: 4, index: vec![i, j], padding: PaddingMode::Clamp },
        Op::Load { input: 0, index: vec![], padding: PaddingMode::Pad(Scalar::Float(f64::NEG_INFINITY)) },
        Op::Select(a, b, c),
        Op::Fma(c, b, a),
        Op::Cast(b),
    ];
    ops.extend(Unary::ALL.iter().map(|&op| Op::Unary(op, a)));
    ops.extend(Binary::ALL.iter().map(|&op| Op::Binary(op, a, b)));
    ops.extend(Compare::ALL.iter().map(|&op| Op::Compare(op, b, a)));
    ops.extend(ReduceOp::ALL.iter().map(|&op| Op::Reduce(op, c)));
    ops.extend(ScanOp::ALL.iter().map(|&op| Op::Scan(op, c)));
    Kernel {
        parallel: vec![3, 0],
        reduce: vec![5],
        inputs: vec![InputDecl { dtype: Dtype::Bf16, shape: vec![7] }],
        index: vec![
            IndexExpr::Axis(1),
            IndexExpr::Const(-9),
            IndexExpr::Add(i, j),
            IndexExpr::Sub(i, j),
            IndexExpr::Mul(i, 3),
            IndexExpr::FloorDiv(j, 4),
            IndexExpr::Mod(j, 5),
            IndexExpr::Value(c),
        ],
        body: ops.into_iter().map(|op| Inst { dtype: Dtype::F32, op }).collect(),
        stores: vec![Store { value: b, order: vec![1, 0], shape: vec![0, 3] }],
    }
}

#[test]
fn a_graph_of_everything_comes_through_unchanged() {
    let graph = graph_of_everything();
    let mut guest = Guest::with(&plugin("", ""), GuestLimits::default());
    let rewrite = guest.run(&graph, 0).0.unwrap();
    assert_eq!(rewrite.graph, graph);
    assert!(rewrite.refusals.is_empty());
}

#[test]
fn describe_gives_name_version_and_description() {
    let mut guest = Guest::with(&plugin("", ""), GuestLimits::default());
    let expected = PassInfo { name: "test".into(), version: "guest".into(), description: "testguest".into() };
    let (info, usage) = guest.describe();
    assert_eq!(info, Ok(expected));
    assert!(usage.fuel > 0 && usage.memory == 2 << 16 && usage.log.is_empty(), "{usage:?}");
}

#[test]
fn the_same_call_uses_the_same_fuel_everywhere() {
    let wasm = plugin("", "");
    let graph = graph_of_everything();
    let used = |guest: &mut Guest| {
        let usage = guest.run(&graph, 0).1;
        (usage.fuel, usage.memory)
    };
    let mut one = Guest::with(&wasm, GuestLimits::default());
    let mut other = Guest::with(&wasm, GuestLimits { memory: 1 << 30, stack: 2 << 20, ..GuestLimits::default() });
    let first = used(&mut one);
    assert_eq!([used(&mut one), used(&mut other)], [first; 2]);
}

#[test]
fn nothing_is_remembered_between_calls() {
    // Traps if the cell that it writes was written before.
    let remembers = plugin(
        "(global $seen (mut i32) (i32.const 0))",
        "(if (i32.or (global.get $seen) (i32.load (i32.const 800))) (then unreachable))
         (global.set $seen (i32.const 1)) (i32.store (i32.const 800) (i32.const 1))",
    );
    let mut guest = Guest::with(&remembers, GuestLimits::default());
    for _ in 0..3 {
        guest.run(&Graph::default(), 0).0.unwrap();
    }
}

#[test]
fn clocks_stand_still_and_random_is_always_the_same() {
    let items = r#"
        (import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $now (result i64)))
        (import "wasi:clocks/wall-clock@0.2.6" "now" (func $wall (param i32)))
        (import "wasi:random/insecure-seed@0.2.6" "insecure-seed" (func $seed (param i32)))
        (import "wasi:cli/environment@0.2.6" "get-environment" (func $environment (param i32)))"#;
    let run = "
        (if (i64.ne (call $now) (i64.const 0)) (then unreachable))
        (call $wall (i32.const 480)) (if (i64.ne (i64.load (i32.const 480)) (i64.const 0)) (then unreachable))
        (call $seed (i32.const 480)) (if (i64.ne (i64.load (i32.const 480)) (i64.const 0)) (then unreachable))
        (call $environment (i32.const 480)) (if (i32.load (i32.const 484)) (then unreachable))";
    let mut guest = Guest::with(&from_text("with-std", &core(items, run)), GuestLimits::default());
    guest.run(&Graph::default(), 0).0.unwrap();
}

#[test]
fn log_and_standard_error_are_reported_in_order() {
    let mut guest = Guest::with(&writes_stderr("to standard error", ""), GuestLimits::default());
    let (rewrite, usage) = guest.run(&Graph::default(), 0);
    rewrite.unwrap();
    assert_eq!(usage.log, "to standard error");
}

/// Asks for the types of an op and returns early with the error, or with the graph if there is an answer.
fn asks(name: &str) -> Vec<u8> {
    plugin(
        &format!(
            r#"(import "passhost:pass/host@0.2.1" "infer" (func $infer (param i32 i32 i32 i32 i32 i32 i32)))
               (data (i32.const 512) "{name}")"#
        ),
        &format!(
            "(call $infer (i32.const 512) (i32.const {}) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
               (i32.const 480))
             (if (i32.load8_u (i32.const 480)) (then
               (i64.store (i32.const 128) (i64.const 1))
               (i64.store align=4 (i32.const 132) (i64.load align=4 (i32.const 484)))
               (return (i32.const 128))))",
            name.len()
        ),
    )
}

#[test]
fn a_question_is_answered_or_refused_in_words() {
    let mut guest = Guest::with(&asks(""), GuestLimits::default());
    let (rewrite, usage) = guest.run(&Graph::default(), 1);
    rewrite.unwrap();
    assert_eq!(usage.infer_calls, 1);

    let mut guest = Guest::with(&asks("aten::x"), GuestLimits::default());
    let error = guest.run_with(&Graph::default(), 1, &mut Echo).0.unwrap_err().to_string();
    assert!(error.contains(&InferError::Unknown("aten::x".into()).to_string()), "{error}");
}

#[test]
fn arguments_of_a_question_arrive() {
    struct Record(Vec<(OpName, Vec<Arg<TensorType>>)>);
    impl Infer for Record {
        fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
            self.0.push((op.clone(), args.to_vec()));
            Ok(vec![TensorType::contiguous(Dtype::F16, [2, 3])])
        }
    }
    // Two arguments of 32 bytes at 600: an integer, and a tensor whose shape and strides are the two words at 560.
    let wasm = plugin(
        r#"(import "passhost:pass/host@0.2.1" "infer" (func $infer (param i32 i32 i32 i32 i32 i32 i32)))
           (data (i32.const 512) "aten::addTensor")"#,
        "(i64.store (i32.const 560) (i64.const 5)) (i64.store (i32.const 568) (i64.const 1))
         (i32.store8 (i32.const 600) (i32.const 2)) (i64.store (i32.const 608) (i64.const -4))
         (i32.store8 (i32.const 632) (i32.const 9)) (i32.store8 (i32.const 640) (i32.const 8))
         (i32.store (i32.const 644) (i32.const 560)) (i32.store (i32.const 648) (i32.const 1))
         (i32.store (i32.const 652) (i32.const 568)) (i32.store (i32.const 656) (i32.const 1))
         (call $infer (i32.const 512) (i32.const 9) (i32.const 521) (i32.const 6) (i32.const 600) (i32.const 2)
           (i32.const 480))
         ;; One type: f16, two extents, of which the second is 3.
         (if (i32.load8_u (i32.const 480)) (then unreachable))
         (if (i32.ne (i32.load (i32.const 488)) (i32.const 1)) (then unreachable))
         (if (i32.ne (i32.load8_u (i32.load (i32.const 484))) (i32.const 6)) (then unreachable))
         (if (i64.ne (i64.load offset=8 (i32.load offset=4 (i32.load (i32.const 484)))) (i64.const 3)) (then unreachable))",
    );
    let mut record = Record(vec![]);
    Guest::with(&wasm, GuestLimits::default()).run_with(&Graph::default(), 1, &mut record).0.unwrap();
    let ty = TensorType { dtype: Dtype::F32, shape: vec![5], strides: vec![1] };
    assert_eq!(record.0, [(OpName::new("aten::add", "Tensor"), vec![Arg::Int(-4), Arg::Value(ty)])]);
}

#[test]
fn an_artefact_saves_compiling_and_behaves_the_same() {
    let wasm = plugin("", "");
    let mut compiling = Guest::start();
    let FromGuest::Loaded { artefact: Some(artefact), .. } = compiling.load(&wasm, None, GuestLimits::default()) else {
        panic!("no artefact");
    };
    let mut loading = Guest::start();
    assert_eq!(loading.engine, compiling.engine);
    // Another stack size is no reason to compile again.
    let limits = GuestLimits { stack: 2 << 20, ..GuestLimits::default() };
    let reply = loading.load(&wasm, Some(artefact), limits);
    assert!(matches!(reply, FromGuest::Loaded { artefact: None, .. }), "{reply:?}");
    let graph = graph_of_everything();
    let (one, other) = (compiling.run(&graph, 0), loading.run(&graph, 0));
    assert_eq!((one.0, one.1.fuel), (other.0, other.1.fuel));
}

#[test]
fn an_artefact_that_does_not_load_is_replaced() {
    let wasm = plugin("", "");
    let mut guest = Guest::start();
    let FromGuest::Loaded { artefact: Some(artefact), .. } = guest.load(&wasm, None, GuestLimits::default()) else {
        panic!("no artefact");
    };
    for bad in [vec![], b"garbage".to_vec(), artefact[..artefact.len() / 2].to_vec(), wasm.clone()] {
        let mut guest = Guest::start();
        let FromGuest::Loaded { artefact: Some(again), .. } = guest.load(&wasm, Some(bad), GuestLimits::default())
        else {
            panic!("not compiled again");
        };
        assert_eq!(again, artefact);
        guest.describe().0.unwrap();
    }
}

#[test]
fn the_child_gives_up_what_it_does_not_need() {
    let guest = Guest::with(&plugin("", ""), GuestLimits::default());
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", guest.id())).unwrap();
    let limit = |name: &str| limits.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    for (name, value) in
        [("Max core file size", "0"), ("Max file size", "0"), ("Max open files", "3"), ("Max processes", "0")]
    {
        let line = limit(name);
        let found: Vec<&str> = line[name.len()..].split_whitespace().take(2).collect();
        assert_eq!(found, [value; 2], "{line}");
    }
    for name in ["Max cpu time", "Max address space"] {
        assert!(!limit(name)[name.len()..].trim_start().starts_with("unlimited"), "{}", limit(name));
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", guest.id())).unwrap();
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
}
