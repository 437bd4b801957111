//! A rewrite is timed, as often as it takes, and in several processes.

use super::measure::{Measurement, MeasurementLost};
use crate::event::WorkStage;
use passhost_child::device::{DeviceChildError, DeviceSession};
use passhost_child::{ChildError, Use};
use passhost_protocol::device::{DeviceStage, EvaluationReport, RewriteJob};
use passhost_result::timing::{Measured, Rules, measured};
use passhost_result::{ProcessTimes, Settings, Work};
use std::time::{Duration, Instant};

/// How often a variant is timed where the machine does something else, without being asked to wait.
const ATTEMPTS: u32 = 2;
/// How long a busy machine is left alone before it is tried again.
pub(crate) const PAUSE: Duration = Duration::from_secs(2);

/// Takes times, again where the machine did something else: twice, and for as long as was asked to `wait`. `once` hears
/// whether the machine was busy that often that it is left alone first. `None` if the times give no speedup.
pub(crate) fn timed_until_quiet<E>(
    (rules, ops, accept_noise): (Rules, usize, bool),
    wait: Duration,
    mut once: impl FnMut(bool) -> Result<Vec<ProcessTimes>, E>,
) -> Result<Option<Measured>, E> {
    let give_up = Instant::now() + wait;
    for attempts in 1.. {
        let Ok(mut measured) = measured(once(attempts > ATTEMPTS)?, rules, ops, accept_noise) else { break };
        measured.timing.attempts = attempts;
        if measured.timing.trouble.is_none() || (attempts >= ATTEMPTS && Instant::now() >= give_up) {
            return Ok(Some(measured));
        }
    }
    Ok(None)
}

impl Measurement<'_, '_, '_> {
    /// Times the rewrite, again where the machine did something else: twice, and for as long as was asked to wait. `None` if
    /// the times give no speedup.
    pub fn times(
        &mut self,
        job: &RewriteJob,
        limit: Duration,
        evaluation: &mut EvaluationReport,
    ) -> Result<Option<Measured>, MeasurementLost> {
        let rules = Rules::of(&self.session.device().info().device);
        let ops = self.reference.read.program.nodes.len();
        let wait = self.trail.supervisor.config.wait;
        timed_until_quiet((rules, ops, job.settings.accept_noise), wait, |is_busy| {
            if is_busy {
                self.trail.spend(Work::Wait, |_| std::thread::sleep(PAUSE));
            }
            let _guard = self.trail.guard(self.session.device(), Use::Alone);
            self.time_once(job, limit, evaluation)
        })
    }

    /// Times the rewrite in each process, the reference loaded in each. Where noise is accepted, one process does.
    fn time_once(
        &mut self,
        job: &RewriteJob,
        limit: Duration,
        evaluation: &mut EvaluationReport,
    ) -> Result<Vec<ProcessTimes>, MeasurementLost> {
        let mut all = vec![];
        for process in 0..Settings::PROCESSES as usize {
            let process = if job.settings.accept_noise { 0 } else { process };
            if process > 0 {
                self.reference.load_in(process, self.trail, self.session).map_err(MeasurementLost::Reference)?;
            }
            let passes_at: Vec<Option<i8>> = evaluation.outputs.iter().map(|output| output.passes_at).collect();
            let timed =
                self.twice(process, |session, watch| session.time(process, job, passes_at.clone(), limit, watch));
            let timed = timed?.map_err(MeasurementLost::from)?;
            for (output, passes_at) in evaluation.outputs.iter_mut().zip(timed.passes_at) {
                output.passes_at = output.passes_at.zip(passes_at).map(|(one, other)| one.max(other));
            }
            let new = timed.findings.into_iter().filter(|finding| !evaluation.findings.contains(finding));
            evaluation.findings.extend(new.collect::<Vec<_>>());
            all.push(timed.times);
        }
        Ok(all)
    }

    /// Asks a device child, and a fresh one that has loaded the reference if it died: who kills a child once, and it may have
    /// been anybody, has not said anything of the rewrite.
    pub fn twice<T>(
        &mut self,
        process: usize,
        mut ask: impl FnMut(&mut DeviceSession<'_>, &mut dyn FnMut(DeviceStage)) -> Result<T, DeviceChildError>,
    ) -> Result<T, MeasurementLost> {
        let (trail, session) = (&*self.trail, &mut *self.session);
        let mut watch = |stage| trail.reached(WorkStage::Device(stage));
        match ask(session, &mut watch) {
            Err(DeviceChildError::Child(ChildError::Died { .. })) => {
                self.reference.load_in(process, trail, session).map_err(MeasurementLost::Reference)?;
                ask(session, &mut watch)
            }
            first => first,
        }
        .map_err(|error| MeasurementLost::Process(process, error))
    }
}
