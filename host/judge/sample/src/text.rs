//! Text files of a sample, of a bounded size.

use passhost_protocol::open_regular;
use passhost_protocol::reader::SampleError;
use std::io::Read;
use std::path::Path;

/// Bytes of a file of a graph: the largest real one has three megabytes.
pub const FILE_BYTES: u64 = 32 << 20;
/// Bytes of all files of one sample together, which are held in memory.
pub const SAMPLE_BYTES: u64 = 1 << 30;

/// A text file that the user named, of at most `limit` bytes.
pub fn open_text(path: &Path, limit: u64) -> Result<String, SampleError> {
    read_text(open_regular(path).map_err(cannot_open(path))?, limit, || path.display().to_string())
}

/// What is wrong with a path that the user named.
pub fn cannot_open(path: &Path) -> impl Fn(std::io::Error) -> SampleError {
    |reason| SampleError::Open { path: path.display().to_string(), reason: reason.to_string() }
}

/// What `source` holds, which must be text of at most `limit` bytes.
pub fn read_text(source: impl Read, limit: u64, shown: impl Fn() -> String) -> Result<String, SampleError> {
    let failed = |reason: String| SampleError::Read { file: shown(), reason };
    let mut bytes = vec![];
    source.take(limit + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > limit {
        return Err(SampleError::TooLarge { file: shown(), limit });
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        failed(format!("line {line} is not UTF-8"))
    })
}
