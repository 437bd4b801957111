//! A rewrite is checked against the loaded reference, round by round.

use super::ReferenceSession;
use super::checks::Checks;
use super::others::{Others, Started};
use crate::blame::memory_of;
use crate::inputs::Round;
use passhost_ir::parameter_name;
use passhost_protocol::device::{DeviceStage, EvaluationReport, RewriteError, RewriteJob};
use passhost_result::{NoteKind, Work};
use std::time::Duration;

impl ReferenceSession {
    /// Checks a rewrite.
    pub fn evaluate(&self, job: &RewriteJob, stage: impl FnMut(DeviceStage)) -> EvaluationReport {
        let mut evaluation = EvaluationReport::default();
        if let Err(error) = self.try_evaluate(job, stage, &mut evaluation) {
            evaluation.error = Some(memory_of(error, || self.takes_less_than(&job.rewrite)));
            evaluation.outputs.clear();
        }
        evaluation
    }

    fn try_evaluate(
        &self,
        job: &RewriteJob,
        mut stage: impl FnMut(DeviceStage),
        evaluation: &mut EvaluationReport,
    ) -> Result<(), RewriteError> {
        stage(DeviceStage::Plan);
        let program = self.compiled(job)?;
        self.device.charge(Work::Compile);
        stage(DeviceStage::Correctness);
        let RewriteJob { draws, settings, .. } = job;
        let seed = draws.seed;
        self.kept_rounds.keep(draws.mutant.map(|_| seed));
        let ordinary = |number| Round { seed, number, scaled: None };
        let fixed = self.specs.iter().filter(|spec| spec.is_fixed());
        let fixed = fixed.map(|spec| format!("input `{}` is the same in every round", parameter_name(&spec.name)));
        evaluation.notes.extend(fixed.map(|text| NoteKind::FixedInput.note(text)));
        let mut checks = Checks::new(self, &program, settings, evaluation);
        // The least of several: the first round finds nothing warm.
        let mut least = Duration::MAX;
        for number in 0..settings.rounds.max(1) {
            let started = Started::now();
            let prepared = self.round(ordinary(number))?;
            if self.round_takes.get().is_none() {
                least = least.min(self.time_of_round(&started, &prepared.eager));
            }
            checks.round(ordinary(number), &prepared)?;
        }
        let round_takes = *self.round_takes.get_or_init(|| least);
        let others = Others::choose(self, draws, settings, round_takes);
        checks.evaluation.others = others.report.clone();
        let confirmed = checks.confirm(seed);
        let ended = confirmed.and_then(|()| others.run(&mut checks, settings.rounds));
        // What the ordinary rounds say together is an offence whatever becomes of the others.
        let reports = checks.finish();
        ended?;
        evaluation.outputs = reports;
        Ok(())
    }
}
