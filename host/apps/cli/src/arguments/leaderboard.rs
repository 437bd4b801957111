//! The command line of `passhost leaderboard`.

use clap::Args;
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
    /// With --new, whose results count: lines that `passhost keygen` printed
    #[arg(long, value_name = "KEYS", requires = "new")]
    pub trusted_keys: Option<PathBuf>,
    /// With --new, the name of the sample list
    #[arg(long, value_name = "NAME", default_value = "samples")]
    pub list: String,
}
