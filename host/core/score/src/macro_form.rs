//! S(t) and ES(t) from aggregates: another way to the same numbers, as a cross-check.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::options::Options;
use crate::outcome::{FailureClass, VariantOutcome};

/// The aggregates of GraphNet's appendices B and C over the variants of a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Aggregates {
    /// The share of variants that are right.
    pub lambda: f64,
    /// The geometric mean speedup of the right ones, 1 if none is.
    pub alpha: f64,
    /// The share of the right ones that are slower than eager, 0 if none is right.
    pub eta: f64,
    /// The geometric mean speedup of the right and slower ones, 1 if there are none.
    pub beta: f64,
    /// What a failure scores on average: b up to t = 0, then b to the power of the share of failures not tolerated.
    pub gamma: f64,
    /// The share of each failure class among the failures.
    pub pi: BTreeMap<FailureClass, f64>,
}

/// One tolerance's aggregates and what follows from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MacroForm {
    /// The aggregates of ES(t). All but gamma stay those of t = 1 for larger t, as ES(t) freezes the state there.
    pub aggregates: Aggregates,
    /// S(t) = alpha^lambda * beta^(lambda * eta * p) * b^(1 - lambda), with the aggregates of t itself.
    pub s: f64,
    /// ES(t) = alpha^lambda * beta^(lambda * eta * p) * gamma^(1 - lambda).
    pub es: f64,
}

impl MacroForm {
    /// The macro form of checked outcomes at `t`.
    pub(crate) fn at(t: i8, outcomes: &[VariantOutcome], options: &Options) -> MacroForm {
        let frozen = Aggregates::at(t.min(1), t, outcomes, options);
        let current = Aggregates::at(t, t, outcomes, options);
        MacroForm {
            s: current.product(options.p, options.b),
            es: frozen.product(options.p, frozen.gamma),
            aggregates: frozen,
        }
    }
}

impl Aggregates {
    /// The aggregates of the variants' state at `state_t`, with gamma for `t`.
    fn at(state_t: i8, t: i8, outcomes: &[VariantOutcome], options: &Options) -> Aggregates {
        let mut right = Vec::new();
        let mut failures: BTreeMap<FailureClass, usize> = BTreeMap::new();
        for outcome in outcomes {
            match outcome.at(state_t) {
                Ok(speedup) => right.push(speedup),
                Err(class) => *failures.entry(class).or_default() += 1,
            }
        }
        let slower: Vec<f64> = right.iter().copied().filter(|speedup| *speedup < 1.0).collect();
        let failed = outcomes.len() - right.len();
        let pi: BTreeMap<FailureClass, f64> =
            failures.into_iter().map(|(class, count)| (class, count as f64 / failed as f64)).collect();
        Aggregates {
            lambda: right.len() as f64 / outcomes.len() as f64,
            alpha: geometric_mean(&right),
            eta: if right.is_empty() { 0.0 } else { slower.len() as f64 / right.len() as f64 },
            beta: geometric_mean(&slower),
            gamma: gamma(t, &pi, options),
            pi,
        }
    }

    fn product(&self, p: f64, failure: f64) -> f64 {
        self.alpha.powf(self.lambda) * self.beta.powf(self.lambda * self.eta * p) * failure.powf(1.0 - self.lambda)
    }
}

fn gamma(t: i8, pi: &BTreeMap<FailureClass, f64>, options: &Options) -> f64 {
    if t <= 0 {
        // Nothing is tolerated yet. Without failures the power would be 0; the published form says b there, too.
        return options.b;
    }
    let not_tolerated: f64 =
        pi.iter().filter(|(class, _)| !class.is_tolerated(t, options.interpretation)).map(|(_, share)| share).sum();
    options.b.powf(not_tolerated)
}

fn geometric_mean(speedups: &[f64]) -> f64 {
    if speedups.is_empty() {
        return 1.0;
    }
    from_log(speedups.iter().map(|speedup| speedup.ln()).sum::<f64>() / speedups.len() as f64)
}

/// How far two ways to the same score are apart: absolute for scores up to 1, relative above.
pub(crate) fn disagreement(one: f64, other: f64) -> f64 {
    (one - other).abs() / one.max(other).max(1.0)
}

/// The exponential function, short of overflow: the mean of logarithms of finite numbers may round up to the next one.
pub(crate) fn from_log(log: f64) -> f64 {
    log.exp().min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Interpretation;

    fn right(speedup: f64, passes_at: i8) -> VariantOutcome {
        VariantOutcome::Compared {
            speedup,
            passes_at: Some(passes_at),
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: None,
        }
    }

    #[test]
    fn aggregates_worked_by_hand() {
        let outcomes = [
            right(4.0, -10),
            right(0.25, -3),
            right(9.0, 3),
            VariantOutcome::Failed(FailureClass::Compile),
            VariantOutcome::Failed(FailureClass::Compile),
        ];
        let options = Options { p: 1.0, ..Options::default() };
        let at_0 = Aggregates::at(0, 0, &outcomes, &options);
        assert_eq!((at_0.lambda, at_0.eta, at_0.gamma), (0.4, 0.5, 0.1));
        assert!((at_0.alpha - 1.0).abs() < 1e-15 && (at_0.beta - 0.25).abs() < 1e-15, "{at_0:?}");
        let shares: Vec<(FailureClass, f64)> = at_0.pi.into_iter().collect();
        assert_eq!(shares, [(FailureClass::Accuracy, 1.0 / 3.0), (FailureClass::Compile, 2.0 / 3.0)]);

        // The third variant becomes right at t = 3, for S(t) but not for ES(t).
        let form = MacroForm::at(3, &outcomes, &options);
        assert_eq!((form.aggregates.lambda, form.aggregates.gamma), (0.4, 1.0));
        assert!((form.es - (4.0 * 0.0625_f64).powf(0.2)).abs() < 1e-12, "{form:?}");
        assert!((form.s - (4.0 * 0.0625 * 9.0 * 0.01_f64).powf(0.2)).abs() < 1e-12, "{form:?}");
    }

    #[test]
    fn without_right_variants_and_without_failures_the_empty_means_are_1() {
        let failed = Aggregates::at(0, 0, &[VariantOutcome::Failed(FailureClass::Runtime)], &Options::default());
        assert_eq!((failed.lambda, failed.alpha, failed.eta, failed.beta), (0.0, 1.0, 0.0, 1.0));
        let fine = Aggregates::at(1, 1, &[right(2.0, -10)], &Options::default());
        assert_eq!((fine.lambda, fine.eta, fine.beta, fine.gamma, fine.pi.len()), (1.0, 0.0, 1.0, 1.0, 0));
    }

    #[test]
    fn reference_failures_are_never_tolerated() {
        let outcomes = [VariantOutcome::Failed(FailureClass::Reference)];
        for interpretation in [Interpretation::Default, Interpretation::MismatchExtended] {
            let options = Options { interpretation, ..Options::default() };
            for t in interpretation.tolerances() {
                assert_eq!(MacroForm::at(t, &outcomes, &options).aggregates.gamma, 0.1, "t = {t}");
            }
        }
    }
}
