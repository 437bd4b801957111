//! The cases as they lie in the repository.

use crate::Trouble;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What stands in `expect.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The class of attack, by its number in the list of classes; absent for honest passes.
    #[serde(default)]
    pub class: Option<u32>,
    /// What is done, in a sentence.
    pub trick: String,
    /// What stops it, or for an honest pass why it is right, in a sentence.
    pub stopped_by: String,
    /// A directory of `tests/adversarial/samples`, or a shipped sample. Absent where the case has a sample of its own.
    #[serde(default)]
    pub sample: Option<String>,
    /// Variants of a shipped sample whose names contain one of these.
    #[serde(default)]
    pub variants: Vec<String>,
    /// The policy that it is judged under; `open` if absent.
    #[serde(default)]
    pub policy: Option<String>,
    /// The class of failure of the worst variant, `domain` if it is right but on unusual inputs, `right` if there is none,
    /// `unusable` where plugin or sample is refused before there is a document.
    pub verdict: String,
    /// Whose doing it is.
    #[serde(default)]
    pub blame: Option<String>,
    /// The kind of a finding that there must be.
    #[serde(default)]
    pub finding: Option<String>,
    /// Words that the failure's message must have.
    #[serde(default)]
    pub says: Option<String>,
    /// An honest pass: right everywhere, and nothing is found whatever the inputs.
    #[serde(default)]
    pub honest: bool,
    /// Judged by the command in a process of its own, with limits on memory and time: this may be more than a host bears.
    #[serde(default)]
    pub apart: bool,
    /// What is needed before this expectation holds. Until then it must not.
    #[serde(default)]
    pub open: Option<String>,
}

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// `10-partial-work/first-rows`.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// What must come of it.
    pub expect: Expectation,
}

/// The directory of the corpus.
pub fn corpus() -> PathBuf {
    passhost_tests::repository().join("tests/adversarial")
}

/// All cases whose name contains one of `words`, or all if there is no word, in the order of their names.
///
/// # Errors
///
/// If a case cannot be read.
pub fn cases(words: &[String]) -> Result<Vec<Case>, Trouble> {
    let mut cases = vec![];
    for class in directories(&corpus())?.iter().filter(|path| is_class(path)) {
        for path in directories(class)? {
            let name = format!("{}/{}", last_part(class), last_part(&path));
            if words.is_empty() || words.iter().any(|word| name.contains(word.as_str())) {
                let text =
                    std::fs::read_to_string(path.join("expect.json")).map_err(|error| format!("{name}: {error}"))?;
                let expect = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
                cases.push(Case { name, path, expect });
            }
        }
    }
    Ok(cases)
}

/// Classes begin with their number; honest passes have a directory of their own.
fn is_class(path: &Path) -> bool {
    let name = last_part(path);
    name == "honest" || name.starts_with(|first: char| first.is_ascii_digit())
}

fn directories(path: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let entries = std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let mut found: Vec<PathBuf> = entries.collect::<Result<_, _>>()?;
    found.retain(|path| path.is_dir());
    found.sort();
    Ok(found)
}

fn last_part(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
