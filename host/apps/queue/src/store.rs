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
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Bytes of the file that are kept in memory.
const CACHE: usize = 32 << 20;
/// Bytes that must be free on the disk for a new job, besides its own: room for the ends of those that are there.
pub const RESERVE: u64 = 8 << 20;
/// Bytes that must be free for any other change.
pub const LEAST: u64 = 1 << 20;

/// The file of a queue.
pub struct Store {
    path: PathBuf,
    /// None where it could not be opened anew.
    opened: RwLock<Option<Opened>>,
}

struct Opened {
    database: Database,
    watch: Arc<Watch>,
}

/// Why a file is of no use until it is opened anew, or at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The disk has no room.
    Room,
    /// The file is not the one that was opened, or has lost some of its end.
    Gone,
    /// Anything else.
    Other,
}

/// Looks after the file that a database is in.
#[derive(Debug)]
struct Watch {
    path: PathBuf,
    /// Device and number of the file that was opened.
    file: (u64, u64),
    /// Its length, as it was written last.
    length: AtomicU64,
    fault: Mutex<Option<Fault>>,
}

impl Watch {
    fn fault(&self) -> Option<Fault> {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first one stays, but for one after which nothing can be mended.
    fn fail(&self, fault: Fault) {
        let mut found = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_none() || fault == Fault::Gone {
            *found = Some(fault);
        }
    }

    /// Whether the file is still there under its name, and as long as it was.
    fn check(&self) -> io::Result<()> {
        let is_there = std::fs::metadata(&self.path).is_ok_and(|found| {
            (found.dev(), found.ino()) == self.file && found.len() >= self.length.load(Ordering::Acquire)
        });
        if is_there {
            return Ok(());
        }
        self.fail(Fault::Gone);
        Err(io::Error::other("the file was removed, replaced or shortened"))
    }

    /// Notes what an operation says of the disk.
    fn noted<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done {
            self.fail(match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Fault::Room,
                _ => Fault::Other,
            });
        }
        done
    }
}

/// The file that a database reads and writes.
#[derive(Debug)]
struct Watched {
    file: FileBackend,
    watch: Arc<Watch>,
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
        self.watch.check()?;
        self.watch.noted(self.file.set_len(length))?;
        self.watch.length.store(length, Ordering::Release);
        Ok(())
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

impl Opened {
    fn open(path: &Path) -> Result<Opened, QueueError> {
        let failed = |error: redb::Error| QueueError::Open { path: path.into(), source: Box::new(error) };
        let of_file = |error: io::Error| failed(error.into());
        let existed = path.exists();
        let mut options = OpenOptions::new();
        // What clients submitted is nobody else's on the machine.
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = file.map_err(of_file)?;
        let found = file.metadata().map_err(of_file)?;
        if found.mode() & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(of_file)?;
        }
        let watch = Arc::new(Watch {
            path: path.into(),
            file: (found.dev(), found.ino()),
            length: AtomicU64::new(found.len()),
            fault: Mutex::default(),
        });
        let file = FileBackend::new(file).map_err(|error| failed(error.into()))?;
        let backend = Watched { file, watch: Arc::clone(&watch) };
        let opening = || Database::builder().set_cache_size(CACHE).create_with_backend(backend);
        // A file that something else has written to may be read as anything.
        let opened =
            catch_unwind(AssertUnwindSafe(opening)).map_err(|_| QueueError::Damaged("its file cannot be read"))?;
        let database = opened.map_err(|error| match (error, watch.fault()) {
            (DatabaseError::DatabaseAlreadyOpen, _) => QueueError::InUse { path: path.into() },
            (_, Some(Fault::Room)) => QueueError::Room { path: path.into() },
            (error, _) => failed(error.into()),
        })?;
        if !existed {
            // The name of a new file is on the disk before anything is answered for.
            synced_directory(path).map_err(of_file)?;
        }
        Ok(Opened { database, watch })
    }

    /// Does something with the database, whatever it finds in its file.
    fn guarded<T>(&self, action: impl FnOnce(&Database) -> Result<T, QueueError>) -> Result<T, QueueError> {
        if self.watch.fault().is_some() {
            return Err(self.failure(None));
        }
        match catch_unwind(AssertUnwindSafe(|| action(&self.database))) {
            Ok(Err(error @ QueueError::Storage(_))) => Err(self.failure(Some(error))),
            Ok(done) => done,
            Err(_) => {
                self.watch.fail(Fault::Other);
                Err(QueueError::Damaged("its file cannot be read"))
            }
        }
    }

    fn failure(&self, error: Option<QueueError>) -> QueueError {
        let path = self.watch.path.clone();
        match self.watch.fault() {
            Some(Fault::Room) => QueueError::Room { path },
            Some(Fault::Gone) => QueueError::Gone { path },
            _ => error.unwrap_or(QueueError::Damaged("its file could not be used before")),
        }
    }
}

/// Has the names in a file's directory written to the disk.
pub fn synced_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

impl Store {
    /// Opens the file, or makes one.
    pub fn open(path: &Path) -> Result<Store, QueueError> {
        Ok(Store { path: path.into(), opened: RwLock::new(Some(Opened::open(path)?)) })
    }

    /// Looks something up. That works on a full disk, too.
    pub fn read<T>(&self, look: impl Fn(&ReadTransaction) -> Result<T, QueueError>) -> Result<T, QueueError> {
        let looked = |database: &Database| look(&database.begin_read()?);
        match self.with(looked) {
            Err(QueueError::Room { .. } | QueueError::Storage(_)) => {
                self.mend()?;
                self.with(looked)
            }
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
            return Err(QueueError::Room { path: self.path.clone() });
        }
        self.mend()?;
        self.with(|database| {
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
        if is_gone { Err(QueueError::Gone { path: self.path.clone() }) } else { Ok(()) }
    }

    fn with<T>(&self, action: impl FnOnce(&Database) -> Result<T, QueueError>) -> Result<T, QueueError> {
        match &*self.opened.read().unwrap_or_else(PoisonError::into_inner) {
            Some(opened) => opened.guarded(action),
            None => Err(QueueError::Damaged("its file could not be opened anew")),
        }
    }

    /// Opens the file anew after a fault, when nobody reads or writes it.
    fn mend(&self) -> Result<(), QueueError> {
        let is_whole = |opened: &Option<Opened>| opened.as_ref().is_some_and(|opened| opened.watch.fault().is_none());
        if is_whole(&self.opened.read().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(());
        }
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        if is_whole(&opened) {
            return Ok(());
        }
        if opened.as_ref().is_some_and(|opened| opened.watch.fault() == Some(Fault::Gone)) || !self.path.exists() {
            return Err(QueueError::Gone { path: self.path.clone() });
        }
        // Its lock goes with it.
        *opened = None;
        *opened = Some(Opened::open(&self.path)?);
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
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use redb::{ReadableTable as _, TableDefinition};
    use std::process::{Command, Stdio};

    /// What somebody does to a file, and how it is called.
    type Way<'a> = (&'a str, &'a dyn Fn(&Path));

    const TABLE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("table");
    /// Where the test that runs on a small disk finds it.
    const DISK: &str = "PASSHOST_SMALL_DISK";

    fn add(store: &Store, number: u64, bytes: &[u8]) -> Result<(), QueueError> {
        store.write(0, |transaction| {
            transaction.open_table(TABLE)?.insert(number, bytes)?;
            Ok(())
        })
    }

    fn numbers(store: &Store) -> Vec<u64> {
        let numbers = store.read(|transaction| {
            let table = transaction.open_table(TABLE)?;
            let entries = table.iter()?.map(|entry| Ok(entry?.0.value()));
            entries.collect::<Result<Vec<u64>, QueueError>>()
        });
        numbers.unwrap()
    }

    /// What runs on the small disk. Does nothing where there is none.
    #[test]
    fn on_the_small_disk() {
        let Some(disk) = std::env::var_os(DISK).map(PathBuf::from) else { return };
        let store = Store::open(&disk.join("queue")).unwrap();
        let mut kept = vec![];
        for number in 0.. {
            match add(&store, number, &[1; 300_000]) {
                Ok(()) => kept.push(number),
                Err(error) => {
                    assert!(matches!(error, QueueError::Room { .. }), "{error}");
                    break;
                }
            }
        }
        assert!(kept.len() > 3, "{kept:?}");
        // Again and again, and what was kept can be read meanwhile.
        for _ in 0..3 {
            assert_eq!(numbers(&store), kept);
            assert!(matches!(add(&store, 1000, &[1; 3_000_000]), Err(QueueError::Room { .. })));
        }
        // Room that somebody else makes.
        std::fs::remove_file(disk.join("ballast")).unwrap();
        add(&store, 1000, &[1; 300_000]).unwrap();
        drop(store);
        kept.push(1000);
        assert_eq!(numbers(&Store::open(&disk.join("queue")).unwrap()), kept);
    }

    #[test]
    fn a_disk_that_becomes_full_in_the_middle_of_a_write_is_waited_out() {
        let name = "store::tests::on_the_small_disk";
        let disk = tempfile::tempdir().unwrap();
        let script = "mount -t tmpfs -o size=16m none \"$0\" && head -c 8M /dev/zero > \"$0/ballast\" && echo mounted && exec \"$@\"";
        let mut inside = Command::new("unshare");
        inside.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(disk.path());
        inside.arg(std::env::current_exe().unwrap()).args(["--exact", name, "--nocapture"]);
        let run = inside.env(DISK, disk.path()).stdin(Stdio::null()).output();
        match run {
            Ok(run) if run.stdout.starts_with(b"mounted") => assert!(run.status.success(), "{run:?}"),
            run => eprintln!("a_disk_that_becomes_full: no small disk for this user, not tried: {run:?}"),
        }
    }

    #[test]
    fn a_file_that_is_gone_is_not_written_to() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("queue");
        let shorten = |path: &Path| OpenOptions::new().write(true).open(path).unwrap().set_len(4096).unwrap();
        let replace = |path: &Path| {
            std::fs::remove_file(path).unwrap();
            std::fs::write(path, "another").unwrap();
        };
        let ways: [Way<'_>; 3] =
            [("removed", &|path| std::fs::remove_file(path).unwrap()), ("shortened", &shorten), ("replaced", &replace)];
        for (way, harm) in ways {
            let _ = std::fs::remove_file(&path);
            let store = Store::open(&path).unwrap();
            add(&store, 1, b"one").unwrap();
            store.check().unwrap();
            harm(&path);
            let found = std::fs::read(&path).ok();
            assert!(matches!(store.check(), Err(QueueError::Gone { .. })), "{way}");
            assert!(matches!(add(&store, 2, b"two"), Err(QueueError::Gone { .. })), "{way}");
            drop(store);
            assert_eq!(std::fs::read(&path).ok(), found, "{way}");
        }
    }
}
