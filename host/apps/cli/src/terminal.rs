//! What a person sees: colours where they are wanted, a progress line on a terminal, plain lines otherwise.

use crate::output::{complain, overwrite};
use crate::style::marked;
use passhost_ir::Dtype;
use passhost_result::untrusted::escaped;
use std::io::IsTerminal;
use textwrap::core::display_width;

pub use crate::style::Tone;

/// Least width that has room for all columns of most tables.
pub const WIDE: usize = 80;

/// Characters of the end of a name that stay when its middle goes.
const LEAST_END: usize = 4;

/// A cell of a table, and the title of its column.
pub struct TitledCell<'c> {
    title: &'c str,
    least_width: usize,
    pub text: String,
}

impl<'c> TitledCell<'c> {
    pub fn new(title: &'c str, text: impl Into<String>) -> TitledCell<'c> {
        TitledCell { title, least_width: 0, text: text.into() }
    }

    /// Left out on terminals that are narrower.
    #[must_use]
    pub fn from(self, least_width: usize) -> TitledCell<'c> {
        TitledCell { least_width, ..self }
    }
}

/// How to write to standard error and output.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    colour: bool,
    progress: bool,
    width: usize,
    /// Whether anybody said how wide lines may be.
    is_bounded: bool,
}

impl Terminal {
    /// Looks at the streams and at NO_COLOR, TERM and COLUMNS.
    pub fn detect() -> Terminal {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let out = std::io::stdout().is_terminal();
        Terminal {
            colour: out && !set("NO_COLOR") && !dumb,
            progress: std::io::stderr().is_terminal() && !dumb,
            width: width(),
            is_bounded: out || set("COLUMNS"),
        }
    }

    /// Characters in a line.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Characters that a name may have: as many as it has where no terminal is, so that scripts find it whole.
    pub fn name_width(&self, width: usize) -> usize {
        if self.is_bounded { width } else { usize::MAX }
    }

    /// Whether the progress line is overwritten, so that it may change often.
    pub fn is_live(&self) -> bool {
        self.progress
    }

    /// `text` in the colour of its meaning.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        if self.colour { marked(tone, text) } else { text.to_owned() }
    }

    /// `text` broken into lines that fit, each after `indent`: see [`wrap`].
    pub fn wrap(&self, text: &str, indent: &str) -> Vec<String> {
        wrap(text, self.width, indent)
    }

    /// The same in the colour of its meaning.
    pub fn painted(&self, tone: Tone, text: &str, indent: &str) -> Vec<String> {
        self.wrap(text, indent).iter().map(|line| self.paint(tone, line)).collect()
    }

    /// A [`table`] whose titles are beside the point.
    pub fn headed(&self, head: &[&str], rows: &[Vec<String>]) -> Vec<String> {
        let mut lines = table(head, rows, self.name_width(self.width));
        lines[0] = self.paint(Tone::Dim, &lines[0]);
        lines
    }

    /// A table with a row for each of these, and the columns that there is room for.
    pub fn rows<'c, T, const N: usize>(&self, of: &[T], row: impl Fn(&T) -> [TitledCell<'c>; N]) -> Vec<String> {
        let mut head = vec![];
        let kept = of.iter().map(|one| {
            let kept: Vec<_> = row(one).into_iter().filter(|cell| cell.least_width <= self.width).collect();
            head = kept.iter().map(|cell| cell.title).collect();
            kept.into_iter().map(|cell| cell.text).collect()
        });
        let kept: Vec<Vec<String>> = kept.collect();
        self.headed(&head, &kept)
    }

    /// Shows where an evaluation stands on standard error: a line that is overwritten on a terminal, plain lines
    /// elsewhere.
    pub fn progress(&self, text: &str) {
        if self.progress {
            overwrite(&escaped(text).chars().take(self.width.saturating_sub(1)).collect::<String>());
        } else {
            complain(text);
        }
    }

    /// Says something on standard error, on one line.
    pub fn complain(&self, text: &str) {
        complain(text);
    }

    /// Removes the progress line.
    pub fn clear_progress(&self) {
        if self.progress {
            overwrite("");
        }
    }
}

fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let real = || rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    asked.or_else(real).filter(|&columns| columns > 0).unwrap_or(100).max(40)
}

/// Lines of a table: columns padded to their widest cell, the first one cut where the line would be too long. A row is one
/// line, whatever its cells hold.
pub fn table(head: &[&str], rows: &[Vec<String>], width: usize) -> Vec<String> {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| escaped(cell)).collect()).collect();
    debug_assert!(rows.iter().all(|row| row.len() == head.len()), "every row has a cell for every column");
    let widest = |(column, title): (usize, &&str)| {
        rows.iter().map(|row| display_width(&row[column])).fold(display_width(title), usize::max)
    };
    let mut widths: Vec<usize> = head.iter().enumerate().map(widest).collect();
    let others: usize = widths.iter().skip(1).map(|width| width + 2).sum();
    let room = width.saturating_sub(others).max(8);
    if let Some(first) = widths.first_mut() {
        *first = (*first).min(room);
    }
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => padded(&cut(cell, width), width),
            _ => format!("  {}{cell}", blanks(width, cell)),
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    let titles: Vec<String> = head.iter().map(|&title| title.to_owned()).collect();
    std::iter::once(line(&titles)).chain(rows.iter().map(|row| line(row))).collect()
}

/// A text that fills a width.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", blanks(width, text))
}

/// What a text lacks to fill a width.
fn blanks(width: usize, text: &str) -> String {
    " ".repeat(width.saturating_sub(display_width(text)))
}

/// A name of folders that is no wider than this. The folders before its element type go first, which say least, then the
/// middle: the type and the end say which variant it is.
pub fn cut(name: &str, width: usize) -> String {
    if display_width(name) <= width {
        return name.to_owned();
    }
    let folders: Vec<&str> = name.split('/').collect();
    let typed = folders.iter().position(|folder| Dtype::from_torch_name(folder).is_some());
    let name = folders[typed.unwrap_or(0)..].join("/");
    if display_width(&name) <= width {
        return name;
    }
    let room = width.saturating_sub(1);
    let head = typed.map(|at| folders[at].len()).filter(|head| head + LEAST_END <= room).unwrap_or(room / 2);
    let start = taken(name.chars(), head);
    let end: String = taken(name.chars().rev(), room - display_width(&start)).chars().rev().collect();
    format!("{start}…{end}")
}

/// The first characters that have room.
fn taken(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut taken = String::new();
    for c in characters {
        if display_width(&taken) + display_width(c.encode_utf8(&mut [0; 4])) > room {
            break;
        }
        taken.push(c);
    }
    taken
}

/// `text` broken into lines of at most `width` characters at spaces, each after `indent`. A line break within it is shown and
/// breaks nothing.
pub fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
    let text = escaped(text);
    let options = textwrap::Options::new(width.max(20 + indent.len()))
        .initial_indent(indent)
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let lines = textwrap::wrap(&text, options).into_iter().filter(|line| !line.is_empty());
    lines.map(std::borrow::Cow::into_owned).collect()
}

/// A row of which the text is wrapped behind its head, which takes `indent` characters on the terminal.
pub fn entry(head: &str, indent: usize, text: &str, width: usize) -> Vec<String> {
    let mut lines = wrap(text, width, &" ".repeat(indent));
    match lines.first_mut() {
        Some(first) => first.replace_range(..indent, head),
        None => lines.push(head.trim_end().to_owned()),
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_fits_its_width_and_keeps_types_and_ends_of_names() {
        let rows = vec![vec!["graphs/float32/small/one".to_owned(), "1.00".to_owned()]];
        assert_eq!(table(&["name", "speed"], &rows, 20), ["name           speed", "float32…l/one   1.00"]);
        assert_eq!(
            table(&["name", "speed"], &rows, 80),
            ["name                      speed", "graphs/float32/small/one   1.00"]
        );
    }

    #[test]
    fn a_name_loses_what_says_least_of_it() {
        for (name, width, expected) in [
            ("graphs/sub/float32/s0-1_s1-7/vit", 40, "graphs/sub/float32/s0-1_s1-7/vit"),
            ("graphs/sub/float32/s0-1_s1-7/vit", 24, "float32/s0-1_s1-7/vit"),
            ("graphs/sub/float32/s0-1_s1-7/vit", 18, "float32…1_s1-7/vit"),
            ("bfloat16/s0-1_s1-7", 9, "bflo…s1-7"),
            ("residual-add-layer-norm", 11, "resid…-norm"),
            ("残差/加算/正規化", 9, "残差…規化"),
        ] {
            assert_eq!(cut(name, width), expected);
            assert!(display_width(&cut(name, width)) <= width, "{name}");
        }
        assert_eq!(padded("残差", 6) + "|", "残差  |");
    }

    #[test]
    fn a_row_is_one_line_whatever_its_cells_hold() {
        let rows = vec![vec!["a\nok".to_owned(), "1\u{9b}".to_owned()]];
        assert_eq!(table(&["name", "speed"], &rows, 80), ["name     speed", "a\\nok  1\\u{9b}"]);
    }

    #[test]
    fn text_wraps_at_spaces_after_its_indent() {
        assert_eq!(wrap("one two three four five six", 22, "  "), ["  one two three four", "  five six"]);
        assert!(wrap("", 80, "").is_empty());
        assert_eq!(wrap("one\nerror: two\u{2028}", 80, "  "), ["  one\\nerror: two\\u{2028}"]);
        assert_eq!(entry("ok  ", 4, "one two three four five", 24), ["ok  one two three four", "    five"]);
        assert_eq!(entry("ok  ", 4, "", 24), ["ok"]);
    }
}
