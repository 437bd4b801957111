use super::*;
use crate::{Embedded, JobState, Queue as _, QueueLimits};
use redb::{ReadableTable as _, TableDefinition};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What somebody does to a file, and how it is called.
type Way<'a> = (&'a str, &'a dyn Fn(&Path));

const TABLE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("table");
/// Where the test that runs on a small disk finds it.
const DISK: &str = "PASSHOST_SMALL_DISK";

fn add(store: &QueueStore, number: u64, bytes: &[u8]) -> Result<(), QueueError> {
    store.write(0, |transaction| {
        transaction.open_table(TABLE)?.insert(number, bytes)?;
        Ok(())
    })
}

fn numbers(store: &QueueStore) -> Vec<u64> {
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
    let store = QueueStore::open(&disk.join("queue")).unwrap();
    let mut kept = vec![];
    for number in 0.. {
        match add(&store, number, &[1; 300_000]) {
            Ok(()) => kept.push(number),
            Err(error) => {
                assert!(matches!(error, QueueError::Room(_)), "{error}");
                break;
            }
        }
    }
    assert!(kept.len() > 3, "{kept:?}");
    // Again and again, and what was kept can be read meanwhile.
    for _ in 0..3 {
        assert_eq!(numbers(&store), kept);
        assert!(matches!(add(&store, 1000, &[1; 3_000_000]), Err(QueueError::Room(_))));
    }
    // Room that somebody else makes.
    std::fs::remove_file(disk.join("ballast")).unwrap();
    add(&store, 1000, &[1; 300_000]).unwrap();
    drop(store);
    kept.push(1000);
    assert_eq!(numbers(&QueueStore::open(&disk.join("queue")).unwrap()), kept);
}

/// A job is given back on a disk that has no byte left. Does nothing where there is no small disk.
#[test]
fn given_back_on_the_small_disk() {
    let Some(disk) = std::env::var_os(DISK).map(PathBuf::from) else { return };
    std::fs::remove_file(disk.join("ballast")).unwrap();
    let open = || Embedded::open(&disk.join("queue"), QueueLimits { attempts: 1, ..QueueLimits::default() }).unwrap();
    let queue = open();
    let ticket = queue.submit("client", None, &[1; 1000]).unwrap();
    let lease = queue.take(Duration::from_secs(60)).unwrap().unwrap().lease;
    queue.begin(&lease).unwrap();
    let mut ballast = File::create(disk.join("more")).unwrap();
    for size in [1 << 20, 4096, 1] {
        while ballast.write_all(&vec![0; size]).is_ok() {}
    }
    assert!(matches!(queue.submit("client", None, b"another"), Err(QueueError::Room(_))));
    queue.give_back(&lease).unwrap();
    drop(queue);
    // With its first loss it would be lost.
    assert_eq!(open().look("client", &ticket).unwrap().unwrap().state, JobState::Waiting);
}

#[test]
fn a_server_that_stops_on_a_full_disk_gives_its_jobs_back() {
    on_a_small_disk("store::tests::given_back_on_the_small_disk");
}

#[test]
fn a_disk_that_becomes_full_in_the_middle_of_a_write_is_waited_out() {
    on_a_small_disk("store::tests::on_the_small_disk");
}

/// Runs one of these tests on a disk of its own.
fn on_a_small_disk(name: &str) {
    let disk = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=16m none \"$0\" && head -c 8M /dev/zero > \"$0/ballast\" && echo mounted && exec \"$@\"";
    let mut inside = Command::new("unshare");
    inside.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(disk.path());
    inside.arg(std::env::current_exe().unwrap()).args(["--exact", name, "--nocapture"]);
    let run = inside.env(DISK, disk.path()).stdin(Stdio::null()).output();
    match run {
        Ok(run) if run.stdout.starts_with(b"mounted") => assert!(run.status.success(), "{run:?}"),
        run => eprintln!("{name}: no small disk for this user, not tried: {run:?}"),
    }
}

/// Says that an operation on the file failed.
fn fail(store: &QueueStore) {
    store.opened.read().unwrap().as_ref().unwrap().watch.fail(StoreFault::Other);
}

#[test]
fn whoever_looks_while_the_file_changes_its_length_finds_it_whole() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (path, found) = (file.path().to_path_buf(), file.as_file().metadata().unwrap());
    let identity = (found.dev(), found.ino());
    let watch = FileWatch { path, file: identity, length: Mutex::new(0), fault: Mutex::default() };
    std::thread::scope(|scope| {
        let changes = scope.spawn(|| {
            for round in 0..5_000 {
                let length = 4096 * (round % 7);
                watch.set_length(length, || file.as_file().set_len(length)).unwrap();
            }
        });
        while !changes.is_finished() {
            watch.check().unwrap();
        }
    });
    assert_eq!(watch.fault(), None);
}

#[test]
fn what_cannot_be_read_and_what_failed_before_keep_nobody_from_the_rest() {
    let place = tempfile::tempdir().unwrap();
    let store = QueueStore::open(&place.path().join("queue")).unwrap();
    add(&store, 1, b"one").unwrap();
    let looked: Result<(), QueueError> = store.read(|_| panic!("a page is none"));
    assert!(matches!(looked, Err(QueueError::Damaged(_))), "{looked:?}");
    assert_eq!(numbers(&store), [1]);
    let changed: Result<(), QueueError> = store.write(0, |_| panic!("a page is none"));
    assert!(matches!(changed, Err(QueueError::Damaged(_))), "{changed:?}");
    assert_eq!(numbers(&store), [1], "after a change that panicked");
    fail(&store);
    assert_eq!(numbers(&store), [1], "after an operation that failed");
    add(&store, 2, b"two").unwrap();
    assert_eq!(numbers(&store), [1, 2]);
}

#[test]
fn a_file_that_was_removed_or_replaced_after_a_fault_is_not_opened_anew() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("queue");
    let replace = |path: &Path| {
        std::fs::rename(path, path.with_extension("old")).unwrap();
        drop(QueueStore::open(path).unwrap());
    };
    let ways: [Way<'_>; 2] = [("removed", &|path| std::fs::remove_file(path).unwrap()), ("replaced", &replace)];
    for (way, harm) in ways {
        let _ = std::fs::remove_file(&path);
        let store = QueueStore::open(&path).unwrap();
        add(&store, 1, b"one").unwrap();
        fail(&store);
        harm(&path);
        let found = std::fs::read(&path).ok();
        for _ in 0..2 {
            assert!(matches!(store.read(|_| Ok(())), Err(QueueError::Gone(_))), "{way}");
            assert!(matches!(add(&store, 2, b"two"), Err(QueueError::Gone(_))), "{way}");
        }
        assert_eq!(std::fs::read(&path).ok(), found, "{way}");
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
        let store = QueueStore::open(&path).unwrap();
        add(&store, 1, b"one").unwrap();
        store.check().unwrap();
        harm(&path);
        let found = std::fs::read(&path).ok();
        assert!(matches!(store.check(), Err(QueueError::Gone(_))), "{way}");
        assert!(matches!(add(&store, 2, b"two"), Err(QueueError::Gone(_))), "{way}");
        drop(store);
        assert_eq!(std::fs::read(&path).ok(), found, "{way}");
    }
}
