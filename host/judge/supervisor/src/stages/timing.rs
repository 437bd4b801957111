//! A rewrite is timed, as often as it takes, and in several processes.

use super::measure::{Lost, Measurement};
use crate::event::WorkStage;
use passhost_child::device::{DeviceError, DeviceSession, RewriteRequest};
use passhost_child::{ChildError, Use};
use passhost_protocol::device::{Evaluation, Stage};
use passhost_result::timing::{Measured, Rules, measured};
use passhost_result::{ProcessTimes, Settings, Work};
use std::time::{Duration, Instant};

/// How often a variant is timed where the machine does something else, without being asked to wait.
pub(crate) const ATTEMPTS: u32 = 2;
/// How long a busy machine is left alone before it is tried again.
pub(crate) const PAUSE: Duration = Duration::from_secs(2);

impl Measurement<'_, '_> {
    /// Times the rewrite, again where the machine did something else: twice, and for as long as was asked to wait. `None` if
    /// the times give no speedup.
    pub fn times(
        &mut self,
        request: RewriteRequest<'_>,
        limit: Duration,
        evaluation: &mut Evaluation,
    ) -> Result<Option<Measured>, Lost> {
        let rules = Rules::of(&self.session.device().info().device);
        let ops = self.reference.read.program.nodes.len();
        let give_up = Instant::now() + self.trail.supervisor.config.wait;
        let mut attempts = 0;
        loop {
            let guard = self.trail.guard(self.session.device(), Use::Alone);
            let processes = self.time_once(request, limit, evaluation)?;
            drop(guard);
            attempts += 1;
            let Ok(mut measured) = measured(processes, rules, ops, request.settings.accept_noise) else {
                return Ok(None);
            };
            measured.timing.attempts = attempts;
            if measured.timing.trouble.is_none() || (attempts >= ATTEMPTS && Instant::now() >= give_up) {
                return Ok(Some(measured));
            }
            if attempts >= ATTEMPTS {
                self.trail.spend(Work::Wait, |_| std::thread::sleep(PAUSE));
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
                self.reference.load_in(process, self.trail, &mut self.session).map_err(Lost::Reference)?;
            }
            let right_from: Vec<Option<i8>> = evaluation.outputs.iter().map(|output| output.right_from).collect();
            let timed =
                self.twice(process, |session, watch| session.time(process, request, right_from.clone(), limit, watch));
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
    pub fn twice<T>(
        &mut self,
        process: usize,
        mut ask: impl FnMut(&mut DeviceSession<'_>, &mut dyn FnMut(Stage)) -> Result<T, DeviceError>,
    ) -> Result<T, Lost> {
        let (trail, session) = (&*self.trail, &mut self.session);
        let mut watch = |stage| trail.reached(WorkStage::Device(stage));
        match ask(session, &mut watch) {
            Err(DeviceError::Child(error @ ChildError::Died { .. })) => {
                trail.replaced(&error.to_string());
                self.reference.load_in(process, trail, session).map_err(Lost::Reference)?;
                ask(session, &mut watch)
            }
            first => first,
        }
        .map_err(|error| Lost::Process(process, error))
    }
}
