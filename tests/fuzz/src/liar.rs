//! A program that stands in for a child of the supervisor, and says what its script tells it.

use passhost_protocol::{MAX_FRAME, decode};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Which child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Runs a plugin.
    Guest,
    /// Reads a sample.
    Reader,
    /// Knows types.
    Types,
    /// Runs programs.
    Device,
}

impl Role {
    /// All of them.
    pub(crate) const ALL: [Role; 4] = [Role::Guest, Role::Reader, Role::Types, Role::Device];

    /// The name of its script, beside the program.
    pub(crate) fn script(self) -> String {
        format!("{self}.script")
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Guest => "guest",
            Role::Reader => "reader",
            Role::Types => "types",
            Role::Device => "device",
        })
    }
}

/// The programs that the supervisor starts.
pub(crate) const STAND_INS: [&str; 3] = ["passhost-guest", "passhost-reader", "passhost-device"];

/// What a child does next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// Writes these bytes, whatever they are.
    Say(Vec<u8>),
    /// Waits for a message.
    Hear,
    /// Waits for a message, and goes on at another act unless it begins with these bytes.
    HearElse(Vec<u8>, usize),
    /// Ends with a status.
    Exit(u8),
    /// Ends by a signal.
    Abort,
    /// Does nothing any more.
    Sleep,
    /// Writes these bytes until nobody takes them.
    Flood(Vec<u8>),
    /// Begins again at this act.
    Again(usize),
}

/// Whether this program was started in the place of a child.
pub fn is_stand_in() -> bool {
    let name = std::env::current_exe().ok().and_then(|path| path.file_name().map(|name| name.to_owned()));
    name.is_some_and(|name| STAND_INS.iter().any(|program| name == *program))
}

/// Plays the script of the child that this program stands in for. At the end of the script the child ends.
pub fn lie() -> ExitCode {
    let program = std::env::current_exe().unwrap_or_default();
    let role = match program.file_name().and_then(|name| name.to_str()) {
        Some("passhost-guest") => Role::Guest,
        Some("passhost-reader") => Role::Reader,
        _ if std::env::args_os().nth(1).is_some_and(|argument| argument == passhost_protocol::types::ROLE) => {
            Role::Types
        }
        _ => Role::Device,
    };
    let script = program.parent().unwrap_or(Path::new(".")).join(role.script());
    let Ok(acts) = std::fs::read(script).map_err(drop).and_then(|bytes| decode::<Vec<Act>>(&bytes).map_err(drop))
    else {
        return ExitCode::from(99);
    };
    // A pipe that the supervisor has closed ends the play.
    play(&acts).unwrap_or(ExitCode::SUCCESS)
}

fn play(acts: &[Act]) -> io::Result<ExitCode> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut next = 0;
    while let Some(act) = acts.get(next) {
        next += 1;
        match act {
            Act::Say(bytes) => {
                output.write_all(bytes)?;
                output.flush()?;
            }
            Act::Hear => drop(hear(&mut input)?),
            Act::HearElse(first, otherwise) => {
                if !hear(&mut input)?.starts_with(first) {
                    next = *otherwise;
                }
            }
            Act::Exit(status) => return Ok(ExitCode::from(*status)),
            Act::Abort => std::process::abort(),
            Act::Sleep => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            Act::Flood(bytes) => loop {
                output.write_all(bytes)?;
            },
            Act::Again(at) => next = *at,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes one message and forgets it, but for its first byte.
fn hear(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut header = [0; 4];
    input.read_exact(&mut header)?;
    let mut message = input.take(u64::from(u32::from_le_bytes(header)).min(MAX_FRAME as u64));
    let mut first = vec![];
    message.by_ref().take(2).read_to_end(&mut first)?;
    io::copy(&mut message, &mut io::sink())?;
    Ok(first)
}
