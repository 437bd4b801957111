//! `passhost`: the supervisor. It reads samples, verifies graphs, scores and writes results; a plugin runs in one child
//! process, libtorch in another, and neither is linked into this one.

mod arguments;
mod cli;
mod commands;
mod comparison;
mod exit;
mod explain;
mod files;
mod headroom;
mod interrupt;
mod meant;
mod output;
mod private;
mod progress;
mod reason;
mod rows;
mod style;
mod suggest;
mod summary;
mod table;
mod terminal;
mod terms;

use arguments::{after_help, refused};
use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command};
use exit::Exit;
use std::process::ExitCode;
use terminal::{Terminal, Tone};

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(output::report_panic));
    let terminal = Terminal::detect();
    let cli = match arguments(&terminal) {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    outlive_file_limits();
    let end = match cli.command {
        Command::Eval(arguments) => commands::eval::run(&arguments, &terminal),
        Command::Bench(arguments) => commands::bench::run(&arguments, &terminal),
        Command::Baseline(arguments) => commands::baseline::run(&arguments, &terminal),
        Command::Build(arguments) => commands::build::run(&arguments, &terminal),
        Command::New(arguments) => commands::new::run(&arguments),
        Command::SetupSdk(arguments) => commands::setup_sdk::run(&arguments, &terminal),
        Command::Check(arguments) => commands::check::run(&arguments, &terminal),
        Command::Show(arguments) => commands::show::run(&arguments, &terminal),
        Command::Report(arguments) => commands::report::run(&arguments, &terminal),
        Command::Compare(arguments) => commands::compare::run(&arguments, &terminal),
        Command::Score(arguments) => commands::score::run(&arguments, &terminal),
        Command::Keygen(arguments) => commands::keygen::run(&arguments, &terminal),
        Command::Verify(arguments) => commands::verify::run(&arguments, &terminal),
        Command::Leaderboard(arguments) => commands::leaderboard::run(&arguments, &terminal),
        Command::Samples(arguments) => commands::samples::run(&arguments, &terminal),
        Command::Decompose(arguments) => commands::decompose::run(&arguments, &terminal),
        Command::Agent(arguments) => commands::agent::run(&arguments, &terminal),
        Command::Explain(arguments) => commands::explain::run(&arguments, &terminal),
        Command::Guide => Ok(commands::guide::run()),
        Command::Ops(arguments) => commands::ops::run(&arguments, &terminal),
        Command::Policies(arguments) => commands::policies::run(&arguments, &terminal),
        Command::Doctor(arguments) => commands::doctor::run(&arguments, &terminal),
        Command::Serve(arguments) => commands::serve::run(&arguments, &terminal),
        Command::Token(arguments) => commands::serve::token(&arguments, &terminal),
        Command::Worker(arguments) => commands::worker::run(&arguments, &terminal),
        Command::Fleet(arguments) => commands::fleet::run(&arguments),
        Command::Completions(arguments) => Ok(commands::completions::run(&arguments, Cli::command())),
    };
    let exit = end.unwrap_or_else(|stop| {
        terminal.clear_progress();
        terminal.complain(&format!("{} {}", terminal.paint(Tone::Bad, ERROR), said_once(&stop.error)));
        stop.exit
    });
    let exit = if output::is_lost() { exit.max(Exit::Host) } else { exit };
    exit.into()
}

/// An error and its causes, but for those that a message before them has in it.
fn said_once(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said {
        said if said.is_empty() => cause,
        said if said.contains(&cause) => said,
        said => format!("{said}: {cause}"),
    })
}

/// The command line; who asks for help, or for what there is not, is answered here.
fn arguments(terminal: &Terminal) -> Result<Cli, ExitCode> {
    // Under its own name: that of the file is text from outside.
    let mut command = after_help::finished(Cli::command()).bin_name("passhost");
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command)));
    cli.map_err(|error| {
        use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
        if matches!(error.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand | DisplayVersion) {
            return output::answer(&error);
        }
        let meant = meant::lone_sample(&error, std::env::args_os()).map(|text| vec![format!("{ERROR} {text}")]);
        for line in meant.unwrap_or_else(|| refused::lines(&error, &command)) {
            match line.strip_prefix(ERROR) {
                Some(rest) => terminal.complain(&format!("{}{rest}", terminal.paint(Tone::Bad, ERROR))),
                None => terminal.complain(&line),
            }
        }
        ExitCode::from(2)
    })
}

/// How a message of an error begins.
const ERROR: &str = "error:";

/// Makes of a limit on the size of files what a full disk is: an error of whoever writes, and not the end of the process.
fn outlive_file_limits() {
    // SAFETY: nothing is called for the signal, which is ignored, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}
