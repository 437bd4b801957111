//! The command line of `passhost samples`.

use super::{DeviceArguments, VaryArguments, duration, fraction, inputs, size};
use clap::{Args, Subcommand};
use passhost_sample::InputMode;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct SamplesArguments {
    #[command(subcommand)]
    pub command: SamplesCommand,
}

#[derive(Debug, Subcommand)]
pub enum SamplesCommand {
    /// Reads, types and functionalises every graph, and runs it if asked; counts how that ends
    Check(CheckSamplesArguments),
    /// Prints a line for each sample: graphs, nodes, inputs, element types
    List(ListArguments),
    /// Counts ops, nodes, element types and tensor sizes over all graphs
    Stats(StatsArguments),
    /// Lowers each call of every graph by itself; counts which become kernels, which are views, and why others stay
    Lowerings(LoweringsArguments),
    /// Divides samples into a list to train on and one to evaluate on, with no op sequence in both
    Split(SplitArguments),
    /// Prints a hash of each graph that names, numbering and dead code do not change
    Hash(HashArguments),
    /// Runs one graph once and writes its inputs and outputs as files
    Run(RunArguments),
    /// Makes variants of one graph, of other sizes and element types, and writes them as a task
    Vary(VaryArguments),
    /// Writes samples as one text file each, in which texts that are equal stand once
    Pack(ConvertArguments),
    /// Writes samples as directories, whose files can be edited
    Unpack(ConvertArguments),
}

/// What all commands over many samples take.
#[derive(Debug, Args)]
pub struct SurveyArguments {
    /// Samples, lists of them, or directories that hold some
    #[arg(required = true, value_name = "LIST|DIR")]
    pub paths: Vec<PathBuf>,
    /// Samples that are worked on at once, each with processes of its own; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Wall clock for reading one graph, and for running it
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    pub timeout: Duration,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
    /// Writes all results here; to standard output for `-`
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CheckSamplesArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// Also runs each graph once
    #[arg(long)]
    pub run: bool,
    /// Bytes that one graph may take while it runs, as estimated from its types; three quarters of what is available,
    /// divided by the jobs, if absent
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "run")]
    pub memory: Option<u64>,
    /// How inputs are drawn for a run
    #[arg(long, default_value = "fresh", value_parser = inputs())]
    pub inputs: InputMode,
    /// Seed of the inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Keeps each finished sample in this file, and takes those from it that have not changed since
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub device: DeviceArguments,
}

#[derive(Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
}

#[derive(Debug, Args)]
pub struct StatsArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// Ops that are shown, the most frequent ones
    #[arg(long, value_name = "N", default_value_t = 25)]
    pub top: usize,
}

#[derive(Debug, Args)]
pub struct LoweringsArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// Writes the counts here, a line for each op; `passhost ops` is built with those of GraphNet
    #[arg(long, value_name = "FILE")]
    pub counts: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SplitArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// Share of the samples to evaluate on, between 0 and 1
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    pub eval: f64,
    /// Where the list to train on is written
    #[arg(long, value_name = "FILE")]
    pub train_out: PathBuf,
    /// Where the list to evaluate on is written
    #[arg(long, value_name = "FILE")]
    pub eval_out: PathBuf,
    /// Another seed gives another division
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct HashArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// Only graphs that occur more than once
    #[arg(long)]
    pub duplicates: bool,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// A sample
    pub sample: PathBuf,
    /// Where manifest.json, input_0.bin, output_0.bin and so on are written
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The first graph with this in its name, instead of the first: a part of a folder's name, or folders as in
    /// float16/s0-1, the last by its beginning. May be given several times: the first graph that any of them means
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// How inputs are drawn
    #[arg(long, default_value = "fresh", value_parser = inputs())]
    pub inputs: InputMode,
    /// Seed of the inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Wall clock for reading the graph, and for running it
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub device: DeviceArguments,
}

#[derive(Debug, Args)]
pub struct ConvertArguments {
    /// Samples, lists of them, or directories that hold some
    #[arg(required = true, value_name = "LIST|DIR")]
    pub paths: Vec<PathBuf>,
    /// An empty or new directory, in which each sample lies as it does below the directory or the list that names it
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}
