//! Which other sizes of a graph a pass is tried on: drawn from a seed that did not exist when the pass was written.

use passhost_result::Symbols;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Draws of several symbols at once, then draws of one alone: what a graph bakes in of its sizes may leave only one of them
/// free.
const OF_SEVERAL: u32 = 3;
const OF_ONE: u32 = 5;
/// Symbols that change at once, at most: the whole program is translated again for each.
const SEVERAL: usize = 3;

/// The symbols that change, with their new extents, in the order in which they are tried. The sizes that come of it are
/// never `taken`: a pass may know those.
pub(crate) fn draw(own: &Symbols, taken: &[Symbols], seed: u64) -> Vec<Symbols> {
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut drawn: Vec<Symbols> = vec![];
    for attempt in 0..OF_SEVERAL + OF_ONE {
        let changed = positions(own.len(), if attempt < OF_SEVERAL { SEVERAL } else { 1 }, &mut random);
        // One symbol at most becomes 1: where all of them are, little is left to be wrong.
        let may_be_one = below(own.len() + 2, &mut random);
        let mut sizes = own.clone();
        for (position, extent) in sizes.values_mut().enumerate() {
            if changed.contains(&position) {
                *extent = other(*extent, may_be_one == position, &mut random);
            }
        }
        let is_taken = taken.contains(&sizes);
        sizes.retain(|name, extent| own.get(name) != Some(extent));
        if !sizes.is_empty() && !is_taken && !drawn.contains(&sizes) {
            drawn.push(sizes);
        }
    }
    drawn
}

/// So many different positions below `count`, or all of them.
fn positions(count: usize, most: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut left: Vec<usize> = (0..count).collect();
    let mut taken = vec![];
    while taken.len() < most && !left.is_empty() {
        taken.push(left.swap_remove(below(left.len(), random)));
    }
    taken
}

/// An extent close to another, of the kinds that kernels forget: one more or less, odd, prime, or 1.
fn other(extent: i64, may_be_one: bool, random: &mut SplitMix64) -> i64 {
    let prime = |above: i64| prime_from(extent.saturating_add(above));
    let mut others = vec![extent - 1, extent.saturating_add(1), extent | 1, prime(1), prime(2)];
    others.extend(may_be_one.then_some(1));
    others.retain(|&other| other >= 1 && other != extent);
    others.sort_unstable();
    others.dedup();
    others[below(others.len(), random)]
}

/// The smallest prime that is no smaller.
fn prime_from(from: i64) -> i64 {
    let is_prime = |n: &i64| (2..).take_while(|d| d * d <= *n).all(|d| n % d != 0);
    (from.max(2)..).find(is_prime).unwrap_or(from)
}

/// An index below `count`, or 0.
fn below(count: usize, random: &mut SplitMix64) -> usize {
    ((u128::from(random.next_u64()) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(extents: &[i64]) -> Symbols {
        extents.iter().enumerate().map(|(position, &extent)| (format!("S{position}"), extent)).collect()
    }

    #[test]
    fn a_seed_gives_the_same_sizes_again_and_another_one_others() {
        let own = symbols(&[4, 56]);
        assert_eq!(draw(&own, &[], 7), draw(&own, &[], 7));
        let different = (0..20).filter(|&seed| draw(&own, &[], seed) != draw(&own, &[], seed + 1)).count();
        assert!(different > 15, "{different}");
    }

    #[test]
    fn sizes_are_close_positive_and_none_that_the_pass_may_know() {
        for extents in [&[1][..], &[2], &[7, 1], &[197, 8, 768]] {
            let own = symbols(extents);
            let whole = |changed: Symbols| own.clone().into_iter().chain(changed).collect::<Symbols>();
            let taken: Vec<Symbols> = draw(&own, &[], 1).into_iter().take(1).map(whole).collect();
            for seed in 0..200 {
                let drawn = draw(&own, &taken, seed);
                assert!(!drawn.is_empty(), "{extents:?} has others");
                for sizes in drawn {
                    assert!(!sizes.is_empty() && !taken.contains(&whole(sizes.clone())), "{sizes:?}");
                    for (name, &extent) in &sizes {
                        let near = extent >= 1 && extent <= own[name] + 14 && extent != own[name];
                        assert!(near, "{name} = {extent} of {extents:?}");
                    }
                }
            }
        }
        assert!(draw(&symbols(&[]), &[], 1).is_empty());
        let many = symbols(&[4, 8, 16, 32, 64, 128]);
        for sizes in (0..50).flat_map(|seed| draw(&many, &[], seed)) {
            assert!((1..=SEVERAL).contains(&sizes.len()), "{sizes:?}");
        }
    }

    #[test]
    fn an_extent_becomes_one_more_and_less_odd_prime_and_one() {
        let mut random = SplitMix64::seed_from_u64(3);
        let mut found = |may_be_one: bool| {
            let mut found: Vec<i64> = (0..200).map(|_| other(8, may_be_one, &mut random)).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        assert_eq!((found(true), found(false)), (vec![1, 7, 9, 11], vec![7, 9, 11]));
        assert_eq!((prime_from(1), prime_from(8), prime_from(89), prime_from(90)), (2, 11, 89, 97));
    }
}
