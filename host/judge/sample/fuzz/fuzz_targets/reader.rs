//! Any bytes as the files of a sample: an error or a graph, never a panic.
//!
//! The input is `model.py`, `weight_meta.py` and `input_tensor_constraints.py` with a zero byte between each.

#![no_main]

use libfuzzer_sys::fuzz_target;
use passhost_ir::{Arg, Infer, InferError, OpName, TensorType};
use passhost_sample::{InputMode, SampleText};

/// Every op returns a tensor like its first operand: enough to get far into a program.
struct LikeFirst;

impl Infer for LikeFirst {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let first = args.iter().flat_map(Arg::values).next().cloned();
        first.map(|ty| vec![ty]).ok_or_else(|| InferError::Unknown(op.to_string()))
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(directory) = tempfile::tempdir() else { return };
    let mut parts = data.splitn(3, |&byte| byte == 0);
    for name in ["model.py", "weight_meta.py", "input_tensor_constraints.py"] {
        if std::fs::write(directory.path().join(name), parts.next().unwrap_or_default()).is_err() {
            return;
        }
    }
    let Ok(sample) = SampleText::open(directory.path()) else { return };
    let _ = sample.constraints(0);
    if let Ok(variant) = sample.load(0, InputMode::Fresh, &mut LikeFirst) {
        let _ = passhost_ir::functionalise(&variant.program, passhost_ir::OpTable::sample());
    }
});
