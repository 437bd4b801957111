//! The lines of a file that comes from outside, each of at most so many bytes.

use std::io::{self, BufRead, Read as _};

/// Reads one line after the other. What it holds at a time is the longest line that it allows.
#[derive(Debug)]
pub struct BoundedLines<R> {
    from: R,
    limit: usize,
    bytes: Vec<u8>,
    /// Whether the last line was too long, so that what is left of it comes next.
    is_within: bool,
}

/// A line, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineRead<'b> {
    /// One that ends in a line break.
    Whole(&'b [u8]),
    /// The last one, which does not.
    Unended(&'b [u8]),
    /// One that is longer than the limit. The next read goes on after its end.
    TooLong,
}

impl<R: BufRead> BoundedLines<R> {
    /// Of this source, each of at most `limit` bytes, its end left out.
    pub fn new(from: R, limit: usize) -> BoundedLines<R> {
        BoundedLines { from, limit, bytes: vec![], is_within: false }
    }

    /// The next line, if there is one.
    ///
    /// # Errors
    ///
    /// If the source cannot be read.
    pub fn read(&mut self) -> io::Result<Option<LineRead<'_>>> {
        if std::mem::take(&mut self.is_within) {
            self.from.skip_until(b'\n')?;
        }
        self.bytes.clear();
        let most = u64::try_from(self.limit).unwrap_or(u64::MAX).saturating_add(1);
        self.from.by_ref().take(most).read_until(b'\n', &mut self.bytes)?;
        Ok(match self.bytes.strip_suffix(b"\n") {
            Some(line) => Some(LineRead::Whole(line)),
            None if self.bytes.is_empty() => None,
            None if self.bytes.len() > self.limit => {
                self.is_within = true;
                Some(LineRead::TooLong)
            }
            None => Some(LineRead::Unended(&self.bytes)),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// The lines of a text, of at most four bytes each: `!` where one is too long, `~` after one that does not end.
    fn lines(text: &str) -> Vec<String> {
        // A buffer that is shorter than a line.
        let mut lines = BoundedLines::new(BufReader::with_capacity(3, text.as_bytes()), 4);
        let mut found = vec![];
        while let Some(line) = lines.read().unwrap() {
            found.push(match line {
                LineRead::Whole(line) => String::from_utf8(line.to_vec()).unwrap(),
                LineRead::Unended(line) => String::from_utf8(line.to_vec()).unwrap() + "~",
                LineRead::TooLong => "!".to_owned(),
            });
        }
        assert!(lines.bytes.capacity() <= 16, "{}", lines.bytes.capacity());
        found
    }

    #[test]
    fn a_line_is_as_long_as_the_limit_or_too_long_and_the_next_one_follows() {
        for (text, expected) in [
            ("", vec![]),
            ("\n", vec![""]),
            ("one\n\n", vec!["one", ""]),
            ("four\nfour", vec!["four", "four~"]),
            ("fives\none\n", vec!["!", "one"]),
            ("one\nmany more than five bytes\nmany more", vec!["one", "!", "!"]),
            ("fives\n", vec!["!"]),
        ] {
            assert_eq!(lines(text), expected, "{text:?}");
        }
    }
}
