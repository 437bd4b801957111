//! `passhost fleet status|retry|drain|require-canary|revoked --queue ADDRESS`: what operators see of a queue in a database, and do with it.

use super::serve::queue;
use crate::arguments::duration;
use crate::exit::{Exit, OrStop, Stop};
use crate::output::{print, write_and_print};
use clap::{Args, Subcommand};
use passhost_queue::{
    Counts, DeadLetter, Disagreement, FleetStatus, JobState, QuarantinedHost, Queue as _, QueueLimits, Revocation,
    Ticket, UntriedResults, WorkerState,
};
use passhost_result::untrusted::one_line;
use passhost_sign::time_text;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Characters of a text from outside.
const TEXT: usize = 400;

#[derive(Debug, Args)]
pub struct FleetArguments {
    #[command(subcommand)]
    pub command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Prints what waits by labels, the workers, the oldest submission, and what no host could evaluate
    Status(StatusArguments),
    /// Has a lost submission wait again; its losses until now count no more
    Retry(RetryArguments),
    /// Has the workers of a host take nothing more; what they have they end
    Drain(DrainArguments),
    /// Has hosts take nothing whose canary (`passhost worker --canary`) was not good a short time ago
    RequireCanary(RequireCanaryArguments),
    /// Prints the results that count no more, a line each: job, time, host, reason
    Revoked(QueueArguments),
}

#[derive(Debug, Args)]
pub struct QueueArguments {
    /// The PostgreSQL database of the queue, as the owner of its tables: postgres://USER@HOST/DATABASE, or a file with that and a
    /// password
    #[arg(long, value_name = "ADDRESS|FILE")]
    pub queue: String,
}

#[derive(Debug, Args)]
pub struct StatusArguments {
    #[command(flatten)]
    pub queue: QueueArguments,
    /// Writes all of it as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RetryArguments {
    /// The name of the evaluation
    pub job: String,
    #[command(flatten)]
    pub queue: QueueArguments,
}

#[derive(Debug, Args)]
pub struct DrainArguments {
    /// The host, as `fleet status` calls it
    pub host: String,
    /// Has its workers take submissions again, also if it is quarantined
    #[arg(long)]
    pub undo: bool,
    #[command(flatten)]
    pub queue: QueueArguments,
}

#[derive(Debug, Args)]
pub struct RequireCanaryArguments {
    /// How long ago the last good canary may be: more than the workers' --canary-interval
    #[arg(value_name = "TIME", required_unless_present = "undo", value_parser = duration)]
    pub within: Option<Duration>,
    /// Requires none any more
    #[arg(long, conflicts_with = "within")]
    pub undo: bool,
    #[command(flatten)]
    pub queue: QueueArguments,
}

/// What `fleet status --json` writes.
#[derive(Serialize)]
struct WholeStatus<'a> {
    counts: Counts,
    #[serde(flatten)]
    fleet: &'a FleetStatus,
}

pub fn run(arguments: &FleetArguments) -> Result<Exit, Stop> {
    let open = |arguments: &QueueArguments| queue::database(&arguments.queue, QueueLimits::default(), None);
    match &arguments.command {
        FleetCommand::Status(arguments) => {
            let queue = open(&arguments.queue)?;
            let (counts, fleet) = (queue.counts().or_stop(Exit::Host)?, queue.fleet().or_stop(Exit::Host)?);
            write_and_print(&arguments.json, &WholeStatus { counts, fleet: &fleet }, lines(&fleet))?;
        }
        FleetCommand::Retry(arguments) => {
            let job = one_line(&arguments.job, 80);
            let state = open(&arguments.queue)?.retry(&Ticket::named(&arguments.job)).or_stop(Exit::Host)?;
            match state {
                Some(JobState::Waiting) => print([format!("{job} waits")]),
                Some(JobState::Lost) => {
                    return Err(Stop::usage(format!("the submission of {job} is gone; it must be submitted again")));
                }
                Some(state) => {
                    let state = format!("{state:?}").to_lowercase();
                    return Err(Stop::usage(format!("{job} is {state}; only what is lost is tried again")));
                }
                None => return Err(Stop::usage(format!("there is no evaluation {job} in this queue"))),
            }
        }
        FleetCommand::Drain(arguments) => {
            open(&arguments.queue)?.drain(&arguments.host, !arguments.undo).or_stop(Exit::Host)?;
            let what = if arguments.undo { "is not drained any more" } else { "is drained" };
            print([format!("{} {what}: its workers hear of it within seconds", one_line(&arguments.host, TEXT))]);
        }
        FleetCommand::RequireCanary(RequireCanaryArguments { within, queue, .. }) => {
            open(queue)?.require_canary(*within).or_stop(Exit::Host)?;
            print([within.map_or("no canary is required".to_owned(), |within| canary_required(within.as_secs_f64()))]);
        }
        FleetCommand::Revoked(arguments) => {
            let revoked = open(arguments)?.revoked().or_stop(Exit::Host)?;
            print(revoked.iter().map(|Revocation { ticket, host, reason, revoked }| {
                format!("{ticket} {} {} {}", time_text(*revoked), one_line(host, TEXT), one_line(reason, TEXT))
            }));
        }
    }
    Ok(Exit::Success)
}

fn lines(fleet: &FleetStatus) -> Vec<String> {
    let mut lines = vec![];
    let offers = |needs: &[String]| {
        let live = fleet.workers.iter().filter(|worker| fleet.state(worker) == WorkerState::Working);
        live.filter(|worker| needs.iter().all(|need| worker.offers.contains(need))).count()
    };
    for depth in &fleet.depth {
        let (waiting, running, workers) = (depth.waiting, depth.running, offers(&depth.needs));
        let needs = if depth.needs.is_empty() { "nothing".to_owned() } else { depth.needs.join(", ") };
        lines
            .push(format!("{waiting} waiting, {running} running, {workers} workers: needs {}", one_line(&needs, TEXT)));
    }
    if fleet.depth.is_empty() {
        lines.push("nothing waits or runs".to_owned());
    }
    if let Some(oldest) = &fleet.oldest {
        let client = one_line(&oldest.client, TEXT);
        lines.push(format!("oldest: {} of {client}, waits for {} s", oldest.ticket, oldest.seconds));
    }
    for worker in &fleet.workers {
        let (host, name) = (one_line(&worker.host, TEXT), one_line(&worker.name, TEXT));
        let seen = match fleet.state(worker) {
            WorkerState::Silent => format!(", silent for {} s", worker.silent),
            WorkerState::Drained => ", drained".to_owned(),
            WorkerState::Quarantined => ", quarantined".to_owned(),
            WorkerState::Untested => {
                format!(", takes nothing: {}", one_line(worker.lacks_canary.as_deref().unwrap_or_default(), TEXT))
            }
            WorkerState::Working => String::new(),
        };
        let (running, ended) = (worker.running, worker.ended);
        lines.push(format!("host {host}: worker {name} has {running}, ended {ended} in 10 minutes{seen}"));
    }
    let gone = fleet.drained.iter().filter(|host| fleet.workers.iter().all(|worker| worker.host != **host));
    lines.extend(gone.map(|host| format!("host {}: drained, no worker", one_line(host, TEXT))));
    for QuarantinedHost { host, reason, seconds, revoked } in &fleet.quarantined {
        let (host, reason) = (one_line(host, TEXT), one_line(reason, TEXT));
        lines.push(format!("host {host}: quarantined {seconds} s ago, {revoked} results revoked: {reason}"));
    }
    if fleet.reruns > 0 {
        let (reruns, disagreements) = (fleet.reruns, fleet.disagreements);
        lines.push(format!("{reruns} results compared with those of another host, {disagreements} disagreements"));
    }
    lines.extend(fleet.untried.iter().filter_map(|untried| untried_line(fleet, untried)));
    lines.extend(fleet.canary_within.map(|seconds| canary_required(seconds as f64)));
    for Disagreement { seconds, reason, .. } in &fleet.last_disagreements {
        lines.push(format!("disagreement {seconds} s ago: {}", one_line(reason, TEXT)));
    }
    for refused in &fleet.refused {
        let (host, last) = (one_line(&refused.host, TEXT), one_line(&refused.last, TEXT));
        lines.push(format!("host {host}: {} results refused, the last one because {last}", refused.results));
    }
    lines.extend(fleet.dead_letters.iter().map(dead_letter));
    lines
}

fn canary_required(seconds: f64) -> String {
    let hours = (seconds / 36.0).round() / 100.0;
    format!("a good canary of the last {hours} h is required: other hosts take nothing")
}

/// That second runs found no second host. A few that wait for one that is there are no news.
fn untried_line(
    fleet: &FleetStatus,
    UntriedResults { host, kind, results, waiting }: &UntriedResults,
) -> Option<String> {
    let mut others = fleet.workers.iter().filter(|worker| worker.host != *host && worker.offers.contains(kind));
    let is_alone = others.all(|worker| fleet.state(worker) != WorkerState::Working);
    let (name, kind) = (one_line(host, TEXT), one_line(kind, TEXT));
    let now = if is_alone { "alone of its kind, start a worker on another" } else { "not alone of its kind now" };
    (*results > 0 || is_alone).then(|| {
        format!("host {name}: {results} results drawn by --rerun were tried by no other host, {waiting} wait for one; {now}: {kind}")
    })
}

fn dead_letter(dead: &DeadLetter) -> String {
    let DeadLetter { ticket, client, seconds, attempts, .. } = dead;
    let why =
        serde_json::to_value(dead.loss).ok().and_then(|loss| loss.as_str().map(str::to_owned)).unwrap_or_default();
    let attempts: Vec<String> = attempts
        .iter()
        .map(|attempt| format!("{}: {}", one_line(&attempt.host, 80), one_line(&attempt.log, TEXT)))
        .collect();
    let client = one_line(client, TEXT);
    format!("lost ({why}): {ticket} of {client}, {seconds} s ago; {}", attempts.join("; "))
}
