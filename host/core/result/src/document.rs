//! The result document: everything that an evaluation used, did and found, as one JSON value. The table on the terminal
//! is a view of it.

mod hidden;
mod rewrite;
mod times;

pub use crate::Launch;
pub use crate::schema::SCHEMA;
use crate::schema::read_schema;
use crate::timing::Rules;
use crate::untrusted::one_line;
use crate::{
    DeviceInfo, DivergentNode, EdgeCaseFinding, GuestLimits, GuestUsage, InputMode, OtherRounds, OutputReport,
    PassInfo, Progress, SandboxProfile, Settings, Spent, Strength, TunedKernel,
};
pub use hidden::{HiddenShape, HiddenShapes, allowed, described, reproduction, unsaid, wrong_from};
use passhost_ir::{Dtype, Graph};
use passhost_policy::{Headline, Policy};
use passhost_score::{Confidence, Decided, FailureClass, Options, Scores, VariantOutcome};
pub use rewrite::{Graphs, Rewrite, inserts_calls, rewrite_sha256};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
pub use times::{ShownTimes, Timing, quartiles_us};

/// The version of the check: the rules by which rewrites are checked, timed and judged. It grows when a rule changes what
/// a result says, and results of two versions are never put into one number.
pub const CHECK: u32 = 7;

/// The version of results that do not say.
pub fn first_check() -> u32 {
    1
}

/// Whose doing a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The plugin's.
    Plugin,
    /// The sample's.
    Sample,
    /// The host's or the device's.
    Host,
}

impl std::fmt::Display for Blame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// What went wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Whose doing.
    pub blame: Blame,
    /// Where: `sample`, `load`, `reference`, `rewrite`, `verify`, `plan`, `correctness`, `timing`.
    pub stage: String,
    /// What happened, naming the thing.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// A failure with everything that a document says of it.
pub fn failure(blame: Blame, stage: &str, message: impl std::fmt::Display, hint: &str) -> Failure {
    Failure { blame, stage: stage.into(), message: one_line(&message.to_string(), 600), hint: hint.into() }
}

/// How an evaluation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// At least one variant was compared; the scores say how well.
    Scored,
    /// No variant could be compared, or one was not measured; see `failure`. Scores are there if no variant ran and the
    /// plugin is to blame.
    Failed,
}

/// One evaluation: one plugin on one sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    #[serde(deserialize_with = "read_schema")]
    pub schema: String,
    /// What was evaluated, by content.
    pub job: Job,
    /// How it ended.
    pub status: Status,
    /// Whose doing it is that no variant could be compared.
    pub blame: Option<Blame>,
    /// The failure that stands for the evaluation where `status` is `failed`.
    pub failure: Option<Failure>,
    /// How far the plugin came with the variant on which it came least far. Older documents do not say.
    #[serde(default)]
    pub progress: Option<Progress>,
    /// The rules in force: name, SHA-256 and text. Those of older documents, which do not say, are `open`.
    #[serde(default)]
    pub policy: Policy,
    /// Limits and measurement settings in force.
    pub limits: Limits,
    /// One per graph variant, in the sample's order.
    pub variants: Vec<Variant>,
    /// Constants of the score.
    pub options: Options,
    /// What the score was computed from, one per variant whose failure is not the host's.
    pub outcomes: Vec<VariantOutcome>,
    /// S(t), ES(t), AS; absent where the sample or the host failed before anything could be scored.
    pub scores: Option<Scores>,
    /// Intervals of AS between processes and blocks, and whether the rewrites are faster.
    pub confidence: Option<Confidence>,
    /// AS over the device's time in place of wall clock; absent where that is not known of every compared variant.
    pub device_scores: Option<DeviceScores>,
    /// How the children were confined. Older documents do not say.
    #[serde(default)]
    pub confinement: ChildProfiles,
}

impl Document {
    /// How what was evaluated launches its kernels: a baseline by its method, a rewrite as was asked for.
    pub fn launch(&self) -> Launch {
        self.job.baseline.as_ref().map_or(self.limits.measurement.launch, |baseline| baseline.launch)
    }

    /// Whether kernels have the fastest of the schedules that were measured. On the CPU each has but one.
    pub fn is_tuned(&self) -> bool {
        let on_gpu = self.job.device.as_ref().is_some_and(|device| device.device != "cpu");
        self.limits.measurement.tune && on_gpu && self.job.baseline.is_none()
    }

    /// The resolution of the scores by wall clock, where the host makes it larger than that of the device.
    pub fn host_spread(&self) -> Option<f64> {
        let device = self.job.device.as_ref().map_or("cpu", |device| &device.device);
        let resolution = self.confidence.as_ref()?.resolution;
        // A geometric mean of equal numbers may be off by its rounding.
        (resolution > 1.000_001 * Rules::of(device).resolution_on(None)).then_some(resolution)
    }

    /// Whether variants were left out, so that no score is that of the sample.
    pub fn is_partial(&self) -> bool {
        self.limits.measurement.quick || self.job.left_out > 0
    }

    /// The score that stands for the evaluation, as its policy says.
    pub fn headline(&self) -> Option<f64> {
        self.scores.as_ref().map(|scores| match self.policy.rules().headline {
            Headline::Published => scores.aggregate_score,
            Headline::Strict => scores.aggregate_score_strict,
        })
    }
}

/// What kept each kind of child in; `None` of a kind that did not take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChildProfiles {
    /// Around the plugin.
    pub guest: Option<SandboxProfile>,
    /// Around the reader of the sample.
    pub reader: Option<SandboxProfile>,
    /// Around libtorch where it says what ops return.
    pub types: Option<SandboxProfile>,
    /// Around libtorch where programs run.
    pub device: Option<SandboxProfile>,
    /// Around the compiler of kernels for a GPU.
    #[serde(default)]
    pub compiler: Option<SandboxProfile>,
}

impl ChildProfiles {
    /// Which children were not fully confined, and what was missing, in words; none where all were.
    pub fn note(&self) -> Option<String> {
        let children = [
            ("guest", self.guest),
            ("reader", self.reader),
            ("types", self.types),
            ("device", self.device),
            ("compiler", self.compiler),
        ];
        let missing = children
            .map(|(name, profile)| profile.and_then(|profile| profile.missing()).map(|missing| (name, missing)));
        let missing: Vec<String> =
            missing.iter().flatten().map(|(name, missing)| format!("{name} (no {missing})")).collect();
        let note = "this kernel cannot confine child processes fully";
        (!missing.is_empty()).then(|| format!("{note}: {}; see THREAT_MODEL.md", missing.join(", ")))
    }
}

/// What was evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Path of the plugin as given.
    pub plugin: String,
    /// Of the plugin.
    pub plugin_sha256: String,
    /// What the plugin says of itself; untrusted.
    pub plugin_info: Option<PassInfo>,
    /// Path of the sample as given.
    pub sample: String,
    /// Of the sample's files.
    pub sample_sha256: String,
    /// Lists that named the sample, without their endings. Older documents do not say.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Version of passhost.
    pub host: String,
    /// [`CHECK`] of the program that made it.
    #[serde(default = "first_check")]
    pub check: u32,
    /// The device, where one was opened.
    pub device: Option<DeviceInfo>,
    /// Whether `--seed` fixed the inputs: for debugging, never for a ranking.
    pub fixed_seed: bool,
    /// How inputs were drawn. Older documents do not say.
    #[serde(default)]
    pub inputs: Option<InputMode>,
    /// What ran in place of a plugin's rewrite, if something else did: then all speedups are against eager as Python calls
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// Variants of the sample that were not evaluated because others were named. Then no score is that of the sample.
    #[serde(default, skip_serializing_if = "is_none_of_them")]
    pub left_out: u32,
}

fn is_none_of_them(count: &u32) -> bool {
    *count == 0
}

/// What a user of PyTorch could pick in place of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// `eager`, `inductor` and so on, as `passhost baseline --with` takes it.
    pub method: String,
    /// How it launches its kernels. Eager, which it is timed against, launches one after the other.
    pub launch: Launch,
    /// Version of Python.
    pub python: String,
    /// Version of PyTorch.
    pub torch: String,
}

/// Scores over the device's time. What is right stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DeviceScores {
    /// AS.
    pub aggregate_score: f64,
    /// AS strict.
    pub aggregate_score_strict: f64,
    /// Their intervals, between processes.
    pub confidence: Option<Confidence>,
}

/// Limits in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Of the guest.
    pub guest: GuestLimits,
    /// Of the measurement.
    pub measurement: Settings,
}

/// One graph variant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Variant {
    /// Path of the graph within the sample.
    pub name: String,
    /// PyTorch's name of the element type that takes most bytes of the inputs and outputs. Older documents do not say, and
    /// neither does a variant that could not be read.
    #[serde(default)]
    pub element_type: Option<String>,
    /// Bytes of the inputs and outputs together, likewise.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Why it is not right, or `None` if it is at t = -5.
    pub class: Option<FailureClass>,
    /// What happened.
    pub failure: Option<Failure>,
    /// How far the plugin came, where that can be said. Older documents do not say.
    #[serde(default)]
    pub progress: Option<Progress>,
    /// What the rewrite did.
    pub rewrite: Option<Rewrite>,
    /// What the pass used, over one call.
    pub usage: Option<GuestUsage>,
    /// One per output.
    pub outputs: Vec<OutputReport>,
    /// Findings of the integrity layers, in words.
    pub findings: Vec<String>,
    /// The node of the rewrite that makes it wrong, where one can be named. It counts for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "departure")]
    pub first_divergent_node: Option<DivergentNode>,
    /// The part of the rewrite that is refused, as text, with a caret under what is wrong. It is the plugin's text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excerpt: Vec<String>,
    /// What is wrong on unusual inputs where the reference is right. Counts in AS strict alone.
    #[serde(default)]
    #[serde(alias = "domain")]
    pub edge_cases: Vec<EdgeCaseFinding>,
    /// The pass on other sizes of the graph, where the policy asks for that. Counts in AS strict alone.
    #[serde(default)]
    pub hidden: Option<HiddenShapes>,
    /// What could not be checked, and other remarks.
    pub notes: Vec<String>,
    /// A trivial candidate that is right at t = -2, if there is one.
    pub trivial: Option<String>,
    /// Least t at which every output is right.
    #[serde(alias = "right_from")]
    pub passes_at: Option<i8>,
    /// Where outputs are wrong at t = -5 beside eager's and the policy lets a run in double precision decide: what AS strict
    /// goes by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
    /// Seed of the inputs, drawn after the rewrite was hashed.
    pub seed: Option<u64>,
    /// How many rounds there were beside the ordinary ones, by the budget. Older documents do not say: all.
    #[serde(default)]
    pub other_rounds: Option<OtherRounds>,
    /// How strong the check is, where that was measured before (`passhost samples strength`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// The kernels that were measured in several schedules, where that was asked for, and which each has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tuned: Vec<TunedKernel>,
    /// Times.
    pub timing: Option<Timing>,
    /// Where the time of the evaluation went, microseconds. Older documents do not say.
    #[serde(default)]
    pub spent_us: Spent,
}

impl Variant {
    /// The least t at which all outputs are right, by the rules of the policy; `None` if at none.
    pub fn counts_from(&self) -> Option<i8> {
        self.decided.map_or(self.passes_at, |decided| decided.passes_at)
    }
}

/// Of the inputs and outputs of a program: PyTorch's name of the element type that takes most bytes, and the bytes of all.
pub fn tensors_of(program: &Graph) -> (Option<String>, u64) {
    let mut bytes: BTreeMap<Dtype, u64> = BTreeMap::new();
    for value in program.inputs.iter().chain(&program.outputs) {
        let ty = &program.values[value.index()].ty;
        let sum = bytes.entry(ty.dtype).or_default();
        *sum = sum.saturating_add(ty.bytes());
    }
    let most = bytes.iter().max_by_key(|(_, bytes)| **bytes);
    let all = bytes.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
    (most.map(|(dtype, _)| dtype.torch_name().to_owned()), all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::{TensorType, Value, ValueId};

    #[test]
    fn a_note_says_who_is_not_fully_confined() {
        let whole = SandboxProfile { seccomp: true, landlock: Some(7) };
        let profiles = ChildProfiles { guest: Some(whole), reader: Some(whole), ..ChildProfiles::default() };
        assert_eq!(profiles.note(), None);
        let profiles = ChildProfiles { device: Some(SandboxProfile { seccomp: true, landlock: None }), ..profiles };
        let note = profiles.note().unwrap_or_default();
        assert!(note.contains("fully: device (no Landlock);"), "{note}");
    }

    #[test]
    fn a_variant_is_described_by_the_type_that_takes_most_bytes() {
        let value = |name: &str, dtype, count| Value { name: name.into(), ty: TensorType::contiguous(dtype, [count]) };
        let values = vec![value("index", Dtype::I64, 4), value("half", Dtype::F16, 100), value("out", Dtype::F16, 50)];
        let program =
            Graph { values, inputs: vec![ValueId(0), ValueId(1)], outputs: vec![ValueId(2)], ..Graph::default() };
        assert_eq!(tensors_of(&program), (Some("float16".to_owned()), 32 + 200 + 100));
    }
}
