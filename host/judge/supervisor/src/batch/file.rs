//! The file of a batch, open for adding to it.

use super::error::BatchError;
use super::finished::Finished;
use super::header::Header;
use super::line::BatchLine;
use super::read::{BatchFileContents, LINE_LIMIT, parse};
use passhost_child::LockedFile;
use serde::Serialize;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};

/// The file, locked for as long as this lives.
#[derive(Debug)]
pub struct BatchFile {
    path: PathBuf,
    file: LockedFile,
    header: Header,
}

impl BatchFile {
    /// Begins a batch in a new or empty file, or goes on with the one that is there. A last line that was cut off is
    /// removed.
    ///
    /// # Errors
    ///
    /// If the file cannot be used, another batch writes it, it holds something and nobody asked to `resume`, it is
    /// damaged, or the batch in it was begun with something else.
    pub fn open(path: &Path, header: &Header, resume: bool) -> Result<(BatchFile, Finished), BatchError> {
        let mut batch = BatchFile { path: path.into(), file: open_locked(path)?, header: header.clone() };
        let length = batch.file.metadata().map_err(failed(path))?.len();
        if length > 0 && !resume {
            return Err(BatchError::asked(format!(
                "`{}` is not empty; --resume goes on with the batch in it, --out FILE begins another one, or remove it",
                path.display()
            )));
        }
        let BatchFileContents { header: recorded, lines, whole, .. } = parse(path, BufReader::new(&*batch.file))?;
        let recorded = recorded.filter(|_| length > 0);
        if let Some([item, recorded, now]) = recorded.as_ref().and_then(|recorded| recorded.difference(header)) {
            return Err(BatchError::asked(format!(
                "`{}` cannot be resumed: {item} was {recorded} and is {now}; go on with what it was begun with, or begin \
                 another batch (--out FILE)",
                path.display()
            )));
        }
        if whole < length {
            batch.file.set_len(whole).map_err(failed(path))?;
        }
        match recorded {
            Some(recorded) => batch.header = recorded,
            None => {
                batch.append(header)?;
                batch.keep_name();
            }
        }
        let mut finished = Finished::default();
        lines.iter().for_each(|(_, line)| finished.add(line));
        Ok((batch, finished))
    }

    /// What the batch was begun with, and the devices that came since.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Adds a line in one piece and returns when it is on the disk.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn add(&mut self, line: &BatchLine) -> Result<(), BatchError> {
        self.append(line)
    }

    fn append(&mut self, value: &impl Serialize) -> Result<(), BatchError> {
        let of_passhost = |what: String| BatchError::hosts(format!("{what}; this is a bug of passhost"));
        let no_form = |error| of_passhost(format!("a line of a batch has no JSON form: {error}"));
        let mut text = serde_json::to_vec(value).map_err(no_form)?;
        let (bytes, path) = (text.len(), self.path.display());
        if bytes > LINE_LIMIT {
            let allowed = format!("a line of a batch may have {LINE_LIMIT}");
            return Err(of_passhost(format!("a line of {bytes} bytes is not written to `{path}`: {allowed}")));
        }
        text.push(b'\n');
        let written = (&*self.file).write_all(&text).and_then(|()| self.file.sync_data());
        let kept = "what was written before is kept, and --resume goes on once there is room";
        written.map_err(|error| BatchError::hosts(format!("cannot write to `{path}`: {error}; {kept}")))
    }

    /// Puts the entry of a new file on the disk. Where a directory cannot be synced, the system does so in time.
    fn keep_name(&self) {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> BatchError {
    |error| BatchError::open(path, error)
}

fn open_locked(path: &Path) -> Result<LockedFile, BatchError> {
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let what = "is no regular file; a batch is kept in one (--out FILE)";
        return Err(BatchError::asked(format!("`{}` {what}", path.display())));
    }
    // Whatever was read or cut, what is written comes at the end.
    let mut options = OpenOptions::new();
    let file = options.read(true).append(true).create(true).open(path).map_err(failed(path))?;
    LockedFile::try_new(file).map_err(|error| match error {
        TryLockError::WouldBlock => BatchError::asked(format!(
            "`{}` is being written by another batch; wait for its end, or keep this one in another file (--out FILE)",
            path.display()
        )),
        TryLockError::Error(error) => BatchError::open(path, error),
    })
}
