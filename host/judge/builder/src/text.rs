//! Text of a compiler, in which an author's words are, made fit for anybody's terminal.

use passhost_result::untrusted::is_unfit;

/// Replaces what names places of the host by what they are to an author: the longest first.
pub(crate) struct Places(Vec<(String, String)>);

impl Places {
    pub(crate) fn new(names: impl IntoIterator<Item = (String, &'static str)>) -> Places {
        let mut names: Vec<(String, String)> =
            names.into_iter().filter(|(path, _)| path.len() > 1).map(|(path, name)| (path, name.to_owned())).collect();
        names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        Places(names)
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (path, name)| text.replace(path, name))
    }
}

/// The line without what moves a cursor, hides or reorders its neighbours: each such character is one `�`, so that columns
/// stay what they are. A tab is a space.
pub(crate) fn visible(line: &str) -> String {
    let shown = |c: char| match c {
        '\t' => ' ',
        c if is_unfit(c) => '\u{fffd}',
        c => c,
    };
    line.chars().map(shown).collect()
}

/// At most `limit` characters of a text.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_a_terminal_takes_a_column_and_does_nothing() {
        assert_eq!(visible("let\tx = \"\u{1b}[2J\u{202e}\";"), "let x = \"\u{fffd}[2J\u{fffd}\";");
        assert_eq!(visible("\u{9b}31m\u{e0041}é"), "\u{fffd}31m\u{fffd}é");
    }

    #[test]
    fn places_of_the_host_are_named_for_what_they_are() {
        let places =
            Places::new([("/a/b".to_owned(), "<sdk>"), ("/a/b/c".to_owned(), "<toolchain>"), (String::new(), "x")]);
        assert_eq!(places.hide("at /a/b/c/d and /a/b/e"), "at <toolchain>/d and <sdk>/e");
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        assert_eq!((cut("abc", 3), cut("abcd", 3)), ("abc".to_owned(), "abc…".to_owned()));
    }
}
