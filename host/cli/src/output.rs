//! Writing results: to files that are whole or not there, and to pipes that may close.

use anyhow::Context;
use passhost_corpus::write_whole;
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
    Ok(write_whole(path, &text)?)
}
