//! Products of vectors and matrices that PyTorch has no meta kernel for in C++.

use super::TypeRule;
use super::layout::iterated;
use super::operands::{Operands, ResultTypes};
use crate::{Arg, TensorType};

pub(super) const RULES: &[(&str, TypeRule)] = &[
    ("aten::dot", dot),
    ("aten::matmul", product),
    ("aten::linear", product),
    ("aten::inner", product),
    ("aten::mm", product),
    ("aten::bmm", product),
    ("aten::mv", product),
    ("aten::addmm", product),
    ("aten::addmm_", product),
    ("aten::addmv", product),
    ("aten::addmv_", product),
    ("aten::baddbmm", product),
    ("aten::baddbmm_", product),
    ("aten::cdist", distances),
    ("aten::addr", add_outer),
    ("aten::addbmm", addbmm),
    ("aten::addbmm_", addbmm),
    ("aten::bilinear", bilinear),
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

/// Products of matrices, summed over the batch and into a copy of `self` that is as large as they are.
fn addbmm(operands: &Operands<'_>) -> ResultTypes {
    let (ty, a, b) = (operands.tensor(0)?, operands.tensor_of_rank(1, &[3])?, operands.tensor_of_rank(2, &[3])?);
    let product = operands.ask_one("aten::bmm", &[Arg::Value(a.clone()), Arg::Value(b.clone())])?;
    if ty.dtype != product.dtype {
        return Err(format!("`self` is {}, expected {}", ty.dtype, product.dtype));
    }
    let shape = vec![product.shape[1], product.shape[2]];
    if operands.is_in_place() {
        return match ty.shape == shape {
            true => Ok(vec![ty.clone()]),
            false => Err(format!("`self` is {ty}, expected shape {shape:?}")),
        };
    }
    let implicit = Arg::Bool(false);
    operands.ask_one("aten::expand", &[Arg::Value(ty.clone()), Arg::Ints(shape.clone()), implicit])?;
    Ok(vec![TensorType::contiguous(ty.dtype, shape)])
}

/// A copy of `self` plus an outer product, elementwise.
fn add_outer(operands: &Operands<'_>) -> ResultTypes {
    let result = operands.ask_one("aten::addr", operands.all())?;
    let (ty, column, row) = (operands.tensor(0)?, operands.tensor(1)?, operands.tensor(2)?);
    let column = TensorType {
        shape: vec![column.shape[0], 1],
        strides: vec![column.strides[0], column.strides[0].saturating_mul(column.shape[0])],
        ..column.clone()
    };
    Ok(vec![iterated(&[ty, &column, row], result.dtype)?])
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
