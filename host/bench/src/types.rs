//! The message loop of the types child, which answers questions about types and nothing else. It opens no GPU.

use crate::serve::{ServeError, set_up};
use passhost_confine::{ConfineError, Walls, types as walls};
use passhost_ir::{Arg, Dtype, Infer, OpName, TensorType};
use passhost_protocol::types::{FromTypes, Question};
use passhost_protocol::{FrameError, MAX_FRAME, read_frame, write_frame};
use passhost_torch::MetaInfer;
use std::io::{BufReader, BufWriter};

/// Serves the supervisor until it closes the pipe.
///
/// # Errors
///
/// If the pipe breaks, or a message is malformed.
pub fn serve_types() -> Result<(), ServeError> {
    let mut out = BufWriter::new(set_up()?);
    let mut stdin = BufReader::new(std::io::stdin().lock());
    write_frame(&mut out, &FromTypes::Ready(enclose()?))?;
    loop {
        let Question { op, args } = match read_frame(&mut stdin, MAX_FRAME) {
            Err(FrameError::Closed) => return Ok(()),
            question => question?,
        };
        write_frame(&mut out, &FromTypes::Typed(MetaInfer.infer(&op, &args)))?;
    }
}

/// Puts up the walls, once libtorch has looked for all that it looks for.
pub(crate) fn enclose() -> Result<Walls, ConfineError> {
    // Meta kernels touch no data: there is nothing to share among threads.
    passhost_torch::process::set_threads(1);
    let operand = Arg::Value(TensorType::contiguous(Dtype::F32, [2]));
    // The answer is known; what the first question makes libtorch do is not.
    let _ = MetaInfer.infer(&OpName::new("aten::relu", ""), &[operand]);
    walls::before_questions()
}
