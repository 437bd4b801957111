//! What cargo says of what it makes.

use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Output, Stdio};

/// The option that makes cargo say it: errors and warnings go to standard error as always.
pub const AS_JSON: [&str; 2] = ["--message-format", "json-render-diagnostics"];

/// What became of one crate.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Artefact {
    /// The crate.
    pub target: CargoTarget,
    /// The files that were made of it, or were there.
    pub filenames: Vec<PathBuf>,
}

/// A crate.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CargoTarget {
    /// Its name, as a compiler has it.
    pub name: String,
    /// `lib`, `cdylib`, `proc-macro` ...
    pub kind: Vec<String>,
}

/// Runs cargo to its end. Its standard error, in which names and texts of others are, goes to `said` while it is written, and
/// never to a terminal by itself.
///
/// # Errors
///
/// If cargo does not start, or its output cannot be read.
pub fn run(command: &mut Command, said: impl FnOnce(ChildStderr) + Send) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn()?;
    let errors = process.stderr.take();
    std::thread::scope(|scope| {
        scope.spawn(|| errors.map(said));
        process.wait_with_output()
    })
}

/// What was made, in the order of cargo's standard output.
pub fn artefacts(printed: &[u8]) -> Vec<Artefact> {
    #[derive(Deserialize)]
    #[serde(tag = "reason", rename_all = "kebab-case")]
    enum Message {
        CompilerArtifact(Artefact),
        #[serde(other)]
        Other,
    }
    let text = String::from_utf8_lossy(printed);
    let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let made = messages.filter_map(|message| match message {
        Message::CompilerArtifact(made) => Some(made),
        Message::Other => None,
    });
    made.collect()
}

/// The last component among what was made.
pub fn component(made: &[Artefact]) -> Option<&Path> {
    let files = made.iter().flat_map(|made| &made.filenames);
    files.rev().map(PathBuf::as_path).find(|file| file.extension().is_some_and(|ending| ending == "wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = r#"
        {"reason":"compiler-artifact","package_id":"x","target":{"kind":["lib"],"name":"sdk","edition":"2024"},"filenames":["/a/libsdk.rlib"],"fresh":true}
        {"reason":"build-script-executed","package_id":"x","out_dir":"/a"}
        not a message
        {"reason":"compiler-artifact","target":{"kind":["cdylib","rlib"],"name":"gate"},"filenames":["/a/gate.wasm","/a/libgate.rlib"]}
        {"reason":"build-finished","success":true}
    "#;

    #[test]
    fn what_is_written_to_both_outputs_is_read_at_once() {
        // More than pipes hold.
        let script = "head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2";
        let mut said = 0;
        let read = |errors| said = io::Read::bytes(io::BufReader::new(errors)).count();
        let output = run(Command::new("sh").args(["-c", script]), read);
        assert_eq!(output.map(|output| output.stdout.len()).ok(), Some(1_000_000));
        assert_eq!(said, 2_000_000);
    }

    #[test]
    fn what_cargo_made_is_found_among_what_it_says() {
        let made = artefacts(PRINTED.as_bytes());
        let names: Vec<&str> = made.iter().map(|made| made.target.name.as_str()).collect();
        assert_eq!(names, ["sdk", "gate"]);
        assert_eq!(component(&made), Some(Path::new("/a/gate.wasm")));
        assert_eq!(component(&made[..1]), None);
    }
}
