//! Directories of what clients or a model sent, which is nobody else's on the machine.

use crate::exit::Stop;
use rustix::fs::Mode;
use rustix::process::umask;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What others may do.
const OTHERS: u32 = 0o077;

/// Makes a directory for its user alone, and has this process and its children make all files so. One that others can enter
/// is closed to them if it is empty or has a file of this name, which tells that it is ours.
pub fn directory(option: &str, path: &Path, own: &str) -> Result<(), Stop> {
    closed(path, own).map_err(|error| {
        let place = path.display();
        Stop::usage(format!(
            "cannot make the directory `{place}` its user's alone: {error}; name another one by {option} DIR"
        ))
    })
}

fn closed(path: &Path, own: &str) -> io::Result<()> {
    umask(Mode::from_raw_mode(OTHERS));
    let found = match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return std::fs::create_dir_all(path),
        found => found?,
    };
    if !found.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    if found.permissions().mode() & OTHERS == 0 {
        return Ok(());
    }
    if !path.join(own).exists() && std::fs::read_dir(path)?.next().is_some() {
        let why = "others can enter it, and it holds other files; name a new directory, or close it by `chmod 700`";
        return Err(io::Error::other(why));
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_directory_and_its_files_are_their_users_alone() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for (name, files) in [("new", None), ("empty", Some(vec![])), ("ours", Some(vec!["own", "more"]))] {
            if let Some(files) = &files {
                std::fs::create_dir(at(name)).unwrap();
                files.iter().for_each(|file| std::fs::write(at(name).join(file), "").unwrap());
                std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(0o755)).unwrap();
            }
            closed(&at(name), "own").unwrap();
            std::fs::write(at(name).join("next"), "").unwrap();
            assert_eq!((mode(&at(name)), mode(&at(name).join("next"))), (0o700, 0o600), "{name}");
        }
    }

    #[test]
    fn a_directory_of_somebody_else_stays_open_and_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let shared = place.path().join("shared");
        std::fs::create_dir(&shared).unwrap();
        std::fs::write(shared.join("theirs"), "").unwrap();
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = closed(&shared, "own").unwrap_err().to_string();
        assert!(error.contains("it holds other files"), "{error}");
        assert_eq!(mode(&shared), 0o755);
        assert!(closed(&shared.join("theirs"), "own").is_err());
    }
}
