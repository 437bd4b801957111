//! What an author needs of rustc's diagnostics.

use crate::text::{Places, cut, visible};
use serde::{Deserialize, Serialize};

/// Characters that a message, a label, a note or a line of the source is cut to.
const LONG: usize = 600;
const LINE: usize = 160;
/// Notes and suggestions of one diagnostic.
const NOTES: usize = 4;
/// Places of one diagnostic beside its own.
const RELATED: usize = 3;

/// How grave it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The source does not compile.
    Error,
    /// It does.
    Warning,
}

/// Something that the compiler says of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How grave it is.
    pub level: Level,
    /// `E0308`, or the name of a lint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// In one sentence.
    pub message: String,
    /// Where, if that is in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Excerpt>,
    /// Other places that it follows from, such as the borrow that is in the way of another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Excerpt>,
    /// More about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A place of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// The file, relative to the source.
    pub file: String,
    /// From 1 on.
    pub line: usize,
    /// In characters, from 1 on.
    pub column: usize,
    /// The line itself.
    pub text: String,
    /// Characters from `column` on that are meant.
    pub length: usize,
    /// What is said of them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
}

/// A line of rustc's JSON, as far as it is used.
#[derive(Deserialize)]
struct Raw {
    message: String,
    #[serde(default)]
    code: Option<RawCode>,
    level: String,
    #[serde(default)]
    spans: Vec<RawSpan>,
    #[serde(default)]
    children: Vec<Raw>,
}

#[derive(Deserialize)]
struct RawCode {
    code: String,
}

#[derive(Deserialize)]
struct RawSpan {
    file_name: String,
    line_start: usize,
    line_end: usize,
    column_start: usize,
    column_end: usize,
    is_primary: bool,
    text: Vec<RawText>,
    label: Option<String>,
    suggested_replacement: Option<String>,
    expansion: Option<Box<RawExpansion>>,
}

#[derive(Deserialize)]
struct RawExpansion {
    span: RawSpan,
}

#[derive(Deserialize)]
struct RawText {
    text: String,
}

/// The diagnostics of what rustc printed, errors first. Lines that are none are left out; of those that are nested deeper
/// than anybody reads, as macros within macros make them, is said how many there are.
pub(crate) fn read(printed: &str, places: &Places) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = vec![];
    let mut too_deep = [(Level::Error, 0), (Level::Warning, 0)];
    for line in printed.lines().filter(|line| line.starts_with('{')) {
        match serde_json::from_str::<Raw>(line) {
            Ok(raw) => found.extend(reduce(&raw, places)),
            Err(_) => too_deep[usize::from(!line.contains(r#""level":"error"#))].1 += 1,
        }
    }
    found.extend(too_deep.into_iter().filter(|(_, count)| *count > 0).map(|(level, count)| unread(level, count)));
    found.sort_by_key(|diagnostic| diagnostic.level);
    found
}

/// So many diagnostics that cannot be shown.
fn unread(level: Level, count: usize) -> Diagnostic {
    let (what, are) = match (level, count) {
        (Level::Error, 1) => ("error", "is"),
        (Level::Error, _) => ("errors", "are"),
        (Level::Warning, 1) => ("warning", "is"),
        (Level::Warning, _) => ("warnings", "are"),
    };
    Diagnostic {
        level,
        code: None,
        message: format!("{count} {what} within many levels of macros {are} left out"),
        place: None,
        related: vec![],
        notes: vec!["what a macro of fewer levels makes is shown; write out what this one becomes".to_owned()],
    }
}

fn reduce(raw: &Raw, places: &Places) -> Option<Diagnostic> {
    let level = match raw.level.as_str() {
        "error" | "error: internal compiler error" => Level::Error,
        "warning" => Level::Warning,
        _ => return None,
    };
    // How many there are is seen, and says nothing.
    if raw.spans.is_empty() && (raw.message.starts_with("aborting due to") || raw.message.ends_with("emitted")) {
        return None;
    }
    let tidy = |text: &str| sentence(text, places);
    let code = raw.code.as_ref().map(|code| tidy(&code.code));
    let mut notes: Vec<String> = raw.children.iter().flat_map(|child| notes(child, places)).take(NOTES).collect();
    notes.extend(hint(code.as_deref(), &raw.message).map(str::to_owned));
    let primary = raw.spans.iter().find(|span| span.is_primary).or(raw.spans.first());
    let labelled = raw.spans.iter().filter(|span| !span.is_primary && span.label.is_some());
    let mut related: Vec<Excerpt> = labelled.map(|span| excerpt(of_author(span), places)).collect();
    let place = primary.map(|span| excerpt(of_author(span), places));
    // What is no file of the source is nothing that its author can change.
    let is_source = |other: &Excerpt| !other.text.is_empty() && !other.file.starts_with(['/', '<']);
    related.retain(|other| is_source(other) && Some(other) != place.as_ref());
    related.sort_by_key(|other| other.line);
    related.truncate(RELATED);
    Some(Diagnostic { level, code, message: tidy(&raw.message), place, related, notes })
}

/// Where the author wrote what became of a macro.
fn of_author(span: &RawSpan) -> &RawSpan {
    match &span.expansion {
        Some(expansion) if span.file_name.starts_with('/') || span.text.is_empty() => of_author(&expansion.span),
        _ => span,
    }
}

fn excerpt(span: &RawSpan, places: &Places) -> Excerpt {
    let text = span.text.first().map_or("", |line| line.text.as_str());
    let end = if span.line_end == span.line_start { span.column_end } else { text.chars().count() + 1 };
    // A line that is longer than a terminal is shown from before the place on.
    let skipped = if span.column_start > LINE { span.column_start - LINE / 4 } else { 0 };
    let shown: String = text.chars().skip(skipped).collect();
    Excerpt {
        file: sentence(&span.file_name, places),
        line: span.line_start,
        column: span.column_start,
        text: cut(&visible(&shown), LINE),
        length: end.saturating_sub(span.column_start).clamp(1, LINE),
        label: span.label.as_deref().map(|label| sentence(label, places)).unwrap_or_default(),
    }
}

/// What a note or a suggestion says, with the text that is suggested.
fn notes(child: &Raw, places: &Places) -> Option<String> {
    let replacements = child.spans.iter().filter_map(|span| span.suggested_replacement.as_deref());
    let replacements: Vec<&str> = replacements.filter(|text| !text.trim().is_empty()).collect();
    let suggested = match replacements.as_slice() {
        [] => String::new(),
        all => format!(": `{}`", all.join("`, `").trim()),
    };
    // How lints are switched on is no help, and neither is what the linker was called with.
    let starts = [
        "`#[warn(",
        "`#[deny(",
        "\"",
        "some arguments are omitted",
        "the full name for the type has been written to",
        "the full type name has been written to",
        "consider using `--verbose`",
    ];
    // Where a thing of the SDK is defined is a place that no author sees.
    let idle = starts.iter().any(|start| child.message.trim_start().starts_with(start))
        || child.message.ends_with("defined here");
    (!idle && !child.message.is_empty()).then(|| sentence(&format!("{}{suggested}", child.message), places))
}

fn sentence(text: &str, places: &Places) -> String {
    let text = places.hide(text);
    let folded: Vec<&str> = text.split_whitespace().collect();
    cut(&visible(&folded.join(" ")), LONG)
}

/// What the rules of a build have to do with a diagnostic.
fn hint(code: Option<&str>, message: &str) -> Option<&'static str> {
    let reads = message.starts_with("couldn't read") || message.contains("environment variable");
    Some(match code {
        Some("E0463" | "E0432" | "E0433") if message.contains("crate") => {
            "a build has std and passhost_guest_sdk, and no other crates"
        }
        Some("E0554") => "a build has stable Rust, without features of nightly ones",
        Some("E0583") => "a file that is built alone has no others; give the directory of a crate for several",
        _ if reads => {
            "a build sees no file but those of the source, and no variables; write what is needed into the source"
        }
        _ if message.starts_with("linking with") => "a build links nothing but std and passhost_guest_sdk",
        _ => return None,
    })
}

impl Diagnostic {
    /// As a terminal shows it: the message, the place, the line with what is meant underlined, and notes.
    pub fn lines(&self) -> Vec<String> {
        let level = if self.level == Level::Error { "error" } else { "warning" };
        let code = self.code.as_ref().map(|code| format!("[{code}]")).unwrap_or_default();
        let mut lines = vec![format!("{level}{code}: {}", self.message)];
        lines.extend(self.place.iter().flat_map(|place| place.lines("-->", '^')));
        let own = self.place.as_ref().map(|place| &place.file);
        let arrow = |other: &Excerpt| if Some(&other.file) == own { "" } else { ":::" };
        lines.extend(self.related.iter().flat_map(|other| other.lines(arrow(other), '-')));
        lines.extend(self.notes.iter().map(|note| format!("  = {note}")));
        lines
    }
}

impl Excerpt {
    /// The line with what is meant underlined, behind its place where there is an arrow to it.
    fn lines(&self, arrow: &str, mark: char) -> Vec<String> {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let mut lines = vec![];
        if !arrow.is_empty() {
            lines.push(format!("{margin}{arrow} {}:{}:{}", self.file, self.line, self.column));
        }
        if !self.text.is_empty() {
            let before = if self.column > LINE { LINE / 4 } else { self.column };
            let marks = mark.to_string().repeat(self.length);
            let under = format!("{}{marks} {}", " ".repeat(before.saturating_sub(1)), self.label);
            lines.push(format!("{number} | {}", self.text));
            lines.push(format!("{margin} | {}", under.trim_end()));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// As rustc prints it, with what is not read left out.
    const MISMATCH: &str = r#"{"message":"mismatched types","code":{"code":"E0308","explanation":"..."},"level":"error","spans":[{"file_name":"gate.rs","line_start":12,"line_end":12,"column_start":19,"column_end":22,"is_primary":true,"text":[{"text":"    let x: u8 = \t\"a\u001b\";","highlight_start":19,"highlight_end":22}],"label":"expected `u8`, found `&str`","suggested_replacement":null,"expansion":null}],"children":[{"message":"`#[deny(x)]` on by default","level":"note","spans":[],"children":[]},{"message":"write a byte","level":"help","spans":[{"file_name":"gate.rs","line_start":12,"line_end":12,"column_start":19,"column_end":22,"is_primary":true,"text":[],"label":null,"suggested_replacement":"b'a'","expansion":null}],"children":[]}]}"#;
    const ELSEWHERE: &str = r#"{"message":"couldn't read `/tmp/build/source/data`: Permission denied","code":null,"level":"error","spans":[],"children":[]}"#;
    const WARNING: &str = r#"{"message":"unused variable: `y`","code":{"code":"unused_variables"},"level":"warning","spans":[],"children":[]}"#;
    const COUNT: &str =
        r#"{"message":"aborting due to 2 previous errors","code":null,"level":"error","spans":[],"children":[]}"#;

    #[test]
    fn what_macros_bury_is_counted() {
        const SPAN: &str = r#"{"file_name":"gate.rs","line_start":1,"line_end":1,"column_start":1,"column_end":2,"is_primary":true,"text":[],"label":null,"suggested_replacement":null,"expansion":"#;
        let buried = |level: &str, depth: usize| {
            let span = format!("{}null{}", format!("{SPAN}{{\"span\":").repeat(depth) + SPAN, "}}".repeat(depth) + "}");
            format!(r#"{{"message":"mismatched types","code":null,"level":"{level}","spans":[{span}],"children":[]}}"#)
        };
        let printed =
            [buried("warning", 200), buried("error", 20), buried("error", 100), buried("error", 200)].join("\n");
        let messages: Vec<String> =
            read(&printed, &Places::new([])).into_iter().map(|diagnostic| diagnostic.message).collect();
        assert_eq!(
            messages,
            [
                "mismatched types",
                "2 errors within many levels of macros are left out",
                "1 warning within many levels of macros is left out"
            ]
        );
    }

    #[test]
    fn what_is_in_the_way_is_shown_and_what_lies_elsewhere_is_not() {
        let span = |file: &str, line: usize, is_primary: bool, text: &str, label: &str| {
            format!(
                r#"{{"file_name":"{file}","line_start":{line},"line_end":{line},"column_start":5,"column_end":10,"is_primary":{is_primary},"text":[{{"text":"{text}"}}],"label":"{label}","suggested_replacement":null,"expansion":null}}"#
            )
        };
        let spans = [
            span("pass.rs", 9, true, "    rewriter.refuse(nodes);", "mutable borrow occurs here"),
            span("pass.rs", 12, false, "    graph.nodes.len();", "immutable borrow later used here"),
            span("pass.rs", 7, false, "    rewriter.graph();", "immutable borrow occurs here"),
            span("edit.rs", 20, false, "    fn edit();", "its signature"),
            span("/rustc/library/core/src/a.rs", 30, false, "    fn of_core();", "similarly named"),
        ];
        let children = ["method defined here", "consider using `--verbose` to print the full type name"]
            .map(|message| format!(r#"{{"message":"{message}","level":"note","spans":[],"children":[]}}"#));
        let printed = format!(
            r#"{{"message":"cannot borrow `*rewriter` as mutable","code":{{"code":"E0502"}},"level":"error","spans":[{}],"children":[{}]}}"#,
            spans.join(","),
            children.join(",")
        );
        let lines: Vec<String> = read(&printed, &Places::new([])).iter().flat_map(Diagnostic::lines).collect();
        expect![[r#"
            error[E0502]: cannot borrow `*rewriter` as mutable
             --> pass.rs:9:5
            9 |     rewriter.refuse(nodes);
              |     ^^^^^ mutable borrow occurs here
            7 |     rewriter.graph();
              |     ----- immutable borrow occurs here
            12 |     graph.nodes.len();
               |     ----- immutable borrow later used here
              ::: edit.rs:20:5
            20 |     fn edit();
               |     ----- its signature
        "#]]
        .assert_eq(&(lines.join("\n") + "\n"));
    }

    #[test]
    fn an_author_sees_what_where_and_what_to_do() {
        let printed = [WARNING, "thread 'rustc' says something", MISMATCH, ELSEWHERE, COUNT].join("\n");
        let places = Places::new([("/tmp/build/source/".to_owned(), "")]);
        let lines: Vec<String> = read(&printed, &places).iter().flat_map(Diagnostic::lines).collect();
        expect![[r#"
            error[E0308]: mismatched types
              --> gate.rs:12:19
            12 |     let x: u8 =  "a�";
               |                   ^^^ expected `u8`, found `&str`
              = write a byte: `b'a'`
            error: couldn't read `data`: Permission denied
              = a build sees no file but those of the source, and no variables; write what is needed into the source
            warning[unused_variables]: unused variable: `y`
        "#]]
        .assert_eq(&(lines.join("\n") + "\n"));
    }
}
