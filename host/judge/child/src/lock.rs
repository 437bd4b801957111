//! One at a time: who times on a device has it for itself, among all evaluations of this machine that see the same
//! temporary directory.

use passhost_result::untrusted::one_line;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How an evaluation waits for a lock.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// How long in all while another user has it, who may hold it for ever.
    patience: Duration,
    /// How often it looks who has it.
    look: Duration,
    /// How often it tries.
    pause: Duration,
}

const PACE: Pace =
    Pace { patience: Duration::from_secs(600), look: Duration::from_secs(5), pause: Duration::from_millis(20) };

/// A file that is locked for as long as this lives. The system unlocks it when the process ends, however that comes.
///
/// Closing alone would leave it locked for as long as a child that is being started has a copy of it.
#[derive(Debug)]
pub struct LockedFile(File);

impl LockedFile {
    /// Locks a file that nobody else has locked.
    ///
    /// # Errors
    ///
    /// If somebody has, or it cannot be locked.
    pub fn try_new(file: File) -> Result<LockedFile, TryLockError> {
        file.try_lock()?;
        Ok(LockedFile(file))
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

/// Work on a device, for as long as this lives.
#[derive(Debug)]
pub struct DeviceGuard(#[allow(dead_code, reason = "held, not used")] Option<LockedFile>);

/// Whether others may work on the device at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// They may, as long as nobody times.
    Shared,
    /// It is timed.
    Alone,
}

/// Who has the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// An evaluation of this user.
    Own,
    /// Another user, who may never let it go.
    Other {
        /// The file that is locked.
        path: PathBuf,
        /// The number of the user.
        user: u32,
    },
}

impl DeviceGuard {
    /// Waits for a turn on the device of this name, and tells who has it. It goes on without one where another user holds the
    /// lock for too long: what disturbs the measurement is seen in it.
    ///
    /// Where there is no file to lock, there is no waiting either: what then disturbs a measurement is seen in it.
    pub fn take(id: &str, how: Use, tell: impl FnMut(&Holder)) -> DeviceGuard {
        let own = rustix::process::geteuid().as_raw();
        DeviceGuard::take_at(&path(&std::env::temp_dir(), id), how, [own, 0], PACE, tell)
    }

    /// The same with a file, and users who are waited for as long as it takes. Who times waits at the head of a queue, which
    /// is a lock too: those who come later and share the device wait behind it.
    fn take_at(path: &Path, how: Use, trusted: [u32; 2], pace: Pace, mut tell: impl FnMut(&Holder)) -> DeviceGuard {
        let pace = Pace { patience: pace.patience / 2, ..pace };
        let _queue = DeviceGuard::locked(&path.with_extension("queue"), how, trusted, pace, &mut tell);
        DeviceGuard::locked(path, how, trusted, pace, tell)
    }

    fn locked(path: &Path, how: Use, trusted: [u32; 2], pace: Pace, tell: impl FnMut(&Holder)) -> DeviceGuard {
        let Some(file) = open(path) else { return DeviceGuard(None) };
        let tried = || match how {
            Use::Shared => file.try_lock_shared(),
            Use::Alone => file.try_lock(),
        };
        match tried() {
            Ok(()) => return DeviceGuard(Some(LockedFile(file))),
            Err(TryLockError::Error(_)) => return DeviceGuard(None),
            Err(TryLockError::WouldBlock) => {}
        }
        let holder = || match users(&file).into_iter().find(|user| !trusted.contains(user)) {
            Some(user) => Holder::Other { path: path.into(), user },
            None => Holder::Own,
        };
        let is_locked = waited(pace, tried, holder, tell);
        DeviceGuard(is_locked.then(|| LockedFile(file)))
    }
}

/// Waits for a lock that somebody has, who may be another one each time that somebody looks; whether it was had.
fn waited(
    pace: Pace,
    mut tried: impl FnMut() -> Result<(), TryLockError>,
    mut holder: impl FnMut() -> Holder,
    mut tell: impl FnMut(&Holder),
) -> bool {
    let mut now = holder();
    tell(&now);
    let (mut for_others, mut looked) = (Duration::ZERO, Instant::now());
    loop {
        let since = looked.elapsed();
        let of_others = if now == Holder::Own { Duration::ZERO } else { since };
        if now != Holder::Own && for_others + of_others >= pace.patience {
            return false;
        }
        if since >= pace.look {
            (for_others, looked) = (for_others + of_others, Instant::now());
            let found = holder();
            if found != now {
                tell(&found);
                now = found;
            }
        }
        sleep(pace.pause);
        match tried() {
            Ok(()) => return true,
            Err(TryLockError::Error(_)) => return false,
            Err(TryLockError::WouldBlock) => {}
        }
    }
}

/// Users whose processes have a file locked, as the kernel lists them; where it does not, whoever owns the file.
fn users(file: &File) -> Vec<u32> {
    let Ok(found) = file.metadata() else { return vec![] };
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let user = |process: &str| Some(std::fs::metadata(Path::new("/proc").join(process)).ok()?.uid());
    let users: Vec<u32> = processes(&locks, found.dev(), found.ino()).filter_map(user).collect();
    if users.is_empty() { vec![found.uid()] } else { users }
}

/// Processes that have a file of this device and number locked, in the kernel's list of all locks.
fn processes(locks: &str, device: u64, number: u64) -> impl Iterator<Item = &str> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let file = format!("{major:02x}:{minor:02x}:{number}");
    locks.lines().filter_map(move |line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, place, ..] = words[..] else { return None };
        (place == file).then_some(process)
    })
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holder::Own => f.write_str("another evaluation has the device"),
            Holder::Other { path, user } => {
                write!(f, "user {user} has `{}` locked", one_line(&path.display().to_string(), 200))
            }
        }
    }
}

/// Makes the file, or opens that of another user, which cannot be written and need not be.
fn open(path: &Path) -> Option<File> {
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32;
    let made = OpenOptions::new().write(true).create(true).truncate(false).mode(0o644).custom_flags(flags).open(path);
    let file = made.or_else(|_| OpenOptions::new().read(true).custom_flags(flags).open(path)).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

fn path(directory: &Path, id: &str) -> PathBuf {
    let id: String = id.chars().filter(|char| char.is_ascii_alphanumeric() || *char == '-').take(64).collect();
    directory.join(format!("passhost-{id}.lock"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const IMPATIENT: Pace = Pace { patience: Duration::ZERO, ..PACE };

    fn own() -> [u32; 2] {
        [rustix::process::geteuid().as_raw(); 2]
    }

    #[test]
    fn another_user_who_has_the_lock_after_ones_own_is_not_waited_for_without_end() {
        let other = |user| Holder::Other { path: "lock".into(), user };
        let always = Pace { look: Duration::ZERO, pause: Duration::ZERO, ..PACE };
        // Who has it, one after the other, and how often it is tried until it is had.
        let wait = |pace, holders: &[Holder], tries: usize| {
            let (mut holders, mut tries, mut told) = (holders.iter().cycle(), 0..tries, vec![]);
            let tried = || tries.next().map_or(Ok(()), |_| Err(TryLockError::WouldBlock));
            let holder = || holders.next().unwrap().clone();
            (waited(pace, tried, holder, |holder| told.push(holder.to_string())), told)
        };
        let impatient = Pace { patience: Duration::ZERO, ..always };
        let (own, seven) = ("another evaluation has the device", "user 7 has `lock` locked");
        let (is_had, told) = wait(impatient, &[Holder::Own, Holder::Own, other(7)], usize::MAX);
        assert!(!is_had);
        assert_eq!(told, [own, seven]);
        assert_eq!(wait(impatient, &[Holder::Own], 1000), (true, vec![own.to_owned()]), "one's own is waited for");
        let (is_had, told) = wait(always, &[other(7), Holder::Own], 2);
        assert_eq!((is_had, told.len()), (true, 4), "{told:?}");
    }

    #[test]
    fn a_lock_of_another_device_is_not_that_of_a_file_with_the_same_number() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 08:01:77 0 EOF
2: FLOCK  ADVISORY  WRITE 12 08:01:77 0 EOF
3: FLOCK  ADVISORY  READ 13 00:2a:77 0 EOF
4: FLOCK  ADVISORY  READ 14 08:01:177 0 EOF
5: FLOCK  ADVISORY  READ 15 08:01:77 0 EOF
";
        let found = |major, minor| processes(locks, rustix::fs::makedev(major, minor), 77).collect::<Vec<_>>();
        assert_eq!((found(8, 1), found(0, 42), found(8, 2)), (vec!["12", "15"], vec!["13"], vec![]));
    }

    #[test]
    fn another_user_is_named_and_not_waited_for_without_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = path(directory.path(), "cpu");
        let held = DeviceGuard::take_at(&path, Use::Alone, own(), PACE, |_| unreachable!("nobody has it"));
        let user = own()[0];
        let mut all = vec![];
        let turn =
            DeviceGuard::take_at(&path, Use::Shared, [user + 1; 2], IMPATIENT, |holder| all.push(holder.to_string()));
        let locked = format!("user {user} has `{}` locked", path.display());
        assert_eq!(all, [locked]);
        assert!(turn.0.is_none());
        drop(held);
        let turn = DeviceGuard::take_at(&path, Use::Alone, [user + 1; 2], PACE, |_| unreachable!("it is free"));
        assert!(turn.0.is_some());
    }

    #[test]
    fn whoever_times_waits_for_the_others_and_they_for_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = path(directory.path(), "GPU-1/2");
        assert!(path.ends_with("passhost-GPU-12.lock"));
        let nobody = |_: &Holder| unreachable!("nobody has it");
        let take = |how| DeviceGuard::take_at(&path, how, own(), PACE, nobody);
        let shared = [take(Use::Shared), take(Use::Shared)];
        let (waits, waiting) = channel();
        let (has, got) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let told = |holder: &Holder| waits.send(*holder == Holder::Own).unwrap();
                let turn = DeviceGuard::take_at(&path, Use::Alone, own(), IMPATIENT, told);
                has.send(()).unwrap();
                drop(turn);
            });
            assert!(waiting.recv().unwrap(), "it waits for its own user");
            assert!(got.try_recv().is_err());
            drop(shared);
            got.recv().unwrap();
        });
    }

    #[test]
    fn who_times_comes_before_those_who_come_later() {
        let directory = tempfile::tempdir().unwrap();
        let path = path(directory.path(), "cpu");
        let first = DeviceGuard::take_at(&path, Use::Shared, own(), PACE, |_| unreachable!("nobody has it"));
        let (has, order) = channel();
        let (waits, waiting) = channel();
        std::thread::scope(|scope| {
            let begin = |how| {
                let (path, has, waits) = (&path, has.clone(), waits.clone());
                scope.spawn(move || {
                    let _guard = DeviceGuard::take_at(path, how, own(), PACE, |_| waits.send(how).unwrap());
                    has.send(how).unwrap();
                });
            };
            begin(Use::Alone);
            assert_eq!(waiting.recv().unwrap(), Use::Alone);
            begin(Use::Shared);
            assert_eq!(waiting.recv().unwrap(), Use::Shared, "it waits though another shares the device");
            drop(first);
            assert_eq!([order.recv().unwrap(), order.recv().unwrap()], [Use::Alone, Use::Shared]);
        });
    }

    #[test]
    fn a_lock_ends_with_its_owner_though_a_copy_of_the_file_is_open() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let locked = LockedFile::try_new(file.reopen().unwrap()).unwrap();
        assert!(matches!(LockedFile::try_new(file.reopen().unwrap()), Err(TryLockError::WouldBlock)));
        let _copy = locked.try_clone().unwrap();
        drop(locked);
        assert!(LockedFile::try_new(file.reopen().unwrap()).is_ok());
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let nobody = |_: &Holder| unreachable!("a directory has no turns");
        let path = path(directory.path(), "cpu");
        std::fs::create_dir(&path).unwrap();
        let turn = DeviceGuard::take_at(&path, Use::Alone, own(), PACE, nobody);
        assert!(turn.0.is_none());
    }
}
