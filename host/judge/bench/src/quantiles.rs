//! The table that normal deviates are looked up in.

use std::sync::OnceLock;

/// Entries: a 16-bit index.
pub const QUANTILES: usize = 1 << 16;
/// How close to a quantile Newton's method must have come for both sides of it to be looked at.
const CLOSE: f64 = 1e-9;

/// The standard normal quantiles at `(i + 0.5) / 65,536`, each the nearest number of `f32` to what bisection finds.
///
/// The first call makes them on its own thread: where it is a task of a pool that asks, and handed parts of the work to the
/// pool, it could be given another task that waits for the table, and wait for itself.
pub fn quantiles() -> &'static [f32] {
    static TABLE: OnceLock<Vec<f32>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = vec![0.0; QUANTILES];
        let (lower, upper) = table.split_at_mut(QUANTILES / 2);
        let mut near = bisected(probability(0));
        for (position, entry) in lower.iter_mut().enumerate() {
            (near, *entry) = quantile(near, probability(position));
        }
        for (entry, mirrored) in upper.iter_mut().zip(lower.iter().rev()) {
            *entry = -mirrored;
        }
        table
    })
}

/// That of an entry.
fn probability(entry: usize) -> f64 {
    (entry as f64 + 0.5) / QUANTILES as f64
}

/// The quantile of `p` and its table entry, from one `near` it. By Newton's method with Halley's correction, believed only
/// where both sides of its result enclose the quantile and round to the same number; else by bisection.
fn quantile(near: f64, p: f64) -> (f64, f32) {
    let mut x = near;
    for _ in 0..8 {
        let step = (cumulative(x) - p) / density(x);
        x -= step / (1.0 + 0.5 * x * step);
        if step.abs() < CLOSE.cbrt() / 10.0 {
            break;
        }
    }
    let (below, above) = (x - CLOSE, x + CLOSE);
    let encloses = cumulative(below) < p && p < cumulative(above);
    if encloses && below as f32 == above as f32 {
        return (x, x as f32);
    }
    let x = bisected(p);
    (x, x as f32)
}

/// Inverse of the distribution function for `p` up to a half, by bisection: nothing about it can be subtly wrong.
fn bisected(p: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 0.0);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if cumulative(middle) < p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The lower tail of the standard normal distribution for x <= 0, by the continued fraction of the Mills ratio where it
/// converges fast and by the Taylor series around 0 elsewhere (Abramowitz and Stegun 26.2.10 and 26.2.14).
fn cumulative(x: f64) -> f64 {
    if x < -3.0 {
        let mut fraction = -x;
        for k in (1..=60).rev() {
            fraction = -x + f64::from(k) / fraction;
        }
        return density(x) / fraction;
    }
    let (mut term, mut sum) = (x, x);
    for k in 1..80 {
        term *= x * x / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 + density(x) * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_table_is_the_normal_distribution() {
        let table = quantiles();
        // The quantiles of 0.5 and of 63,897.5 in 65,536.
        assert!((table[0] + 4.324_919).abs() < 1e-5, "{}", table[0]);
        assert_eq!(table[0], -table[QUANTILES - 1]);
        assert!((table[63_897] - 1.959_938).abs() < 1e-5, "{}", table[63_897]);
        let variance = table.iter().map(|&z| f64::from(z).powi(2)).sum::<f64>() / QUANTILES as f64;
        assert!((variance - 1.0).abs() < 1e-3, "{variance}");
    }

    #[test]
    fn the_table_is_what_bisection_makes_it() {
        let table = quantiles();
        for entry in (0..64).chain((0..QUANTILES / 2).step_by(97)) {
            let slow = bisected(probability(entry)) as f32;
            assert_eq!((table[entry], table[QUANTILES - 1 - entry]), (slow, -slow), "entry {entry}");
        }
        let bytes: Vec<u8> = table.iter().flat_map(|z| z.to_le_bytes()).collect();
        assert_eq!(
            base16ct::lower::encode_string(&Sha256::digest(&bytes)),
            "644e88f9236df9442cc55eb59e025cae8e70a1019e0347d47de63cb8f0235713"
        );
    }
}
