//! Between the types of the contract and those of `passhost-ir`, which mirror each other. Every match is exhaustive, so that
//! neither side can grow unnoticed. There is little to check here: an enum out of range does not decode, and whether ids
//! fit together is the verifier's question. Only operations of kernels come by name.
//!
//! The host and the guest SDK compile this file each for its own bindings of `pass.wit`, which are called alike.

use super::bindings::passhost::pass::types as wit;
use passhost_ir::kernel::operations::{NameList, UnknownOperation, named};
use passhost_ir::kernel::{IndexExpr, IndexId, InputDecl, Inst, Kernel, Op, PaddingMode, Reg, Scalar, Store};
use passhost_ir::{Arg, DeviceFacts, DeviceKind, Dtype, Graph, MemoryFormat, Node, NodeId, NodeKind, OpName};
use passhost_ir::{TensorType, Value, ValueId};

/// Both directions between two enums of one name. Either side of a row is a pattern where a value comes from, and an
/// expression where it goes to.
macro_rules! same_cases {
    ($name:ident { $($ours:ident $(($($our:tt)*))? = $theirs:ident $(($($their:tt)*))?),* $(,)? }) => {
        impl From<wit::$name> for $name {
            fn from(from: wit::$name) -> $name {
                match from { $(wit::$name::$theirs $(($($their)*))? => $name::$ours $(($($our)*))?),* }
            }
        }

        impl From<$name> for wit::$name {
            fn from(from: $name) -> wit::$name {
                match from { $($name::$ours $(($($our)*))? => wit::$name::$theirs $(($($their)*))?),* }
            }
        }
    };
}

same_cases!(Dtype {
    Bool = Boolean, U8 = U8, I8 = I8, I16 = I16, I32 = I32, I64 = I64, F16 = F16, Bf16 = Bf16, F32 = F32, F64 = F64,
    C64 = C64, C128 = C128,
});
same_cases!(MemoryFormat {
    Contiguous = Contiguous, Preserve = Preserve, ChannelsLast = ChannelsLast, ChannelsLast3d = ChannelsLast3d,
});
same_cases!(DeviceKind { Cpu = Cpu, Cuda = Cuda });
same_cases!(Scalar { Bool(x) = Boolean(x), Int(x) = Int(x), Float(x) = Float(x) });
same_cases!(IndexExpr {
    Axis(x) = Axis(x),
    Const(x) = Constant(x),
    Add(IndexId(a), IndexId(b)) = Add((a, b)),
    Sub(IndexId(a), IndexId(b)) = Sub((a, b)),
    Mul(IndexId(a), c) = Mul((a, c)),
    FloorDiv(IndexId(a), c) = FloorDiv((a, c)),
    Mod(IndexId(a), c) = Modulo((a, c)),
    Value(Reg(x)) = Value(x),
});

/// Both directions between two structs of one name with the same fields.
macro_rules! same_fields {
    ($name:ident { $($field:ident),* }) => {
        impl From<wit::$name> for $name {
            fn from(from: wit::$name) -> $name {
                $name { $($field: from.$field.into()),* }
            }
        }

        impl From<$name> for wit::$name {
            fn from(from: $name) -> wit::$name {
                wit::$name { $($field: from.$field.into()),* }
            }
        }
    };
}

same_fields!(TensorType { dtype, shape, strides });
same_fields!(Value { name, ty });
same_fields!(OpName { name, overload });
same_fields!(InputDecl { dtype, shape });
same_fields!(DeviceFacts { kind, multiprocessors, l2_bytes, bandwidth, launch_ns });

/// Element by element.
fn each<A: Into<B>, B>(items: Vec<A>) -> Vec<B> {
    items.into_iter().map(Into::into).collect()
}

fn values(ids: Vec<u32>) -> Vec<ValueId> {
    ids.into_iter().map(ValueId).collect()
}

fn ids(values: Vec<ValueId>) -> Vec<u32> {
    values.into_iter().map(|id| id.0).collect()
}

/// Why a graph cannot be held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the kernel of node {node}, v{instruction}: {unknown}")]
pub(crate) struct Malformed {
    node: NodeId,
    instruction: usize,
    unknown: UnknownOperation,
}

/// The graph, or which kernel in it has an operation that is not known here.
pub(crate) fn graph_of(graph: wit::Graph) -> Result<Graph, Malformed> {
    Ok(Graph {
        values: each(graph.values),
        inputs: values(graph.inputs),
        nodes: graph.nodes.into_iter().map(node_of).collect::<Result<_, _>>()?,
        outputs: values(graph.outputs),
    })
}

pub(crate) fn graph(graph: Graph) -> wit::Graph {
    wit::Graph {
        values: each(graph.values),
        inputs: ids(graph.inputs),
        nodes: graph.nodes.into_iter().map(node).collect(),
        outputs: ids(graph.outputs),
    }
}

fn node_of(node: wit::Node) -> Result<Node, Malformed> {
    let id = NodeId(node.id);
    let kind = match node.kind {
        wit::NodeKind::Aten(call) => NodeKind::Aten { op: call.op.into(), args: each(call.args) },
        wit::NodeKind::Kernel(call) => {
            NodeKind::Kernel { kernel: Box::new(kernel_of(id, call.kernel)?), inputs: values(call.inputs) }
        }
    };
    Ok(Node { id, kind, outputs: values(node.outputs) })
}

fn node(node: Node) -> wit::Node {
    let kind = match node.kind {
        NodeKind::Aten { op, args } => {
            wit::NodeKind::Aten(wit::AtenCall { op: op.into(), args: args.iter().map(Into::into).collect() })
        }
        NodeKind::Kernel { kernel: fused, inputs } => {
            wit::NodeKind::Kernel(wit::KernelCall { kernel: kernel(*fused), inputs: ids(inputs) })
        }
    };
    wit::Node { id: node.id.0, kind, outputs: ids(node.outputs) }
}

/// Both directions of an argument. The two kinds that there are differ only in what stands for a tensor.
macro_rules! same_arguments {
    ($theirs:ident, $ours:ty, $from:expr, $to:expr) => {
        same_arguments!($theirs, $ours, $from, $to, {
            None = None, Bool(x) = Boolean(x), Int(x) = Int(x), Float(x) = Float(x), Str(x) = Text(x), Dtype(x) = Dtype(x),
            MemoryFormat(x) = MemoryFormat(x), Strided = Strided, Device = Device, Ints(x) = Ints(x), Floats(x) = Floats(x),
            Bools(x) = Booleans(x),
        });
    };
    (
        $theirs:ident, $ours:ty, $from:expr, $to:expr,
        { $($our_case:ident $(($x:ident))? = $their_case:ident $(($y:ident))?,)* }
    ) => {
        impl From<wit::$theirs> for Arg<$ours> {
            fn from(from: wit::$theirs) -> Arg<$ours> {
                match from {
                    $(wit::$theirs::$their_case $(($y))? => Arg::$our_case $(($x.into()))?,)*
                    wit::$theirs::Value(x) => Arg::Value($from(x)),
                    wit::$theirs::Values(x) => Arg::Values(x.into_iter().map($from).collect()),
                    wit::$theirs::OptionalValues(x) => {
                        Arg::OptionalValues(x.into_iter().map(|x| x.map($from)).collect())
                    }
                }
            }
        }

        impl From<&Arg<$ours>> for wit::$theirs {
            fn from(from: &Arg<$ours>) -> wit::$theirs {
                match from.map($to) {
                    $(Arg::$our_case $(($x))? => wit::$theirs::$their_case $(($y.into()))?,)*
                    Arg::Value(x) => wit::$theirs::Value(x),
                    Arg::Values(x) => wit::$theirs::Values(x),
                    Arg::OptionalValues(x) => wit::$theirs::OptionalValues(x),
                }
            }
        }
    };
}

same_arguments!(Arg, ValueId, ValueId, |id| id.0);
same_arguments!(TypedArg, TensorType, TensorType::from, |ty| ty.clone().into());

fn kernel_of(node: NodeId, kernel: wit::Kernel) -> Result<Kernel, Malformed> {
    let wit::Kernel { parallel, reduce, inputs, index, body, stores, operations } = kernel;
    let inst = |(instruction, inst): (usize, wit::Inst)| {
        let op = op_of(&operations, inst.op).map_err(|unknown| Malformed { node, instruction, unknown })?;
        Ok(Inst { dtype: inst.dtype.into(), op })
    };
    let body = body.into_iter().enumerate().map(inst).collect::<Result<_, _>>()?;
    let store = |store: wit::Store| Store { value: Reg(store.value), order: store.order, shape: store.shape };
    let stores = stores.into_iter().map(store).collect();
    Ok(Kernel { parallel, reduce, inputs: each(inputs), index: each(index), body, stores })
}

fn kernel(kernel: Kernel) -> wit::Kernel {
    let Kernel { parallel, reduce, inputs, index, body, stores } = kernel;
    let mut names = NameList::default();
    let inst = |inst: Inst| wit::Inst { dtype: inst.dtype.into(), op: op(&mut names, inst.op) };
    let body = body.into_iter().map(inst).collect();
    let store = |store: Store| wit::Store { value: store.value.0, order: store.order, shape: store.shape };
    let stores = stores.into_iter().map(store).collect();
    let operations = names.into_names();
    wit::Kernel { parallel, reduce, inputs: each(inputs), index: each(index), body, stores, operations }
}

fn op_of(names: &[String], op: wit::Op) -> Result<Op, UnknownOperation> {
    Ok(match op {
        wit::Op::Constant(x) => Op::Const(x.into()),
        wit::Op::Index(x) => Op::Index(IndexId(x)),
        wit::Op::Load(load) => Op::Load {
            input: load.input,
            index: load.index.into_iter().map(IndexId).collect(),
            padding: match load.outside {
                wit::Outside::Pad(x) => PaddingMode::Pad(x.into()),
                wit::Outside::Clamp => PaddingMode::Clamp,
            },
        },
        wit::Op::Unary((o, a)) => Op::Unary(named(names, o)?, Reg(a)),
        wit::Op::Binary((o, a, b)) => Op::Binary(named(names, o)?, Reg(a), Reg(b)),
        wit::Op::Compare((o, a, b)) => Op::Compare(named(names, o)?, Reg(a), Reg(b)),
        wit::Op::Select((a, b, c)) => Op::Select(Reg(a), Reg(b), Reg(c)),
        wit::Op::Fma((a, b, c)) => Op::Fma(Reg(a), Reg(b), Reg(c)),
        wit::Op::Cast(a) => Op::Cast(Reg(a)),
        wit::Op::Reduce((o, a)) => Op::Reduce(named(names, o)?, Reg(a)),
        wit::Op::Scan((o, a)) => Op::Scan(named(names, o)?, Reg(a)),
    })
}

fn op(names: &mut NameList, op: Op) -> wit::Op {
    match op {
        Op::Const(x) => wit::Op::Constant(x.into()),
        Op::Index(x) => wit::Op::Index(x.0),
        Op::Load { input, index, padding } => wit::Op::Load(wit::LoadOp {
            input,
            index: index.into_iter().map(|id| id.0).collect(),
            outside: match padding {
                PaddingMode::Pad(x) => wit::Outside::Pad(x.into()),
                PaddingMode::Clamp => wit::Outside::Clamp,
            },
        }),
        Op::Unary(o, a) => wit::Op::Unary((names.position(o), a.0)),
        Op::Binary(o, a, b) => wit::Op::Binary((names.position(o), a.0, b.0)),
        Op::Compare(o, a, b) => wit::Op::Compare((names.position(o), a.0, b.0)),
        Op::Select(a, b, c) => wit::Op::Select((a.0, b.0, c.0)),
        Op::Fma(a, b, c) => wit::Op::Fma((a.0, b.0, c.0)),
        Op::Cast(a) => wit::Op::Cast(a.0),
        Op::Reduce(o, a) => wit::Op::Reduce((names.position(o), a.0)),
        Op::Scan(o, a) => wit::Op::Scan((names.position(o), a.0)),
    }
}
