//! The second stage: the reference runs on the device, then the verified rewrite; and who is to blame if that gives
//! nothing.

use crate::check::{Checked, Checker, Refused, Verified};
use crate::child::ChildError;
use crate::device::{Device, DeviceError};
use crate::document::{Blame, HiddenShapes, Variant};
use crate::event::{VariantPlace, WorkStage};
use crate::failure::failure;
use crate::hidden::{self, Hidden};
use crate::judge::{Judged, conclude, failed, judge_evaluation};
use crate::reference::{load_reference, secret};
use crate::supervisor::Supervisor;
use passhost_ir::OpTable;
use passhost_protocol::device::{Loaded, RewriteError, Settings};
use passhost_protocol::reader;
use passhost_score::{FailureClass, VariantOutcome};
use std::time::{Duration, Instant};

/// Least budget of a rewrite's intermediates, in bytes.
const REWRITE_BYTES: u64 = 1 << 30;

/// A reference program that has run: what the rewrite is compared with.
pub(crate) struct Reference {
    pub read: reader::Variant,
    pub loaded: Loaded,
    /// What loading took: drawing its inputs, running and timing it.
    pub loading: Duration,
}

/// A variant on its way through the device.
struct Measurement<'a> {
    supervisor: &'a Supervisor,
    device: &'a mut Device,
    place: VariantPlace,
    reference: Reference,
}

impl Supervisor {
    /// Measures a variant that was checked. Where the run of the reference gives values of other types than inferred,
    /// `checker` checks the variant again with those.
    ///
    /// The reference runs whatever the check found, so that a sample that is of no use is not held against the plugin.
    pub fn measure(&self, device: &mut Device, mut checked: Checked, checker: &mut Checker<'_>) -> Judged {
        let started = Instant::now();
        let loaded = match &checked.read {
            Some(read) => load_reference(self, device, read, &checked.place, self.config.settings),
            None => return refused(checked),
        };
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(failure) => return failed(checked.variant, FailureClass::Reference, *failure),
        };
        let loading = started.elapsed();
        checker.check_again(&mut checked, &loaded.types);
        match (checked.read, checked.end) {
            (Some(read), Ok(verified)) => {
                let reference = Reference { read, loaded, loading };
                let mut measurement = Measurement { supervisor: self, device, place: checked.place, reference };
                let judged = measurement.run(checked.variant, &verified, checked.seed);
                measurement.hidden(judged, checked.hidden)
            }
            (read, end) => refused(Checked { read, end, ..checked }),
        }
    }
}

/// A variant that no rewrite came of.
fn refused(checked: Checked) -> Judged {
    match checked.end {
        Err(Refused { class, failure }) => failed(checked.variant, class, failure),
        // A variant that was not read has no rewrite.
        Ok(_) => failed(
            checked.variant,
            FailureClass::Reference,
            failure(Blame::Host, "sample", "a variant was not read and has a rewrite", "report this"),
        ),
    }
}

impl Measurement<'_> {
    /// Sends the verified rewrite to the device and judges what comes back.
    fn run(&mut self, mut variant: Variant, Verified { graph, summary }: &Verified, recorded: Option<u64>) -> Judged {
        let config = &self.supervisor.config;
        let settings = rewrite_settings(config.settings, &self.reference.loaded);
        let timed = !summary.pass_miss || settings.time_pass_miss;
        // The rewrite is hashed and verified by now: only now may the seed of its inputs exist.
        let seed = match recorded.map_or_else(|| secret(config), Ok) {
            Ok(seed) => seed,
            Err(error) => return failed(variant, FailureClass::Runtime, *error),
        };
        variant.seed = Some(seed);
        let limit = config.timeout.unwrap_or_else(|| evaluation_limit(&self.reference, &settings));
        let in_place = passhost_ir::in_place_nodes(&self.reference.read.program, OpTable::sample());
        let mut watch = |stage| self.supervisor.reached(&self.place, WorkStage::Device(stage));
        let evaluation = match self.device.evaluate(graph, &in_place, seed, settings, timed, limit, &mut watch) {
            Ok(evaluation) => evaluation,
            Err(DeviceError::Child(error)) => return self.blame_for_death(variant, &error),
            Err(error) => {
                let failure = failure(Blame::Host, "evaluation", error, "run `passhost doctor`");
                return failed(variant, FailureClass::Runtime, failure);
            }
        };
        if let Some(error) = &evaluation.error {
            let class = match error {
                RewriteError::Fault { .. } => {
                    let hint = "what was verified must not fault; report this plugin and sample";
                    return failed(variant, FailureClass::Runtime, failure(Blame::Host, "plan", error, hint));
                }
                RewriteError::Op { .. } => FailureClass::Runtime,
                RewriteError::WrongType { .. } => FailureClass::TypeMismatch,
            };
            let hint = "the reference runs on the same inputs; check the operands of the inserted node";
            return failed(variant, class, failure(Blame::Plugin, "plan", error, hint));
        }
        judge_evaluation(variant, evaluation)
    }

    /// Runs the hidden sizes of a variant that is right somewhere.
    fn hidden(&mut self, mut judged: Judged, hidden: Hidden) -> Judged {
        let (Some(seed), Some(VariantOutcome::Compared { right_from: Some(right_from), .. }), Some(inputs)) =
            (hidden.seed, judged.outcome, judged.variant.seed)
        else {
            return judged;
        };
        let run = |chosen| hidden::run(self.supervisor, self.device, &self.place, inputs, right_from, chosen);
        let shapes = hidden.shapes.into_iter().map(run).collect();
        judged.variant.hidden = Some(HiddenShapes { seed, shapes, missing: hidden.note });
        conclude(judged.variant, judged.timings)
    }

    /// The device child died or overran while it ran the rewrite: whether eager alone survives says whose doing it was.
    fn blame_for_death(&mut self, variant: Variant, error: &ChildError) -> Judged {
        let stage = self.device.stage().map_or("start".into(), |stage| stage.to_string());
        let settings = self.supervisor.config.settings;
        match load_reference(self.supervisor, self.device, &self.reference.read, &self.place, settings) {
            Ok(_) => {
                let message = format!("{error} while running the rewrite; the reference alone runs");
                let hint = "an inserted op or kernel crashes or hangs; take them out one by one";
                failed(variant, FailureClass::Runtime, failure(Blame::Plugin, &stage, message, hint))
            }
            Err(other) => failed(variant, FailureClass::Reference, *other),
        }
    }
}

/// With the bytes that the intermediates of a rewrite may take.
pub(crate) fn rewrite_settings(settings: Settings, reference: &Loaded) -> Settings {
    Settings { rewrite_bytes: REWRITE_BYTES.max(reference.peak_bytes.saturating_mul(4)), ..settings }
}

/// Twenty times what the same work takes eagerly, what drawing and comparing large tensors takes, plus the budgets and a
/// generous start.
pub(crate) fn evaluation_limit(reference: &Reference, settings: &Settings) -> Duration {
    let rounds = settings.rounds.saturating_add(Settings::ROUNDS_PER_INPUT * reference.read.inputs.len() as u32);
    let runs = u64::from(rounds.saturating_add(settings.warmups));
    let work =
        Duration::from_nanos(reference.loaded.slowest_ns.saturating_mul(u64::from(Settings::SLOW_FACTOR) * runs));
    // A run of the rewrite, one of eager, one in double precision and the comparisons take as long as drawing does.
    let drawing = reference.loading.saturating_mul(4).saturating_mul(rounds);
    let most = Duration::from_secs(600);
    Duration::from_secs(30) + 8 * Duration::from_millis(settings.budget_ms) + work.min(most) + drawing.min(most)
}
