//! How strong the check of a variant is: how many mutants of its graph it refuses.
//!
//! A mutant is checked as a verified rewrite is, in the rounds of the policy, and timed never. Half of those of single
//! classes say which rounds are worth trying first; the strength is what the check makes, with those, of the other half and
//! of compositions. It is kept, and evaluations of the same variant try the same rounds first.

mod chosen;
mod kept;

pub(crate) use kept::known;

use crate::checker::Checker;
use crate::evaluation::TypedReading;
use crate::sample::Sample;
use crate::stages::{Reference, Trail, secret, unfit};
use chosen::minimal_sets;
use kept::KeptStrength;
use passhost_child::Use;
use passhost_child::device::{Device, DeviceSession};
use passhost_ir::{OpTable, in_place_nodes};
use passhost_mutants::{Mutant, compositions, halves, is_within_limits, mutants, sampled};
use passhost_protocol::device::{Draws, EvaluationReport, RewriteJob};
use passhost_result::document::{Failure, Variant};
use passhost_result::{Finding, OtherRounds, Settings, Strength, UnusualRound};
use std::sync::Arc;

/// What became of the mutants of a variant.
#[derive(Debug, Clone)]
pub struct VariantStrength {
    /// The variant.
    pub variant: String,
    /// Each mutant that was tried.
    pub tried: Vec<TriedMutant>,
    /// Of those that no round was chosen by.
    pub strength: Strength,
}

/// A mutant that was tried.
#[derive(Debug, Clone)]
pub struct TriedMutant {
    /// Its class, or both of a composition.
    pub class: String,
    /// The values that it computes otherwise.
    pub at: String,
    /// Whether rounds were chosen by it, so that it does not count for the strength.
    pub chooses: bool,
    /// What became of it.
    pub fate: MutantFate,
}

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutantFate {
    /// The check refuses it: in these rounds, or in ordinary ones if none is named.
    Killed(Vec<UnusualRound>),
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
    /// Tries mutants of variant `index` of a sample, and keeps what they say where there is a cache.
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
        let seed = secret(&trail.supervisor.config)?;
        let program = &reference.read.program;
        let mut kept = KeptStrength::default();
        let mut tried = vec![];
        if is_within_limits(program) {
            let single = sampled(mutants(program), counts.single, seed);
            let (choosing, mut held_back) = halves(single, seed);
            held_back.extend(compositions(program, counts.composed, seed));
            let mut trial = Trial { trail: &trail, session: &mut session, reference: &reference };
            let everywhere = Draws::repeated(seed, OtherRounds::ALL);
            tried = trial.all(choosing, true, &everywhere)?;
            kept.sets = minimal_sets(&tried, seed);
            let draws = Draws { first: kept.first(seed), ..Draws::of(seed) };
            tried.extend(trial.all(held_back, false, &draws)?);
            kept.strength = strength(&tried);
        } else {
            kept.strength.undetermined = Some("its graph is beyond the limits of mutants".into());
        }
        let info = session.device().info();
        kept.keep(trail.supervisor, &reference.read, info);
        Ok(VariantStrength { variant: trail.entry.name.clone(), tried, strength: kept.strength })
    }
}

/// Of mutants that no round was chosen by.
fn strength(tried: &[TriedMutant]) -> Strength {
    let count =
        |is: fn(&MutantFate) -> bool| tried.iter().filter(|mutant| !mutant.chooses && is(&mutant.fate)).count() as u32;
    let killed = count(|fate| matches!(fate, MutantFate::Killed(_)));
    let survived = count(|fate| *fate == MutantFate::Survived);
    Strength { killed, mutants: killed + survived, undetermined: None }
}

/// A variant that mutants are tried of.
struct Trial<'t, 'd> {
    trail: &'t Trail<'t>,
    session: &'t mut DeviceSession<'d>,
    reference: &'t Reference,
}

impl Trial<'_, '_> {
    fn all(&mut self, mutants: Vec<Mutant>, chooses: bool, draws: &Draws) -> Result<Vec<TriedMutant>, Failure> {
        let tried = mutants.into_iter().map(|mutant| {
            let fate = self.fate(&mutant, draws)?;
            Ok(TriedMutant { class: mutant.class, at: mutant.at, chooses, fate })
        });
        tried.collect()
    }

    /// What becomes of a mutant in the ordinary rounds, and where it lives in all others. Those have the least time that any
    /// budget gives them.
    fn fate(&mut self, mutant: &Mutant, draws: &Draws) -> Result<MutantFate, Failure> {
        if let Some(rule) = mutant.equivalent {
            return Ok(MutantFate::Equivalent(rule.into()));
        }
        let (config, reference) = (&self.trail.supervisor.config, self.reference);
        let ordinary = Draws::repeated(draws.seed, OtherRounds::default());
        for draws in [&ordinary, draws] {
            let settings = Settings { quick: false, budget_ms: 0, ..reference.settings(config.settings) };
            let in_place = in_place_nodes(&reference.read.program, OpTable::sample());
            let (rewrite, draws) = (mutant.graph.clone(), Draws { are_kept: true, ..draws.clone() });
            let job = RewriteJob { rewrite, in_place, schedules: vec![], draws, settings };
            let evaluation = match self.session.evaluate(&job, reference.limit(config, &settings), &mut |_| {}) {
                Ok(evaluation) => evaluation,
                Err(error) => {
                    reference.load_in(0, self.trail, self.session)?;
                    return Ok(MutantFate::Failed(error.to_string()));
                }
            };
            if let Some(error) = &evaluation.error {
                return Ok(MutantFate::Failed(error.to_string()));
            }
            if unfit(&evaluation, false).is_some() || !evaluation.edge_cases.is_empty() {
                return Ok(MutantFate::Killed(killed_in(&evaluation)));
            }
        }
        Ok(MutantFate::Survived)
    }
}

/// The rounds beside the ordinary ones that refuse a rewrite.
fn killed_in(evaluation: &EvaluationReport) -> Vec<UnusualRound> {
    let scaled = evaluation.findings.iter().filter_map(|finding| match finding {
        Finding::Insensitive { input, .. } => Some(UnusualRound::scaled(input)),
        _ => None,
    });
    let named = |found: &passhost_result::EdgeCaseFinding| UnusualRound {
        input: found.input.clone(),
        draw: found.draw.clone(),
    };
    let mut rounds: Vec<UnusualRound> = scaled.chain(evaluation.edge_cases.iter().map(named)).collect();
    rounds.sort();
    rounds.dedup();
    rounds
}

fn failure_of(variant: Variant) -> Failure {
    use passhost_result::document::{Blame, failure};
    variant
        .failure
        .unwrap_or_else(|| failure(Blame::Sample, "sample", "the variant cannot be read", "check the sample"))
}
