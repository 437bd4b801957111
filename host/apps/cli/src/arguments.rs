//! The command line.

pub mod after_help;
mod agent;
mod baseline;
mod bench;
mod build;
mod decompose;
#[cfg(test)]
mod documented;
mod launch;
mod leaderboard;
mod limits;
mod measure;
mod policy;
pub mod refused;
mod report;
mod samples;
mod serve;
mod sign;
mod vary;
mod verify;

pub use agent::*;
pub use baseline::BaselineArguments;
pub use bench::BenchArguments;
pub use build::{BuildArguments, NewArguments, SetupSdkArguments};
pub use decompose::*;
pub use launch::LaunchArguments;
pub use leaderboard::LeaderboardArguments;
pub use limits::{LimitArguments, WallArguments};
pub use measure::{MeasureArguments, ProgressArguments};
use policy::policy;
pub use report::*;
pub use samples::*;
pub use serve::{ServeArguments, TokenArguments};
pub use sign::{KeygenArguments, SignArguments};
pub use vary::*;
pub use verify::*;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use fundu::{DurationParser, TimeUnit};
use passhost_policy::Policy;
use passhost_protocol::device::DeviceChoice;
use passhost_sample::InputMode;
use passhost_score::{Interpretation, Options};
use std::path::PathBuf;
use std::time::Duration;

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
    Eval(Box<EvalArguments>),
    /// Makes a component of the source of a pass, without trusting the source
    Build(BuildArguments),
    /// Writes the crate of a new pass, with a sample that it makes one kernel of and a native test
    New(NewArguments),
    /// Compiles the SDK that `build` compiles passes against, once
    SetupSdk(SetupSdkArguments),
    /// Checks that a file is a plugin that this host would run
    Check(CheckArguments),
    /// Prints the graphs of a sample, before and after a plugin
    Show(ShowArguments),
    /// Evaluates plugins on many samples, and keeps each result as it comes: what ends early goes on
    Bench(Box<BenchArguments>),
    /// Measures what PyTorch itself offers in place of a plugin: eager from Python, Inductor, CUDA graphs
    Baseline(Box<BaselineArguments>),
    /// Summarises the results of plugins: scores, by group, type and size, the best and the worst, what holds them back
    Report(ReportArguments),
    /// Compares entrants on the graphs that all were tried on: who is better, and what changed
    Compare(CompareArguments),
    /// Computes the scores of a result document, or of a file of score vectors
    Score(ScoreArguments),
    /// Makes a key to sign results with, and prints the line by which others trust it
    Keygen(KeygenArguments),
    /// Holds a result document against itself, its plugin and its sample
    Verify(VerifyArguments),
    /// Ranks signed results: on the terminal, as pages, and why a result is not on the board
    Leaderboard(LeaderboardArguments),
    /// Looks at many samples: checks, lists, counts, divides, hashes or runs them
    Samples(SamplesArguments),
    /// Cuts whole models into samples: single ops, op sequences that repeat, stretches that fit one kernel
    Decompose(DecomposeArguments),
    /// Has a language model write passes, and keeps what it said, built and measured as training data
    Agent(Box<AgentArguments>),
    /// Prints how to write a pass: all that a person or a language model needs, on one page
    Guide,
    /// Says what becomes of ops: which are part of a kernel, which are views, and why the others stay calls
    Ops(OpsArguments),
    /// Lists the policies that are compiled in, or prints one
    Policies(PoliciesArguments),
    /// Says whether this machine has what an evaluation needs
    Doctor(DeviceArguments),
    /// Evaluates what clients submit over HTTP, one submission at a time on each device
    Serve(Box<ServeArguments>),
    /// Makes a token for a client of `serve`, and the line that lets it in
    Token(TokenArguments),
    /// Prints a script that completes this command line in a shell
    Completions(CompletionsArguments),
}

#[derive(Debug, Args)]
pub struct EvalArguments {
    /// The plugin: a WebAssembly component, or its source, a .rs file or the directory of a crate
    pub plugin: PathBuf,
    /// Samples (ours, PassNet's, GraphNet's) or lists of them
    #[arg(required = true)]
    pub samples: Vec<PathBuf>,
    /// Writes the result document here; with several samples, a list of documents
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// How many submissions of one author to this sample share the error of the verdict
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub submissions: u32,
    /// Exits with 1 if the headline of the policy, AS or AS strict, is below this
    #[arg(long, value_name = "AS", value_parser = number)]
    pub fail_under: Option<f64>,
    /// Tries things out in seconds: the smallest variant of each element type, one round of inputs, times that other
    /// programs may have disturbed. The result says so; it is not one to rank
    #[arg(long)]
    pub quick: bool,
    /// Evaluates only the variants of this name, or with this in their names: a part of a folder's name, or folders as in
    /// float16/s0-1, the last by its beginning. May be given several times. The result says how many others there are; it
    /// is not one to rank
    #[arg(long = "variant", value_name = "NAME")]
    pub variants: Vec<String>,
    /// Shows what the pass said: its log, what it left alone and why, and the attempts of patterns that came nearest
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub sign: SignArguments,
    #[command(flatten)]
    pub launch: LaunchArguments,
    #[command(flatten)]
    pub measure: MeasureArguments,
    #[command(flatten)]
    pub progress: ProgressArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The plugin: a WebAssembly component, or its source, a .rs file or the directory of a crate
    pub plugin: PathBuf,
    #[command(flatten)]
    pub walls: WallArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// A sample
    pub sample: PathBuf,
    /// A plugin: also prints the graph it makes, what it logged and what it left alone. The graph that it gets alone if
    /// absent
    #[arg(long, value_name = "PLUGIN")]
    pub after: Option<PathBuf>,
    /// Only the variants with this in their names, the first variant if absent: a part of a folder's name, or folders as in
    /// float16/s0-1, the last by its beginning. May be given several times
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// All variants instead of the first
    #[arg(long)]
    pub all: bool,
    /// The program as the sample has it, in-place ops included
    #[arg(long)]
    pub reference: bool,
    /// Which rewrites may run: open, kernels, strict, or a file (docs/policies.md)
    #[arg(long, value_name = "NAME|FILE", default_value = "open", requires = "after", value_parser = policy)]
    pub policy: Policy,
    #[command(flatten)]
    pub parts: RewriteParts,
    #[command(flatten)]
    pub device: DeviceArguments,
    /// Tells the plugin of this device, and opens none: JSON as `job.device.facts` of a result document
    #[arg(long, value_name = "FILE", requires = "after", conflicts_with_all = ["device", "threads"])]
    pub device_facts: Option<PathBuf>,
    #[command(flatten)]
    pub walls: WallArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// What of a rewrite is shown in place of all of it.
#[derive(Debug, Clone, Copy, Args)]
pub struct RewriteParts {
    /// Which nodes the plugin took away and which it put in, in place of both graphs
    #[arg(long, requires = "after")]
    pub diff: bool,
    /// Its kernels alone, with the bytes that each moves, its operations, and what these take on the device at least
    #[arg(long, requires = "after")]
    pub kernels: bool,
    /// The CUDA C++ that its kernels become: for the GPU of --device, or where there is none for an H100
    #[arg(long, requires = "after")]
    pub cuda: bool,
}

impl RewriteParts {
    /// Whether any part is asked for.
    pub fn any(self) -> bool {
        self.diff || self.kernels || self.cuda
    }
}

#[derive(Debug, Args)]
pub struct OpsArguments {
    /// An op, as `gelu`, `aten::add` or `aten::add.Tensor`: its schemas and where it may occur; all ops if absent
    pub name: Option<String>,
    /// The table of all ops as a page, which is docs/lowerings.md
    #[arg(long, conflicts_with = "name")]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct PoliciesArguments {
    /// The policy to print
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ScoreArguments {
    /// A result document, a list of them, a batch, or a file of score vectors
    pub file: PathBuf,
    /// Writes {"cases": [{"S": {...}, "ES": {...}, "AS": x}, ...]} here; to standard output without a FILE or for `-`
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub options: ScoreOptions,
}

#[derive(Debug, Args)]
pub struct ScoreOptions {
    /// Score of a failed variant, above 0 and at most 1; that of a result where one is read, else 0.1, if absent
    #[arg(long, value_name = "B", value_parser = number)]
    pub b: Option<f64>,
    /// Penalty exponent of slowdowns; that of a result where one is read, else 0, if absent
    #[arg(long, value_name = "P", value_parser = number)]
    pub p: Option<f64>,
    /// From which tolerance on which failures count as a speedup of 1; that of a result where one is read, else default, if
    /// absent
    #[arg(long, value_parser = one_of([("default", "", Interpretation::Default), ("mismatch-extended", "", Interpretation::MismatchExtended)]))]
    pub interpretation: Option<Interpretation>,
}

#[derive(Debug, Args)]
pub struct DeviceArguments {
    /// auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = device)]
    pub device: DeviceChoice,
    /// Threads for CPU work, all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

impl ScoreOptions {
    /// The constants given, over `base` where one is not.
    pub fn over(&self, base: Options) -> Options {
        Options {
            b: self.b.unwrap_or(base.b),
            p: self.p.unwrap_or(base.p),
            interpretation: self.interpretation.unwrap_or(base.interpretation),
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// `500ms`, `2s`, `1.5s`, `3m`; a bare number means seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let units = [TimeUnit::MilliSecond, TimeUnit::Second, TimeUnit::Minute, TimeUnit::Hour];
    let parsed =
        DurationParser::with_time_units(&units).parse(text).ok().and_then(|time| Duration::try_from(time).ok());
    let time = parsed.ok_or_else(|| format!("`{text}` is no time; write 500ms, 2s or 3m"))?;
    if !(Duration::from_millis(1)..=Duration::from_secs(86_400)).contains(&time) {
        return Err(format!("`{text}` is not between 1ms and one day"));
    }
    Ok(time)
}

/// One of some values by their names, each with what help says of it.
fn one_of<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, &'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<(&str, &str, T)> = values.into_iter().collect();
    let possible = |(name, help, _): &(&'static str, &'static str, T)| match *help {
        "" => PossibleValue::new(*name),
        help => PossibleValue::new(*name).help(help),
    };
    let names = PossibleValuesParser::new(values.iter().map(possible).collect::<Vec<_>>());
    names.try_map(move |name| {
        let found = values.iter().find(|(known, ..)| *known == name).map(|(_, _, value)| value.clone());
        found.ok_or("it is none of these")
    })
}

/// How inputs are drawn.
fn inputs() -> impl TypedValueParser<Value = InputMode> {
    one_of([
        ("fresh", "Drawn around the recorded statistics, never constant", InputMode::Fresh),
        ("published", "As the published loaders draw them", InputMode::Published),
    ])
}

/// How inputs are drawn, as it is written.
pub fn inputs_name(inputs: InputMode) -> &'static str {
    match inputs {
        InputMode::Fresh => "fresh",
        InputMode::Published => "published",
    }
}

/// `65536`, `64K`, `256M`, `1G`: bytes, powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let parsed = parse_size::Config::new().with_binary().parse_size(text);
    parsed.map_err(|_| format!("`{text}` is no size; write 64K, 256M or 1G"))
}

/// A number that others can be held against.
fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("`{text}` is no number; write 0.9"))
}

/// A share that leaves something on both sides.
fn fraction(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| format!("`{text}` is no share between 0 and 1; write 0.2"))
}

/// A device as it is written.
pub fn device_name(device: DeviceChoice) -> String {
    match device {
        DeviceChoice::Auto => "auto".to_owned(),
        DeviceChoice::Cpu => "cpu".to_owned(),
        DeviceChoice::Cuda(index) => format!("cuda:{index}"),
    }
}

fn device(text: &str) -> Result<DeviceChoice, String> {
    match text {
        "auto" => Ok(DeviceChoice::Auto),
        "cpu" => Ok(DeviceChoice::Cpu),
        "cuda" => Ok(DeviceChoice::Cuda(0)),
        _ => text
            .strip_prefix("cuda:")
            .and_then(|index| index.parse().ok())
            .map(DeviceChoice::Cuda)
            .ok_or_else(|| format!("`{text}` is no device; write auto, cpu, cuda or cuda:1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn times_sizes_and_devices_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        for bad in ["", "s", "-1s", "0s", "3 weeks", "nan", "1e99s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert_eq!(size("64K"), Ok(65_536));
        assert_eq!(size("1G"), Ok(1 << 30));
        for bad in ["", "K", "-1", "99999999999G"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(number("-0.5"), Ok(-0.5));
        for bad in ["", "nan", "inf", "half"] {
            assert!(number(bad).is_err(), "{bad}");
        }
        assert_eq!(device("cuda:3"), Ok(DeviceChoice::Cuda(3)));
        assert!(device("tpu").is_err());
    }

    #[test]
    fn limits_default_to_those_of_the_protocol() {
        let cli = Cli::parse_from(["passhost", "check", "x.wasm"]);
        let Command::Check(arguments) = cli.command else { unreachable!("`check` was parsed") };
        assert_eq!(arguments.limits.limits(), passhost_result::GuestLimits::default());
    }
}
