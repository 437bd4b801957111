//! What a board accepts: its own file.

use passhost_protocol::open_regular;
use passhost_result::InputMode;
use passhost_result::document::{Document, Limits};
use passhost_score::Options;
use passhost_sign::Signed;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The name of the file in the directory of a board.
pub const FILE: &str = "board.json";

const SCHEMA: &str = "passhost.board/2";
/// An older form that is read as well: some settings had other names.
const OLDER_SCHEMA: &str = "passhost.board/1";
/// Bytes of the file.
const FILE_LIMIT: u64 = 64 << 20;

/// Why there is no board.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The file cannot be read.
    #[error("cannot read the board `{path}`: {1}; `passhost leaderboard DIR --new RESULTS` begins one", path = .0.display())]
    Read(PathBuf, io::Error),
    /// It says something else than what a board accepts.
    #[error("`{path}` is no board: {1}; docs/signing.md has its form", path = .0.display())]
    Form(PathBuf, String),
    /// Results to begin a board with were not made alike.
    #[error(
        "a board begins with results that were made alike, and these differ in {0}; begin it with some of them, and add the others by hand"
    )]
    Mixed(&'static str),
    /// There are none.
    #[error("a board begins with results, and there are none")]
    Nothing,
}

/// What a board accepts. There is a ranking for each combination of list, policy, device and host that has results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Names the form of the file.
    pub schema: String,
    /// What stands above the board.
    pub title: String,
    /// The file of trusted keys, beside this one.
    pub trusted_keys: PathBuf,
    /// Samples that are evaluated together.
    pub sample_lists: Vec<SampleList>,
    /// Rules.
    pub policies: Vec<AcceptedPolicy>,
    /// Machines.
    pub devices: Vec<AcceptedDevice>,
    /// Versions of passhost.
    pub hosts: Vec<AcceptedHost>,
    /// How results are measured and scored, the same in all rankings.
    pub settings: AcceptedSettings,
}

/// Samples that are evaluated together, every one of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleList {
    /// Its name on the board.
    pub name: String,
    /// Its samples.
    pub samples: Vec<ListedSample>,
}

/// A sample by its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedSample {
    /// Its name.
    pub name: String,
    /// Of its files.
    pub sha256: String,
    /// How many graphs it has.
    pub graphs: usize,
}

/// A policy by its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedPolicy {
    /// Its name.
    pub name: String,
    /// Of its text.
    pub sha256: String,
}

/// A kind of device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedDevice {
    /// Its name on the board.
    pub name: String,
    /// `cpu` or `cuda`.
    pub kind: String,
    /// What it calls itself.
    pub model: String,
    /// Threads that programs use; any number where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

/// A build of passhost, with a version of libtorch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedHost {
    /// Its name on the board.
    pub name: String,
    /// Version of libtorch.
    pub torch: String,
    /// SHA-256 of its programs, by name.
    pub programs: BTreeMap<String, String>,
}

/// How results are measured and scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedSettings {
    /// Limits and measurement settings.
    pub limits: Limits,
    /// Constants of the score.
    pub options: Options,
    /// How inputs are drawn.
    pub inputs: InputMode,
}

impl AcceptedSettings {
    /// Those of a document. Rounds with unusual inputs follow from its policy.
    pub(crate) fn of(document: &Document) -> AcceptedSettings {
        let mut limits = document.limits.clone();
        limits.measurement.edge_case_rounds = true;
        AcceptedSettings { limits, options: document.options, inputs: document.job.inputs.unwrap_or_default() }
    }
}

impl Board {
    /// The board in a directory.
    ///
    /// # Errors
    ///
    /// If its file cannot be read or is none.
    pub fn read(directory: &Path) -> Result<Board, BoardError> {
        let path = directory.join(FILE);
        let mut text = String::new();
        let read = open_regular(&path).and_then(|file| file.take(FILE_LIMIT).read_to_string(&mut text));
        read.map_err(|source| BoardError::Read(path.clone(), source))?;
        let wrong = |reason: String| BoardError::Form(path.clone(), reason);
        let board: Board = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if ![SCHEMA, OLDER_SCHEMA].contains(&board.schema.as_str()) {
            return Err(wrong(format!("its schema is `{}`, expected `{SCHEMA}`", board.schema)));
        }
        board.contradiction().map_or(Ok(board), |reason| Err(wrong(reason)))
    }

    /// What cannot be meant: two things of one name, a sample twice, or a list of nothing.
    fn contradiction(&self) -> Option<String> {
        let lists = &self.sample_lists;
        let mut named: Vec<(&str, Vec<&String>)> = vec![
            ("sample lists", lists.iter().map(|list| &list.name).collect()),
            ("policies", self.policies.iter().map(|policy| &policy.name).collect()),
            ("devices", self.devices.iter().map(|device| &device.name).collect()),
            ("hosts", self.hosts.iter().map(|host| &host.name).collect()),
        ];
        named.extend(lists.iter().map(|list| ("samples", list.samples.iter().map(|one| &one.name).collect())));
        let repeated = |(what, names): (&str, Vec<&String>)| {
            let mut seen = BTreeSet::new();
            names.into_iter().find(|name| !seen.insert(*name)).map(|name| format!("two {what} are called `{name}`"))
        };
        let empty = || lists.iter().find(|list| list.samples.is_empty());
        let repeated = named.into_iter().find_map(repeated).or_else(|| lists.iter().find_map(one_sample_twice));
        repeated.or_else(|| empty().map(|list| format!("the sample list `{}` has no sample", list.name)))
    }

    /// A board that accepts results which were made as these were, under the names that these give: the sample list has all
    /// of their samples.
    ///
    /// # Errors
    ///
    /// If there are none, they were not made alike, or two of their samples have one content.
    pub fn like(results: &[Signed], list: &str, trusted_keys: PathBuf) -> Result<Board, BoardError> {
        let [first, others @ ..] = results else { return Err(BoardError::Nothing) };
        let mut samples: BTreeMap<String, ListedSample> = BTreeMap::new();
        for result in results {
            let job = &result.statement.document.job;
            let graphs = result.statement.document.variants.len();
            let sample = ListedSample { name: job.sample.clone(), sha256: job.sample_sha256.clone(), graphs };
            if samples.entry(job.sample.clone()).or_insert_with(|| sample.clone()) != &sample {
                return Err(BoardError::Mixed("the content of a sample"));
            }
        }
        let (policy, host) = (policy_of(&first.statement.document), host_of(first));
        let measured = results.iter().find(|result| result.statement.document.job.device.is_some());
        let device = measured.and_then(|result| device_of(&result.statement.document));
        let device = device.ok_or(BoardError::Mixed("that none of them needed a device"))?;
        let settings = AcceptedSettings::of(&first.statement.document);
        for other in others {
            let document = &other.statement.document;
            let mixed = [
                (policy_of(document) != policy, "their policy"),
                (device_of(document).is_some_and(|other| other != device), "their device"),
                (other.statement.programs != host.programs, "the programs that made them"),
                (AcceptedSettings::of(document) != settings, "their settings"),
            ];
            if let Some((_, what)) = mixed.into_iter().find(|(differs, _)| *differs) {
                return Err(BoardError::Mixed(what));
            }
        }
        let torch = measured.and_then(|result| result.statement.document.job.device.as_ref());
        let torch = torch.map(|device| device.torch.clone()).unwrap_or_default();
        let board = Board {
            schema: SCHEMA.into(),
            title: "Leaderboard".into(),
            trusted_keys,
            sample_lists: vec![SampleList { name: list.into(), samples: samples.into_values().collect() }],
            policies: vec![policy],
            devices: vec![device],
            hosts: vec![AcceptedHost { torch, ..host }],
            settings,
        };
        let wrong = |reason| BoardError::Form(FILE.into(), reason);
        board.contradiction().map_or(Ok(board), |reason| Err(wrong(reason)))
    }
}

/// Two names of one content on a list, on which one result would count for two.
fn one_sample_twice(list: &SampleList) -> Option<String> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    list.samples.iter().find_map(|sample| {
        let first = seen.insert(&sample.sha256, &sample.name)?;
        Some(format!("`{first}` and `{}` of the sample list `{}` have one content", sample.name, list.name))
    })
}

fn policy_of(document: &Document) -> AcceptedPolicy {
    AcceptedPolicy { name: document.policy.name().into(), sha256: document.policy.sha256().into() }
}

fn host_of(result: &Signed) -> AcceptedHost {
    let document = &result.statement.document;
    AcceptedHost {
        name: format!("passhost {}", document.job.host),
        torch: String::new(),
        programs: result.statement.programs.clone(),
    }
}

/// On a CPU the number of threads is part of what a device is.
fn device_of(document: &Document) -> Option<AcceptedDevice> {
    let device = document.job.device.as_ref()?;
    let kind = device.facts.kind.to_string();
    let threads = (kind == "cpu").then_some(device.threads);
    let threads_text = threads.map(|threads| format!(", {threads} threads")).unwrap_or_default();
    Some(AcceptedDevice { name: format!("{}{threads_text}", device.name), kind, model: device.name.clone(), threads })
}
