//! Products of vectors and matrices that PyTorch has no meta kernel for in C++.

use super::Rules;
use super::layout::iterated;
use super::operands::{Operands, ResultTypes};
use crate::{Arg, TensorType};

pub(super) const RULES: Rules = &[
    (dot, "dot"),
    (product, "matmul linear inner mm bmm mv addmm addmm_ addmv addmv_ baddbmm baddbmm_"),
    (distances, "cdist"),
    (bilinear, "bilinear"),
];

fn dot(operands: &Operands<'_>) -> ResultTypes {
    let (a, b) = (operands.tensor_of_rank(0, &[1])?, operands.tensor_of_rank(1, &[1])?);
    if a.dtype != b.dtype {
        return Err(format!("dot product of {} and {}, expected one type of elements", a.dtype, b.dtype));
    }
    if a.shape != b.shape {
        return Err(format!("dot product of vectors of {} and {} elements", a.numel(), b.numel()));
    }
    Ok(vec![TensorType::contiguous(a.dtype, [])])
}

/// The meta kernels look at shapes only, the CPU's at the types of elements, too.
fn product(operands: &Operands<'_>) -> ResultTypes {
    let mut dtypes = operands.all().iter().flat_map(Arg::values).map(|ty| ty.dtype);
    if let Some(first) = dtypes.next()
        && let Some(other) = dtypes.find(|&dtype| dtype != first)
    {
        return Err(format!("a product of {first} and {other}, expected one type of elements"));
    }
    match operands.all() {
        // Two vectors make a dot product.
        [Arg::Value(a), Arg::Value(b)] | [Arg::Value(a), Arg::Value(b), Arg::None]
            if a.rank() == 1 && b.rank() == 1 =>
        {
            dot(operands)
        }
        _ => operands.ask_itself(),
    }
}

/// The distance of every row of one matrix from every row of another, in batches.
fn distances(operands: &Operands<'_>) -> ResultTypes {
    let (a, b) = (operands.tensor(0)?, operands.tensor(1)?);
    if a.dtype != b.dtype || !a.dtype.is_float() {
        return Err(format!("distances of {} and {}, expected one type of floats", a.dtype, b.dtype));
    }
    let (Some((batch, &[rows, width])), Some((other_batch, &[columns, other]))) =
        (a.shape.split_last_chunk::<2>(), b.shape.split_last_chunk::<2>())
    else {
        return Err(format!("distances of {a} and {b}, expected at least 2 dimensions"));
    };
    if width != other {
        return Err(format!("distances of vectors of {width} and {other} elements"));
    }
    let of = |batch: &[i64]| TensorType::contiguous(a.dtype, batch);
    let batch = iterated(&[&of(batch), &of(other_batch)], a.dtype)?.shape;
    Ok(vec![TensorType::contiguous(a.dtype, [&batch[..], &[rows, columns]].concat())])
}

/// A bilinear form for each output feature. The meta kernel would go through them one by one.
fn bilinear(operands: &Operands<'_>) -> ResultTypes {
    let (a, b, weight) = (operands.tensor(0)?, operands.tensor(1)?, operands.tensor_of_rank(2, &[3])?);
    let bias = operands.optional_tensor(3)?;
    if let Some(other) = [Some(b), Some(weight), bias].into_iter().flatten().find(|ty| ty.dtype != a.dtype) {
        return Err(format!("a bilinear form of {} and {}, expected one type of elements", a.dtype, other.dtype));
    }
    let (Some((&left, batch)), Some((&right, other_batch))) = (a.shape.split_last(), b.shape.split_last()) else {
        return Err("bilinear forms take vectors, not single elements".to_owned());
    };
    let &[features, ..] = &weight.shape[..] else { return Err(format!("`weight` is {weight}")) };
    if batch != other_batch || weight.shape[1..] != [left, right] {
        return Err(format!("bilinear forms {weight} of {a} and {b}"));
    }
    if let Some(bias) = bias.filter(|bias| bias.shape != [features]) {
        return Err(format!("`bias` is {bias}, expected one number for each of {features} features"));
    }
    Ok(vec![TensorType::contiguous(a.dtype, [batch, &[features]].concat())])
}
