//! How it ended for one graph, in a form that is printed, written as JSON and kept in a journal.

use passhost_sample::SampleError;
use serde::{Deserialize, Serialize};

/// How it ended, the good ends first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It passed everything that was asked for.
    Ok,
    /// It was read and typed, and needs more memory than it may take to run.
    TooLarge,
    /// It passed, and no pass can be judged by it: its outputs are the same in every draw, or views of its inputs.
    Unscorable,
    /// It uses what the reader does not know.
    Unsupported,
    /// Its files are missing, damaged or contradict each other.
    Malformed,
    /// An op refuses its operands, or nobody knows what it returns.
    RefusedTypes,
    /// It writes to memory in a way that has no functional form here.
    NotFunctional,
    /// An op failed when it ran.
    FailedToRun,
    /// A run gave another type than inferred: a bug of this program.
    TypesDiffer,
    /// The reader contradicts itself: a bug of this program.
    ReaderBug,
    /// The process that worked on it died.
    Crashed,
    /// It took longer than it may.
    TimedOut,
}

impl Outcome {
    /// All of them, in their order.
    pub const ALL: [Outcome; 12] = [
        Outcome::Ok,
        Outcome::TooLarge,
        Outcome::Unscorable,
        Outcome::Unsupported,
        Outcome::Malformed,
        Outcome::RefusedTypes,
        Outcome::NotFunctional,
        Outcome::FailedToRun,
        Outcome::TypesDiffer,
        Outcome::ReaderBug,
        Outcome::Crashed,
        Outcome::TimedOut,
    ];

    /// Whether the graph cannot be used.
    pub fn is_failure(self) -> bool {
        !matches!(self, Outcome::Ok | Outcome::TooLarge | Outcome::Unscorable)
    }

    /// Whether it depends on the machine and its load, so that a second look may end otherwise.
    pub fn may_pass(self) -> bool {
        matches!(self, Outcome::TooLarge | Outcome::Crashed | Outcome::TimedOut)
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // So that a width given for it is kept.
        f.pad(match self {
            Outcome::Ok => "ok",
            Outcome::TooLarge => "too large to run",
            Outcome::Unscorable => "nothing to score",
            Outcome::Unsupported => "unsupported",
            Outcome::Malformed => "malformed",
            Outcome::RefusedTypes => "refused types",
            Outcome::NotFunctional => "not functional",
            Outcome::FailedToRun => "failed to run",
            Outcome::TypesDiffer => "types differ",
            Outcome::ReaderBug => "bug of the reader",
            Outcome::Crashed => "crashed",
            Outcome::TimedOut => "timed out",
        })
    }
}

/// Why a graph did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which end that is.
    pub outcome: Outcome,
    /// What happened, naming the thing.
    pub what: String,
    /// Where in the sample's files, if that is known.
    pub place: Option<String>,
}

impl Failure {
    /// Without a place.
    pub fn new(outcome: Outcome, what: impl std::fmt::Display) -> Failure {
        Failure { outcome, what: what.to_string(), place: None }
    }

    /// What the reader's error means. `types_refused` says that the last question about types was refused.
    pub fn of(error: SampleError, types_refused: bool) -> Failure {
        let (outcome, what, place) = match error {
            SampleError::Call { place, call, reason } => {
                let outcome = if types_refused { Outcome::RefusedTypes } else { Outcome::Unsupported };
                (outcome, format!("`{call}`: {reason}"), Some(place.to_string()))
            }
            SampleError::Syntax { place, message } => (Outcome::Malformed, message, Some(place.to_string())),
            SampleError::Weight { file, name, reason } => {
                (Outcome::Malformed, format!("weight `{name}`: {reason}"), Some(file))
            }
            SampleError::Read { file, reason } => (Outcome::Malformed, reason, Some(file)),
            SampleError::Program { file, reason } => (Outcome::ReaderBug, reason, Some(file)),
            error => (Outcome::Malformed, error.to_string(), None),
        };
        Failure { outcome, what, place }
    }
}

/// What became of one graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphReport<T> {
    /// Its path within the sample; empty where the sample itself could not be opened.
    pub variant: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, unless it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Where in the sample's files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What was found out, as far as it went.
    pub found: Option<T>,
}

impl<T> GraphReport<T> {
    /// A graph that passed, or failed before anything of it was known.
    pub fn new(variant: &str, result: Result<T, Failure>) -> GraphReport<T> {
        match result {
            Ok(found) => GraphReport {
                variant: variant.into(),
                outcome: Outcome::Ok,
                what: None,
                place: None,
                found: Some(found),
            },
            Err(failure) => GraphReport {
                variant: variant.into(),
                outcome: failure.outcome,
                what: Some(failure.what),
                place: failure.place,
                found: None,
            },
        }
    }
}

/// What became of the graphs of one sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleReport<T> {
    /// Its path.
    pub sample: String,
    /// Of its files; `None` where they could not be read.
    pub sha256: Option<String>,
    /// In its order; a single one without a name where the sample could not be opened.
    pub graphs: Vec<GraphReport<T>>,
    /// Whether this comes from a journal.
    #[serde(skip)]
    pub known: bool,
}

impl<T> SampleReport<T> {
    /// The path of the sample and, where it has several graphs, of the graph in it.
    pub fn name_of(&self, graph: &GraphReport<T>) -> String {
        match graph.variant.as_str() {
            "" | "." => self.sample.clone(),
            variant => format!("{}/{variant}", self.sample),
        }
    }

    /// What was found out about each graph that passed.
    pub fn found(&self) -> impl Iterator<Item = &T> {
        self.graphs.iter().filter(|graph| graph.outcome == Outcome::Ok).filter_map(|graph| graph.found.as_ref())
    }

    /// Whether every graph passed.
    pub fn is_whole(&self) -> bool {
        self.graphs.iter().all(|graph| graph.outcome == Outcome::Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_sample::SourceLocation;

    #[test]
    fn outcomes_stand_in_their_order_and_have_names_of_their_own() {
        assert!(Outcome::ALL.is_sorted());
        let names: std::collections::BTreeSet<String> = Outcome::ALL.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), Outcome::ALL.len());
        assert_eq!(format!("{:<6}|", Outcome::Ok), "ok    |");
    }

    #[test]
    fn an_error_of_the_reader_says_what_and_where() {
        let place = SourceLocation { file: "x/model.py".into(), line: 3, column: 7 };
        let call = SampleError::Call { place: place.clone(), call: "torch.f(Tensor)".into(), reason: "unknown".into() };
        let cases = [
            (Failure::of(call.clone(), false), Outcome::Unsupported, Some("x/model.py:3:7")),
            (Failure::of(call, true), Outcome::RefusedTypes, Some("x/model.py:3:7")),
            (
                Failure::of(SampleError::Syntax { place, message: "no class".into() }, false),
                Outcome::Malformed,
                Some("x/model.py:3:7"),
            ),
            (Failure::of(SampleError::NoSample("x".into()), true), Outcome::Malformed, None),
        ];
        for (failure, outcome, place) in cases {
            assert_eq!((failure.outcome, failure.place.as_deref()), (outcome, place), "{}", failure.what);
        }
    }
}
