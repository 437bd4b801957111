//! Numbers from a key and a counter, which every device calculates alike.

/// By which a counter steps through keys: 2^64 by the golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The factors of the finaliser of SplitMix64.
pub const FIRST_FACTOR: u64 = 0xbf58_476d_1ce4_e5b9;

/// The second of them.
pub const SECOND_FACTOR: u64 = 0x94d0_49bb_1331_11eb;

/// Another number for each counter.
pub fn hash(key: u64, counter: u64) -> u64 {
    mix(key.wrapping_add(counter.wrapping_mul(STEP)))
}

/// The finaliser of SplitMix64: a bijection with full avalanche (Steele, Lea and Flood, 2014).
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(FIRST_FACTOR);
    x = (x ^ (x >> 27)).wrapping_mul(SECOND_FACTOR);
    x ^ (x >> 31)
}
