#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::kernel::{
    Binary, Compare, IndexExpr, IndexId, InputDecl, Inst, Op, PaddingMode, ReduceOp, Reg, Scalar, ScanOp, Store, Unary,
};
use crate::{
    Arg, Dtype, Graph, Kernel, MemoryFormat, Node, NodeId, NodeKind, OpName, TensorType, ValueId, parse_kernel,
};
use expect_test::expect;

fn parse(text: &str) -> Graph {
    Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Printing and reading again changes neither text nor graph.
fn check_round_trip(graph: &Graph) {
    let text = graph.to_string();
    let read = parse(&text);
    assert_eq!(read.to_string(), text);
    assert_eq!(&read, graph, "{text}");
}

/// A kernel with every kind of index expression, instruction and hint.
fn every_kernel_construct() -> Kernel {
    let inst = |dtype, op| Inst { dtype, op };
    let v = Reg;
    let i = IndexId;
    let mut body = vec![
        inst(
            Dtype::F16,
            Op::Load {
                input: 0,
                index: vec![i(0), i(5), i(1)],
                padding: PaddingMode::Pad(Scalar::Float(f64::NEG_INFINITY)),
            },
        ),
        inst(Dtype::I64, Op::Load { input: 1, index: vec![i(2)], padding: PaddingMode::Clamp }),
        inst(Dtype::F32, Op::Cast(v(0))),
        inst(Dtype::F32, Op::Load { input: 2, index: vec![], padding: PaddingMode::Pad(Scalar::Int(-3)) }),
        inst(Dtype::I64, Op::Index(i(6))),
        inst(Dtype::Bool, Op::Const(Scalar::Bool(true))),
        inst(Dtype::I32, Op::Const(Scalar::Int(i64::MIN))),
        inst(Dtype::F64, Op::Const(Scalar::Float(1e-300))),
        inst(Dtype::F32, Op::Select(v(5), v(2), v(3))),
        inst(Dtype::F32, Op::Fma(v(2), v(2), v(3))),
    ];
    body.extend(Unary::ALL.iter().map(|op| inst(Dtype::F32, Op::Unary(*op, v(2)))));
    body.extend(Binary::ALL.iter().map(|op| inst(Dtype::F32, Op::Binary(*op, v(2), v(3)))));
    body.extend(Compare::ALL.iter().map(|op| inst(Dtype::Bool, Op::Compare(*op, v(2), v(3)))));
    body.extend(ReduceOp::ALL.iter().map(|op| inst(Dtype::F32, Op::Reduce(*op, v(2)))));
    body.extend(ScanOp::ALL.iter().map(|op| inst(Dtype::F32, Op::Scan(*op, v(2)))));
    Kernel {
        parallel: vec![8, 64],
        reduce: vec![128],
        inputs: vec![
            InputDecl { dtype: Dtype::F16, shape: vec![8, 64, 128] },
            InputDecl { dtype: Dtype::I64, shape: vec![64] },
            InputDecl { dtype: Dtype::F32, shape: vec![] },
        ],
        index: vec![
            IndexExpr::Axis(0),
            IndexExpr::Axis(2),
            IndexExpr::Const(-7),
            IndexExpr::Add(i(0), i(1)),
            IndexExpr::Sub(i(3), i(2)),
            IndexExpr::Mul(i(4), -2),
            IndexExpr::Value(v(1)),
            IndexExpr::FloorDiv(i(6), 3),
            IndexExpr::Mod(i(7), 5),
        ],
        body,
        stores: vec![
            Store { value: v(8), order: vec![0, 1, 2], shape: vec![8, 64, 128] },
            Store { value: v(0), order: vec![1, 0], shape: vec![512] },
            Store { value: v(1), order: vec![], shape: vec![] },
        ],
    }
}

/// A graph with every kind of argument, with and without a schema.
fn every_argument() -> Graph {
    let mut graph = Graph::default();
    let ty = TensorType::contiguous(Dtype::F32, [2, 3]);
    let x = graph.add_value("x", ty.clone());
    let strided = graph.add_value("strided_1", TensorType { strides: vec![1, 2], ..ty.clone() });
    graph.inputs = vec![x, strided];
    let lists: Vec<Arg> = vec![
        Arg::Values(vec![x, strided]),
        Arg::OptionalValues(vec![Some(x), None]),
        Arg::OptionalValues(vec![None]),
        Arg::Ints(vec![1, -2]),
        Arg::Ints(vec![]),
        Arg::Floats(vec![1.0, -2.5, f64::INFINITY]),
        Arg::Bools(vec![true, false]),
    ];
    let mut scalars: Vec<Arg> = vec![
        Arg::None,
        Arg::Bool(true),
        Arg::Int(i64::MIN),
        Arg::Float(-0.0),
        Arg::Float(0.1),
        Arg::Float(f64::NEG_INFINITY),
        Arg::Str("a \"b\"\\\n\u{1}é".into()),
        Arg::MemoryFormat(MemoryFormat::Contiguous),
        Arg::MemoryFormat(MemoryFormat::Preserve),
        Arg::MemoryFormat(MemoryFormat::ChannelsLast),
        Arg::MemoryFormat(MemoryFormat::ChannelsLast3d),
        Arg::Strided,
        Arg::Device,
        Arg::Value(x),
    ];
    scalars.extend(Dtype::ALL.map(Arg::Dtype));
    let call = |name: &str, args| NodeKind::Aten { op: OpName::parse(name), args };
    let optional = |items| Arg::OptionalValues(items);
    let kinds = [
        call("other::unknown.op", lists),
        call("other::scalars", scalars),
        call("aten::add.Tensor", vec![Arg::Value(x), Arg::Value(strided), Arg::Float(1.0)]),
        call("aten::index.Tensor", vec![Arg::Value(x), optional(vec![None, Some(x)])]),
        call("aten::index.Tensor", vec![Arg::Value(x), optional(vec![Some(x)])]),
        call("aten::cat", vec![Arg::Values(vec![x, x]), Arg::Int(1)]),
        call("aten::sum.dim_IntList", vec![Arg::Value(x), Arg::Ints(vec![]), Arg::Bool(true), Arg::Dtype(Dtype::F64)]),
        call("aten::div.Tensor_mode", vec![Arg::Value(x), Arg::Value(x), Arg::Str("floor".into())]),
        // Arguments that do not fit the schema still print, each by position.
        call("other::nothing", vec![]),
        NodeKind::Kernel { kernel: Box::new(every_kernel_construct()), inputs: vec![x, strided, x] },
        NodeKind::Kernel { kernel: Box::default(), inputs: vec![] },
    ];
    for (position, kind) in kinds.into_iter().enumerate() {
        // Every number of results, ids that are positions and ids that are not.
        let outputs = (0..position % 4).map(|_| graph.add_value(graph.fresh_name(), ty.clone())).collect();
        let id = NodeId(position as u32 ^ (position as u32 & 2) << 7);
        graph.nodes.push(Node { id, kind, outputs });
    }
    graph.outputs = vec![ValueId(3), x, x];
    graph
}

#[test]
fn every_kind_of_argument_and_instruction_reads_back() {
    check_round_trip(&every_argument());
    check_round_trip(&Graph::default());
    let kernel = every_kernel_construct();
    assert_eq!(parse_kernel(&kernel.to_string()).unwrap(), kernel);
}

#[test]
fn a_name_that_nobody_verified_breaks_no_line() {
    let mut graph = parse("graph(%x: f32[2]) { %1: f32[2] = aten::relu(%x) return (%1) }");
    let lines = graph.to_string().lines().count();
    for value in &mut graph.values {
        value.name.push_str("\n# verified\u{1b}");
    }
    for node in &mut graph.nodes {
        node.kind = NodeKind::Aten { op: OpName::new("aten::relu\n# verified", "\r\n"), args: vec![] };
    }
    let text = graph.to_string();
    assert_eq!(text.lines().count(), lines, "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
    assert!(text.contains(r"%x\n# verified\u{1b}: f32[2]") && text.contains(r"aten::relu\n# verified.\r\n("), "{text}");
}

#[test]
fn graphs_look_like_this() {
    let graph = parse(
        "graph(%x: f16[128,1024,8,8], %m: f32[1024]{2}) {
           %1: f16[128,1024,8,8] = aten::relu(self=%x)
           #7 %2: f16[128,1024,1,1] = aten::mean.dim(%1, [2, 3], true, dtype=none)
           %3: f16[128,512,1,1], %4: f16[128,512,1,1] = aten::chunk(%2, 2, 1)
           return (%2, %4) }",
    );
    expect![[r#"
        graph(%x: f16[128,1024,8,8], %m: f32[1024]{2}) {
          %1: f16[128,1024,8,8] = aten::relu(%x)
          #7 %2: f16[128,1024,1,1] = aten::mean.dim(%1, [2, 3], keepdim=true)
          %3: f16[128,512,1,1], %4: f16[128,512,1,1] = aten::chunk(%2, 2, dim=1)
          return (%2, %4)
        }
    "#]]
    .assert_eq(&graph.to_string());
}

#[test]
fn kernels_look_like_this() {
    let graph = parse(
        "graph(%x: f16[8,64,128]) { %1: f32[8,64] = kernel(%x) {
           space p0=8, p1=64; reduce r0=128 in x0: f16[8,64,128]
           i0 = p0 i1 = p1 i2 = r0 i3 = i2 % 64
           v0: f16 = load x0[i0, i1, i3] pad 0.0 v1: f32 = cast v0 v2: f32 = reduce sum v1
           out v2 over [p0, p1] as [8,64] } return (%1) }",
    );
    expect![[r#"
        graph(%x: f16[8,64,128]) {
          %1: f32[8,64] = kernel(%x) {
            space p0=8, p1=64; reduce r0=128
            in x0: f16[8,64,128]
            i0 = p0
            i1 = p1
            i2 = r0
            i3 = i2 % 64
            v0: f16 = load x0[i0, i1, i3] pad 0.0
            v1: f32 = cast v0
            v2: f32 = reduce sum v1
            out v2 over [p0, p1] as [8,64]
          }
          return (%1)
        }
    "#]]
    .assert_eq(&graph.to_string());
}

#[test]
fn mistakes_are_reported_where_they_are() {
    let body = |line: &str| format!("graph(%x: f32[2]) {{\n  {line}\n  return (%x)\n}}\n");
    for (line, column, message) in [
        ("%1: f32[2] = aten::relu(%y)", 27, "expected a value that is defined above, found `%y)`"),
        ("%1: f32[2] = aten::relu(%1)", 27, "expected a value that is defined above"),
        ("%x: f32[2] = aten::relu(%x)", 3, "`%x` is defined twice"),
        ("%1: f33[2] = aten::relu(%x)", 7, "`f33` is no element type"),
        ("%1: f32[2]{1,2} = aten::relu(%x)", 13, "1 extents but 2 strides"),
        ("%1: f32[2] = aten::relu()", 16, "`aten::relu` needs `Tensor self`, which is missing"),
        ("%1: f32[2] = aten::relu(%x, q=1)", 16, "`aten::relu` has no argument `q`; it has self"),
        ("%1: f32[2] = aten::gelu(%x, approximate=1)", 16, "`aten::gelu` takes `str approximate`, found the integer 1"),
        ("%1: f32[2] = my::op(%x, a=1)", 16, "`my::op` is on no list of ops"),
        ("%1: f32[2] = relu(%x)", 16, "expected `kernel` or the full name of an op"),
        ("%1: f32[2] = aten::gelu(%x, approximate=\"tanh)", 44, "this string has no closing `\"`"),
        ("%1: f32[2] = my::op(99999999999999999999)", 23, "expected an argument"),
        ("%1: f32[2] = kernel(%x) { space p0=2 in x1: f32[2] }", 43, "expected `x0`"),
        ("%1: f32[2] = kernel(%x) { space p0=2 v0: f32 = frob v1 }", 50, "expected an operation of kernels (write"),
        (
            "%1: f32[2] = kernel(%x) { space p0=2 v0: f32 = dvi v1, v1 }",
            50,
            "expected an operation of kernels (write div)",
        ),
        ("%1: f32[2] = kernel(%x) { space p0=2 out v0 over [p1] as [2] }", 53, "expected an axis of this kernel"),
        ("%1: f32[2] = kernel(%x) { space p0=2 v0: f32 = reduce mean v1 }", 57, "expected a reduction (one of sum, "),
        ("%1: f32[2] = kernel(%x) { space p0=2 i0 = r0 }", 45, "expected an axis that `space` has; reduce axes stand"),
    ] {
        let error = Graph::parse(&body(line)).unwrap_err();
        assert_eq!((error.line, error.column), (2, column), "{line}: {error}");
        assert!(error.message.starts_with(message), "{line}: {error}");
    }
    let long = body(&format!("%{}: f32[2] = aten::relu(%x)", "a".repeat(65)));
    assert!(Graph::parse(&long).unwrap_err().message.contains("longer than 64"));
}

#[test]
fn no_bytes_make_the_parser_panic() {
    let seeds =
        [every_argument().to_string(), every_kernel_construct().to_string(), "graph() { return () }".to_owned()];
    let fragments = [
        "%",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "\"",
        "\\u{",
        "#",
        "-",
        "e-",
        "nan",
        "inf",
        "9999999999999999999",
        "é",
        "\n",
        "kernel",
        "none",
        "=",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let mut accepted = 0;
    for round in 0..20_000 {
        let mut bytes = seeds[round % seeds.len()].clone().into_bytes();
        for _ in 0..=random(2) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = random(256) as u8,
                1 => drop(bytes.drain(at..(at + random(40)).min(bytes.len()))),
                2 => {
                    let fragment = fragments[random(fragments.len())].bytes();
                    drop(bytes.splice(at..at, fragment));
                }
                _ => {
                    let end = (at + random(60)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    let to = random(bytes.len());
                    drop(bytes.splice(to..to, copy));
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        // What is read prints to a text that reads back.
        if let Ok(graph) = Graph::parse(&text) {
            accepted += 1;
            let printed = graph.to_string();
            assert_eq!(parse(&printed).to_string(), printed);
        }
        if let Ok(kernel) = parse_kernel(&text) {
            accepted += 1;
            let printed = kernel.to_string();
            assert_eq!(parse_kernel(&printed).unwrap().to_string(), printed);
        }
    }
    assert!(accepted > 200, "{accepted} of the mutants were read");
}

#[test]
fn kernels_are_written_with_indices_in_place_and_without_braces() {
    let written = parse_kernel(
        "space p0=4, p1=8; reduce r0=3
         in x0: i64[4]
         in x1: f32[40,8]{1,40}
         v0: i64 = load x0[p0] clamp
         v1: f32 = load x1[2 * p0 + r0 - 1, (p1 + 3) % 8] pad 0.0
         v2: f32 = load x1[v0, p1] clamp
         v3: f32 = add v1, v2
         out v3 over [p0, p1, r0] as [4,8,3]",
    );
    expect![[r#"
        kernel {
          space p0=4, p1=8; reduce r0=3
          in x0: i64[4]
          in x1: f32[40,8]
          i0 = p0
          v0: i64 = load x0[i0] clamp
          i1 = i0 * 2
          i2 = r0
          i3 = i1 + i2
          i4 = 1
          i5 = i3 - i4
          i6 = p1
          i7 = 3
          i8 = i6 + i7
          i9 = i8 % 8
          v1: f32 = load x1[i5, i9] pad 0.0
          i10 = v0
          v2: f32 = load x1[i10, i6] clamp
          v3: f32 = add v1, v2
          out v3 over [p0, p1, r0] as [4,8,3]
        }
    "#]]
    .assert_eq(&format!("{}\n", written.unwrap()));
    let nested = format!("space p0=4\n in x0: f32[4]\n v0: f32 = load x0[{}p0", "(".repeat(100_000));
    let error = parse_kernel(&nested).unwrap_err().to_string();
    assert!(error.ends_with("more than 16 parentheses within each other"), "{error}");
}
