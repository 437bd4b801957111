//! Which samples go to which side: those that share an op sequence go together.

use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Where samples go.
#[derive(Debug, PartialEq)]
pub struct Sides {
    /// For each sample whether it is one to evaluate on.
    pub eval: Vec<bool>,
    /// How many sets of samples there are that share no op sequence.
    pub groups: u64,
}

/// Divides samples, each given by the op sequences of its graphs. About `fraction` of the groups are to evaluate on.
///
/// The smallest sequence of a group decides for it, hashed with the seed. So a sample that is added moves others only if
/// it joins two groups, or brings a smaller sequence into one.
pub fn sides(samples: &[Vec<&str>], fraction: f64, seed: u64) -> Sides {
    let mut groups = Groups::default();
    for sequences in samples {
        for pair in sequences.windows(2) {
            groups.join(pair[0], pair[1]);
        }
    }
    let mut found = BTreeSet::new();
    let mut eval = Vec::with_capacity(samples.len());
    for sequences in samples {
        // A sample without a graph is in no group; there is none.
        let least = sequences.first().map_or("", |sequence| groups.least(sequence));
        found.insert(least.to_owned());
        eval.push(share(least, seed) < fraction);
    }
    Sides { eval, groups: found.len() as u64 }
}

/// A number from 0 up to 1 that depends on nothing but the sequence and the seed.
fn share(sequence: &str, seed: u64) -> f64 {
    let digest = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(sequence).finalize();
    let bits = digest.iter().take(8).fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    // The 53 bits that a double holds exactly.
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Sets of sequences, each named by its smallest member.
#[derive(Default)]
struct Groups<'a> {
    /// A smaller member of the same set; a sequence that is the smallest is not in here.
    smaller: BTreeMap<&'a str, &'a str>,
}

impl<'a> Groups<'a> {
    fn least(&mut self, sequence: &'a str) -> &'a str {
        let mut least = sequence;
        while let Some(&smaller) = self.smaller.get(least) {
            least = smaller;
        }
        // The way is short the next time.
        let mut at = sequence;
        while let Some(next) = self.smaller.get(at).copied().filter(|&next| next != least) {
            self.smaller.insert(at, least);
            at = next;
        }
        least
    }

    fn join(&mut self, one: &'a str, other: &'a str) {
        let (one, other) = (self.least(one), self.least(other));
        match one.cmp(other) {
            std::cmp::Ordering::Less => _ = self.smaller.insert(other, one),
            std::cmp::Ordering::Greater => _ = self.smaller.insert(one, other),
            std::cmp::Ordering::Equal => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("sequence {number}")).collect()
    }

    #[test]
    fn samples_that_share_a_sequence_go_together_also_through_others() {
        let names = names(400);
        // Each sample has two sequences, the second of which its neighbour has as well; every tenth link is missing.
        let samples: Vec<Vec<&str>> =
            (0..399).map(|i| if i % 10 == 9 { vec![&*names[i]] } else { vec![&*names[i], &*names[i + 1]] }).collect();
        let Sides { eval, groups } = sides(&samples, 0.3, 7);
        assert_eq!(groups, 40);
        for (i, sample) in samples.iter().enumerate() {
            for (j, other) in samples.iter().enumerate() {
                if sample.iter().any(|sequence| other.contains(sequence)) {
                    assert_eq!(eval[i], eval[j], "{i} and {j} share a sequence");
                }
            }
        }
        assert!(eval.contains(&true) && eval.contains(&false));
    }

    #[test]
    fn the_fraction_is_about_what_was_asked_for_and_the_seed_changes_who() {
        let names = names(2_000);
        let samples: Vec<Vec<&str>> = names.iter().map(|name| vec![name.as_str()]).collect();
        let Sides { eval, .. } = sides(&samples, 0.2, 0);
        let count = eval.iter().filter(|eval| **eval).count();
        assert!((340..460).contains(&count), "{count}");
        assert_eq!(sides(&samples, 0.2, 0).eval, eval);
        assert_ne!(sides(&samples, 0.2, 1).eval, eval);
    }

    #[test]
    fn samples_that_are_added_or_reordered_do_not_move_others() {
        let names = names(500);
        let samples: Vec<Vec<&str>> = names.iter().map(|name| vec![name.as_str()]).collect();
        let whole = sides(&samples, 0.5, 3).eval;
        assert_eq!(sides(&samples[..200], 0.5, 3).eval, whole[..200]);
        let reversed: Vec<Vec<&str>> = samples.iter().rev().cloned().collect();
        assert!(sides(&reversed, 0.5, 3).eval.iter().rev().eq(&whole));
    }
}
