//! From the crate's types to those of the contract. Every match is exhaustive, so that neither side can grow unnoticed.

use super::bindings::passhost::pass::types as wit;
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
    let kernel::Kernel { parallel, reduce, inputs, index, body, stores, hints } = kernel;
    wit::Kernel {
        parallel,
        reduce,
        inputs: inputs
            .into_iter()
            .map(|input| wit::InputDecl { dtype: dtype(input.dtype), shape: input.shape })
            .collect(),
        index: index.into_iter().map(index_expr).collect(),
        body: body.into_iter().map(|inst| wit::Inst { dtype: dtype(inst.dtype), op: op(inst.op) }).collect(),
        stores: stores
            .into_iter()
            .map(|store| wit::Store { value: store.value.0, order: store.order, shape: store.shape })
            .collect(),
        hints: wit::Hints {
            vector_width: hints.vector_width,
            rows_per_block: hints.rows_per_block,
            threads: hints.threads,
            split: hints.split,
            persistent: hints.persistent,
        },
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

fn op(op: kernel::Op) -> wit::Op {
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
        kernel::Op::Unary(o, a) => wit::Op::Unary((unary(o), a.0)),
        kernel::Op::Binary(o, a, b) => wit::Op::Binary((binary(o), a.0, b.0)),
        kernel::Op::Compare(o, a, b) => wit::Op::Compare((compare(o), a.0, b.0)),
        kernel::Op::Select(a, b, c) => wit::Op::Select((a.0, b.0, c.0)),
        kernel::Op::Fma(a, b, c) => wit::Op::Fma((a.0, b.0, c.0)),
        kernel::Op::Cast(a) => wit::Op::Cast(a.0),
        kernel::Op::Reduce(o, a) => wit::Op::Reduce((reduce(o), a.0)),
        kernel::Op::Scan(o, a) => wit::Op::Scan((scan(o), a.0)),
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

fn unary(x: kernel::Unary) -> wit::UnaryOp {
    match x {
        kernel::Unary::Neg => wit::UnaryOp::Neg,
        kernel::Unary::Abs => wit::UnaryOp::Abs,
        kernel::Unary::Exp => wit::UnaryOp::Exp,
        kernel::Unary::Exp2 => wit::UnaryOp::Exp2,
        kernel::Unary::Expm1 => wit::UnaryOp::Expm1,
        kernel::Unary::Log => wit::UnaryOp::Log,
        kernel::Unary::Log2 => wit::UnaryOp::Log2,
        kernel::Unary::Log10 => wit::UnaryOp::Log10,
        kernel::Unary::Log1p => wit::UnaryOp::Log1p,
        kernel::Unary::Sqrt => wit::UnaryOp::Sqrt,
        kernel::Unary::Rsqrt => wit::UnaryOp::Rsqrt,
        kernel::Unary::Sin => wit::UnaryOp::Sin,
        kernel::Unary::Cos => wit::UnaryOp::Cos,
        kernel::Unary::Tan => wit::UnaryOp::Tan,
        kernel::Unary::Atan => wit::UnaryOp::Atan,
        kernel::Unary::Sinh => wit::UnaryOp::Sinh,
        kernel::Unary::Cosh => wit::UnaryOp::Cosh,
        kernel::Unary::Tanh => wit::UnaryOp::Tanh,
        kernel::Unary::Erf => wit::UnaryOp::Erf,
        kernel::Unary::Floor => wit::UnaryOp::Floor,
        kernel::Unary::Ceil => wit::UnaryOp::Ceil,
        kernel::Unary::Trunc => wit::UnaryOp::Trunc,
        kernel::Unary::Round => wit::UnaryOp::Round,
        kernel::Unary::Not => wit::UnaryOp::Not,
        kernel::Unary::IsNan => wit::UnaryOp::Isnan,
    }
}

fn binary(x: kernel::Binary) -> wit::BinaryOp {
    match x {
        kernel::Binary::Add => wit::BinaryOp::Add,
        kernel::Binary::Sub => wit::BinaryOp::Sub,
        kernel::Binary::Mul => wit::BinaryOp::Mul,
        kernel::Binary::Div => wit::BinaryOp::Div,
        kernel::Binary::Rem => wit::BinaryOp::Rem,
        kernel::Binary::Pow => wit::BinaryOp::Pow,
        kernel::Binary::Atan2 => wit::BinaryOp::Atan2,
        kernel::Binary::Min => wit::BinaryOp::Min,
        kernel::Binary::Max => wit::BinaryOp::Max,
        kernel::Binary::And => wit::BinaryOp::And,
        kernel::Binary::Or => wit::BinaryOp::Or,
        kernel::Binary::Xor => wit::BinaryOp::Xor,
        kernel::Binary::Shl => wit::BinaryOp::Shl,
        kernel::Binary::Shr => wit::BinaryOp::Shr,
    }
}

fn compare(x: kernel::Compare) -> wit::CompareOp {
    match x {
        kernel::Compare::Eq => wit::CompareOp::Eq,
        kernel::Compare::Ne => wit::CompareOp::Ne,
        kernel::Compare::Lt => wit::CompareOp::Lt,
        kernel::Compare::Le => wit::CompareOp::Le,
        kernel::Compare::Gt => wit::CompareOp::Gt,
        kernel::Compare::Ge => wit::CompareOp::Ge,
    }
}

fn reduce(x: kernel::ReduceOp) -> wit::ReduceOp {
    match x {
        kernel::ReduceOp::Sum => wit::ReduceOp::Sum,
        kernel::ReduceOp::Prod => wit::ReduceOp::Prod,
        kernel::ReduceOp::Max => wit::ReduceOp::Max,
        kernel::ReduceOp::Min => wit::ReduceOp::Min,
        kernel::ReduceOp::Argmax => wit::ReduceOp::Argmax,
        kernel::ReduceOp::Argmin => wit::ReduceOp::Argmin,
        kernel::ReduceOp::Any => wit::ReduceOp::Any,
        kernel::ReduceOp::All => wit::ReduceOp::All,
    }
}

fn scan(x: kernel::ScanOp) -> wit::ScanOp {
    match x {
        kernel::ScanOp::Sum => wit::ScanOp::Sum,
        kernel::ScanOp::Prod => wit::ScanOp::Prod,
        kernel::ScanOp::Max => wit::ScanOp::Max,
        kernel::ScanOp::Min => wit::ScanOp::Min,
    }
}
