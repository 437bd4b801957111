//! The times of a rewrite in this process: eager against itself, eager against the rewrite, eager against itself again,
//! then what the device alone takes.

use super::ReferenceSession;
use super::contestant::{Contestant, RunOutputs};
use super::drawn::input_error;
use crate::blame::{memory_of, of_eager, of_rewrite};
use crate::compare::OutputComparison;
use crate::decided::decide;
use crate::device::Spacing;
use crate::held::HeldTensor;
use crate::inputs::Round;
use crate::integrity;
use crate::measure::{self, BlockPlan, KeptOutputs, TrialRandom};
use crate::witness::Observer;
use passhost_ir::{Conversions, NodeId, OpTable, functionalise, in_place_nodes};
use passhost_protocol::device::{DeviceStage, ProcessTiming, RewriteError, RewriteJob, TimedProgram, TimingError};
use passhost_result::{Block, DeviceTimes, Finding, ProcessTimes, Settings, Work};
use passhost_runtime::{Hints, Mode};
use passhost_torch::{Program, Tensor};

/// The round whose inputs the timed runs use.
const TIMED: u32 = 1 << 17;
/// Timed runs of each process whose outputs are checked.
const CHECKED_RUNS: usize = 2;
/// How often the device's own speed is measured again before a rewrite is said to be faster.
const FLOORS: usize = 5;

impl ReferenceSession {
    /// Times a rewrite whose outputs were found right from `passes_at` on. The rewrite has not run in this process before
    /// eager was timed against itself, unless it was checked here.
    pub fn time(
        &self,
        job: &RewriteJob,
        passes_at: Vec<Option<i8>>,
        stage: impl FnMut(DeviceStage),
    ) -> Result<ProcessTiming, TimingError> {
        self.try_time(job, passes_at, stage).map_err(|error| match error {
            TimingError::Rewrite(error) => memory_of(error, || self.takes_less_than(&job.rewrite)).into(),
            error => error,
        })
    }

    fn try_time(
        &self,
        job: &RewriteJob,
        passes_at: Vec<Option<i8>>,
        mut stage: impl FnMut(DeviceStage),
    ) -> Result<ProcessTiming, TimingError> {
        stage(DeviceStage::Plan);
        let program = self.compiled(job)?;
        let control = self.control()?;
        self.device.charge(Work::Compile);
        stage(DeviceStage::Timing);
        let drawn = self.drawn(Round { seed: job.draws.seed, number: TIMED, scaled: None })?;
        let inputs = || drawn.tensors(self.device.target(), &self.specs).map_err(input_error);
        let sets = [inputs()?, inputs()?];
        self.device.charge(Work::Draw);
        let expected = self.held(&self.program.run(&inputs()?).map_err(of_eager)?);
        self.program.finish().map_err(of_eager)?;
        self.device.charge(Work::RunEager);
        let mut trials = Trials {
            reference: self,
            programs: [&self.program, &control, &program],
            sets: &sets,
            settings: &job.settings,
            random: TrialRandom::new(job.draws.seed),
            observer: Observer::new(&self.device),
            kept: KeptOutputs::new(CHECKED_RUNS),
            threads: DeviceTimes::default(),
        };
        let times = trials.take()?;
        let mut timed = ProcessTiming { times, findings: vec![], passes_at };
        let untimed = || Ok(self.held(&program.run(&inputs()?).map_err(of_rewrite)?));
        let exact = || self.run_in_double(self.in_double(Conversions::Dropped).ok()?, &drawn).ok();
        self.check_timed_runs(&trials.kept.outputs, &expected, &untimed, &exact, &mut timed)?;
        self.check_floor(&mut timed);
        self.device.charge(Work::Compare);
        Ok(timed)
    }

    /// Whether it runs on a GPU, where one thread asks for everything.
    pub fn is_on_gpu(&self) -> bool {
        self.device.has_queue()
    }

    /// Eager by the path that a rewrite takes: its functional form, compiled as a rewrite is.
    fn control(&self) -> Result<Program, RewriteError> {
        let failed = |message: String| RewriteError::Op { node: NodeId(0), op: "the reference".into(), message };
        let functional = functionalise(&self.graph, OpTable::sample()).map_err(|error| failed(error.to_string()))?;
        let in_place = in_place_nodes(&self.graph, OpTable::sample()).into_iter().collect();
        let hints = Hints { in_place, ..Hints::default() };
        Program::compile(&functional.graph, Mode::Declared, &hints, self.device.context()).map_err(of_rewrite)
    }

    /// A rewrite that is faster than the device can be has not done its work.
    fn check_floor(&self, timed: &mut ProcessTiming) {
        let moved = integrity::must_move(&self.graph, &self.output_types);
        let below = || integrity::below_floor(self.device.floor_ns(moved), &timed.times.pairs);
        for _ in 0..FLOORS {
            if below().1.is_none() {
                break;
            }
            self.device.measure_floor();
        }
        let (floor_ns, finding) = below();
        timed.times.floor_ns = floor_ns;
        timed.findings.extend(finding);
    }

    /// Compares outputs of timed runs with eager's. One that is worse than the checked rounds were is worse on these inputs,
    /// if a run that nobody times gives the same. Else it is another answer, unless each element is right by a double
    /// precision run: a library that finds too little memory left may calculate in another way.
    pub(super) fn check_timed_runs(
        &self,
        kept: &[Vec<Tensor>],
        expected: &[HeldTensor],
        untimed: &dyn Fn() -> Result<Vec<HeldTensor>, RewriteError>,
        exact: &dyn Fn() -> Option<Vec<HeldTensor>>,
        timed: &mut ProcessTiming,
    ) -> Result<(), RewriteError> {
        let mut own: Option<Vec<HeldTensor>> = None;
        for (position, found) in kept.iter().flat_map(|outputs| outputs.iter().enumerate()) {
            let (ty, held) = (&self.output_types[position], HeldTensor::of(&self.device, found));
            let passes_at =
                |reference: &HeldTensor| OutputComparison::new(ty.clone()).add(&self.device, &held, reference);
            let found = passes_at(&expected[position]);
            // A run with other inputs may need one step of tolerance more.
            let Some(checked) = timed.passes_at.get(position).copied().flatten() else { continue };
            let is_right = |found: i8| found <= checked + 1 || found <= -5;
            if found.is_some_and(is_right) {
                continue;
            }
            if own.is_none() {
                own = Some(untimed()?);
            }
            let is_own = own.as_ref().is_some_and(|own| passes_at(&own[position]).is_some_and(|found| found <= -5));
            let finding = Finding::TimedRunDiffers { output: position as u32 };
            let decided = || decide([&held, &expected[position], exact()?.get(position)?])?.passes_at;
            if is_own {
                timed.passes_at[position] = found;
            } else if !timed.findings.contains(&finding) && !decided().is_some_and(is_right) {
                timed.findings.push(finding);
            }
        }
        Ok(())
    }
}

/// The timed runs of one process.
struct Trials<'a> {
    reference: &'a ReferenceSession,
    /// Eager, eager by the path of a rewrite, and the rewrite.
    programs: [&'a Program; 3],
    /// The same inputs twice: one set for eager, one for whoever is timed against it.
    sets: &'a [Vec<Tensor>; 2],
    settings: &'a Settings,
    random: TrialRandom,
    observer: Observer<'a>,
    kept: KeptOutputs<Vec<Tensor>>,
    /// The calling thread's time on a core in the blocks with the rewrite.
    threads: DeviceTimes,
}

impl<'a> Trials<'a> {
    fn take(&mut self) -> Result<ProcessTimes, TimingError> {
        let [eager, control, rewritten] = self.programs;
        let [own, others] = self.sets;
        let (reference, launch) = (self.reference, self.settings.launch);
        let mut eager = Contestant::launched(reference, (TimedProgram::Reference, eager), own, launch)?;
        let mut control = Contestant::launched(reference, (TimedProgram::Reference, control), others, launch)?;
        let pair_ns = measure::warm_up(&mut eager, &mut control, self.settings)?;
        self.reference.device.charge(Work::WarmUp);
        let control_plan = BlockPlan::new(self.settings, Settings::CONTROL_BLOCKS, pair_ns);
        let mut controls = vec![self.control_block(&mut eager, &mut control, control_plan)?];
        self.reference.device.charge(Work::TimeControl);
        let mut rewritten = Contestant::launched(reference, (TimedProgram::Rewrite, rewritten), others, launch)?;
        let plan = self.plan(&mut eager, &mut rewritten)?;
        self.reference.device.charge(Work::WarmUp);
        let pairs = (0..plan.blocks)
            .map(|_| self.pair_block(&mut eager, &mut rewritten, plan))
            .collect::<Result<_, RewriteError>>()?;
        self.reference.device.charge(Work::TimePairs);
        if control_plan.blocks > 1 {
            measure::time_once(&mut control)?;
            controls.push(self.control_block(&mut eager, &mut control, control_plan)?);
        }
        self.reference.device.charge(Work::TimeControl);
        // What is restored for one program stands between the calls of both: they are timed alike.
        let spacing = if eager.overwrites() || rewritten.overwrites() { Spacing::Apart } else { Spacing::Close };
        let (device, device_note) = self.device_times(&mut eager, &mut rewritten, spacing)?;
        self.reference.device.charge(Work::TimeDevice);
        let flush = || self.reference.device.flush_caches();
        let (eager_cold_ns, rewritten_cold_ns) = measure::cold_pairs(&mut eager, &mut rewritten, self.settings, flush)?;
        self.reference.device.charge(Work::TimeCold);
        let method = self.reference.device.method(spacing).into();
        Ok(ProcessTimes {
            control: controls,
            pairs,
            device,
            device_note,
            eager_cold_ns,
            rewritten_cold_ns,
            method,
            floor_ns: 0,
        })
    }

    /// Warms the rewrite up and says how often it is timed.
    fn plan(&self, eager: &mut Contestant<'a>, rewritten: &mut Contestant<'a>) -> Result<BlockPlan, RewriteError> {
        // The first run makes ready what only a run does.
        let first = measure::time_once(rewritten)?.1;
        let (eager_ns, (rewritten_ns, second)) = (measure::time_once(eager)?.0, measure::time_once(rewritten)?);
        if rewritten_ns > eager_ns.saturating_mul(u64::from(Settings::SLOW_FACTOR)) {
            return Ok(BlockPlan::slow());
        }
        // As much lies there as will be kept of timed runs op by op: none of them asks the device for memory.
        let _kept: [RunOutputs; CHECKED_RUNS] = [first, second];
        let pair_ns = measure::warm_up(eager, rewritten, self.settings)?;
        Ok(BlockPlan::new(self.settings, Settings::BLOCKS, pair_ns))
    }

    fn control_block(
        &mut self,
        eager: &mut Contestant<'a>,
        control: &mut Contestant<'a>,
        plan: BlockPlan,
    ) -> Result<Block, RewriteError> {
        let Trials { random, observer, .. } = self;
        measure::block(eager, control, plan.pairs, random, observer, |_, _| {}).map(|timed| timed.block)
    }

    fn pair_block(
        &mut self,
        eager: &mut Contestant<'a>,
        rewritten: &mut Contestant<'a>,
        plan: BlockPlan,
    ) -> Result<Block, RewriteError> {
        let Trials { random, observer, kept, threads, .. } = self;
        let offer = |random: &mut TrialRandom, outputs: RunOutputs| kept.offer(random, || outputs.kept());
        let timed = measure::block(eager, rewritten, plan.pairs, random, observer, offer)?;
        threads.eager_ns.extend(timed.eager_thread_ns);
        threads.rewritten_ns.extend(timed.other_thread_ns);
        Ok(timed.block)
    }

    /// What the device alone takes, or why that cannot be told.
    fn device_times(
        &mut self,
        eager: &mut Contestant<'a>,
        rewritten: &mut Contestant<'a>,
        spacing: Spacing,
    ) -> Result<(Option<DeviceTimes>, String), RewriteError> {
        let device = &self.reference.device;
        if !device.has_queue() {
            return Ok((Some(std::mem::take(&mut self.threads)), String::new()));
        }
        let mut times = DeviceTimes::default();
        for _ in 0..DEVICE_TIMES {
            for (program, device_ns, host_ns) in [
                (&mut *eager, &mut times.eager_ns, &mut times.eager_host_ns),
                (&mut *rewritten, &mut times.rewritten_ns, &mut times.rewritten_host_ns),
            ] {
                let before = device_ns.last().copied();
                match device.queued_ns(program, spacing, before).map_err(of_rewrite)? {
                    Ok(taken) => {
                        device_ns.push(taken.device_ns);
                        host_ns.push(taken.host_ns);
                    }
                    Err(reason) => return Ok((None, reason.to_owned())),
                }
            }
        }
        Ok((Some(times), String::new()))
    }
}

/// How often the device's time is taken in each process.
const DEVICE_TIMES: usize = 3;
