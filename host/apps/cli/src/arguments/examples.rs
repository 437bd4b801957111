//! Examples for every command, and what holds for all of their options. They stand in one place, so that a test can hold
//! each against the command line that it is an example of.

use clap::{Arg, Command};

/// A command, by its words after `passhost`, and lines that can be typed.
const EXAMPLES: &[(&[&str], &str)] = &[
    (
        &["eval"],
        "\
passhost eval pass.wasm samples/rms-norm
passhost eval pass.wasm samples/rms-norm --quick --explain
passhost eval pass.wasm samples/rms-norm --variant float16 --explain
passhost eval pass.wasm samples/reference.txt --policy strict --json result.json
passhost eval pass.wasm samples/rms-norm --wait 5m --fail-under 1.2
passhost eval pass.wasm samples/rms-norm --sign lab.key --json result.signed.jsonl",
    ),
    (
        &["build"],
        "\
passhost build pass.rs
passhost build my-pass --out pass.wasm
passhost build my-pass --cargo",
    ),
    (&["new"], "passhost new my-pass"),
    (&["setup-sdk"], "passhost setup-sdk --source ."),
    (&["guide"], "passhost guide > AUTHORING.md"),
    (&["check"], "passhost check pass.wasm\npasshost check pass.wasm --limit-memory 64M"),
    (
        &["show"],
        "\
passhost show samples/rms-norm
passhost show samples/rms-norm --after pass.wasm --variant float16
passhost show samples/rms-norm --after pass.wasm --diff --kernels --cuda
passhost show samples/rms-norm --after pass.wasm --all --policy strict
passhost show samples/rms-norm --after pass.wasm --device-facts h200.json",
    ),
    (
        &["bench"],
        "\
passhost bench one.wasm two.wasm samples/reference.txt --out night.jsonl
passhost bench one.wasm two.wasm samples/reference.txt --out night.jsonl --resume
passhost bench pass.wasm samples/fusible_subgraphs.txt --device cuda:0,1
passhost bench pass.wasm samples/reference.txt --out night.jsonl --sign lab.key --author me",
    ),
    (
        &["baseline"],
        "\
passhost baseline samples/reference.txt
passhost baseline samples/reference.txt --with eager --python venv/bin/python --out baseline.jsonl",
    ),
    (
        &["report"],
        "\
passhost report night.jsonl
passhost report night.jsonl baseline.jsonl --html night.html
passhost report night.jsonl --variant rms-norm --json report.json",
    ),
    (&["compare"], "passhost compare night.jsonl\npasshost compare before.jsonl after.jsonl --variant float16"),
    (
        &["serve"],
        "\
passhost serve samples/reference.txt --clients clients --data results
passhost serve samples/reference.txt --clients clients --data results --policy strict --device cuda:0,1
passhost serve samples/reference.txt --clients clients --data results --episode-steps 20 --builds 8",
    ),
    (&["token"], "passhost token alice >> clients"),
    (&["score"], "passhost score result.json\npasshost score result.json --b 0.05 --json -"),
    (
        &["keygen"],
        "\
passhost keygen ~/.config/passhost/lab.key --name lab > trusted.keys
passhost keygen ~/.config/passhost/lab.key --name lab --public",
    ),
    (
        &["verify"],
        "\
passhost verify result.json --offline
passhost verify result.json --plugin pass.wasm --sample samples/rms-norm
passhost verify night.signed.jsonl --trusted-keys trusted.keys
passhost verify night.signed.jsonl --sample samples/rms-norm --replay",
    ),
    (
        &["leaderboard"],
        "\
passhost leaderboard board --new night.signed.jsonl --trusted-keys trusted.keys
passhost leaderboard board
passhost leaderboard board --html site
passhost leaderboard board --check night.signed.jsonl",
    ),
    (&["samples"], "passhost samples list samples/reference.txt"),
    (
        &["samples", "check"],
        "passhost samples check samples/reference.txt\npasshost samples check GraphNet --run --resume checked.jsonl",
    ),
    (&["samples", "list"], "passhost samples list samples/rms-norm samples/reference.txt"),
    (&["samples", "stats"], "passhost samples stats samples/reference.txt --top 10"),
    (&["samples", "lowerings"], "passhost samples lowerings samples/reference.txt"),
    (
        &["samples", "split"],
        "passhost samples split samples/reference.txt --eval 0.2 --train-out train.txt --eval-out eval.txt",
    ),
    (&["samples", "hash"], "passhost samples hash samples/reference.txt --duplicates"),
    (&["samples", "run"], "passhost samples run samples/single-gelu --out run --device cpu"),
    (
        &["samples", "vary"],
        "\
passhost samples vary samples/rms-norm --set S0=1,4 --out varied
passhost samples vary samples/rms-norm --dtype float16,bfloat16 --out varied",
    ),
    (&["samples", "pack"], "passhost samples pack my-samples/resnet18 --out packed"),
    (&["samples", "unpack"], "passhost samples unpack samples/rms-norm --out editable"),
    (
        &["decompose"],
        "\
passhost decompose my-samples/resnet18 --out pieces
passhost decompose GraphNet --kind fusible --max 100 --out pieces",
    ),
    (&["ops"], "passhost ops\npasshost ops gelu\npasshost ops aten::add.Tensor"),
    (
        &["agent"],
        "\
passhost agent --model NAME --base-url https://host/v1 --api-key-variable KEY --samples samples/rms-norm --out night
passhost agent --model NAME --base-url http://127.0.0.1:8000/v1 --samples samples/train.txt --attempts 8 --parallel 4",
    ),
    (
        &["agent", "export"],
        "\
passhost agent export night --format sft --best 1 --only-right --no-findings --out sft.jsonl
passhost agent export night --format rl
passhost agent export night --format harbor --only-right --out tasks",
    ),
    (&["policies"], "passhost policies\npasshost policies strict"),
    (&["doctor"], "passhost doctor\npasshost doctor --device cpu"),
    (&["completions"], "passhost completions bash > ~/.local/share/bash-completion/completions/passhost"),
];

/// The command line with examples at the end of every help, and with options whose values may be negative numbers: that a
/// number is out of range is then said of the number.
pub fn finished(command: Command) -> Command {
    EXAMPLES.iter().fold(with_negative_numbers(command), |command, (path, text)| with_example(command, path, text))
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

fn with_example(command: Command, path: &[&str], text: &str) -> Command {
    match path {
        [] => {
            let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
            let title = if lines.len() > 1 { "Examples" } else { "Example" };
            let examples = format!("{title}:\n{}", lines.join("\n"));
            let before = command.get_after_help().map(|help| format!("{help}\n\n"));
            command.after_help(before.unwrap_or_default() + &examples)
        }
        [first, rest @ ..] if command.find_subcommand(first).is_some() => {
            command.mut_subcommand(first, |command| with_example(command, rest, text))
        }
        _ => command,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::arguments::Cli;
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
        let with_examples: Vec<Vec<String>> =
            EXAMPLES.iter().map(|(path, _)| path.iter().map(|&word| word.to_owned()).collect()).collect();
        for path in paths(&Cli::command(), &[]) {
            assert!(with_examples.contains(&path), "no example for `passhost {}`", path.join(" "));
        }
        for (path, text) in EXAMPLES {
            for line in text.lines() {
                let words = line.split(" >").next().unwrap().split(' ');
                assert!(line.starts_with(&format!("passhost {}", path.join(" "))), "{line}");
                let parsed = finished(Cli::command()).try_get_matches_from(words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
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
