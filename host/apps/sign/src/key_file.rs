//! The file of a secret key: one line, of a name for what it is and 64 hexadecimal digits.

use crate::error::KeyError;
use ed25519_dalek::SECRET_KEY_LENGTH;
use rustix::fs::OFlags;
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use zeroize::Zeroizing;

/// How the file begins; it changes with its form.
const TITLE: &str = "passhost secret key 1 ";
const BYTES: usize = TITLE.len() + 2 * SECRET_KEY_LENGTH + 1;

const PRIVATE: &str = "a file of this user that nobody else can read (`chmod 600`)";

/// Writes a new file.
pub(crate) fn write(path: &Path, seed: &[u8; SECRET_KEY_LENGTH]) -> Result<(), KeyError> {
    let mut text = Zeroizing::new([b'\n'; BYTES]);
    text[..TITLE.len()].copy_from_slice(TITLE.as_bytes());
    let digits = base16ct::lower::encode(seed, &mut text[TITLE.len()..BYTES - 1]).map(<[u8]>::len);
    debug_assert_eq!(digits, Ok(2 * SECRET_KEY_LENGTH));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = file.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => KeyError::Exists(path.into()),
        _ => KeyError::Write(path.into(), source),
    })?;
    file.write_all(text.as_ref()).and_then(|()| file.sync_all()).map_err(|source| {
        // What was made just now is half a key at most.
        let _ = fs::remove_file(path);
        KeyError::Write(path.into(), source)
    })
}

/// Reads a file that only this user can read, and that has no other name.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<[u8; SECRET_KEY_LENGTH]>, KeyError> {
    let failed = |source| KeyError::Read(path.into(), source);
    // No link is followed, no pipe waited on.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let mut file = file.map_err(|source| {
        let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
        if is_link { KeyError::Link(path.into()) } else { failed(source) }
    })?;
    if let Some((found, expected)) = unsafe_to_use(&file.metadata().map_err(failed)?) {
        return Err(KeyError::Unsafe { path: path.into(), found, expected });
    }
    let wrong = |reason| KeyError::Form(path.into(), reason);
    let mut text = Zeroizing::new([0; BYTES]);
    file.read_exact(text.as_mut()).map_err(|_| wrong("it is too short"))?;
    if file.read(&mut [0]).map_err(failed)? > 0 {
        return Err(wrong("it is too long"));
    }
    let digits = text.strip_prefix(TITLE.as_bytes()).and_then(|rest| rest.strip_suffix(b"\n"));
    let digits = digits.ok_or_else(|| wrong("it does not begin like one"))?;
    let mut seed = Zeroizing::new([0; SECRET_KEY_LENGTH]);
    base16ct::lower::decode(digits, seed.as_mut()).map_err(|_| wrong("it has other than hexadecimal digits"))?;
    Ok(seed)
}

/// What is wrong with a file, and what it should be.
fn unsafe_to_use(metadata: &Metadata) -> Option<(String, &'static str)> {
    let user = rustix::process::geteuid().as_raw();
    if !metadata.is_file() {
        Some(("is no file".into(), PRIVATE))
    } else if metadata.uid() != user {
        Some((format!("belongs to user {}, not to user {user}", metadata.uid()), PRIVATE))
    } else if metadata.mode() & 0o077 != 0 {
        Some((format!("has mode {:o}", metadata.mode() & 0o7777), PRIVATE))
    } else if metadata.nlink() != 1 {
        // Children are kept from a path, and would find the file by its other name.
        Some((format!("has {} names", metadata.nlink()), "a file with one name"))
    } else {
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn a_key_is_written_once_and_for_its_user_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        write(&path, &[7; 32]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        assert_eq!(*read(&path).unwrap(), [7; 32]);
        assert!(matches!(write(&path, &[8; 32]), Err(KeyError::Exists(_))));
        assert_eq!(*read(&path).unwrap(), [7; 32]);
        let link = directory.path().join("dangling");
        symlink(directory.path().join("elsewhere"), &link).unwrap();
        assert!(matches!(write(&link, &[8; 32]), Err(KeyError::Exists(_))));
        assert!(matches!(write(&directory.path().join("none/key"), &[8; 32]), Err(KeyError::Write(..))));
    }

    #[test]
    fn a_key_that_others_reach_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let within = |name: &str| directory.path().join(name);
        let path = within("key");
        let said = |path: &Path| read(path).unwrap_err().to_string();
        write(&path, &[7; 32]).unwrap();
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(
                said(&path).contains(&format!("has mode {mode:o}; expected a file of this user")),
                "{}",
                said(&path)
            );
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&path, within("link")).unwrap();
        assert!(said(&within("link")).contains("is a link"), "{}", said(&within("link")));
        fs::hard_link(&path, within("other")).unwrap();
        assert!(said(&path).contains("has 2 names"), "{}", said(&path));
        assert!(said(directory.path()).contains("is no file"), "{}", said(directory.path()));
        assert!(said(&within("none")).contains("`passhost keygen FILE` makes one"), "{}", said(&within("none")));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let good = format!("{TITLE}{}\n", "07".repeat(32));
        for (bad, reason) in [
            (String::new(), "too short"),
            (good[1..].to_owned(), "too short"),
            (format!("{good}x"), "too long"),
            (good.replace("secret", "public"), "does not begin like one"),
            (good.replace("07", "0G"), "hexadecimal"),
            (good.replace('\n', "0"), "does not begin like one"),
        ] {
            let path = tempfile::NamedTempFile::new_in(directory.path()).unwrap().into_temp_path();
            fs::write(&path, &bad).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains("0707"), "{bad}: {error}");
        }
    }
}
