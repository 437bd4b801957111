//! What a check finds out, as its document and its journal hold it.

use crate::outcome::{Outcome, SampleReport};
use passhost_protocol::device::SingleRun;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// What was asked for: what is finished counts for a later check that asks for the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Version of this program.
    pub host: String,
    /// `None` where nothing was to run.
    pub run: Option<RunSettings>,
}

/// How graphs were run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// As given.
    pub device: String,
    /// How inputs are drawn.
    pub inputs: String,
    /// Seed of the inputs.
    pub seed: u64,
}

/// What is known of a graph, as far as the check got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// Nodes of the program as the sample has it.
    pub nodes: u64,
    /// Inputs, weights included.
    pub inputs: u64,
    /// Bytes of all inputs.
    pub input_bytes: u64,
    /// Bytes that a run takes, estimated from the types.
    pub run_bytes: u64,
    /// What a run showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunReport>,
}

/// What a run showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Wall clock.
    pub milliseconds: f64,
    /// Bytes allocated at once beyond the inputs, at their highest.
    pub peak_bytes: u64,
    /// One per output.
    pub outputs: Vec<OutputReport>,
}

/// An output of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputReport {
    /// Its type in the text form.
    pub ty: String,
    /// Of its elements, row-major and little-endian.
    pub sha256: String,
    /// `constant` or `not finite`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl RunReport {
    /// Without the differences in types, which are failures.
    pub fn of(ran: &SingleRun) -> RunReport {
        let outputs = ran.outputs.iter().map(|output| OutputReport {
            ty: output.ty.to_string(),
            sha256: output.sha256.clone(),
            remark: output.remark.clone(),
        });
        RunReport { milliseconds: ran.micros as f64 / 1e3, peak_bytes: ran.peak_bytes, outputs: outputs.collect() }
    }
}

/// Counts over all graphs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// What was asked for.
    pub settings: Settings,
    /// Graphs of all samples; a sample that cannot be opened counts as one.
    pub graphs: u64,
    /// Nodes of all graphs that were typed.
    pub nodes: u64,
    /// Graphs by the way they ended; only ends that occurred.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Graphs with an output that is constant or not finite.
    pub outputs_that_tell_little: u64,
    /// Samples whose results come from the journal.
    pub samples_from_journal: u64,
    /// Wall clock of this check.
    pub seconds: f64,
    /// Questions about the types that an op returns.
    pub types_asked_for: u64,
    /// How many of those had been answered before.
    pub types_known: u64,
}

impl Summary {
    /// Of these reports. `types` are the questions asked and those that were known.
    pub fn of(reports: &[SampleReport<Checked>], settings: Settings, elapsed: Duration, types: (u64, u64)) -> Summary {
        let graphs = || reports.iter().flat_map(|report| &report.graphs);
        let found = || graphs().filter_map(|graph| graph.found.as_ref());
        let mut outcomes = BTreeMap::new();
        for graph in graphs() {
            *outcomes.entry(graph.outcome).or_insert(0) += 1;
        }
        let tells_little = |run: &&RunReport| run.outputs.iter().any(|output| output.remark.is_some());
        Summary {
            settings,
            graphs: graphs().count() as u64,
            nodes: found().map(|found| found.nodes).sum(),
            outcomes,
            outputs_that_tell_little: found().filter_map(|found| found.run.as_ref()).filter(tells_little).count()
                as u64,
            samples_from_journal: reports.iter().filter(|report| report.known).count() as u64,
            seconds: elapsed.as_secs_f64(),
            types_asked_for: types.0,
            types_known: types.1,
        }
    }
}
