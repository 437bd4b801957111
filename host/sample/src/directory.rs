//! Finding and reading the files of a sample. Nothing outside its directory is opened.

use crate::error::SampleError;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Graphs of one task, samples of one list.
const ENTRIES: usize = 10_000;
/// Bytes of a list.
const LIST_BYTES: u64 = 4 << 20;
/// Bytes of a file of a graph: the largest real one has three megabytes.
pub const FILE_BYTES: u64 = 32 << 20;

/// An open sample directory with the paths of its graphs.
#[derive(Debug)]
pub struct Directory {
    /// For messages.
    pub path: PathBuf,
    dir: Dir,
    /// Paths of graph folders, relative to the directory; `.` for a graph folder by itself.
    pub graphs: Vec<PathBuf>,
}

/// The samples that a path names: a task, a graph folder, or a list of either.
pub fn open(path: &Path) -> Result<Vec<Directory>, SampleError> {
    let failed = |reason: std::io::Error| SampleError::Open { path: path.into(), reason: reason.to_string() };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Ok(vec![open_directory(path)?]);
    }
    let file = path.display().to_string();
    let mut text = String::new();
    std::fs::File::open(path).map_err(failed)?.take(LIST_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > LIST_BYTES {
        return Err(SampleError::TooLarge { file, limit: LIST_BYTES });
    }
    let base = path.parent().unwrap_or(Path::new("."));
    let entries = entries(&text);
    check_count(&file, entries.len())?;
    entries.into_iter().map(|entry| open_directory(&base.join(entry))).collect()
}

/// The entries of a list: one a line, `#` comments; or the column `sample_path` of a CSV file with a header.
fn entries(text: &str) -> Vec<&str> {
    let mut lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|l| !l.is_empty());
    let column = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .and_then(|head| head.split(',').position(|title| title.trim() == "sample_path"));
    match column {
        Some(column) => {
            lines.next();
            lines.filter_map(|line| line.split(',').nth(column).map(str::trim)).collect()
        }
        None => lines.collect(),
    }
}

fn check_count(file: &str, found: usize) -> Result<(), SampleError> {
    if (1..=ENTRIES).contains(&found) {
        Ok(())
    } else {
        Err(SampleError::Count { file: file.to_owned(), found, limit: ENTRIES })
    }
}

fn open_directory(path: &Path) -> Result<Directory, SampleError> {
    let dir = Dir::open_ambient_dir(path, ambient_authority())
        .map_err(|reason| SampleError::Open { path: path.into(), reason: reason.to_string() })?;
    let mut directory = Directory { path: path.into(), dir, graphs: vec![] };
    if directory.dir.is_file("model.py") {
        directory.graphs.push(PathBuf::from("."));
        return Ok(directory);
    }
    if !directory.dir.exists("graph_list.txt") {
        return Err(SampleError::NoSample { path: path.into() });
    }
    let list = directory.read(Path::new("graph_list.txt"), LIST_BYTES)?;
    let file = directory.shown(Path::new("graph_list.txt"));
    for entry in entries(&list) {
        let entry = Path::new(entry);
        if !entry.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            let reason = format!("`{}` leads out of the sample's directory", entry.display());
            return Err(SampleError::Read { file, reason });
        }
        directory.graphs.push(entry.to_path_buf());
    }
    check_count(&file, directory.graphs.len())?;
    Ok(directory)
}

impl Directory {
    /// A file's path as the user would find it.
    pub fn shown(&self, file: &Path) -> String {
        self.path.join(file).display().to_string()
    }

    /// A text file of at most `limit` bytes, by its path in the directory.
    pub fn read(&self, file: &Path, limit: u64) -> Result<String, SampleError> {
        let failed = |reason: String| SampleError::Read { file: self.shown(file), reason };
        // Opening resolves every link inside the directory's own tree or fails.
        let opened = self.dir.open(file).map_err(|error| failed(error.to_string()))?;
        if !opened.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(failed("it is not a regular file".into()));
        }
        let mut bytes = vec![];
        opened.take(limit + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        if bytes.len() as u64 > limit {
            return Err(SampleError::TooLarge { file: self.shown(file), limit });
        }
        String::from_utf8(bytes).map_err(|error| failed(format!("it is not UTF-8: {error}")))
    }
}
