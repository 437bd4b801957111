//! `passhost completions SHELL`

use crate::arguments::after_help;
use crate::exit::Exit;
use crate::output::print_text;
use clap::Args;
use clap::Command;

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

pub fn run(arguments: &CompletionsArguments, command: Command) -> Exit {
    let mut script = vec![];
    clap_complete::generate(arguments.shell, &mut after_help::finished(command), "passhost", &mut script);
    print_text(String::from_utf8_lossy(&script).trim_end());
    Exit::Success
}
