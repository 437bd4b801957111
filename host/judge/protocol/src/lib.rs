//! The messages between the supervisor and its children, their framing, and how files that come from outside are opened and
//! read line by line.
//!
//! Each message is one frame: a little-endian `u32` length and that many bytes of postcard. A frame longer than the
//! reader allows is refused before anything is allocated, because a child that runs a plugin is not trusted. What a child says
//! has limits of its own for each kind of message, in bytes and in elements of its lists ([`Reply`]).

pub mod builder;
pub mod compiler;
mod counted;
pub mod device;
mod file;
mod frame;
pub mod guest;
mod lines;
pub mod reader;
mod reply;
mod stopwatch;
pub mod types;

pub use file::open_regular;
pub use frame::{FrameError, MAX_FRAME, decode, encode, read_frame, write_frame};
pub use lines::{BoundedLines, LineRead};
pub use reply::{Most, Reply, Room, decode_counted, read_reply, write_reply};
pub use stopwatch::Stopwatch;
