//! The one way that text takes to a terminal: unfit characters become escapes that are read, and the colours that this
//! program chose become escape sequences.
//!
//! Colours are marked in a text until it is written. A mark carries random bits of this process, so that text from outside,
//! which may hold anything, cannot hold one.

use passhost_result::untrusted::escaped;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// What a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As expected.
    Good,
    /// Wrong.
    Bad,
    /// Worth a look.
    Warn,
    /// Beside the point.
    Dim,
    /// A heading.
    Strong,
}

/// The code that ends a colour.
const PLAIN: &str = "0";

impl Tone {
    const ALL: [Tone; 5] = [Tone::Good, Tone::Bad, Tone::Warn, Tone::Dim, Tone::Strong];

    /// Its code in an escape sequence.
    fn code(self) -> &'static str {
        match self {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Warn => "33",
            Tone::Dim => "2",
            Tone::Strong => "1",
        }
    }
}

/// Stands before the code of a colour.
static MARK: LazyLock<String> = LazyLock::new(|| format!("\u{1b}{:016x};", RandomState::new().hash_one("mark")));

/// `text` marked as of a tone, for [`fit`].
pub fn marked(tone: Tone, text: &str) -> String {
    let (mark, code) = (MARK.as_str(), tone.code());
    format!("{mark}{code}m{text}{mark}{PLAIN}m")
}

/// A line as it is written to a terminal. All that this program prints passes here: the colours of [`marked`] become escape
/// sequences, and no other unfit character stays, so that the line is one.
pub fn fit(line: &str) -> String {
    let mut pieces = line.split(MARK.as_str());
    let first = pieces.next().unwrap_or_default();
    pieces.fold(escaped(first), |written, piece| {
        let codes = Tone::ALL.map(Tone::code).into_iter().chain([PLAIN]);
        let found = codes.filter_map(|code| Some((code, piece.strip_prefix(code)?.strip_prefix('m')?))).next();
        match found {
            Some((code, text)) => format!("{written}\u{1b}[{code}m{}", escaped(text)),
            None => written + &escaped(piece),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_result::untrusted::is_unfit;

    #[test]
    fn colours_are_escape_sequences_and_nothing_else_is() {
        let text = format!("{}: {}", marked(Tone::Bad, "a\u{1b}[2J\nb"), marked(Tone::Dim, "\u{9b}0m"));
        assert_eq!(fit(&text), "\u{1b}[31ma\\u{1b}[2J\\nb\u{1b}[0m: \u{1b}[2m\\u{9b}0m\u{1b}[0m");
        for tone in Tone::ALL {
            assert_eq!(fit(&marked(tone, "x")), format!("\u{1b}[{}mx\u{1b}[0m", tone.code()));
        }
    }

    #[test]
    fn no_text_from_outside_is_a_colour() {
        for text in ["\u{1b}[31mred\u{1b}[0m", "\u{1b}0000000000000000;31mred", "\u{1b}", "\u{202e}\u{7}\r\n"] {
            assert!(!fit(text).contains(is_unfit), "{text:?}");
        }
    }
}
