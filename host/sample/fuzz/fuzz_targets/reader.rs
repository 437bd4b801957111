//! Any bytes as the files of a sample: an error or a graph, never a panic.
//!
//! The input is `model.py`, a zero byte, `weight_meta.py`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use passhost_ir::{Arg, Infer, InferError, OpName, TensorType};
use passhost_sample::{InputMode, Sample};

/// Every op returns a tensor like its first operand: enough to get far into a program.
struct LikeFirst;

impl Infer for LikeFirst {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let first = args.iter().flat_map(Arg::values).next().cloned();
        first.map(|ty| vec![ty]).ok_or_else(|| InferError::Unknown(op.to_string()))
    }
}

fuzz_target!(|data: &[u8]| {
    let split = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    let (model, weights) = (&data[..split], data.get(split + 1..).unwrap_or_default());
    let Ok(directory) = tempfile::tempdir() else { return };
    let written = std::fs::write(directory.path().join("model.py"), model)
        .and_then(|()| std::fs::write(directory.path().join("weight_meta.py"), weights));
    if written.is_ok()
        && let Ok(sample) = Sample::open(directory.path())
        && let Ok(variant) = sample.load(0, InputMode::Fresh, &mut LikeFirst)
    {
        let _ = passhost_ir::functionalise(&variant.program, passhost_ir::OpTable::sample());
    }
});
