//! `passhost-fuzz TARGET --count N`: many cases against one part of the host.

use clap::Parser;
use passhost_fuzz::{Campaign, Name, ROLE, Report, failures, is_stand_in, lie, serve};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Puts random cases to a part of the host and says what came of them. Exits with 1 if one shows something wrong.
#[derive(Debug, Parser)]
#[command(name = "passhost-fuzz")]
struct Arguments {
    /// What to fuzz.
    target: Name,
    /// How many cases.
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// Begin no case after so many seconds.
    #[arg(long)]
    seconds: Option<u64>,
    /// Cases are the same for the same seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of the first case.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Where cases are written that show something wrong.
    #[arg(long, default_value_os_t = failures())]
    failures: PathBuf,
}

fn main() -> ExitCode {
    if is_stand_in() {
        return lie();
    }
    if std::env::args_os().nth(1).is_some_and(|argument| argument == ROLE) {
        return match serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("passhost-fuzz: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let arguments = Arguments::parse();
    let started = Instant::now();
    let count = if arguments.seconds.is_some() { u64::MAX } else { arguments.count };
    let until = arguments.seconds.map(|seconds| started + Duration::from_secs(seconds));
    let Arguments { target, seed, first, failures, .. } = arguments;
    match (Campaign { target, seed, first, count, until, failures }).run() {
        Ok(report) => {
            show(&report, started.elapsed());
            for failure in &report.failures {
                let file = failure.file.as_ref().map(|file| format!(", written to {}", file.display()));
                println!("case {}{}: {}", failure.number, file.unwrap_or_default(), failure.message);
                println!("  again: passhost-fuzz {target} --seed {seed} --first {} --count 1", failure.number);
            }
            if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("passhost-fuzz: {error}");
            ExitCode::from(2)
        }
    }
}

fn show(report: &Report, time: Duration) {
    let mebibytes = |bytes: u64| bytes >> 20;
    for (kind, count) in &report.outcomes {
        println!("{count:>9}  {kind}");
    }
    println!(
        "{} cases in {:.1} s, at most {} MiB, {} MiB in a child, {} failures",
        report.cases,
        time.as_secs_f64(),
        mebibytes(report.peak),
        mebibytes(report.peak_of_children),
        report.failures.len()
    );
}
