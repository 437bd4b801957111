//! `passhost leaderboard DIR --new RESULTS --trusted-keys KEYS`

use super::LeaderboardArguments;
use crate::commands::documents;
use crate::exit::{Exit, OrStop, Stop};
use crate::output::{print, write_json};
use anyhow::Context as _;
use passhost_board::{Board, FILE};
use passhost_corpus::write_whole;
use passhost_page::number::counted;
use passhost_sign::{Signed, TrustedKeys};
use std::path::Path;

/// The file of trusted keys of a new board.
const KEYS: &str = "trusted.keys";

/// Begins a board that accepts what some results are.
pub fn run(arguments: &LeaderboardArguments) -> Result<Exit, Stop> {
    let directory = &arguments.directory;
    let (path, keys) = (directory.join(FILE), directory.join(KEYS));
    if let Some(there) = [&path, &keys].into_iter().find(|path| path.exists()) {
        let there = there.display();
        return Err(Stop::usage(format!("there is a board already: `{there}`; edit it, or begin another elsewhere")));
    }
    let given = arguments.trusted_keys.as_deref().unwrap_or(&keys);
    let trusted = TrustedKeys::read(given).or_stop(Exit::Usage)?;
    let text = std::fs::read_to_string(given).map_err(|error| super::unreadable(given, &error))?;
    let mut results = vec![];
    for path in &arguments.new {
        results.extend(signed(path, &trusted).or_stop(Exit::Usage)?);
    }
    let board = Board::like(&results, &arguments.list, KEYS.into()).or_stop(Exit::Usage)?;
    std::fs::create_dir_all(directory)
        .map_err(|error| Stop::host(format!("cannot make `{}`: {error}", directory.display())))?;
    write_whole(&keys, &text)?;
    write_json(&path, &board)?;
    let samples = counted(board.sample_lists.iter().map(|list| list.samples.len()).sum(), "sample");
    print([
        format!("{}: {samples}, {}, {}", path.display(), board.policies[0].name, board.devices[0].name),
        format!("{}: whose results count", keys.display()),
    ]);
    Ok(Exit::Success)
}

/// The results of a file, all of which must be signed with a trusted key: what is wrong would be what the board accepts.
fn signed(path: &Path, trusted: &TrustedKeys) -> anyhow::Result<Vec<Signed>> {
    let named = || format!("cannot begin a board with `{}`", path.display());
    let lines = documents::signed_lines(path).with_context(named)?;
    let results = lines.into_iter().map(|line| {
        let result = line?;
        trusted.trust(result.signer, result.statement.signed_at)?;
        anyhow::Ok(result)
    });
    results.collect::<anyhow::Result<_>>().with_context(named)
}
