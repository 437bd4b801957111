//! What must be equal for numbers to answer the same question, and what should be.

use passhost_result::document::{Document, Launch};
use passhost_result::{DeviceInfo, Headline, InputMode, left_out};
use passhost_score::Options;
use serde::Serialize;
use std::collections::BTreeSet;

/// What decides which question a result answers. Results of different conditions are never put together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conditions {
    /// Name of the policy.
    pub policy: String,
    /// SHA-256 of its text.
    pub policy_sha256: String,
    /// The score that it makes the headline.
    pub headline: Headline,
    /// Version of the check.
    pub check: u32,
    /// `cpu` or `cuda`; `None` where no device was needed, as by a plugin that does not load or a sample that is not there:
    /// such results go with those of any device.
    pub device: Option<String>,
    /// How inputs were drawn, where the document says so.
    pub inputs: Option<InputMode>,
    /// Constants of the score.
    pub options: Options,
    /// How kernels are launched.
    pub launch: Launch,
    /// Whether kernels have the fastest of the schedules that were measured.
    pub tuned: bool,
    /// Whether the smallest variants alone were tried, in one round.
    pub quick: bool,
    /// Whether some variants were named, and the others left out.
    pub named: bool,
    /// What speedups are against.
    pub eager: Eager,
}

/// Who calls the ops that speedups are against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Eager {
    /// The device process, which has no Python.
    Libtorch,
    /// Python, as users of PyTorch do.
    Python,
}

impl std::fmt::Display for Eager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Eager::Libtorch => "eager in libtorch",
            Eager::Python => "eager called from Python",
        })
    }
}

impl Conditions {
    /// Those of a document.
    pub fn of(document: &Document) -> Conditions {
        let policy = &document.policy;
        Conditions {
            policy: policy.name().to_owned(),
            policy_sha256: policy.sha256().to_owned(),
            headline: policy.rules().headline,
            check: document.job.check,
            device: document.job.device.as_ref().map(|device| device.facts.kind.to_string()),
            inputs: document.job.inputs,
            options: document.options,
            launch: document.launch(),
            tuned: document.is_tuned(),
            quick: document.limits.measurement.quick,
            named: document.job.left_out > 0,
            eager: if document.job.baseline.is_some() { Eager::Python } else { Eager::Libtorch },
        }
    }

    /// What is otherwise with `other`, in words.
    pub fn differences(&self, other: &Conditions) -> Vec<String> {
        let inputs = |one: &Conditions| match one.inputs {
            Some(InputMode::Fresh) => "fresh",
            Some(InputMode::Published) => "published",
            None => "unknown",
        };
        let schedules = |one: &Conditions| if one.tuned { "measured" } else { "default" };
        let constants = |one: &Conditions| {
            let Options { b, p, interpretation } = one.options;
            format!("b = {b}, p = {p}, {interpretation:?}")
        };
        let device = self.device.as_deref().zip(other.device.as_deref());
        let device_differs = device.is_some_and(|(one, two)| one != two);
        let (one_device, two_device) = device.unwrap_or_default();
        let policies = if self.policy == other.policy {
            format!("two policies that are both called `{}`", self.policy)
        } else {
            format!("policy `{}` and `{}`", self.policy, other.policy)
        };
        let all = [
            (self.policy_sha256 != other.policy_sha256, policies),
            (self.check != other.check, format!("check {} and {}", self.check, other.check)),
            (device_differs, format!("device {one_device} and {two_device}")),
            (self.inputs != other.inputs, format!("inputs {} and {}", inputs(self), inputs(other))),
            (self.launch != other.launch, format!("{} and {}", self.launch, other.launch)),
            (self.tuned != other.tuned, format!("{} and {} schedules", schedules(self), schedules(other))),
            (self.quick != other.quick, "quick and whole evaluations".to_owned()),
            (self.named != other.named, "evaluations of all variants and of named ones".to_owned()),
            (self.eager != other.eager, format!("times against {} and {}", self.eager, other.eager)),
            (self.options != other.options, format!("constants {} and {}", constants(self), constants(other))),
        ];
        all.into_iter().filter_map(|(differs, words)| differs.then_some(words)).collect()
    }
}

/// Remarks of one kind that are shown; of more the number.
const FEW: usize = 3;

/// The first of the results whose figures were others in their files, and how many more there are.
pub(crate) fn few<'r>(recomputed: impl Iterator<Item = &'r String>) -> Vec<String> {
    let all: Vec<&String> = recomputed.collect();
    let mut shown: Vec<String> = all.iter().take(FEW).copied().cloned().collect();
    if all.len() > FEW {
        let more = all.len() - FEW;
        shown.push(format!(
            "{more} more results say something else than their trials: `passhost verify FILE --offline` lists all"
        ));
    }
    shown
}

/// What does not keep results apart, but may move their numbers: in words, for whoever reads them.
pub(crate) fn remarks(documents: &[&Document]) -> Vec<String> {
    let mut remarks = vec![];
    let count = |of: fn(&Document) -> bool| documents.iter().filter(|document| of(document)).count();
    let noisy = count(|document| document.limits.measurement.accept_noise);
    let fixed = count(|document| document.job.fixed_seed);
    let quick = count(|document| document.limits.measurement.quick);
    let named = count(|document| document.job.left_out > 0);
    for (count, what) in [
        (noisy, "accepted noise"),
        (fixed, "had a fixed seed"),
        (quick, "tried only the smallest variants"),
        (named, "tried only named variants"),
    ] {
        if count > 0 {
            remarks.push(format!("{count} of {} evaluations {what}: not a result to rank", documents.len()));
        }
    }
    let distinct = |of: &dyn Fn(&Document) -> Option<String>| -> Vec<String> {
        documents.iter().filter_map(|document| of(document)).collect::<BTreeSet<String>>().into_iter().collect()
    };
    let hosts = distinct(&|document| Some(document.job.host.clone()));
    if hosts.len() > 1 {
        remarks.push(format!("made by different versions of passhost: {}", hosts.join(", ")));
    }
    let devices = distinct(&|document| document.job.device.as_ref().map(DeviceInfo::text));
    if devices.len() > 1 {
        remarks.push(format!("made on different machines: {}", devices.join("; ")));
    }
    let settings = distinct(&|document| {
        let limits = &document.limits;
        let settings = limits.measurement;
        Some(format!(
            "budget {} ms, {} trials, {} warm-ups, {} rounds, fuel {}",
            settings.budget_ms, settings.trials, settings.warmups, settings.rounds, limits.guest.fuel
        ))
    });
    if settings.len() > 1 {
        remarks.push(format!("made with different settings: {}", settings.join("; ")));
    } else if let Some(first) = documents.first() {
        let variants = documents.iter().flat_map(|document| &document.variants);
        remarks.extend(left_out(variants, &first.limits.measurement));
    }
    remarks
}
