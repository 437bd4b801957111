//! A rewrite is checked against the loaded reference, round by round.

use super::ReferenceSession;
use super::checks::Checks;
use super::others::Others;
use crate::blame::memory_of;
use crate::inputs::Round;
use passhost_ir::Graph;
use passhost_protocol::device::{DeviceStage, Draws, EvaluationReport, RewriteError};
use passhost_result::{Settings, Work};
use passhost_runtime::Hints;
use std::time::Instant;

impl ReferenceSession {
    /// Checks a rewrite.
    pub fn evaluate(
        &self,
        rewrite: &Graph,
        hints: &Hints,
        draws: &Draws,
        settings: &Settings,
        stage: impl FnMut(DeviceStage),
    ) -> EvaluationReport {
        let mut evaluation = EvaluationReport::default();
        if let Err(error) = self.try_evaluate(rewrite, hints, draws, settings, stage, &mut evaluation) {
            evaluation.error = Some(memory_of(error, || self.device.can_give(settings.rewrite_bytes)));
            evaluation.outputs.clear();
        }
        if evaluation.error.is_some() || !evaluation.findings.is_empty() {
            // Nothing that such a rewrite may have touched is kept for another one.
            self.kept.take();
        }
        evaluation
    }

    fn try_evaluate(
        &self,
        rewrite: &Graph,
        hints: &Hints,
        draws: &Draws,
        settings: &Settings,
        mut stage: impl FnMut(DeviceStage),
        evaluation: &mut EvaluationReport,
    ) -> Result<(), RewriteError> {
        stage(DeviceStage::Plan);
        let program = self.compiled(rewrite, hints)?;
        self.device.charge(Work::Compile);
        stage(DeviceStage::Correctness);
        let &Draws { seed, are_shared, .. } = draws;
        self.kept.borrow_mut().begin(seed);
        let ordinary = |number| Round { seed, number, scaled: None };
        let started = Instant::now();
        let first = self.round(ordinary(0), are_shared)?;
        let others = Others::choose(self, draws, settings, self.round_takes(started, &first.eager));
        let fixed = self.specs.iter().filter(|spec| spec.is_fixed());
        evaluation.notes.extend(fixed.map(|spec| format!("input `{}` is the same in every round", spec.name)));
        evaluation.others = others.report;
        let mut checks = Checks::new(self, &program, (settings, are_shared), evaluation);
        checks.round(ordinary(0), &first)?;
        drop(first);
        for number in 1..settings.rounds {
            checks.round(ordinary(number), &*self.round(ordinary(number), are_shared)?)?;
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
