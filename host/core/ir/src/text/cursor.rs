//! Reading text from left to right: what the parsers of graphs, kernels and schemas share.

use crate::{Dtype, UnknownDtype};
use std::fmt;

/// Where a text is not what it should be, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct TextError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
}

/// A position in a text. Every reading function skips white space first.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// A number as it was written: only one with a point, an exponent, or a name such as `inf` is a float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NumberToken {
    Int(i64),
    Float(f64),
}

pub(crate) type Parsed<T> = Result<T, TextError>;

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    /// The next character.
    pub(crate) fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// Whether `symbol` comes next; steps over it if so.
    pub(crate) fn eat(&mut self, symbol: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    /// Steps over `symbol`.
    pub(crate) fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(format_args!("`{symbol}`"))) }
    }

    /// The longest run of characters that satisfy `accept`; may be empty.
    pub(crate) fn run(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Letters, digits and `_`, without stepping over them; may be empty.
    pub(crate) fn peek_word(&mut self) -> &'a str {
        self.clone().run(is_word)
    }

    /// Letters, digits and `_`, at least one.
    pub(crate) fn word(&mut self, what: &str) -> Parsed<&'a str> {
        let before = self.clone();
        let word = self.run(is_word);
        if word.is_empty() { Err(before.unexpected(what)) } else { Ok(word) }
    }

    /// A word that `find` knows; `what` says what kind.
    pub(crate) fn known<T>(&mut self, what: &str, find: impl FnOnce(&str) -> Option<T>) -> Parsed<T> {
        let before = self.clone();
        find(self.word(what)?).ok_or_else(|| before.unexpected(what))
    }

    /// The name of an element type.
    pub(crate) fn dtype(&mut self) -> Parsed<Dtype> {
        let before = self.clone();
        self.word("an element type")?.parse().map_err(|error: UnknownDtype| before.error(error.to_string()))
    }

    /// Whether `word` comes next as a whole word; steps over it if so.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.run(is_word);
        }
        found
    }

    /// Steps over the whole word `word`.
    pub(crate) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(format_args!("`{word}`"))) }
    }

    /// A decimal number without sign.
    pub(crate) fn unsigned<T: std::str::FromStr>(&mut self, what: &str) -> Parsed<T> {
        let before = self.clone();
        self.run(|c| c.is_ascii_digit()).parse().map_err(|_| before.unexpected(what))
    }

    /// `12`, `-0.5`, `1e-5`, `inf`, `-inf`, `nan`.
    pub(crate) fn number(&mut self) -> Parsed<NumberToken> {
        let before = self.clone();
        let negative = self.eat("-");
        let mantissa = self.run(|c| is_word(c) || c == '.');
        let start = before.clone().after_space().at;
        // The sign of an exponent is no part of the run above: `1e` then `-5`.
        let in_exponent = mantissa.starts_with(|c: char| c.is_ascii_digit()) && mantissa.ends_with(['e', 'E']);
        if in_exponent && self.rest().starts_with(['-', '+']) {
            self.at += 1;
            self.at += self.rest().len() - self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).len();
        }
        let text = &self.text[start..self.at];
        let number = match mantissa {
            "inf" => Some(NumberToken::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY })),
            "nan" if !negative => Some(NumberToken::Float(f64::NAN)),
            _ if mantissa.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok().map(NumberToken::Int),
            _ if mantissa.starts_with(|c: char| c.is_ascii_digit()) => text.parse().ok().map(NumberToken::Float),
            _ => None,
        };
        number.ok_or_else(|| before.unexpected("a number"))
    }

    /// An integer with an optional `-`.
    pub(crate) fn integer(&mut self, what: &str) -> Parsed<i64> {
        let before = self.clone();
        match self.number() {
            Ok(NumberToken::Int(value)) => Ok(value),
            _ => Err(before.unexpected(what)),
        }
    }

    /// `f32[2,3]`.
    pub(crate) fn shaped(&mut self) -> Parsed<(Dtype, Vec<i64>)> {
        Ok((self.dtype()?, self.list("[", "]", |cursor| cursor.integer("an extent"))?))
    }

    /// A string in double quotes, with the escapes that [`Quoted`] writes.
    pub(crate) fn string(&mut self) -> Parsed<String> {
        self.expect("\"")?;
        let mut out = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += offset + 1;
                    return Ok(out);
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 'r')) => out.push('\r'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, 'u')) => {
                        let digits: String = chars
                            .by_ref()
                            .map(|(_, c)| c)
                            .skip_while(|&c| c == '{')
                            .take_while(|&c| c != '}')
                            .take(8)
                            .collect();
                        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        out.push(code.ok_or_else(|| self.error(format!("`\\u{{{digits}}}` is no character")))?);
                    }
                    Some((_, c @ ('\\' | '"'))) => out.push(c),
                    _ => return Err(self.error("expected one of n, r, t, u{..}, \\ and \" after \\ in a string")),
                },
                c => out.push(c),
            }
        }
        Err(self.error("this string has no closing `\"`"))
    }

    /// `open item, item close`.
    pub(crate) fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        item: impl FnMut(&mut Cursor<'a>) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.expect(open)?;
        if self.eat(close) {
            return Ok(vec![]);
        }
        let items = self.items(item)?;
        if self.eat(close) { Ok(items) } else { Err(self.unexpected(format_args!("`,` or `{close}`"))) }
    }

    /// `item, item`: at least one.
    pub(crate) fn items<T>(&mut self, mut item: impl FnMut(&mut Cursor<'a>) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// All of a text, with nothing but white space behind what `parse` reads.
    pub(crate) fn whole<T>(text: &'a str, parse: impl FnOnce(&mut Cursor<'a>) -> Parsed<T>) -> Parsed<T> {
        let mut cursor = Cursor::new(text);
        let parsed = parse(&mut cursor)?;
        if cursor.peek().is_none() { Ok(parsed) } else { Err(cursor.unexpected("the end of the text")) }
    }

    fn after_space(mut self) -> Cursor<'a> {
        self.skip_space();
        self
    }

    /// An error that says what was expected here, and shows the beginning of what stands here instead.
    pub(crate) fn unexpected(&self, expected: impl fmt::Display) -> TextError {
        let here = self.clone().after_space();
        let found: String = here.rest().chars().take_while(|&c| c != '\n').take(24).collect();
        if here.rest().is_empty() {
            here.error(format!("expected {expected}, found the end of the text"))
        } else {
            here.error(format!("expected {expected}, found `{}`", found.escape_debug()))
        }
    }

    /// An error at this position, or rather at what stands behind the white space here.
    pub(crate) fn error(&self, message: impl Into<String>) -> TextError {
        let before = &self.text[..self.clone().after_space().at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        TextError {
            line: 1 + before.bytes().filter(|&b| b == b'\n').count(),
            column: 1 + before[line_start..].chars().count(),
            message: message.into(),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Prints a string in double quotes, so that [`Cursor::string`] reads it back.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                c if c.is_control() => write!(f, "\\u{{{:x}}}", c as u32)?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

/// Prints a name that may be any text, as long as nobody has verified its graph: what would break the line is escaped.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| c.is_control()) {
            write!(f, "{}{}", &rest[..at], c.escape_default())?;
            rest = &rest[at + c.len_utf8()..];
        }
        f.write_str(rest)
    }
}

/// Prints a float as the shortest decimal that reads back as the same number, always with a point, an exponent or a
/// name.
pub(crate) struct Real(pub(crate) f64);

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() { f.write_str("nan") } else { write!(f, "{:?}", self.0) }
    }
}

/// Prints items with a separator between them.
pub(crate) struct Joined<'a, T>(pub(crate) &'a [T], pub(crate) &'static str);

impl<T: fmt::Display> fmt::Display for Joined<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, item) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(self.1)?;
            }
            write!(f, "{item}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn floats_read_back_bit_for_bit() {
        for value in [0.0, -0.0, 1.0, 1e-5, -2.5e300, 5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, 0.1 + 0.2] {
            let text = Real(value).to_string();
            match Cursor::new(&text).number().unwrap() {
                NumberToken::Float(read) => assert_eq!(read.to_bits(), value.to_bits(), "{text}"),
                NumberToken::Int(_) => assert!(text.is_empty(), "{text} was read as an integer"),
            }
        }
        assert!(matches!(Cursor::new("nan").number(), Ok(NumberToken::Float(x)) if x.is_nan()));
    }

    #[test]
    fn strings_read_back() {
        for text in ["", "none", "a\"b\\c\n\r\t\u{1}\u{7f}é\u{1F600}"] {
            assert_eq!(Cursor::new(&Quoted(text).to_string()).string().as_deref(), Ok(text));
        }
    }

    #[test]
    fn errors_give_line_and_column() {
        let mut cursor = Cursor::new("a\n  é b");
        cursor.word("a word").unwrap();
        cursor.expect("é").unwrap();
        assert_eq!(cursor.expect(";").unwrap_err().to_string(), "line 2, column 5: expected `;`, found `b`");
    }
}
