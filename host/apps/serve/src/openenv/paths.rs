//! Paths of this machine, of which clients hear the last part alone.

use std::path::Path;

/// A text in which absolute paths of this machine are their last parts. A path counts as one of this machine if the first
/// folder of it is here: others were made up by whoever wrote the text, and say nothing.
pub fn without_paths(text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let length = if c == '/' && !is_inside(before) { path_length(rest) } else { 0 };
        let (path, after) = rest.split_at(length);
        match last_part(path) {
            Some(last) => {
                said.push_str(last);
                (before, rest) = ('x', after);
            }
            None => {
                said.push(c);
                (before, rest) = (c, &rest[c.len_utf8()..]);
            }
        }
    }
    said
}

/// Whether a slash after this is part of something longer, such as `a/b`.
fn is_inside(before: char) -> bool {
    before.is_alphanumeric() || "_-./~".contains(before)
}

fn path_length(text: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || "/_-.+@#%=~".contains(c);
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

/// The last part of a path of this machine that has more than one.
fn last_part(path: &str) -> Option<&str> {
    let path = path.trim_end_matches('/');
    let first = path.strip_prefix('/')?.split_once('/')?.0;
    let is_here = !first.is_empty() && Path::new("/").join(first).is_dir();
    path.rsplit('/').next().filter(|_| is_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_path_of_this_machine_the_last_part_is_told_and_nothing_else_changes() {
        let cases = [
            ("cannot read `/tmp/data/episodes/0a/pass.wasm`: no", "cannot read `pass.wasm`: no"),
            ("/usr/lib/x.rs:12:5: error, in (/usr/lib/y.rs)", "x.rs:12:5: error, in (y.rs)"),
            ("\"/tmp/a b\" and file=/tmp/c/d", "\"a b\" and file=d"),
            ("/tmp/a/, in:/tmp/b/c", "a, in:c"),
            // No paths, or none of here.
            (
                "a / b, 1/2, a/tmp/b, https://example.org/tmp/x, /tmp, //",
                "a / b, 1/2, a/tmp/b, https://example.org/tmp/x, /tmp, //",
            ),
            ("/no-such-folder/of/this/machine stays", "/no-such-folder/of/this/machine stays"),
            ("é/tmp/x \u{1f600} /tmp/é", "é/tmp/x \u{1f600} é"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(without_paths(text), expected, "{text}");
        }
    }
}
