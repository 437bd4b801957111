//! Files that are whole or not there, and directories that are new.

use crate::CorpusError;
use std::path::Path;

/// Writes a file beside its place and renames it.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_whole(path: &Path, text: &str) -> Result<(), CorpusError> {
    // A device or a pipe is written to, not replaced.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, text).map_err(CorpusError::write(path));
    }
    let name = path.file_name().ok_or_else(|| CorpusError::NoName { path: path.into() })?.to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}", std::process::id()));
    std::fs::write(&partial, text)
        .and_then(|()| std::fs::rename(&partial, path))
        .inspect_err(|_| {
            let _ = std::fs::remove_file(&partial);
        })
        .map_err(CorpusError::write(path))
}

/// Makes a directory. One that holds anything is refused: what is in it would be mistaken for what is written now.
///
/// # Errors
///
/// If it cannot be made, or is not empty.
pub fn new_directory(path: &Path) -> Result<(), CorpusError> {
    let is_empty = std::fs::create_dir_all(path)
        .and_then(|()| Ok(std::fs::read_dir(path)?.next().is_none()))
        .map_err(|source| CorpusError::Write { path: path.into(), directory: true, source })?;
    if is_empty { Ok(()) } else { Err(CorpusError::NotEmpty { path: path.into() }) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_something_in_it_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        assert!(new_directory(&directory.path().join("new/deeper")).is_ok());
        assert!(new_directory(directory.path()).is_err());
    }
}
