//! Removing what somebody else made: however deep it is, and whatever its modes are.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Removes a directory with all that is in it, which nobody changes any more. What lies in a directory of it is moved up
/// before that is removed, so that neither a stack nor open files grow with the depth.
///
/// # Errors
///
/// If the system refuses. Then something is left.
pub fn remove_all(directory: &Path) -> io::Result<()> {
    let mut moved = 0u64;
    loop {
        let mut is_empty = true;
        let entries = match fs::read_dir(directory) {
            // Whoever watched the compiler was there before.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            is_empty = false;
            if entry.file_type()?.is_dir() {
                empty(&entry.path(), directory, &mut moved)?;
                fs::remove_dir(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        if is_empty {
            return fs::remove_dir(directory);
        }
    }
}

/// Removes the files of a directory, and moves its directories up.
fn empty(directory: &Path, up: &Path, moved: &mut u64) -> io::Result<()> {
    // One that may not be read or changed as it is.
    fs::set_permissions(directory, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            fs::remove_file(entry.path())?;
            continue;
        }
        fs::set_permissions(entry.path(), Permissions::from_mode(0o700))?;
        loop {
            *moved += 1;
            let to = up.join(format!("moved-{moved}"));
            match fs::symlink_metadata(&to) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::rename(entry.path(), to)?;
                    break;
                }
                // A name that the directory has already.
                Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_is_deep_goes_as_well() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().join("top");
        fs::create_dir_all(top.join("moved-1/moved-2/file")).unwrap();
        fs::write(top.join("moved-1/text"), "x").unwrap();
        // Deeper than there are open files, or a path has bytes.
        let mut inner = place.path().join("inner");
        fs::create_dir(&inner).unwrap();
        for _ in 0..3000 {
            let outer = place.path().join("outer");
            fs::create_dir(&outer).unwrap();
            fs::rename(&inner, outer.join("d")).unwrap();
            fs::rename(&outer, &inner).unwrap();
        }
        fs::rename(&inner, top.join("deep")).unwrap();
        inner = top.join("deep");
        fs::set_permissions(&inner, Permissions::from_mode(0o100)).unwrap();
        remove_all(&top).unwrap();
        assert!(!top.exists());
        remove_all(&top).unwrap();
    }
}
