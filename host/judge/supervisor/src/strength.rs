//! How strong the check of a variant is: how many mutants of its graph it refuses.
//!
//! A mutant is checked as a verified rewrite is, in the rounds of the policy, and timed never.

use crate::checker::Checker;
use crate::evaluation::TypedReading;
use crate::sample::Sample;
use crate::stages::{Reference, Trail, secret, unfit};
use passhost_child::Use;
use passhost_child::device::{Device, DeviceSession};
use passhost_ir::{OpTable, in_place_nodes};
use passhost_mutants::{Mutant, compositions, is_within_limits, mutants, sampled};
use passhost_protocol::device::{Draws, RewriteJob};
use passhost_result::Settings;
use passhost_result::document::{Failure, Variant};
use std::sync::Arc;

/// What became of the mutants of a variant.
#[derive(Debug, Clone)]
pub struct VariantStrength {
    /// The variant.
    pub variant: String,
    /// Each mutant that was tried.
    pub tried: Vec<TriedMutant>,
    /// Why the strength is not determined.
    pub undetermined: Option<String>,
}

/// A mutant that was tried.
#[derive(Debug, Clone)]
pub struct TriedMutant {
    /// Its class, or both of a composition.
    pub class: String,
    /// The values that it computes otherwise.
    pub at: String,
    /// What became of it.
    pub fate: MutantFate,
}

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutantFate {
    /// The check refuses it.
    Killed,
    /// It computes what the original does, by this rule.
    Equivalent(String),
    /// The check calls it right.
    Survived,
    /// It does not run: it says nothing.
    Failed(String),
}

/// How many mutants are tried of a variant.
#[derive(Debug, Clone, Copy)]
pub struct MutantCounts {
    /// Of single classes.
    pub single: usize,
    /// Of two classes each.
    pub composed: usize,
}

impl Checker<'_> {
    /// Tries mutants of variant `index` of a sample.
    ///
    /// # Errors
    ///
    /// If the variant cannot be read, or does not run.
    ///
    /// # Panics
    ///
    /// If there is no such variant.
    pub fn strength(
        &mut self,
        device: &mut Device,
        sample: &mut Sample,
        index: usize,
        counts: MutantCounts,
    ) -> Result<VariantStrength, Failure> {
        let TypedReading { mut trail, typed } =
            self.read(sample, index).map_err(|judged| failure_of(judged.variant))?;
        let _guard = trail.guard(device, Use::Shared);
        let mut session = device.session();
        let mut reference = Reference::load(&trail, &mut session, typed.reference)?;
        for (value, found) in Arc::make_mut(&mut reference.read).program.values.iter_mut().zip(&reference.loaded.types)
        {
            value.ty = found.clone();
        }
        let variant = trail.entry.name.clone();
        let program = &reference.read.program;
        if !is_within_limits(program) {
            let why = "its graph is beyond the limits of mutants".to_owned();
            return Ok(VariantStrength { variant, tried: vec![], undetermined: Some(why) });
        }
        let seed = secret(&trail.supervisor.config)?;
        let chosen = [sampled(mutants(program), counts.single, seed), compositions(program, counts.composed, seed)];
        let mut tried = vec![];
        for mutant in chosen.concat() {
            let fate = fate(&trail, &mut session, &reference, &mutant, seed)?;
            tried.push(TriedMutant { class: mutant.class, at: mutant.at, fate });
        }
        Ok(VariantStrength { variant, tried, undetermined: None })
    }
}

/// What becomes of a mutant in the ordinary rounds, and where it lives in all others.
fn fate(
    trail: &Trail<'_>,
    session: &mut DeviceSession<'_>,
    reference: &Reference,
    mutant: &Mutant,
    seed: u64,
) -> Result<MutantFate, Failure> {
    if let Some(rule) = mutant.equivalent {
        return Ok(MutantFate::Equivalent(rule.into()));
    }
    let config = &trail.supervisor.config;
    for quick in [true, false] {
        let settings = Settings { quick, ..reference.settings(config.settings) };
        let in_place = in_place_nodes(&reference.read.program, OpTable::sample());
        let draws = Draws { seed, others: None };
        let job = RewriteJob { rewrite: mutant.graph.clone(), in_place, schedules: vec![], draws, settings };
        let evaluation = match session.evaluate(&job, reference.limit(config, &settings), &mut |_| {}) {
            Ok(evaluation) => evaluation,
            Err(error) => {
                reference.load_in(0, trail, session)?;
                return Ok(MutantFate::Failed(error.to_string()));
            }
        };
        if let Some(error) = &evaluation.error {
            return Ok(MutantFate::Failed(error.to_string()));
        }
        if unfit(&evaluation, false).is_some() || !evaluation.edge_cases.is_empty() {
            return Ok(MutantFate::Killed);
        }
    }
    Ok(MutantFate::Survived)
}

fn failure_of(variant: Variant) -> Failure {
    use passhost_result::document::{Blame, failure};
    variant
        .failure
        .unwrap_or_else(|| failure(Blame::Sample, "sample", "the variant cannot be read", "check the sample"))
}
