//! The source of a pass, read as files that somebody else may have put there.

use crate::error::SourceError;
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, openat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes of all files of a source.
const BYTES: u64 = 2 << 20;
/// Files and directories of a source.
const ENTRIES: usize = 200;
/// Directories within directories.
const DEPTH: usize = 8;
/// Where a crate begins.
const ROOT: &str = "src/lib.rs";
/// The file of a source without a name, or with one that is not fit to be shown.
const NAMELESS: &str = "pass.rs";

/// The files of a pass: one, or those below the directory `src` of a crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassSource {
    root: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl PassSource {
    /// Whether a path is meant as a source: a directory, or a file of Rust.
    pub fn is_meant_by(path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending == "rs") || path.join("src").is_dir()
    }

    /// Reads a file, or what lies below `src` of a directory. A link among them is an error: what it leads to would be shown
    /// to whoever wrote it, in what the compiler says of it.
    ///
    /// # Errors
    ///
    /// If there is no source, if it has anything but files and directories, or more of them than a pass needs.
    pub fn read(path: &Path) -> Result<PassSource, SourceError> {
        let missing = |_| SourceError::Missing(path.into());
        let is_directory = std::fs::metadata(path).map_err(missing)?.is_dir();
        if is_directory {
            let mut walk = SourceWalk::default();
            let crate_ = File::open(path).map_err(|source| SourceError::Read { path: path.into(), source })?;
            let (from, no_root) = (path.join("src"), || SourceError::NoRoot(path.into()));
            match open_at(&crate_, Path::new("src"), &from) {
                Err(SourceError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => return Err(no_root()),
                opened => walk.add(opened?, &from, "src".into(), 0)?,
            }
            let source = PassSource { root: ROOT.into(), files: walk.files };
            return if source.files.iter().any(|(name, _)| name == Path::new(ROOT)) {
                Ok(source)
            } else {
                Err(no_root())
            };
        }
        let name = path.file_name().and_then(|name| name.to_str()).filter(|name| is_plain(name));
        let root = PathBuf::from(name.unwrap_or(NAMELESS));
        let mut walk = SourceWalk::default();
        walk.add(open_at(CWD, path, path)?, path, root.clone(), 0)?;
        Ok(PassSource { root, files: walk.files })
    }

    /// A source of one file that is held in memory.
    ///
    /// # Errors
    ///
    /// If it has more bytes than a pass may have.
    pub fn of_text(text: impl Into<Vec<u8>>) -> Result<PassSource, SourceError> {
        let text = text.into();
        if text.len() as u64 > BYTES {
            return Err(SourceError::TooLarge { what: "bytes", limit: BYTES });
        }
        let root = PathBuf::from(NAMELESS);
        Ok(PassSource { root: root.clone(), files: vec![(root, text)] })
    }

    /// All files, each behind its name: what tells this source from others.
    pub fn text(&self) -> Vec<u8> {
        let files = self.files();
        let parts = files.flat_map(|(path, text)| [path.as_os_str().as_encoded_bytes(), text]);
        parts.flat_map(|part| part.iter().copied().chain([0])).collect()
    }

    /// Each file, and what is in it.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_path(), bytes.as_slice()))
    }

    /// The file in which the crate begins.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a copy below a directory that there is.
    pub(crate) fn write(&self, directory: &Path) -> std::io::Result<()> {
        for (path, bytes) in &self.files {
            let to = directory.join(path);
            std::fs::create_dir_all(to.parent().unwrap_or(directory))?;
            std::fs::write(to, bytes)?;
        }
        Ok(())
    }
}

/// What was found so far of a source, never more than one may have.
#[derive(Default)]
struct SourceWalk {
    files: Vec<(PathBuf, Vec<u8>)>,
    /// Files and directories.
    entries: usize,
}

impl SourceWalk {
    /// Adds what was opened: a file, or a directory with all that is below it. What a name leads to may change meanwhile;
    /// nothing is looked up by more than one name within what is open.
    fn add(&mut self, opened: File, from: &Path, to: PathBuf, depth: usize) -> Result<(), SourceError> {
        let failed = |source| SourceError::Read { path: from.into(), source };
        let kind = opened.metadata().map_err(failed)?.file_type();
        if kind.is_file() {
            return self.add_file(opened, from, to);
        }
        if !kind.is_dir() {
            return Err(SourceError::NotRegular(from.into()));
        }
        if depth > DEPTH {
            return Err(SourceError::TooLarge { what: "directories within each other", limit: DEPTH as u64 });
        }
        for entry in Dir::read_from(&opened).map_err(|error| failed(error.into()))? {
            let entry = entry.map_err(|error| failed(error.into()))?;
            let name = Path::new(OsStr::from_bytes(entry.file_name().to_bytes()));
            if name == Path::new(".") || name == Path::new("..") {
                continue;
            }
            // Before it is looked at: however many there are, what lies behind the last that may be there is left alone.
            self.entries += 1;
            if self.entries > ENTRIES {
                return Err(SourceError::TooLarge { what: "files and directories", limit: ENTRIES as u64 });
            }
            let path = from.join(name);
            // A pipe or a device is not even opened.
            if !matches!(entry.file_type(), FileType::Directory | FileType::RegularFile | FileType::Unknown) {
                return Err(SourceError::NotRegular(path));
            }
            self.add(open_at(&opened, name, &path)?, &path, to.join(name), depth + 1)?;
        }
        Ok(())
    }

    fn add_file(&mut self, file: File, from: &Path, to: PathBuf) -> Result<(), SourceError> {
        let held: u64 = self.files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let mut bytes = vec![];
        let read = file.take(BYTES + 1 - held).read_to_end(&mut bytes);
        read.map_err(|source| SourceError::Read { path: from.into(), source })?;
        if held + bytes.len() as u64 > BYTES {
            return Err(SourceError::TooLarge { what: "bytes", limit: BYTES });
        }
        if std::str::from_utf8(&bytes).is_err() {
            return Err(SourceError::NotText(from.into()));
        }
        self.files.push((to, bytes));
        Ok(())
    }
}

/// Opens what has a name in a directory that is open, unless that is a link. A pipe is not waited for.
fn open_at(directory: impl AsFd, name: &Path, shown: &Path) -> Result<File, SourceError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = openat(directory, name, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP | Errno::NXIO => SourceError::NotRegular(shown.into()),
        other => SourceError::Read { path: shown.into(), source: other.into() },
    });
    Ok(File::from(opened?))
}

/// Whether a name is fit for a command line and a message.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.chars().all(plain) && !name.starts_with('-') && name.len() < 100
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;

    fn names(source: &PassSource) -> Vec<String> {
        let mut names: Vec<String> = source.files.iter().map(|(path, _)| path.display().to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn of_a_directory_only_src_counts() {
        let crate_ = tempfile::tempdir().unwrap();
        create_dir_all(crate_.path().join("src/rules")).unwrap();
        for file in ["Cargo.toml", "build.rs", "src/lib.rs", "src/rules/mod.rs"] {
            write(crate_.path().join(file), "").unwrap();
        }
        assert_eq!(names(&PassSource::read(crate_.path()).unwrap()), ["src/lib.rs", "src/rules/mod.rs"]);
    }

    #[test]
    fn a_file_keeps_a_name_that_can_be_shown() {
        let scratch = tempfile::tempdir().unwrap();
        for (name, kept) in [("gate.rs", "gate.rs"), ("-o\u{1b}.rs", "pass.rs")] {
            write(scratch.path().join(name), "").unwrap();
            assert_eq!(names(&PassSource::read(&scratch.path().join(name)).unwrap()), [kept]);
        }
    }

    #[test]
    fn links_and_floods_are_refused() {
        let crate_ = tempfile::tempdir().unwrap();
        create_dir_all(crate_.path().join("src")).unwrap();
        assert!(matches!(PassSource::read(crate_.path()), Err(SourceError::NoRoot(_))));
        write(crate_.path().join("src/lib.rs"), vec![b' '; BYTES as usize + 1]).unwrap();
        assert!(matches!(PassSource::read(crate_.path()), Err(SourceError::TooLarge { what: "bytes", .. })));
        write(crate_.path().join("src/lib.rs"), "").unwrap();
        symlink("/etc/passwd", crate_.path().join("src/secret.rs")).unwrap();
        assert!(matches!(PassSource::read(crate_.path()), Err(SourceError::NotRegular(_))));
    }

    #[test]
    fn directories_count_as_files_do() {
        let crate_ = tempfile::tempdir().unwrap();
        let at = |name: &str| crate_.path().join("src").join(name);
        create_dir_all(at("rules/deep")).unwrap();
        write(at("lib.rs"), "").unwrap();
        for number in 3..ENTRIES {
            create_dir_all(at(&format!("rules/empty-{number}"))).unwrap();
        }
        assert_eq!(names(&PassSource::read(crate_.path()).unwrap()), ["src/lib.rs"]);
        create_dir_all(at("rules/deep/one-more")).unwrap();
        let expected = "the source has more than 200 files and directories; a pass is text, leave out what is not";
        assert_eq!(PassSource::read(crate_.path()).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_link_in_the_middle_is_none_of_the_directories() {
        let [crate_, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        create_dir_all(crate_.path().join("src")).unwrap();
        write(crate_.path().join("src/lib.rs"), "").unwrap();
        write(elsewhere.path().join("lib.rs"), "").unwrap();
        symlink(elsewhere.path(), crate_.path().join("src/rules")).unwrap();
        assert!(matches!(PassSource::read(crate_.path()), Err(SourceError::NotRegular(_))));
        let linked = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), linked.path().join("src")).unwrap();
        assert!(matches!(PassSource::read(linked.path()), Err(SourceError::NotRegular(_))));
        // Who is named may be a link: that is the user's word.
        std::fs::remove_file(crate_.path().join("src/rules")).unwrap();
        symlink(crate_.path(), linked.path().join("crate")).unwrap();
        assert_eq!(names(&PassSource::read(&linked.path().join("crate")).unwrap()), ["src/lib.rs"]);
    }

    #[test]
    fn a_directory_that_is_swapped_once_it_is_open_is_read_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        create_dir_all(at("src/rules")).unwrap();
        write(at("src/rules/gate.rs"), "own").unwrap();
        create_dir_all(at("secret/rules")).unwrap();
        write(at("secret/rules/gate.rs"), "secret").unwrap();
        let opened = open_at(CWD, &at("src"), &at("src")).unwrap();
        std::fs::rename(at("src"), at("moved")).unwrap();
        symlink(at("secret"), at("src")).unwrap();
        let mut walk = SourceWalk::default();
        walk.add(opened, &at("src"), "src".into(), 0).unwrap();
        assert_eq!(walk.files, [(PathBuf::from("src/rules/gate.rs"), b"own".to_vec())]);
    }
}
