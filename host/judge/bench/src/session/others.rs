//! The rounds beside the ordinary ones: as many as the budget has room for. Their number follows from what eager takes, so
//! that a rewrite has no say in it, and which they are from the seed, so that nobody knows before.

use super::ReferenceSession;
use super::checks::Checks;
use super::drawn::DrawnInputs;
use super::edge_case::EdgeCase;
use crate::compare::OutputComparison;
use crate::edge_cases::EdgeCaseDraw;
use crate::inputs::{Round, hash_of};
use crate::measure::process_time;
use passhost_protocol::device::{Draws, MutantRounds, ReferenceError, RewriteError};
use passhost_result::{OtherRounds, Settings, Share, UnusualRound, Work};
use std::time::{Duration, Instant};

/// The round that the other inputs of unusual rounds are of, and that says which rounds there are.
const OTHERS: u32 = 1 << 18;

/// Which rounds there are beside the ordinary ones.
pub(super) struct Others {
    round: Round,
    /// Inputs that get another scale.
    scaled: Vec<usize>,
    edge_cases: Vec<EdgeCase>,
    until_refused: bool,
    pub report: OtherRounds,
}

impl Others {
    /// Those of the draws, or as many as there is room for where a round takes so long.
    pub fn choose(reference: &ReferenceSession, of: &Draws, settings: &Settings, round_takes: Duration) -> Others {
        let specs = &reference.specs;
        let round = Round { seed: of.seed, number: OTHERS, scaled: None };
        let mut scaled: Vec<usize> = (0..specs.len()).filter(|&input| !specs[input].is_fixed()).collect();
        let mut edge_cases = if settings.edge_case_rounds { EdgeCase::all(specs, &reference.graph) } else { vec![] };
        let all = [scaled.len(), edge_cases.len()].map(|count| count as u32);
        let (counts, first) = match &of.others {
            None if settings.quick => ([0, 0], &of.first),
            Some(recorded) => ([recorded.scaled, recorded.edge_cases].map(|share| share.count), &recorded.first),
            None => (room(settings, round_takes, all), &of.first),
        };
        let key = |input: &usize| hash_of(round, &specs[*input].name, u64::MAX);
        let by_scaled = ahead(&mut scaled, counts[0], first, key, |&input| UnusualRound::scaled(&specs[input].name));
        let key = |case: &EdgeCase| hash_of(round, &case.name(specs), !(case.draw as u64));
        let by_cases = ahead(&mut edge_cases, counts[1], first, key, |case| case.round(specs));
        // They are told of in the order in which they are recorded.
        scaled.sort_unstable();
        edge_cases.sort_by_key(|case| (case.inputs.clone(), case.draw as u64));
        let share = |count: usize, of| Share { count: count as u32, of };
        let [scaled_rounds, edge_case_rounds] = [share(scaled.len(), all[0]), share(edge_cases.len(), all[1])];
        let first = [by_scaled, by_cases].concat();
        let report = OtherRounds { scaled: scaled_rounds, edge_cases: edge_case_rounds, first };
        Others { round, scaled, edge_cases, until_refused: of.mutant == Some(MutantRounds::UntilRefused), report }
    }

    /// Runs them.
    pub fn run(&self, checks: &mut Checks<'_>, ordinary: u32) -> Result<(), RewriteError> {
        let reference = checks.reference;
        for &input in &self.scaled {
            let round = Round { seed: self.round.seed, number: ordinary, scaled: Some(input) };
            match reference.round(round) {
                // Eager refuses an input at that scale, which says nothing of a rewrite.
                Err(RewriteError::Reference(ReferenceError::Op { .. })) => {}
                prepared => checks.round(round, prepared?.as_ref())?,
            }
        }
        let mut usual: Option<DrawnInputs> = None;
        for case in &self.edge_cases {
            let is_refused = !checks.evaluation.findings.is_empty() || !checks.evaluation.edge_cases.is_empty();
            if self.until_refused && is_refused {
                break;
            }
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

/// Keeps so many rounds: two thirds of them, and one at least, are left to `first`, and the rest is drawn, so that nobody
/// can tell what is not tried. Says which of `first` are among them.
fn ahead<T>(
    all: &mut Vec<T>,
    count: u32,
    first: &[UnusualRound],
    key: impl Fn(&T) -> u64,
    name: impl Fn(&T) -> UnusualRound,
) -> Vec<UnusualRound> {
    all.sort_by_cached_key(key);
    let count = count as usize;
    let most = (2 * count / 3).max(1);
    let (mut ahead, mut others) = (vec![], vec![]);
    for round in all.drain(..) {
        let is_ahead = ahead.len() < most && first.contains(&name(&round));
        if is_ahead { &mut ahead } else { &mut others }.push(round);
    }
    let named = ahead.iter().take(count).map(name).collect();
    all.extend(ahead.into_iter().chain(others).take(count));
    named
}

/// How many rounds of each kind there are of so many: those with another scale first, and at least one of each.
fn room(settings: &Settings, round_takes: Duration, [scaled, edge_cases]: [u32; 2]) -> [u32; 2] {
    let rounds = settings.for_rounds().as_nanos() / round_takes.as_nanos().max(1);
    let rounds = u32::try_from(rounds).unwrap_or(u32::MAX).saturating_sub(settings.rounds);
    let for_scaled = rounds.saturating_sub(1).clamp(1, scaled.max(1)).min(scaled);
    let for_edge_cases = rounds.saturating_sub(for_scaled).clamp(1, edge_cases.max(1)).min(edge_cases);
    [for_scaled, for_edge_cases]
}

/// When work began.
pub(super) struct Started {
    at: Instant,
    on_cores: Duration,
}

impl Started {
    pub fn now() -> Started {
        Started { at: Instant::now(), on_cores: process_time() }
    }

    fn elapsed(&self, has_gpu: bool) -> Duration {
        counted(self.at.elapsed(), process_time().saturating_sub(self.on_cores), has_gpu)
    }
}

/// What of the wall clock is work. Without a GPU the cores' time counts where it is less: a machine that is busy with
/// something else is no reason to try a rewrite less.
fn counted(wall: Duration, on_cores: Duration, has_gpu: bool) -> Duration {
    if has_gpu { wall } else { wall.min(on_cores) }
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
        Ok(prepared.map(|prepared| (prepared.drawn.clone(), case.draw)))
    }

    /// What a round takes, where preparing one took since `started`: a rewrite may take as long as eager does, and is
    /// compared once.
    pub(super) fn time_of_round(&self, started: &Started, eager: &[crate::held::HeldTensor]) -> Duration {
        for (ty, held) in self.output_types.iter().zip(eager) {
            OutputComparison::new(ty.clone()).add(&self.device, held, held);
        }
        2 * started.elapsed(self.device.has_queue())
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

    #[test]
    fn waiting_for_a_core_is_no_work_and_waiting_for_a_gpu_is() {
        let of = |wall, on_cores, has_gpu| {
            counted(Duration::from_millis(wall), Duration::from_millis(on_cores), has_gpu).as_millis()
        };
        assert_eq!([of(40, 5, false), of(40, 5, true)], [5, 40]);
        assert_eq!(of(10, 35, false), 10, "four threads at once");
    }

    #[test]
    fn chosen_rounds_come_first_and_leave_room_for_drawn_ones() {
        let name = |number: &u64| UnusualRound { input: "x".into(), draw: number.to_string() };
        let first: Vec<UnusualRound> = [7, 8, 9].iter().map(name).collect();
        let of = |count, seed: u64| {
            let mut all: Vec<u64> = (0..10).collect();
            let named = ahead(&mut all, count, &first, |&number| crate::counter::hash(seed, number), name);
            let chosen = all.iter().filter(|&&number| number >= 7).count();
            assert_eq!(all.len(), count as usize);
            (named.len(), chosen)
        };
        assert_eq!(of(0, 1), (0, 0));
        assert_eq!(of(1, 1), (1, 1));
        assert_eq!(of(2, 1).0, 1);
        assert_eq!(of(3, 1).0, 2);
        assert_eq!(of(6, 1), (3, 3));
        assert_eq!(of(10, 1), (3, 3));
        let drawn = |seed| {
            let mut all: Vec<u64> = (0..10).collect();
            ahead(&mut all, 3, &first, |&number| crate::counter::hash(seed, number), name);
            all
        };
        assert!((1..20).any(|seed| drawn(seed) != drawn(0)), "who is drawn beside them follows from the seed");
    }
}
