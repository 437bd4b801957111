//! The commands in groups, each with one line: what `passhost --help` lists, and the first line of each command's own help.

use clap::Command;

/// Titles, and the commands of each with what they do.
const GROUPS: &[(&str, &[(&str, &str)])] = &[
    (
        "Evaluate",
        &[
            ("eval", "Scores a plugin on samples: is it right, how much faster is it"),
            ("show", "Prints the graphs of a sample, before and after a plugin"),
            ("score", "Computes the scores of a result, or of score vectors, again"),
            ("explain", "Explains a score, a verdict, a note or an exit code"),
            ("policies", "Lists the rules that an evaluation may follow, or prints one"),
        ],
    ),
    (
        "Write a pass",
        &[
            ("new", "Writes the crate of a new pass, with a sample and a test"),
            ("build", "Builds a plugin from the source of a pass, in a sandbox"),
            ("check", "Checks that a file is a plugin that this host would run"),
            ("ops", "Says which ops become kernels, and why the others stay calls"),
            ("guide", "Prints how to write a pass, on one page"),
            ("agent", "Has a language model write passes, and keeps every attempt"),
        ],
    ),
    (
        "Many samples",
        &[
            ("bench", "Evaluates plugins on many samples; --resume continues a run"),
            ("report", "Summarises results: scores by group, type and size"),
            ("compare", "Compares plugins on the graphs that all were tried on"),
            ("baseline", "Measures what PyTorch offers instead, such as Inductor"),
            ("samples", "Checks, lists, counts, splits, hashes or runs samples"),
            ("decompose", "Cuts whole models into samples"),
        ],
    ),
    (
        "Publish and serve",
        &[
            ("keygen", "Makes a key to sign results with"),
            ("verify", "Checks a result against itself, its plugin and its sample"),
            ("leaderboard", "Ranks signed results, on the terminal or as web pages"),
            ("serve", "Evaluates what clients submit over HTTP, from a queue"),
            ("token", "Makes a token for a client of `serve`"),
            ("worker", "Evaluates what servers have queued in a database"),
            ("fleet", "Shows servers' queue and workers; retries a job, drains a host"),
        ],
    ),
    (
        "Machine",
        &[
            ("doctor", "Says whether this machine has what an evaluation needs"),
            ("setup-sdk", "Compiles the SDK that `build` needs, once"),
            ("completions", "Prints a script that completes commands in a shell"),
        ],
    ),
];

/// The command line with these lines. A list of groups is no form of clap's own, so that it is part of the template.
pub fn listed(command: Command) -> Command {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let mut list = String::new();
    for (title, commands) in GROUPS {
        list.push_str(&format!("{header}{title}:{header:#}\n"));
        for (name, line) in *commands {
            list.push_str(&format!("  {literal}{name:<11}{literal:#}  {line}\n"));
        }
    }
    let template = format!(
        "{{about}}\n{{usage-heading}} {{usage}}\n\n{list}{header}Options:{header:#}\n{{options}}\n\
         `passhost COMMAND --help` has the options, examples and exit codes of a command.\n"
    );
    let commands = GROUPS.iter().flat_map(|(_, commands)| *commands);
    let command = commands.fold(command, |command, (name, line)| command.mut_subcommand(name, |one| one.about(*line)));
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_stands_in_one_group() {
        let command = Cli::command();
        let mut known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, commands)| *commands).map(|(name, _)| *name).collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn the_help_fits_a_screen_of_80_by_40() {
        let help = listed(Cli::command().bin_name("passhost")).render_help().to_string();
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "lines are too long: {long:#?}");
        // The shell's prompt has the last line.
        assert!(help.lines().count() < 40, "{help}");
        for (title, commands) in GROUPS {
            for (name, line) in *commands {
                assert!(help.contains(&format!("  {name:<11}  {line}\n")), "{title}: {name}\n{help}");
            }
        }
    }
}
