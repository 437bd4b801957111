//! Integers of a range with a structure, each from its position alone, so that every device draws the same.

use crate::counter::hash;
use passhost_ir::Structure;

/// Rounds of a Feistel network: four make a permutation that nothing here can tell from a random one.
const ROUNDS: u64 = 4;
/// How far, as a power, the course of ascending numbers is bent to one side or the other.
const BEND: f64 = 2.0;

/// A draw of such integers.
pub struct Structured {
    structure: Structure,
    row: u64,
    low: i64,
    /// Numbers in the range, less one.
    span: u64,
    key: u64,
}

impl Structured {
    /// Integers from `low` to `high` in stretches of `row`.
    pub fn new(structure: Structure, row: u64, (low, high): (i64, i64), key: u64) -> Structured {
        Structured { structure, row, low, span: high.abs_diff(low), key }
    }

    /// The one at this position of the tensor.
    pub fn element(&self, index: u64) -> i64 {
        let (stretch, place) = (index / self.row, index % self.row);
        let key = hash(self.key, stretch);
        let some = 1 + hash(key, u64::MAX) % self.row;
        match self.structure {
            Structure::OneHot => i64::from(place == some - 1),
            Structure::PaddedAtEnd => i64::from(place < some),
            Structure::PaddedAtStart => i64::from(place >= self.row - some),
            Structure::Distinct => self.number(self.stratum(key, permuted(place, self.row, key))),
            Structure::Ascending { .. } if place == 0 => self.low,
            Structure::Ascending { .. } if place == self.row - 1 => self.number(self.span),
            Structure::Ascending { distinct: true } => self.number(self.stratum(key, place)),
            Structure::Ascending { distinct: false } => self.number(self.bent(key, place)),
        }
    }

    fn number(&self, offset: u64) -> i64 {
        self.low.wrapping_add_unsigned(offset.min(self.span))
    }

    /// A number of the stratum of this place: the range is divided into as many as a stretch has places.
    fn stratum(&self, key: u64, place: u64) -> u64 {
        let count = u128::from(self.span) + 1;
        let bound = |place: u64| (u128::from(place) * count / u128::from(self.row)) as u64;
        let (first, next) = (bound(place), bound(place + 1));
        first + hash(key, place) % (next - first).max(1)
    }

    /// The course from one end of the range to the other, bent differently in each stretch.
    fn bent(&self, key: u64, place: u64) -> u64 {
        let unit = |bits: u64| (bits >> 11) as f64 / (1u64 << 53) as f64;
        let power = BEND.powf(2.0 * unit(hash(key, u64::MAX)) - 1.0);
        let along = (place as f64 + unit(hash(key, place))) / self.row as f64;
        (along.powf(power) * (self.span as f64 + 1.0)) as u64
    }
}

/// Where a permutation of `0..count` takes this place: a Feistel network over the next power of four, walked until it comes
/// back inside (Black and Rogaway 2002).
fn permuted(place: u64, count: u64, key: u64) -> u64 {
    let half = count.next_power_of_two().trailing_zeros().div_ceil(2).max(1);
    let mask = (1u64 << half) - 1;
    let once = |value: u64| {
        let (mut left, mut right) = (value >> half, value & mask);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (hash(key ^ round, right) & mask));
        }
        left << half | right
    };
    let mut value = once(place);
    while value >= count {
        value = once(value);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn drawn(structure: Structure, row: u64, range: (i64, i64), key: u64) -> Vec<i64> {
        let drawn = Structured::new(structure, row, range, key);
        (0..3 * row).map(|index| drawn.element(index)).collect()
    }

    fn rows(structure: Structure, row: u64, range: (i64, i64)) -> Vec<Vec<i64>> {
        let rows = (0..20).flat_map(|key| {
            let drawn = drawn(structure, row, range, key);
            assert!(drawn.iter().all(|value| (range.0..=range.1).contains(value)), "{structure:?} {drawn:?}");
            drawn.chunks(row as usize).map(<[i64]>::to_vec).collect::<Vec<_>>()
        });
        let rows: Vec<Vec<i64>> = rows.collect();
        let different: BTreeSet<&Vec<i64>> = rows.iter().collect();
        let enough = (rows.len() / 4).min(row as usize / 2);
        assert!(different.len() > enough, "{structure:?}: {} of {} differ", different.len(), rows.len());
        rows
    }

    #[test]
    fn distinct_numbers_are_distinct_and_a_full_range_is_a_permutation() {
        for (row, range) in [(24, (0, 23)), (5, (-3, 40)), (7, (0, 6)), (64, (0, 63)), (9, (0, i64::MAX))] {
            for drawn in rows(Structure::Distinct, row, range) {
                assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), row as usize, "{drawn:?}");
            }
        }
        let counted: Vec<i64> = (0..24).collect();
        assert!(rows(Structure::Distinct, 24, (0, 23)).iter().all(|drawn| *drawn != counted));
    }

    #[test]
    fn ascending_numbers_go_from_one_end_to_the_other() {
        for (distinct, row, range) in [(true, 5, (0, 100)), (false, 9, (0, 3)), (false, 6, (i64::MIN, i64::MAX))] {
            for drawn in rows(Structure::Ascending { distinct }, row, range) {
                assert!(drawn.is_sorted() && (drawn[0], drawn[row as usize - 1]) == range, "{drawn:?}");
                assert!(!distinct || drawn.windows(2).all(|pair| pair[0] < pair[1]), "{drawn:?}");
            }
        }
    }

    #[test]
    fn masks_have_their_ones_where_they_belong() {
        for drawn in rows(Structure::PaddedAtEnd, 8, (0, 1)) {
            assert!(drawn[0] == 1 && drawn.is_sorted_by(|one, next| one >= next), "{drawn:?}");
        }
        for drawn in rows(Structure::PaddedAtStart, 8, (0, 1)) {
            assert!(drawn[7] == 1 && drawn.is_sorted(), "{drawn:?}");
        }
        for drawn in rows(Structure::OneHot, 30, (0, 1)) {
            assert_eq!(drawn.iter().sum::<i64>(), 1, "{drawn:?}");
        }
    }

    #[test]
    fn permutations_of_any_length_are_permutations() {
        for count in 1..70 {
            let all: BTreeSet<u64> = (0..count).map(|place| permuted(place, count, 5)).collect();
            assert_eq!(all, (0..count).collect());
        }
    }
}
