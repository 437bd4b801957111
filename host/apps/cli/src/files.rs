//! Files that a command writes: whether they can be written, and whether writing one would lose another, or what is read.

use crate::exit::Stop;
use passhost_corpus::check_writable;
use passhost_sample::is_of_a_sample;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files by what a message calls them: an option, or what they are.
type Called<'p> = (&'static str, &'p Path);

/// What a command writes and reads.
#[derive(Debug, Default)]
pub struct CommandFiles<'p> {
    written: Vec<Called<'p>>,
    kept: Vec<Called<'p>>,
    read: Vec<Called<'p>>,
    samples: Vec<Called<'p>>,
}

/// Which file a path leads to, over links and by whatever name.
#[derive(Debug, PartialEq, Eq)]
enum FileIdentity {
    There { device: u64, inode: u64 },
    New { folder: PathBuf, name: OsString },
}

impl FileIdentity {
    /// None of a device, a pipe or a directory, which nothing replaces.
    fn of(path: &Path) -> Option<FileIdentity> {
        match std::fs::metadata(path) {
            Ok(found) if found.is_file() => Some(FileIdentity::There { device: found.dev(), inode: found.ino() }),
            Ok(_) => None,
            Err(_) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                Some(FileIdentity::New { folder: folder.canonicalize().ok()?, name: path.file_name()?.to_owned() })
            }
        }
    }
}

impl<'p> CommandFiles<'p> {
    /// Files that an option names; `-` is standard output.
    #[must_use]
    pub fn writes(mut self, option: &'static str, paths: impl IntoIterator<Item = &'p PathBuf>) -> CommandFiles<'p> {
        self.written.extend(paths.into_iter().map(|path| (option, path.as_path())));
        self
    }

    /// Files that an option names and that the command goes on with: it says itself what is wrong with them.
    #[must_use]
    pub fn goes_on_with(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = &'p PathBuf>,
    ) -> CommandFiles<'p> {
        self.kept.extend(paths.into_iter().map(|path| (option, path.as_path())));
        self
    }

    /// Files that are read, and directories of which all is.
    #[must_use]
    pub fn reads(mut self, what: &'static str, paths: impl IntoIterator<Item = &'p PathBuf>) -> CommandFiles<'p> {
        self.read.extend(paths.into_iter().map(|path| (what, path.as_path())));
        self
    }

    /// Samples and lists of them.
    #[must_use]
    pub fn reads_samples(mut self, paths: impl IntoIterator<Item = &'p PathBuf>) -> CommandFiles<'p> {
        self.samples.extend(paths.into_iter().map(|path| ("a sample or a list", path.as_path())));
        self
    }

    /// Refuses files that could not be written once the work is done, and those in whose place another file of the same
    /// command stands, before it begins.
    pub fn check(&self) -> Result<(), Stop> {
        let (streams, files): (Vec<_>, Vec<_>) = self.written.iter().partition(|(_, path)| *path == Path::new("-"));
        if let [(one, _), (other, _), ..] = streams[..] {
            return Err(Stop::usage(format!(
                "{one} and {other} both write to standard output; give one of them a file"
            )));
        }
        let all: Vec<&Called<'_>> = self.kept.iter().chain(&files).collect();
        for (at, (option, path)) in all.iter().enumerate() {
            let Some(identity) = FileIdentity::of(path) else { continue };
            let is_it = |other: &Path| FileIdentity::of(other).is_some_and(|other| other == identity);
            let shown = path.display();
            if let Some((other, _)) = all[..at].iter().find(|(_, other)| is_it(other)) {
                return Err(Stop::usage(format!("{other} and {option} name the same file `{shown}`; give two")));
            }
            let of_samples = self.samples.iter().filter(|(_, folder)| !folder.is_dir() || is_of_a_sample(path));
            let mut read = self.read.iter().chain(of_samples);
            if let Some((what, place)) = read.find(|(_, place)| is_it(place) || lies_in(path, place)) {
                let place = place.display();
                return Err(Stop::usage(format!(
                    "{option} would replace `{shown}`, which is read as {what}, `{place}`; name another file"
                )));
            }
        }
        files.into_iter().try_for_each(|(_, path)| Ok(check_writable(path)?))
    }
}

/// Whether a file that is there lies below a directory.
fn lies_in(file: &Path, directory: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    directory.is_dir() && real(file).zip(real(directory)).is_some_and(|(file, directory)| file.starts_with(directory))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, hard_link, read_to_string, write};
    use std::os::unix::fs::symlink;

    /// Whether an output is refused beside another one, and beside what is read, whether that is a file or a directory.
    fn refusal(files: &CommandFiles<'_>) -> Option<String> {
        files.check().err().map(|stop| {
            assert_eq!(stop.exit, crate::exit::Exit::Usage);
            stop.error.to_string()
        })
    }

    #[test]
    fn no_file_is_written_over_another_or_over_what_is_read() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        create_dir_all(at("crate/src")).unwrap();
        create_dir_all(at("sample/graph")).unwrap();
        for file in ["pass.rs", "crate/src/lib.rs", "sample/graph/model.py", "sample/graph_list.txt", "sample/old.json"]
        {
            write(at(file), "whole").unwrap();
        }
        hard_link(at("pass.rs"), at("second.rs")).unwrap();
        symlink("pass.rs", at("link.rs")).unwrap();
        symlink("sample/graph", at("graph")).unwrap();
        symlink(".", at("here")).unwrap();
        let read = [at("pass.rs"), at("crate/src")];
        let samples = [at("sample")];
        for (out, is_lost) in [
            ("pass.rs", true),
            ("here/pass.rs", true),
            ("second.rs", true),
            ("link.rs", true),
            ("crate/src/lib.rs", true),
            ("crate/new.wasm", false),
            ("sample/graph_list.txt", true),
            ("graph/model.py", true),
            ("sample/old.json", false),
            ("new.json", false),
        ] {
            let out = at(out);
            let refused = refusal(
                &CommandFiles::default().writes("--out", [&out]).reads("a source", &read).reads_samples(&samples),
            );
            assert_eq!(refused.is_some(), is_lost, "{}: {refused:?}", out.display());
            assert!(
                refused.is_none_or(|text| text.contains("which is read as a") && text.contains("name another file"))
            );
        }
        for (one, other, is_same) in [
            ("new.json", "new.json", true),
            ("new.json", "here/new.json", true),
            ("pass.rs", "second.rs", true),
            ("new.json", "newer.json", false),
        ] {
            let (one, other) = (at(one), at(other));
            let refused = refusal(&CommandFiles::default().writes("--out", [&one]).writes("--json", [&other]));
            assert_eq!(refused.is_some(), is_same, "{}: {refused:?}", other.display());
            assert!(refused.is_none_or(|text| text.starts_with("--out and --json name the same file")));
        }
        assert_eq!(read_to_string(at("pass.rs")).unwrap(), "whole", "nothing is lost");
    }

    #[test]
    fn what_nothing_replaces_may_be_named_twice_but_for_standard_output() {
        let [null, out] = ["/dev/null", "-"].map(PathBuf::from);
        assert_eq!(
            refusal(&CommandFiles::default().writes("--out", [&null]).writes("--json", [&null]).reads("it", [&null])),
            None
        );
        let both = refusal(&CommandFiles::default().writes("--json", [&out]).writes("--html", [&out]));
        assert_eq!(both.unwrap(), "--json and --html both write to standard output; give one of them a file");
    }
}
