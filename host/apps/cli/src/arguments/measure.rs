//! What evaluations of one sample and of many take: how to measure, and what is shown meanwhile.

use super::{ConfinementArguments, LimitArguments, ScoreOptions, duration, inputs, policy};
use crate::exit::{Exit, OrStop, Stop};
use clap::Args;
use passhost_result::{InputMode, Policy, Settings, milliseconds};
use passhost_score::{FailureClass, Options, VariantOutcome};
use passhost_supervisor::Config;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct MeasureArguments {
    /// Wall clock of a variant on the device; what does not fit is said
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub budget: Duration,
    /// Where the machine is busy with something else, tries a variant again for so long before it is not measured
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub wait: Option<Duration>,
    /// Scores what was measured while the machine was busy: for tests and debugging; the result says so
    #[arg(long)]
    pub accept_noise: bool,
    /// Wall clock of one step of the device process; derived from the sample's own speed if absent
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// What is allowed, asked and counted: open, kernels, strict, or a file (docs/checking.md)
    #[arg(long, value_name = "NAME|FILE", default_value = "open", value_parser = policy)]
    pub policy: Policy,
    /// How inputs are drawn
    #[arg(long, default_value = "fresh", value_parser = inputs())]
    pub inputs: InputMode,
    /// Fixes the inputs, for debugging; the result says so
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Times a rewrite even if it changes nothing that counts: shows what the harness itself costs
    #[arg(long)]
    pub time_pass_miss: bool,
    #[command(flatten)]
    pub score: ScoreOptions,
    #[command(flatten)]
    pub confinement: ConfinementArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

#[derive(Debug, Clone, Copy, Args)]
pub struct ProgressArguments {
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
    /// Says each step of each variant on a line of its own
    #[arg(long, conflicts_with = "quiet")]
    pub verbose: bool,
}

impl MeasureArguments {
    /// What holds for every evaluation, with so many submissions of one author.
    pub fn config(&self, submissions: u32) -> Result<Config, Stop> {
        let options = self.score.over(Options::default());
        // Constants outside their range would otherwise show only after minutes of measuring.
        passhost_score::score(&[VariantOutcome::Failed(FailureClass::Accuracy)], &options).or_stop(Exit::Usage)?;
        let config = Config {
            limits: self.limits.limits(),
            settings: self.settings(),
            options,
            policy: self.policy.clone(),
            inputs: self.inputs,
            seed: self.seed,
            timeout: self.timeout,
            wait: self.wait.unwrap_or_default(),
            submissions,
            confinement: self.confinement.mode(),
        };
        config.contradiction().map_or(Ok(config), |contradiction| Err(Stop::usage(contradiction)))
    }

    /// How to measure.
    fn settings(&self) -> Settings {
        Settings {
            budget_ms: milliseconds(self.budget),
            time_pass_miss: self.time_pass_miss,
            accept_noise: self.accept_noise,
            edge_case_rounds: self.policy.rules().edge_case_rounds,
            ..Settings::default()
        }
    }
}
