//! Result types for tests, without PyTorch.

use passhost_ir::{Arg, Dtype, Infer, InferError, OpName, TensorType};

/// Types of the ops that the shipped samples call, and honest about all others. Layout is left out: every result is
/// contiguous.
pub struct Contiguous;

impl Infer for Contiguous {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let types =
            created(op, args).or_else(|| result_types(op, args)).ok_or_else(|| InferError::Unknown(op.to_string()))?;
        Ok(types.into_iter().map(|(dtype, shape)| TensorType::contiguous(dtype, shape)).collect())
    }
}

/// Types of what is made from numbers.
fn created(op: &OpName, args: &[Arg<TensorType>]) -> Option<Vec<(Dtype, Vec<i64>)>> {
    let number = |position: usize| match args.get(position) {
        Some(Arg::Int(number)) => Some(*number),
        _ => None,
    };
    let given = args.iter().find_map(|arg| if let Arg::Dtype(dtype) = arg { Some(*dtype) } else { None });
    let (dtype, shape) = match (op.name.strip_prefix("aten::")?, op.overload.as_str()) {
        ("zeros" | "ones" | "full", _) => (Dtype::F32, ints(args.first()?)?.to_vec()),
        ("arange", "") => (Dtype::I64, vec![number(0)?]),
        ("arange", "start") => (Dtype::I64, vec![number(1)? - number(0)?]),
        ("scalar_tensor", _) => (Dtype::F32, vec![]),
        _ => return None,
    };
    Some(vec![(given.unwrap_or(dtype), shape)])
}

#[expect(clippy::too_many_lines, reason = "a table of ops")]
fn result_types(op: &OpName, args: &[Arg<TensorType>]) -> Option<Vec<(Dtype, Vec<i64>)>> {
    let tensors: Vec<&TensorType> = args.iter().flat_map(Arg::values).collect();
    let first = *tensors.first()?;
    let name = op.name.strip_prefix("aten::")?;
    let mut dtype = first.dtype;
    let mut shape = first.shape.clone();
    match name.strip_suffix('_').unwrap_or(name) {
        "add" | "sub" | "rsub" | "mul" | "div" | "pow" => {
            // Wrong for some pairs of types, and right for those of the samples.
            dtype = tensors.iter().map(|ty| ty.dtype).max()?;
            shape = tensors.iter().try_fold(vec![], |shape, ty| broadcast(&shape, &ty.shape))?;
        }
        // Means and sums, with nothing for each element.
        name if name.ends_with("_loss") || name.starts_with("nll_loss") => shape.clear(),
        "kl_div" | "binary_cross_entropy" | "prod" => shape.clear(),
        "sum" if args.len() == 2 => shape.clear(),
        "neg"
        | "reciprocal"
        | "rsqrt"
        | "tanh"
        | "sigmoid"
        | "relu"
        | "gelu"
        | "clamp"
        | "dropout"
        | "layer_norm"
        | "rms_norm"
        | "batch_norm"
        | "roll"
        | "contiguous"
        | "fill"
        | "scaled_dot_product_attention" => {}
        "zeros_like" => {
            if let Some(Arg::Dtype(given)) = args.get(1) {
                dtype = *given;
            }
        }
        "squeeze" => drop(shape.remove(dim(args.get(1)?, shape.len())?)),
        "bmm" | "baddbmm" => {
            let [.., left, right] = &tensors[..] else { return None };
            shape = vec![left.shape[0], left.shape[1], right.shape[2]];
        }
        "softmax" => {
            if let Some(Arg::Dtype(given)) = args.get(2) {
                dtype = *given;
            }
        }
        "unflatten" => {
            let at = dim(args.get(1)?, shape.len())?;
            shape.splice(at..=at, ints(args.get(2)?)?.iter().copied());
        }
        "gt" | "le" | "eq" => {
            dtype = Dtype::Bool;
            shape = tensors.iter().try_fold(vec![], |shape, ty| broadcast(&shape, &ty.shape))?;
        }
        "masked_fill" => shape = tensors.iter().try_fold(vec![], |shape, ty| broadcast(&shape, &ty.shape))?,
        "linear" => {
            let weight = tensors.get(1)?;
            if shape.pop() != Some(weight.shape[1]) || tensors.iter().any(|ty| ty.dtype != dtype) {
                return None;
            }
            shape.push(weight.shape[0]);
        }
        "matmul" => {
            let (left, right) = (&tensors[0].shape, &tensors[1].shape);
            let (rows, columns) = (left.len().checked_sub(2)?, right.len().checked_sub(2)?);
            if left[rows + 1] != right[columns] || tensors[0].dtype != tensors[1].dtype {
                return None;
            }
            shape = broadcast(&left[..rows], &right[..columns])?;
            shape.extend([left[rows], right[columns + 1]]);
        }
        "conv2d" => {
            let (stride, padding) = (ints(args.get(3)?)?, ints(args.get(4)?)?);
            let weight = tensors.get(1)?;
            for at in 0..2 {
                let room = shape[2 + at] + 2 * padding[at] - weight.shape[2 + at];
                shape[2 + at] = room.checked_div(stride[at])? + 1;
            }
            shape[1] = weight.shape[0];
        }
        "embedding" => {
            shape = tensors.get(1)?.shape.clone();
            shape.push(first.shape[1]);
        }
        "index_select" => {
            let at = dim(args.get(1)?, shape.len())?;
            shape[at] = tensors.get(1)?.shape.iter().product();
        }
        // Along the first dimension alone.
        "index" if tensors.len() == 2 && !tensors[1].dtype.is_float() => {
            shape.splice(..1, tensors[1].shape.iter().copied());
        }
        "repeat" => {
            let counts = ints(args.get(1)?)?;
            let leading = counts.len().checked_sub(shape.len())?;
            let extent = |at: usize| at.checked_sub(leading).map_or(1, |at| first.shape[at]);
            shape = counts.iter().enumerate().map(|(at, count)| count * extent(at)).collect();
        }
        "upsample_nearest2d" => {
            shape.truncate(2);
            shape.extend(ints(args.get(1)?)?);
        }
        "as_strided" => shape = ints(args.get(1)?)?.to_vec(),
        "to" => match args.get(1)? {
            Arg::Dtype(given) => dtype = *given,
            _ => return None,
        },
        "cat" => {
            let dim = dim(args.get(1)?, shape.len())?;
            let others = |ty: &TensorType| {
                let mut shape = ty.shape.clone();
                shape.remove(dim);
                shape
            };
            if tensors.iter().any(|ty| others(ty) != others(first)) {
                return None;
            }
            shape[dim] = tensors.iter().map(|ty| ty.shape[dim]).sum();
        }
        "sum" | "mean" => {
            let dims = match args.get(1)? {
                Arg::Ints(dims) => {
                    dims.iter().map(|&at| dim(&Arg::Int(at), shape.len())).collect::<Option<Vec<_>>>()?
                }
                _ => return None,
            };
            let keep = args.get(2)? == &Arg::Bool(true);
            shape = (0..shape.len())
                .filter_map(|at| if dims.contains(&at) { keep.then_some(1) } else { Some(shape[at]) })
                .collect();
        }
        "adaptive_avg_pool2d" => {
            shape.truncate(shape.len().checked_sub(2)?);
            shape.extend(ints(args.get(1)?)?);
        }
        "max_pool2d" | "avg_pool2d" => {
            let (kernel, stride, padding) = (ints(args.get(1)?)?, ints(args.get(2)?)?, ints(args.get(3)?)?);
            let leading = shape.len().checked_sub(2)?;
            for at in 0..2 {
                let step = stride.get(at).unwrap_or(&kernel[at]);
                shape[leading + at] = (shape[leading + at] + 2 * padding[at] - kernel[at]).checked_div(*step)? + 1;
            }
        }
        "flatten" => {
            let (start, end) = (dim(args.get(1)?, shape.len())?, dim(args.get(2)?, shape.len())?);
            let merged = shape[start..=end].iter().product();
            shape.splice(start..=end, [merged]);
        }
        "view" | "reshape" | "expand" => {
            let sizes = ints(args.get(1)?)?;
            let known: i64 = sizes.iter().filter(|&&size| size >= 0).product();
            let total: i64 = shape.iter().product();
            let leading = sizes.len().saturating_sub(shape.len());
            let kept = |at: usize| at.checked_sub(leading).map(|at| first.shape[at]);
            let inferred = |(at, &size)| match (name, size) {
                (_, 0..) => Some(size),
                ("expand", _) => kept(at),
                _ => total.checked_div(known),
            };
            shape = sizes.iter().enumerate().map(inferred).collect::<Option<_>>()?;
            let fits = match name {
                "expand" => (0..shape.len()).all(|at| kept(at).is_none_or(|old| old == 1 || old == shape[at])),
                _ => shape.iter().product::<i64>() == total,
            };
            if !fits {
                return None;
            }
        }
        "transpose" => {
            let (a, b) = (dim(args.get(1)?, shape.len())?, dim(args.get(2)?, shape.len())?);
            shape.swap(a, b);
        }
        "permute" => {
            let order = ints(args.get(1)?)?;
            shape =
                order.iter().map(|&at| Some(first.shape[dim(&Arg::Int(at), first.rank())?])).collect::<Option<_>>()?;
        }
        "unsqueeze" => shape.insert(dim(args.get(1)?, shape.len() + 1)?, 1),
        "select" => drop(shape.remove(dim(args.get(1)?, shape.len())?)),
        "slice" => {
            let at = dim(args.get(1)?, shape.len())?;
            let bound = |arg: &Arg<TensorType>, default: i64| match arg {
                Arg::Int(bound) => (if *bound < 0 { bound + shape[at] } else { *bound }).clamp(0, shape[at]),
                _ => default,
            };
            let (low, high) = (bound(args.get(2)?, 0), bound(args.get(3)?, shape[at]));
            let Arg::Int(step @ 1..) = args.get(4)? else { return None };
            shape[at] = (high - low).max(0).saturating_add(step - 1) / step;
        }
        "pad" => {
            for (at, pair) in ints(args.get(1)?)?.chunks(2).enumerate() {
                let at = shape.len().checked_sub(at + 1)?;
                shape[at] += pair.iter().sum::<i64>();
            }
        }
        "split" | "split_with_sizes" | "chunk" => {
            let at = dim(args.get(2)?, shape.len())?;
            let even = |size: i64| {
                let last = Some(shape[at] % size).filter(|&last| last != 0);
                std::iter::repeat_n(size, (shape[at] / size) as usize).chain(last).collect()
            };
            let sizes: Vec<i64> = match args.get(1)? {
                Arg::Ints(sizes) => sizes.clone(),
                Arg::Int(count) if name == "chunk" => even((shape[at] + count - 1) / count),
                Arg::Int(size) => even(*size),
                _ => return None,
            };
            let part =
                |size: i64| (dtype, shape.iter().enumerate().map(|(i, &n)| if i == at { size } else { n }).collect());
            return Some(sizes.into_iter().map(part).collect());
        }
        _ => return None,
    }
    Some(vec![(dtype, shape)])
}

fn ints(arg: &Arg<TensorType>) -> Option<&[i64]> {
    match arg {
        Arg::Ints(values) => Some(values),
        _ => None,
    }
}

/// A dimension counted from the front.
fn dim(arg: &Arg<TensorType>, rank: usize) -> Option<usize> {
    let Arg::Int(dim) = arg else { return None };
    usize::try_from(if *dim < 0 { dim + rank as i64 } else { *dim }).ok().filter(|&dim| dim < rank)
}

fn broadcast(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let rank = a.len().max(b.len());
    let extent = |shape: &[i64], dim: usize| (dim + shape.len()).checked_sub(rank).map_or(1, |dim| shape[dim]);
    (0..rank)
        .map(|dim| match (extent(a, dim), extent(b, dim)) {
            (x, y) if x == y => Some(x),
            (1, x) | (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}
