//! What a child may read that reads nearly everything: Landlock has no rule that takes away, so what lies beside hidden
//! files is allowed, and nothing above them.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The root of devices, where disks lie whose files could be read off them. It may be listed, and is not allowed as a whole.
pub(crate) const DEVICES: &str = "/dev";

/// All files but `hidden`, whether these are there yet or not, and disks. What is made later in a directory above a hidden
/// file is not among them.
pub(crate) fn all_but(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut hidden: Vec<PathBuf> = hidden.iter().map(|path| real(path)).collect();
    disks(Path::new(DEVICES), &mut hidden);
    let mut found = vec![];
    beside(Path::new("/"), &hidden, &mut found);
    found
}

/// The path without links, of a file that may not be there yet.
fn real(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(real), _, _) => real,
        (Err(_), Some(parent), Some(name)) => real(parent).join(name),
        (Err(_), _, _) => path.to_owned(),
    }
}

fn disks(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_block_device() => found.push(entry.path()),
            Ok(kind) if kind.is_dir() => disks(&entry.path(), found),
            _ => {}
        }
    }
}

/// What lies below `directory` and neither is hidden nor lies above what is. Links are left out: what they lead to has a
/// place of its own, where it is allowed or not.
fn beside(directory: &Path, hidden: &[PathBuf], found: &mut Vec<PathBuf>) {
    let below: Vec<&PathBuf> = hidden.iter().filter(|path| path.starts_with(directory)).collect();
    if below.is_empty() {
        found.push(directory.to_owned());
        return;
    }
    if below.iter().any(|path| *path == directory) {
        return;
    }
    // A directory that may be passed and not listed has at least what is known to be in it.
    let known = below.iter().filter_map(|path| Some(directory.join(path.strip_prefix(directory).ok()?.iter().next()?)));
    let mut entries: Vec<PathBuf> = known.filter(|path| path.is_dir()).collect();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            entries.push(entry.path());
        }
    }
    entries.sort();
    entries.dedup();
    for entry in entries {
        beside(&entry, hidden, found);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    #[test]
    fn what_lies_beside_is_allowed_and_nothing_above() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        create_dir_all(root.join("cache/entries")).unwrap();
        create_dir_all(root.join("cache/libraries")).unwrap();
        create_dir_all(root.join("other/entries")).unwrap();
        write(root.join("cache/key"), "").unwrap();
        std::os::unix::fs::symlink(root.join("cache"), root.join("link")).unwrap();
        let hidden = ["cache/entries", "cache/key", "cache/later", "none/yet"].map(|path| root.join(path));
        let mut found = vec![];
        beside(&root, &hidden, &mut found);
        assert_eq!(found, ["cache/libraries", "other"].map(|path| root.join(path)));
        let through_link = [root.join("link/key"), root.join("link/later")];
        assert_eq!(through_link.map(|path| real(&path)), [root.join("cache/key"), root.join("cache/later")]);
    }

    #[test]
    fn no_disk_and_no_hidden_file_is_below_what_is_allowed() {
        let scratch = tempfile::tempdir().unwrap();
        let key = scratch.path().canonicalize().unwrap().join("key");
        let allowed = all_but(std::slice::from_ref(&key));
        let mut forbidden = vec![key];
        disks(Path::new(DEVICES), &mut forbidden);
        for path in &forbidden {
            assert!(!allowed.iter().any(|allowed| path.starts_with(allowed)), "{}", path.display());
        }
        for path in ["/usr", "/proc"] {
            assert!(allowed.contains(&path.into()), "{path}");
        }
    }
}
