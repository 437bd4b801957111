//! The verified rewrite runs on the device, beside the reference.

use super::judge::{MeasuredVariant, unfit};
use super::reference::MORE_MEMORY;
use super::{Reference, Stopped, Trail, VerifiedRewrite, secret};
use crate::hidden::{self, Hidden};
use crate::memory::{available, has_room};
use crate::strength::known;
use passhost_child::device::{Device, DeviceChildError, DeviceSession, LoadRequest};
use passhost_child::{ChildError, DOCTOR, DeviceGuard, Use, not_captured, schedules};
use passhost_ir::{Graph, Node, NodeId, NodeKind, OpTable, in_place_nodes};
use passhost_protocol::device::{
    Draws, EvaluationReport, NotCaptured, ReferenceError, RewriteError, RewriteJob, TimingError,
};
use passhost_protocol::reader::SampleVariant;
use passhost_result::document::{Blame, Failure, HiddenShapes, failure};
use passhost_result::untrusted::one_line;
use passhost_result::{DivergentNode, EdgeCaseFinding, Finding, NoteKind, Settings, ShownBy, TunedKernel, Work};
use passhost_score::FailureClass;
use std::time::Duration;

/// Wall clock for compiling one kernel in all schedules that it may have, and for all kernels of a rewrite.
const TUNED: Duration = Duration::from_secs(10);
const MOST_TUNED: Duration = Duration::from_secs(600);

/// How a rewrite is to be run.
#[derive(Default)]
pub(crate) struct RunPlan {
    /// Its inputs, where an evaluation is repeated, or other plugins are tried on the same ones.
    pub draws: Option<Draws>,
    /// Whether other plugins are tried on them.
    pub is_shared: bool,
    /// The schedules of its kernels, where an evaluation is repeated.
    pub tuned: Vec<TunedKernel>,
    pub hidden: Hidden,
}

/// A rewrite on the device.
pub(crate) struct Measurement<'a, 'd, 's> {
    pub trail: &'a mut Trail<'s>,
    pub session: &'a mut DeviceSession<'d>,
    pub reference: &'a Reference,
    pub rewrite: &'a Graph,
    pub pass_miss: bool,
}

/// Why nothing came of it.
pub(crate) enum MeasurementLost {
    /// The child of this number is gone.
    Process(usize, DeviceChildError),
    /// The rewrite fails.
    Rewrite(RewriteError),
    /// A program cannot be launched as it was to be.
    NotCaptured(NotCaptured),
    /// The reference fails.
    Reference(Failure),
}

impl From<TimingError> for MeasurementLost {
    fn from(error: TimingError) -> MeasurementLost {
        match error {
            TimingError::Rewrite(error) => MeasurementLost::Rewrite(error),
            TimingError::NotCaptured(reason) => MeasurementLost::NotCaptured(reason),
        }
    }
}

impl VerifiedRewrite {
    /// Runs it beside its reference, which the device has loaded, for as long as the guard allows others to run as well;
    /// then in hidden sizes, if it is right somewhere.
    pub fn measured(
        self,
        trail: &mut Trail<'_>,
        device: &mut Device,
        reference: &Reference,
        plan: RunPlan,
        guard: Option<DeviceGuard>,
    ) -> Result<MeasuredVariant, Stopped> {
        let config = &trail.supervisor.config;
        // The rewrite is hashed and verified by now: only now may the seed of its inputs exist.
        let own = || secret(config).map(Draws::of);
        let is_new = plan.is_shared || plan.draws.is_none();
        let draws = plan.draws.map_or_else(own, Ok);
        let mut draws = draws.map_err(|failure| Stopped::new(FailureClass::Runtime, failure))?;
        trail.entry.seed = Some(draws.seed);
        if is_new && let Some(known) = known(trail.supervisor, &reference.read, device.info()) {
            draws.first = known.first(draws.seed);
            trail.entry.strength = Some(known.strength);
        }
        let VerifiedRewrite { graph, pass_miss, .. } = self;
        let mut session = device.session();
        let mut on_device =
            Measurement { trail: &mut *trail, session: &mut session, reference, rewrite: &graph, pass_miss };
        let drawn = draws.seed;
        let measured = on_device.compared(draws, plan.tuned, guard);
        if let Ok(measured) = &measured {
            on_device.trail.entry.first_divergent_node = on_device.traced(measured, drawn);
        }
        trail.entry.spent_us.join(&session.end());
        let measured = measured?;
        let (_, passes_at) = measured.outcome(pass_miss, config.policy.rules());
        if let Some((seed, passes_at)) = plan.hidden.seed.zip(passes_at) {
            let _guard = trail.guard(device, Use::Shared);
            let mut session = device.session();
            let run = |chosen| hidden::run(trail, &mut session, drawn, passes_at, chosen);
            let shapes = plan.hidden.shapes.into_iter().map(run).collect();
            trail.entry.spent_us.add(Work::HiddenSizes, session.end().total());
            trail.entry.hidden = Some(HiddenShapes { seed, shapes, missing: plan.hidden.note });
        }
        Ok(measured)
    }
}

impl Measurement<'_, '_, '_> {
    /// Sends the rewrite to the device, checks it, and times it where that says something.
    fn compared(
        &mut self,
        draws: Draws,
        tuned: Vec<TunedKernel>,
        guard: Option<DeviceGuard>,
    ) -> Result<MeasuredVariant, Stopped> {
        let (config, reference) = (&self.trail.supervisor.config, self.reference);
        let SampleVariant { program, inputs, .. } = &*reference.read;
        let settings = reference.settings(config.settings);
        let limit = reference.limit(config, &settings);
        // Nodes of the rewrite that work in place, as the reference's do.
        let in_place = in_place_nodes(program, OpTable::sample());
        let mut job = RewriteJob { rewrite: self.rewrite.clone(), in_place, schedules: vec![], draws, settings };
        let guard = self.tune(&job, tuned, guard).map_err(|lost| self.stopped(lost))?;
        job.schedules = chosen_schedules(&self.trail.entry.tuned);
        let on_gpu = self.session.device().info().device != "cpu";
        let have_room = || on_gpu || has_room(program, inputs, Settings::PROCESSES, available()).is_ok();
        if !settings.accept_noise && (settings.time_pass_miss || !self.pass_miss) && have_room() {
            self.session.start_others();
            self.session.begin_loads(LoadRequest { program, inputs, seed: job.draws.seed });
        }
        let evaluation = self.twice(0, |session, watch| session.evaluate(&job, limit, watch));
        // What still loads would disturb whoever times next, here or in another evaluation.
        self.session.finish_loads(limit);
        drop(guard);
        let mut evaluation = evaluation.map_err(|lost| self.stopped(lost))?;
        if let Some(error) = &evaluation.error {
            return Err(rewrite_failed(error).after(&evaluation.findings));
        }
        // What is wrong without times needs none.
        if unfit(&evaluation, self.pass_miss && !settings.time_pass_miss).is_some() {
            return Ok(MeasuredVariant { evaluation, times: None, untimed: None });
        }
        match self.times(&job, limit, &mut evaluation) {
            // Outputs of timed runs may have shown what the checks did not.
            Ok(times) => Ok(MeasuredVariant { evaluation, times, untimed: None }),
            Err(MeasurementLost::NotCaptured(reason)) => match not_captured(&reason) {
                // What eager can, and the rewrite cannot, is a failure of the rewrite: leaving it out would be a way out.
                failure if failure.blame == Blame::Plugin => {
                    Err(Stopped::new(FailureClass::Runtime, failure).after(&evaluation.findings))
                }
                failure => Ok(MeasuredVariant { evaluation, times: None, untimed: Some(failure) }),
            },
            Err(lost) => Err(self.stopped(lost).after(&evaluation.findings)),
        }
    }

    /// Where it is asked for, measures the rewrite's kernels in the schedules that they may have, while nobody else uses the
    /// device; `known` are those of an evaluation that is repeated. They have the same ones from then on, in every process.
    fn tune(
        &mut self,
        job: &RewriteJob,
        known: Vec<TunedKernel>,
        guard: Option<DeviceGuard>,
    ) -> Result<Option<DeviceGuard>, MeasurementLost> {
        let is_kernel = |node: &Node| matches!(node.kind, NodeKind::Kernel { .. });
        let kernels = job.rewrite.nodes.iter().filter(|node| is_kernel(node)).count();
        if !job.settings.tune || self.session.device().info().device == "cpu" || kernels == 0 {
            return Ok(guard);
        }
        if !known.is_empty() {
            self.trail.entry.tuned = schedules::sound(&job.rewrite, known);
            return Ok(guard);
        }
        drop(guard);
        let alone = self.trail.guard(self.session.device(), Use::Alone);
        let config = &self.trail.supervisor.config;
        let limit = self.reference.limit(config, &job.settings) + tuning_limit(kernels);
        let limit = config.timeout.unwrap_or(limit);
        let tuned = self.twice(0, |session, watch| session.tune(job, limit, watch));
        drop(alone);
        let guard = self.trail.guard(self.session.device(), Use::Shared);
        let trouble = match tuned {
            Ok(Ok(tuned)) => {
                self.trail.entry.tuned = tuned;
                return Ok(guard);
            }
            Ok(Err(error)) => error.to_string(),
            Err(MeasurementLost::Process(_, DeviceChildError::Child(error))) if !error.is_hosts() => error.to_string(),
            Err(lost) => return Err(lost),
        };
        // What is the rewrite's doing shows again where it is checked, and is judged there.
        let text = format!("kernels have their default schedules: {}", one_line(&trouble, 600));
        self.trail.note(NoteKind::DefaultSchedules, [text]);
        self.reference.load_in(0, self.trail, self.session).map_err(MeasurementLost::Reference)?;
        Ok(guard)
    }

    /// Looks for the node that makes a rewrite wrong, once everything else is known of it. Where that fails, nothing is said:
    /// no verdict depends on it.
    fn traced(&mut self, measured: &MeasuredVariant, seed: u64) -> Option<DivergentNode> {
        let EvaluationReport { outputs, findings, edge_cases, .. } = &measured.evaluation;
        let config = &self.trail.supervisor.config;
        let (is_wrong, _) = measured.outcome(self.pass_miss, config.policy.rules());
        // The input whose growth shows it to be wrong.
        let scaled = findings.iter().find_map(|finding| match finding {
            Finding::Insensitive { input, .. } => Some(input.clone()),
            _ => None,
        });
        let shown_by = match (scaled, edge_cases.first().filter(|_| !is_wrong)) {
            (Some(input), _) => ShownBy::Scaled { input },
            (None, Some(EdgeCaseFinding { input, draw, .. })) => {
                ShownBy::EdgeCase { input: input.clone(), draw: draw.clone() }
            }
            (None, None) => ShownBy::Ordinary,
        };
        if outputs.is_empty() || !(is_wrong || shown_by != ShownBy::Ordinary) {
            return None;
        }
        let settings = self.reference.settings(config.settings);
        let schedules = chosen_schedules(&self.trail.entry.tuned);
        let draws = Draws::of(seed);
        let job = RewriteJob { rewrite: self.rewrite.clone(), in_place: vec![], schedules, draws, settings };
        let limit = self.reference.limit(config, &settings);
        let _guard = self.trail.guard(self.session.device(), Use::Shared);
        self.session.trace(job, shown_by, limit).unwrap_or_default()
    }

    /// Whose doing it is.
    pub fn stopped(&mut self, lost: MeasurementLost) -> Stopped {
        match lost {
            MeasurementLost::Process(process, DeviceChildError::Child(error)) if !error.is_hosts() => {
                self.blame_for_death(process, &error)
            }
            MeasurementLost::Process(_, error) => {
                Stopped::new(FailureClass::Runtime, failure(Blame::Host, "evaluation", error, DOCTOR))
            }
            MeasurementLost::Rewrite(error) => rewrite_failed(&error),
            MeasurementLost::NotCaptured(reason) => Stopped::new(FailureClass::Runtime, not_captured(&reason)),
            MeasurementLost::Reference(failure) => Stopped::new(FailureClass::Reference, failure),
        }
    }

    /// The device child died twice or overran while it ran the rewrite: whether eager alone survives says whose doing it was.
    fn blame_for_death(&mut self, process: usize, error: &ChildError) -> Stopped {
        let stage = self.session.device().stage(process).map_or("start".into(), |stage| stage.to_string());
        match self.reference.load_in(process, self.trail, self.session) {
            Ok(()) => {
                let message = format!("{error} while running the rewrite; the reference alone runs");
                let hint = "an inserted op or kernel crashes or hangs; take them out one by one";
                Stopped::new(FailureClass::Runtime, failure(Blame::Plugin, &stage, message, hint))
            }
            Err(other) => Stopped::new(FailureClass::Reference, other),
        }
    }
}

/// A rewrite that gave nothing to compare.
pub(crate) fn rewrite_failed(error: &RewriteError) -> Stopped {
    let class = match error {
        RewriteError::Fault { .. } => {
            let hint = "what was verified must not fault; report this plugin and sample";
            return Stopped::new(FailureClass::Runtime, failure(Blame::Host, "plan", error, hint));
        }
        RewriteError::Memory { .. } => {
            return Stopped::new(FailureClass::Runtime, failure(Blame::Host, "plan", error, MORE_MEMORY));
        }
        RewriteError::Reference(ReferenceError::Memory(_) | ReferenceError::TooLarge { .. }) => {
            return Stopped::new(FailureClass::Reference, failure(Blame::Host, "reference", error, MORE_MEMORY));
        }
        RewriteError::Reference(_) => {
            let hint = "record ranges of the inputs that the program takes, such as rows that its tables have";
            return Stopped::new(FailureClass::Reference, failure(Blame::Sample, "reference", error, hint));
        }
        RewriteError::Op { .. } => FailureClass::Runtime,
        RewriteError::WrongType { .. } => FailureClass::TypeMismatch,
    };
    let hint = "the reference runs on the same inputs; check the operands of the inserted node";
    Stopped::new(class, failure(Blame::Plugin, "plan", error, hint))
}

/// The schedules that kernels have in place of their defaults.
fn chosen_schedules(tuned: &[TunedKernel]) -> Vec<(NodeId, String)> {
    let chosen = |kernel: &TunedKernel| Some((kernel.node, kernel.other()?.schedule.clone()));
    tuned.iter().filter_map(chosen).collect()
}

/// For compiling so many kernels in all of their schedules.
fn tuning_limit(kernels: usize) -> Duration {
    TUNED.saturating_mul(u32::try_from(kernels).unwrap_or(u32::MAX)).min(MOST_TUNED)
}
