//! Plays the cases of the corpus and writes what came of each.

use clap::Parser;
use passhost_adversarial::side_by_side::{Plan, play};
use passhost_adversarial::table::{Row, markdown};
use passhost_adversarial::{Trouble, cases};
use passhost_protocol::device::DeviceChoice;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Plays the attacks and the honest passes of tests/adversarial
#[derive(Parser)]
struct Arguments {
    /// Only cases whose name contains one of these
    words: Vec<String>,
    /// cpu, cuda or cuda:N
    #[arg(long, default_value = "cpu", value_parser = device)]
    device: DeviceChoice,
    /// Cases at a time; more than one disturbs what is timed
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// Milliseconds for the timed runs of a program
    #[arg(long, default_value_t = 50)]
    budget: u64,
    /// Judges every case under this policy, whatever its own is; then only what it gains is asked
    #[arg(long)]
    policy: Option<String>,
    /// How often each case is played
    #[arg(long, default_value_t = 1)]
    attempts: usize,
    /// Writes the rows here as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// Writes the rows here as tables in Markdown, under what the file has before its first table
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// Tables without what each case does: for a page beside one that has it
    #[arg(long)]
    brief: bool,
}

fn device(text: &str) -> Result<DeviceChoice, String> {
    match text.split_once(':') {
        None if text == "cpu" => Ok(DeviceChoice::Cpu),
        None if text == "cuda" => Ok(DeviceChoice::Cuda(0)),
        Some(("cuda", number)) => number.parse().map(DeviceChoice::Cuda).map_err(|error| error.to_string()),
        _ => Err("expected cpu, cuda or cuda:N".into()),
    }
}

fn main() -> Result<ExitCode, Trouble> {
    let arguments = Arguments::parse();
    let plan = Plan {
        device: arguments.device,
        workers: arguments.workers.max(1),
        budget: Duration::from_millis(arguments.budget),
        attempts: arguments.attempts.max(1),
    };
    let mut chosen = cases(&arguments.words)?;
    if arguments.policy.is_some() {
        chosen.iter_mut().for_each(|case| case.expect.policy.clone_from(&arguments.policy));
    }
    let rows = play(&chosen, plan)?;
    if let Some(path) = &arguments.json {
        std::fs::write(path, serde_json::to_string_pretty(&rows)?)?;
    }
    let table = markdown(&rows, arguments.brief);
    match &arguments.markdown {
        Some(path) => {
            let before = std::fs::read_to_string(path).unwrap_or_default();
            let heading = before.split("| case |").next().unwrap_or_default();
            std::fs::write(path, format!("{heading}{table}"))?;
        }
        None => println!("{table}"),
    }
    println!("{}", summary(&rows));
    let as_the_case_expects = arguments.policy.is_none();
    let complaints: Vec<String> = rows.iter().filter_map(|row| complaint(row, as_the_case_expects)).collect();
    complaints.iter().for_each(|complaint| eprintln!("{complaint}"));
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is wrong with a row. That an attack gains nothing is asked here and in no test: it is a matter of times.
fn complaint(row: &Row, as_the_case_expects: bool) -> Option<String> {
    let gained = (row.gained > 0 && row.open.is_none()).then(|| "it earns more than the identity".to_owned());
    row.complaint
        .clone()
        .filter(|_| as_the_case_expects)
        .or(gained)
        .map(|complaint| format!("{}: {complaint}", row.case))
}

fn summary(rows: &[Row]) -> String {
    let attempts: usize = rows.iter().map(|row| row.attempts).sum();
    let as_expected: usize = rows.iter().map(|row| row.as_expected).sum();
    let open = rows.iter().filter(|row| row.open.is_some()).count();
    format!("{} cases, {open} of them open; {as_expected} of {attempts} attempts ended as the case expects", rows.len())
}
