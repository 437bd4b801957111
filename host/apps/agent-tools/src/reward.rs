//! What each step of an attempt is worth. A step that first reaches a milestone is paid for it, and an evaluation what its score
//! is above 0.1 and above what was paid; the last step is paid what is missing to the final score, so that the rewards of an
//! attempt add up to that score, whatever the way to it.

use crate::effect::Effect;
use serde::{Deserialize, Serialize};

/// For the first source that builds.
pub const BUILD: f64 = 0.02;
/// For the first pass that changes a graph and whose graphs all may run.
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
    /// A first pass that changes a graph and whose graphs may run.
    pub check: f64,
    /// A first pass that is right.
    pub right: f64,
    /// Of an evaluation, what its score is above [`NOTHING`] and above what was paid; of the last step besides, what is missing to
    /// the final score.
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
            || verdict.is_some_and(|verdict| verdict.verifies && verdict.changes)
            || matches!(effect, Effect::Checked { passes: true, changes: true, .. });
        let builds =
            verdict.is_some() || matches!(effect, Effect::Built { component: Some(_), .. } | Effect::Checked { .. });
        let first = |reached: bool, before: &mut bool, worth: f64| {
            let is_first = reached && !*before;
            *before |= reached;
            if is_first { worth } else { 0.0 }
        };
        let mut reward = Reward {
            build: first(builds, &mut self.builds, BUILD),
            check: first(checks, &mut self.checks, CHECK),
            right: first(right, &mut self.is_right, RIGHT),
            score: 0.0,
        };
        self.paid += reward.total();
        if let Some(verdict) = verdict {
            reward.score = (verdict.score - self.paid.max(NOTHING)).max(0.0);
            self.paid += reward.score;
        }
        reward
    }

    /// Takes in what was paid for a call before, by whatever formula.
    pub fn recall(&mut self, effect: &Effect, reward: &Reward) {
        let paid = self.paid + reward.total();
        self.pay(effect);
        self.paid = paid;
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
        let verdict = PassVerdict { score, verifies: true, changes: score > NOTHING, right, ..PassVerdict::default() };
        Effect::Judged { source: "a".into(), verdict }
    }

    fn checked(passes: bool, changes: bool) -> Effect {
        Effect::Checked { source: "a".into(), passes, changes }
    }

    #[test]
    fn the_rewards_of_an_attempt_add_up_to_its_score() {
        let built =
            |component: Option<&str>| Effect::Built { source: "a".into(), component: component.map(str::to_owned) };
        let ways: [(Vec<Effect>, f64); 5] = [
            (vec![], NOTHING),
            (vec![built(None), built(None)], NOTHING),
            (
                vec![built(Some("b")), checked(false, true), built(Some("b")), judged(0.12, false), judged(1.7, true)],
                1.7,
            ),
            (vec![judged(1.5, true), judged(0.1, false)], 0.1),
            (vec![checked(true, true), judged(0.4, true), judged(0.4, true)], 0.4),
        ];
        for (effects, score) in ways {
            let (mut rewards, mut again) = (Rewards::default(), Rewards::default());
            let mut paid = 0.0;
            for effect in &effects {
                let reward = rewards.pay(effect);
                again.recall(effect, &reward);
                paid += reward.total();
            }
            assert_eq!(again, rewards, "{effects:?}");
            assert!((paid + rewards.settle(score).total() - score).abs() < 1e-12, "{effects:?}");
        }
    }

    #[test]
    fn a_milestone_counts_with_those_before_it_and_once() {
        let mut rewards = Rewards::default();
        let first = rewards.pay(&judged(1.2, true));
        assert_eq!(Reward { score: 0.0, ..first }, Reward { build: BUILD, check: CHECK, right: RIGHT, score: 0.0 });
        assert_eq!(rewards.pay(&judged(1.2, true)), Reward::default());
        let mut rewards = Rewards::default();
        assert_eq!(rewards.pay(&checked(false, true)), Reward { build: BUILD, ..Reward::default() });
    }

    #[test]
    fn the_evaluation_that_found_a_score_is_paid_for_it_and_one_that_is_worse_for_nothing() {
        let mut rewards = Rewards::default();
        let scores = [(0.1, false), (1.5, true), (1.2, true), (1.7, true)];
        let paid = scores.map(|(score, right)| rewards.pay(&judged(score, right)).score);
        for (found, expected) in paid.iter().zip([0.0, 1.4, 0.0, 0.2]) {
            assert!((found - expected).abs() < 1e-12, "{paid:?}");
        }
        assert!((rewards.settle(1.2).total() + 0.5).abs() < 1e-12, "a worse one was handed in");
    }

    #[test]
    fn a_pass_that_changes_nothing_is_paid_for_its_build_alone() {
        let mut rewards = Rewards::default();
        let paid = [checked(true, false), judged(NOTHING, false)].map(|effect| rewards.pay(&effect));
        assert_eq!(paid, [Reward { build: BUILD, ..Reward::default() }, Reward::default()]);
    }
}
