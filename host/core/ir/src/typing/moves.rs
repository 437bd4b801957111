//! Data movement.

use super::Rules;
use super::layout::{preserving, suggested, transposed};
use super::operands::{Operands, ResultTypes, divides, front};
use crate::functional::layout::formatted;
use crate::{MemoryFormat, TensorType};

pub(super) const RULES: Rules = &[
    (flip, "flip"),
    (|operands| flipped_with_rank(operands, 2), "fliplr"),
    (|operands| flipped_with_rank(operands, 1), "flipud"),
    (rot90, "rot90"),
    (roll, "roll"),
    (pad, "pad"),
    (|operands| pad_sides(operands, 2), "reflection_pad2d replication_pad2d"),
    (|operands| pad_sides(operands, 3), "reflection_pad3d replication_pad3d"),
    (shuffle_pixels, "pixel_shuffle pixel_unshuffle"),
    (shuffle_channels, "channel_shuffle"),
];

fn flip(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    operands.dims(1, ty.rank())?;
    Ok(vec![preserving(ty, ty.dtype)])
}

fn flipped_with_rank(operands: &Operands<'_>, least: usize) -> ResultTypes {
    let ty = operands.tensor(0)?;
    if ty.rank() < least {
        return Err(format!("`self` has rank {}, expected at least {least}", ty.rank()));
    }
    Ok(vec![preserving(ty, ty.dtype)])
}

/// A quarter turn is a flip and a transposition, half a turn two flips, a whole turn a copy.
fn rot90(operands: &Operands<'_>) -> ResultTypes {
    let (ty, turns) = (operands.tensor(0)?, operands.int(1)?);
    let &[a, b] = &operands.dims(2, ty.rank())?[..] else { return Err("it turns two dimensions".to_owned()) };
    if ty.rank() < 2 {
        return Err(format!("`self` has rank {}, expected at least 2", ty.rank()));
    }
    Ok(vec![match turns.rem_euclid(4) {
        0 => TensorType::contiguous(ty.dtype, ty.shape.clone()),
        2 => preserving(ty, ty.dtype),
        _ => transposed(&preserving(ty, ty.dtype), a, b),
    }])
}

/// Without dimensions it rolls all elements in row-major order.
fn roll(operands: &Operands<'_>) -> ResultTypes {
    let (ty, shifts, dims) = (operands.tensor(0)?, operands.ints(1)?, operands.ints(2)?);
    match (shifts, dims) {
        ([_], []) => Ok(vec![TensorType::contiguous(ty.dtype, ty.shape.clone())]),
        ([_, ..], _) if shifts.len() == dims.len() => {
            let dims: Vec<usize> = dims.iter().map(|&dim| front(dim, ty.rank())).collect::<Result<_, _>>()?;
            rolled(ty, shifts, &dims)
        }
        _ => Err(format!("{} shifts for {} dimensions", shifts.len(), dims.len())),
    }
}

/// Each dimension in turn is cut in two, and the parts are concatenated in the other order.
pub(super) fn rolled(ty: &TensorType, shifts: &[i64], dims: &[usize]) -> ResultTypes {
    if ty.numel() == 0 {
        return Ok(vec![preserving(ty, ty.dtype)]);
    }
    let mut rolled = ty.clone();
    for (&shift, &dim) in shifts.iter().zip(dims) {
        let extent = *ty.shape.get(dim).ok_or("a tensor without dimensions cannot be rolled")?;
        let moved = shift.rem_euclid(extent);
        let format_of_part = |extent| {
            let mut part = rolled.clone();
            part.shape[dim] = extent;
            suggested(&part)
        };
        // Channels last if both parts are; an empty one never is.
        let (a, b) = (format_of_part(moved), format_of_part(extent - moved));
        let format = if a == b { a } else { MemoryFormat::Contiguous };
        rolled = formatted(ty.dtype, ty.shape.clone(), format);
    }
    Ok(vec![rolled])
}

/// Images and volumes keep their format; everything else has a meta kernel that says what the CPU does.
fn pad(operands: &Operands<'_>) -> ResultTypes {
    let (ty, padding, mode) = (operands.tensor(0)?, operands.ints(1)?, operands.text(2)?);
    match (mode, padding) {
        ("reflect" | "replicate", [_, _, _, _]) if matches!(ty.rank(), 3 | 4) => padded(ty, padding, mode),
        ("reflect" | "replicate", [_, _, _, _, _, _]) if matches!(ty.rank(), 4 | 5) => padded(ty, padding, mode),
        _ => operands.ask_itself(),
    }
}

/// The last dimensions at both sides.
fn pad_sides(operands: &Operands<'_>, dims: usize) -> ResultTypes {
    let mode = if operands.op().starts_with("reflection") { "reflect" } else { "replicate" };
    padded(operands.tensor_of_rank(0, &[dims + 1, dims + 2])?, &operands.expanded_ints(1, 2 * dims)?, mode)
}

/// Row-major or channels last, whichever the operand is nearest to.
fn padded(ty: &TensorType, padding: &[i64], mode: &str) -> ResultTypes {
    let mut shape = ty.shape.clone();
    if shape[1..].contains(&0) {
        return Err(format!("`self` is {ty}, expected no extent of 0 behind the batch"));
    }
    for (extent, sides) in shape.iter_mut().rev().zip(padding.chunks_exact(2)) {
        if mode == "reflect" && sides.iter().any(|side| side >= extent) {
            return Err(format!("{sides:?} reflected elements at an extent of {extent}, expected less than that"));
        }
        let padded = sides.iter().try_fold(*extent, |extent, &side| extent.checked_add(side));
        *extent = padded.filter(|&padded| padded >= 1).ok_or_else(|| format!("{sides:?} at an extent of {extent}"))?;
    }
    let batch = padding.len() / 2 + 2 == ty.rank();
    Ok(vec![formatted(ty.dtype, shape, if batch { suggested(ty) } else { MemoryFormat::Contiguous })])
}

/// Batches of images keep their format.
fn shuffle_pixels(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let results = operands.ask_itself()?;
    Ok(results.into_iter().map(|result| formatted(ty.dtype, result.shape, suggested(ty))).collect())
}

fn shuffle_channels(operands: &Operands<'_>) -> ResultTypes {
    let (ty, groups) = (operands.tensor(0)?, operands.int(1)?);
    let Some(&channels) = ty.shape.get(1).filter(|_| ty.rank() > 2) else {
        return Err(format!("`self` has rank {}, expected at least 3", ty.rank()));
    };
    divides(groups, channels)?;
    Ok(vec![formatted(ty.dtype, ty.shape.clone(), suggested(ty))])
}
