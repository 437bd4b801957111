//! What a message of a child may have. A child that works for somebody untrusted is not trusted either: how long a message
//! of its kind may be is looked at before it is read, and what it counts before that is decoded.

use crate::frame::{FrameError, encode, read_length, read_onto, write_body};
use crate::{builder, compiler, counted, device, guest, reader, types};
use builder::FromBuilder;
use compiler::{FromCompiler, MAX_CODE, MAX_SOURCE};
use device::FromDevice;
use guest::FromGuest;
use reader::FromReader;
use serde::{Serialize, de::DeserializeOwned};
use std::io::{Read, Write};
use types::FromTypes;

/// The most that a message may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Most {
    /// Bytes.
    pub bytes: usize,
    /// Elements of all of its lists together.
    pub items: usize,
}

impl Most {
    const fn new(bytes: usize, items: usize) -> Most {
        Most { bytes, items }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Most) -> Most {
        Most { bytes: self.bytes.saturating_add(other.bytes), items: self.items.saturating_add(other.items) }
    }
}

/// How long a kind of message may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// So long.
    Fixed(Most),
    /// So long, and longer by what the request allows that it answers.
    Growing(Most),
}

impl Room {
    /// For the answer to a request that allows so much more.
    pub fn most(self, more: Most) -> Most {
        match self {
            Room::Fixed(most) => most,
            Room::Growing(most) => most.and(more),
        }
    }
}

/// The messages of a child to whoever started it.
pub trait Reply: DeserializeOwned {
    /// What each kind may have, in the order in which the kinds are declared. There are no others.
    const KINDS: &'static [Room];
}

/// A greeting, a stage, some words.
const SHORT: Room = Room::Fixed(Most::new(64 << 10, 4 << 10));
/// Words of libraries.
const WORDS: Room = Room::Fixed(Most::new(1 << 20, 64 << 10));
/// A question about types, or an answer: some thousand tensors.
const TYPES: Room = Room::Fixed(Most::new(1 << 20, 1 << 20));
/// What a device says of a program and its runs.
const REPORT: Room = Room::Fixed(Most::new(16 << 20, 1 << 20));
/// A program as it was read, or the types of its values: whole models have some hundred thousand.
const PROGRAM: Room = Room::Fixed(Most::new(96 << 20, 8 << 20));
/// Bytes that nobody decodes.
const OPAQUE: Room = Room::Fixed(Most::new(crate::MAX_FRAME, crate::MAX_FRAME));
/// What a result has room for of refusals, which is as much again as what is kept of them.
const REFUSALS: Most = Most::new(16 << 20, 2 << 20);

impl Reply for FromGuest {
    const KINDS: &'static [Room] =
        &[SHORT, OPAQUE, Room::Growing(Most::new(64 << 10, 0)), TYPES, Room::Growing(REFUSALS), WORDS];
}

impl Reply for FromReader {
    const KINDS: &'static [Room] = &[
        SHORT,
        // As many graphs as a list may name.
        Room::Fixed(Most::new(64 << 20, 1 << 18)),
        TYPES,
        PROGRAM,
        Room::Fixed(Most::new(64 << 20, 4 << 20)),
        PROGRAM,
        OPAQUE,
    ];
}

impl Reply for FromTypes {
    const KINDS: &'static [Room] = &[SHORT, TYPES, Room::Fixed(Most::new(64 << 20, 10_000))];
}

impl Reply for FromCompiler {
    const KINDS: &'static [Room] = &[SHORT, WORDS, Room::Fixed(Most::new(MAX_CODE + (1 << 10), MAX_CODE))];
}

impl Reply for FromBuilder {
    const KINDS: &'static [Room] = &[SHORT; 3];
}

impl Reply for FromDevice {
    const KINDS: &'static [Room] = &[
        SHORT,
        WORDS,
        SHORT,
        // Longer ones than are compiled: who asks for one is told so.
        Room::Fixed(Most::new(4 * MAX_SOURCE, 0)),
        SHORT,
        SHORT,
        PROGRAM,
        WORDS,
        REPORT,
        REPORT,
        // As many times as anybody has patience for.
        Room::Fixed(Most::new(32 << 20, 4 << 20)),
        REPORT,
        REPORT,
    ];
}

/// Reads one message of a child, where the last request allows `more` than its kind has by itself.
///
/// # Errors
///
/// [`FrameError::Closed`] at a clean end of the stream; another where there is no message of a known kind with as much as
/// it may have.
pub fn read_reply<T: Reply>(reader: &mut impl Read, more: impl FnOnce() -> Most) -> Result<T, FrameError> {
    let length = read_length(reader)?;
    let mut message = Vec::new();
    read_onto(reader, &mut message, length.min(1))?;
    let most = room::<T>(&message)?.most(more());
    if length > most.bytes {
        return Err(FrameError::TooLong { length, limit: most.bytes });
    }
    read_onto(reader, &mut message, length.saturating_sub(1))?;
    decode_counted(&message, most.items)
}

/// What a message that begins so may have. The number of a kind is its first byte: no child has so many that it takes two.
fn room<T: Reply>(message: &[u8]) -> Result<Room, FrameError> {
    match message.first() {
        // Messages that are not told apart have nothing in them.
        None if T::KINDS.is_empty() => Ok(Room::Fixed(Most::default())),
        None => Err(FrameError::Kind),
        Some(&kind) => T::KINDS.get(usize::from(kind)).copied().ok_or(FrameError::Kind),
    }
}

/// Writes one message of a child, unless whoever reads it would refuse it for its length.
///
/// # Errors
///
/// [`FrameError::TooLong`] before anything is written; another if the pipe breaks.
pub fn write_reply<T: Reply + Serialize>(writer: &mut impl Write, message: &T, more: Most) -> Result<(), FrameError> {
    let bytes = encode(message)?;
    write_body(writer, &bytes, room::<T>(&bytes)?.most(more).bytes)
}

/// The value that these bytes are, with at most so many elements in its lists.
///
/// # Errors
///
/// If they are none, or it has more.
pub fn decode_counted<T: DeserializeOwned>(bytes: &[u8], items: usize) -> Result<T, FrameError> {
    let decoded = counted::decode(bytes, items);
    let malformed = |source| FrameError::Malformed { length: bytes.len(), source };
    decoded.map_err(malformed)?.ok_or(FrameError::TooMany(items))
}

#[cfg(test)]
mod tests;
