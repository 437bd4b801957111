//! Sampling on grids.

use super::Rules;
use super::operands::{Operands, ResultTypes};
use crate::TensorType;

pub(super) const RULES: Rules = &[(grid_sampler, "grid_sampler grid_sampler_2d")];

/// One sample per channel and point of the grid.
fn grid_sampler(operands: &Operands<'_>) -> ResultTypes {
    let (input, grid) = (operands.tensor_of_rank(0, &[4, 5])?, operands.tensor(1)?);
    let spatial = input.rank() - 2;
    if grid.rank() != input.rank() || grid.shape[0] != input.shape[0] || grid.shape[spatial + 1] != spatial as i64 {
        return Err(format!("`grid` is {grid}, expected one point of {spatial} coordinates per sample of {input}"));
    }
    if input.dtype != grid.dtype {
        return Err(format!("`grid` is {}, expected {}", grid.dtype, input.dtype));
    }
    if input.shape[2..].contains(&0) {
        return Err(format!("`input` is {input}, expected no empty dimension behind the channels"));
    }
    if spatial == 3 && operands.int(2)? == 2 {
        return Err("bicubic interpolation takes images only, not volumes".to_owned());
    }
    let mut shape = input.shape[..2].to_vec();
    shape.extend(&grid.shape[1..=spatial]);
    Ok(vec![TensorType::contiguous(input.dtype, shape)])
}
