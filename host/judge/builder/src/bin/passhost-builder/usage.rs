//! What a group of processes uses.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What all processes of a group use together.
#[derive(Debug, Clone, Copy, Default)]
pub struct GroupUsage {
    /// Processes and threads.
    pub tasks: u64,
    /// Bytes of memory that they hold.
    pub memory: u64,
    /// Bytes of files that they have open and that no directory has any more.
    pub unlinked: u64,
}

/// What the processes of this group use, as far as the system shows it.
pub fn of_group(group: i32) -> GroupUsage {
    let page = rustix::param::page_size() as u64;
    let mut usage = GroupUsage::default();
    let mut unlinked = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(process) = numbers(&entry.path()) else { continue };
        if process(2) == u64::from(group.unsigned_abs()) {
            // Of a process whose first thread has ended, the others still say what it holds.
            let threads = std::fs::read_dir(entry.path().join("task")).into_iter().flatten().flatten();
            let held = threads.filter_map(|thread| Some(numbers(&thread.path())?(21))).max();
            usage.tasks += process(17).max(1);
            usage.memory += held.unwrap_or_else(|| process(21)) * page;
            let open = std::fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten();
            let files = open.filter_map(|file| std::fs::metadata(file.path()).ok());
            let gone = files.filter(|file| file.is_file() && file.nlink() == 0);
            unlinked.extend(gone.map(|file| ((file.dev(), file.ino()), bytes(&file))));
        }
    }
    usage.unlinked = unlinked.into_values().fold(0, u64::saturating_add);
    usage
}

/// What a file has, or takes where that is more: room may be reserved for it.
fn bytes(file: &Metadata) -> u64 {
    file.len().max(file.blocks().saturating_mul(512))
}

/// The numbers that the system has of a process or thread, from its state on.
fn numbers(place: &Path) -> Option<impl Fn(usize) -> u64 + use<>> {
    // The name of the program stands in parentheses, and may be any bytes.
    let stat = String::from_utf8_lossy(&std::fs::read(place.join("stat")).ok()?).into_owned();
    let (_, fields) = stat.rsplit_once(')')?;
    let numbers: Vec<u64> = fields.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
    Some(move |position: usize| numbers.get(position).copied().unwrap_or(0))
}

/// What an entry of a directory takes by being there.
const ENTRY: u64 = 4096;

/// Bytes that the files below a directory have, and what their names take. What is deeper than this, or cannot be looked
/// into, has no end.
pub fn of_directory(directory: &Path, depth: usize) -> u64 {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return of_failure(&error),
    };
    let sizes = entries.map(|entry| match entry.and_then(|entry| Ok((entry.metadata()?, entry.path()))) {
        Ok((metadata, path)) if metadata.is_dir() && depth > 0 => of_directory(&path, depth - 1).saturating_add(ENTRY),
        Ok((metadata, _)) if metadata.is_dir() => u64::MAX,
        Ok((metadata, _)) => bytes(&metadata).max(ENTRY),
        Err(error) => of_failure(&error),
    });
    sizes.fold(0, u64::saturating_add)
}

/// What counts for an entry that cannot be looked at: nothing if it is gone.
fn of_failure(error: &std::io::Error) -> u64 {
    if error.kind() == std::io::ErrorKind::NotFound { 0 } else { u64::MAX }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_or_hidden_counts_as_well() {
        let scratch = tempfile::tempdir().unwrap();
        for name in ["one", "two", "three"] {
            std::fs::File::create(scratch.path().join(name)).unwrap();
        }
        assert_eq!(of_directory(scratch.path(), 1), 3 * ENTRY);
        assert_eq!(of_directory(&scratch.path().join("gone"), 1), 0);
        std::fs::create_dir_all(scratch.path().join("deep/deeper")).unwrap();
        assert_eq!(of_directory(scratch.path(), 1), u64::MAX);
        assert_eq!(of_directory(scratch.path(), 2), 5 * ENTRY);
        // Where a user may write and not list, which root may all the same.
        assert_eq!(of_directory(&scratch.path().join("one"), 1), u64::MAX, "it cannot be listed");
    }

    #[test]
    fn files_count_when_no_directory_has_them_any_more() {
        // Whoever else was started with this program has files of its own, which come and go meanwhile.
        match rustix::process::setpgid(None, None) {
            // Who leads a session has a group of its own.
            Err(rustix::io::Errno::PERM) => {}
            made => made.unwrap(),
        }
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        let scratch = tempfile::tempdir().unwrap();
        let (path, size) = (scratch.path().join("file"), 40 << 20);
        let file = std::fs::File::create(&path).unwrap();
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::KEEP_SIZE, 0, size).unwrap();
        assert!(of_directory(scratch.path(), 1) >= size, "room is reserved, and the file is empty");
        let before = of_group(group).unlinked;
        std::fs::remove_file(&path).unwrap();
        // Open twice, it counts once.
        let again = file.try_clone().unwrap();
        let with_it = of_group(group).unlinked;
        assert!((before + size..before + 2 * size).contains(&with_it), "{before} {with_it}");
        drop((file, again));
        assert!(of_group(group).unlinked < with_it);
    }
}
