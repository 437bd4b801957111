//! Files that a user names and somebody else may have put there.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file for reading. A pipe, whose opening waits for a writer, and a device, which has no end, are errors.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    Ok(file)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn pipes_devices_and_directories_are_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let (pipe, file) = (directory.path().join("pipe"), directory.path().join("file"));
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::fs::write(&file, "x").unwrap();
        assert!(open_regular(&file).is_ok());
        for path in [&pipe, Path::new("/dev/zero"), directory.path()] {
            let error = open_regular(path).unwrap_err();
            assert!(error.to_string().contains("no regular file"), "{path:?}: {error}");
        }
    }
}
