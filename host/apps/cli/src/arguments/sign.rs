//! The command lines of `passhost keygen`, and of what signs.

use clap::Args;
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  0  the public line was printed
  2  usage error, or there is no key where one was to be read
  3  the key cannot be written";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct KeygenArguments {
    /// The new file of the secret key, which nothing overwrites and only you can read; no child process of an evaluation
    /// can read what lies in ~/.config/passhost
    pub key: PathBuf,
    /// Whose key it is: letters, digits and `-_.@`
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// Makes no key, and prints the public line of the one that is there
    #[arg(long)]
    pub public: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Signing")]
pub struct SignArguments {
    /// Signs each result with this key of `passhost keygen`: one line each, which `passhost verify` and boards take
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,
    /// Whose submission it is, for boards; the signer's own if absent
    #[arg(long, value_name = "NAME", requires = "sign")]
    pub author: Option<String>,
}
