//! A directory of files that only this user's own programs could have written.
//!
//! Machine code from a cache is executed, so finding it under the right name proves nothing: a name can be computed by
//! anyone. Each entry carries an HMAC-SHA256 over its name and contents under a key of this user, kept beside the
//! directory in a file that nobody else can read. An entry that does not verify is no entry: it is removed, and made
//! again by whoever asked.
//!
//! Losing an entry costs time and nothing else. So only [`Cache::open`] reports errors; later trouble, such as a full
//! disk, looks like an empty cache.

mod key_file;
pub mod user;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes of all entries together, unless [`Cache::with_capacity`] says otherwise.
pub const DEFAULT_CAPACITY: u64 = 1 << 30;

const TAG_BYTES: usize = 32;
/// Separates these tags from any other use of the same key, and changes with the file format.
const TAG_DOMAIN: &[u8] = b"passhost cache entry 1";
/// A temporary file this old belongs to a writer that died.
const ABANDONED: Duration = Duration::from_secs(3600);
const TEMPORARY_PREFIX: &str = ".new-";

/// Why there is no cache. Whoever gets this goes on without one.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// A directory or file is missing and cannot be made, or cannot be used.
    #[error("cannot use `{}` as a cache: {source}; make it writable, or set XDG_CACHE_HOME to another directory", path.display())]
    Unusable {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Someone else could write there, or read the key.
    #[error("`{}` {found}, so its contents cannot be trusted; expected {expected}", path.display())]
    Unsafe {
        /// The directory or file.
        path: PathBuf,
        /// What is wrong with it.
        found: String,
        /// What it should be, as a command where there is one.
        expected: &'static str,
    },
    /// The system gives no random bytes for a new key.
    #[error("the system gives no random bytes for the cache key: {0}")]
    Random(getrandom::Error),
}

/// The name of an entry: a hash of everything its contents depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// From the parts that the contents depend on. Each is hashed with its length, so that moving a byte from one part
    /// to the next gives another key.
    pub fn of(parts: &[&[u8]]) -> CacheKey {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        CacheKey(hash.finalize().into())
    }

    fn file_name(&self) -> String {
        base16ct::lower::encode_string(&self.0)
    }
}

/// An open cache. Several processes may use one directory at a time.
pub struct Cache {
    directory: PathBuf,
    secret: [u8; key_file::BYTES],
    capacity: u64,
}

impl Cache {
    /// Opens the cache in `directory`, making the directory (mode 0700) and the key if they are missing. The key is the
    /// file beside it that is called like the directory with `.key` appended (mode 0600).
    pub fn open(directory: &Path) -> Result<Cache, CacheError> {
        let unusable = |source| CacheError::Unusable { path: directory.to_owned(), source };
        if let Some(parent) = directory.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(unusable)?;
        }
        match DirBuilder::new().mode(0o700).create(directory) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unusable(error)),
        }
        check_private(
            directory,
            &fs::symlink_metadata(directory).map_err(unusable)?,
            fs::Metadata::is_dir,
            "a directory of this user that nobody else can use (`chmod 700`)",
        )?;
        rustix::fs::access(directory, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)
            .map_err(|error| unusable(error.into()))?;
        let secret = key_file::open(&key_path(directory), directory)?;
        Ok(Cache { directory: directory.to_owned(), secret, capacity: DEFAULT_CAPACITY })
    }

    /// What nobody else may read: the directory and the key.
    pub fn paths(&self) -> [PathBuf; 2] {
        Cache::paths_of(&self.directory)
    }

    /// The same of the cache in a directory, whether it is there yet or not.
    pub fn paths_of(directory: &Path) -> [PathBuf; 2] {
        [directory.to_owned(), key_path(directory)]
    }

    /// The same cache, holding at most `bytes` after each [`Cache::put`].
    pub fn with_capacity(self, bytes: u64) -> Cache {
        Cache { capacity: bytes, ..self }
    }

    /// What [`Cache::put`] stored under `key`, if it is still there and unchanged.
    pub fn get(&self, key: &CacheKey) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut file = OpenOptions::new().read(true).custom_flags(libc_flags()).open(&path).ok()?;
        let length = file.metadata().ok().filter(|metadata| metadata.is_file())?.len();
        if length > self.capacity.saturating_add(TAG_BYTES as u64) {
            return None;
        }
        let mut contents = Vec::with_capacity(usize::try_from(length).ok()?);
        (&mut file).take(length).read_to_end(&mut contents).ok()?;
        let authentic = contents
            .split_at_checked(TAG_BYTES)
            .is_some_and(|(tag, data)| self.mac(key, data).verify_slice(tag).is_ok());
        if !authentic {
            // Best effort: it is refused each time it is met.
            let _ = fs::remove_file(&path);
            return None;
        }
        // The time of the last use decides what is dropped when the cache is full.
        let _ = file.set_modified(SystemTime::now());
        contents.drain(..TAG_BYTES);
        Some(contents)
    }

    /// Stores `data` under `key` and drops the entries that were not used for the longest time if the cache is over
    /// its capacity. Says whether it was stored.
    pub fn put(&self, key: &CacheKey, data: &[u8]) -> bool {
        if data.len() as u64 > self.capacity {
            return false;
        }
        let stored = self.write(key, data).is_ok();
        self.shrink();
        stored
    }

    fn write(&self, key: &CacheKey, data: &[u8]) -> io::Result<()> {
        // Written under a name of its own and renamed: a reader sees an old entry, a whole new one, or none.
        let mut unique = [0; 8];
        getrandom::fill(&mut unique).map_err(io::Error::other)?;
        let temporary = self.directory.join(format!("{TEMPORARY_PREFIX}{:016x}", u64::from_le_bytes(unique)));
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            file.write_all(&self.mac(key, data).finalize().into_bytes())?;
            file.write_all(data)?;
            fs::rename(&temporary, self.path(key))
        })();
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    fn shrink(&self) {
        let Ok(listing) = fs::read_dir(&self.directory) else { return };
        let now = SystemTime::now();
        let mut entries = vec![];
        for entry in listing.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let Ok(used) = metadata.modified() else { continue };
            if entry.file_name().as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()) {
                if now.duration_since(used).is_ok_and(|age| age > ABANDONED) {
                    let _ = fs::remove_file(entry.path());
                }
            } else {
                entries.push((used, metadata.len(), entry.path()));
            }
        }
        let mut total: u64 = entries.iter().map(|(_, length, _)| length).sum();
        entries.sort();
        for (_, length, path) in entries {
            if total <= self.capacity {
                return;
            }
            if fs::remove_file(path).is_ok() {
                total -= length;
            }
        }
    }

    fn mac(&self, key: &CacheKey, data: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.secret.into());
        mac.update(TAG_DOMAIN);
        // The name is covered too, so that one authentic entry cannot stand in for another.
        mac.update(&key.0);
        mac.update(data);
        mac
    }

    fn path(&self, key: &CacheKey) -> PathBuf {
        self.directory.join(key.file_name())
    }
}

impl fmt::Debug for Cache {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("directory", &self.directory).field("capacity", &self.capacity).finish()
    }
}

/// The key of the cache in a directory.
fn key_path(directory: &Path) -> PathBuf {
    let mut path = directory.as_os_str().to_owned();
    path.push(".key");
    path.into()
}

/// Flags for opening what another process may have put there: no following of links, no waiting on pipes.
fn libc_flags() -> i32 {
    (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed()
}

/// Checks that `path` is what it should be, belongs to this user, and is closed to everyone else.
fn check_private(
    path: &Path,
    metadata: &fs::Metadata,
    right_kind: impl Fn(&fs::Metadata) -> bool,
    expected: &'static str,
) -> Result<(), CacheError> {
    let user = rustix::process::geteuid().as_raw();
    let found = if !right_kind(metadata) {
        "is something else".to_owned()
    } else if metadata.uid() != user {
        format!("belongs to user {}, not to user {user}", metadata.uid())
    } else if metadata.mode() & 0o077 != 0 {
        format!("has mode {:o}", metadata.mode() & 0o7777)
    } else {
        return Ok(());
    };
    Err(CacheError::Unsafe { path: path.to_owned(), found, expected })
}

/// Opens a file for reading that must be private to this user.
fn open_private(path: &Path, expected: &'static str) -> Result<File, CacheError> {
    let unusable = |source| CacheError::Unusable { path: path.to_owned(), source };
    let file = OpenOptions::new().read(true).custom_flags(libc_flags()).open(path).map_err(unusable)?;
    check_private(path, &file.metadata().map_err(unusable)?, fs::Metadata::is_file, expected)?;
    Ok(file)
}
