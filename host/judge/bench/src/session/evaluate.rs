//! A rewrite is checked against the loaded reference, round by round.

use super::ReferenceSession;
use super::checks::Checks;
use super::others::Others;
use crate::blame::memory_of;
use crate::inputs::Round;
use passhost_ir::parameter_name;
use passhost_protocol::device::{DeviceStage, EvaluationReport, RewriteError, RewriteJob};
use passhost_result::{NoteKind, Work};
use std::time::Instant;

impl ReferenceSession {
    /// Checks a rewrite.
    pub fn evaluate(&self, job: &RewriteJob, stage: impl FnMut(DeviceStage)) -> EvaluationReport {
        let mut evaluation = EvaluationReport::default();
        if let Err(error) = self.try_evaluate(job, stage, &mut evaluation) {
            evaluation.error = Some(memory_of(error, || self.device.can_give(job.settings.rewrite_bytes)));
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
        let ordinary = |number| Round { seed, number, scaled: None };
        let started = Instant::now();
        let first = self.round(ordinary(0))?;
        let others = Others::choose(self, draws, settings, self.round_takes(started, &first.eager));
        let fixed = self.specs.iter().filter(|spec| spec.is_fixed());
        let fixed = fixed.map(|spec| format!("input `{}` is the same in every round", parameter_name(&spec.name)));
        evaluation.notes.extend(fixed.map(|text| NoteKind::FixedInput.note(text)));
        evaluation.others = others.report;
        let mut checks = Checks::new(self, &program, settings, evaluation);
        checks.round(ordinary(0), &first)?;
        drop(first);
        for number in 1..settings.rounds {
            checks.round(ordinary(number), &self.round(ordinary(number))?)?;
        }
        let confirmed = checks.confirm(seed);
        let ended = confirmed.and_then(|()| others.run(&mut checks, settings.rounds));
        // What the ordinary rounds say together is an offence whatever becomes of the others.
        let reports = checks.finish();
        ended?;
        evaluation.outputs = reports;
        Ok(())
    }
}
