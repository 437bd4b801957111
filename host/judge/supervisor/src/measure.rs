//! The second stage: the reference runs on the device, then the verified rewrite; and who is to blame if that gives
//! nothing.

use crate::budget::warning;
use crate::check::{Checked, Checker, Refused, Verified};
use crate::event::{Event, VariantPlace, WorkStage};
use crate::hidden::{self, Hidden};
use crate::judge::{is_timed, judge_evaluation, not_timed};
use crate::memory::{available, has_room};
use crate::reference::{MORE_MEMORY, load_reference, secret};
use crate::supervisor::Supervisor;
use passhost_child::device::{Device, DeviceError, LoadRequest, RewriteRequest};
use passhost_child::schedules;
use passhost_child::{ChildError, Told, Turn, Use, not_captured};
use passhost_ir::{Node, NodeId, NodeKind, OpName, OpTable};
use passhost_protocol::device::{
    Draws, Evaluation, Loaded, NotCaptured, ReferenceError, RewriteError, Stage, TimingError,
};
use passhost_protocol::reader;
use passhost_result::document::{Blame, Failure, HiddenShapes, Variant, failure};
use passhost_result::timing::{Measured, Rules, measured};
use passhost_result::untrusted::one_line;
use passhost_result::verdict::{Judged, caught, conclude, failed};
use passhost_result::{DomainFinding, Finding, ProcessTimes, Settings, ShownBy, TunedKernel, Work};
use passhost_score::{FailureClass, VariantOutcome};
use std::time::{Duration, Instant};

/// Least budget of a rewrite's intermediates, in bytes.
const REWRITE_BYTES: u64 = 1 << 30;

/// Wall clock for compiling one kernel in all schedules that it may have, and for all kernels of a rewrite.
const TUNED: Duration = Duration::from_secs(10);
const MOST_TUNED: Duration = Duration::from_secs(600);

/// How often a variant is timed where the machine does something else, without being asked to wait.
pub(crate) const ATTEMPTS: u32 = 2;
/// How long a busy machine is left alone before it is tried again.
pub(crate) const PAUSE: Duration = Duration::from_secs(2);

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
    /// Nodes of a rewrite that work in place, as the reference's do.
    in_place: Vec<(NodeId, OpName)>,
    /// Schedules of a rewrite's kernels that were measured before; none if they are to be measured.
    tuned: Vec<TunedKernel>,
    /// The input whose growth showed a rewrite that ran to be wrong.
    stressed: Option<String>,
}

impl Supervisor {
    /// Measures a variant that was checked. Where the run of the reference gives values of other types than inferred,
    /// `checker` checks the variant again with those.
    ///
    /// The reference runs whatever the check found, so that a sample that is of no use is not held against the plugin.
    pub fn measure(&self, device: &mut Device, checked: Checked, checker: &mut Checker<'_>) -> Judged {
        device.take_spent();
        let mut judged = self.measure_unaccounted(device, checked, checker);
        judged.variant.spent_us.join(&device.take_spent());
        judged
    }

    fn measure_unaccounted(&self, device: &mut Device, mut checked: Checked, checker: &mut Checker<'_>) -> Judged {
        let turn = self.turn(device, Use::Shared, &checked.place);
        let started = Instant::now();
        let loaded = match &checked.read {
            Some(read) => load_reference(self, device, 0, read, &checked.place),
            None => return refused(checked),
        };
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(failure) => return failed(checked.variant, FailureClass::Reference, *failure),
        };
        let loading = started.elapsed();
        checker.notes(&mut checked.variant, &checked.place, warning(loading, &self.config.settings));
        checker.check_again(&mut checked, &loaded.types);
        match (checked.read, checked.end) {
            (Some(read), Ok(verified)) => {
                let in_place = passhost_ir::in_place_nodes(&read.program, OpTable::sample());
                let reference = Reference { read, loaded, loading };
                let (supervisor, place, tuned) = (self, checked.place, checked.tuned);
                let mut measurement =
                    Measurement { supervisor, device, place, reference, in_place, tuned, stressed: None };
                let judged = measurement.run(checked.variant, &verified, checked.draws, turn);
                let judged = measurement.traced(judged, &verified);
                measurement.hidden(judged, checked.hidden)
            }
            (read, end) => refused(Checked { read, end, ..checked }),
        }
    }

    /// Waits until the device may be used so. Where noise is accepted, nobody waits.
    pub(crate) fn turn(&self, device: &mut Device, how: Use, place: &VariantPlace) -> Option<Turn> {
        let tell = |told: Told<'_>| {
            let place = place.clone();
            self.tell(&match told {
                Told::Waits(holder) => Event::Waiting { place, holder: holder.clone() },
                Told::GoesOn(holder) => {
                    Event::Note { place, text: format!("{holder} for too long; not waited for it") }
                }
            });
        };
        let started = Instant::now();
        let turn = (!self.config.settings.accept_noise).then(|| Turn::take(&device.info().id, how, tell));
        device.account(Work::Wait, started.elapsed());
        turn
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
    /// Sends the verified rewrite to the device, checks and times it, and judges what comes back.
    fn run(&mut self, mut variant: Variant, verified: &Verified, draws: Option<Draws>, turn: Option<Turn>) -> Judged {
        let supervisor = self.supervisor;
        let (config, rules) = (&supervisor.config, supervisor.config.policy.rules());
        let settings = rewrite_settings(config.settings, &self.reference.loaded);
        // The rewrite is hashed and verified by now: only now may the seed of its inputs exist.
        let own = || secret(config).map(|seed| Draws { seed, are_shared: false, others: None });
        let draws = match draws.map_or_else(own, Ok) {
            Ok(draws) => draws,
            Err(error) => return failed(variant, FailureClass::Runtime, *error),
        };
        let seed = draws.seed;
        variant.seed = Some(seed);
        let limit = config.timeout.unwrap_or_else(|| evaluation_limit(&self.reference, &settings));
        let in_place = std::mem::take(&mut self.in_place);
        let rewrite = &verified.graph;
        let mut request = RewriteRequest { rewrite, in_place: &in_place, schedules: &[], draws, settings };
        let turn = match self.tune(request, &mut variant, turn) {
            Ok(turn) => turn,
            Err(lost) => return self.lost(variant, lost),
        };
        let schedules = chosen_schedules(&variant);
        request.schedules = &schedules;
        let pass_miss = verified.summary.pass_miss;
        let Reference { read, .. } = &self.reference;
        let on_gpu = self.device.info().device != "cpu";
        let have_room = || on_gpu || has_room(&read.program, &read.inputs, Settings::PROCESSES, available()).is_ok();
        if !settings.accept_noise && (settings.time_pass_miss || !pass_miss) && have_room() {
            self.device.start_others();
            self.device.begin_loads(LoadRequest { program: &read.program, inputs: &read.inputs, seed });
        }
        let evaluation = self.twice(0, |device, watch| device.evaluate(request, limit, watch));
        // What still loads would disturb whoever times next, here or in another evaluation.
        self.device.finish_loads(limit);
        drop(turn);
        let mut evaluation = match evaluation {
            Ok(evaluation) => evaluation,
            Err(lost) => return self.lost(variant, lost),
        };
        if let Some(error) = &evaluation.error {
            return caught(rewrite_failed(variant, error), &evaluation.findings);
        }
        self.stressed = evaluation.findings.iter().find_map(|finding| match finding {
            Finding::Insensitive { input, .. } => Some(input.clone()),
            _ => None,
        });
        if !is_timed(&evaluation, pass_miss, settings.time_pass_miss) {
            return judge_evaluation(variant, evaluation, None, rules);
        }
        match self.times(request, limit, &mut evaluation) {
            // Outputs of timed runs may have shown what the checks did not.
            Ok(measured) => judge_evaluation(variant, evaluation, measured, rules),
            Err(Lost::NotCaptured(reason)) => match not_captured(&reason) {
                // What eager can, and the rewrite cannot, is a failure of the rewrite: leaving it out would be a way out.
                failure if failure.blame == Blame::Plugin => {
                    caught(failed(variant, FailureClass::Runtime, failure), &evaluation.findings)
                }
                failure => not_timed(variant, evaluation, failure, rules),
            },
            Err(lost) => caught(self.lost(variant, lost), &evaluation.findings),
        }
    }

    /// Where it is asked for, measures the rewrite's kernels in the schedules that they may have, while nobody else uses the
    /// device. They have the same ones from then on, in every process.
    fn tune(
        &mut self,
        request: RewriteRequest<'_>,
        variant: &mut Variant,
        turn: Option<Turn>,
    ) -> Result<Option<Turn>, Lost> {
        let is_kernel = |node: &Node| matches!(node.kind, NodeKind::Kernel { .. });
        let kernels = request.rewrite.nodes.iter().filter(|node| is_kernel(node)).count();
        if !request.settings.tune || self.device.info().device == "cpu" || kernels == 0 {
            return Ok(turn);
        }
        if !self.tuned.is_empty() {
            variant.tuned = schedules::sound(request.rewrite, std::mem::take(&mut self.tuned));
            return Ok(turn);
        }
        drop(turn);
        let alone = self.supervisor.turn(self.device, Use::Alone, &self.place);
        let limit = evaluation_limit(&self.reference, &request.settings) + tuning_limit(kernels);
        let limit = self.supervisor.config.timeout.unwrap_or(limit);
        let tuned = self.twice(0, |device, watch| device.tune(request, limit, watch));
        drop(alone);
        let turn = self.supervisor.turn(self.device, Use::Shared, &self.place);
        let trouble = match tuned {
            Ok(Ok(tuned)) => {
                variant.tuned = tuned;
                return Ok(turn);
            }
            Ok(Err(error)) => error.to_string(),
            Err(Lost::Process(_, DeviceError::Child(error))) => error.to_string(),
            Err(lost) => return Err(lost),
        };
        // What is the rewrite's doing shows again where it is checked, and is judged there.
        variant.notes.push(format!("kernels have their default schedules: {}", one_line(&trouble, 600)));
        load_reference(self.supervisor, self.device, 0, &self.reference.read, &self.place).map_err(Lost::Reference)?;
        Ok(turn)
    }

    /// Times the rewrite, again where the machine did something else: twice, and for as long as was asked to wait. `None` if
    /// the times give no speedup.
    fn times(
        &mut self,
        request: RewriteRequest<'_>,
        limit: Duration,
        evaluation: &mut Evaluation,
    ) -> Result<Option<Measured>, Lost> {
        let rules = Rules::of(&self.device.info().device);
        let ops = self.reference.read.program.nodes.len();
        let give_up = Instant::now() + self.supervisor.config.wait;
        let mut attempts = 0;
        loop {
            let turn = self.supervisor.turn(self.device, Use::Alone, &self.place);
            let processes = self.time_once(request, limit, evaluation)?;
            drop(turn);
            attempts += 1;
            let Ok(mut measured) = measured(processes, rules, ops, request.settings.accept_noise) else {
                return Ok(None);
            };
            measured.timing.attempts = attempts;
            if measured.timing.trouble.is_none() || (attempts >= ATTEMPTS && Instant::now() >= give_up) {
                return Ok(Some(measured));
            }
            if attempts >= ATTEMPTS {
                std::thread::sleep(PAUSE);
                self.device.account(Work::Wait, PAUSE);
            }
        }
    }

    /// Times the rewrite in each process, the reference loaded in each. Where noise is accepted, one process does.
    fn time_once(
        &mut self,
        request: RewriteRequest<'_>,
        limit: Duration,
        evaluation: &mut Evaluation,
    ) -> Result<Vec<ProcessTimes>, Lost> {
        let mut all = vec![];
        for process in 0..Settings::PROCESSES as usize {
            let process = if request.settings.accept_noise { 0 } else { process };
            if process > 0 {
                load_reference(self.supervisor, self.device, process, &self.reference.read, &self.place)
                    .map_err(Lost::Reference)?;
            }
            let right_from: Vec<Option<i8>> = evaluation.outputs.iter().map(|output| output.right_from).collect();
            let timed = self
                .twice(process, |device, watch| device.time(process, request, Vec::clone(&right_from), limit, watch));
            let timed = timed?.map_err(Lost::from)?;
            for (output, right_from) in evaluation.outputs.iter_mut().zip(timed.right_from) {
                output.right_from = output.right_from.zip(right_from).map(|(one, other)| one.max(other));
            }
            let new = timed.findings.into_iter().filter(|finding| !evaluation.findings.contains(finding));
            evaluation.findings.extend(new.collect::<Vec<_>>());
            all.push(timed.times);
        }
        Ok(all)
    }

    /// Asks a device child, and a fresh one that has loaded the reference if it died: who kills a child once, and it may have
    /// been anybody, has not said anything of the rewrite.
    fn twice<T>(
        &mut self,
        process: usize,
        mut ask: impl FnMut(&mut Device, &mut dyn FnMut(Stage)) -> Result<T, DeviceError>,
    ) -> Result<T, Lost> {
        let (supervisor, place) = (self.supervisor, &self.place);
        let mut watch = |stage| supervisor.reached(place, WorkStage::Device(stage));
        match ask(self.device, &mut watch) {
            Err(DeviceError::Child(error @ ChildError::Died { .. })) => {
                let message = one_line(&error.to_string(), 600);
                supervisor.tell(&Event::ChildReplaced { place: place.clone(), message });
                load_reference(supervisor, self.device, process, &self.reference.read, place)
                    .map_err(Lost::Reference)?;
                ask(self.device, &mut watch)
            }
            first => first,
        }
        .map_err(|error| Lost::Process(process, error))
    }

    /// Nothing came of running the rewrite.
    fn lost(&mut self, variant: Variant, lost: Lost) -> Judged {
        match lost {
            Lost::Process(process, DeviceError::Child(error)) => self.blame_for_death(variant, process, &error),
            Lost::Process(_, error) => {
                let failure = failure(Blame::Host, "evaluation", error, "run `passhost doctor`");
                failed(variant, FailureClass::Runtime, failure)
            }
            Lost::Rewrite(error) => rewrite_failed(variant, &error),
            Lost::NotCaptured(reason) => failed(variant, FailureClass::Runtime, not_captured(&reason)),
            Lost::Reference(failure) => failed(variant, FailureClass::Reference, *failure),
        }
    }

    /// Looks for the node that made a rewrite wrong, once everything else is known of it. Where that fails, nothing is said:
    /// no verdict depends on it.
    fn traced(&mut self, mut judged: Judged, verified: &Verified) -> Judged {
        let ran = !judged.variant.outputs.is_empty();
        let wrong = matches!(
            judged.variant.class,
            Some(FailureClass::Accuracy | FailureClass::Integrity | FailureClass::NanInf)
        );
        let unusual = judged.variant.domain.first().filter(|_| !wrong);
        let shown_by = match (self.stressed.take(), unusual) {
            (Some(input), _) => ShownBy::Stressed { input },
            (None, Some(DomainFinding { input, draw, .. })) => {
                ShownBy::Unusual { input: input.clone(), draw: draw.clone() }
            }
            (None, None) => ShownBy::Ordinary,
        };
        let is_wrong = wrong || shown_by != ShownBy::Ordinary;
        let Some(seed) = judged.variant.seed.filter(|_| ran && is_wrong) else { return judged };
        let settings = rewrite_settings(self.supervisor.config.settings, &self.reference.loaded);
        let schedules = chosen_schedules(&judged.variant);
        let draws = Draws { seed, are_shared: false, others: None };
        let request =
            RewriteRequest { rewrite: &verified.graph, in_place: &[], schedules: &schedules, draws, settings };
        let limit = self.supervisor.config.timeout.unwrap_or_else(|| evaluation_limit(&self.reference, &settings));
        let _turn = self.supervisor.turn(self.device, Use::Shared, &self.place);
        judged.variant.departure = self.device.trace(request, shown_by, limit).unwrap_or_default();
        judged
    }

    /// Runs the hidden sizes of a variant that is right somewhere.
    fn hidden(&mut self, mut judged: Judged, hidden: Hidden) -> Judged {
        let right_from =
            judged.variant.counts_from().filter(|_| matches!(judged.outcome, Some(VariantOutcome::Compared { .. })));
        let (Some(seed), Some(right_from), Some(inputs)) = (hidden.seed, right_from, judged.variant.seed) else {
            return judged;
        };
        let _turn = self.supervisor.turn(self.device, Use::Shared, &self.place);
        judged.variant.spent_us.join(&self.device.take_spent());
        let run = |chosen| hidden::run(self.supervisor, self.device, &self.place, inputs, right_from, chosen);
        let shapes = hidden.shapes.into_iter().map(run).collect();
        let spent = self.device.take_spent().total();
        judged.variant.spent_us.add(Work::HiddenSizes, spent);
        judged.variant.hidden = Some(HiddenShapes { seed, shapes, missing: hidden.note });
        conclude(judged.variant, judged.speedups)
    }

    /// The device child died twice or overran while it ran the rewrite: whether eager alone survives says whose doing it was.
    fn blame_for_death(&mut self, variant: Variant, process: usize, error: &ChildError) -> Judged {
        let stage = self.device.stage(process).map_or("start".into(), |stage| stage.to_string());
        match load_reference(self.supervisor, self.device, process, &self.reference.read, &self.place) {
            Ok(_) => {
                let message = format!("{error} while running the rewrite; the reference alone runs");
                let hint = "an inserted op or kernel crashes or hangs; take them out one by one";
                failed(variant, FailureClass::Runtime, failure(Blame::Plugin, &stage, message, hint))
            }
            Err(other) => failed(variant, FailureClass::Reference, *other),
        }
    }
}

/// Why nothing was timed.
enum Lost {
    /// The child of this number is gone.
    Process(usize, DeviceError),
    /// The rewrite fails.
    Rewrite(RewriteError),
    /// A program cannot be launched as it was to be.
    NotCaptured(NotCaptured),
    /// The reference fails.
    Reference(Box<Failure>),
}

impl From<TimingError> for Lost {
    fn from(error: TimingError) -> Lost {
        match error {
            TimingError::Rewrite(error) => Lost::Rewrite(error),
            TimingError::NotCaptured(reason) => Lost::NotCaptured(reason),
        }
    }
}

/// The schedules that kernels have in place of their defaults.
fn chosen_schedules(variant: &Variant) -> Vec<(NodeId, String)> {
    let chosen = |kernel: &TunedKernel| Some((kernel.node, kernel.other()?.schedule.clone()));
    variant.tuned.iter().filter_map(chosen).collect()
}

/// A rewrite that gave nothing to compare.
fn rewrite_failed(variant: Variant, error: &RewriteError) -> Judged {
    let class = match error {
        RewriteError::Fault { .. } => {
            let hint = "what was verified must not fault; report this plugin and sample";
            return failed(variant, FailureClass::Runtime, failure(Blame::Host, "plan", error, hint));
        }
        RewriteError::Memory { .. } => {
            return failed(variant, FailureClass::Runtime, failure(Blame::Host, "plan", error, MORE_MEMORY));
        }
        RewriteError::Reference(ReferenceError::Memory { .. } | ReferenceError::TooLarge { .. }) => {
            return failed(variant, FailureClass::Reference, failure(Blame::Host, "reference", error, MORE_MEMORY));
        }
        RewriteError::Reference(_) => {
            let hint = "record ranges of the inputs that the program takes, such as rows that its tables have";
            return failed(variant, FailureClass::Reference, failure(Blame::Sample, "reference", error, hint));
        }
        RewriteError::Op { .. } => FailureClass::Runtime,
        RewriteError::WrongType { .. } => FailureClass::TypeMismatch,
    };
    let hint = "the reference runs on the same inputs; check the operands of the inserted node";
    failed(variant, class, failure(Blame::Plugin, "plan", error, hint))
}

/// With the bytes that the intermediates of a rewrite may take.
pub(crate) fn rewrite_settings(settings: Settings, reference: &Loaded) -> Settings {
    Settings { rewrite_bytes: REWRITE_BYTES.max(reference.peak_bytes.saturating_mul(4)), ..settings }
}

/// For compiling so many kernels in all of their schedules.
fn tuning_limit(kernels: usize) -> Duration {
    TUNED.saturating_mul(u32::try_from(kernels).unwrap_or(u32::MAX)).min(MOST_TUNED)
}

/// Twenty times what the same work takes eagerly, what drawing and comparing large tensors takes, plus the budgets and a
/// generous start.
pub(crate) fn evaluation_limit(reference: &Reference, settings: &Settings) -> Duration {
    let rounds = settings.rounds.saturating_add(Settings::ROUNDS_PER_INPUT * reference.read.inputs.len() as u32);
    let runs = u64::from(rounds.saturating_add(settings.warmups));
    let work = Duration::from_nanos(reference.loaded.first_ns.saturating_mul(u64::from(Settings::SLOW_FACTOR) * runs));
    // A run of the rewrite, one of eager, one in double precision and the comparisons take as long as drawing does.
    let drawing = reference.loading.saturating_mul(4).saturating_mul(rounds);
    let most = Duration::from_secs(600);
    Duration::from_secs(30) + 2 * Duration::from_millis(settings.budget_ms) + work.min(most) + drawing.min(most)
}
