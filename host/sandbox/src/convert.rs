//! Between the types of the interface and those of the host. The two mirror each other, so there is little to check
//! here: an enum out of range does not decode, and whether ids fit together is the verifier's question. Only operations
//! of kernels come by name.

use crate::bindings::passhost::pass::types as wit;
use passhost_ir as ir;
use passhost_ir::kernel as k;
use passhost_ir::kernel::operations::{NameList, UnknownOperation, named};

/// Why a returned graph cannot be held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the kernel of node {node}, {reason}")]
pub(crate) struct Malformed {
    node: ir::NodeId,
    reason: String,
}

/// Enums with the same cases on both sides, the ones that are called the same and the ones that are not.
macro_rules! same_cases {
    ($wit:ty = $ir:ty { $($wit_case:ident $(= $ir_case:ident)?),* $(,)? }) => {
        impl From<$wit> for $ir {
            fn from(case: $wit) -> $ir {
                match case { $(<$wit>::$wit_case => same_cases!(@ $ir, $wit_case $($ir_case)?)),* }
            }
        }
        impl From<$ir> for $wit {
            fn from(case: $ir) -> $wit {
                match case { $(same_cases!(@ $ir, $wit_case $($ir_case)?) => <$wit>::$wit_case),* }
            }
        }
    };
    (@ $ir:ty, $wit_case:ident) => { <$ir>::$wit_case };
    (@ $ir:ty, $wit_case:ident $ir_case:ident) => { <$ir>::$ir_case };
}

same_cases!(wit::Dtype = ir::Dtype { Boolean = Bool, U8, I8, I16, I32, I64, F16, Bf16, F32, F64, C64, C128 });
same_cases!(wit::MemoryFormat = ir::MemoryFormat { Contiguous, Preserve, ChannelsLast, ChannelsLast3d });
same_cases!(wit::DeviceKind = ir::DeviceKind { Cpu, Cuda });

/// Element by element.
fn each<A: Into<B>, B>(items: Vec<A>) -> Vec<B> {
    items.into_iter().map(Into::into).collect()
}

fn values(ids: Vec<u32>) -> Vec<ir::ValueId> {
    ids.into_iter().map(ir::ValueId).collect()
}

fn ids(values: &[ir::ValueId]) -> Vec<u32> {
    values.iter().map(|value| value.0).collect()
}

// From the plugin.

impl From<wit::TensorType> for ir::TensorType {
    fn from(ty: wit::TensorType) -> ir::TensorType {
        ir::TensorType { dtype: ty.dtype.into(), shape: ty.shape, strides: ty.strides }
    }
}

impl From<wit::OpName> for ir::OpName {
    fn from(op: wit::OpName) -> ir::OpName {
        ir::OpName { name: op.name, overload: op.overload }
    }
}

/// The two kinds of argument differ only in what stands for a tensor.
macro_rules! argument {
    ($wit:ident, $tensor:ty, $from:expr) => {
        impl From<wit::$wit> for ir::Arg<$tensor> {
            fn from(arg: wit::$wit) -> ir::Arg<$tensor> {
                let tensor = $from;
                match arg {
                    wit::$wit::None => ir::Arg::None,
                    wit::$wit::Boolean(x) => ir::Arg::Bool(x),
                    wit::$wit::Int(x) => ir::Arg::Int(x),
                    wit::$wit::Float(x) => ir::Arg::Float(x),
                    wit::$wit::Text(x) => ir::Arg::Str(x),
                    wit::$wit::Dtype(x) => ir::Arg::Dtype(x.into()),
                    wit::$wit::MemoryFormat(x) => ir::Arg::MemoryFormat(x.into()),
                    wit::$wit::Strided => ir::Arg::Strided,
                    wit::$wit::Device => ir::Arg::Device,
                    wit::$wit::Value(x) => ir::Arg::Value(tensor(x)),
                    wit::$wit::Values(x) => ir::Arg::Values(x.into_iter().map(tensor).collect()),
                    wit::$wit::OptionalValues(x) => {
                        ir::Arg::OptionalValues(x.into_iter().map(|x| x.map(tensor)).collect())
                    }
                    wit::$wit::Ints(x) => ir::Arg::Ints(x),
                    wit::$wit::Floats(x) => ir::Arg::Floats(x),
                    wit::$wit::Booleans(x) => ir::Arg::Bools(x),
                }
            }
        }
    };
}

argument!(Arg, ir::ValueId, ir::ValueId);
argument!(TypedArg, ir::TensorType, ir::TensorType::from);

impl From<wit::Scalar> for k::Scalar {
    fn from(scalar: wit::Scalar) -> k::Scalar {
        match scalar {
            wit::Scalar::Boolean(x) => k::Scalar::Bool(x),
            wit::Scalar::Int(x) => k::Scalar::Int(x),
            wit::Scalar::Float(x) => k::Scalar::Float(x),
        }
    }
}

impl From<wit::Outside> for k::Outside {
    fn from(outside: wit::Outside) -> k::Outside {
        match outside {
            wit::Outside::Pad(scalar) => k::Outside::Pad(scalar.into()),
            wit::Outside::Clamp => k::Outside::Clamp,
        }
    }
}

impl From<wit::IndexExpr> for k::IndexExpr {
    fn from(expr: wit::IndexExpr) -> k::IndexExpr {
        let id = k::IndexId;
        match expr {
            wit::IndexExpr::Axis(axis) => k::IndexExpr::Axis(axis),
            wit::IndexExpr::Constant(value) => k::IndexExpr::Const(value),
            wit::IndexExpr::Add((a, b)) => k::IndexExpr::Add(id(a), id(b)),
            wit::IndexExpr::Sub((a, b)) => k::IndexExpr::Sub(id(a), id(b)),
            wit::IndexExpr::Mul((a, factor)) => k::IndexExpr::Mul(id(a), factor),
            wit::IndexExpr::FloorDiv((a, divisor)) => k::IndexExpr::FloorDiv(id(a), divisor),
            wit::IndexExpr::Modulo((a, divisor)) => k::IndexExpr::Mod(id(a), divisor),
            wit::IndexExpr::Value(reg) => k::IndexExpr::Value(k::Reg(reg)),
        }
    }
}

/// An instruction, given the names that the kernel lists.
fn op(names: &[String], op: wit::Op) -> Result<k::Op, UnknownOperation> {
    let reg = k::Reg;
    Ok(match op {
        wit::Op::Constant(scalar) => k::Op::Const(scalar.into()),
        wit::Op::Index(id) => k::Op::Index(k::IndexId(id)),
        wit::Op::Load(load) => k::Op::Load {
            input: load.input,
            index: load.index.into_iter().map(k::IndexId).collect(),
            outside: load.outside.into(),
        },
        wit::Op::Unary((op, a)) => k::Op::Unary(named(names, op)?, reg(a)),
        wit::Op::Binary((op, a, b)) => k::Op::Binary(named(names, op)?, reg(a), reg(b)),
        wit::Op::Compare((op, a, b)) => k::Op::Compare(named(names, op)?, reg(a), reg(b)),
        wit::Op::Select((a, b, c)) => k::Op::Select(reg(a), reg(b), reg(c)),
        wit::Op::Fma((a, b, c)) => k::Op::Fma(reg(a), reg(b), reg(c)),
        wit::Op::Cast(a) => k::Op::Cast(reg(a)),
        wit::Op::Reduce((op, a)) => k::Op::Reduce(named(names, op)?, reg(a)),
        wit::Op::Scan((op, a)) => k::Op::Scan(named(names, op)?, reg(a)),
    })
}

impl From<wit::InputDecl> for k::InputDecl {
    fn from(input: wit::InputDecl) -> k::InputDecl {
        k::InputDecl { dtype: input.dtype.into(), shape: input.shape }
    }
}

impl From<wit::Store> for k::Store {
    fn from(store: wit::Store) -> k::Store {
        k::Store { value: k::Reg(store.value), order: store.order, shape: store.shape }
    }
}

/// A kernel. Where an instruction names no operation, says which instruction.
fn kernel(kernel: wit::Kernel) -> Result<ir::Kernel, String> {
    let wit::Kernel { parallel, reduce, inputs, index, body, stores, operations } = kernel;
    let inst = |(at, inst): (usize, wit::Inst)| {
        let op = op(&operations, inst.op).map_err(|error| format!("v{at}: {error}"))?;
        Ok(k::Inst { dtype: inst.dtype.into(), op })
    };
    let body = body.into_iter().enumerate().map(inst).collect::<Result<_, String>>()?;
    Ok(ir::Kernel { parallel, reduce, inputs: each(inputs), index: each(index), body, stores: each(stores) })
}

fn node(node: wit::Node) -> Result<ir::Node, Malformed> {
    let id = ir::NodeId(node.id);
    let kind = match node.kind {
        wit::NodeKind::Aten(call) => ir::NodeKind::Aten { op: call.op.into(), args: each(call.args) },
        wit::NodeKind::Kernel(call) => {
            let kernel = kernel(call.kernel).map_err(|reason| Malformed { node: id, reason })?;
            ir::NodeKind::Kernel { kernel: Box::new(kernel), inputs: values(call.inputs) }
        }
    };
    Ok(ir::Node { id, kind, outputs: values(node.outputs) })
}

impl From<wit::Value> for ir::Value {
    fn from(value: wit::Value) -> ir::Value {
        ir::Value { name: value.name, ty: value.ty.into() }
    }
}

/// The graph that a plugin returned.
pub(crate) fn graph(graph: wit::Graph) -> Result<ir::Graph, Malformed> {
    Ok(ir::Graph {
        values: each(graph.values),
        inputs: values(graph.inputs),
        nodes: graph.nodes.into_iter().map(node).collect::<Result<_, _>>()?,
        outputs: values(graph.outputs),
    })
}

// To the plugin.

impl From<&ir::TensorType> for wit::TensorType {
    fn from(ty: &ir::TensorType) -> wit::TensorType {
        wit::TensorType { dtype: ty.dtype.into(), shape: ty.shape.clone(), strides: ty.strides.clone() }
    }
}

impl From<&ir::OpName> for wit::OpName {
    fn from(op: &ir::OpName) -> wit::OpName {
        wit::OpName { name: op.name.clone(), overload: op.overload.clone() }
    }
}

impl From<&ir::Arg> for wit::Arg {
    fn from(arg: &ir::Arg) -> wit::Arg {
        match arg {
            ir::Arg::None => wit::Arg::None,
            ir::Arg::Bool(x) => wit::Arg::Boolean(*x),
            ir::Arg::Int(x) => wit::Arg::Int(*x),
            ir::Arg::Float(x) => wit::Arg::Float(*x),
            ir::Arg::Str(x) => wit::Arg::Text(x.clone()),
            ir::Arg::Dtype(x) => wit::Arg::Dtype((*x).into()),
            ir::Arg::MemoryFormat(x) => wit::Arg::MemoryFormat((*x).into()),
            ir::Arg::Strided => wit::Arg::Strided,
            ir::Arg::Device => wit::Arg::Device,
            ir::Arg::Value(x) => wit::Arg::Value(x.0),
            ir::Arg::Values(x) => wit::Arg::Values(ids(x)),
            ir::Arg::OptionalValues(x) => wit::Arg::OptionalValues(x.iter().map(|x| x.map(|x| x.0)).collect()),
            ir::Arg::Ints(x) => wit::Arg::Ints(x.clone()),
            ir::Arg::Floats(x) => wit::Arg::Floats(x.clone()),
            ir::Arg::Bools(x) => wit::Arg::Booleans(x.clone()),
        }
    }
}

impl From<k::Scalar> for wit::Scalar {
    fn from(scalar: k::Scalar) -> wit::Scalar {
        match scalar {
            k::Scalar::Bool(x) => wit::Scalar::Boolean(x),
            k::Scalar::Int(x) => wit::Scalar::Int(x),
            k::Scalar::Float(x) => wit::Scalar::Float(x),
        }
    }
}

impl From<k::Outside> for wit::Outside {
    fn from(outside: k::Outside) -> wit::Outside {
        match outside {
            k::Outside::Pad(scalar) => wit::Outside::Pad(scalar.into()),
            k::Outside::Clamp => wit::Outside::Clamp,
        }
    }
}

impl From<k::IndexExpr> for wit::IndexExpr {
    fn from(expr: k::IndexExpr) -> wit::IndexExpr {
        match expr {
            k::IndexExpr::Axis(axis) => wit::IndexExpr::Axis(axis),
            k::IndexExpr::Const(value) => wit::IndexExpr::Constant(value),
            k::IndexExpr::Add(a, b) => wit::IndexExpr::Add((a.0, b.0)),
            k::IndexExpr::Sub(a, b) => wit::IndexExpr::Sub((a.0, b.0)),
            k::IndexExpr::Mul(a, factor) => wit::IndexExpr::Mul((a.0, factor)),
            k::IndexExpr::FloorDiv(a, divisor) => wit::IndexExpr::FloorDiv((a.0, divisor)),
            k::IndexExpr::Mod(a, divisor) => wit::IndexExpr::Modulo((a.0, divisor)),
            k::IndexExpr::Value(reg) => wit::IndexExpr::Value(reg.0),
        }
    }
}

fn op_to_wit(names: &mut NameList, op: &k::Op) -> wit::Op {
    match op {
        k::Op::Const(scalar) => wit::Op::Constant((*scalar).into()),
        k::Op::Index(id) => wit::Op::Index(id.0),
        k::Op::Load { input, index, outside } => wit::Op::Load(wit::LoadOp {
            input: *input,
            index: index.iter().map(|id| id.0).collect(),
            outside: (*outside).into(),
        }),
        k::Op::Unary(op, a) => wit::Op::Unary((names.position(*op), a.0)),
        k::Op::Binary(op, a, b) => wit::Op::Binary((names.position(*op), a.0, b.0)),
        k::Op::Compare(op, a, b) => wit::Op::Compare((names.position(*op), a.0, b.0)),
        k::Op::Select(a, b, c) => wit::Op::Select((a.0, b.0, c.0)),
        k::Op::Fma(a, b, c) => wit::Op::Fma((a.0, b.0, c.0)),
        k::Op::Cast(a) => wit::Op::Cast(a.0),
        k::Op::Reduce(op, a) => wit::Op::Reduce((names.position(*op), a.0)),
        k::Op::Scan(op, a) => wit::Op::Scan((names.position(*op), a.0)),
    }
}

impl From<&ir::Kernel> for wit::Kernel {
    fn from(kernel: &ir::Kernel) -> wit::Kernel {
        let input = |input: &k::InputDecl| wit::InputDecl { dtype: input.dtype.into(), shape: input.shape.clone() };
        let mut names = NameList::default();
        let inst = |inst: &k::Inst| wit::Inst { dtype: inst.dtype.into(), op: op_to_wit(&mut names, &inst.op) };
        let store = |store: &k::Store| wit::Store {
            value: store.value.0,
            order: store.order.clone(),
            shape: store.shape.clone(),
        };
        wit::Kernel {
            parallel: kernel.parallel.clone(),
            reduce: kernel.reduce.clone(),
            inputs: kernel.inputs.iter().map(input).collect(),
            index: kernel.index.iter().map(|&expr| expr.into()).collect(),
            body: kernel.body.iter().map(inst).collect(),
            stores: kernel.stores.iter().map(store).collect(),
            operations: names.into_names(),
        }
    }
}

impl From<&ir::Node> for wit::Node {
    fn from(node: &ir::Node) -> wit::Node {
        let kind = match &node.kind {
            ir::NodeKind::Aten { op, args } => {
                wit::NodeKind::Aten(wit::AtenCall { op: op.into(), args: args.iter().map(Into::into).collect() })
            }
            ir::NodeKind::Kernel { kernel, inputs } => {
                wit::NodeKind::Kernel(wit::KernelCall { kernel: (&**kernel).into(), inputs: ids(inputs) })
            }
        };
        wit::Node { id: node.id.0, kind, outputs: ids(&node.outputs) }
    }
}

impl From<&ir::Graph> for wit::Graph {
    fn from(graph: &ir::Graph) -> wit::Graph {
        let value = |value: &ir::Value| wit::Value { name: value.name.clone(), ty: (&value.ty).into() };
        wit::Graph {
            values: graph.values.iter().map(value).collect(),
            inputs: ids(&graph.inputs),
            nodes: graph.nodes.iter().map(Into::into).collect(),
            outputs: ids(&graph.outputs),
        }
    }
}

impl From<ir::DeviceFacts> for wit::DeviceFacts {
    fn from(facts: ir::DeviceFacts) -> wit::DeviceFacts {
        wit::DeviceFacts {
            kind: facts.kind.into(),
            multiprocessors: facts.multiprocessors,
            l2_bytes: facts.l2_bytes,
            bandwidth: facts.bandwidth,
            launch_ns: facts.launch_ns,
        }
    }
}
