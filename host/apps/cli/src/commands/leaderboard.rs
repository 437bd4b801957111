//! `passhost leaderboard DIR`

mod begin;
mod check;
mod index;
mod site;
mod submitted;
mod terminal;

use super::verify::signatures::without;
use crate::exit::{Exit, OrStop, Stop};
use crate::output::print;
use crate::terminal::Terminal;
use clap::Args;
use passhost_board::{Board, BoardContents, Ranking, Refused, Standings};
use passhost_report::headline_name;
use passhost_result::document;
use passhost_result::untrusted::one_line;
use passhost_sign::TrustedKeys;
use std::path::Path;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct LeaderboardArguments {
    /// The directory of the board: board.json, its trusted keys, and files of signed results
    pub directory: PathBuf,
    /// Writes the board as pages into this directory, index.html first
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
    /// Says of each of these files of results what is on the board, and why the rest is not; they need not lie in it
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "html")]
    pub check: Vec<PathBuf>,
    /// Begins a board that accepts results made as these were: their samples, policy, device, programs and settings
    #[arg(long, value_name = "RESULTS", num_args = 1.., requires = "trusted_keys", conflicts_with_all = ["html", "check"])]
    pub new: Vec<PathBuf>,
    /// Leaves out the results of these jobs: lines that `passhost fleet revoked` printed
    #[arg(long, value_name = "FILE", conflicts_with = "new")]
    pub revoked: Option<PathBuf>,
    /// With --new, whose results count: lines that `passhost keygen` printed
    #[arg(long, value_name = "KEYS", requires = "new")]
    pub trusted_keys: Option<PathBuf>,
    /// With --new, the name of the sample list
    #[arg(long, value_name = "NAME", default_value = "samples")]
    pub list: String,
}

pub fn run(arguments: &LeaderboardArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let directory = &arguments.directory;
    if !arguments.new.is_empty() {
        return begin::run(arguments);
    }
    let board = Board::read(directory).or_stop(Exit::Usage)?;
    let keys = directory.join(&board.trusted_keys);
    let keys = without(TrustedKeys::read(&keys), arguments.revoked.as_deref())?;
    let contents = BoardContents::read(directory, &keys).map_err(|(path, error)| unreadable(&path, &error))?;
    if !arguments.check.is_empty() {
        return check::run(arguments, &board, &keys, contents, terminal);
    }
    let standings = board.stand(&contents, &keys);
    match &arguments.html {
        Some(out) => site::write(out, &board, &standings)?,
        None => print(terminal::render(&board, &standings, terminal)),
    }
    Ok(Exit::Success)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Stop {
    Stop::usage(format!("cannot read `{}`: {error}", path.display()))
}

/// `rms-norm, policy strict, NVIDIA H200, passhost 0.1.0`.
fn title(ranking: &Ranking) -> String {
    let [list, policy, device, host] = ranking.names.each_ref().map(|name| one_line(name, 80));
    format!("{list}, policy {policy}, {device}, {host}")
}

fn headline(ranking: &Ranking) -> &'static str {
    headline_name(ranking.headline)
}

/// What is said of a submission by which its author is not ranked.
const SUPERSEDED: &str = "superseded by the author's better submission";

/// Where a refused line stands: `night.jsonl, line 3`.
fn place(refused: &Refused) -> String {
    let file = one_line(&refused.file, 100);
    refused.line.map_or_else(|| file.clone(), |line| format!("{file}, line {line}"))
}

/// Whether a place is another's as well.
fn is_shared(ranking: &Ranking, place: usize) -> bool {
    ranking.rows.iter().filter(|row| row.place == place).count() > 1
}

/// What makes every result of a board one that nobody should rely on, if its own settings do.
fn warning(board: &Board) -> Option<&'static str> {
    let document::Limits { measurement, .. } = &board.settings.limits;
    measurement.accept_noise.then_some(
        "This board accepts what was measured while the machine did something else: it is for trying things out, and ranks nobody.",
    )
}

/// How often each author stands on a board.
fn authors(standings: &Standings) -> usize {
    let authors = standings.rankings.iter().flat_map(|ranking| ranking.rows.iter().map(|row| &row.author));
    authors.collect::<std::collections::BTreeSet<_>>().len()
}
