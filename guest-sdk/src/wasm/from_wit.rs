//! From the types of the contract to the crate's. Every match is exhaustive, so that neither side can grow unnoticed.

use super::bindings::passhost::pass::types as wit;
use passhost_ir::kernel::{self, IndexId, Reg};
use passhost_ir::{self as ir, ValueId};

pub(super) fn graph(graph: wit::Graph) -> ir::Graph {
    ir::Graph {
        values: graph
            .values
            .into_iter()
            .map(|value| ir::Value { name: value.name, ty: tensor_type(&value.ty) })
            .collect(),
        inputs: value_ids(graph.inputs),
        nodes: graph.nodes.into_iter().map(node).collect(),
        outputs: value_ids(graph.outputs),
    }
}

fn value_ids(ids: Vec<u32>) -> Vec<ValueId> {
    ids.into_iter().map(ValueId).collect()
}

fn node(node: wit::Node) -> ir::Node {
    let kind = match node.kind {
        wit::NodeKind::Aten(call) => ir::NodeKind::Aten {
            op: ir::OpName { name: call.op.name, overload: call.op.overload },
            args: call.args.into_iter().map(arg).collect(),
        },
        wit::NodeKind::Kernel(call) => {
            ir::NodeKind::Kernel { kernel: Box::new(fused(call.kernel)), inputs: value_ids(call.inputs) }
        }
    };
    ir::Node { id: ir::NodeId(node.id), kind, outputs: value_ids(node.outputs) }
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

fn fused(kernel: wit::Kernel) -> kernel::Kernel {
    let wit::Kernel { parallel, reduce, inputs, index, body, stores, hints } = kernel;
    kernel::Kernel {
        parallel,
        reduce,
        inputs: inputs
            .into_iter()
            .map(|input| kernel::InputDecl { dtype: dtype(input.dtype), shape: input.shape })
            .collect(),
        index: index.into_iter().map(index_expr).collect(),
        body: body.into_iter().map(|inst| kernel::Inst { dtype: dtype(inst.dtype), op: op(inst.op) }).collect(),
        stores: stores
            .into_iter()
            .map(|store| kernel::Store { value: Reg(store.value), order: store.order, shape: store.shape })
            .collect(),
        hints: kernel::Hints {
            vector_width: hints.vector_width,
            rows_per_block: hints.rows_per_block,
            threads: hints.threads,
            split: hints.split,
            persistent: hints.persistent,
        },
    }
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

fn op(op: wit::Op) -> kernel::Op {
    match op {
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
        wit::Op::Unary((o, a)) => kernel::Op::Unary(unary(o), Reg(a)),
        wit::Op::Binary((o, a, b)) => kernel::Op::Binary(binary(o), Reg(a), Reg(b)),
        wit::Op::Compare((o, a, b)) => kernel::Op::Compare(compare(o), Reg(a), Reg(b)),
        wit::Op::Select((a, b, c)) => kernel::Op::Select(Reg(a), Reg(b), Reg(c)),
        wit::Op::Fma((a, b, c)) => kernel::Op::Fma(Reg(a), Reg(b), Reg(c)),
        wit::Op::Cast(a) => kernel::Op::Cast(Reg(a)),
        wit::Op::Reduce((o, a)) => kernel::Op::Reduce(reduce(o), Reg(a)),
        wit::Op::Scan((o, a)) => kernel::Op::Scan(scan(o), Reg(a)),
    }
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

fn unary(x: wit::UnaryOp) -> kernel::Unary {
    match x {
        wit::UnaryOp::Neg => kernel::Unary::Neg,
        wit::UnaryOp::Abs => kernel::Unary::Abs,
        wit::UnaryOp::Exp => kernel::Unary::Exp,
        wit::UnaryOp::Exp2 => kernel::Unary::Exp2,
        wit::UnaryOp::Expm1 => kernel::Unary::Expm1,
        wit::UnaryOp::Log => kernel::Unary::Log,
        wit::UnaryOp::Log2 => kernel::Unary::Log2,
        wit::UnaryOp::Log10 => kernel::Unary::Log10,
        wit::UnaryOp::Log1p => kernel::Unary::Log1p,
        wit::UnaryOp::Sqrt => kernel::Unary::Sqrt,
        wit::UnaryOp::Rsqrt => kernel::Unary::Rsqrt,
        wit::UnaryOp::Sin => kernel::Unary::Sin,
        wit::UnaryOp::Cos => kernel::Unary::Cos,
        wit::UnaryOp::Tan => kernel::Unary::Tan,
        wit::UnaryOp::Atan => kernel::Unary::Atan,
        wit::UnaryOp::Sinh => kernel::Unary::Sinh,
        wit::UnaryOp::Cosh => kernel::Unary::Cosh,
        wit::UnaryOp::Tanh => kernel::Unary::Tanh,
        wit::UnaryOp::Erf => kernel::Unary::Erf,
        wit::UnaryOp::Floor => kernel::Unary::Floor,
        wit::UnaryOp::Ceil => kernel::Unary::Ceil,
        wit::UnaryOp::Trunc => kernel::Unary::Trunc,
        wit::UnaryOp::Round => kernel::Unary::Round,
        wit::UnaryOp::Not => kernel::Unary::Not,
        wit::UnaryOp::Isnan => kernel::Unary::IsNan,
    }
}

fn binary(x: wit::BinaryOp) -> kernel::Binary {
    match x {
        wit::BinaryOp::Add => kernel::Binary::Add,
        wit::BinaryOp::Sub => kernel::Binary::Sub,
        wit::BinaryOp::Mul => kernel::Binary::Mul,
        wit::BinaryOp::Div => kernel::Binary::Div,
        wit::BinaryOp::Rem => kernel::Binary::Rem,
        wit::BinaryOp::Pow => kernel::Binary::Pow,
        wit::BinaryOp::Atan2 => kernel::Binary::Atan2,
        wit::BinaryOp::Min => kernel::Binary::Min,
        wit::BinaryOp::Max => kernel::Binary::Max,
        wit::BinaryOp::And => kernel::Binary::And,
        wit::BinaryOp::Or => kernel::Binary::Or,
        wit::BinaryOp::Xor => kernel::Binary::Xor,
        wit::BinaryOp::Shl => kernel::Binary::Shl,
        wit::BinaryOp::Shr => kernel::Binary::Shr,
    }
}

fn compare(x: wit::CompareOp) -> kernel::Compare {
    match x {
        wit::CompareOp::Eq => kernel::Compare::Eq,
        wit::CompareOp::Ne => kernel::Compare::Ne,
        wit::CompareOp::Lt => kernel::Compare::Lt,
        wit::CompareOp::Le => kernel::Compare::Le,
        wit::CompareOp::Gt => kernel::Compare::Gt,
        wit::CompareOp::Ge => kernel::Compare::Ge,
    }
}

fn reduce(x: wit::ReduceOp) -> kernel::ReduceOp {
    match x {
        wit::ReduceOp::Sum => kernel::ReduceOp::Sum,
        wit::ReduceOp::Prod => kernel::ReduceOp::Prod,
        wit::ReduceOp::Max => kernel::ReduceOp::Max,
        wit::ReduceOp::Min => kernel::ReduceOp::Min,
        wit::ReduceOp::Argmax => kernel::ReduceOp::Argmax,
        wit::ReduceOp::Argmin => kernel::ReduceOp::Argmin,
        wit::ReduceOp::Any => kernel::ReduceOp::Any,
        wit::ReduceOp::All => kernel::ReduceOp::All,
    }
}

fn scan(x: wit::ScanOp) -> kernel::ScanOp {
    match x {
        wit::ScanOp::Sum => kernel::ScanOp::Sum,
        wit::ScanOp::Prod => kernel::ScanOp::Prod,
        wit::ScanOp::Max => kernel::ScanOp::Max,
        wit::ScanOp::Min => kernel::ScanOp::Min,
    }
}
