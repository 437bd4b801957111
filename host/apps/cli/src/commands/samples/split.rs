//! `passhost samples split LIST|DIR... --eval FRACTION --train-out FILE --eval-out FILE`

use super::{SurveyArguments, ask, conclude};
use crate::arguments::fraction;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::Terminal;
use clap::Args;
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::quantities::count;
use passhost_corpus::split::{Sequence, Sides, Summary, sequence, sides, write_list};
use std::path::{Path, PathBuf};

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

const SCHEMA: &str = "passhost.samples.split/1";

pub fn run(arguments: &SplitArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let lists = CommandFiles::default().writes("--train-out", [&arguments.train_out]);
    let lists = lists.writes("--eval-out", [&arguments.eval_out]);
    let (paths, reports) = ask(&arguments.survey, lists, terminal, sequence)?;

    // A sample with a graph that nobody could read might share that one with the other side.
    let usable: Vec<(&PathBuf, &SampleReport<Sequence>)> =
        paths.iter().zip(&reports).filter(|(_, report)| report.is_whole()).collect();
    let sequences: Vec<Vec<&str>> = usable
        .iter()
        .map(|(_, report)| report.found().map(|sequence| sequence.op_sequence.as_str()).collect())
        .collect();
    let Sides { eval, groups } = sides(&sequences, arguments.eval, arguments.seed);
    let side = |wanted: bool| -> Vec<&Path> {
        let chosen = usable.iter().zip(&eval).filter(|(_, eval)| **eval == wanted);
        chosen.map(|((path, _), _)| path.as_path()).collect()
    };
    let (train, eval) = (side(false), side(true));
    let title =
        |what: &str| format!("{what}: `passhost samples split --eval {} --seed {}`", arguments.eval, arguments.seed);
    write_list(&arguments.train_out, &title("Samples to train on"), &train)?;
    write_list(&arguments.eval_out, &title("Samples to evaluate on"), &eval)?;
    let summary = Summary {
        seed: arguments.seed,
        eval_fraction: arguments.eval,
        train: train.len() as u64,
        eval: eval.len() as u64,
        left_out: (paths.len() - usable.len()) as u64,
        groups,
    };
    let lines = render(&summary, terminal);
    conclude(&arguments.survey, SCHEMA, summary, &reports, lines, terminal)
}

fn render(summary: &Summary, terminal: &Terminal) -> Vec<String> {
    let whole = (summary.train + summary.eval).max(1);
    let text = format!(
        "{} samples to train on, {} to evaluate on ({:.1}%, asked for {:.1}%), {} left out; {} groups that share no op sequence",
        count(summary.train),
        count(summary.eval),
        summary.eval as f64 * 100.0 / whole as f64,
        summary.eval_fraction * 100.0,
        count(summary.left_out),
        count(summary.groups),
    );
    terminal.wrap(&text, "")
}
