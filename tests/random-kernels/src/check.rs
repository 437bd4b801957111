//! Holds what an executor wrote against what the interpreter allows.

use passhost_ir::Dtype;
use passhost_ir::kernel::scalar::Num;
use passhost_ir::kernel::{InterpretedOutput, Tensor};

/// Ulps beyond which a bound is *wide*: the element is far smaller than the terms that it was made of, so that an error
/// that is small beside these is large beside the element.
pub const WIDE_ULP: f64 = 1024.0;

/// An element whose bound is wide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WideBound {
    /// Its distance from the interpreter's value, in units in the last place of that.
    pub ulp: f64,
    /// The interpreter's value.
    pub expected: f64,
    /// The executor's.
    pub found: f64,
    /// The largest distance allowed.
    pub bound: f64,
}

/// What a comparison saw.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stats {
    /// Elements held against a value and a bound.
    pub checked: u64,
    /// Elements left out because nothing is known of them.
    pub unknown: u64,
    /// Of the elements checked, those whose bits are given.
    pub exact: u64,
    /// The largest distance found where the bound is not wide, in units in the last place of the output's type. 0 for
    /// integers.
    pub max_ulp: f64,
    /// The largest distance found, as a share of its bound.
    pub max_share: f64,
    /// Elements whose bound is wider than [`WIDE_ULP`].
    pub wide: u64,
    /// That of them which is farthest off in ulps, if one is off.
    pub farthest: Option<WideBound>,
}

impl Stats {
    /// Adds what another comparison saw.
    pub fn merge(&mut self, other: Stats) {
        self.checked += other.checked;
        self.unknown += other.unknown;
        self.exact += other.exact;
        self.max_ulp = self.max_ulp.max(other.max_ulp);
        self.max_share = self.max_share.max(other.max_share);
        self.wide += other.wide;
        self.see(other.farthest);
    }

    fn see(&mut self, wide: Option<WideBound>) {
        let ulp = |wide: Option<WideBound>| wide.map_or(0.0, |wide| wide.ulp);
        if ulp(wide) > ulp(self.farthest) {
            self.farthest = wide;
        }
    }

    /// Counts a float whose distance from what is expected is allowed.
    fn count(&mut self, dtype: Dtype, (expected, bound): (f64, f64), found: f64) {
        let distance = if expected == found || !found.is_finite() { 0.0 } else { (expected - found).abs() };
        if bound > 0.0 {
            self.max_share = self.max_share.max(distance / bound);
        }
        let ulp = distance / dtype.ulp(expected);
        if bound > WIDE_ULP * dtype.ulp(expected) {
            self.wide += 1;
            self.see(Some(WideBound { ulp, expected, found, bound }));
        } else {
            self.max_ulp = self.max_ulp.max(ulp);
        }
    }
}

/// An executor is wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Mismatch {
    /// The output has another size.
    #[error("the output has {found} bytes; {expected} are expected")]
    Size {
        /// Bytes expected.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// An element is too far off.
    #[error("element {position} of {dtype}{shape:?} is {found:?}; expected {expected:?} +- {bound:e}")]
    Element {
        /// Element type.
        dtype: Dtype,
        /// Shape of the output.
        shape: Vec<i64>,
        /// Row-major position.
        position: usize,
        /// The interpreter's value.
        expected: Num,
        /// The executor's value.
        found: Num,
        /// The largest distance allowed; 0 asks for the same bits.
        bound: f64,
    },
}

/// Checks a whole output of an executor, given as row-major little-endian bytes, against the interpreter's.
///
/// Integers and elements with bound 0 must have the same bits (any NaN equals any other), the others must lie within
/// their bounds. Unknown elements are counted and left out, but a `bool` must be 0 or 1 everywhere.
pub fn check_against(expected: &InterpretedOutput, actual: &[u8]) -> Result<Stats, Mismatch> {
    let size = expected.dtype.size() as usize;
    if actual.len() != expected.values.len() * size {
        return Err(Mismatch::Size { expected: expected.values.len() * size, found: actual.len() });
    }
    let mut stats = Stats::default();
    let written = Tensor { dtype: expected.dtype, shape: expected.shape.clone(), data: actual.to_vec() };
    for (position, approx) in expected.values.iter().enumerate() {
        let found = written.get(position);
        let is_bool = expected.dtype != Dtype::Bool || actual[position] <= 1;
        if approx.is_unknown() && is_bool {
            stats.unknown += 1;
            continue;
        }
        let agrees = match (approx.value, found) {
            (Num::Float(a), Num::Float(b)) if approx.is_exact() => same_bits(a, b),
            (Num::Float(a), Num::Float(b)) => (a - b).abs() <= approx.bound,
            (a, b) => a == b,
        };
        if !agrees || !is_bool {
            return Err(Mismatch::Element {
                dtype: expected.dtype,
                shape: expected.shape.clone(),
                position,
                expected: approx.value,
                found,
                bound: approx.bound,
            });
        }
        stats.checked += 1;
        stats.exact += u64::from(approx.is_exact());
        if let (Num::Float(expected_value), Num::Float(found)) = (approx.value, found)
            && expected_value.is_finite()
        {
            stats.count(expected.dtype, (expected_value, approx.bound), found);
        }
    }
    Ok(stats)
}

/// Whether two floats have the same bits, any NaN equal to any other.
fn same_bits(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::kernel::Approx;

    fn output(dtype: Dtype, values: &[Approx]) -> InterpretedOutput {
        InterpretedOutput { dtype, shape: vec![values.len() as i64], values: values.to_vec() }
    }

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn bits_bounds_and_unknowns_are_told_apart() {
        let expected = output(
            Dtype::F32,
            &[
                Approx::exact(Num::Float(1.0)),
                Approx { value: Num::Float(1.0), bound: 1e-6 },
                Approx::unknown(Num::Float(5.0)),
                Approx::exact(Num::Float(f64::NAN)),
            ],
        );
        let near = 1.0 + 4.0 * f32::EPSILON;
        let stats = check_against(&expected, &bytes(&[1.0, near, -7.0, f32::NAN]));
        let max_share = f64::from(4.0 * f32::EPSILON) / 1e-6;
        assert_eq!(stats, Ok(Stats { checked: 3, unknown: 1, exact: 2, max_ulp: 4.0, max_share, ..Stats::default() }));
        let wrong: [(&[f32], usize); 3] =
            [(&[near, 1.0, 0.0, f32::NAN], 0), (&[1.0, 1.1, 0.0, f32::NAN], 1), (&[1.0, 1.0, 0.0, 0.0], 3)];
        for (values, at) in wrong {
            let result = check_against(&expected, &bytes(values));
            assert!(matches!(result, Err(Mismatch::Element { position, .. }) if position == at), "{result:?}");
        }
        assert_eq!(check_against(&expected, &[]), Err(Mismatch::Size { expected: 16, found: 0 }));
    }

    #[test]
    fn what_cancelled_is_counted_apart() {
        let small = f64::from(1e-9f32);
        let expected = output(Dtype::F32, &[Approx { value: Num::Float(small), bound: 1e-7 }]);
        let stats = check_against(&expected, &bytes(&[3e-9])).unwrap();
        let farthest = stats.farthest.unwrap();
        assert_eq!((stats.max_ulp, stats.wide, farthest.expected, farthest.bound), (0.0, 1, small, 1e-7));
        assert!(farthest.ulp > 1e7 && stats.max_share < 0.03, "{stats:?}");
    }

    #[test]
    fn the_sign_of_an_exact_zero_and_the_value_of_a_bool_count() {
        let zero = output(Dtype::F32, &[Approx::exact(Num::Float(0.0))]);
        assert!(check_against(&zero, &bytes(&[-0.0])).is_err());
        let unknown = output(Dtype::Bool, &[Approx::unknown(Num::Int(0))]);
        assert!(check_against(&unknown, &[1]).is_ok());
        assert!(check_against(&unknown, &[2]).is_err());
    }
}
