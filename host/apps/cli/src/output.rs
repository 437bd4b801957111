//! Writing results: to files that are whole or not there, and to pipes that may close. Nothing else in this program writes to
//! standard output or standard error, and each line that is written here passes [`fit`].

use crate::exit::{Exit, OrStop, Stop};
use crate::style::fit;
use anyhow::Context;
use passhost_corpus::write_whole;
use passhost_result::untrusted::is_unfit;
use serde::Serialize;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a line of another program that are shown.
const LINE: u64 = 4096;

/// Whether something that was printed went nowhere.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints lines to standard output, each on a line of its own whatever it holds. A reader that has gone away, such as `head`,
/// is not an error. A disk that is full is one, said once, after which [`is_lost`].
pub fn print(lines: impl IntoIterator<Item = String>) {
    let Err(error) = write_lines(&mut io::stdout().lock(), lines) else { return };
    if error.kind() != ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) {
        complain(&format!("error: cannot write to standard output: {error}; send it where there is room"));
    }
}

/// Prints a text whose line breaks this program made.
pub fn print_text(text: &str) {
    print(text.lines().map(str::to_owned));
}

/// Says something on standard error, on one line. If that is full too, there is nowhere left to say so.
pub fn complain(line: &str) {
    let _ = write_lines(&mut io::stderr().lock(), [line.to_owned()]);
}

/// Puts a text in place of the last line on a terminal at standard error. A line that cannot be written is not worth an error.
pub fn overwrite(line: &str) {
    let _ = write!(io::stderr(), "\r\u{1b}[2K{}", fit(line));
}

/// Says what another program says, until it has nothing more to say. Its name stands before each line, as it may break lines
/// wherever a text from outside does. Of a long line the beginning is shown.
pub fn relay(program: &str, from: impl Read) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = vec![];
        match from.by_ref().take(LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => complain(&format!("{program}: {}", String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']))),
        }
        if !line.ends_with(b"\n") && from.skip_until(b'\n').is_err() {
            return;
        }
    }
}

/// Says what the standard library says of a panic.
pub fn report_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    complain(&format!("thread '{}' {panic}", thread.name().unwrap_or("<unnamed>")));
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        trace.to_string().lines().for_each(complain);
    }
}

/// Answers whoever asks for help or for the version, in the colours of clap: there is no text from outside in it.
pub fn answer(help: &clap::Error) -> ExitCode {
    let _ = help.print();
    ExitCode::from(u8::try_from(help.exit_code()).unwrap_or(u8::MAX))
}

/// Whether something that was printed went nowhere, so that the command did not do what it was asked for.
pub fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

fn write_lines(out: &mut impl Write, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{}", fit(&line))?;
    }
    out.flush()
}

/// Writes `value` as JSON: to standard output for `-`, else beside the file and renamed onto it, so that an interrupted
/// run leaves the old file or the new one. Its strings are exact, and fit for a terminal: see [`json`].
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Stop> {
    let text = serde_json::to_string_pretty(value).context("the result cannot be written as JSON");
    write_text(path, &json(&text.or_stop(Exit::Host)?))
}

/// Writes `value` as JSON where that is asked for, and prints the lines unless standard output has the JSON on it.
pub fn write_and_print(
    json: &Option<PathBuf>,
    value: &impl Serialize,
    lines: impl IntoIterator<Item = String>,
) -> Result<(), Stop> {
    if let Some(path) = json {
        write_json(path, value)?;
    }
    if json.as_deref() != Some(Path::new("-")) {
        print(lines);
    }
    Ok(())
}

/// JSON that says the same without an unfit character but line breaks: within its strings, where alone there are others, they
/// are written as `\uXXXX`.
pub fn json(text: &str) -> String {
    let mut fit = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !is_unfit(c) {
            fit.push(c);
        } else {
            let mut units = [0; 2];
            fit.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    fit
}

/// Writes a text and the end of its last line, to where [`write_json`] writes.
pub fn write_text(path: &Path, text: &str) -> Result<(), Stop> {
    if path == Path::new("-") {
        print_text(text);
        return Ok(());
    }
    Ok(write_whole(path, format!("{text}\n"))?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn json_is_exact_and_fit_for_a_terminal() {
        let value =
            serde_json::json!({"\u{1b}[2J": ["\u{7}\n\r\t", "\u{9b}31m\u{202e}\u{7f}", "\u{e0041}", "\\u{1b} é 😀"]});
        let text = json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!text.contains(|c| c != '\n' && is_unfit(c)), "{text}");
        assert!(text.contains("\\u009b31m\\u202e\\u007f") && text.contains("\\udb40\\udc41"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
