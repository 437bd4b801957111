//! Texts by their SHA-256, in a directory: a trajectory names them, and several may name the same.

use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a text is kept as: that of whoever has a secret that no text may hold.
pub type Clean = dyn Fn(&str) -> String + Send + Sync;

/// A directory of such texts.
#[derive(Clone)]
pub struct Objects {
    directory: PathBuf,
    clean: Option<Arc<Clean>>,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// Of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

/// Tells files apart that several threads write.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

impl Objects {
    /// That directory, made if it is not there.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn open(directory: &Path) -> io::Result<Objects> {
        std::fs::create_dir_all(directory)?;
        Ok(Objects { directory: directory.into(), clean: None })
    }

    /// Keeps what `clean` makes of each text in place of the text.
    #[must_use]
    pub fn cleaned(self, clean: Arc<Clean>) -> Objects {
        Objects { clean: Some(clean), ..self }
    }

    /// Keeps a text, whole or not at all, and returns the hash of what is kept.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn put(&self, text: &str) -> io::Result<String> {
        let cleaned = self.clean.as_ref().map(|clean| clean(text));
        let text = cleaned.as_deref().unwrap_or(text);
        let name = sha256(text.as_bytes());
        let path = self.directory.join(&name);
        if !path.exists() {
            let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
            let partial = self.directory.join(format!(".{}-{number}", std::process::id()));
            let mut file = File::create(&partial)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&partial, &path)?;
            // The name is on the disk as well, before anything says it.
            File::open(&self.directory)?.sync_all()?;
        }
        Ok(name)
    }

    /// The text with that hash.
    ///
    /// # Errors
    ///
    /// If it is not there, or is another one.
    pub fn get(&self, name: &str) -> io::Result<String> {
        let text = std::fs::read_to_string(self.directory.join(name))?;
        if sha256(text.as_bytes()) == name {
            return Ok(text);
        }
        let path = self.directory.join(name);
        Err(io::Error::other(format!("`{}` was changed: its text has another hash than its name", path.display())))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_by_its_hash_and_a_changed_one_is_not_taken_for_it() {
        let directory = tempfile::tempdir().unwrap();
        let objects = Objects::open(directory.path()).unwrap();
        let name = objects.put("a pass").unwrap();
        assert_eq!(objects.put("a pass").unwrap(), name);
        assert_eq!(objects.get(&name).unwrap(), "a pass");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        let cleaned = objects.clone().cleaned(Arc::new(|text| text.replace("secret ", "")));
        assert_eq!(cleaned.put("a secret pass").unwrap(), name);
        std::fs::write(directory.path().join(&name), "another").unwrap();
        assert!(objects.get(&name).unwrap_err().to_string().contains("was changed"));
        assert!(objects.get(&sha256(b"none")).is_err());
    }
}
