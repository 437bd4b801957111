//! Programs as one launch.

use super::{chain, compiled, input, multiples, on_stream, ty};
use anyhow::{Result, ensure};
use passhost_ir::{Dtype, TensorType};
use passhost_runtime::{CaptureCounts, CaptureError, Compiler, Gpu, Tensor};
use std::sync::Arc;

/// Replays equal runs, for inputs that stay, that lie elsewhere and that are aligned in another way.
pub(super) fn replays(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let eager = compiled(&chain(false)?, &context)?;
    let mut captured = compiled(&chain(false)?, &context)?.capture()?;
    let (one, other) = (input(&context, 1.0)?, input(&context, 3.0)?);
    let unaligned = Tensor::from_bytes(
        context.target(),
        &TensorType::contiguous(Dtype::U8, [4 + 4 * super::LENGTH]),
        &[vec![0; 4], multiples(5.0)].concat(),
    )?;
    let unaligned = unaligned.reinterpret(4, &ty())?;
    let expected = [
        (&one, 1.0, (1, 0, 1)),
        (&one, 1.0, (1, 0, 2)),
        (&one, 1.0, (1, 0, 3)),
        (&other, 3.0, (1, 1, 4)),
        (&other, 3.0, (1, 1, 5)),
        (&one, 1.0, (1, 2, 6)),
        (&unaligned, 5.0, (2, 2, 7)),
        (&unaligned, 5.0, (2, 2, 8)),
        (&one, 1.0, (3, 2, 9)),
    ];
    for (step, (input, factor, (graphs, updated, replayed))) in expected.into_iter().enumerate() {
        let inputs = [input.shallow_clone()];
        let found = captured.replay(&inputs)?[0].to_bytes();
        ensure!(found == eager.run(&inputs)?[0].to_bytes(), "replay {step} differs from a run");
        ensure!(found == multiples(32.0 * factor), "replay {step} is wrong");
        let wanted = CaptureCounts { captured: graphs, updated, replayed };
        ensure!(captured.counts() == wanted, "replay {step}: {:?}, expected {wanted:?}", captured.counts());
    }
    Ok(format!("{:?}", captured.counts()))
}

/// An op of a library is not captured, and said to be the reason.
pub(super) fn refused(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    match compiled(&chain(true)?, &context)?.capture() {
        Err(CaptureError::Op { op, .. }) => Ok(op),
        Err(error) => Err(error.into()),
        Ok(_) => anyhow::bail!("a program with an op was captured"),
    }
}
