//! One change of a graph, of any part of it.

use crate::random::Random;
use passhost_ir::kernel::{Binary, IndexExpr, IndexId, Op, PaddingMode, Reg, Scalar, Unary};
use passhost_ir::{Arg, Dtype, Graph, Kernel, Node, NodeId, NodeKind, OpName, OpTable, TensorType, Value, ValueId};

/// Changes a graph in one place. Pieces come from `other` where they come from somewhere.
pub(super) fn change(graph: &mut Graph, other: &Graph, random: &mut Random) {
    match random.below(20) {
        0 => graph.outputs = ids(&graph.outputs, graph, random),
        1 => graph.inputs = ids(&graph.inputs, graph, random),
        2 => remove(&mut graph.nodes, random),
        3 => swap(&mut graph.nodes, random),
        4 => repeat(&mut graph.nodes, random),
        5 => {
            if let Some(node) = any(&other.nodes, random) {
                let at = random.below(graph.nodes.len() + 1);
                graph.nodes.insert(at, node.clone());
            }
        }
        6 | 7 => ty(graph, random),
        8 => name(graph, random),
        9 => remove(&mut graph.values, random),
        10 => {
            if let Some(value) = any(&other.values, random) {
                graph.values.push(value.clone());
            }
        }
        11 => insert_call(graph, random),
        12 => read_another(graph, random),
        kind => of_node(graph, kind, random),
    }
}

fn of_node(graph: &mut Graph, kind: usize, random: &mut Random) {
    let (values, nodes) = (graph.values.len(), graph.nodes.len());
    if nodes == 0 {
        return;
    }
    let at = random.below(nodes);
    let node = &mut graph.nodes[at];
    match kind {
        13 => node.id = NodeId(number(random, nodes)),
        14 => match random.below(3) {
            0 => remove(&mut node.outputs, random),
            1 => node.outputs.push(ValueId(number(random, values))),
            _ => repeat(&mut node.outputs, random),
        },
        _ => match &mut node.kind {
            NodeKind::Aten { op, args } => call(op, args, values, random),
            NodeKind::Kernel { kernel, inputs } => match random.below(8) {
                0 => remove(inputs, random),
                1 => inputs.push(ValueId(number(random, values))),
                _ => change_kernel(kernel, random),
            },
        },
    }
}

/// A number below `count`, or just beyond, or far.
fn number(random: &mut Random, count: usize) -> u32 {
    match random.below(8) {
        0 => count as u32,
        1 => u32::MAX,
        _ => random.below(count.max(1)) as u32,
    }
}

fn any<'a, T>(items: &'a [T], random: &mut Random) -> Option<&'a T> {
    (!items.is_empty()).then(|| random.pick(items))
}

fn remove<T>(items: &mut Vec<T>, random: &mut Random) {
    if !items.is_empty() {
        items.remove(random.below(items.len()));
    }
}

fn repeat<T: Clone>(items: &mut Vec<T>, random: &mut Random) {
    if let Some(item) = any(items, random).cloned() {
        let copies = if random.chance(5) { 300 } else { 1 };
        items.extend(std::iter::repeat_n(item, copies));
    }
}

fn swap<T>(items: &mut [T], random: &mut Random) {
    if !items.is_empty() {
        let (a, b) = (random.below(items.len()), random.below(items.len()));
        items.swap(a, b);
    }
}

fn ids(list: &[ValueId], graph: &Graph, random: &mut Random) -> Vec<ValueId> {
    let mut list = list.to_vec();
    match random.below(4) {
        0 => remove(&mut list, random),
        1 => repeat(&mut list, random),
        2 => swap(&mut list, random),
        _ => {
            let id = ValueId(number(random, graph.values.len()));
            if let Some(place) = list.first_mut() {
                *place = id;
            }
        }
    }
    list
}

fn ty(graph: &mut Graph, random: &mut Random) {
    let types: Vec<TensorType> = graph.values.iter().map(|value| value.ty.clone()).collect();
    if types.is_empty() {
        return;
    }
    let at = random.below(types.len());
    let ty = &mut graph.values[at].ty;
    match random.below(6) {
        0 => ty.dtype = *random.pick(&Dtype::ALL),
        1 => sizes(&mut ty.shape, random),
        2 => sizes(&mut ty.strides, random),
        3 => ty.strides.reverse(),
        4 => *ty = random.pick(&types).clone(),
        _ => ty.shape.reverse(),
    }
}

fn sizes(sizes: &mut Vec<i64>, random: &mut Random) {
    match random.below(4) {
        0 => remove(sizes, random),
        1 => sizes.push(random.integer()),
        2 => repeat(sizes, random),
        _ => {
            if !sizes.is_empty() {
                let at = random.below(sizes.len());
                sizes[at] = random.integer();
            }
        }
    }
}

fn name(graph: &mut Graph, random: &mut Random) {
    let odd = ["", "x", "a b", "%", "\u{1b}[31m", "\u{202e}", "é", "x\0", "return"];
    let text = if random.chance(10) { "n".repeat(100_000) } else { (*random.pick(&odd)).to_owned() };
    if !graph.values.is_empty() {
        let at = random.below(graph.values.len());
        graph.values[at].name = text;
    }
}

/// A call of an op that may be inserted, or of one that may not, with arguments from anywhere.
fn insert_call(graph: &mut Graph, random: &mut Random) {
    let ops = ["relu", "exp", "neg", "clone", "contiguous", "zeros", "cat", "mm", "copy_", "normal", "empty", "frob"];
    let op = OpName::new(format!("aten::{}", random.pick(&ops)), "");
    let known = OpTable::insert().get(&op).map_or(1, |schema| schema.args.len());
    let count = graph.values.len();
    let args = (0..known).map(|_| argument(count, random)).collect();
    let ty = any(&graph.values, random).map(|value| value.ty.clone());
    let Some(ty) = ty else { return };
    graph.values.push(Value { name: graph.fresh_name(), ty });
    let output = ValueId(graph.values.len() as u32 - 1);
    let at = random.below(graph.nodes.len() + 1);
    let id = NodeId(graph.nodes.iter().map(|node| node.id.0).max().unwrap_or(0).wrapping_add(1));
    graph.nodes.insert(at, Node { id, kind: NodeKind::Aten { op, args }, outputs: vec![output] });
    if random.chance(60) {
        // Something reads it.
        if let Some(place) = graph.outputs.first_mut() {
            *place = output;
        }
    }
}

fn read_another(graph: &mut Graph, random: &mut Random) {
    let (count, nodes) = (graph.values.len(), graph.nodes.len());
    if nodes == 0 {
        return;
    }
    let (at, id) = (random.below(nodes), ValueId(number(random, count)));
    let kind = &mut graph.nodes[at].kind;
    match kind {
        NodeKind::Aten { args, .. } => {
            for arg in args {
                *arg = arg.map(|&old| if random.chance(50) { id } else { old });
            }
        }
        NodeKind::Kernel { inputs, .. } => {
            if let Some(place) = inputs.first_mut() {
                *place = id;
            }
        }
    }
}

fn argument(values: usize, random: &mut Random) -> Arg {
    let id = |random: &mut Random| ValueId(number(random, values));
    match random.below(12) {
        0 => Arg::None,
        1 => Arg::Bool(true),
        2 => Arg::Int(random.integer()),
        3 => Arg::Float(*random.pick(&[0.0, -0.0, f64::NAN, f64::INFINITY, 1e308])),
        4 => Arg::Str("\u{1b}[2Jnuc".into()),
        5 => Arg::Dtype(*random.pick(&Dtype::ALL)),
        6 => Arg::Values((0..random.below(5)).map(|_| id(random)).collect()),
        7 => Arg::OptionalValues(vec![None, Some(id(random))]),
        8 => Arg::Ints((0..random.below(5)).map(|_| random.integer()).collect()),
        9 => Arg::Floats(vec![f64::NAN; 3]),
        _ => Arg::Value(id(random)),
    }
}

fn call(op: &mut OpName, args: &mut Vec<Arg>, values: usize, random: &mut Random) {
    match random.below(6) {
        0 => op.overload = (*random.pick(&["", "Tensor", "out", "Scalar"])).to_owned(),
        1 => op.name = (*random.pick(&["aten::add", "aten::mul_", "prim::Print", "aten::", "\u{1b}"])).to_owned(),
        2 => remove(args, random),
        3 => args.push(argument(values, random)),
        _ => {
            if !args.is_empty() {
                let at = random.below(args.len());
                args[at] = argument(values, random);
            }
        }
    }
}

fn change_kernel(kernel: &mut Kernel, random: &mut Random) {
    let registers = kernel.body.len();
    match random.below(14) {
        0 => sizes(&mut kernel.parallel, random),
        1 => sizes(&mut kernel.reduce, random),
        2 => remove(&mut kernel.inputs, random),
        3 => {
            if !kernel.inputs.is_empty() {
                let at = random.below(kernel.inputs.len());
                sizes(&mut kernel.inputs[at].shape, random);
            }
        }
        4 => remove(&mut kernel.body, random),
        5 => repeat(&mut kernel.body, random),
        6 => swap(&mut kernel.body, random),
        7 => remove(&mut kernel.index, random),
        8 | 9 => index(kernel, random),
        10 => {
            if !kernel.stores.is_empty() {
                let at = random.below(kernel.stores.len());
                let store = &mut kernel.stores[at];
                match random.below(4) {
                    0 => store.value = Reg(number(random, registers)),
                    1 => store.order.reverse(),
                    2 => store.order.push(number(random, 4)),
                    _ => sizes(&mut store.shape, random),
                }
            }
        }
        11 => repeat(&mut kernel.stores, random),
        _ => instruction(kernel, random),
    }
}

fn index(kernel: &mut Kernel, random: &mut Random) {
    let (count, registers) = (kernel.index.len(), kernel.body.len());
    let id = |random: &mut Random| IndexId(number(random, count));
    let (a, b, factor) = (id(random), id(random), random.integer());
    let expr = match random.below(8) {
        0 => IndexExpr::Axis(number(random, 4)),
        1 => IndexExpr::Const(factor),
        2 => IndexExpr::Add(a, b),
        3 => IndexExpr::Sub(a, b),
        4 => IndexExpr::Mul(a, factor),
        5 => IndexExpr::FloorDiv(a, factor),
        6 => IndexExpr::Mod(a, factor),
        _ => IndexExpr::Value(Reg(number(random, registers))),
    };
    if count == 0 || random.chance(10) {
        kernel.index.push(expr);
    } else {
        kernel.index[random.below(count)] = expr;
    }
}

fn instruction(kernel: &mut Kernel, random: &mut Random) {
    let (count, inputs, indices) = (kernel.body.len(), kernel.inputs.len(), kernel.index.len());
    if count == 0 {
        return;
    }
    let at = random.below(count);
    let reg = |random: &mut Random| Reg(number(random, count));
    let inst = &mut kernel.body[at];
    match random.below(8) {
        0 => inst.dtype = *random.pick(&Dtype::ALL),
        1 => inst.op = Op::Const(Scalar::Int(random.integer())),
        2 => inst.op = Op::Const(Scalar::Float(f64::NAN)),
        3 => inst.op = Op::Unary(*random.pick(Unary::ALL), reg(random)),
        4 => inst.op = Op::Binary(*random.pick(Binary::ALL), reg(random), reg(random)),
        5 => inst.op = Op::Index(IndexId(number(random, indices))),
        6 => inst.op = Op::Cast(reg(random)),
        _ => {
            if let Op::Load { input, index, padding } = &mut inst.op {
                match random.below(4) {
                    0 => *input = number(random, inputs),
                    1 => index.push(IndexId(number(random, indices))),
                    2 => index.reverse(),
                    _ => *padding = PaddingMode::Pad(Scalar::Float(f64::INFINITY)),
                }
            }
        }
    }
}
