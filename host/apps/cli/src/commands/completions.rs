//! `passhost completions SHELL`

use crate::arguments::{Cli, CompletionsArguments, after_help};
use crate::exit::Exit;
use crate::output::print_text;
use clap::CommandFactory;

pub fn run(arguments: &CompletionsArguments) -> Exit {
    let mut script = vec![];
    clap_complete::generate(arguments.shell, &mut after_help::finished(Cli::command()), "passhost", &mut script);
    print_text(String::from_utf8_lossy(&script).trim_end());
    Exit::Success
}
