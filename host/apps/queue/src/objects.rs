//! Bytes by their SHA-256, outside the database: in a directory that machines share, or in a bucket of S3.

mod directory;
mod s3;
mod signature;
mod store;

use crate::record::sha256;
use directory::DirectoryStore;
use passhost_cache::{Cache, CacheKey};
use s3::S3Store;
use std::path::Path;
use std::time::{Duration, Instant};
pub use store::ObjectError;
use store::ObjectStore;

/// What lies in every store: one that has it not is another one, or was emptied.
const MARK: &[u8] = b"passhost objects 1\n";
/// How long the start waits.
const AT_START: Duration = Duration::from_secs(15);

/// An object store, and a cache of what came from it.
pub struct Objects {
    store: Box<dyn ObjectStore>,
    cache: Option<Cache>,
}

impl Objects {
    /// Opens `s3://BUCKET/PREFIX`, with the environment's variables, or a directory, which is made if it is not there. Whether it
    /// can be written and read is found out at once.
    ///
    /// # Errors
    ///
    /// If the address is none, or the store does not do that.
    pub fn open(address: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Objects, ObjectError> {
        let store: Box<dyn ObjectStore> = match address.split_once("://") {
            Some(("s3", place)) => Box::new(S3Store::new(address, place, variable)?),
            Some(_) => return Err(ObjectError::Address { address: address.to_owned(), why: "unknown scheme".into() }),
            None => Box::new(DirectoryStore::open(Path::new(address))?),
        };
        let (objects, until) = (Objects { store, cache: None }, Instant::now() + AT_START);
        // Without the right to list a bucket, S3 does not tell what is missing from what is forbidden.
        objects.store.get(&sha256(b"nothing has this name"), 1, until)?;
        objects.store.put(&sha256(MARK), MARK, until)?;
        objects.check_mark(until)?;
        Ok(objects)
    }

    /// The same with a cache of what comes from it.
    #[must_use]
    pub fn with_cache(self, cache: Option<Cache>) -> Objects {
        Objects { cache, ..self }
    }

    /// Keeps bytes under their hash.
    ///
    /// # Errors
    ///
    /// If the store does not keep them.
    pub fn put(&self, hash: &str, bytes: &[u8], until: Instant) -> Result<(), ObjectError> {
        self.store.put(self.name(hash)?, bytes, until)
    }

    /// The bytes that have this hash, of the cache or the store, if they are not more than so many.
    ///
    /// # Errors
    ///
    /// If the store has not got them, has others under this name, or does not answer.
    pub fn get(&self, hash: &str, limit: u64, until: Instant) -> Result<Vec<u8>, ObjectError> {
        let (name, key) = (self.name(hash)?, CacheKey::of(&[b"object", hash.as_bytes()]));
        let cached = self.cache.as_ref().and_then(|cache| cache.get(&key));
        if let Some(bytes) = cached.filter(|bytes| sha256(bytes) == hash) {
            return Ok(bytes);
        }
        let Some(bytes) = self.store.get(name, limit, until)? else {
            self.check_mark(until)?;
            return Err(ObjectError::Missing(self.store.described(name)));
        };
        if bytes.len() as u64 > limit || sha256(&bytes) != hash {
            return Err(ObjectError::Changed(self.store.described(name)));
        }
        self.cache.as_ref().map(|cache| cache.put(&key, &bytes));
        Ok(bytes)
    }

    /// Removes bytes, if they are there.
    ///
    /// # Errors
    ///
    /// If the store does not do that.
    pub fn remove(&self, hash: &str, until: Instant) -> Result<(), ObjectError> {
        self.store.remove(self.name(hash)?, until)
    }

    /// Nothing but a hash becomes part of a path.
    fn name<'a>(&self, hash: &'a str) -> Result<&'a str, ObjectError> {
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_hash { Ok(hash) } else { Err(ObjectError::Missing("whose name is no hash".to_owned())) }
    }

    fn check_mark(&self, until: Instant) -> Result<(), ObjectError> {
        let name = sha256(MARK);
        match self.store.get(&name, MARK.len() as u64, until)?.as_deref() {
            Some(MARK) => Ok(()),
            _ => {
                let why = "it lost what marks it as a store of passhost".to_owned();
                Err(ObjectError::Away { object: self.store.described(&name), why })
            }
        }
    }
}
