//! Which rounds are tried first: sets that kill what can be killed, and would not without one of theirs.

use passhost_result::UnusualRound;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::collections::BTreeSet;

/// Sets of a variant, at most: each evaluation takes one of them, so that nobody knows which rounds it will be.
const MOST_SETS: usize = 4;
/// Orders in which rounds are taken to make one.
const ORDERS: usize = 32;

/// The smallest sets of rounds found that kill all mutants which some round kills. Of each mutant, the rounds that do.
pub(super) fn minimal_sets(mut kills: Vec<&[UnusualRound]>, seed: u64) -> Vec<Vec<UnusualRound>> {
    kills.retain(|rounds| !rounds.is_empty());
    if kills.is_empty() {
        return vec![];
    }
    let mut random = SplitMix64::seed_from_u64(seed);
    let sets: BTreeSet<Vec<UnusualRound>> = (0..ORDERS).map(|_| minimal_set(&kills, &mut random)).collect();
    let mut sets: Vec<Vec<UnusualRound>> = sets.into_iter().collect();
    sets.sort_by_key(Vec::len);
    // One more round than needed is no more than a drawn one.
    let least = sets[0].len();
    sets.retain(|set| set.len() <= least + 1);
    sets.truncate(MOST_SETS);
    sets
}

/// For one mutant after the other that lives, any round that kills it; then without those that others make needless.
fn minimal_set(kills: &[&[UnusualRound]], random: &mut SplitMix64) -> Vec<UnusualRound> {
    let mut order: Vec<(u64, &[UnusualRound])> = kills.iter().map(|rounds| (random.next_u64(), *rounds)).collect();
    order.sort();
    let mut set: BTreeSet<&UnusualRound> = BTreeSet::new();
    for (number, rounds) in order {
        if !rounds.iter().any(|round| set.contains(round)) {
            set.insert(&rounds[number as usize % rounds.len()]);
        }
    }
    let chosen: Vec<&UnusualRound> = set.iter().copied().collect();
    for round in chosen {
        set.remove(round);
        if kills.iter().any(|rounds| !rounds.iter().any(|round| set.contains(round))) {
            set.insert(round);
        }
    }
    set.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn killed(rounds: &[&str]) -> Vec<UnusualRound> {
        rounds.iter().map(|draw| UnusualRound { input: "x".into(), draw: (*draw).into() }).collect()
    }

    #[test]
    fn each_set_kills_what_can_be_killed_and_needs_each_of_its_rounds() {
        let tried = [
            killed(&["is all zeros", "is small"]),
            killed(&["is small", "has NaNs"]),
            killed(&["has NaNs", "is all zeros"]),
            killed(&["masks nothing"]),
            killed(&[]),
        ];
        for seed in 0..20 {
            let sets = minimal_sets(tried.iter().map(Vec::as_slice).collect(), seed);
            assert!(sets.len() > 1, "there are three");
            for set in sets {
                assert_eq!(set.len(), 3, "two of the first three, and the one that is alone");
                let is_killed = |rounds: &&Vec<UnusualRound>| rounds.iter().any(|round| set.contains(round));
                assert_eq!(tried.iter().filter(is_killed).count(), 4);
            }
        }
    }

    #[test]
    fn where_ordinary_rounds_kill_everything_none_is_chosen() {
        assert_eq!(minimal_sets(vec![&[], &[]], 1), Vec::<Vec<UnusualRound>>::new());
    }
}
