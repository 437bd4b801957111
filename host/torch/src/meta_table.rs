//! Result types of ops whose meta kernel PyTorch has in Python only. Each entry says what the CPU kernel returns; the
//! tests run both.

use passhost_ir::{Arg, OpName, TensorType};

/// The types that the op returns, or `None` if it has no entry here. `Err` says what is wrong with the operands.
pub fn result_types(op: &OpName, args: &[Arg<TensorType>]) -> Option<Result<Vec<TensorType>, String>> {
    let rule = rule(op)?;
    Some(rule(&Operands { args }).map_err(|position| format!("argument {position} has the wrong kind or rank")))
}

/// A rule: the types returned, or the position of the argument that does not fit.
type Rule = fn(&Operands<'_>) -> Result<Vec<TensorType>, usize>;

fn rule(op: &OpName) -> Option<Rule> {
    Some(match (op.name.as_str(), op.overload.as_str()) {
        (
            "aten::relu"
            | "aten::relu_"
            | "aten::hardswish"
            | "aten::hardswish_"
            | "aten::flip"
            | "aten::prelu"
            | "aten::_prelu_kernel",
            "",
        ) => like_first,
        ("aten::layer_norm", "") => dense_like_first,
        ("aten::roll", "") => roll,
        ("aten::where", "self") => where_self,
        ("aten::index_select", "") => index_select,
        ("aten::embedding", "") => embedding,
        ("aten::batch_norm", "") => like_first,
        ("aten::native_batch_norm", "") => native_batch_norm,
        ("aten::adaptive_avg_pool2d" | "aten::_adaptive_avg_pool2d", "") => adaptive_avg_pool2d,
        ("aten::conv1d" | "aten::conv2d" | "aten::conv3d", "") => convolution,
        ("aten::var" | "aten::std", "correction") => variance,
        ("aten::repeat_interleave", "self_int") => repeat_interleave,
        _ => return None,
    })
}

struct Operands<'a> {
    args: &'a [Arg<TensorType>],
}

impl<'a> Operands<'a> {
    fn tensor(&self, position: usize) -> Result<&'a TensorType, usize> {
        match self.args.get(position) {
            Some(Arg::Value(ty)) => Ok(ty),
            _ => Err(position),
        }
    }

    fn int(&self, position: usize) -> Result<i64, usize> {
        match self.args.get(position) {
            Some(Arg::Int(value)) => Ok(*value),
            _ => Err(position),
        }
    }

    fn ints(&self, position: usize) -> Result<&'a [i64], usize> {
        match self.args.get(position) {
            Some(Arg::Ints(values)) => Ok(values),
            _ => Err(position),
        }
    }

    /// A dimension of a tensor of `rank`, counted from the front.
    fn dim(&self, position: usize, rank: usize) -> Result<usize, usize> {
        front(self.int(position)?, rank).ok_or(position)
    }
}

fn front(dim: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    usize::try_from(if dim < 0 { dim + rank } else { dim }).ok().filter(|&dim| (dim as i64) < rank)
}

/// As `empty_like` lays it out: the operand's strides if its elements lie densely in some order, else row-major.
fn preserving(ty: &TensorType, shape: Vec<i64>) -> TensorType {
    if shape == ty.shape && is_dense(ty) { ty.clone() } else { TensorType::contiguous(ty.dtype, shape) }
}

/// Whether the elements fill their memory without gaps or overlap.
fn is_dense(ty: &TensorType) -> bool {
    let mut dims: Vec<(i64, i64)> =
        ty.strides.iter().copied().zip(ty.shape.iter().copied()).filter(|&(_, extent)| extent != 1).collect();
    dims.sort_unstable();
    let mut expected = 1;
    dims.iter().all(|&(stride, extent)| {
        let fits = stride == expected;
        expected *= extent;
        fits
    })
}

/// The strides of a batch of images stored channels last.
fn channels_last(ty: &TensorType, shape: &[i64]) -> Option<Vec<i64>> {
    let [_, channels, height, width] = shape else { return None };
    let [_, c, h, w] = ty.shape[..] else { return None };
    let last = ty.strides == [h * w * c, 1, w * c, c] && !ty.is_contiguous();
    last.then(|| vec![height * width * channels, 1, width * channels, *channels])
}

fn image(ty: &TensorType, shape: Vec<i64>) -> TensorType {
    match channels_last(ty, &shape) {
        Some(strides) => TensorType { dtype: ty.dtype, shape, strides },
        None => TensorType::contiguous(ty.dtype, shape),
    }
}

fn like_first(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let ty = operands.tensor(0)?;
    Ok(vec![preserving(ty, ty.shape.clone())])
}

fn dense_like_first(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let ty = operands.tensor(0)?;
    Ok(vec![TensorType::contiguous(ty.dtype, ty.shape.clone())])
}

/// Each dimension in turn is cut in two and concatenated, which keeps channels last as long as neither part is empty.
fn roll(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let (ty, shifts, dims) = (operands.tensor(0)?, operands.ints(1)?, operands.ints(2)?);
    if ty.numel() == 0 {
        return like_first(operands);
    }
    let mut moves = !dims.is_empty();
    for (&shift, &dim) in shifts.iter().zip(dims) {
        let extent = ty.shape[front(dim, ty.rank()).ok_or(2usize)?];
        moves &= shift % extent != 0;
    }
    Ok(if moves { vec![image(ty, ty.shape.clone())] } else { dense_like_first(operands)? })
}

fn where_self(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let (condition, a, b) = (operands.tensor(0)?, operands.tensor(1)?, operands.tensor(2)?);
    let shape = broadcast(&condition.shape, &a.shape).and_then(|shape| broadcast(&shape, &b.shape)).ok_or(1usize)?;
    // A tensor of rank 0 yields to one with dimensions of the same kind, as everywhere in type promotion.
    let dtype = match (a.rank() == 0, b.rank() == 0) {
        (true, false) if rank_of_kind(a) <= rank_of_kind(b) => b.dtype,
        (false, true) if rank_of_kind(b) <= rank_of_kind(a) => a.dtype,
        _ => promote(a, b),
    };
    let same = [condition, a, b].into_iter().all(|ty| ty.shape == shape && ty.strides == a.strides);
    Ok(vec![if same && is_dense(a) { TensorType { dtype, ..a.clone() } } else { TensorType::contiguous(dtype, shape) }])
}

/// Bool before integers before floats before complex numbers.
fn rank_of_kind(ty: &TensorType) -> u8 {
    match ty.dtype {
        dtype if dtype.is_complex() => 3,
        dtype if dtype.is_float() => 2,
        dtype if dtype.is_integer() => 1,
        _ => 0,
    }
}

fn promote(a: &TensorType, b: &TensorType) -> passhost_ir::Dtype {
    use passhost_ir::Dtype::{Bf16, F16, F32, I8, I16, U8};
    match (a.dtype, b.dtype) {
        (F16, Bf16) | (Bf16, F16) => F32,
        (U8, I8) | (I8, U8) => I16,
        _ if rank_of_kind(a) != rank_of_kind(b) => {
            if rank_of_kind(a) > rank_of_kind(b) {
                a.dtype
            } else {
                b.dtype
            }
        }
        _ => {
            if a.dtype.size() >= b.dtype.size() {
                a.dtype
            } else {
                b.dtype
            }
        }
    }
}

fn broadcast(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let rank = a.len().max(b.len());
    let extent = |shape: &[i64], dim: usize| (dim + shape.len()).checked_sub(rank).map_or(1, |dim| shape[dim]);
    (0..rank)
        .map(|dim| match (extent(a, dim), extent(b, dim)) {
            (x, y) if x == y => Some(x),
            (1, y) => Some(y),
            (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}

fn index_select(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let (ty, index) = (operands.tensor(0)?, operands.tensor(2)?);
    let dim = operands.dim(1, ty.rank())?;
    let mut shape = ty.shape.clone();
    shape[dim] = i64::try_from(index.numel()).map_err(|_| 2usize)?;
    Ok(vec![TensorType::contiguous(ty.dtype, shape)])
}

fn embedding(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let (weight, index) = (operands.tensor(0)?, operands.tensor(1)?);
    let row = weight.shape.get(1..).filter(|row| row.len() == 1).ok_or(0usize)?;
    Ok(vec![TensorType::contiguous(weight.dtype, [&index.shape[..], row].concat())])
}

fn native_batch_norm(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let ty = operands.tensor(0)?;
    let channels = *ty.shape.get(1).ok_or(0usize)?;
    let training = matches!(operands.args.get(5), Some(Arg::Bool(true)));
    // Half types keep their statistics in single precision.
    let dtype = match ty.dtype.size() {
        2 => passhost_ir::Dtype::F32,
        _ => ty.dtype,
    };
    let statistics = TensorType::contiguous(dtype, [if training { channels } else { 0 }]);
    Ok(vec![preserving(ty, ty.shape.clone()), statistics.clone(), statistics])
}

fn adaptive_avg_pool2d(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let (ty, size) = (operands.tensor(0)?, operands.ints(1)?);
    let (Some(leading @ 1..), &[height, width]) = (ty.rank().checked_sub(2), size) else { return Err(1) };
    let shape = [&ty.shape[..leading], &[height, width]].concat();
    Ok(vec![image(ty, shape)])
}

fn convolution(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let (input, weight) = (operands.tensor(0)?, operands.tensor(1)?);
    let (stride, padding, dilation) = (operands.ints(3)?, operands.ints(4)?, operands.ints(5)?);
    let spatial = weight.rank().checked_sub(2).filter(|&spatial| spatial > 0).ok_or(1usize)?;
    let batched = input.rank() == spatial + 2;
    if !batched && input.rank() != spatial + 1 {
        return Err(0);
    }
    let at = |list: &[i64], dim: usize| list.get(dim).or(list.first()).copied();
    let first = input.rank() - spatial;
    let mut shape = input.shape[..first - 1].to_vec();
    shape.push(weight.shape[0]);
    for dim in 0..spatial {
        let (stride, padding, dilation) =
            (at(stride, dim).ok_or(3usize)?, at(padding, dim).ok_or(4usize)?, at(dilation, dim).ok_or(5usize)?);
        let reach = dilation * (weight.shape[dim + 2] - 1);
        let room = input.shape[first + dim] + 2 * padding - reach - 1;
        if stride <= 0 || room < 0 {
            return Err(3);
        }
        shape.push(room / stride + 1);
    }
    Ok(vec![image(input, shape)])
}

fn variance(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let ty = operands.tensor(0)?;
    let rank = ty.rank();
    let reduced: Vec<usize> = match operands.args.get(1) {
        Some(Arg::Ints(dims)) if !dims.is_empty() => {
            dims.iter().map(|&dim| front(dim, rank)).collect::<Option<_>>().ok_or(1usize)?
        }
        _ => (0..rank).collect(),
    };
    let keep = matches!(operands.args.get(3), Some(Arg::Bool(true)));
    let shape = ty
        .shape
        .iter()
        .enumerate()
        .filter_map(|(dim, &extent)| if reduced.contains(&dim) { keep.then_some(1) } else { Some(extent) });
    Ok(vec![TensorType::contiguous(ty.dtype, shape.collect::<Vec<_>>())])
}

fn repeat_interleave(operands: &Operands<'_>) -> Result<Vec<TensorType>, usize> {
    let (ty, repeats) = (operands.tensor(0)?, operands.int(1)?);
    let mut shape = ty.shape.clone();
    match operands.args.get(2) {
        Some(Arg::Int(_)) => {
            let dim = operands.dim(2, ty.rank())?;
            shape[dim] = shape[dim].checked_mul(repeats).ok_or(1usize)?;
        }
        _ => shape = vec![i64::try_from(ty.numel()).ok().and_then(|count| count.checked_mul(repeats)).ok_or(1usize)?],
    }
    Ok(vec![TensorType::contiguous(ty.dtype, shape)])
}
