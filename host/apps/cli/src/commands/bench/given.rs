//! What a batch is given: plugins and samples among the paths, this host's own programs, and the command line.

use crate::commands::{WEBASSEMBLY, is_wasm_by_name, named_samples, read_plugin};
use crate::exit::Stop;
use crate::terminal::Terminal;
use passhost_builder::PassSource;
use passhost_child::Plugin;
use passhost_protocol::open_regular;
use passhost_result::untrusted::one_line;
use passhost_sample::Named;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What a batch is about.
pub struct BatchInputs {
    pub plugins: Vec<Plugin>,
    pub samples: Vec<Named>,
}

/// Plugins are the files of WebAssembly among the paths, or those that are named as such.
pub fn read(paths: &[PathBuf], limit: u64, terminal: &Terminal) -> Result<BatchInputs, Stop> {
    let (plugins, lists): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(|path| is_plugin(path));
    let is_source = |path: &&&PathBuf| PassSource::is_meant_by(path) && (plugins.is_empty() || path.is_file());
    if let Some(source) = lists.iter().find(is_source) {
        let source = source.display();
        return Err(Stop::usage(format!(
            "`{source}` is the source of a pass, and a batch takes .wasm components; `passhost build {source}` makes one"
        )));
    }
    if plugins.is_empty() {
        return Err(Stop::usage(format!("no plugin is given: `{}` is no .wasm component", paths[0].display())));
    }
    if lists.is_empty() {
        return Err(Stop::usage("no samples are given; name some, or lists of them"));
    }
    let mut read: Vec<Plugin> = vec![];
    for path in plugins {
        let plugin = read_plugin(path, limit)?;
        match read.iter().find(|other| other.sha256 == plugin.sha256) {
            Some(same) => terminal.complain(&format!("`{}` is `{}` once more, and left out", plugin.path, same.path)),
            None => read.push(plugin),
        }
    }
    Ok(BatchInputs { plugins: read, samples: named_samples(lists, terminal)? })
}

fn is_plugin(path: &Path) -> bool {
    let start = || {
        let mut start = [0; 4];
        open_regular(path)?.read_exact(&mut start).map(|()| start)
    };
    is_wasm_by_name(path) || start().is_ok_and(|start| start == *WEBASSEMBLY)
}

/// The name of a file without its folder and ending.
pub fn short_name(path: &str) -> String {
    one_line(&Path::new(path).file_stem().unwrap_or_default().to_string_lossy(), 60)
}

/// This command, to go on with what it began.
pub fn resume_command() -> String {
    let mut words: Vec<String> = std::env::args().map(|word| quoted(&word)).collect();
    if !words.iter().any(|word| word == RESUME) {
        words.push(RESUME.into());
    }
    words.join(" ")
}

const RESUME: &str = "--resume";

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", one_line(word, 400).replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        let cases = [
            ("--out", "--out"),
            ("a/b.wasm", "a/b.wasm"),
            ("my list", "'my list'"),
            ("", "''"),
            ("it's", r"'it'\''s'"),
        ];
        for (word, expected) in cases {
            assert_eq!(quoted(word), expected);
        }
    }
}
