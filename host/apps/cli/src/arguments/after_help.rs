//! What stands below the help of commands, and what holds for all of their options. The texts stand in one file, so that a
//! test can hold each example against the command line that it is an example of.

use super::groups;
use clap::{Arg, Command};

/// Paragraphs, each behind the commands that it is for. Those of one command come one after the other.
const AFTER_HELP: &str = include_str!("after_help.txt");

/// The command line with its commands in groups, with exit codes and examples at the end of helps, and with options whose
/// values may be negative numbers:
/// that a number is out of range is then said of the number.
pub fn finished(command: Command) -> Command {
    AFTER_HELP.trim_end().split("\n\n").fold(with_negative_numbers(groups::listed(command)), |command, paragraph| {
        let (names, text): (Vec<&str>, Vec<&str>) = paragraph.lines().partition(|line| line.starts_with('#'));
        let text = text.join("\n");
        names.iter().fold(command, |command, name| {
            let path: Vec<&str> = name.split_whitespace().skip(2).collect();
            with_text(command, &path, &text)
        })
    })
}

fn with_negative_numbers(command: Command) -> Command {
    let command = command.mut_args(|argument: Arg| {
        if argument.is_positional() || !argument.get_action().takes_values() {
            argument
        } else {
            argument.allow_negative_numbers(true)
        }
    });
    command.mut_subcommands(with_negative_numbers)
}

fn with_text(command: Command, path: &[&str], text: &str) -> Command {
    if let [first, rest @ ..] = path {
        return command.mut_subcommand(first, |command| with_text(command, rest, text));
    }
    let before = command.get_after_help().map(|help| format!("{help}\n\n"));
    command.after_help(before.unwrap_or_default() + text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn paths(command: &Command, path: &[String]) -> Vec<Vec<String>> {
        let own = command.get_subcommands().filter(|command| command.get_name() != "help");
        own.flat_map(|command| {
            let path = [path, &[command.get_name().to_owned()]].concat();
            std::iter::once(path.clone()).chain(paths(command, &path)).collect::<Vec<_>>()
        })
        .collect()
    }

    #[test]
    fn every_command_has_examples_that_it_takes() {
        let command = finished(Cli::command());
        for path in paths(&command, &[]) {
            let shown = path.iter().try_fold(&command, |command, word| command.find_subcommand(word)).unwrap();
            let help = shown.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1).collect();
            assert!(!examples.is_empty(), "no example for `passhost {}`", path.join(" "));
            for line in examples {
                assert!(line.starts_with(&format!("  passhost {}", path.join(" "))), "{line}");
                let words = line.trim_start().split(" >").next().unwrap().split(' ');
                let parsed = command.clone().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn every_command_that_can_fail_lists_its_exit_codes_in_order() {
        let command = finished(Cli::command());
        // What prints a text that is part of the program.
        let always_succeeds = ["guide", "completions"];
        for path in paths(&command, &[]).into_iter().filter(|path| !always_succeeds.contains(&path[0].as_str())) {
            let shown = path.iter().try_fold(&command, |command, word| command.find_subcommand(word)).unwrap();
            let help = shown.get_after_help().map(ToString::to_string).unwrap_or_default();
            let listed =
                help.lines().skip_while(|line| *line != "Exit codes:").skip(1).take_while(|line| !line.is_empty());
            let heads = listed.filter_map(|line| line.strip_prefix("  ")?.split_once("  ").map(|(head, _)| head));
            let numbers: Vec<u8> =
                heads.flat_map(|head| head.split(", ")).filter_map(|head| head.parse().ok()).collect();
            let shown = path.join(" ");
            assert!(numbers.contains(&2), "`passhost {shown}` lists {numbers:?}");
            assert!(
                numbers.contains(&0) || ["serve", "worker"].contains(&&*shown),
                "`passhost {shown}` lists {numbers:?}"
            );
            assert!(
                numbers.is_sorted() && numbers.iter().all(|code| [0, 1, 2, 3, 4, 130, 143].contains(code)),
                "{numbers:?}"
            );
        }
    }

    #[test]
    fn a_negative_number_is_the_value_of_its_option() {
        for line in ["score r.json --b -1", "eval p.wasm s --fail-under -0.5", "score r.json --p -2.5"] {
            let words = std::iter::once("passhost").chain(line.split(' '));
            assert!(finished(Cli::command()).try_get_matches_from(words).is_ok(), "{line}");
        }
        let words = ["passhost", "eval", "p.wasm", "s", "--seed", "-3"];
        let error = finished(Cli::command()).try_get_matches_from(words).unwrap_err().to_string();
        assert!(error.contains("invalid value '-3' for '--seed <N>'"), "{error}");
    }
}
