//! The same on a terminal: what reaches it are the colours and the progress lines of the command, and nothing besides.

use super::place::{Place, document};
use super::{FORGED, HOSTILE};
use passhost_result::untrusted::is_unfit;
use passhost_tests::Passhost;
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};

/// The escape sequences that a command has: the colours, their end, and what removes a progress line.
const OWN: [&str; 7] = ["\u{1b}[32m", "\u{1b}[31m", "\u{1b}[33m", "\u{1b}[2m", "\u{1b}[1m", "\u{1b}[0m", "\r\u{1b}[2K"];

/// A new terminal: the end of a person, and that of a program.
fn terminal() -> [OwnedFd; 2] {
    let (mut person, mut program) = (-1, -1);
    let none = std::ptr::null_mut();
    // SAFETY: two descriptors are written to, and the other pointers are null, as they may be.
    let made = unsafe { libc::openpty(&raw mut person, &raw mut program, none, none.cast(), none.cast()) };
    assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both were opened by the call, and nothing else has them.
    [person, program].map(|descriptor| unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// All that a command writes to a terminal.
fn shown(run: &Passhost) -> String {
    let [person, program] = terminal();
    let mut command = run.command();
    command.env("TERM", "xterm").env_remove("NO_COLOR").env("COLUMNS", "100000");
    let outputs = (program.try_clone(), program.try_clone());
    let (Ok(out), Ok(err)) = outputs else { unreachable!("descriptors are left: {outputs:?}") };
    let started = command.stdout(out).stderr(err).spawn();
    assert!(started.is_ok(), "passhost does not start: {started:?}");
    // The command has copies of the program's end, and this process none: it reads to their end.
    drop((command, program));
    let mut bytes = vec![];
    // A terminal whose programs have ended is an error to read from.
    let _ = File::from(person).read_to_end(&mut bytes);
    let ended = started.map(|mut process| process.wait());
    assert!(ended.is_ok_and(|ended| ended.is_ok()));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_terminal_gets_the_colours_of_the_command_alone() {
    let place = Place::new();
    let broken = place.broken_sample();
    let missing = place.at(&format!("{HOSTILE}.wasm"));
    let documents = place.write("documents.json", &document().to_string());
    for (run, colour) in [
        (Passhost::new(["check", &missing]), "\u{1b}[31merror:\u{1b}[0m"),
        (Passhost::new(["check", &missing, &format!("--{HOSTILE}")]), "\u{1b}[31merror:\u{1b}[0m"),
        (Passhost::new(["samples", "check", &broken]), "\u{1b}[31m"),
        (Passhost::new(["report", &documents]), "\u{1b}[1m"),
        (Passhost::new(["verify", &documents, "--offline"]), "\u{1b}[31mdiffers\u{1b}[0m"),
        (Passhost::new(["show", &broken, "--variant", HOSTILE]), "\u{1b}[31merror:\u{1b}[0m"),
    ] {
        let text = shown(&run);
        assert!(text.contains(colour), "{text:?}");
        let left = OWN.iter().fold(text.replace("\r\n", "\n"), |text, own| text.replace(own, ""));
        let unfit = left.chars().find(|c| *c != '\n' && is_unfit(*c));
        assert!(unfit.is_none() && !left.lines().any(|line| line.trim_start().starts_with(FORGED)), "{text:?}");
    }
}
