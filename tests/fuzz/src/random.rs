//! What a case is drawn from: a case is the same wherever and whenever it is drawn again.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The state.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    /// That of one case of a run.
    pub fn new(seed: u64, number: u64) -> Random {
        let mut start = SplitMix64::seed_from_u64(seed);
        Random(SplitMix64::seed_from_u64(start.next_u64() ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// In `0..count`; the bias of the remainder does not matter here.
    ///
    /// # Panics
    ///
    /// If `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// In the closed range.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.bits() % (high - low + 1) as u64) as i64
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of them.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.bits() as u8).collect()
    }

    /// A number that is often at an edge of something.
    pub fn integer(&mut self) -> i64 {
        match self.below(4) {
            0 => {
                *self.pick(&[0, 1, -1, i64::MIN, i64::MAX, i64::from(u32::MAX), i64::from(i32::MIN), 1 << 31, 1 << 62])
            }
            1 => self.bits() as i64,
            _ => self.between(-9, 70),
        }
    }
}
