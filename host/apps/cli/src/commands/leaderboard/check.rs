//! `passhost leaderboard DIR --check FILE...`

use super::LeaderboardArguments;
use super::{SUPERSEDED, headline, is_shared, place, title, unreadable};
use crate::exit::{Exit, Stop};
use crate::output::print;
use crate::terminal::{Terminal, Tone};
use passhost_board::{Board, BoardContents, Ranking, RankingRow, Refused, Scored, Standings, SubmittedFile};
use passhost_result::untrusted::one_line;
use passhost_sign::TrustedKeys;
use std::path::Path;

/// Says of each file what is on the board, and why the rest is not.
pub fn run(
    arguments: &LeaderboardArguments,
    board: &Board,
    keys: &TrustedKeys,
    mut contents: BoardContents,
    terminal: &Terminal,
) -> Result<Exit, Stop> {
    let mut names = vec![];
    for path in &arguments.check {
        let name = name(&arguments.directory, path);
        if !contents.files.iter().any(|file| file.name == name) {
            contents
                .files
                .push(SubmittedFile::read(path, name.clone(), keys).map_err(|error| unreadable(path, &error))?);
        }
        names.push(name);
    }
    let standings = board.stand(&contents, keys);
    let mut all_ranked = true;
    for name in names {
        let (lines, is_ranked) = of_file(&name, &standings, terminal);
        all_ranked &= is_ranked;
        print(lines);
    }
    Ok(if all_ranked { Exit::Success } else { Exit::Differs })
}

/// What a file is called on the board: one that lies in its directory as it is there, any other by its path, which has a
/// slash in it.
fn name(directory: &Path, path: &Path) -> String {
    let real = |path: &Path| path.canonicalize().ok();
    let lies_there = real(path).is_some_and(|file| file.parent() == real(directory).as_deref());
    let name = path.file_name().filter(|_| lies_there).map(|name| name.to_string_lossy().into_owned());
    let elsewhere = || if path.components().count() == 1 { Path::new(".").join(path) } else { path.to_owned() };
    name.unwrap_or_else(|| elsewhere().display().to_string())
}

/// What a reader is told of a file, and whether all of it is in a ranking.
fn of_file(name: &str, standings: &Standings, terminal: &Terminal) -> (Vec<String>, bool) {
    let is_own = |submission: &usize| standings.submissions[*submission].files.iter().any(|file| file == name);
    let own: Vec<usize> = (0..standings.submissions.len()).filter(is_own).collect();
    let ranked: Vec<String> = own.iter().flat_map(|&submission| ranked(submission, standings)).collect();
    let unranked = standings.unranked.iter().filter(|unranked| own.contains(&unranked.submission));
    let unranked: Vec<String> = unranked
        .map(|unranked| {
            let plugin = one_line(&standings.submissions[unranked.submission].plugin, 80);
            format!("{plugin}: {}", unranked.reason)
        })
        .collect();
    let refused: Vec<&Refused> = standings.refused.iter().filter(|refused| refused.file == name).collect();
    let is_whole = !ranked.is_empty() && refused.is_empty();
    let tone = if is_whole { Tone::Good } else { Tone::Bad };
    let verdict = match (ranked.is_empty(), is_whole) {
        (false, true) => "on the board",
        (false, false) => "partly on the board",
        (true, _) => "not on the board",
    };
    let mut lines = vec![format!("{}  {}", terminal.paint(tone, verdict), one_line(name, 200))];
    let said = ranked.into_iter().chain(unranked).chain(refused.into_iter().flat_map(refusals));
    lines.extend(said.flat_map(|text| terminal.wrap(&text, "  ")));
    (lines, is_whole)
}

/// Where a submission stands.
fn ranked(submission: usize, standings: &Standings) -> Vec<String> {
    let plugin = one_line(&standings.submissions[submission].plugin, 80);
    let place = |(ranking, row, scored): (&Ranking, &RankingRow, &Scored)| {
        let shared = if is_shared(ranking, row.place) { ", which is shared" } else { "" };
        let score = format!("{} {:.3}", headline(ranking), scored.score.headline);
        let (author, title) = (one_line(&row.author, 80), title(ranking));
        if row.best.submission == submission {
            format!("{plugin}: place {}{shared}, {score}, for {author} in {title}", row.place)
        } else {
            format!("{plugin}: {score}, for {author} in {title}, {SUPERSEDED}")
        }
    };
    standings.places(submission).map(place).collect()
}

fn refusals(refused: &Refused) -> Vec<String> {
    let place = place(refused);
    let about = refused.about.as_ref().map(|about| format!(" ({})", one_line(about, 120))).unwrap_or_default();
    refused.reasons.iter().map(|reason| format!("{place}{about}: {reason}")).collect()
}
