//! Looking on while a program runs.

use crate::context::Active;
use crate::engine::Engine;
use crate::error::Cause;
use passhost_ir::TensorType;

/// Bytes before and after each temporary that belong to nobody.
pub const GUARD: u64 = 256;

/// Memory of a program's arena for as long as a temporary lies there.
pub struct Temporary<T> {
    /// The bytes of the temporary, with [`GUARD`] more before and after.
    pub memory: T,
    /// Bytes of the temporary alone.
    pub bytes: u64,
}

/// Looks on while a program runs, on the very plan that it always follows.
pub trait Watch<E: Engine> {
    /// Whether temporaries are shown.
    const TEMPORARIES: bool;

    /// A value exists. Its number is its place among the values of the graph.
    fn value(&mut self, _number: usize, _tensor: &E::Tensor) {}

    /// Memory for an output of the program that a kernel will write all of.
    fn output(&mut self, active: &Active<'_, E>, ty: &TensorType) -> Result<E::Tensor, Cause> {
        active.empty(ty)
    }

    /// A kernel is about to write a temporary.
    fn begin(&mut self, _temporary: Temporary<E::Tensor>) -> Result<(), Cause> {
        Ok(())
    }

    /// Nobody reads a temporary any more, and its memory is about to be used again.
    fn end(&mut self, _temporary: Temporary<E::Tensor>) -> Result<(), Cause> {
        Ok(())
    }
}

/// Nobody looks on.
impl<E: Engine> Watch<E> for () {
    const TEMPORARIES: bool = false;
}
