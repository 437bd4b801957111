//! Ops that cut a tensor into a list: how many pieces there are is known before any of them is made.

use super::Rules;
use super::operands::{Operands, ResultTypes, front};

pub(super) const RULES: Rules = &[
    (unbind, "unbind.int"),
    (split, "split.Tensor"),
    (chunk, "chunk"),
    (sections, "tensor_split.sections hsplit.int vsplit.int dsplit.int"),
];

/// The most tensors that one op may return.
const MAX_PIECES: i64 = 1 << 16;

/// The meta kernel makes every piece, so that it is asked for a limited number of them only.
fn limited(operands: &Operands<'_>, pieces: i64) -> ResultTypes {
    if pieces > MAX_PIECES {
        return Err(format!("it would return {pieces} tensors, at most {MAX_PIECES} are supported"));
    }
    operands.ask_itself()
}

/// The extent of the dimension that the argument at `position` names; 0 where there is none, which the kernel refuses.
fn extent(operands: &Operands<'_>, position: usize) -> Result<i64, String> {
    let ty = operands.tensor(0)?;
    let dim = front(operands.int(position)?, ty.rank())?;
    Ok(ty.shape.get(dim).copied().unwrap_or(0))
}

fn unbind(operands: &Operands<'_>) -> ResultTypes {
    limited(operands, extent(operands, 1)?)
}

fn split(operands: &Operands<'_>) -> ResultTypes {
    let size = operands.int(1)?.max(1);
    limited(operands, extent(operands, 2)? / size)
}

/// Nothing is cut into as many empty chunks as asked for.
fn chunk(operands: &Operands<'_>) -> ResultTypes {
    let (extent, chunks) = (extent(operands, 2)?, operands.int(1)?);
    limited(operands, if extent == 0 { chunks } else { chunks.min(extent) })
}

/// As many pieces as asked for, empty ones included.
fn sections(operands: &Operands<'_>) -> ResultTypes {
    limited(operands, operands.int(1)?)
}
