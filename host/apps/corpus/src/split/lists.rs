//! The two lists of a division.

use crate::{CorpusError, write_whole};
use passhost_sample::is_list_entry;
use serde::Serialize;
use std::path::{Component, Path, PathBuf};

/// What a division came to.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// It decides which side a group is on.
    pub seed: u64,
    /// The share asked for.
    pub eval_fraction: f64,
    /// Samples to train on.
    pub train: u64,
    /// And to evaluate on.
    pub eval: u64,
    /// On neither side.
    pub left_out: u64,
    /// Sets of samples that share op sequences.
    pub groups: u64,
}

/// Writes paths relative to the list, as it will be read.
///
/// # Errors
///
/// If a sample or the list's folder is not there, a name cannot stand in a list, or the list cannot be written.
pub fn write_list(list: &Path, title: &str, samples: &[&Path]) -> Result<(), CorpusError> {
    let find =
        |path: &Path| path.canonicalize().map_err(|source| CorpusError::Missing { path: path.to_path_buf(), source });
    let folder = list.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = find(folder)?;
    let mut text = format!("# {title}\n");
    for sample in samples {
        let entry = relative(&folder, &find(sample)?);
        let entry = entry.to_str().filter(|entry| is_list_entry(entry));
        let entry = entry.ok_or_else(|| CorpusError::Unlistable { path: sample.to_path_buf() })?;
        text.push_str(&format!("{entry}\n"));
    }
    write_whole(list, &text)
}

/// The way from one folder to another; both absolute and without links.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_a_list_are_relative_to_it() {
        for (from, to, expected) in [
            ("/a/lists", "/a/samples/x", "../samples/x"),
            ("/a", "/a/samples/x", "samples/x"),
            ("/a/b/c", "/d", "../../../d"),
            ("/a", "/a", "."),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(expected), "{from} to {to}");
        }
    }
}
