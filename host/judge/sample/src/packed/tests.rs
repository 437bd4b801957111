#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

const WHOLE: &str = "passhost task 1
file a/model.py
file b/model.py
lines 2
file x
end
file a/weight_meta.py
lines 0
file b/weight_meta.py
lines 1 unended
last
end
";

fn refusal(text: &str) -> String {
    Packed::parse(text.to_owned(), "task").unwrap_err().to_string()
}

#[test]
fn texts_are_verbatim_whatever_stands_in_them() {
    let packed = Packed::parse(WHOLE.to_owned(), "task").unwrap();
    let expected = [
        ("a/model.py", "file x\nend\n"),
        ("a/weight_meta.py", ""),
        ("b/model.py", "file x\nend\n"),
        ("b/weight_meta.py", "last"),
    ];
    assert_eq!(packed.files().collect::<Vec<_>>(), expected);
    for text in ["", "\n", "a", "a\n", "a\n\n", "\r\n", "\r", " a\t\n b", "lines 3\n", "\u{feff}\u{2028}", "\0"] {
        let files = [("f".to_owned(), text.to_owned()), ("g h".to_owned(), "x\n".to_owned())].into();
        let packed = Packed::pack(&files, "task").unwrap();
        let read = Packed::parse(packed, "task").unwrap();
        assert_eq!((read.text("f"), read.text("g h"), read.text("h")), (Some(text), Some("x\n"), None), "{text:?}");
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    for end in 0..WHOLE.len() {
        assert!(Packed::parse(WHOLE[..end].to_owned(), "task").is_err(), "{end}");
    }
}

#[test]
fn what_is_malformed_is_refused_with_its_line() {
    let long = "x".repeat(PATH_BYTES + 1);
    let file = |path: &str| WHOLE.replacen("b/model.py", path, 1);
    let cases: Vec<(String, &str)> = vec![
        (WHOLE.replace("task 1", "task 2"), "task:1:1: expected `passhost task 1`, which"),
        (
            WHOLE.replace('\n', "\r\n"),
            r#"task:1:1: expected `passhost task 1`, which this version of passhost reads, found "passhost task 1\r""#,
        ),
        (format!("\u{feff}{WHOLE}"), "task:1:1: "),
        (WHOLE.replace("lines 2", "lines 1"), "task:7:1: something behind `end`"),
        (WHOLE.replace("lines 2", "lines 3"), r#"task:8:1: expected `file PATH` or `end`, found "lines 0""#),
        (WHOLE.replace("lines 2", "lines 18446744073709551615"), "of \"a/model.py\" is expected"),
        (WHOLE.replace("lines 2", "lines 99999999999999999999"), "task:4:1: expected `lines N`"),
        (WHOLE.replace("lines 2", "lines -2"), "task:4:1: expected `lines N`"),
        (WHOLE.replace("lines 2", "lines"), "task:4:1: expected `file PATH`, or `lines N`"),
        (WHOLE.replace("lines 0", "lines 0 unended"), "task:8:1: expected a last line that is not empty"),
        (WHOLE.replace("last\n", "\n"), "task:11:1: expected a last line that is not empty"),
        (format!("{WHOLE}end\n"), "task:13:1: something behind `end`"),
        (
            WHOLE.replacen("passhost task 1\n", "passhost task 1\n\n", 1),
            "task:2:1: expected `file PATH` or `end`, found \"\"",
        ),
        (file("a/model.py"), "task:3:1: a second file \"a/model.py\""),
        (file("a/weight_meta.py"), "task:7:1: a second file"),
        (file("a/model.py/x"), "task:3:1: \"a/model.py/x\" beside a file that is a directory"),
        (file("a"), "task:3:1: \"a\" beside a file"),
        (file(&long), "task:3:1: expected a path within the sample"),
        (format!("passhost task 1\n{}", "file x\n".repeat(2)), "task:3:1: a second file"),
    ];
    for (text, expected) in cases {
        let error = refusal(&text);
        assert!(error.contains(expected) && error.contains("if it was edited"), "{expected}: {error}");
    }
    for path in ["", "/etc/passwd", "..", "../x", "a/../x", "a//x", "a/", "./x", "a/./x", "a\tx", "a\u{7f}", "a\u{9b}x"]
    {
        let error = refusal(&file(path));
        assert!(error.contains("task:3:1: expected a path within the sample"), "{path:?}: {error}");
    }
}

#[test]
fn texts_and_files_are_counted_before_they_are_kept() {
    let large = "x".repeat(FILE_BYTES as usize) + "\n";
    let whole = |paths: &str, text: &str| format!("passhost task 1\n{paths}lines 1\n{text}end\n");
    assert!(refusal(&whole("file a\n", &large)).contains("`task/a` has more than the 33554432 bytes"));
    let names = |count: usize| -> String { (0..count).map(|number| format!("file {number}\n")).collect() };
    // A text that many files share counts as often as it would be written.
    assert!(refusal(&whole(&names(33), &large[1..])).contains("`task` has more than the 1073741824 bytes"));
    assert!(Packed::parse(whole(&names(32), &large[1..]), "task").is_ok());
    assert!(refusal(&whole(&names(FILES + 1), "\n")).contains("more than the 50000 files"));
}
