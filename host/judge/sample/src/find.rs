//! Which samples a path names, without reading them.

use crate::files::{is_of_a_sample, is_sample};
use crate::list::{LIST_BYTES, ListEntry, all_entries, plain};
use crate::packed::is_packed;
use crate::text::{cannot_open, open_text};
use passhost_protocol::open_regular;
use passhost_protocol::reader::SampleError;
use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Folders below a tree of samples: GraphNet has two levels, PassNet five.
const DEPTH: usize = 16;
/// Files and folders that are looked at in search of samples.
const ENTRIES: usize = 1_000_000;

/// Samples that paths name, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundSamples {
    /// In the order in which they are named first.
    pub samples: Vec<Named>,
    /// What was named again.
    pub repeated: Option<Repeated>,
}

/// A sample by the path that names it. Nobody has looked whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its directory, or the file that it is packed in.
    pub path: PathBuf,
    /// Names of the lists that name it, without their endings.
    pub groups: Vec<String>,
    /// The line that names it first, `list.txt:3`, if a list does.
    pub place: Option<String>,
}

/// Paths that were named more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// How often a path was named that had been named before.
    pub count: usize,
    /// The first of these.
    pub first: PathBuf,
}

/// The samples that several paths name, as [`find`] has those of one.
///
/// # Errors
///
/// If that fails for one of them, or nothing that a list names is there.
pub fn find_all<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<FoundSamples, SampleError> {
    each_once(paths, true)
}

/// With `there`, one of the samples that a list names must be there.
fn each_once<'p>(paths: impl IntoIterator<Item = &'p Path>, there: bool) -> Result<FoundSamples, SampleError> {
    let mut found = FoundSamples::default();
    let mut positions = HashMap::new();
    for path in paths {
        for Named { path, groups, place } in named(path, there)? {
            let next = found.samples.len();
            let position = *positions.entry(plain(&path)).or_insert(next);
            if position == next {
                found.samples.push(Named { path, groups, place });
                continue;
            }
            let known = &mut found.samples[position].groups;
            known.extend(groups.into_iter().filter(|group| !known.contains(group)).collect::<Vec<_>>());
            found.repeated.get_or_insert(Repeated { count: 0, first: path }).count += 1;
        }
    }
    Ok(found)
}

/// The samples that a path names, each once, as their directories or the files that they are packed in: the sample itself;
/// those of a list, in its order; or all below a directory, sorted.
///
/// The entries of a list lie where it lies, or, where none of them is there, in the next directory above in which one is:
/// published lists lie deeper than what they name. Otherwise they are not looked at.
///
/// A sample is not looked into for further ones. Below a directory no link is followed, and what has a name that begins
/// with a dot is left out.
///
/// # Errors
///
/// If the path cannot be read, names nothing, or is a directory without a sample in it.
pub fn find(path: &Path) -> Result<Vec<PathBuf>, SampleError> {
    Ok(each_once([path], false)?.samples.into_iter().map(|named| named.path).collect())
}

/// What one path names, with everything that is named twice.
fn named(path: &Path, there: bool) -> Result<Vec<Named>, SampleError> {
    if std::fs::metadata(path).map_err(cannot_open(path))?.is_dir() || is_packed(path) {
        let alone = |path| Named { path, groups: vec![], place: None };
        let paths = if is_sample(path) { vec![path.into()] } else { walk(path)? };
        return Ok(paths.into_iter().map(alone).collect());
    }
    let (base, entries) = listed(path)?;
    let Some(base) = base.or_else(|| (!there).then(|| beside(path))) else {
        let ListEntry { path: first, line } = &entries[0];
        let (count, first) = (entries.len(), first.display());
        let reason = format!(
            "none of the {count} paths that it names is there, `{first}` on line {line} is the first; paths lie where the list lies, or in a directory above"
        );
        return Err(SampleError::Read { file: path.display().to_string(), reason });
    };
    let group = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let named = |entry: ListEntry| Named {
        path: plain(&base.join(entry.path)),
        groups: vec![group.clone()],
        place: Some(format!("{}:{}", path.display(), entry.line)),
    };
    Ok(entries.into_iter().map(named).collect())
}

/// The entries of a list and the directory that they lie in; `None` where none of them is there.
fn listed(path: &Path) -> Result<(Option<PathBuf>, Vec<ListEntry>), SampleError> {
    let file = path.display().to_string();
    refuse_other_files(path, &file)?;
    let text = open_text(path, LIST_BYTES)?;
    let entries = all_entries(&text, &file).map_err(|error| match error {
        SampleError::Count { file, found: 0, .. } => {
            let reason = "it names no sample; a list has one path a line, or is CSV with a column `sample_path`".into();
            SampleError::Read { file, reason }
        }
        error => error,
    })?;
    let own = beside(path);
    let above = std::path::absolute(path).unwrap_or_default();
    let candidates = std::iter::once(own.as_path()).chain(above.ancestors().skip(2));
    let holds = |base: &&Path| entries.iter().any(|entry| base.join(&entry.path).exists());
    Ok((candidates.into_iter().find(holds).map(Path::to_owned), entries))
}

/// The directory of a file.
fn beside(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new(".")).to_owned()
}

/// Says of what is often given in place of a list what it is.
fn refuse_other_files(path: &Path, file: &str) -> Result<(), SampleError> {
    let mut start = vec![];
    let opened = open_regular(path).map_err(cannot_open(path))?;
    opened.take(64).read_to_end(&mut start).map_err(cannot_open(path))?;
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    if path.extension().is_some_and(|ending| ending == "py") {
        return Err(SampleError::Read { file: file.to_owned(), reason: instead_of_python(path) });
    }
    let reason = match first {
        _ if start.starts_with(b"\0asm") => {
            "it is a plugin, and a list of samples belongs here; plugins come first, and `passhost bench` takes several"
        }
        Some(b'{' | b'[') => {
            "it is JSON, and a list of samples belongs here: one path a line, or CSV with a column `sample_path`"
        }
        _ => return Ok(()),
    };
    Err(SampleError::Read { file: file.to_owned(), reason: reason.into() })
}

/// What to give in place of a file of Python: the sample that it belongs to, or one that is extracted by it.
fn instead_of_python(path: &Path) -> String {
    if is_of_a_sample(path) {
        return format!("it is a file of a sample; give the directory `{}`", beside(path).display());
    }
    format!(
        "it is Python, and a sample belongs here: `pip install ./samples/extract`, then `python {}` writes a sample of each \
         model that it wraps in `extract` (samples/extract/README.md)",
        path.display()
    )
}

fn walk(root: &Path) -> Result<Vec<PathBuf>, SampleError> {
    let mut samples = vec![];
    let mut folders = vec![(root.to_path_buf(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = folders.pop() {
        if is_sample(&folder) {
            samples.push(folder);
            continue;
        }
        for entry in std::fs::read_dir(&folder).map_err(cannot_open(&folder))? {
            let entry = entry.map_err(cannot_open(&folder))?;
            seen += 1;
            if seen > ENTRIES {
                let file = root.display().to_string();
                return Err(SampleError::Count { file, found: seen, limit: ENTRIES });
            }
            // The type of the entry itself: of a link, not of what it leads to.
            let Ok(kind) = entry.file_type() else { continue };
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() && depth < DEPTH {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() && is_packed(&entry.path()) {
                samples.push(entry.path());
            }
        }
    }
    if samples.is_empty() {
        return Err(SampleError::NoSample(root.display().to_string()));
    }
    samples.sort();
    Ok(samples)
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
        assert!(matches!(find(&tree.path().join("c")), Err(SampleError::NoSample(_))));
        assert!(matches!(find(&tree.path().join("d")), Err(SampleError::Open { .. })));
    }

    #[test]
    fn packed_samples_are_known_by_their_first_line() {
        let tree = tree();
        let packed = ["b/packed", "b/.packed", "a/one/inner/packed", "c/newer"];
        packed.iter().for_each(|file| write(tree.path().join(file), "passhost task 2\n").unwrap());
        write(tree.path().join("c/short"), "passhost task").unwrap();
        let list = tree.path().join("b/list.txt");
        write(&list, "packed\ntwo\n").unwrap();
        std::os::unix::fs::symlink("packed", tree.path().join("b/link")).unwrap();
        assert_eq!(found(tree.path(), tree.path()), ["a/one", "b/packed", "b/two", "c/newer"]);
        assert_eq!(found(&list, tree.path()), ["b/packed", "b/two"]);
        for file in ["b/packed", "b/link"] {
            assert_eq!(found(&tree.path().join(file), tree.path()), [file]);
            assert_eq!(find_all([tree.path().join(file).as_path()]).unwrap().samples.len(), 1);
        }
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

    #[test]
    fn samples_know_the_lists_that_name_them_and_what_is_named_again_is_said() {
        let tree = tree();
        let [first, second] = ["all.txt", "sole.csv"].map(|name| tree.path().join(name));
        write(&first, "b/two\nb/two/\na/one\nnowhere\n").unwrap();
        write(&second, "sample_path\na/one\n").unwrap();
        let found = find_all([first.as_path(), &second, &tree.path().join("a/one")]).unwrap();
        let shown: Vec<(String, Vec<&str>)> = found
            .samples
            .iter()
            .map(|named| {
                let path = named.path.strip_prefix(tree.path()).unwrap().display().to_string();
                (path, named.groups.iter().map(String::as_str).collect())
            })
            .collect();
        let expected = [("b/two", vec!["all"]), ("a/one", vec!["all", "sole"]), ("nowhere", vec!["all"])];
        assert_eq!(shown, expected.map(|(path, groups)| (path.to_owned(), groups)));
        assert_eq!(found.repeated, Some(Repeated { count: 3, first: tree.path().join("b/two") }));
        assert_eq!(found.samples[2].place, Some(format!("{}:4", first.display())));
    }

    #[test]
    fn a_list_that_lies_deeper_than_what_it_names_is_understood() {
        let tree = tree();
        create_dir_all(tree.path().join("lists/eval")).unwrap();
        let list = tree.path().join("lists/eval/list.txt");
        write(&list, "missing\na/one\n").unwrap();
        assert_eq!(found(&list, tree.path()), ["missing", "a/one"]);
    }

    #[test]
    fn what_is_no_list_is_named_with_what_it_is() {
        let tree = tree();
        let cases: [(&[u8], &str); 6] = [
            (b"\0asm\x01\0\0\0", "it is a plugin"),
            (b" [{\"schema\": 1}]", "it is JSON"),
            (b"", "it names no sample"),
            (b"# nothing\n\n", "it names no sample"),
            (b"a/one\nb/\xfftwo\n", "line 2 is not UTF-8"),
            (b"\nlist of samples\nto do\n", "none of the 2 paths that it names is there, `list of samples` on line 2"),
        ];
        for (content, expected) in cases {
            let list = tree.path().join("list.txt");
            write(&list, content).unwrap();
            let error = find_all([list.as_path()]).unwrap_err().to_string();
            assert!(error.contains("list.txt") && error.contains(expected), "{error}");
        }
    }
}
