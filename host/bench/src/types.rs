//! The message loop of the types child, which answers questions about types and nothing else. It opens no GPU.

use crate::serve::{ServeError, set_up};
use passhost_ir::Infer;
use passhost_protocol::types::Question;
use passhost_protocol::{FrameError, MAX_FRAME, read_frame, write_frame};
use std::io::{BufReader, BufWriter};

/// Serves the supervisor until it closes the pipe.
///
/// # Errors
///
/// If the pipe breaks, or a message is malformed.
pub fn serve_types() -> Result<(), ServeError> {
    let mut out = BufWriter::new(set_up()?);
    let mut stdin = BufReader::new(std::io::stdin().lock());
    // Meta kernels touch no data: there is nothing to share among threads.
    passhost_torch::process::set_threads(1);
    loop {
        let Question { op, args } = match read_frame(&mut stdin, MAX_FRAME) {
            Err(FrameError::Closed) => return Ok(()),
            question => question?,
        };
        write_frame(&mut out, &passhost_torch::MetaInfer.infer(&op, &args))?;
    }
}
