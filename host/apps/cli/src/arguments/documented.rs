//! Every command that the documents show is held against the command line: its subcommand, its options and their values.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use super::after_help;
use crate::cli::Cli;
use clap::CommandFactory;
use clap::error::ErrorKind;
use passhost_tests::{Documented, documented};

/// Words that stand for a value of an option that has few.
const VALUES: &[(&str, &str)] = &[("METHODS", "eager"), ("FORMAT", "sft"), ("NAME", "strict"), ("SHELL", "bash")];

/// Whether the command line takes it, or only lacks what its writer left out.
fn is_taken(Documented { words, .. }: &Documented) -> Result<(), String> {
    let value = |word: &String| -> String {
        let known = VALUES.iter().find(|(placeholder, _)| placeholder == word);
        known.map_or_else(|| word.clone(), |(_, value)| (*value).to_owned())
    };
    let words = std::iter::once("passhost".to_owned()).chain(words.iter().map(value));
    let Err(error) = after_help::finished(Cli::command()).try_get_matches_from(words) else { return Ok(()) };
    let text = error.to_string();
    match error.kind() {
        ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => Ok(()),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Ok(()),
        ErrorKind::InvalidValue if text.contains("a value is required") => Ok(()),
        _ => Err(text),
    }
}

#[test]
fn every_command_of_the_documents_is_one_that_is_taken() {
    let commands = documented();
    assert!(commands.len() > 80, "only {} commands were found", commands.len());
    for command in commands {
        if let Err(error) = is_taken(&command) {
            panic!("{} shows `passhost {}`: {error}", command.file, command.words.join(" "));
        }
    }
}

#[test]
fn a_command_that_is_not_there_is_found() {
    for line in ["passhost frobnicate", "passhost eval --frobnicate", "passhost samples vary x --dtype float31"] {
        let command = passhost_tests::command("", line, true);
        assert!(command.is_some_and(|command| is_taken(&command).is_err()), "{line}");
    }
}
