//! Text that a plugin, a sample or a child wrote, made fit for a terminal.

/// Whether a character moves the cursor of a terminal, or hides, reorders or grows over its neighbours: controls, marks of
/// direction, of joining and of annotation, tags, and what combines with the letter before it.
pub fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}' | '\u{fff9}'..='\u{fffb}' | '\u{300}'..='\u{36f}')
}

/// `text` on one line: each unfit character, line breaks included, stands there as its escape in Rust, `\n` or `\u{1b}`.
pub fn escaped(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' | '\r' | '\n' => line.extend(c.escape_default()),
            c if is_unfit(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
}

/// `text` without control characters, terminal escapes and direction marks, white space folded to single spaces, cut to
/// `limit` characters.
pub fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    let mut gap = false;
    for c in Visible::new(text) {
        if c.is_whitespace() {
            gap = length > 0;
            continue;
        }
        if length + usize::from(gap) >= limit {
            line.push('…');
            break;
        }
        if std::mem::take(&mut gap) {
            line.push(' ');
            length += 1;
        }
        line.push(c);
        length += 1;
    }
    line
}

/// `text` as [`one_line`] leaves it, behind the spaces that it begins with.
pub fn indented(text: &str, limit: usize) -> String {
    let indent: String = text.chars().take_while(|c| *c == ' ').take(limit).collect();
    let rest = one_line(text, limit - indent.len());
    indent + &rest
}

/// The lines of `text`, each as [`one_line`] leaves it; at most `count`, empty ones left out.
pub fn lines(text: &str, count: usize) -> Vec<String> {
    text.lines().map(|line| one_line(line, 200)).filter(|line| !line.is_empty()).take(count).collect()
}

/// The characters of a text that move nothing on a terminal: escape sequences are skipped whole.
struct Visible<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl<'a> Visible<'a> {
    fn new(text: &'a str) -> Visible<'a> {
        Visible { rest: text.chars().peekable() }
    }

    /// Skips what follows an escape character: a control sequence up to its final byte, a string up to its terminator,
    /// or a single character.
    fn skip_escape(&mut self) {
        match self.rest.next() {
            Some('[') => while self.rest.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            Some(']' | 'P' | 'X' | '^' | '_') => {
                while let Some(c) = self.rest.next() {
                    if c == '\u{7}' || (c == '\u{1b}' && self.rest.next_if_eq(&'\\').is_some()) {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
}

impl Iterator for Visible<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            match self.rest.next()? {
                '\u{1b}' => self.skip_escape(),
                c if c.is_whitespace() => return Some(' '),
                c if is_unfit(c) => {}
                c => return Some(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_controls_and_direction_marks_are_gone() {
        let cases = [
            ("plain text", "plain text"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "link"),
            ("a\u{202e}b\u{0}c\r\nd\te", "abc d e"),
            ("\u{9b}31mcsi", "31mcsi"),
            ("ends in \u{1b}", "ends in"),
            ("t\u{61c}a\u{e0041}g\u{336}\u{fff9}s", "tags"),
        ];
        for (text, expected) in cases {
            assert_eq!(one_line(text, 100), expected, "{text:?}");
        }
    }

    #[test]
    fn unfit_characters_become_escapes_and_the_others_stay() {
        let cases = [
            ("plain é `text` \\ \"quoted\"", "plain é `text` \\ \"quoted\""),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{1b}[2J\u{7}\u{9b}31m\u{202e}", "\\u{1b}[2J\\u{7}\\u{9b}31m\\u{202e}"),
            ("\u{e0041}\u{2028}e\u{301}", "\\u{e0041}\\u{2028}e\\u{301}"),
        ];
        for (text, expected) in cases {
            assert_eq!(escaped(text), expected);
            assert_eq!(escaped(expected), expected, "there is nothing left to escape");
        }
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        assert_eq!(one_line("abcdef", 3), "abc…");
        assert_eq!(one_line("abc", 3), "abc");
        assert_eq!(indented("   a \u{1b}[2Jb", 5), "   a…");
        assert_eq!(lines("a\n\n\u{1b}[2Jb\nc", 2), ["a", "b"]);
    }
}
