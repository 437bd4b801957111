//! The file of a queue, as long as it is there. A disk without room is waited out: the file is opened anew when there is
//! room, and read meanwhile. A file that was removed, replaced or shortened is not written to any more.

use crate::QueueError;
use redb::backends::FileBackend;
use redb::{
    BackendError, Database, DatabaseError, ReadTransaction, ReadableDatabase as _, StorageBackend, WriteTransaction,
};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Bound;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Bytes of the file that are kept in memory.
const CACHE: usize = 32 << 20;
/// Bytes that must be free on the disk for a new job, besides its own: room for the ends of those that are there.
pub const RESERVE: u64 = 8 << 20;
/// Bytes that must be free for any other change.
pub const LEAST: u64 = 1 << 20;

/// The file of a queue.
pub struct QueueStore {
    path: PathBuf,
    /// Device and number of the file, which stays the same one when it is opened anew.
    file: (u64, u64),
    /// None where it could not be opened anew.
    opened: RwLock<Option<OpenStore>>,
}

struct OpenStore {
    database: Database,
    watch: Arc<FileWatch>,
}

/// Why a file is of no use until it is opened anew, or at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoreFault {
    /// The disk has no room.
    Room,
    /// The file is not the one that was opened, or has lost some of its end.
    Gone,
    /// Anything else.
    Other,
}

/// Looks after the file that a database is in.
#[derive(Debug)]
struct FileWatch {
    path: PathBuf,
    /// Device and number of the file that was opened.
    file: (u64, u64),
    /// Its length, as it was written last. It is held while the length changes and while somebody looks: else the length of
    /// before could be compared with that of after.
    length: Mutex<u64>,
    fault: Mutex<Option<StoreFault>>,
}

impl FileWatch {
    fn fault(&self) -> Option<StoreFault> {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first one stays, but for one after which nothing can be mended.
    fn fail(&self, fault: StoreFault) {
        let mut found = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_none() || fault == StoreFault::Gone {
            *found = Some(fault);
        }
    }

    /// Whether the file is still there under its name, and as long as it was.
    fn check(&self) -> io::Result<()> {
        self.check_length(*self.length.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the length of the file, if it is still there.
    fn set_length(&self, new: u64, set: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut length = self.length.lock().unwrap_or_else(PoisonError::into_inner);
        self.check_length(*length)?;
        self.noted(set())?;
        *length = new;
        Ok(())
    }

    fn check_length(&self, length: u64) -> io::Result<()> {
        let found = std::fs::metadata(&self.path);
        let is_there = found.is_ok_and(|found| (found.dev(), found.ino()) == self.file && found.len() >= length);
        if is_there {
            return Ok(());
        }
        self.fail(StoreFault::Gone);
        Err(io::Error::other("the file was removed, replaced or shortened"))
    }

    /// Notes what an operation says of the disk.
    fn noted<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done {
            self.fail(match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => StoreFault::Room,
                _ => StoreFault::Other,
            });
        }
        done
    }
}

/// The file that a database reads and writes.
#[derive(Debug)]
struct Watched {
    file: FileBackend,
    watch: Arc<FileWatch>,
}

impl StorageBackend for Watched {
    fn len(&self) -> io::Result<u64> {
        self.watch.noted(self.file.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let read = self.file.read(offset, out);
        if read.is_err() {
            self.watch.check()?;
        }
        self.watch.noted(read)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.watch.set_length(length, || self.file.set_len(length))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.watch.noted(self.file.sync_data())?;
        // What is not under its name is not kept, whatever the disk says.
        self.watch.check()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.watch.check()?;
        self.watch.noted(self.file.write(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

impl OpenStore {
    /// Opens a file, or makes one; of a file that was open before, the same one alone.
    fn open(path: &Path, known: Option<(u64, u64)>) -> Result<OpenStore, QueueError> {
        let failed = |error: redb::Error| QueueError::Open { path: path.into(), source: Box::new(error) };
        let of_file = |error: io::Error| failed(error.into());
        let existed = path.exists();
        let mut options = OpenOptions::new();
        // What clients submitted is nobody else's on the machine.
        let file = options.read(true).write(true).create(known.is_none()).truncate(false).mode(0o600).open(path);
        let gone = || QueueError::Gone(path.into());
        let is_gone = |error: &io::Error| known.is_some() && error.kind() == ErrorKind::NotFound;
        let file = file.map_err(|error| if is_gone(&error) { gone() } else { of_file(error) })?;
        let found = file.metadata().map_err(of_file)?;
        if known.is_some_and(|known| known != (found.dev(), found.ino())) {
            return Err(gone());
        }
        if found.mode() & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(of_file)?;
        }
        let watch = Arc::new(FileWatch {
            path: path.into(),
            file: (found.dev(), found.ino()),
            length: Mutex::new(found.len()),
            fault: Mutex::default(),
        });
        let file = FileBackend::new(file).map_err(|error| failed(error.into()))?;
        let backend = Watched { file, watch: Arc::clone(&watch) };
        let opening = || Database::builder().set_cache_size(CACHE).create_with_backend(backend);
        // A file that something else has written to may be read as anything.
        let opened =
            catch_unwind(AssertUnwindSafe(opening)).map_err(|_| QueueError::Damaged("its file cannot be read"))?;
        let database = opened.map_err(|error| match (error, watch.fault()) {
            (DatabaseError::DatabaseAlreadyOpen, _) => QueueError::InUse(path.into()),
            (_, Some(StoreFault::Room)) => QueueError::Room(path.into()),
            (error, _) => failed(error.into()),
        })?;
        if !existed {
            // The name of a new file is on the disk before anything is answered for.
            synced_directory(path).map_err(of_file)?;
        }
        Ok(OpenStore { database, watch })
    }

    /// Does something with the database, whatever it finds in its file, and notes what fault a panic is.
    fn guarded<T>(
        &self,
        panic: Option<StoreFault>,
        action: impl FnOnce(&Database) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        match catch_unwind(AssertUnwindSafe(|| action(&self.database))) {
            Ok(Err(error @ QueueError::Storage(_))) => Err(self.failure(error)),
            Ok(done) => done,
            Err(_) => {
                panic.into_iter().for_each(|fault| self.watch.fail(fault));
                Err(QueueError::Damaged("its file cannot be read"))
            }
        }
    }

    fn failure(&self, error: QueueError) -> QueueError {
        let path = self.watch.path.clone();
        match self.watch.fault() {
            Some(StoreFault::Room) => QueueError::Room(path),
            Some(StoreFault::Gone) => QueueError::Gone(path),
            _ => error,
        }
    }
}

/// Has the names in a file's directory written to the disk.
pub fn synced_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

impl QueueStore {
    /// Opens the file, or makes one.
    pub fn open(path: &Path) -> Result<QueueStore, QueueError> {
        let opened = OpenStore::open(path, None)?;
        Ok(QueueStore { path: path.into(), file: opened.watch.file, opened: RwLock::new(Some(opened)) })
    }

    /// Looks something up. That works on a full disk, too.
    pub fn read<T>(&self, look: impl Fn(&ReadTransaction) -> Result<T, QueueError>) -> Result<T, QueueError> {
        let looked = |database: &Database| look(&database.begin_read()?);
        // What cannot be read harms nothing else, and is in the file that would be opened anew as well.
        match self.with(None, looked) {
            Err(QueueError::Room(_) | QueueError::Storage(_)) => self.with(None, looked),
            looked => looked,
        }
    }

    /// Makes a change whole, or none, on a disk that has so many bytes free.
    pub fn write<T>(
        &self,
        free: u64,
        change: impl FnOnce(&WriteTransaction) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        if self.free().is_some_and(|found| found < free) {
            return Err(QueueError::Room(self.path.clone()));
        }
        self.with(Some(StoreFault::Other), |database| {
            let mut transaction = database.begin_write()?;
            // After a crash the file is used at once, and what is damaged in it harms no other job: nothing else is read.
            transaction.set_quick_repair(true);
            // The transaction that is dropped in place of being committed has changed nothing.
            let changed = change(&transaction)?;
            transaction.commit()?;
            Ok(changed)
        })
    }

    /// Whether the file is still there.
    pub fn check(&self) -> Result<(), QueueError> {
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        let is_gone = opened.as_ref().is_some_and(|opened| opened.watch.check().is_err());
        if is_gone { Err(QueueError::Gone(self.path.clone())) } else { Ok(()) }
    }

    /// Does something with the database, which is opened anew after a fault.
    fn with<T>(
        &self,
        panic: Option<StoreFault>,
        action: impl FnOnce(&Database) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        loop {
            let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(opened) = opened.as_ref().filter(|opened| opened.watch.fault().is_none()) {
                return opened.guarded(panic, action);
            }
            drop(opened);
            self.mend()?;
        }
    }

    /// Opens the file anew after a fault, when nobody reads or writes it.
    fn mend(&self) -> Result<(), QueueError> {
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        match opened.as_ref().map(|opened| opened.watch.fault()) {
            Some(None) => return Ok(()),
            Some(Some(StoreFault::Gone)) => return Err(QueueError::Gone(self.path.clone())),
            Some(Some(StoreFault::Room | StoreFault::Other)) | None => {}
        }
        // Its lock goes with it.
        *opened = None;
        *opened = Some(OpenStore::open(&self.path, Some(self.file))?);
        Ok(())
    }

    /// Bytes that are free on the disk, where it says so.
    fn free(&self) -> Option<u64> {
        free(&self.path)
    }
}

/// Bytes that are free on the disk of a path, where it says so.
pub fn free(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests;
