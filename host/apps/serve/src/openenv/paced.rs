//! The reading half of a socket whose other end may send so many frames a second. Frames of all kinds count: pings, pongs and empty parts of
//! messages cost the server as much as requests do. Frames that come too early are read later, so a flood stops at the
//! client's own connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// The bit of a frame's second byte that says whether a mask follows the length.
const MASKED: u8 = 0x80;
/// Bytes of a mask.
const MASK: u64 = 4;

/// Counts the frames of a stream, of which it reads the headers alone (RFC 6455, section 5.2).
#[derive(Debug, Default)]
struct Frames(FramePart);

/// The part of a frame that comes next.
#[derive(Debug, Default)]
enum FramePart {
    /// Its first byte.
    #[default]
    First,
    /// The byte with the length, or with how many bytes the length has.
    Length,
    /// So many bytes of the length, after those that were read.
    Longer { bytes: u8, length: u64, mask: u64 },
    /// So many bytes of mask and payload.
    Payload(u64),
}

impl FramePart {
    fn payload(bytes: u64) -> FramePart {
        if bytes == 0 { FramePart::First } else { FramePart::Payload(bytes) }
    }
}

impl Frames {
    /// Frames that begin in these bytes, which follow those of the last call.
    fn begun(&mut self, mut bytes: &[u8]) -> u32 {
        let mut begun = 0;
        while let Some((&byte, after)) = bytes.split_first() {
            let (part, rest) = match self.0 {
                FramePart::First => {
                    begun += 1;
                    (FramePart::Length, after)
                }
                FramePart::Length => {
                    let mask = if byte & MASKED == 0 { 0 } else { MASK };
                    let part = match byte & !MASKED {
                        126 => FramePart::Longer { bytes: 2, length: 0, mask },
                        127 => FramePart::Longer { bytes: 8, length: 0, mask },
                        length => FramePart::payload(u64::from(length) + mask),
                    };
                    (part, after)
                }
                FramePart::Longer { bytes, length, mask } => {
                    let length = length << 8 | u64::from(byte);
                    let part = match bytes - 1 {
                        0 => FramePart::payload(length.saturating_add(mask)),
                        bytes => FramePart::Longer { bytes, length, mask },
                    };
                    (part, after)
                }
                FramePart::Payload(left) => {
                    let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    (FramePart::payload(left - here as u64), &bytes[here..])
                }
            };
            (self.0, bytes) = (part, rest);
        }
        begun
    }
}

/// The reading half of a socket whose other end may send so many frames a second.
pub struct Paced<S> {
    socket: S,
    frames: Frames,
    /// Counts a frame; how long to wait if it comes too early.
    pace: Box<dyn Fn() -> Result<(), Duration> + Send>,
    /// Frames that were read and not counted yet: nothing more is read before they are.
    owed: u32,
    wait: Pin<Box<Sleep>>,
}

impl<S> Paced<S> {
    /// `pace` counts a frame, or says how long to wait before it may come.
    pub fn new(socket: S, pace: impl Fn() -> Result<(), Duration> + Send + 'static) -> Paced<S> {
        let (frames, wait) = (Frames::default(), Box::pin(sleep(Duration::ZERO)));
        Paced { socket, frames, pace: Box::new(pace), owed: 0, wait }
    }

    /// The socket, for what is no frame any more.
    pub fn unpaced(&mut self) -> &mut S {
        &mut self.socket
    }

    /// Counts the frames that were read, each when it may come.
    fn poll_counted(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.owed > 0 {
            match (self.pace)() {
                Ok(()) => self.owed -= 1,
                Err(wait) => {
                    self.wait.as_mut().reset(Instant::now() + wait);
                    ready!(self.wait.as_mut().poll(context));
                }
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_counted(context));
        let before = into.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(context, into);
        let begun = self.frames.begun(&into.filled()[before..]);
        self.owed = self.owed.saturating_add(begun);
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tokio::io::AsyncReadExt as _;

    /// A frame of these lengths, with a mask or without.
    fn frame(length: usize, mask: u8) -> Vec<u8> {
        let said = match length {
            0..126 => vec![mask | length as u8],
            126..65_536 => [&[mask | 126][..], &(length as u16).to_be_bytes()].concat(),
            _ => [&[mask | 127][..], &(length as u64).to_be_bytes()].concat(),
        };
        let rest = length + if mask == 0 { 0 } else { 4 };
        // Payloads look like the beginnings of frames.
        [&[0x89][..], &said, &vec![0x80; rest]].concat()
    }

    #[test]
    fn frames_are_counted_however_they_are_cut() {
        for mask in [0, MASKED] {
            let lengths = [0, 0, 1, 125, 126, 127, 65_535, 65_536, 70_000, 0];
            let bytes: Vec<u8> = lengths.iter().flat_map(|&length| frame(length, mask)).collect();
            for cut in [1, 2, 3, 7, 126, 4096, bytes.len()] {
                let mut frames = Frames::default();
                let begun: u32 = bytes.chunks(cut).map(|part| frames.begun(part)).sum();
                assert_eq!(
                    (begun as usize, matches!(frames.0, FramePart::First)),
                    (lengths.len(), true),
                    "cut at {cut}"
                );
            }
        }
        let mut endless = Frames::default();
        assert_eq!(endless.begun(&[&[0x82, 0xff][..], &[0xff; 8], &[0; 100]].concat()), 1);
    }

    #[tokio::test]
    async fn nothing_is_read_before_the_frames_of_before_are_counted() {
        let bytes = frame(0, MASKED).repeat(100);
        let allowed = Arc::new(AtomicU32::new(0));
        let left = Arc::clone(&allowed);
        let pace = move || {
            let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            taken.map(drop).map_err(|_| Duration::from_millis(1))
        };
        let mut paced = Paced::new(&bytes[..], pace);
        let mut some = [0; 60];
        // Ten frames come at once, as nobody has asked before.
        assert_eq!(paced.read(&mut some).await.ok(), Some(60));
        allowed.store(9, Ordering::Relaxed);
        let more = tokio::time::timeout(Duration::from_millis(20), paced.read(&mut some)).await;
        assert!(more.is_err(), "the tenth frame is not counted");
        allowed.store(1, Ordering::Relaxed);
        assert_eq!(paced.read(&mut some).await.ok(), Some(60));
    }
}
