//! From the crate's types to those of the contract. Every match is exhaustive, so that neither side can grow unnoticed.

use super::bindings::passhost::pass::types as wit;
use passhost_ir::kernel::operations::NameList;
use passhost_ir::{self as ir, kernel};

pub(super) fn graph(graph: ir::Graph) -> wit::Graph {
    wit::Graph {
        values: graph
            .values
            .into_iter()
            .map(|value| wit::Value { name: value.name, ty: tensor_type(&value.ty) })
            .collect(),
        inputs: value_ids(&graph.inputs),
        nodes: graph.nodes.into_iter().map(node).collect(),
        outputs: value_ids(&graph.outputs),
    }
}

fn value_ids(ids: &[ir::ValueId]) -> Vec<u32> {
    ids.iter().map(|id| id.0).collect()
}

fn node(node: ir::Node) -> wit::Node {
    let kind = match node.kind {
        ir::NodeKind::Aten { op, args } => {
            wit::NodeKind::Aten(wit::AtenCall { op: op_name(&op), args: args.iter().map(arg).collect() })
        }
        ir::NodeKind::Kernel { kernel, inputs } => {
            wit::NodeKind::Kernel(wit::KernelCall { kernel: fused(*kernel), inputs: value_ids(&inputs) })
        }
    };
    wit::Node { id: node.id.0, kind, outputs: value_ids(&node.outputs) }
}

pub(super) fn op_name(op: &ir::OpName) -> wit::OpName {
    wit::OpName { name: op.name.clone(), overload: op.overload.clone() }
}

pub(super) fn tensor_type(ty: &ir::TensorType) -> wit::TensorType {
    wit::TensorType { dtype: dtype(ty.dtype), shape: ty.shape.clone(), strides: ty.strides.clone() }
}

fn arg(arg: &ir::Arg) -> wit::Arg {
    match arg {
        ir::Arg::None => wit::Arg::None,
        ir::Arg::Bool(x) => wit::Arg::Boolean(*x),
        ir::Arg::Int(x) => wit::Arg::Int(*x),
        ir::Arg::Float(x) => wit::Arg::Float(*x),
        ir::Arg::Str(x) => wit::Arg::Text(x.clone()),
        ir::Arg::Dtype(x) => wit::Arg::Dtype(dtype(*x)),
        ir::Arg::MemoryFormat(x) => wit::Arg::MemoryFormat(memory_format(*x)),
        ir::Arg::Strided => wit::Arg::Strided,
        ir::Arg::Device => wit::Arg::Device,
        ir::Arg::Value(x) => wit::Arg::Value(x.0),
        ir::Arg::Values(x) => wit::Arg::Values(value_ids(x)),
        ir::Arg::OptionalValues(x) => wit::Arg::OptionalValues(x.iter().map(|id| id.map(|id| id.0)).collect()),
        ir::Arg::Ints(x) => wit::Arg::Ints(x.clone()),
        ir::Arg::Floats(x) => wit::Arg::Floats(x.clone()),
        ir::Arg::Bools(x) => wit::Arg::Booleans(x.clone()),
    }
}

pub(super) fn typed_arg(arg: &ir::Arg<ir::TensorType>) -> wit::TypedArg {
    let types = |types: &[ir::TensorType]| types.iter().map(tensor_type).collect();
    match arg {
        ir::Arg::None => wit::TypedArg::None,
        ir::Arg::Bool(x) => wit::TypedArg::Boolean(*x),
        ir::Arg::Int(x) => wit::TypedArg::Int(*x),
        ir::Arg::Float(x) => wit::TypedArg::Float(*x),
        ir::Arg::Str(x) => wit::TypedArg::Text(x.clone()),
        ir::Arg::Dtype(x) => wit::TypedArg::Dtype(dtype(*x)),
        ir::Arg::MemoryFormat(x) => wit::TypedArg::MemoryFormat(memory_format(*x)),
        ir::Arg::Strided => wit::TypedArg::Strided,
        ir::Arg::Device => wit::TypedArg::Device,
        ir::Arg::Value(x) => wit::TypedArg::Value(tensor_type(x)),
        ir::Arg::Values(x) => wit::TypedArg::Values(types(x)),
        ir::Arg::OptionalValues(x) => {
            wit::TypedArg::OptionalValues(x.iter().map(|ty| ty.as_ref().map(tensor_type)).collect())
        }
        ir::Arg::Ints(x) => wit::TypedArg::Ints(x.clone()),
        ir::Arg::Floats(x) => wit::TypedArg::Floats(x.clone()),
        ir::Arg::Bools(x) => wit::TypedArg::Booleans(x.clone()),
    }
}

fn fused(kernel: kernel::Kernel) -> wit::Kernel {
    let kernel::Kernel { parallel, reduce, inputs, index, body, stores } = kernel;
    let mut names = NameList::default();
    wit::Kernel {
        parallel,
        reduce,
        inputs: inputs
            .into_iter()
            .map(|input| wit::InputDecl { dtype: dtype(input.dtype), shape: input.shape })
            .collect(),
        index: index.into_iter().map(index_expr).collect(),
        body: body
            .into_iter()
            .map(|inst| wit::Inst { dtype: dtype(inst.dtype), op: op(&mut names, inst.op) })
            .collect(),
        stores: stores
            .into_iter()
            .map(|store| wit::Store { value: store.value.0, order: store.order, shape: store.shape })
            .collect(),
        operations: names.into_names(),
    }
}

fn index_expr(expr: kernel::IndexExpr) -> wit::IndexExpr {
    match expr {
        kernel::IndexExpr::Axis(x) => wit::IndexExpr::Axis(x),
        kernel::IndexExpr::Const(x) => wit::IndexExpr::Constant(x),
        kernel::IndexExpr::Add(a, b) => wit::IndexExpr::Add((a.0, b.0)),
        kernel::IndexExpr::Sub(a, b) => wit::IndexExpr::Sub((a.0, b.0)),
        kernel::IndexExpr::Mul(a, c) => wit::IndexExpr::Mul((a.0, c)),
        kernel::IndexExpr::FloorDiv(a, c) => wit::IndexExpr::FloorDiv((a.0, c)),
        kernel::IndexExpr::Mod(a, c) => wit::IndexExpr::Modulo((a.0, c)),
        kernel::IndexExpr::Value(x) => wit::IndexExpr::Value(x.0),
    }
}

fn scalar(scalar: kernel::Scalar) -> wit::Scalar {
    match scalar {
        kernel::Scalar::Bool(x) => wit::Scalar::Boolean(x),
        kernel::Scalar::Int(x) => wit::Scalar::Int(x),
        kernel::Scalar::Float(x) => wit::Scalar::Float(x),
    }
}

fn op(names: &mut NameList, op: kernel::Op) -> wit::Op {
    match op {
        kernel::Op::Const(x) => wit::Op::Constant(scalar(x)),
        kernel::Op::Index(x) => wit::Op::Index(x.0),
        kernel::Op::Load { input, index, outside } => wit::Op::Load(wit::LoadOp {
            input,
            index: index.into_iter().map(|id| id.0).collect(),
            outside: match outside {
                kernel::Outside::Pad(x) => wit::Outside::Pad(scalar(x)),
                kernel::Outside::Clamp => wit::Outside::Clamp,
            },
        }),
        kernel::Op::Unary(o, a) => wit::Op::Unary((names.position(o), a.0)),
        kernel::Op::Binary(o, a, b) => wit::Op::Binary((names.position(o), a.0, b.0)),
        kernel::Op::Compare(o, a, b) => wit::Op::Compare((names.position(o), a.0, b.0)),
        kernel::Op::Select(a, b, c) => wit::Op::Select((a.0, b.0, c.0)),
        kernel::Op::Fma(a, b, c) => wit::Op::Fma((a.0, b.0, c.0)),
        kernel::Op::Cast(a) => wit::Op::Cast(a.0),
        kernel::Op::Reduce(o, a) => wit::Op::Reduce((names.position(o), a.0)),
        kernel::Op::Scan(o, a) => wit::Op::Scan((names.position(o), a.0)),
    }
}

fn dtype(x: ir::Dtype) -> wit::Dtype {
    match x {
        ir::Dtype::Bool => wit::Dtype::Boolean,
        ir::Dtype::U8 => wit::Dtype::U8,
        ir::Dtype::I8 => wit::Dtype::I8,
        ir::Dtype::I16 => wit::Dtype::I16,
        ir::Dtype::I32 => wit::Dtype::I32,
        ir::Dtype::I64 => wit::Dtype::I64,
        ir::Dtype::F16 => wit::Dtype::F16,
        ir::Dtype::Bf16 => wit::Dtype::Bf16,
        ir::Dtype::F32 => wit::Dtype::F32,
        ir::Dtype::F64 => wit::Dtype::F64,
        ir::Dtype::C64 => wit::Dtype::C64,
        ir::Dtype::C128 => wit::Dtype::C128,
    }
}

fn memory_format(x: ir::MemoryFormat) -> wit::MemoryFormat {
    match x {
        ir::MemoryFormat::Contiguous => wit::MemoryFormat::Contiguous,
        ir::MemoryFormat::Preserve => wit::MemoryFormat::Preserve,
        ir::MemoryFormat::ChannelsLast => wit::MemoryFormat::ChannelsLast,
        ir::MemoryFormat::ChannelsLast3d => wit::MemoryFormat::ChannelsLast3d,
    }
}
