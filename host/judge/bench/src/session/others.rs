//! The rounds beside the ordinary ones: as many as the budget has room for. Their number follows from what eager takes, so
//! that a rewrite has no say in it, and which they are from the seed, so that nobody knows before.

use super::ReferenceSession;
use super::checks::Checks;
use super::drawn::DrawnInputs;
use crate::bounded::bounded_inputs;
use crate::compare::OutputComparison;
use crate::edge_cases::{EdgeCaseDraw, draws};
use crate::inputs::{Round, hash_of};
use passhost_ir::{Graph, InputSpec};
use passhost_protocol::device::{Draws, ReferenceError, RewriteError};
use passhost_result::{OtherRounds, Settings, Share, Work};
use std::time::{Duration, Instant};

/// The round that the other inputs of unusual rounds are of, and that says which rounds there are.
const OTHERS: u32 = 1 << 18;

/// Which rounds there are beside the ordinary ones.
pub(super) struct Others {
    round: Round,
    /// Inputs that get another scale.
    scaled: Vec<usize>,
    edge_cases: Vec<EdgeCase>,
    pub report: OtherRounds,
}

/// A round in which inputs are unusual.
#[derive(Debug, Clone)]
pub(super) struct EdgeCase {
    /// Which, and whether the range that is recorded of each is kept.
    pub inputs: Vec<(usize, bool)>,
    /// In which way.
    pub draw: EdgeCaseDraw,
}

/// Ways in which all inputs are unusual at once that can be: cheats that keep apart what each input alone does.
const TOGETHER: [EdgeCaseDraw; 4] =
    [EdgeCaseDraw::Zeros, EdgeCaseDraw::ConstantRow, EdgeCaseDraw::Small, EdgeCaseDraw::Negative];

impl EdgeCase {
    /// All that there are for these inputs of a graph.
    fn all(specs: &[InputSpec], graph: &Graph) -> Vec<EdgeCase> {
        let bounded: Vec<(usize, bool)> = bounded_inputs(graph).into_iter().enumerate().collect();
        let ways = |&(input, bounded): &(usize, bool)| {
            draws(&specs[input], bounded).iter().map(move |&draw| EdgeCase { inputs: vec![(input, bounded)], draw })
        };
        let together = TOGETHER.iter().map(|&draw| {
            let can = |(input, bounded): &&(usize, bool)| draws(&specs[*input], *bounded).contains(&draw);
            EdgeCase { inputs: bounded.iter().filter(can).copied().collect(), draw }
        });
        bounded.iter().flat_map(ways).chain(together.filter(|case| case.inputs.len() > 1)).collect()
    }

    /// The names of its inputs.
    pub fn name(&self, specs: &[InputSpec]) -> String {
        let names: Vec<&str> = self.inputs.iter().map(|(input, _)| specs[*input].name.as_str()).collect();
        names.join(", ")
    }
}

impl Others {
    /// Those of the draws, or as many as there is room for where a round takes so long.
    pub fn choose(reference: &ReferenceSession, of: &Draws, settings: &Settings, round_takes: Duration) -> Others {
        let specs = &reference.specs;
        let round = Round { seed: of.seed, number: OTHERS, scaled: None };
        let mut scaled: Vec<usize> = (0..specs.len()).filter(|&input| !specs[input].is_fixed()).collect();
        let mut edge_cases = if settings.edge_case_rounds { EdgeCase::all(specs, &reference.graph) } else { vec![] };
        let all = [scaled.len(), edge_cases.len()].map(|count| count as u32);
        let counts = match of.others {
            None if settings.quick => [0, 0],
            Some(recorded) => [recorded.scaled, recorded.edge_cases].map(|share| share.count),
            None => room(settings, round_takes, all),
        };
        scaled.sort_by_cached_key(|&input| hash_of(round, &specs[input].name, u64::MAX));
        edge_cases.sort_by_cached_key(|case| hash_of(round, &case.name(specs), !(case.draw as u64)));
        scaled.truncate(counts[0] as usize);
        edge_cases.truncate(counts[1] as usize);
        // They are told of in the order in which they are recorded.
        scaled.sort_unstable();
        edge_cases.sort_by_key(|case| (case.inputs.clone(), case.draw as u64));
        let share = |count: usize, of| Share { count: count as u32, of };
        let report = OtherRounds { scaled: share(scaled.len(), all[0]), edge_cases: share(edge_cases.len(), all[1]) };
        Others { round, scaled, edge_cases, report }
    }

    /// Runs them.
    pub fn run(&self, checks: &mut Checks<'_>, ordinary: u32) -> Result<(), RewriteError> {
        let reference = checks.reference;
        for &input in &self.scaled {
            let round = Round { seed: self.round.seed, number: ordinary, scaled: Some(input) };
            match reference.round(round) {
                // Eager refuses an input at that scale, which says nothing of a rewrite.
                Err(RewriteError::Reference(ReferenceError::Op { .. })) => {}
                prepared => checks.round(round, &prepared?)?,
            }
        }
        let mut usual: Option<DrawnInputs> = None;
        for case in &self.edge_cases {
            if let Some(prepared) = reference.edge_case_round((self.round, &mut usual), case)? {
                checks.check_edge_case(&prepared, self.round, case)?;
            }
        }
        if !self.edge_cases.is_empty() {
            reference.device.charge(Work::EdgeCaseRounds);
        }
        Ok(())
    }
}

/// How many rounds of each kind there are of so many: those with another scale first, and at least one of each.
fn room(settings: &Settings, round_takes: Duration, [scaled, edge_cases]: [u32; 2]) -> [u32; 2] {
    let rounds = settings.for_rounds().as_nanos() / round_takes.as_nanos().max(1);
    let rounds = u32::try_from(rounds).unwrap_or(u32::MAX).saturating_sub(settings.rounds);
    let for_scaled = rounds.saturating_sub(1).clamp(1, scaled.max(1)).min(scaled);
    let for_edge_cases = rounds.saturating_sub(for_scaled).clamp(1, edge_cases.max(1)).min(edge_cases);
    [for_scaled, for_edge_cases]
}

impl ReferenceSession {
    /// The inputs of an unusual round: these inputs are unusual in this way, as a finding says it. `None` if there is no such
    /// round.
    pub(super) fn edge_cases(
        &self,
        seed: u64,
        input: &str,
        draw: &str,
    ) -> Result<Option<(DrawnInputs, EdgeCaseDraw)>, RewriteError> {
        let round = Round { seed, number: OTHERS, scaled: None };
        let all = EdgeCase::all(&self.specs, &self.graph);
        let meant = |case: &&EdgeCase| case.name(&self.specs) == input && case.draw.to_string() == draw;
        let Some(case) = all.iter().find(meant) else { return Ok(None) };
        let prepared = self.edge_case_round((round, &mut None), case)?;
        Ok(prepared.map(|prepared| (prepared.drawn, case.draw)))
    }

    /// What a round takes, where preparing one took since `started`: a rewrite may take as long as eager does, and is
    /// compared once.
    pub(super) fn round_takes(&self, started: Instant, eager: &[crate::held::HeldTensor]) -> Duration {
        *self.round_takes.get_or_init(|| {
            for (ty, held) in self.output_types.iter().zip(eager) {
                OutputComparison::new(ty.clone()).add(&self.device, held, held);
            }
            2 * started.elapsed()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_as_many_as_there_is_room_for_and_one_of_each_kind_at_least() {
        let of = |budget_ms, millis| {
            let settings = Settings { budget_ms, ..Settings::default() };
            room(&settings, Duration::from_millis(millis), [4, 20])
        };
        assert_eq!(of(0, 1), [4, 20], "half a second, whatever the budget is");
        assert_eq!(of(0, 50), [4, 3]);
        assert_eq!(of(0, 100), [1, 1]);
        assert_eq!(of(0, 10_000), [1, 1]);
        assert_eq!(of(3_000, 50), [4, 13]);
        assert_eq!(of(3_000, 200), [1, 1]);
        assert_eq!(of(6_000, 0), [4, 20]);
        let none = room(&Settings::default(), Duration::from_secs(9), [0, 0]);
        assert_eq!(none, [0, 0]);
    }
}
