//! The parameters of a score.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::error::ScoreError;
use crate::tolerance::{LARGEST_T, SMALLEST_T};

/// From which t on each failure class is tolerated, in one of the two published ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpretation {
    /// Wrong values from t = 1, everything else that is tolerated from t = 3. t ends at 4.
    #[default]
    Default,
    /// Wrong types, shapes, NaN and Inf get a level of their own below run-time and compile failures. t ends at 5.
    MismatchExtended,
}

impl Interpretation {
    /// The tolerances at which S(t) and ES(t) are reported.
    pub fn tolerances(self) -> RangeInclusive<i8> {
        match self {
            Interpretation::Default => SMALLEST_T..=4,
            Interpretation::MismatchExtended => SMALLEST_T..=LARGEST_T,
        }
    }
}

/// The parameters of S(t) and ES(t). The default is the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What a failure scores, in (0, 1].
    pub b: f64,
    /// The penalty on slowdowns, in 0..=100: a speedup s below 1 counts as s^(p+1).
    pub p: f64,
    /// From when on failures are tolerated in ES(t). AS always takes [`Interpretation::Default`].
    pub interpretation: Interpretation,
}

impl Default for Options {
    fn default() -> Options {
        Options { b: 0.1, p: 0.0, interpretation: Interpretation::Default }
    }
}

impl Options {
    /// Refuses parameters for which a score means nothing.
    pub(crate) fn check(&self) -> Result<(), ScoreError> {
        // Written so that NaN fails.
        if !(self.b > 0.0 && self.b <= 1.0) {
            return Err(ScoreError::FailureScore(self.b));
        }
        // A negative p would reward slowdowns; far above the published 0 and 1, every slowdown scores nothing.
        if !(0.0..=100.0).contains(&self.p) {
            return Err(ScoreError::SlowdownPenalty(self.p));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_lies_above_0_and_up_to_1_and_p_between_0_and_100() {
        for (b, p, fine) in [
            (0.1, 0.0, true),
            (1.0, 100.0, true),
            (f64::MIN_POSITIVE, 0.5, true),
            (0.0, 0.0, false),
            (-0.1, 0.0, false),
            (1.000_1, 0.0, false),
            (f64::NAN, 0.0, false),
            (f64::INFINITY, 0.0, false),
            (0.1, -0.1, false),
            (0.1, 100.5, false),
            (0.1, f64::NAN, false),
            (0.1, f64::INFINITY, false),
        ] {
            let options = Options { b, p, ..Options::default() };
            assert_eq!(options.check().is_ok(), fine, "b = {b}, p = {p}");
        }
    }
}
