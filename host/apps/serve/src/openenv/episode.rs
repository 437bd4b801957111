//! Where an episode stands: steps, rewards, verdicts, and its end.

use super::wire::EpisodeAnswer;
use passhost_agent_tools::{Effect, PassVerdict, Rewards, ToolOutcome, reward, steps_left};
use serde_json::{Value, json};

/// An episode on a sample.
#[derive(Debug, Default)]
pub struct Episode {
    id: String,
    sample: String,
    /// As many as there may be.
    limit: u32,
    steps: u32,
    rewards: Rewards,
    /// The sum of all rewards.
    paid: f64,
    /// Of the last evaluation.
    verdict: Option<PassVerdict>,
    best: Option<f64>,
    /// Hash of the source that is written.
    source: Option<String>,
    is_done: bool,
}

/// What an observation says.
#[derive(Debug, Default)]
pub struct ObservationText<'a> {
    pub text: &'a str,
    /// The tool whose result it is, or that is waited for.
    pub tool: Option<&'a str>,
    /// Whether that goes on.
    pub is_pending: bool,
    /// What an evaluation found.
    pub verdict: Option<&'a PassVerdict>,
}

impl Episode {
    pub fn new(id: String, sample: String, limit: u32) -> Episode {
        Episode { id, sample, limit, ..Episode::default() }
    }

    /// Whether nothing is to be done any more.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// An answer that is no step.
    pub fn told(&self, said: &ObservationText<'_>, reward: Option<f64>) -> EpisodeAnswer {
        EpisodeAnswer::Observation { observation: self.observation(said), reward, done: self.is_done }
    }

    /// A step that called nothing.
    pub fn misled(&mut self, text: &str) -> EpisodeAnswer {
        self.took(None, ToolOutcome::said(text))
    }

    /// A step, with what came of it. The last one is paid what is missing to the score of the episode: that of what was
    /// handed in, or of what was evaluated last.
    pub fn took(&mut self, tool: Option<&str>, outcome: ToolOutcome) -> EpisodeAnswer {
        let ToolOutcome { mut text, effect, .. } = outcome;
        self.steps += 1;
        if let Effect::Wrote { source } = &effect {
            self.source = Some(source.clone());
        }
        let verdict = effect.verdict().cloned();
        if let Some(verdict) = &verdict {
            self.best = Some(self.best.map_or(verdict.score, |best| best.max(verdict.score)));
            self.verdict = Some(verdict.clone());
        }
        text.push_str(&steps_left(self.steps, self.limit));
        let mut reward = self.rewards.pay(&effect).total();
        let is_submitted = matches!(effect, Effect::Submitted { .. });
        let mut shown = verdict;
        if is_submitted || self.steps >= self.limit {
            let score = self.verdict.as_ref().map_or(reward::NOTHING, |verdict| verdict.score);
            reward += self.rewards.settle(score).total();
            self.is_done = true;
            if !is_submitted {
                text.push_str("\nThe episode is over: it has no steps left. Its score is that of the last evaluation.");
                shown = shown.or_else(|| self.verdict.clone());
            }
        }
        self.paid += reward;
        let said = ObservationText { text: &text, tool, is_pending: false, verdict: shown.as_ref() };
        self.told(&said, Some(reward))
    }

    /// Where it stands.
    pub fn state(&self) -> Value {
        json!({
            "episode_id": self.id,
            "step_count": self.steps,
            "sample": self.sample,
            "best_score": self.best,
            "reward": self.paid,
            "done": self.is_done,
        })
    }

    fn observation(&self, said: &ObservationText<'_>) -> Value {
        json!({
            "text": said.text,
            "tool": said.tool,
            "pending": said.is_pending,
            "sample": self.sample,
            "steps": self.steps,
            "verdict": said.verdict.map(shown),
            "source_sha256": self.source,
        })
    }
}

/// The state before the first episode.
pub fn nothing() -> Value {
    json!({
        "episode_id": null, "step_count": 0, "sample": null, "best_score": null, "reward": 0.0, "done": false,
    })
}

/// A verdict as it is told: without the hash of a document that nobody can ask for.
fn shown(verdict: &PassVerdict) -> Value {
    json!({
        "score": verdict.score,
        "aggregate_score": verdict.aggregate_score,
        "aggregate_score_strict": verdict.aggregate_score_strict,
        "verifies": verdict.verifies,
        "right": verdict.right,
        "findings": verdict.findings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn verdict(score: f64) -> PassVerdict {
        PassVerdict {
            score,
            aggregate_score: score,
            aggregate_score_strict: score,
            verifies: true,
            changes: true,
            right: score > 1.0,
            document: "hidden".into(),
            ..PassVerdict::default()
        }
    }

    fn step(episode: &mut Episode, effect: Effect) -> (Value, f64, bool) {
        let outcome = ToolOutcome { text: "said".into(), effect, device: Duration::ZERO };
        match episode.took(Some("tool"), outcome) {
            EpisodeAnswer::Observation { observation, reward, done } => (observation, reward.unwrap_or(f64::NAN), done),
            other => unreachable!("a step has an observation: {other:?}"),
        }
    }

    #[test]
    fn rewards_sum_to_the_score_of_what_counts() {
        let judged = |score| Effect::Judged { source: "a".into(), verdict: verdict(score) };
        let submitted = |score| Effect::Submitted { source: "a".into(), verdict: verdict(score) };
        let cases = [
            (vec![judged(0.1), judged(1.7), submitted(1.7)], 9, 1.7, Some(1.7)),
            (vec![judged(1.9), judged(0.1), Effect::Nothing], 3, 0.1, Some(1.9)),
            (vec![Effect::Nothing, Effect::Nothing], 2, reward::NOTHING, None),
        ];
        for (effects, limit, score, best) in cases {
            let mut episode = Episode::new("e".into(), "s".into(), limit);
            let count = effects.len();
            let steps: Vec<_> = effects.into_iter().map(|effect| step(&mut episode, effect)).collect();
            let paid: f64 = steps.iter().map(|(_, reward, _)| reward).sum();
            assert!((paid - score).abs() < 1e-12, "{paid} of {score}");
            let done: Vec<bool> = steps.iter().map(|(_, _, done)| *done).collect();
            assert!(done.iter().take(count - 1).all(|done| !done) && done[count - 1], "{done:?}");
            let state = episode.state();
            assert_eq!((state["best_score"].as_f64(), state["done"].as_bool()), (best, Some(true)));
            assert!(state["reward"].as_f64().is_some_and(|reward| (reward - score).abs() < 1e-12), "{state}");
        }
    }

    #[test]
    fn an_episode_without_steps_left_tells_the_verdict_that_counts() {
        let mut episode = Episode::new("e".into(), "s".into(), 2);
        let (first, ..) = step(&mut episode, Effect::Judged { source: "a".into(), verdict: verdict(1.5) });
        assert!(first["verdict"]["score"] == 1.5 && first["verdict"]["document"].is_null(), "{first}");
        let (last, _, done) = step(&mut episode, Effect::Nothing);
        assert!(done && last["verdict"]["score"] == 1.5, "{last}");
        assert!(last["text"].as_str().is_some_and(|text| text.contains("no steps left")), "{last}");
    }
}
