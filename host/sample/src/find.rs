//! Which samples a path names, without reading them.

use crate::directory::{cannot_open, is_sample, open_text};
use crate::list::{LIST_BYTES, entries, plain};
use passhost_protocol::reader::SampleError;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// Folders below a tree of samples: GraphNet has two levels, PassNet five.
const DEPTH: usize = 16;
/// Folders that are looked into for samples.
const FOLDERS: usize = 1_000_000;

/// The directories of the samples that a path names, each once: the sample itself; those of a list, in its order and
/// relative to it; or all below a directory, sorted.
///
/// A sample is not looked into for further ones. Links to directories are not followed, and directories whose names
/// begin with a dot are left out. The entries of a list are not looked at.
///
/// # Errors
///
/// If the path cannot be read, names nothing, or is a directory without a sample in it.
pub fn find(path: &Path) -> Result<Vec<PathBuf>, SampleError> {
    if std::fs::metadata(path).map_err(cannot_open(path))?.is_dir() {
        return if is_sample(path) { Ok(vec![path.into()]) } else { walk(path) };
    }
    let text = open_text(path, LIST_BYTES)?;
    let base = path.parent().unwrap_or(Path::new("."));
    let entries = entries(&text, &path.display().to_string())?;
    Ok(entries.iter().map(|entry| plain(&base.join(entry))).collect())
}

fn walk(root: &Path) -> Result<Vec<PathBuf>, SampleError> {
    let mut samples = vec![];
    let mut folders = vec![(root.to_path_buf(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = folders.pop() {
        seen += 1;
        if seen > FOLDERS {
            let file = root.display().to_string();
            return Err(SampleError::Count { file, found: seen, limit: FOLDERS });
        }
        if is_sample(&folder) {
            samples.push(folder);
            continue;
        }
        if depth == DEPTH {
            continue;
        }
        for entry in std::fs::read_dir(&folder).map_err(cannot_open(&folder))? {
            let entry = entry.map_err(cannot_open(&folder))?;
            if is_open_folder(&entry) {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    if samples.is_empty() {
        return Err(SampleError::NoSample { path: root.display().to_string() });
    }
    samples.sort();
    Ok(samples)
}

fn is_open_folder(entry: &DirEntry) -> bool {
    // The type of the entry itself: of a link, not of what it leads to.
    entry.file_type().is_ok_and(|kind| kind.is_dir()) && !entry.file_name().to_string_lossy().starts_with('.')
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    fn tree() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for folder in ["b/two", "a/one", "a/one/inner", ".hidden/three", "c/empty"] {
            create_dir_all(directory.path().join(folder)).unwrap();
        }
        for model in ["b/two/model.py", "a/one/graph_list.txt", "a/one/inner/model.py", ".hidden/three/model.py"] {
            write(directory.path().join(model), "").unwrap();
        }
        directory
    }

    fn found(path: &Path, root: &Path) -> Vec<String> {
        let relative = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
        find(path).unwrap().iter().map(relative).collect()
    }

    #[test]
    fn a_tree_gives_the_samples_below_it_sorted() {
        let tree = tree();
        assert_eq!(found(tree.path(), tree.path()), ["a/one", "b/two"]);
        assert_eq!(found(&tree.path().join("b/two"), tree.path()), ["b/two"]);
        assert!(matches!(find(&tree.path().join("c")), Err(SampleError::NoSample { .. })));
        assert!(matches!(find(&tree.path().join("d")), Err(SampleError::Open { .. })));
    }

    #[test]
    fn links_to_directories_are_not_followed() {
        let tree = tree();
        std::os::unix::fs::symlink(tree.path(), tree.path().join("c/loop")).unwrap();
        assert_eq!(found(tree.path(), tree.path()), ["a/one", "b/two"]);
    }

    #[test]
    fn a_list_gives_its_entries_relative_to_itself_without_looking_at_them() {
        let tree = tree();
        let list = tree.path().join("list.txt");
        write(&list, "b/two\n./a/one\nnowhere\nb/two/\n").unwrap();
        assert_eq!(found(&list, tree.path()), ["b/two", "a/one", "nowhere"]);
    }
}
