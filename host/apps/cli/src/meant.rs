//! What somebody meant by a path or a name that is not there, or stands in the wrong place.

use crate::exit::Stop;
use crate::suggest::{did_you_mean, like};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::{Error, ErrorKind};
use passhost_builder::PassSource;
use passhost_child::beside_this_executable;
use passhost_result::untrusted::one_line;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Files of a directory that are compared with a name.
const ENTRIES: usize = 10_000;
/// Names that are suggested for one that is not there.
const SUGGESTIONS: usize = 3;
/// Names that are listed where none is like the one that is not there.
const LISTED: usize = 6;
/// What is said of a sample that is not there, and that nothing is called like.
pub const NO_SAMPLE: &str = "expected a sample, a list of samples, or a directory that holds some; `python -m passhost_extract \
                         FILE.py:MODEL --input SIZES` makes a sample of a model (docs/start.md)";

/// Whether a path is named as a component, or is the source of one.
pub fn is_plugin(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "wasm") || PassSource::is_meant_by(path)
}

/// The component of a reference pass: of a wheel, of an installation, or of the clone that this program was built in.
pub fn reference_pass(name: &str) -> Option<PathBuf> {
    let file = format!("{}.wasm", name.replace('-', "_"));
    let places = ["../passes", "../lib/passhost", "../wasm32-wasip2/plugin"];
    places.map(|place| beside_this_executable(&format!("{place}/{file}"))).into_iter().find(|path| path.is_file())
}

/// Reads a path where a plugin may stand: the name of a reference pass, unless there is a file of that name.
pub fn plugin_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| {
        let name = path.to_str().filter(|name| !name.contains(['/', '.']) && !path.exists());
        name.and_then(reference_pass).unwrap_or(path)
    })
}

/// Refuses a plugin among the samples where something else stands in its place.
pub fn check_order(plugin: &Path, samples: &[PathBuf]) -> Result<(), Stop> {
    if plugin.extension().is_some_and(|ending| ending == "py") {
        return Err(Stop::usage(format!(
            "`{0}` stands where the plugin belongs, and is Python; make a sample of a model in it: \
             `python -m passhost_extract {0}:MODEL --input SIZES` (docs/start.md)",
            plugin.display()
        )));
    }
    let swapped = samples.iter().find(|path| is_plugin(path)).filter(|_| !is_plugin(plugin) && plugin.exists());
    let Some(second) = swapped else { return Ok(()) };
    let (first, second) = (plugin.display(), second.display());
    Err(Stop::usage(format!(
        "`{first}` stands where the plugin belongs, and `{second}` is a plugin; swap them: `passhost eval {second} {first}`"
    )))
}

/// What is said of a command line that lacks something, where that is the plugin before a sample.
pub fn lone_sample(error: &Error, words: impl IntoIterator<Item = OsString>) -> Option<String> {
    let mut words = words.into_iter().skip(1).filter(|_| error.kind() == ErrorKind::MissingRequiredArgument);
    words.next().filter(|command| command == "eval")?;
    let sample = words.next().map(PathBuf::from).filter(|path| path.exists() && !is_plugin(path))?;
    let sample = sample.display();
    Some(format!("`{sample}` stands where the plugin belongs; put one before it: `passhost eval PLUGIN {sample}`"))
}

/// Refuses a path that is not there, where others are that are called nearly like it, or there is something to say
/// `otherwise`.
pub fn check_there<'p>(paths: impl IntoIterator<Item = &'p Path>, otherwise: &str) -> Result<(), Stop> {
    let is_said = |near: &Vec<String>| !(near.is_empty() && otherwise.is_empty());
    let missed = paths.into_iter().find_map(|path| Some((path, near(path).filter(is_said)?)));
    missed.map_or(Ok(()), |(path, near)| {
        Err(Stop::usage(format!("no file or directory `{}`; {}", path.display(), did_you_mean(&near, otherwise))))
    })
}

/// Paths that are there and nearly called like one that is not: its first part that is missing has another name in them.
pub fn near(path: &Path) -> Option<Vec<String>> {
    let here = |path: &Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() };
    let missing = path.ancestors().take_while(|path| !here(path).exists()).last()?;
    let (base, name) = (missing.parent()?, missing.file_name()?.to_str()?);
    let rest = path.strip_prefix(missing).ok()?;
    let entries = std::fs::read_dir(here(base)).ok()?.take(ENTRIES).flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let found = like(name, names.iter().map(String::as_str), SUGGESTIONS).into_iter();
    let found = found.map(|name| base.join(name)).map(|found| if rest == "" { found } else { found.join(rest) });
    Some(found.filter(|path| path.exists()).map(|path| path.display().to_string()).collect())
}

/// What to write in place of a text that is in no variant's name.
pub fn variant<'n>(text: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
    let wanted = text.trim_matches('/');
    let depth = wanted.split('/').count();
    let parts: Vec<String> = names
        .clone()
        .flat_map(|name| {
            let folders: Vec<&str> = name.split('/').collect();
            folders.windows(depth).map(|part| part.join("/")).collect::<Vec<_>>()
        })
        .collect();
    let like: Vec<String> = like(wanted, parts.iter().map(String::as_str), SUGGESTIONS)
        .into_iter()
        .map(|part| one_line(part, 100))
        .collect();
    let names: Vec<&str> = names.take(LISTED).collect();
    did_you_mean(&like, &format!("there are {}", one_line(&names.join(", "), 300)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_path_that_is_missing_has_names_like_it() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        std::fs::create_dir_all(at("samples")).unwrap();
        for file in ["samples/rms-norm", "samples/layer-norm", "pass.wasm"] {
            std::fs::write(at(file), "").unwrap();
        }
        for (given, expected) in [
            ("samples/rms-nrom", vec!["samples/rms-norm"]),
            ("smaples/rms-norm", vec!["samples/rms-norm"]),
            ("smaples/rms-nrom", vec![]),
            ("pass", vec!["pass.wasm"]),
            ("qqqq", vec![]),
        ] {
            let expected: Vec<String> = expected.iter().map(|path| at(path).display().to_string()).collect();
            assert_eq!(near(&at(given)), Some(expected), "{given}");
        }
        assert_eq!(near(&at("samples/rms-norm")), None, "it is there");
    }

    #[test]
    fn a_variant_that_is_not_there_has_names_like_it() {
        let names = ["graphs/float32/s0-1", "graphs/float16/s0-1"];
        for (text, expected) in [
            ("flaot32", "did you mean `float32`?"),
            ("flaot32/s0-1", "did you mean `float32/s0-1` or `float16/s0-1`?"),
            ("qqq", "there are graphs/float32/s0-1, graphs/float16/s0-1"),
        ] {
            assert_eq!(variant(text, names.into_iter()), expected, "{text}");
        }
    }
}
