//! Draws the inputs of a sample from a counter: element `i` of a tensor depends on the seed, the round, the tensor's
//! name and `i` alone, so that every device draws the same bits.

use crate::counter::{hash, mix};
use crate::element::Number;
use crate::quantiles::quantiles;
use crate::structured::Structured;
use passhost_ir::{Draw, Dtype, InputSpec, TensorType};
use rayon::prelude::*;
use std::ops::Range;

/// One element in 1,024 deviates [`TAIL_SCALE`] times as far, so that a few elements matter to every sum.
pub const TAIL_MASK: u64 = 1023;
/// By how much such an element deviates more.
pub const TAIL_SCALE: f64 = 8.0;
/// By how much a stress round scales the deviation of its input.
const STRESS: f64 = 8.0;
/// Elements that one task fills.
const CHUNK: usize = 1 << 12;
/// What sets the coins of a mask apart from the element of each row that is always set.
pub const ROW_KEY: u64 = 0x5bd1_e995;

/// Which draw of the inputs is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Round {
    /// Secret of the evaluation.
    pub seed: u64,
    /// Number of the round. Different rounds share no element.
    pub number: u32,
    /// The input that is redrawn at eight times its scale, if this is a stress round.
    pub scaled: Option<usize>,
}

impl Round {
    /// By how much the deviation of input `position` is scaled.
    pub fn scale(self, position: usize) -> f64 {
        if self.scaled == Some(position) { STRESS } else { 1.0 }
    }
}

/// Why an input cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    /// The distribution does not fit the element type.
    #[error("a {draw} distribution cannot fill a tensor of type {dtype}")]
    Type {
        /// The distribution's name.
        draw: &'static str,
        /// Element type.
        dtype: Dtype,
    },
    /// Literal data of the wrong length.
    #[error("{found} literal values for {expected} elements")]
    Length {
        /// Values given.
        found: usize,
        /// Elements of the tensor.
        expected: u64,
    },
    /// An empty or unordered range.
    #[error("no value lies between {low} and {high}")]
    Range {
        /// Lower bound.
        low: i64,
        /// Upper bound.
        high: i64,
    },
}

/// The elements of input `position`, row-major, as little-endian bytes.
pub fn draw(spec: &InputSpec, position: usize, round: Round) -> Result<Vec<u8>, DrawError> {
    draw_part(spec, position, round, 0..spec.ty.numel())
}

/// Some of them.
pub fn draw_part(spec: &InputSpec, position: usize, round: Round, range: Range<u64>) -> Result<Vec<u8>, DrawError> {
    let scale = round.scale(position);
    let key = key(round, &spec.name);
    let ty = &spec.ty;
    let row = row(ty);
    match &spec.draw {
        Draw::Normal { mean, std } => floats(spec, range, |i| {
            let (z, tail) = normal(hash(key, i));
            mean + std * scale * z * tail
        }),
        Draw::LogNormal { median, sigma } => floats(spec, range, |i| {
            // Positive by construction; a heavy tail in the exponent would overflow narrow types.
            median * scale * (sigma * normal(hash(key, i)).0).exp()
        }),
        Draw::FloatMask { low } => floats(spec, range, |i| if mask_bit(key, i, row) { 0.0 } else { *low }),
        Draw::Floats(data) => {
            let expected = ty.numel();
            match data.as_slice() {
                &[one] => floats(spec, range, |_| one),
                _ if data.len() as u64 == expected => floats(spec, range, |i| data[i as usize]),
                _ => Err(DrawError::Length { found: data.len(), expected }),
            }
        }
        Draw::Uniform { low, high } if low > high => Err(DrawError::Range { low: *low, high: *high }),
        Draw::Uniform { low, high } => {
            let span = high.abs_diff(*low);
            integers(ty, range, "uniform", |i| {
                let bits = hash(key, i);
                // A 128-bit product maps the hash evenly onto the range without a division.
                let offset = match span.checked_add(1) {
                    Some(count) => ((u128::from(bits) * u128::from(count)) >> 64) as u64,
                    None => bits,
                };
                low.wrapping_add_unsigned(offset)
            })
        }
        Draw::Like { low, high, .. } if low > high => Err(DrawError::Range { low: *low, high: *high }),
        Draw::Like { structure, row, low, high } => {
            let drawn = Structured::new(*structure, (*row).max(1), (*low, *high), key);
            integers(ty, range, "structured", |i| drawn.element(i))
        }
        Draw::Mask if is_of_single_bools(ty) => integers(ty, range, "mask", |i| (hash(key, i) >> 63) as i64),
        Draw::Mask => integers(ty, range, "mask", |i| i64::from(mask_bit(key, i, row))),
        Draw::Integers(data) if data.len() as u64 == ty.numel() => integers(ty, range, "literal", |i| data[i as usize]),
        Draw::Integers(data) => Err(DrawError::Length { found: data.len(), expected: ty.numel() }),
    }
}

/// Elements of a row of the last dimension.
pub fn row(ty: &TensorType) -> u64 {
    ty.shape.last().map_or(1, |&extent| extent.max(1).unsigned_abs())
}

/// Whether rows are one bool each: were one of each row always set, nothing would ever be masked.
pub fn is_of_single_bools(ty: &TensorType) -> bool {
    ty.dtype == Dtype::Bool && row(ty) == 1
}

/// A coin, but for one element of each row that is always set.
fn mask_bit(key: u64, index: u64, row: u64) -> bool {
    let always = hash(key ^ ROW_KEY, index / row) % row;
    index % row == always || hash(key, index) >> 63 == 1
}

/// What the elements of a tensor of floats are held between.
pub fn bounds(spec: &InputSpec) -> Result<(f64, f64), DrawError> {
    let dtype = spec.ty.dtype;
    if !dtype.is_float() {
        return Err(DrawError::Type { draw: "float", dtype });
    }
    let limit = dtype.largest();
    let low = spec.min.unwrap_or(-limit).max(-limit);
    let high = spec.max.unwrap_or(limit).min(limit);
    Ok((low, high))
}

fn floats(spec: &InputSpec, range: Range<u64>, element: impl Fn(u64) -> f64 + Sync) -> Result<Vec<u8>, DrawError> {
    let (low, high) = bounds(spec)?;
    Ok(fill(spec.ty.dtype, range, |i| Number::Float(element(i).min(high).max(low))))
}

fn integers(
    ty: &TensorType,
    range: Range<u64>,
    draw: &'static str,
    element: impl Fn(u64) -> i64 + Sync,
) -> Result<Vec<u8>, DrawError> {
    if ty.dtype.is_complex() {
        return Err(DrawError::Type { draw, dtype: ty.dtype });
    }
    // A float mask of zeros and ones, or whole numbers in a float tensor, as well.
    Ok(fill(ty.dtype, range, |i| Number::Integer(element(i))))
}

/// Elements of a range by their positions.
pub fn fill(dtype: Dtype, range: Range<u64>, element: impl Fn(u64) -> Number + Sync) -> Vec<u8> {
    let size = dtype.size() as usize;
    let mut bytes = vec![0u8; (range.end - range.start) as usize * size];
    bytes.par_chunks_mut(CHUNK * size).enumerate().for_each(|(chunk, slots)| {
        for (offset, slot) in slots.chunks_exact_mut(size).enumerate() {
            element(range.start + (chunk * CHUNK + offset) as u64).write(dtype, slot);
        }
    });
    bytes
}

/// A standard normal deviate from 16 bits of the hash, and the factor of the heavy tail from ten others.
fn normal(bits: u64) -> (f64, f64) {
    let tail = if bits & TAIL_MASK == 0 { TAIL_SCALE } else { 1.0 };
    (f64::from(quantiles()[(bits >> 48) as usize]), tail)
}

/// Hash of the seed, the round and the name; FNV-1a over the name, so that order and length count.
pub fn key(round: Round, name: &str) -> u64 {
    let name = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let scaled = round.scaled.map_or(0, |input| input as u64 + 1);
    mix(mix(round.seed ^ mix(u64::from(round.number) << 32 | scaled)) ^ name)
}

/// A number that depends on the seed, the round, a name and what it is for.
pub fn hash_of(round: Round, name: &str, purpose: u64) -> u64 {
    hash(key(round, name), !purpose)
}

/// Writes single elements into the bytes of a tensor.
pub fn write_elements(dtype: Dtype, bytes: &mut [u8], places: &mut dyn Iterator<Item = (usize, f64)>) {
    let size = dtype.size() as usize;
    for (place, value) in places {
        if let Some(slot) = bytes.get_mut(place * size..(place + 1) * size) {
            Number::Float(value).write(dtype, slot);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn spec(dtype: Dtype, shape: &[i64], draw: Draw) -> InputSpec {
        InputSpec { name: "x".into(), ty: TensorType::contiguous(dtype, shape), draw, min: None, max: None }
    }

    fn f32s(bytes: &[u8]) -> Vec<f32> {
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    const ROUND: Round = Round { seed: 7, number: 0, scaled: None };

    #[test]
    fn a_draw_repeats_and_another_seed_round_or_name_changes_it() {
        let normal = spec(Dtype::F32, &[64], Draw::Normal { mean: 0.0, std: 1.0 });
        let first = draw(&normal, 0, ROUND).unwrap();
        assert_eq!(first, draw(&normal, 0, ROUND).unwrap());
        for other in [Round { seed: 8, ..ROUND }, Round { number: 1, ..ROUND }, Round { scaled: Some(1), ..ROUND }] {
            assert_ne!(first, draw(&normal, 0, other).unwrap(), "{other:?}");
        }
        let renamed = InputSpec { name: "y".into(), ..normal };
        assert_ne!(first, draw(&renamed, 0, ROUND).unwrap());
    }

    #[test]
    fn normal_draws_have_the_moments_asked_for_and_a_heavy_tail() {
        let normal = spec(Dtype::F32, &[400_000], Draw::Normal { mean: 3.0, std: 0.5 });
        let values = f32s(&draw(&normal, 0, ROUND).unwrap());
        let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / values.len() as f64;
        assert!((mean - 3.0).abs() < 0.01, "{mean}");
        // Beyond 4.33 deviations only the tail reaches: about 1 in 1,024 times the share of |z| > 0.54.
        let far = values.iter().filter(|&&v| (v - 3.0).abs() > 0.5 * 4.4).count();
        assert!((150..400).contains(&far), "{far}");
        let scaled = f32s(&draw(&normal, 0, Round { scaled: Some(0), ..ROUND }).unwrap());
        let spread = |v: &[f32]| v.iter().map(|&v| f64::from((v - 3.0).abs())).sum::<f64>() / v.len() as f64;
        assert!((spread(&scaled) / spread(&values) - 8.0).abs() < 0.2);
    }

    #[test]
    fn masks_are_mixed_and_no_row_is_empty() {
        let mask = spec(Dtype::I64, &[500, 3], Draw::Mask);
        let bytes = draw(&mask, 0, ROUND).unwrap();
        let values: Vec<i64> = bytes.chunks_exact(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect();
        assert!(values.chunks(3).all(|row| row.contains(&1)));
        assert!(values.iter().filter(|&&v| v == 0).count() > 300);
        let single = draw(&spec(Dtype::Bool, &[500, 1], Draw::Mask), 0, ROUND).unwrap();
        assert!((200..300).contains(&single.iter().filter(|&&bit| bit == 1).count()));
        let float = spec(Dtype::F32, &[50, 8], Draw::FloatMask { low: -1e4 });
        let values = f32s(&draw(&float, 0, ROUND).unwrap());
        assert!(values.iter().all(|&v| v == 0.0 || v == -1e4));
        assert!(values.chunks(8).all(|row| row.contains(&0.0)));
    }

    #[test]
    fn integers_fill_the_closed_range_and_bounds_clamp_floats() {
        let ints = spec(Dtype::I32, &[1000], Draw::Uniform { low: -2, high: 2 });
        let bytes = draw(&ints, 0, ROUND).unwrap();
        let mut values: Vec<i32> = bytes.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values, [-2, -1, 0, 1, 2]);
        let mut bounded = spec(Dtype::F32, &[1000], Draw::Normal { mean: 0.0, std: 10.0 });
        (bounded.min, bounded.max) = (Some(-1.0), Some(2.0));
        assert!(f32s(&draw(&bounded, 0, ROUND).unwrap()).iter().all(|&v| (-1.0..=2.0).contains(&v)));
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        let cases = [
            (spec(Dtype::I64, &[2], Draw::Normal { mean: 0.0, std: 1.0 }), "float distribution"),
            (spec(Dtype::I64, &[2], Draw::Integers(vec![1])), "1 literal values for 2"),
            (spec(Dtype::I64, &[2], Draw::Uniform { low: 3, high: 2 }), "between 3 and 2"),
        ];
        for (spec, message) in cases {
            let error = draw(&spec, 0, ROUND).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
