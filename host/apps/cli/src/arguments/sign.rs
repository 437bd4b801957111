//! The command lines of `passhost keygen`, and of what signs.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
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
