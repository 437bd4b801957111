//! Random programs of views and writes, made by running them.

use crate::run::{call, filled, numbers};
use passhost_ir::{Arg, Dtype, Graph, Node, NodeKind, OpName, OpTable, TensorType, ValueId};
use passhost_torch::Tensor;

type Numbers<'a> = &'a mut dyn FnMut() -> u64;

/// A program as it comes into being, with a tensor for each of its values.
struct Growing {
    graph: Graph,
    tensors: Vec<Tensor>,
}

impl Growing {
    fn input(&mut self, ty: TensorType, seed: u64) {
        let id = self.graph.add_value(self.graph.fresh_name(), ty.clone());
        self.graph.inputs.push(id);
        self.tensors.push(filled(&ty, seed));
    }

    /// Adds a call, if libtorch takes it.
    fn call(&mut self, op: &str, args: Vec<Arg>) {
        let op = OpName::parse(op);
        let schema = OpTable::sample().get(&op).unwrap_or_else(|| panic!("{op} is on no list"));
        let args = schema.normalise(args, vec![]).unwrap_or_else(|error| panic!("{error}"));
        let operands: Vec<&Tensor> = args.iter().flat_map(Arg::values).map(|id| &self.tensors[id.index()]).collect();
        let Ok(results) = call(&op, &args, &operands) else { return };
        let add = |tensor: &Tensor| self.graph.add_value(self.graph.fresh_name(), tensor.ty());
        let outputs = results.iter().map(add).collect();
        self.tensors.extend(results);
        let id = self.graph.fresh_node_ids().take();
        self.graph.nodes.push(Node { id, kind: NodeKind::Aten { op, args }, outputs });
    }

    fn ty(&self, id: ValueId) -> &TensorType {
        self.graph.ty(id)
    }

    /// A value, more often a late one.
    fn any(&self, next: Numbers<'_>) -> ValueId {
        let count = self.graph.values.len() as u64;
        let pick = (next() % count).max(next() % count);
        ValueId(pick as u32)
    }

    /// A value that broadcasts to this type, and is no wider in kind.
    fn operand(&self, of: ValueId, next: Numbers<'_>) -> Option<ValueId> {
        let ty = self.ty(of);
        let kind = |dtype: Dtype| (dtype.is_complex(), dtype.is_float(), dtype.is_integer());
        let fits = |id: &ValueId| {
            let other = self.ty(*id);
            let mut extents = other.shape.iter().rev().zip(ty.shape.iter().rev());
            other.rank() <= ty.rank() && extents.all(|(a, b)| a == b || *a == 1) && kind(other.dtype) <= kind(ty.dtype)
        };
        let fitting: Vec<ValueId> = (0..self.graph.values.len() as u32).map(ValueId).filter(fits).collect();
        (!fitting.is_empty()).then(|| fitting[next() as usize % fitting.len()])
    }
}

/// The program of this seed: views of three inputs and of what is calculated, and writes to all of them.
pub fn program(seed: u64) -> Graph {
    let mut state = numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let next: Numbers<'_> = &mut state;
    let mut growing = Growing { graph: Graph::default(), tensors: vec![] };
    let types = [
        TensorType::contiguous(Dtype::F32, [4, 6]),
        TensorType::contiguous(Dtype::F32, [2, 3, 4]),
        TensorType { dtype: Dtype::F32, shape: vec![3, 5], strides: vec![12, 2] },
        TensorType { dtype: Dtype::F32, shape: vec![2, 4, 3, 2], strides: vec![24, 1, 8, 4] },
        TensorType::contiguous(Dtype::F16, [6, 2]),
        TensorType::contiguous(Dtype::I32, [4, 3]),
        TensorType::contiguous(Dtype::C64, [3, 4]),
        TensorType::contiguous(Dtype::F64, [6]),
    ];
    for _ in 0..3 {
        growing.input(types[next() as usize % types.len()].clone(), next());
    }
    for _ in 0..14 + next() % 10 {
        match next() % 10 {
            0..5 => view(&mut growing, next),
            5..9 => write(&mut growing, next),
            _ => {
                let value = Arg::Value(growing.any(next));
                growing.call("aten::neg", vec![value]);
            }
        }
    }
    let outputs: Vec<ValueId> = (0..4).map(|_| growing.any(next)).collect();
    growing.graph.outputs = [outputs, growing.graph.inputs[..next() as usize % 3].to_vec()].concat();
    growing.graph
}

fn view(growing: &mut Growing, next: Numbers<'_>) {
    let of = growing.any(next);
    let value = Arg::Value(of);
    let ty = growing.ty(of).clone();
    let rank = ty.rank().max(1) as u64;
    let (dim, other) = ((next() % rank) as i64, (next() % rank) as i64 - rank as i64);
    let extent = ty.shape.get(dim as usize).copied().unwrap_or(1).max(1);
    let index = (next() % extent as u64) as i64;
    let length = 1 + (next() % (extent - index).max(1) as u64) as i64;
    let count = ty.numel() as i64;
    let (op, args) = match next() % 20 {
        0..3 => {
            let step = 1 + (next() % 2) as i64;
            ("aten::slice.Tensor", vec![Arg::Int(dim), Arg::Int(index), Arg::Int(index + length), Arg::Int(step)])
        }
        3 => ("aten::slice.Tensor", vec![Arg::Int(dim), Arg::None, Arg::Int(-1)]),
        4..6 => ("aten::select.int", vec![Arg::Int(dim), Arg::Int(index - extent)]),
        6 => ("aten::transpose.int", vec![Arg::Int(dim), Arg::Int(other)]),
        7 => {
            let mut order: Vec<i64> = (0..ty.rank() as i64).collect();
            order.rotate_left(dim as usize % ty.rank().max(1));
            ("aten::permute", vec![Arg::Ints(order)])
        }
        8 => ("aten::unsqueeze", vec![Arg::Int(other)]),
        9 => ("aten::squeeze", vec![]),
        10 => ("aten::view", vec![Arg::Ints(vec![count])]),
        11 => ("aten::reshape", vec![Arg::Ints(vec![2, count / 2])]),
        12 => ("aten::flatten.using_ints", vec![]),
        13 => ("aten::split.Tensor", vec![Arg::Int(length), Arg::Int(dim)]),
        14 => ("aten::chunk", vec![Arg::Int(2), Arg::Int(other)]),
        15 => ("aten::unbind.int", vec![Arg::Int(dim)]),
        16 => ("aten::narrow", vec![Arg::Int(dim), Arg::Int(index), Arg::Int(length)]),
        17 => ("aten::expand", vec![Arg::Ints([vec![1 + (next() % 2) as i64], ty.shape].concat())]),
        18 => ("aten::tensor_split.indices", vec![Arg::Ints(vec![1, 2]), Arg::Int(dim)]),
        _ => ("aten::contiguous", vec![]),
    };
    growing.call(op, [vec![value], args].concat());
}

fn write(growing: &mut Growing, next: Numbers<'_>) {
    let target = growing.any(next);
    let ty = growing.ty(target).clone();
    let value = Arg::Value(target);
    let small = Arg::Int((next() % 5) as i64 - 2);
    // Only ops that give the same bits in whichever order and layout elements are visited.
    let (op, args) = match next() % 13 {
        0 => ("aten::add_.Scalar", vec![value, small]),
        1 => ("aten::mul_.Scalar", vec![value, small]),
        2 => ("aten::neg_", vec![value]),
        3 => ("aten::relu_", vec![value]),
        4 => ("aten::fill_.Scalar", vec![value, small]),
        5 => ("aten::zero_", vec![value]),
        6 => ("aten::tril_", vec![value]),
        7 => ("aten::gt_.Scalar", vec![value, Arg::Int(0)]),
        8..11 => {
            let Some(source) = growing.operand(target, next) else { return };
            ("aten::copy_", vec![value, Arg::Value(source)])
        }
        11 => {
            let Some(source) = growing.operand(target, next) else { return };
            ("aten::add_.Tensor", vec![value, Arg::Value(source)])
        }
        _ => {
            let bool_type = TensorType::contiguous(Dtype::Bool, ty.shape);
            growing.call("aten::full", vec![Arg::Ints(bool_type.shape), Arg::Bool(true)]);
            let mask = ValueId(growing.graph.values.len() as u32 - 1);
            growing.call("aten::tril", vec![Arg::Value(mask)]);
            let mask = ValueId(growing.graph.values.len() as u32 - 1);
            ("aten::masked_fill_.Scalar", vec![value, Arg::Value(mask), Arg::Int(1)])
        }
    };
    growing.call(op, args);
}
