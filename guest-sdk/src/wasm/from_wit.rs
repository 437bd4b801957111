//! From the types of the contract to the crate's. Every match is exhaustive, so that neither side can grow unnoticed.

use super::bindings::passhost::pass::types as wit;
use passhost_ir::kernel::operations::{UnknownOperation, named};
use passhost_ir::kernel::{self, IndexId, Reg};
use passhost_ir::{self as ir, ValueId};

/// The graph, or why it cannot be held: a kernel in it has an operation that is younger than this crate.
pub(super) fn graph(graph: wit::Graph) -> Result<ir::Graph, UnknownOperation> {
    Ok(ir::Graph {
        values: graph
            .values
            .into_iter()
            .map(|value| ir::Value { name: value.name, ty: tensor_type(&value.ty) })
            .collect(),
        inputs: value_ids(graph.inputs),
        nodes: graph.nodes.into_iter().map(node).collect::<Result<_, _>>()?,
        outputs: value_ids(graph.outputs),
    })
}

fn value_ids(ids: Vec<u32>) -> Vec<ValueId> {
    ids.into_iter().map(ValueId).collect()
}

fn node(node: wit::Node) -> Result<ir::Node, UnknownOperation> {
    let kind = match node.kind {
        wit::NodeKind::Aten(call) => ir::NodeKind::Aten {
            op: ir::OpName { name: call.op.name, overload: call.op.overload },
            args: call.args.into_iter().map(arg).collect(),
        },
        wit::NodeKind::Kernel(call) => {
            ir::NodeKind::Kernel { kernel: Box::new(fused(call.kernel)?), inputs: value_ids(call.inputs) }
        }
    };
    Ok(ir::Node { id: ir::NodeId(node.id), kind, outputs: value_ids(node.outputs) })
}

pub(super) fn tensor_type(ty: &wit::TensorType) -> ir::TensorType {
    ir::TensorType { dtype: dtype(ty.dtype), shape: ty.shape.clone(), strides: ty.strides.clone() }
}

fn arg(arg: wit::Arg) -> ir::Arg {
    match arg {
        wit::Arg::None => ir::Arg::None,
        wit::Arg::Boolean(x) => ir::Arg::Bool(x),
        wit::Arg::Int(x) => ir::Arg::Int(x),
        wit::Arg::Float(x) => ir::Arg::Float(x),
        wit::Arg::Text(x) => ir::Arg::Str(x),
        wit::Arg::Dtype(x) => ir::Arg::Dtype(dtype(x)),
        wit::Arg::MemoryFormat(x) => ir::Arg::MemoryFormat(memory_format(x)),
        wit::Arg::Strided => ir::Arg::Strided,
        wit::Arg::Device => ir::Arg::Device,
        wit::Arg::Value(x) => ir::Arg::Value(ValueId(x)),
        wit::Arg::Values(x) => ir::Arg::Values(value_ids(x)),
        wit::Arg::OptionalValues(x) => ir::Arg::OptionalValues(x.into_iter().map(|id| id.map(ValueId)).collect()),
        wit::Arg::Ints(x) => ir::Arg::Ints(x),
        wit::Arg::Floats(x) => ir::Arg::Floats(x),
        wit::Arg::Booleans(x) => ir::Arg::Bools(x),
    }
}

fn fused(kernel: wit::Kernel) -> Result<kernel::Kernel, UnknownOperation> {
    let wit::Kernel { parallel, reduce, inputs, index, body, stores, operations } = kernel;
    let inst = |inst: wit::Inst| Ok(kernel::Inst { dtype: dtype(inst.dtype), op: op(&operations, inst.op)? });
    Ok(kernel::Kernel {
        parallel,
        reduce,
        inputs: inputs
            .into_iter()
            .map(|input| kernel::InputDecl { dtype: dtype(input.dtype), shape: input.shape })
            .collect(),
        index: index.into_iter().map(index_expr).collect(),
        body: body.into_iter().map(inst).collect::<Result<_, _>>()?,
        stores: stores
            .into_iter()
            .map(|store| kernel::Store { value: Reg(store.value), order: store.order, shape: store.shape })
            .collect(),
    })
}

fn index_expr(expr: wit::IndexExpr) -> kernel::IndexExpr {
    match expr {
        wit::IndexExpr::Axis(x) => kernel::IndexExpr::Axis(x),
        wit::IndexExpr::Constant(x) => kernel::IndexExpr::Const(x),
        wit::IndexExpr::Add((a, b)) => kernel::IndexExpr::Add(IndexId(a), IndexId(b)),
        wit::IndexExpr::Sub((a, b)) => kernel::IndexExpr::Sub(IndexId(a), IndexId(b)),
        wit::IndexExpr::Mul((a, c)) => kernel::IndexExpr::Mul(IndexId(a), c),
        wit::IndexExpr::FloorDiv((a, c)) => kernel::IndexExpr::FloorDiv(IndexId(a), c),
        wit::IndexExpr::Modulo((a, c)) => kernel::IndexExpr::Mod(IndexId(a), c),
        wit::IndexExpr::Value(x) => kernel::IndexExpr::Value(Reg(x)),
    }
}

fn scalar(scalar: wit::Scalar) -> kernel::Scalar {
    match scalar {
        wit::Scalar::Boolean(x) => kernel::Scalar::Bool(x),
        wit::Scalar::Int(x) => kernel::Scalar::Int(x),
        wit::Scalar::Float(x) => kernel::Scalar::Float(x),
    }
}

fn op(names: &[String], op: wit::Op) -> Result<kernel::Op, UnknownOperation> {
    Ok(match op {
        wit::Op::Constant(x) => kernel::Op::Const(scalar(x)),
        wit::Op::Index(x) => kernel::Op::Index(IndexId(x)),
        wit::Op::Load(load) => kernel::Op::Load {
            input: load.input,
            index: load.index.into_iter().map(IndexId).collect(),
            outside: match load.outside {
                wit::Outside::Pad(x) => kernel::Outside::Pad(scalar(x)),
                wit::Outside::Clamp => kernel::Outside::Clamp,
            },
        },
        wit::Op::Unary((o, a)) => kernel::Op::Unary(named(names, o)?, Reg(a)),
        wit::Op::Binary((o, a, b)) => kernel::Op::Binary(named(names, o)?, Reg(a), Reg(b)),
        wit::Op::Compare((o, a, b)) => kernel::Op::Compare(named(names, o)?, Reg(a), Reg(b)),
        wit::Op::Select((a, b, c)) => kernel::Op::Select(Reg(a), Reg(b), Reg(c)),
        wit::Op::Fma((a, b, c)) => kernel::Op::Fma(Reg(a), Reg(b), Reg(c)),
        wit::Op::Cast(a) => kernel::Op::Cast(Reg(a)),
        wit::Op::Reduce((o, a)) => kernel::Op::Reduce(named(names, o)?, Reg(a)),
        wit::Op::Scan((o, a)) => kernel::Op::Scan(named(names, o)?, Reg(a)),
    })
}

fn dtype(x: wit::Dtype) -> ir::Dtype {
    match x {
        wit::Dtype::Boolean => ir::Dtype::Bool,
        wit::Dtype::U8 => ir::Dtype::U8,
        wit::Dtype::I8 => ir::Dtype::I8,
        wit::Dtype::I16 => ir::Dtype::I16,
        wit::Dtype::I32 => ir::Dtype::I32,
        wit::Dtype::I64 => ir::Dtype::I64,
        wit::Dtype::F16 => ir::Dtype::F16,
        wit::Dtype::Bf16 => ir::Dtype::Bf16,
        wit::Dtype::F32 => ir::Dtype::F32,
        wit::Dtype::F64 => ir::Dtype::F64,
        wit::Dtype::C64 => ir::Dtype::C64,
        wit::Dtype::C128 => ir::Dtype::C128,
    }
}

fn memory_format(x: wit::MemoryFormat) -> ir::MemoryFormat {
    match x {
        wit::MemoryFormat::Contiguous => ir::MemoryFormat::Contiguous,
        wit::MemoryFormat::Preserve => ir::MemoryFormat::Preserve,
        wit::MemoryFormat::ChannelsLast => ir::MemoryFormat::ChannelsLast,
        wit::MemoryFormat::ChannelsLast3d => ir::MemoryFormat::ChannelsLast3d,
    }
}

pub(super) fn device(facts: wit::DeviceFacts) -> ir::DeviceFacts {
    ir::DeviceFacts {
        kind: match facts.kind {
            wit::DeviceKind::Cpu => ir::DeviceKind::Cpu,
            wit::DeviceKind::Cuda => ir::DeviceKind::Cuda,
        },
        multiprocessors: facts.multiprocessors,
        l2_bytes: facts.l2_bytes,
        bandwidth: facts.bandwidth,
        launch_ns: facts.launch_ns,
    }
}
