//! From timing samples to a speedup.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::ScoreError;

/// One of the two programs that are timed against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// The reference, as a PyTorch user would run it.
    Eager,
    /// What the pass made of it.
    Rewritten,
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Program::Eager => "eager",
            Program::Rewritten => "rewritten",
        })
    }
}

/// End-to-end times of one variant's two programs, in any one unit, one sample a trial.
///
/// Where eager was timed twice, `eager` is the series with the smaller median, the one that counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// Times of the eager program.
    pub eager: Vec<f64>,
    /// Times of the rewritten program.
    pub rewritten: Vec<f64>,
}

impl Timings {
    /// Median eager time over median rewritten time.
    ///
    /// # Errors
    ///
    /// [`ScoreError::NoTimings`] or [`ScoreError::TimingSample`] if a program has no samples, or one that is not
    /// positive and finite; [`ScoreError::Speedup`] if the medians are so far apart that their quotient is not.
    pub fn speedup(&self) -> Result<f64, ScoreError> {
        check_samples(&self.eager, Program::Eager)?;
        check_samples(&self.rewritten, Program::Rewritten)?;
        let speedup = median(&mut self.eager.clone()) / median(&mut self.rewritten.clone());
        check_speedup(speedup)?;
        Ok(speedup)
    }
}

/// Refuses a speedup of which no logarithm can be taken.
pub(crate) fn check_speedup(speedup: f64) -> Result<(), ScoreError> {
    if speedup.is_finite() && speedup > 0.0 { Ok(()) } else { Err(ScoreError::Speedup { found: speedup }) }
}

fn check_samples(samples: &[f64], program: Program) -> Result<(), ScoreError> {
    if samples.is_empty() {
        return Err(ScoreError::NoTimings { program });
    }
    match samples.iter().position(|time| !(time.is_finite() && *time > 0.0)) {
        None => Ok(()),
        Some(index) => Err(ScoreError::TimingSample { program, index, found: samples[index] }),
    }
}

/// The median of at least one sample; of an even number, the mean of the middle two. Reorders the samples.
///
/// # Panics
///
/// If there is none.
pub fn median(samples: &mut [f64]) -> f64 {
    let middle = samples.len() / 2;
    let even = samples.len().is_multiple_of(2);
    let (below, &mut upper, _) = samples.select_nth_unstable_by(middle, f64::total_cmp);
    if even { f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper) } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        for (mut samples, expected) in [
            (vec![3.0], 3.0),
            (vec![4.0, 1.0], 2.5),
            (vec![9.0, 1.0, 2.0], 2.0),
            (vec![8.0, 1.0, 2.0, 100.0], 5.0),
            (vec![2.0, 2.0, 2.0, 1.0, 1.0], 2.0),
        ] {
            assert_eq!(median(&mut samples), expected, "{samples:?}");
        }
    }

    #[test]
    fn the_speedup_is_the_quotient_of_the_medians() {
        let timings = Timings { eager: vec![6.0, 90.0, 5.0], rewritten: vec![2.0, 4.0] };
        assert_eq!(timings.speedup(), Ok(2.0));
    }

    #[test]
    fn samples_that_give_no_speedup_are_named() {
        let good = vec![1.0, 2.0];
        for (eager, rewritten, message) in [
            (vec![], good.clone(), "no timing samples of the eager program; a median needs at least one"),
            (good.clone(), vec![], "no timing samples of the rewritten program; a median needs at least one"),
            (vec![1.0, 0.0], good.clone(), "timing sample 1 of the eager program is 0, not a positive finite time"),
            (good.clone(), vec![-2.5], "timing sample 0 of the rewritten program is -2.5, not a positive finite time"),
            (vec![f64::NAN], good.clone(), "timing sample 0 of the eager program is NaN, not a positive finite time"),
            (good, vec![f64::INFINITY], "timing sample 0 of the rewritten program is inf, not a positive finite time"),
            (vec![1e300], vec![1e-300], "speedup inf is not a positive finite number"),
            (vec![1e-300], vec![1e300], "speedup 0 is not a positive finite number"),
        ] {
            let found = Timings { eager, rewritten }.speedup().map_err(|error| error.to_string());
            assert_eq!(found, Err(message.to_owned()));
        }
    }
}
