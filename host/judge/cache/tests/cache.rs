//! A cache under damage, foreign keys, wrong permissions and concurrency.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_cache::{Cache, CacheError, CacheKey};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn scratch() -> (TempDir, PathBuf) {
    let scratch = TempDir::new().unwrap();
    let directory = scratch.path().join("artefacts");
    (scratch, directory)
}

fn key() -> CacheKey {
    CacheKey::of(&[b"wasm", b"engine"])
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_was_put_is_found_by_a_later_process() {
    let (_scratch, directory) = scratch();
    assert!(Cache::open(&directory).unwrap().put(&key(), b"machine code"));
    let cache = Cache::open(&directory).unwrap();
    assert_eq!(cache.get(&key()).as_deref(), Some(&b"machine code"[..]));
    assert_eq!(cache.get(&CacheKey::of(&[b"wasm", b"other engine"])), None);
}

#[test]
fn directory_key_and_entries_are_private() {
    let (_scratch, directory) = scratch();
    let cache = Cache::open(&directory).unwrap();
    cache.put(&key(), b"x");
    assert_eq!(mode(&directory), 0o700);
    assert_eq!(mode(&directory.with_extension("key")), 0o600);
    for entry in entries(&directory) {
        assert_eq!(mode(&entry), 0o600);
    }
}

#[test]
fn directory_and_key_are_named_and_the_secret_is_not() {
    let (_scratch, directory) = scratch();
    let cache = Cache::open(&directory).unwrap();
    assert_eq!(cache.paths(), [directory.clone(), directory.with_extension("key")]);
    assert_eq!(Cache::paths_of(&directory), cache.paths());
    assert!(cache.paths().iter().all(|path| path.exists()));
    let secret = fs::read(directory.with_extension("key")).unwrap();
    assert!(!format!("{cache:?}").contains(&format!("{}, {}", secret[0], secret[1])));
}

#[test]
fn a_part_boundary_changes_the_key() {
    assert_ne!(CacheKey::of(&[b"ab", b"c"]), CacheKey::of(&[b"a", b"bc"]));
    assert_ne!(CacheKey::of(&[b"ab"]), CacheKey::of(&[b"ab", b""]));
}

#[test]
fn a_damaged_entry_is_no_entry_and_can_be_replaced() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 5] = [
        ("a flipped byte of data", |path| flip(path, 40)),
        ("a flipped byte of the tag", |path| flip(path, 3)),
        ("truncation within the data", |path| truncate(path, 35)),
        ("truncation within the tag", |path| truncate(path, 31)),
        ("an empty file", |path| truncate(path, 0)),
    ];
    for (name, damage) in damages {
        let (_scratch, directory) = scratch();
        let cache = Cache::open(&directory).unwrap();
        cache.put(&key(), b"machine code");
        damage(&entries(&directory)[0]);
        assert_eq!(cache.get(&key()), None, "{name}");
        assert!(entries(&directory).is_empty(), "{name}: the entry stays");
        assert!(cache.put(&key(), b"again"), "{name}");
        assert_eq!(cache.get(&key()).as_deref(), Some(&b"again"[..]), "{name}");
    }
}

fn flip(path: &Path, position: usize) {
    let mut contents = fs::read(path).unwrap();
    contents[position] ^= 1;
    fs::write(path, contents).unwrap();
}

fn truncate(path: &Path, length: u64) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

#[test]
fn an_entry_does_not_pass_for_another() {
    let (_scratch, directory) = scratch();
    let cache = Cache::open(&directory).unwrap();
    let other = CacheKey::of(&[b"other"]);
    cache.put(&key(), b"a");
    let first = entries(&directory).remove(0);
    cache.put(&other, b"b");
    let second = entries(&directory).into_iter().find(|path| *path != first).unwrap();
    fs::copy(&first, &second).unwrap();
    assert_eq!(cache.get(&other), None);
    assert_eq!(cache.get(&key()).as_deref(), Some(&b"a"[..]));
}

#[test]
fn entries_under_a_foreign_key_are_refused() {
    let (_scratch, directory) = scratch();
    Cache::open(&directory).unwrap().put(&key(), b"machine code");
    fs::remove_file(directory.with_extension("key")).unwrap();
    assert_eq!(Cache::open(&directory).unwrap().get(&key()), None);
}

#[test]
fn an_entry_that_is_a_link_or_a_directory_is_not_followed() {
    let (scratch, directory) = scratch();
    let cache = Cache::open(&directory).unwrap();
    cache.put(&key(), b"machine code");
    let entry = entries(&directory).remove(0);
    let elsewhere = scratch.path().join("elsewhere");
    fs::rename(&entry, &elsewhere).unwrap();
    symlink(&elsewhere, &entry).unwrap();
    assert_eq!(cache.get(&key()), None);
    fs::remove_file(&entry).unwrap();
    fs::create_dir(&entry).unwrap();
    assert_eq!(cache.get(&key()), None);
}

#[test]
fn what_others_can_touch_is_refused_with_the_path() {
    type Spoil = fn(&Path);
    let cases: [(&str, Spoil); 7] = [
        ("has mode 755", |directory| set_mode(directory, 0o755)),
        ("has mode 770", |directory| set_mode(directory, 0o770)),
        ("is something else", |directory| {
            fs::rename(directory, directory.with_extension("real")).unwrap();
            symlink(directory.with_extension("real"), directory).unwrap();
        }),
        ("is something else", |directory| {
            fs::remove_dir(directory).unwrap();
            fs::write(directory, "").unwrap();
        }),
        ("has mode 644", |directory| set_mode(&directory.with_extension("key"), 0o644)),
        ("has 3 bytes", |directory| fs::write(directory.with_extension("key"), "abc").unwrap()),
        ("has more than 64 bytes", |directory| fs::write(directory.with_extension("key"), [0; 99]).unwrap()),
    ];
    for (expected, spoil) in cases {
        let (_scratch, directory) = scratch();
        Cache::open(&directory).unwrap();
        spoil(&directory);
        let error = Cache::open(&directory).unwrap_err();
        assert!(matches!(error, CacheError::Unsafe { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(expected) && text.contains("artefacts"), "{text}");
    }
}

#[test]
fn a_directory_or_key_that_cannot_be_used_gives_a_reason() {
    let (scratch, directory) = scratch();
    fs::write(scratch.path().join("file"), "").unwrap();
    // The key is a link, which is not followed; procfs takes no directories from anyone, root included.
    Cache::open(&directory).unwrap();
    let key_file = directory.with_extension("key");
    fs::rename(&key_file, scratch.path().join("moved")).unwrap();
    symlink(scratch.path().join("moved"), &key_file).unwrap();
    for (path, named) in [
        (scratch.path().join("file/artefacts"), "file/artefacts"),
        (PathBuf::from("/proc/passhost/artefacts"), "/proc/passhost"),
        (directory, "artefacts.key"),
    ] {
        let error = Cache::open(&path).unwrap_err();
        assert!(matches!(error, CacheError::Unusable { .. }), "{error}");
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[test]
fn a_directory_that_disappears_is_an_empty_cache() {
    let (_scratch, directory) = scratch();
    let cache = Cache::open(&directory).unwrap();
    fs::remove_dir(&directory).unwrap();
    assert!(!cache.put(&key(), b"x"));
    assert_eq!(cache.get(&key()), None);
}

#[test]
fn concurrent_openers_and_writers_agree_and_leave_whole_entries() {
    let (_scratch, directory) = scratch();
    let contents: Vec<Vec<u8>> = (0..8u8).map(|writer| vec![writer; 200_000 + usize::from(writer)]).collect();
    std::thread::scope(|scope| {
        for content in &contents {
            let (directory, contents) = (&directory, &contents);
            scope.spawn(move || {
                // Each opens for itself, so that they also race for making the key.
                let cache = Cache::open(directory).unwrap();
                for _ in 0..10 {
                    assert!(cache.put(&key(), content));
                    assert!(contents.contains(&cache.get(&key()).unwrap()));
                }
            });
        }
    });
    assert_eq!(entries(&directory).len(), 1, "temporary files stay behind");
}

#[test]
fn the_entries_unused_for_longest_make_room() {
    let (_scratch, directory) = scratch();
    let cache = Cache::open(&directory).unwrap().with_capacity(1000);
    let keys: Vec<CacheKey> = (0..4u8).map(|index| CacheKey::of(&[&[index]])).collect();
    let mut age = 4000;
    for key in &keys[..3] {
        let before = entries(&directory);
        cache.put(key, &[0; 250]);
        let new = entries(&directory).into_iter().find(|path| !before.contains(path)).unwrap();
        let used = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
        fs::File::open(new).unwrap().set_modified(used).unwrap();
        age -= 1000;
    }
    // The oldest is read, so the second one goes.
    assert!(cache.get(&keys[0]).is_some());
    assert!(cache.put(&keys[3], &[0; 250]));
    let kept: Vec<bool> = keys.iter().map(|key| cache.get(key).is_some()).collect();
    assert_eq!(kept, [true, false, true, true]);
    assert!(!cache.put(&keys[1], &[0; 1001]), "larger than the whole cache");
}

#[test]
fn temporary_files_of_dead_writers_are_swept() {
    let (_scratch, directory) = scratch();
    let cache = Cache::open(&directory).unwrap();
    let (old, new) = (directory.join(".new-00"), directory.join(".new-01"));
    fs::write(&old, "").unwrap();
    fs::write(&new, "").unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    fs::File::open(&old).unwrap().set_modified(long_ago).unwrap();
    cache.put(&key(), b"x");
    assert!(!old.exists() && new.exists());
}
