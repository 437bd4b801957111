//! What each step of an attempt is worth. A step that first reaches a milestone is paid for it; the last one is paid what is
//! missing to the final score, so that the rewards of an attempt add up to that score, whatever the way to it.

use crate::effect::Effect;
use serde::{Deserialize, Serialize};

/// For the first source that builds.
pub const BUILD: f64 = 0.02;
/// For the first pass whose graphs all may run.
pub const CHECK: f64 = 0.03;
/// For the first that is right everywhere. The three together are what a failure scores.
pub const RIGHT: f64 = 0.05;
/// The final score of an attempt in which nothing was evaluated: that of a graph that is left as it is.
pub const NOTHING: f64 = 0.1;

/// The reward of one step, by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Reward {
    /// A first source that builds.
    pub build: f64,
    /// A first pass whose graphs may run.
    pub check: f64,
    /// A first pass that is right.
    pub right: f64,
    /// What is missing to the final score; of the last step alone.
    pub score: f64,
}

impl Reward {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.build + self.check + self.right + self.score
    }
}

/// What an attempt has been paid.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rewards {
    builds: bool,
    checks: bool,
    is_right: bool,
    paid: f64,
}

impl Rewards {
    /// Pays for what a call changed. A milestone counts with those before it, once in an attempt.
    pub fn pay(&mut self, effect: &Effect) -> Reward {
        let verdict = effect.verdict();
        let right = verdict.is_some_and(|verdict| verdict.right);
        let checks = right
            || verdict.is_some_and(|verdict| verdict.verifies)
            || matches!(effect, Effect::Checked { passes: true, .. });
        let builds =
            verdict.is_some() || matches!(effect, Effect::Built { component: Some(_), .. } | Effect::Checked { .. });
        let first = |reached: bool, before: &mut bool, worth: f64| {
            let is_first = reached && !*before;
            *before |= reached;
            if is_first { worth } else { 0.0 }
        };
        let reward = Reward {
            build: first(builds, &mut self.builds, BUILD),
            check: first(checks, &mut self.checks, CHECK),
            right: first(right, &mut self.is_right, RIGHT),
            score: 0.0,
        };
        self.paid += reward.total();
        reward
    }

    /// Pays what is missing to the final score.
    pub fn settle(&mut self, score: f64) -> Reward {
        let missing = score - self.paid;
        self.paid = score;
        Reward { score: missing, ..Reward::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::PassVerdict;

    fn judged(score: f64, right: bool) -> Effect {
        let verdict = PassVerdict {
            score,
            aggregate_score: score,
            aggregate_score_strict: score,
            verifies: true,
            right,
            findings: 0,
            document: String::new(),
        };
        Effect::Judged { source: "a".into(), verdict }
    }

    #[test]
    fn the_rewards_of_an_attempt_add_up_to_its_score() {
        let built =
            |component: Option<&str>| Effect::Built { source: "a".into(), component: component.map(str::to_owned) };
        let checked = |passes| Effect::Checked { source: "a".into(), passes };
        let ways: [(Vec<Effect>, f64); 5] = [
            (vec![], NOTHING),
            (vec![built(None), built(None)], NOTHING),
            (vec![built(Some("b")), checked(false), built(Some("b")), judged(0.12, false), judged(1.7, true)], 1.7),
            (vec![judged(1.5, true), judged(0.1, false)], 0.1),
            (vec![checked(true), judged(0.4, true), judged(0.4, true)], 0.4),
        ];
        for (effects, score) in ways {
            let mut rewards = Rewards::default();
            let paid: f64 = effects.iter().map(|effect| rewards.pay(effect).total()).sum();
            assert!(paid <= BUILD + CHECK + RIGHT + 1e-12, "milestones are paid once: {paid}");
            assert!((paid + rewards.settle(score).total() - score).abs() < 1e-12, "{effects:?}");
        }
    }

    #[test]
    fn a_milestone_counts_with_those_before_it_and_once() {
        let mut rewards = Rewards::default();
        let first = Reward { build: BUILD, check: CHECK, right: RIGHT, score: 0.0 };
        assert_eq!(rewards.pay(&judged(1.2, true)), first);
        assert_eq!(rewards.pay(&judged(1.3, true)), Reward::default());
        let mut rewards = Rewards::default();
        let refused = Effect::Checked { source: "a".into(), passes: false };
        assert_eq!(rewards.pay(&refused), Reward { build: BUILD, ..Reward::default() });
    }
}
