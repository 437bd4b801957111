//! Whatever stands in names, in files, or in what other programs say: what a command prints of it moves no terminal, and
//! makes no line of its own. Every command of the command line has a case here.

mod cases;
mod place;
mod pseudo;

use passhost_result::untrusted::is_unfit;
use passhost_tests::{Passhost, Run};
use place::Place;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

/// How a line begins that only text from outside would make.
pub const FORGED: &str = "FORGED";

/// What moves a terminal, and then a line: a name of a file as well as a text.
pub const HOSTILE: &str = "x\u{1b}[2J\u{7}\u{202e}\u{9b}31m\r\nFORGED";

/// Whether what was printed is fit for a terminal.
fn check(run: &Run) {
    run.expect(run.code >= 0, "a signal ended it")
        .expect(!run.err.contains("panicked at host"), "a host program panicked");
    for (stream, text) in [("standard output", &run.out), ("standard error", &run.err)] {
        let unfit = text.chars().find(|c| *c != '\n' && is_unfit(*c));
        run.expect(unfit.is_none(), &format!("{unfit:?} reaches {stream}: {text:?}"));
        let forged = text.lines().find(|line| line.trim_start().starts_with(FORGED));
        run.expect(forged.is_none(), &format!("a line of {stream} is forged: {text:?}"));
    }
}

/// The words of each command that has another one, as the command line itself lists them.
fn commands(before: &[String]) -> BTreeSet<String> {
    let help = Passhost::new(before).with(&["--help"]).run();
    help.expect_end(0, &["Usage: passhost"]);
    // All commands stand in groups, those of a command under one title; the lines of titles are not indented.
    let first = if before.is_empty() { "Evaluate:" } else { "Commands:" };
    let listed = help.out.lines().skip_while(|line| *line != first).skip(1);
    let listed = listed.take_while(|line| !line.is_empty() && *line != "Options:");
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    let mut found = BTreeSet::new();
    for name in names.filter(|name| *name != "help") {
        let words = [before, &[name.to_owned()]].concat();
        found.insert(words.join(" "));
        found.extend(commands(&words));
    }
    found
}

#[test]
fn every_command_has_a_case_and_prints_fit_lines() {
    let (place, endpoint) = (Place::new(), cases::endpoint());
    let cases = cases::all(&place, &endpoint);
    let tried: BTreeSet<String> = cases.iter().map(|(command, _)| (*command).to_owned()).collect();
    assert_eq!(commands(&[]), tried, "a command has no case in tests/tests/terminal/cases.rs, or a case no command");
    for (command, runs) in cases {
        assert!(!runs.is_empty(), "{command}");
        for run in runs {
            // As wide as no line is: what begins a line is never there because a line was wrapped.
            check(&run.variable("COLUMNS", "100000").run());
        }
    }
}

#[test]
fn every_command_line_is_refused_on_lines_of_its_own() {
    let (option, value) = (format!("--{HOSTILE}"), format!("--quiet={HOSTILE}"));
    let commands = commands(&[]);
    let commands = commands.iter().map(String::as_str).chain(["", "help", HOSTILE]);
    for command in commands {
        for word in [&option, &value] {
            let words = command.split(' ').filter(|word| !word.is_empty()).chain([word.as_str()]);
            let run = Passhost::new(words).run();
            check(&run);
            run.expect(run.code == 2 && run.err.starts_with("error: "), "it is a wrong use");
        }
    }
}

#[test]
fn results_with_any_text_anywhere_are_read_or_refused_on_lines_of_their_own() {
    let place = Place::new();
    for (number, text) in place::documents().iter().enumerate() {
        let file = place.write(&format!("{number}.json"), text);
        let runs = [
            Passhost::new(["report", &file]),
            Passhost::new(["compare", &file]),
            Passhost::new(["score", &file]),
            Passhost::new(["verify", &file, "--offline"]),
        ];
        runs.into_iter().for_each(|run| check(&run.variable("COLUMNS", "100000").run()));
    }
}

#[test]
fn a_server_prints_fit_lines() -> std::io::Result<()> {
    let place = Place::new();
    let clients = place.write("clients", &Passhost::new(["token", "alice"]).run().out);
    let words = ["--data", &place.at("data"), "--clients", &clients, "--listen", "127.0.0.1:0", "--disk", "64M"];
    let serve = Passhost::new(["serve", &place.sample(), "--device", "cpu", "--threads", "1"]).with(&words);
    let unwritable = place.write("no-directory", "");
    let mut command = serve.variable("XDG_CACHE_HOME", &unwritable).command();
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdout = String::new();
    if let Some(out) = process.stdout.take() {
        let mut lines = BufReader::new(out);
        while !stdout.contains("listening at") && lines.read_line(&mut stdout)? > 0 {}
        kill_process(Pid::from_child(&process), Signal::TERM)?;
        while lines.read_line(&mut stdout)? > 0 {}
    }
    let Output { status, stderr, .. } = process.wait_with_output()?;
    let run = Passhost::new(["serve"]).ended(&Output { status, stdout: stdout.into_bytes(), stderr });
    check(&run);
    run.expect_end(143, &["listening at", "no plugin cache: "]);
    Ok(())
}
