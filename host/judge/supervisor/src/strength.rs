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
use passhost_protocol::device::{Draws, EvaluationReport, MutantRounds, RewriteJob};
use passhost_result::document::{Failure, Variant};
use passhost_result::{Finding, OtherRounds, Settings, Strength, UnusualRound};
use std::sync::Arc;
use std::time::{Duration, Instant};

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

impl TriedMutant {
    /// The rounds beside the ordinary ones that refuse it.
    pub fn killed_in(&self) -> &[UnusualRound] {
        if let MutantFate::Killed(rounds) = &self.fate { rounds } else { &[] }
    }
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

/// How many mutants are tried of a variant, at most.
#[derive(Debug, Clone, Copy)]
pub struct MutantCounts {
    /// Of single classes.
    pub single: usize,
    /// Of two classes each.
    pub composed: usize,
    /// In this time: a third of it for those that choose rounds. At least one of them is tried, and one of the others.
    pub within: Duration,
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
            let (choosing, held_back) = halves(single, seed);
            let held_back = alternating(held_back, compositions(program, counts.composed, seed));
            let mut trial = Trial { trail: &trail, session: &mut session, reference: &reference };
            let started = Instant::now();
            let everywhere = Draws { mutant: Some(MutantRounds::All), ..Draws::repeated(seed, OtherRounds::ALL) };
            tried = trial.all(choosing, true, &everywhere, started + counts.within / 3)?;
            kept.sets = minimal_sets(tried.iter().map(TriedMutant::killed_in).collect(), seed);
            let mutant = Some(MutantRounds::UntilRefused);
            let draws = Draws { first: kept.first(seed), mutant, ..Draws::of(seed) };
            tried.extend(trial.all(held_back, false, &draws, started + counts.within)?);
            kept.strength = strength(&tried);
        } else {
            kept.strength.undetermined = Some("its graph is beyond the limits of mutants".into());
        }
        let info = session.device().info();
        kept.keep(trail.supervisor, &reference.read, info);
        Ok(VariantStrength { variant: trail.entry.name.clone(), tried, strength: kept.strength })
    }
}

/// Four of the first, one of the others, and so on.
fn alternating(first: Vec<Mutant>, others: Vec<Mutant>) -> Vec<Mutant> {
    let (mut first, mut others) = (first.into_iter(), others.into_iter());
    let mut all = vec![];
    loop {
        let before = all.len();
        all.extend(first.by_ref().take(4).chain(others.next()));
        if all.len() == before {
            return all;
        }
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
    /// Tries mutants, one after the other until the time is over.
    fn all(
        &mut self,
        mutants: Vec<Mutant>,
        chooses: bool,
        draws: &Draws,
        until: Instant,
    ) -> Result<Vec<TriedMutant>, Failure> {
        let mut tried = vec![];
        for mutant in mutants {
            let fate = self.fate(&mutant, draws)?;
            tried.push(TriedMutant { class: mutant.class, at: mutant.at, chooses, fate });
            if Instant::now() > until {
                break;
            }
        }
        Ok(tried)
    }

    /// What becomes of a mutant in the ordinary rounds, and where it lives in all others. Those have the least time that any
    /// budget gives them.
    fn fate(&mut self, mutant: &Mutant, draws: &Draws) -> Result<MutantFate, Failure> {
        if let Some(rule) = mutant.equivalent {
            return Ok(MutantFate::Equivalent(rule.into()));
        }
        let (config, reference) = (&self.trail.supervisor.config, self.reference);
        let ordinary = Draws { others: Some(OtherRounds::default()), ..draws.clone() };
        for draws in [&ordinary, draws] {
            let settings = Settings { quick: false, budget_ms: 0, ..reference.settings(config.settings) };
            let in_place = in_place_nodes(&reference.read.program, OpTable::sample());
            let (rewrite, draws) = (mutant.graph.clone(), draws.clone());
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
            if unfit(&evaluation, false).is_some() || !evaluation.edge_cases.is_empty() || is_wrong(&evaluation) {
                return Ok(MutantFate::Killed(killed_in(&evaluation)));
            }
        }
        Ok(MutantFate::Survived)
    }
}

/// Whether an output is wrong at t = -5 where eager is right.
fn is_wrong(evaluation: &EvaluationReport) -> bool {
    let is_right = |passes_at: Option<i8>| passes_at.is_some_and(|t| t <= -5);
    evaluation.outputs.iter().any(|output| match &output.decided {
        Some(decided) => is_right(decided.eager_passes_at) && !is_right(decided.passes_at),
        None => !is_right(output.passes_at),
    })
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
