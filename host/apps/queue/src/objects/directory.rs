//! Objects in a directory, each a file that is whole when it has its name.

use super::store::{ObjectError, ObjectStore};
use crate::random_hexadecimal;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const TEMPORARY: &str = ".new-";
/// A temporary file that is so old is of a writer that is gone.
const ABANDONED: Duration = Duration::from_secs(3600);

pub struct DirectoryStore(PathBuf);

impl DirectoryStore {
    /// Opens one, or makes one that is its user's alone.
    pub fn open(path: &Path) -> Result<DirectoryStore, ObjectError> {
        let opened = DirBuilder::new().recursive(true).mode(0o700).create(path).and_then(|()| {
            for entry in fs::read_dir(path)?.flatten() {
                let is_temporary = entry.file_name().as_encoded_bytes().starts_with(TEMPORARY.as_bytes());
                let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
                if is_temporary && age.is_some_and(|age| age > ABANDONED) {
                    let _ = fs::remove_file(entry.path());
                }
            }
            Ok(())
        });
        let address = path.display().to_string();
        opened.map_err(|error| ObjectError::Address { address, why: error.to_string() })?;
        Ok(DirectoryStore(path.to_owned()))
    }

    /// Writes a file under a name of its own, and renames it when the disk has it.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let unique = random_hexadecimal::<8>().map_err(io::Error::other)?;
        let temporary = self.0.join(format!("{TEMPORARY}{unique}"));
        // Files are as open as the directory.
        let mode = fs::metadata(&self.0)?.permissions().mode() & 0o666;
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            file.write_all(bytes)?;
            file.set_permissions(Permissions::from_mode(mode))?;
            file.sync_all()?;
            fs::rename(&temporary, self.0.join(name))?;
            File::open(&self.0)?.sync_all()
        })();
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    fn failed(&self, name: &str, error: &io::Error) -> ObjectError {
        let (object, why) = (self.described(name), error.to_string());
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ObjectError::Refused { object, why },
            _ => ObjectError::Away { object, why },
        }
    }
}

impl ObjectStore for DirectoryStore {
    fn put(&self, name: &str, bytes: &[u8], _: Instant) -> Result<(), ObjectError> {
        self.write(name, bytes).map_err(|error| self.failed(name, &error))
    }

    fn get(&self, name: &str, limit: u64, _: Instant) -> Result<Option<Vec<u8>>, ObjectError> {
        let mut bytes = vec![];
        let read = File::open(self.0.join(name)).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(name, &error)),
        }
    }

    fn remove(&self, name: &str, _: Instant) -> Result<(), ObjectError> {
        match fs::remove_file(self.0.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.failed(name, &error)),
            _ => Ok(()),
        }
    }

    fn described(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}
