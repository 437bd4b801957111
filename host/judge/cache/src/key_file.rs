//! The secret under which entries are authenticated: 64 random bytes in a file that only this user can read.

use crate::{CacheError, TEMPORARY_PREFIX, open_private};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// One block of SHA-256, which is what HMAC takes as it is.
pub(crate) const BYTES: usize = 64;

const EXPECTED: &str = "a file of 64 bytes of this user that nobody else can read (`chmod 600`, or remove it)";

/// Reads the key, making one if there is none. Of several processes that make one at a time, one wins and all use its.
/// What one that is killed meanwhile leaves lies among the entries of `directory`, which nobody may read who may not read
/// the key, and from where it is swept.
pub(crate) fn open(path: &Path, directory: &Path) -> Result<[u8; BYTES], CacheError> {
    match read(path) {
        Err(CacheError::Unusable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            create(path, directory)?;
            read(path)
        }
        result => result,
    }
}

fn read(path: &Path) -> Result<[u8; BYTES], CacheError> {
    let mut file = open_private(path, EXPECTED)?;
    let mut contents = Vec::with_capacity(BYTES + 1);
    (&mut file)
        .take(BYTES as u64 + 1)
        .read_to_end(&mut contents)
        .map_err(|source| CacheError::Unusable { path: path.to_owned(), source })?;
    <[u8; BYTES]>::try_from(contents).map_err(|contents| CacheError::Unsafe {
        path: path.to_owned(),
        found: if contents.len() > BYTES {
            format!("has more than {BYTES} bytes")
        } else {
            format!("has {} bytes", contents.len())
        },
        expected: EXPECTED,
    })
}

fn create(path: &Path, directory: &Path) -> Result<(), CacheError> {
    let mut random = [0; BYTES + 8];
    getrandom::fill(&mut random).map_err(CacheError::Random)?;
    let (secret, unique) = random.split_at(BYTES);
    let temporary = directory.join(format!("{TEMPORARY_PREFIX}{}", base16ct::lower::encode_string(unique)));
    let written = (|| {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?.write_all(secret)?;
        // Unlike a rename, a link does not replace the key of a process that was faster.
        match fs::hard_link(&temporary, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            result => result,
        }
    })();
    // It may not exist, or be one more file to sweep; neither stops anything.
    let _ = fs::remove_file(&temporary);
    written.map_err(|source| CacheError::Unusable { path: path.to_owned(), source })
}
