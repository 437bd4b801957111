use serde::{Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};

/// The longest frame that either side accepts, in bytes.
pub const MAX_FRAME: usize = 256 << 20;

/// Why no message could be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other side closed the pipe between two frames.
    #[error("the other process closed the connection")]
    Closed,
    /// The pipe failed, also in the middle of a frame.
    #[error("the connection to the other process failed: {0}")]
    Io(#[from] io::Error),
    /// The announced length is above the limit.
    #[error("a message of {length} bytes is longer than the {limit} allowed")]
    TooLong {
        /// Announced length in bytes.
        length: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// The message is of no kind that the other side sends.
    #[error("a message is of no kind that this process sends")]
    Kind,
    /// Its lists have more elements than a message of its kind may have.
    #[error("the lists of a message have more than the {0} elements allowed")]
    TooMany(usize),
    /// The bytes are no message of the expected type.
    #[error("a message of {length} bytes is malformed: {source}")]
    Malformed {
        /// Length of the frame in bytes.
        length: usize,
        /// What the decoder said.
        source: postcard::Error,
    },
}

/// Writes one message and flushes.
pub fn write_frame<T: Serialize>(writer: &mut impl Write, message: &T) -> Result<(), FrameError> {
    write_body(writer, &encode(message)?, MAX_FRAME)
}

/// Writes these bytes as a message and flushes, if they are no more than `limit` and [`MAX_FRAME`].
pub(crate) fn write_body(writer: &mut impl Write, bytes: &[u8], limit: usize) -> Result<(), FrameError> {
    let limit = limit.min(MAX_FRAME);
    let length = u32::try_from(bytes.len())
        .ok()
        .filter(|&length| length as usize <= limit)
        .ok_or(FrameError::TooLong { length: bytes.len(), limit })?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(bytes)?;
    writer.flush()?;
    Ok(())
}

/// Reads one message of at most `limit` bytes. A clean end of the stream is [`FrameError::Closed`].
pub fn read_frame<T: DeserializeOwned>(reader: &mut impl Read, limit: usize) -> Result<T, FrameError> {
    let length = read_length(reader)?;
    if length > limit {
        return Err(FrameError::TooLong { length, limit });
    }
    let mut bytes = Vec::new();
    read_onto(reader, &mut bytes, length)?;
    decode(&bytes)
}

/// The length of the next message.
pub(crate) fn read_length(reader: &mut impl Read) -> Result<usize, FrameError> {
    let mut header = [0u8; 4];
    let mut filled = 0;
    while filled < header.len() {
        match reader.read(&mut header[filled..]) {
            Ok(0) if filled == 0 => return Err(FrameError::Closed),
            Ok(0) => return Err(FrameError::Io(io::ErrorKind::UnexpectedEof.into())),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(u32::from_le_bytes(header) as usize)
}

/// Reads so many more bytes of a message. They grow with what arrives, so that a length alone allocates nothing.
pub(crate) fn read_onto(reader: &mut impl Read, bytes: &mut Vec<u8>, count: usize) -> Result<(), FrameError> {
    if reader.take(count as u64).read_to_end(bytes)? < count {
        return Err(FrameError::Io(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(())
}

/// The bytes of a message.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    postcard::to_stdvec(message).map_err(|source| FrameError::Malformed { length: 0, source })
}

/// The message that these bytes are.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    postcard::from_bytes(bytes).map_err(|source| FrameError::Malformed { length: bytes.len(), source })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip_and_the_end_is_clean() {
        let mut pipe = Vec::new();
        write_frame(&mut pipe, &("hello".to_owned(), vec![1i64, -2])).unwrap();
        let mut reader = pipe.as_slice();
        let back: (String, Vec<i64>) = read_frame(&mut reader, MAX_FRAME).unwrap();
        assert_eq!(back, ("hello".to_owned(), vec![1, -2]));
        assert!(matches!(read_frame::<u8>(&mut reader, MAX_FRAME), Err(FrameError::Closed)));
    }

    #[test]
    fn a_frame_over_the_limit_is_refused_by_its_header() {
        let bytes = u32::MAX.to_le_bytes();
        let error = read_frame::<u8>(&mut bytes.as_slice(), 1000).unwrap_err();
        assert!(matches!(error, FrameError::TooLong { limit: 1000, .. }), "{error}");
    }

    #[test]
    fn truncated_and_foreign_bytes_are_errors() {
        let cut = [8, 0, 0, 0, 1, 2];
        assert!(matches!(read_frame::<u8>(&mut cut.as_slice(), 100), Err(FrameError::Io(_))));
        let huge_vector = [5, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f];
        assert!(matches!(read_frame::<Vec<u64>>(&mut huge_vector.as_slice(), 100), Err(FrameError::Malformed { .. })));
    }
}
