//! What becomes of the methods on one variant.

use super::files::GraphFiles;
use super::print::{PythonProgram, Spec};
use super::python::{Python, PythonError, TimeSettings};
use super::{Baselines, Method};
use crate::evaluation::TypedReading;
use crate::event::WorkStage;
use crate::stages::{PAUSE, Reference, Stopped, Trail, judged, secret, timed_until_quiet};
use crate::supervisor::Supervisor;
use passhost_child::cores::{allowed, for_checking};
use passhost_child::device::Device;
use passhost_child::{DOCTOR, Use};
use passhost_ir::TensorType;
use passhost_protocol::device::{DeviceStage, EvaluationReport, ExternalRun, RewriteError, SingleRunError};
use passhost_result::document::{Blame, Failure, failure};
use passhost_result::timing::{Measured, Rules};
use passhost_result::verdict::Judged;
use passhost_result::{NoteKind, ProcessTimes, Settings};
use passhost_score::FailureClass;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Wall clock for Inductor to compile a graph and run it.
const COMPILE: Duration = Duration::from_secs(300);
/// What timing takes at most, in budgets of a process: pairs, controls and both warm-ups, and the device's own time.
const BUDGETS: u32 = 4;

/// A variant whose reference is loaded and whose inputs are drawn.
struct PreparedBaseline<'a> {
    supervisor: &'a Supervisor,
    baselines: &'a Baselines,
    device: &'a mut Device,
    /// What reading and drawing say of the variant.
    trail: Trail<'a>,
    reference: Reference,
    program: PythonProgram,
    inputs: Vec<Spec>,
    seed: u64,
    settings: Settings,
    files: GraphFiles,
    /// The Pythons that hold the graph.
    pythons: Vec<Option<Python>>,
}

/// Why nothing was measured of a method.
enum MethodLost {
    /// The method cannot do it, or what it gives is no answer.
    Method(FailureClass, Failure),
    /// The sample or the host is to blame.
    Other(Box<Failure>),
}

impl Supervisor {
    /// Measures methods on a variant that was read. One verdict a method, in their order.
    pub(super) fn measure_baselines(
        &self,
        baselines: &Baselines,
        device: &mut Device,
        reading: Result<TypedReading<'_>, Box<Judged>>,
        methods: &[Method],
    ) -> Vec<Judged> {
        let reading = match reading {
            Ok(reading) => reading,
            Err(judged) => return vec![*judged; methods.len()],
        };
        let trail = reading.trail.clone();
        match prepare(self, baselines, device, reading) {
            Ok(mut prepared) => methods.iter().map(|method| prepared.judge(*method)).collect(),
            Err(failure) => vec![Stopped::new(FailureClass::Reference, failure).judged(trail); methods.len()],
        }
    }
}

/// Runs the reference, and has the inputs of all rounds written.
fn prepare<'a>(
    supervisor: &'a Supervisor,
    baselines: &'a Baselines,
    device: &'a mut Device,
    reading: TypedReading<'a>,
) -> Result<PreparedBaseline<'a>, Failure> {
    let TypedReading { mut trail, typed } = reading;
    let _guard = trail.guard(device, Use::Shared);
    let mut session = device.session();
    let mut reference = Reference::load(&trail, &mut session, typed.reference)?;
    for (value, found) in Arc::make_mut(&mut reference.read).program.values.iter_mut().zip(&reference.loaded.types) {
        value.ty = found.clone();
    }
    let seed = secret(&supervisor.config)?;
    let settings = supervisor.config.settings;
    let files = GraphFiles::of(&baselines.wanted, trail.entry.bytes.unwrap_or_default(), settings.rounds);
    trail.note(NoteKind::BaselineInputs, [files.note().into()]);
    files.make()?;
    let limit = limit(supervisor, reference.limit(&supervisor.config, &settings) + files.transfer_time());
    let hosts = |error: &dyn std::fmt::Display| failure(Blame::Host, "inputs", error, DOCTOR);
    session.draw(seed, files.timed + 1, limit).map_err(|error| hosts(&error))?.map_err(|error| match error {
        SingleRunError::Write { .. } => files.no_room(error),
        SingleRunError::Program(_) => hosts(&error),
    })?;
    let program = PythonProgram::of(&reference.read.program, &baselines.setup.device);
    let program = program.map_err(|error| failure(Blame::Host, "print", error, "report this sample"))?;
    let inputs = reference.read.inputs.iter().map(|input| Spec::of(&input.ty)).collect();
    let pythons = (0..baselines.wanted.processes).map(|_| None).collect();
    Ok(PreparedBaseline {
        supervisor,
        baselines,
        device,
        trail,
        reference,
        program,
        inputs,
        seed,
        settings,
        files,
        pythons,
    })
}

/// Wall clock of a step: what was asked for, or what it should take.
fn limit(supervisor: &Supervisor, derived: Duration) -> Duration {
    supervisor.config.timeout.unwrap_or(derived)
}

impl PreparedBaseline<'_> {
    fn judge(&mut self, method: Method) -> Judged {
        let untried = self.trail.clone();
        let timed = self.check(method).and_then(|mut evaluation| {
            let measured = self.times(method, &mut evaluation)?;
            Ok((evaluation, measured))
        });
        self.files.forget_outputs();
        let mut trail = std::mem::replace(&mut self.trail, untried);
        trail.entry.seed = Some(self.seed);
        let stopped = match timed {
            Ok((evaluation, measured)) => {
                return judged(trail.entry, evaluation, measured, self.supervisor.config.policy.rules());
            }
            Err(MethodLost::Method(class, failure)) => {
                // A capture that failed may have left its process unfit for the next method.
                self.pythons.iter_mut().for_each(|python| *python = None);
                Stopped::new(class, failure)
            }
            Err(MethodLost::Other(failure)) => Stopped::new(FailureClass::Reference, *failure),
        };
        stopped.judged(trail)
    }

    /// Runs a method on the inputs of every round, and compares what comes of it.
    fn check(&mut self, method: Method) -> Result<EvaluationReport, MethodLost> {
        let _guard = self.trail.guard(self.device, Use::Shared);
        self.trail.reached(WorkStage::Device(DeviceStage::Correctness));
        let (rounds, limit) = (self.files.compared, limit(self.supervisor, COMPILE + self.files.transfer_time()));
        let ran = self.ask(0, |python| python.run(method, rounds, method.name(), limit))?;
        self.compare(method, &ran.outputs, 0..rounds)
    }

    /// Compares outputs in files.
    fn compare(
        &mut self,
        method: Method,
        outputs: &[Spec],
        rounds: Range<u32>,
    ) -> Result<EvaluationReport, MethodLost> {
        let types: Option<Vec<TensorType>> = outputs.iter().map(Spec::ty).collect();
        let unknown = || {
            method_failed(FailureClass::TypeMismatch, "correctness", "an output is of a type that is not known here")
        };
        let (name, seed, settings) = (method.name().to_owned(), self.seed, self.settings);
        let directory = self.baselines.wanted.outputs.clone();
        let (outputs, first, rounds) = (types.ok_or_else(unknown)?, rounds.start, rounds.len() as u32);
        let run = ExternalRun { directory, name, outputs, seed, first, rounds, settings };
        let limit = self.reference.limit(&self.supervisor.config, &settings) + self.files.transfer_time();
        let limit = self::limit(self.supervisor, limit);
        let lost = |error: &dyn std::fmt::Display| {
            MethodLost::Other(failure(Blame::Host, "correctness", error, DOCTOR).into())
        };
        let mut session = self.device.session();
        let evaluation = session.judge(run, limit);
        self.trail.entry.spent_us.join(&session.end());
        self.files.forget_outputs();
        let evaluation = evaluation.map_err(|error| lost(&error))?;
        match &evaluation.error {
            None => Ok(evaluation),
            Some(error @ RewriteError::WrongType { .. }) => {
                Err(method_failed(FailureClass::TypeMismatch, "correctness", error))
            }
            Some(error) => Err(lost(error)),
        }
    }

    /// Times a method, again where the machine did something else, as often as a rewrite is timed.
    fn times(&mut self, method: Method, evaluation: &mut EvaluationReport) -> Result<Option<Measured>, MethodLost> {
        let rules = Rules::of(&self.device.info().device);
        let (ops, noisy) = (self.reference.read.program.nodes.len(), self.settings.accept_noise);
        timed_until_quiet((rules, ops, noisy), self.supervisor.config.wait, |is_busy| {
            if is_busy {
                std::thread::sleep(PAUSE);
            }
            self.time_once(method, evaluation)
        })
    }

    /// Times a method as often as there are processes in an evaluation, each time in the next Python that holds the graph,
    /// and compares what one of the timed runs gave.
    fn time_once(
        &mut self,
        method: Method,
        evaluation: &mut EvaluationReport,
    ) -> Result<Vec<ProcessTimes>, MethodLost> {
        let guard = self.trail.guard(self.device, Use::Alone);
        self.trail.reached(WorkStage::Device(DeviceStage::Timing));
        let settings = self.time_settings();
        let budgets = Duration::from_nanos(settings.process_ns) * BUDGETS;
        let limit = limit(self.supervisor, COMPILE + budgets + self.files.transfer_time());
        let (round, name, pythons) = (self.files.timed, method.name(), self.pythons.len());
        let (mut times, mut outputs) = (vec![], vec![]);
        for process in 0..Settings::PROCESSES as usize {
            let seed = self.seed.wrapping_add(process as u64);
            let name = (process + 1 == Settings::PROCESSES as usize).then_some(name);
            let timed =
                self.ask(process % pythons, |python| python.time(method, &settings, seed, (round, name), limit))?;
            times.push(timed.times);
            outputs = timed.outputs;
        }
        drop(guard);
        let timed = self.compare(method, &outputs, round..round + 1)?;
        for (output, timed) in evaluation.outputs.iter_mut().zip(timed.outputs) {
            output.passes_at = output.passes_at.zip(timed.passes_at).map(|(checked, timed)| checked.max(timed));
        }
        Ok(times)
    }

    fn time_settings(&self) -> TimeSettings {
        let settings = &self.settings;
        let processes = Settings::PROCESSES;
        TimeSettings {
            process_ns: settings.budget_ms.saturating_mul(2_000_000) / u64::from(processes),
            warmups: settings.warmups,
            blocks: Settings::BLOCKS,
            control_blocks: Settings::CONTROL_BLOCKS,
            pairs: settings.trials.div_ceil(processes * Settings::BLOCKS).next_multiple_of(2),
            cores: if settings.accept_noise { vec![] } else { self.device.cores() },
        }
    }

    /// Asks a Python that holds the graph. One that ends or hangs has done so under this method.
    fn ask<T>(
        &mut self,
        number: usize,
        ask: impl FnOnce(&mut Python) -> Result<T, PythonError>,
    ) -> Result<T, MethodLost> {
        let mut python = match self.pythons[number].take() {
            Some(python) => python,
            None => self.start().map_err(|error| {
                MethodLost::Other(
                    failure(Blame::Host, "python", error, "run its program by hand, or report this").into(),
                )
            })?,
        };
        let answer = ask(&mut python);
        if answer.as_ref().err().is_none_or(PythonError::is_refusal) {
            self.pythons[number] = Some(python);
        }
        answer.map_err(|error| {
            if matches!(error, PythonError::Unwritable(_)) {
                return MethodLost::Other(self.files.no_room(error).into());
            }
            let class = if error.is_refusal() { FailureClass::Compile } else { FailureClass::Runtime };
            method_failed(class, "baseline", error)
        })
    }

    /// Starts a Python and gives it the graph.
    fn start(&self) -> Result<Python, PythonError> {
        let timing = self.device.cores();
        // Where times may be noisy, any core will do.
        let beside = if self.settings.accept_noise { allowed() } else { for_checking(&timing) };
        let mut python = self.baselines.python(&beside)?;
        let device = &self.baselines.setup.device;
        let limit = limit(self.supervisor, COMPILE + self.files.transfer_time());
        let folders = [&self.baselines.wanted.inputs, &self.baselines.wanted.outputs].map(PathBuf::as_path);
        python.load(device, &self.program, &self.inputs, folders, limit)?;
        Ok(python)
    }
}

fn method_failed(class: FailureClass, stage: &str, message: impl std::fmt::Display) -> MethodLost {
    MethodLost::Method(class, failure(Blame::Plugin, stage, message, "PyTorch cannot do this; no other way was tried"))
}
