//! How an order comes and how it is answered: in frames, as passhost writes them, or in lines of JSON for other programs.

use crate::error::WardenError;
use passhost_protocol::builder::{BuildOrder, FromBuilder};
use passhost_protocol::{MAX_FRAME, read_frame, write_frame};
use std::io::{BufRead, Read, Write};

/// The argument of the program for lines of JSON.
pub const JSON: &str = "json";

/// The form of messages.
#[derive(Debug, Clone, Copy)]
pub enum Wire {
    Frames,
    Lines,
}

impl Wire {
    /// The order, from standard input.
    pub fn order(self) -> Result<BuildOrder, WardenError> {
        let mut input = std::io::stdin().lock();
        if matches!(self, Wire::Frames) {
            return Ok(read_frame(&mut input, MAX_FRAME)?);
        }
        let mut line = String::new();
        input.take(MAX_FRAME as u64).read_line(&mut line)?;
        Ok(serde_json::from_str(&line).map_err(std::io::Error::from)?)
    }

    /// Writes a message to standard output.
    pub fn say(self, message: &FromBuilder) -> Result<(), WardenError> {
        let mut output = std::io::stdout().lock();
        match self {
            Wire::Frames => Ok(write_frame(&mut output, message)?),
            Wire::Lines => Ok(writeln!(output, "{}", serde_json::to_string(message).map_err(std::io::Error::from)?)?),
        }
    }
}
