//! Text that nobody trusts, as markup.

use maud::{Markup, html};
use passhost_result::untrusted::{indented, one_line};

/// One line of text that a plugin, a sample or a file wrote, cut to `limit` characters. It stands in a `bdi`, so that letters
/// written from right to left do not move what is beside them.
pub fn untrusted(text: &str, limit: usize) -> Markup {
    html! { bdi { (one_line(text, limit)) } }
}

/// Lines of such text as they are indented, each cut to `limit` characters; of more than `count` lines the others are counted.
pub fn untrusted_lines(text: &str, count: usize, limit: usize) -> Markup {
    let lines: Vec<&str> = text.lines().collect();
    html! {
        pre tabindex="0" {
            @for line in lines.iter().take(count) { bdi { (indented(line, limit)) } "\n" }
            @if lines.len() > count { (lines.len() - count) " more lines" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_neither_markup_nor_moves_what_is_beside_it() {
        for (text, expected) in [
            ("</script><script>alert(1)</script>", "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\" onclick=\"x", "&quot; onclick=&quot;x"),
            ("a\u{202e}b\u{1b}[31mc\u{0}", "abc"),
            ("a&lt;b", "a&amp;lt;b"),
            ("long name", "long n…"),
        ] {
            assert_eq!(untrusted(text, if text == "long name" { 6 } else { 80 }).0, format!("<bdi>{expected}</bdi>"));
        }
    }

    #[test]
    fn lines_keep_their_indent_and_are_counted() {
        let lines = untrusted_lines("a\n  b\u{1b}[2J\nc\nd", 2, 80).0;
        assert_eq!(lines, "<pre tabindex=\"0\"><bdi>a</bdi>\n<bdi>  b</bdi>\n2 more lines</pre>");
    }
}
