//! Files that are whole or not there, and directories that are new.

use crate::CorpusError;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// Writes a file beside its place and renames it. What is renamed is on the disk before: after a power failure there is the
/// old file or the new one, and none that is empty.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_whole(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), CorpusError> {
    // A device or a pipe is written to, not replaced.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, contents).map_err(CorpusError::write(path));
    }
    let name = path.file_name().ok_or_else(|| CorpusError::NoName { path: path.into() })?.to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let write = || {
        let mut file = File::create(&partial)?;
        file.write_all(contents.as_ref())?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    write()
        .inspect_err(|_| {
            let _ = std::fs::remove_file(&partial);
        })
        .map_err(CorpusError::write(path))
}

/// Whether [`write_whole`] could write there now, for those who would find out after hours of work. Nothing is left behind.
///
/// # Errors
///
/// If it could not.
pub fn check_writable(path: &Path) -> Result<(), CorpusError> {
    if path.is_dir() {
        return Err(CorpusError::write(path)(ErrorKind::IsADirectory.into()));
    }
    // Opening a pipe waits for who reads it.
    if path.exists() && !path.is_file() {
        return Ok(());
    }
    let name = path.file_name().ok_or_else(|| CorpusError::NoName { path: path.into() })?.to_string_lossy();
    let tried = path.with_file_name(format!(".{name}.{}", std::process::id()));
    std::fs::write(&tried, "").map_err(CorpusError::write(path))?;
    // Where it cannot be removed, what is written later takes its place.
    let _ = std::fs::remove_file(&tried);
    Ok(())
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

    #[test]
    fn whether_a_file_can_be_written_is_known_before_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let within = |name: &str| directory.path().join(name);
        assert!(check_writable(&within("new.json")).is_ok());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        std::fs::write(within("old.json"), "old").unwrap();
        assert!(check_writable(&within("old.json")).is_ok());
        assert_eq!(std::fs::read_to_string(within("old.json")).unwrap(), "old");
        for bad in [within("missing/new.json"), within("old.json/new.json"), directory.path().into()] {
            assert!(check_writable(&bad).is_err(), "{}", bad.display());
        }
    }
}
