//! Tasks in the format of Harbor, one a sample: a task that others' agents can be given, and the best pass of this run as its
//! solution.

use super::{ExportFilter, choose};
use crate::run::{AgentRunError, AgentSettings, AttemptJob, RecordedAttempt, file, text};
use crate::trajectory::TrajectoryLine;
use passhost_agent_tools::Effect;
use passhost_result::Headline;
use passhost_result::document::Document;
use serde_json::json;
use std::path::{Path, PathBuf};

/// A folder of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarborTask {
    /// Its name.
    pub name: String,
    /// Texts by their paths in it. Those that end with `.sh` are programs.
    pub texts: Vec<(&'static str, String)>,
    /// The directory of the sample, which belongs at each of these places in it.
    pub sample: (PathBuf, [&'static str; 2]),
}

/// How a task is evaluated.
struct TaskEvaluation<'a> {
    sample: &'a str,
    /// Options of `passhost eval`, as words of a shell.
    options: String,
    /// The file of a policy of one's own.
    policy: Option<String>,
    gpus: u32,
    headline: Headline,
}

/// A task for each sample on which an attempt has ended that the filter takes.
///
/// # Errors
///
/// If what the run kept cannot be read.
pub fn tasks(
    directory: &Path,
    settings: &AgentSettings,
    recorded: &[RecordedAttempt],
    filter: &ExportFilter,
) -> Result<Vec<HarborTask>, AgentRunError> {
    let mut tasks = vec![];
    for (name, attempts) in choose(settings, recorded, filter) {
        let job = |sample: &PathBuf| AttemptJob { sample: sample.clone(), attempt: 1 };
        let sample = settings.samples.iter().find(|sample| job(sample).name() == format!("{name}-1"));
        let (Some(sample), Some(best)) = (sample, attempts.first()) else { continue };
        let document = best.ended.document.map(|hash| text(directory, hash)).transpose()?;
        let document: Option<Document> = document.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let headline = document.map_or(Headline::Published, |document| document.policy.rules().headline);
        let (options, policy) = options(settings)?;
        let gpus = u32::from(settings.options.iter().any(|word| word.starts_with("cuda")));
        let evaluation = TaskEvaluation { sample: best.ended.sample, options, policy, gpus, headline };
        let mut texts = evaluation.texts(name, best.ended.score);
        if let Some(source) = judged(best.lines()) {
            texts.push(("solution/pass.rs", text(directory, source)?));
            texts.push(("solution/solve.sh", include_str!("harbor/solve.sh").to_owned()));
        }
        let places = ["environment/sample", "tests/sample"];
        tasks.push(HarborTask { name: name.to_owned(), texts, sample: (sample.clone(), places) });
    }
    Ok(tasks)
}

/// The source that was evaluated last.
fn judged(lines: &[TrajectoryLine]) -> Option<&str> {
    lines.iter().rev().find_map(|line| match line {
        TrajectoryLine::Call { effect: Effect::Judged { source, .. } | Effect::Submitted { source, .. }, .. } => {
            Some(&**source)
        }
        _ => None,
    })
}

/// Options of evaluations as one line, and the text of the policy, if that is a file.
fn options(settings: &AgentSettings) -> Result<(String, Option<String>), AgentRunError> {
    let (mut words, mut policy, mut before) = (vec![], None, "");
    for word in &settings.options {
        let is_file = before == "--policy" && Path::new(word).is_file();
        if is_file {
            policy = Some(std::fs::read_to_string(word).map_err(file(Path::new(word)))?);
        }
        words.push(match is_file {
            true => "\"$tests/policy.json\"".to_owned(),
            // Which GPU of its machine a run had says nothing of the machine of a task.
            false if before == "--device" && word.starts_with("cuda") => "cuda".to_owned(),
            false => word.clone(),
        });
        before = word;
    }
    Ok((words.join(" "), policy))
}

impl TaskEvaluation<'_> {
    /// The texts of `harbor/`, in which what stands between `@` is replaced. In `test.sh` the score is the reward: without a
    /// pass it is 0; where the machine is in the way there is none, which is an error and no reward.
    fn texts(&self, name: &str, score: f64) -> Vec<(&'static str, String)> {
        // The score that counts: in a result document, and in words.
        let (key, headline) = match self.headline {
            Headline::Published => ("aggregate_score", "AS"),
            Headline::Strict => ("aggregate_score_strict", "AS strict"),
        };
        // A string of JSON is one of TOML.
        let toml = |text: &str| json!(text).to_string();
        let configuration = [
            ("NAME", toml(&format!("passhost/{name}"))),
            ("DESCRIPTION", toml(&format!("Write a compiler pass for the graphs of {}", self.sample))),
            ("VERSION", toml(env!("CARGO_PKG_VERSION"))),
            ("SAMPLE", toml(self.sample)),
            ("SCORE", format!("{score:?}")),
            ("GPUS", self.gpus.to_string()),
        ];
        let instruction = [
            ("SAMPLE", self.sample.to_owned()),
            ("HEADLINE", headline.to_owned()),
            ("OPTIONS", self.options.replace("\"$tests/policy.json\"", "FILE")),
        ];
        let nothing = passhost_agent_tools::reward::NOTHING.to_string();
        let test = [("OPTIONS", self.options.clone()), ("KEY", key.to_owned()), ("NOTHING", nothing)];
        let policy = self.policy.clone().map(|text| ("tests/policy.json", text));
        let texts = [
            ("task.toml", filled(include_str!("harbor/task.toml"), &configuration)),
            ("instruction.md", filled(include_str!("harbor/instruction.txt"), &instruction)),
            ("environment/Dockerfile", include_str!("harbor/Dockerfile").to_owned()),
            ("tests/test.sh", filled(include_str!("harbor/test.sh"), &test)),
        ];
        texts.into_iter().chain(policy).collect()
    }
}

/// A text with values in place of the names that stand between `@` in it.
fn filled(text: &str, values: &[(&str, String)]) -> String {
    let value = |piece| values.iter().find(|(name, _)| *name == piece).map_or(piece, |(_, value)| value.as_str());
    text.split('@').map(value).collect()
}
