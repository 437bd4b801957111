//! Writing results: to files that are whole or not there, and to pipes that may close.

use crate::untrusted::one_line;
use anyhow::Context;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Prints lines to standard output. A reader that has gone away, such as `head`, is not an error.
pub fn print(lines: impl IntoIterator<Item = String>) {
    let mut out = io::stdout().lock();
    for line in lines {
        if writeln!(out, "{line}").is_err() {
            return;
        }
    }
    let _ = out.flush();
}

/// Writes `value` as JSON: to standard output for `-`, else beside the file and renamed onto it, so that an interrupted
/// run leaves the old file or the new one.
pub fn write_json(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value).context("the result cannot be written as JSON")?;
    text.push('\n');
    if path == Path::new("-") {
        print([text.trim_end().to_owned()]);
        return Ok(());
    }
    write_whole(path, &text)
}

/// Writes a file beside its place and renames it.
pub fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    // A device or a pipe is written to, not replaced.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()));
    }
    let name =
        path.file_name().with_context(|| format!("`{}` is no name of a file", path.display()))?.to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}", std::process::id()));
    std::fs::write(&partial, text)
        .and_then(|()| std::fs::rename(&partial, path))
        .inspect_err(|_| {
            let _ = std::fs::remove_file(&partial);
        })
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Makes a directory. One that holds anything is refused: what is in it would be mistaken for what is written now.
pub fn new_directory(path: &Path) -> anyhow::Result<()> {
    let shown = one_line(&path.display().to_string(), 400);
    let is_empty = std::fs::create_dir_all(path)
        .and_then(|()| Ok(std::fs::read_dir(path)?.next().is_none()))
        .with_context(|| format!("cannot write to `{shown}`"))?;
    anyhow::ensure!(is_empty, "`{shown}` is not empty; name a new directory with --out");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_something_in_it_is_refused() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        assert!(new_directory(&directory.path().join("new/deeper")).is_ok());
        assert!(new_directory(directory.path()).is_err());
        Ok(())
    }
}
