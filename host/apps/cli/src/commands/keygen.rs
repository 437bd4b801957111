//! `passhost keygen KEY --name NAME`

use crate::exit::{Exit, Stop};
use crate::output::print;
use crate::terminal::Terminal;
use clap::Args;
use passhost_sign::{KeyError, SecretKey, is_name};
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

pub fn run(arguments: &KeygenArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let KeygenArguments { key: path, name, public } = arguments;
    check_name("--name", name)?;
    let key = if *public { SecretKey::read(path) } else { SecretKey::create(path) };
    let key = key.map_err(stop)?;
    if !public {
        let path = path.display();
        terminal.complain(&format!(
            "the secret key is in {path}, for you alone: whoever has it signs in your name. Its public line, for those who are \
             to trust it:"
        ));
    }
    print([format!("{} {name}", key.public())]);
    Ok(Exit::Success)
}

/// Refuses a name that no list of keys could have.
pub(super) fn check_name(option: &str, name: &str) -> Result<(), Stop> {
    if is_name(name) {
        return Ok(());
    }
    Err(Stop::usage(format!(
        "`{option}` takes letters, digits and `-_.@`, 64 of them at most; for instance {option} my-lab"
    )))
}

pub(super) fn stop(error: KeyError) -> Stop {
    let exit = match &error {
        KeyError::Write(..) | KeyError::Random(_) => Exit::Host,
        _ => Exit::Usage,
    };
    Stop::new(exit, error)
}
