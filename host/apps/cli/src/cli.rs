//! The command line: all commands, each with the options that stand where it does.

use crate::arguments::DeviceArguments;
use crate::commands::{
    agent, baseline, bench, build, check, compare, completions, decompose, eval, explain, fleet, keygen, leaderboard,
    new, ops, policies, report, samples, score, serve, setup_sdk, show, verify, worker,
};
use clap::{Parser, Subcommand};

/// Runs untrusted compiler passes in a sandbox, verifies and scores their rewrites.
#[derive(Debug, Parser)]
#[command(name = "passhost", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

// What each does stands in `arguments/groups.rs`, for the list and for its own help.
#[derive(Debug, Subcommand)]
pub enum Command {
    Eval(Box<eval::EvalArguments>),
    Build(build::BuildArguments),
    New(new::NewArguments),
    SetupSdk(setup_sdk::SetupSdkArguments),
    Check(check::CheckArguments),
    Show(show::ShowArguments),
    Bench(Box<bench::BenchArguments>),
    Baseline(Box<baseline::BaselineArguments>),
    Report(report::ReportArguments),
    Compare(compare::CompareArguments),
    Score(score::ScoreArguments),
    Keygen(keygen::KeygenArguments),
    Verify(verify::VerifyArguments),
    Leaderboard(leaderboard::LeaderboardArguments),
    Samples(samples::SamplesArguments),
    Decompose(decompose::DecomposeArguments),
    Agent(Box<agent::AgentArguments>),
    Explain(explain::ExplainArguments),
    Guide,
    Ops(ops::OpsArguments),
    Policies(policies::PoliciesArguments),
    Doctor(DeviceArguments),
    Serve(Box<serve::ServeArguments>),
    Token(serve::TokenArguments),
    Worker(Box<worker::WorkerArguments>),
    Fleet(fleet::FleetArguments),
    Completions(completions::CompletionsArguments),
}
