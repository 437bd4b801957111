//! Where in its text form a refused kernel is wrong.

use super::Kernel;
use std::fmt;

/// A line of a kernel's text form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelLine {
    /// The axes; of what is wrong with the kernel as a whole as well.
    Space,
    /// An input.
    Input(usize),
    /// An index expression.
    Index(u32),
    /// An instruction.
    Inst(u32),
    /// A store, counted from 0.
    Store(usize),
}

impl KernelLine {
    /// What it is called in front of what is wrong with it; nothing of the kernel as a whole.
    pub(super) fn subject(self) -> String {
        match self {
            KernelLine::Space => String::new(),
            KernelLine::Input(input) => format!("input x{input}"),
            KernelLine::Index(index) => format!("index i{index}"),
            KernelLine::Inst(at) => format!("v{at}"),
            KernelLine::Store(store) => format!("store {store}"),
        }
    }
}

impl fmt::Display for KernelLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelLine::Space => f.write_str("space"),
            KernelLine::Input(input) => write!(f, "in x{input}"),
            KernelLine::Index(index) => write!(f, "i{index}"),
            KernelLine::Inst(at) => write!(f, "v{at}"),
            KernelLine::Store(store) => write!(f, "out {store}"),
        }
    }
}

/// Lines before the one that is to blame, and after it.
const BEFORE: usize = 6;
const AFTER: usize = 2;

/// The text form of a kernel around a place, with carets under that line; `...` stands for what is left out.
pub fn excerpt(kernel: &Kernel, place: KernelLine) -> Vec<String> {
    let text = kernel.to_string();
    let lines: Vec<&str> = text.lines().collect();
    let is_blamed = |line: &&str| begins_with(line.trim_start(), place);
    let found = match place {
        KernelLine::Store(store) => lines.iter().enumerate().filter(|(_, line)| is_blamed(line)).nth(store),
        _ => lines.iter().enumerate().find(|(_, line)| is_blamed(line)),
    };
    let Some((at, _)) = found else { return vec![] };
    let (first, last) = (at.saturating_sub(BEFORE), (at + AFTER + 1).min(lines.len()));
    let mut shown = vec![];
    if first > 0 {
        shown.push("  ...".to_owned());
    }
    for (position, line) in lines.iter().enumerate().take(last).skip(first) {
        shown.push((*line).to_owned());
        if position == at {
            shown.push(carets(line, line.trim_start()));
        }
    }
    if last < lines.len() {
        shown.push("  ...".to_owned());
    }
    shown
}

/// Carets under the part of a line, or under all of it where it has no such part. A name in which it begins or ends is
/// another one.
pub(crate) fn carets(line: &str, part: &str) -> String {
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let is_whole = |start: &usize| {
        let joins = |a: Option<char>, b: Option<char>| a.is_some_and(is_of_name) && b.is_some_and(is_of_name);
        let (before, after) = (&line[..*start], &line[start + part.len()..]);
        !joins(before.chars().next_back(), part.chars().next())
            && !joins(part.chars().next_back(), after.chars().next())
    };
    let mut places = line.match_indices(part).map(|(start, _)| start);
    let (start, count) = match places.find(is_whole).filter(|_| !part.is_empty()) {
        Some(start) => (line[..start].chars().count(), part.chars().count()),
        None => (indent, line.chars().count().saturating_sub(indent)),
    };
    format!("{}{}", " ".repeat(start), "^".repeat(count))
}

/// Whether a character is one of a name: of a value, or of an op with its overload.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_.:".contains(c)
}

fn begins_with(line: &str, place: KernelLine) -> bool {
    let name = if matches!(place, KernelLine::Store(_)) { "out".to_owned() } else { place.to_string() };
    line.strip_prefix(&name).is_some_and(|rest| rest.starts_with([' ', ':']))
}

#[cfg(test)]
mod tests {
    use super::carets;

    #[test]
    fn carets_stand_under_the_name_that_is_meant() {
        for (line, part, expected) in [
            ("#1 %x1: f32[4] = kernel(%x10, %x)", "%x", "                              ^^"),
            ("#1 %y: f32[4] = aten::add_(%x)", "aten::add", "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"),
            ("#1 %y: f32[4] = aten::add.Tensor(%x, %x)", "aten::add.Tensor", "                ^^^^^^^^^^^^^^^^"),
            (
                "#1 %aten: f32[4] = xaten::neg(%aten), aten::neg",
                "aten::neg",
                "                                      ^^^^^^^^^",
            ),
            ("  #1 %y: f32[4] = kernel(%x)", "%z", "  ^^^^^^^^^^^^^^^^^^^^^^^^^^"),
            ("#1 %y: f32[4]{2} = aten::neg(%x)", "%y: f32[4]", "   ^^^^^^^^^^"),
        ] {
            assert_eq!(carets(line, part), expected, "{part} in {line}");
        }
    }
}
