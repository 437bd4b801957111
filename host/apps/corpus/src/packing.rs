//! Samples written as one file each, and as directories again.

use crate::CorpusError;
use passhost_sample::{FILE_BYTES, Packed, SAMPLE_BYTES, SampleError, SampleText, is_packed, open_text};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf, absolute};

/// How the files of a sample lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// In one text file.
    Packed,
    /// In a directory.
    Directory,
}

/// Writes the files of a sample, which has either form, in this form to a place that is new. Returns how many there are.
///
/// # Errors
///
/// If the sample cannot be read or packed, or the place is taken or cannot be written.
pub fn convert(sample: &Path, form: Form, to: &Path) -> Result<usize, CorpusError> {
    SampleText::open(sample)?;
    let files = files(sample)?;
    match form {
        Form::Packed => write_new(to, &Packed::pack(&files, &sample.display().to_string())?)?,
        Form::Directory => {
            let made = to.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::create_dir(to));
            made.map_err(CorpusError::write(to))?;
            files.iter().try_for_each(|(path, text)| write_new(&to.join(path), text))?;
        }
    }
    Ok(files.len())
}

/// Where a sample that `argument` names is written below a directory: where it lies below the directory that is named, or
/// below that of the list, or one above; its own name if it is the argument itself.
pub fn place(argument: &Path, sample: &Path) -> Option<PathBuf> {
    let (argument, sample) = (absolute(argument).ok()?, absolute(sample).ok()?);
    let below = argument.ancestors().find_map(|directory| sample.strip_prefix(directory).ok())?;
    let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
    if is_plain && below != Path::new("") { Some(below.to_owned()) } else { sample.file_name().map(PathBuf::from) }
}

/// The text of each file of a sample, by its path within the sample.
fn files(sample: &Path) -> Result<BTreeMap<String, String>, SampleError> {
    if is_packed(sample) {
        let owned = |(path, text): (&str, &str)| (path.to_owned(), text.to_owned());
        return Ok(Packed::open(sample)?.files().map(owned).collect());
    }
    let (mut files, mut folders, mut room) = (BTreeMap::new(), vec![String::new()], SAMPLE_BYTES);
    while let Some(folder) = folders.pop() {
        let directory = sample.join(&folder);
        let failed = |reason: String| SampleError::Read { file: directory.display().to_string(), reason };
        for entry in std::fs::read_dir(&directory).map_err(|error| failed(error.to_string()))? {
            let entry = entry.map_err(|error| failed(error.to_string()))?;
            let kind = entry.file_type().map_err(|error| failed(error.to_string()))?;
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| failed(format!("{name:?} in it is not UTF-8")))?;
            let path = format!("{folder}{name}");
            if kind.is_dir() {
                folders.push(path + "/");
            } else if kind.is_file() {
                let text = open_text(&entry.path(), FILE_BYTES.min(room))?;
                room -= text.len() as u64;
                files.insert(path, text);
            } else {
                return Err(failed(format!("`{name}` in it is a link or a device; a packed sample holds text alone")));
            }
        }
    }
    Ok(files)
}

fn write_new(path: &Path, text: &str) -> Result<(), CorpusError> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and_then(|()| File::create_new(path)?.write_all(text.as_bytes()));
    written.map_err(CorpusError::write(path))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, read_to_string, write};
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    /// What is done to the directory of a task.
    type Damage<'d> = &'d dyn Fn(&Path);

    /// A task of two graphs that share a text, with a list that no line feed ends.
    fn task(at: &Path) {
        for (file, text) in [
            ("graph_list.txt", "a\nb"),
            ("a/model.py", "same\n\n"),
            ("a/weight_meta.py", ""),
            ("b/model.py", "same\n\n"),
            ("b/weight_meta.py", "file x\r\nlines 1\nend\n"),
            ("pass_dir/notes", "\n"),
        ] {
            create_dir_all(at.join(file).parent().unwrap()).unwrap();
            write(at.join(file), text).unwrap();
        }
    }

    #[test]
    fn a_sample_is_the_same_in_either_form_and_nothing_is_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        task(&at("task"));
        assert_eq!(convert(&at("task"), Form::Packed, &at("out/packed")).unwrap(), 6);
        assert_eq!(convert(&at("out/packed"), Form::Packed, &at("again")).unwrap(), 6);
        assert_eq!(read_to_string(at("again")).unwrap(), read_to_string(at("out/packed")).unwrap());
        assert_eq!(convert(&at("out/packed"), Form::Directory, &at("unpacked")).unwrap(), 6);
        assert_eq!(files(&at("unpacked")).unwrap(), files(&at("task")).unwrap());
        let [whole, packed] = ["task", "out/packed"].map(|name| SampleText::open(&at(name)).unwrap());
        assert_eq!(whole.sha256(), packed.sha256());
        for (form, taken) in [(Form::Packed, "again"), (Form::Directory, "unpacked"), (Form::Packed, "task")] {
            assert!(matches!(convert(&at("task"), form, &at(taken)), Err(CorpusError::Write { .. })), "{taken}");
        }
    }

    #[test]
    fn what_no_text_file_can_hold_is_refused_and_named() {
        let not_text = std::ffi::OsStr::from_bytes(b"\xff");
        let damages: [(Damage<'_>, &str); 6] = [
            (&|task| symlink("a", task.join("c")).unwrap(), "`c` in it is a link"),
            (&|task| symlink("model.py", task.join("a/other.py")).unwrap(), "`other.py` in it is a link"),
            (&|task| write(task.join("pass_dir/x"), b"a\n\xff").unwrap(), "line 2 is not UTF-8"),
            (&|task| write(task.join(not_text), "").unwrap(), "is not UTF-8"),
            (&|task| write(task.join("a\nlines 0\nfile b"), "").unwrap(), "is no name that a packed sample can hold"),
            (&|task| std::fs::remove_file(task.join("graph_list.txt")).unwrap(), "is no sample"),
        ];
        for (damage, expected) in damages {
            let directory = tempfile::tempdir().unwrap();
            let (from, to) = (directory.path().join("task"), directory.path().join("packed"));
            task(&from);
            damage(&from);
            let error = convert(&from, Form::Packed, &to).unwrap_err().to_string();
            assert!(error.contains(expected) && !to.exists(), "{error}");
        }
    }

    #[test]
    fn samples_keep_their_places_below_what_names_them() {
        for (argument, sample, expected) in [
            ("samples", "samples/set/x", "set/x"),
            ("samples/set/x", "samples/set/x", "x"),
            ("samples/list.txt", "samples/set/x", "set/x"),
            ("samples/lists/list.txt", "samples/set/x", "set/x"),
            ("samples/list.txt", "samples/../x", "x"),
        ] {
            assert_eq!(place(Path::new(argument), Path::new(sample)), Some(expected.into()), "{argument} {sample}");
        }
    }
}
