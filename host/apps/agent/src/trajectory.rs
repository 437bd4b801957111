//! A trajectory: one attempt as a file of lines, each a JSON value that is on the disk before anything follows from it. Who
//! reads the lines knows where the attempt stands, so that it goes on after any end of this program.

use crate::wire::{ChatAnswer, Message, TokenUsage, ToolCall};
use passhost_agent_tools::{Effect, PassVerdict, Reward};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Names the form of the lines; the number grows when a field changes its meaning or goes.
pub const SCHEMA: &str = "passhost.trajectory/3";
/// Older forms that are read as well.
const OLDER_SCHEMAS: [&str; 2] = ["passhost.trajectory/1", "passhost.trajectory/2"];

/// Bytes of a trajectory that are read.
const LIMIT: u64 = 1 << 30;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TrajectoryLine {
    /// The attempt began. Always the first line.
    Begin {
        /// [`SCHEMA`].
        schema: String,
        /// Name of the sample.
        sample: String,
        /// Which attempt on it, from 1.
        attempt: u32,
        /// The model that is asked.
        model: String,
        /// What evaluations run on. Older trajectories do not say.
        #[serde(default)]
        device: String,
        /// Whether it was told of tools in the format for them.
        has_tools: bool,
        /// What it is told first.
        messages: Vec<Message>,
    },
    /// The model answered.
    Answer {
        /// What.
        answer: ChatAnswer,
        /// Wall clock until it was there, tries included.
        seconds: f64,
    },
    /// A call was executed. Each is a step.
    Call {
        /// By the model.
        call: ToolCall,
        /// What it was told.
        text: String,
        /// What changed.
        effect: Effect,
        /// What the step is worth, apart from what the end settles.
        reward: Reward,
        /// Wall clock.
        seconds: f64,
        /// Of it, with the device held.
        device_seconds: f64,
    },
    /// The model called nothing, and was told so. That is a step as well.
    #[serde(alias = "told")]
    Message {
        /// What it was told.
        text: String,
    },
    /// The attempt ended. Always the last line.
    End {
        /// Why.
        why: Why,
        /// The final score.
        score: f64,
        /// What the end is worth: what is missing to that score.
        reward: Reward,
        /// The verdict that the score is from, if anything was evaluated.
        verdict: Option<PassVerdict>,
    },
}

/// What an attempt took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Spending {
    /// Of all answers.
    pub tokens: TokenUsage,
    /// Wall clock of answers and calls.
    pub seconds: f64,
    /// Of it, with the device held.
    pub device_seconds: f64,
}

impl Spending {
    /// By the lines of an attempt.
    pub fn of(lines: &[TrajectoryLine]) -> Spending {
        let mut spent = Spending::default();
        lines.iter().for_each(|line| spent.add(line));
        spent
    }

    /// What one more line took. An endpoint may say any number of tokens.
    pub(crate) fn add(&mut self, line: &TrajectoryLine) {
        match line {
            TrajectoryLine::Answer { answer, seconds } => {
                let TokenUsage { prompt_tokens, completion_tokens } = &mut self.tokens;
                *prompt_tokens = prompt_tokens.saturating_add(answer.usage.prompt_tokens);
                *completion_tokens = completion_tokens.saturating_add(answer.usage.completion_tokens);
                self.seconds += seconds;
            }
            TrajectoryLine::Call { seconds, device_seconds, .. } => {
                self.seconds += seconds;
                self.device_seconds += device_seconds;
            }
            _ => {}
        }
    }

    /// Tokens of requests and answers together.
    pub fn all_tokens(&self) -> u64 {
        self.tokens.prompt_tokens.saturating_add(self.tokens.completion_tokens)
    }
}

/// Why an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The model handed in its pass.
    Submitted,
    /// It had its steps.
    Steps,
    /// It had its tokens.
    Tokens,
    /// It had its wall clock.
    Time,
    /// It had its time on the device.
    Device,
    /// The endpoint took the conversation no longer, as it does when that outgrows the model's context.
    Outgrown,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Why::Submitted => "submitted",
            Why::Steps => "out of steps",
            Why::Tokens => "out of tokens",
            Why::Time => "out of time",
            Why::Device => "out of device time",
            Why::Outgrown => "refused by the endpoint, as too long",
        })
    }
}

/// Why a trajectory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrajectoryError {
    /// It cannot be opened, read or written.
    #[error("cannot use `{path}`: {1}; what was written before is kept, and --resume goes on", path = .0.display())]
    File(PathBuf, io::Error),
    /// It has more than is read.
    #[error("`{path}` has {1} bytes, of which {LIMIT} are read; remove the file, and the attempt is made again with --resume", path = .0.display())]
    Long(PathBuf, u64),
    /// A line is none.
    #[error("`{path}`, line {1}: {2}; remove the file, and the attempt is made again with --resume", path = .0.display())]
    Line(PathBuf, usize, String),
}

/// The file of an attempt that goes on.
#[derive(Debug)]
pub struct Trajectory {
    path: PathBuf,
    file: File,
}

impl Trajectory {
    /// Opens the file of an attempt, and returns what happened before. A last line that is not whole is taken off: nothing
    /// followed from it.
    ///
    /// # Errors
    ///
    /// If it cannot be used.
    pub fn open(path: &Path) -> Result<(Trajectory, Vec<TrajectoryLine>), TrajectoryError> {
        let failed = |source| TrajectoryError::File(path.into(), source);
        let is_new = !path.exists();
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        if is_new && let Some(directory) = path.parent() {
            // The name is on the disk as well.
            File::open(directory).and_then(|directory| directory.sync_all()).map_err(failed)?;
        }
        let (lines, whole) = read(path, &mut file)?;
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
        Ok((Trajectory { path: path.into(), file }, lines))
    }

    /// Writes a line. It is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn add(&mut self, line: &TrajectoryLine) -> Result<(), TrajectoryError> {
        let failed = |source| TrajectoryError::File(self.path.clone(), source);
        let mut text = serde_json::to_string(line).map_err(|error| failed(error.into()))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()).map_err(failed)
    }
}

/// Reads the lines of an attempt, for those who only look.
///
/// # Errors
///
/// If they cannot be read.
pub fn read_file(path: &Path) -> Result<Vec<TrajectoryLine>, TrajectoryError> {
    let mut file = File::open(path).map_err(|source| TrajectoryError::File(path.into(), source))?;
    Ok(read(path, &mut file)?.0)
}

/// The whole lines, and how many bytes they have.
fn read(path: &Path, file: &mut File) -> Result<(Vec<TrajectoryLine>, u64), TrajectoryError> {
    let mut text = String::new();
    let failed = |source| TrajectoryError::File(path.into(), source);
    let found = file.metadata().map_err(failed)?.len();
    if found > LIMIT {
        return Err(TrajectoryError::Long(path.into(), found));
    }
    let mut bytes = vec![];
    file.take(LIMIT).read_to_end(&mut bytes).map_err(failed)?;
    // A line that was cut may end within a character.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let damaged = |line, reason: String| TrajectoryError::Line(path.into(), line, reason);
    text.push_str(std::str::from_utf8(&bytes[..whole]).map_err(|error| damaged(1, error.to_string()))?);
    let parse = |(index, line)| serde_json::from_str(line).map_err(|error| damaged(index + 1, format!("{error}")));
    let lines: Vec<TrajectoryLine> = text.lines().enumerate().map(parse).collect::<Result<_, _>>()?;
    match lines.first() {
        None => {}
        Some(TrajectoryLine::Begin { schema, .. }) if *schema == SCHEMA || OLDER_SCHEMAS.contains(&schema.as_str()) => {
        }
        Some(_) => return Err(damaged(1, format!("it is no trajectory of the schema `{SCHEMA}`"))),
    }
    Ok((lines, whole as u64))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn begin() -> TrajectoryLine {
        TrajectoryLine::Begin {
            schema: SCHEMA.into(),
            sample: "s".into(),
            attempt: 1,
            model: "m".into(),
            device: "cpu".into(),
            has_tools: true,
            messages: vec![Message::new("user", "größer")],
        }
    }

    #[test]
    fn a_file_that_is_cut_anywhere_holds_the_lines_before() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("one.jsonl");
        let lines = [begin(), TrajectoryLine::Message { text: "ähnlich".into() }];
        let (mut trajectory, before) = Trajectory::open(&path).unwrap();
        assert!(before.is_empty());
        lines.iter().for_each(|line| trajectory.add(line).unwrap());
        let whole = std::fs::read(&path).unwrap();
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let (mut trajectory, before) = Trajectory::open(&path).unwrap();
            let kept = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(before, lines[..kept], "{length} bytes");
            lines[kept..].iter().for_each(|line| trajectory.add(line).unwrap());
            assert_eq!(std::fs::read(&path).unwrap(), whole, "{length} bytes");
        }
    }

    #[test]
    fn a_file_that_is_too_long_is_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("one.jsonl");
        File::create(&path).unwrap().set_len(LIMIT + 1).unwrap();
        let error = Trajectory::open(&path).unwrap_err().to_string();
        assert!(error.contains("remove the file"), "{error}");
        assert_eq!(std::fs::metadata(&path).unwrap().len(), LIMIT + 1);
    }

    #[test]
    fn what_is_no_trajectory_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("one.jsonl");
        let cases = [
            ("{}\n", "line 1: missing field `kind`"),
            ("{\"kind\":\"told\",\"text\":\"\"}\n", "no trajectory of the schema"),
            ("nonsense\n", "line 1: expected ident"),
        ];
        for (text, expected) in cases {
            std::fs::write(&path, text).unwrap();
            let error = Trajectory::open(&path).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("--resume"), "{error}");
        }
    }
}
