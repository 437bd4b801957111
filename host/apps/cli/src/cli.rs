//! The command line: all commands, each with the options that stand where it does.

use crate::arguments::DeviceArguments;
use crate::commands::{
    agent, baseline, bench, build, check, compare, completions, decompose, eval, keygen, leaderboard, new, ops,
    policies, report, samples, score, serve, setup_sdk, show, verify,
};
use clap::{Parser, Subcommand};

/// Runs compiler passes nobody trusts, checks what they return and scores the graphs they rewrote.
#[derive(Debug, Parser)]
#[command(name = "passhost", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Evaluates a plugin on samples: is it right, how much faster is it, what is its score
    Eval(Box<eval::EvalArguments>),
    /// Makes a component of the source of a pass, without trusting the source
    Build(build::BuildArguments),
    /// Writes the crate of a new pass, with a sample that it makes one kernel of and a native test
    New(new::NewArguments),
    /// Compiles the SDK that `build` compiles passes against, once
    SetupSdk(setup_sdk::SetupSdkArguments),
    /// Checks that a file is a plugin that this host would run
    Check(check::CheckArguments),
    /// Prints the graphs of a sample, before and after a plugin
    Show(show::ShowArguments),
    /// Evaluates plugins on many samples, and keeps each result as it comes: what ends early goes on
    Bench(Box<bench::BenchArguments>),
    /// Measures what PyTorch itself offers in place of a plugin: eager from Python, Inductor, CUDA graphs
    Baseline(Box<baseline::BaselineArguments>),
    /// Summarises the results of plugins: scores, by group, type and size, the best and the worst, what holds them back
    Report(report::ReportArguments),
    /// Compares entrants on the graphs that all were tried on: who is better, and what changed
    Compare(compare::CompareArguments),
    /// Computes the scores of a result document, or of a file of score vectors
    Score(score::ScoreArguments),
    /// Makes a key to sign results with, and prints the line by which others trust it
    Keygen(keygen::KeygenArguments),
    /// Holds a result document against itself, its plugin and its sample
    Verify(verify::VerifyArguments),
    /// Ranks signed results: on the terminal, as pages, and why a result is not on the board
    Leaderboard(leaderboard::LeaderboardArguments),
    /// Looks at many samples: checks, lists, counts, divides, hashes or runs them
    Samples(samples::SamplesArguments),
    /// Cuts whole models into samples: single ops, op sequences that repeat, stretches that fit one kernel
    Decompose(decompose::DecomposeArguments),
    /// Has a language model write passes, and keeps what it said, built and measured as training data
    Agent(Box<agent::AgentArguments>),
    /// Prints how to write a pass: all that a person or a language model needs, on one page
    Guide,
    /// Says what becomes of ops: which are part of a kernel, which are views, and why the others stay calls
    Ops(ops::OpsArguments),
    /// Lists the policies that are compiled in, or prints one
    Policies(policies::PoliciesArguments),
    /// Says whether this machine has what an evaluation needs
    Doctor(DeviceArguments),
    /// Evaluates what clients submit over HTTP, one submission at a time on each device
    Serve(Box<serve::ServeArguments>),
    /// Makes a token for a client of `serve`, and the line that lets it in
    Token(serve::TokenArguments),
    /// Prints a script that completes this command line in a shell
    Completions(completions::CompletionsArguments),
}
