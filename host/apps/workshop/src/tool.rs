//! The tools: names, descriptions in the form of function calls, and the strict reading of a call.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Characters of a source that are taken.
const SOURCE: usize = 256 << 10;
/// Characters of a part of a name or of a title that are taken.
const PART: usize = 200;

/// A call that can be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// Prints the graphs of the sample, or those whose names contain a text.
    ShowGraph {
        /// Part of a variant's name.
        variant: Option<String>,
    },
    /// Says what the last evaluated pass left alone, and why.
    ShowRefusals,
    /// Replaces the source of the pass.
    WritePass {
        /// A file of Rust.
        source: String,
    },
    /// Compiles the source.
    Build,
    /// Runs the pass on the graphs and verifies what it returns, without running that.
    Check,
    /// Evaluates the pass.
    Eval,
    /// Prints how to write a pass, or one section of that.
    ReadGuide {
        /// Part of the section's title.
        section: Option<String>,
    },
    /// Hands in the pass, and ends the attempt.
    Submit,
}

/// Why a call is none. The text is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// No such tool.
    #[error("there is no tool `{name}`; call one of {}", NAMES.join(", "))]
    Unknown {
        /// As it was called.
        name: String,
    },
    /// What stands in place of arguments is no JSON object.
    #[error("the arguments of {tool} are no JSON object ({reason}); write them as {example}")]
    NotJson {
        /// The tool.
        tool: &'static str,
        /// What the parser said.
        reason: String,
        /// Arguments that would do.
        example: &'static str,
    },
    /// An argument is missing, unknown or of another type.
    #[error("{tool} does not take these arguments: {reason}; write them as {example}")]
    Arguments {
        /// The tool.
        tool: &'static str,
        /// What is wrong.
        reason: String,
        /// Arguments that would do.
        example: &'static str,
    },
    /// The source has more than anybody reads.
    #[error("the source has {found} characters, of which {SOURCE} are taken; write a shorter pass")]
    Long {
        /// Its characters.
        found: usize,
    },
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// By which it is called.
    pub name: &'static str,
    /// What it does, in a sentence or two.
    pub text: &'static str,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

const NAMES: &[&str] = &["show_graph", "show_refusals", "write_pass", "build", "check", "eval", "read_guide", "submit"];

/// All tools.
pub fn descriptions() -> Vec<Description> {
    let nothing = || object(json!({}), &[]);
    let text = |what: &str| json!({"type": "string", "description": what});
    let all: [(&str, Value); 8] = [
        (
            "Prints the graphs of the sample as text.",
            object(json!({"variant": text("part of the name of the variants to print; the first one if absent")}), &[]),
        ),
        ("Says which nodes the pass left alone in the last evaluation, and why; also what it logged.", nothing()),
        (
            "Replaces the source of the pass: one Rust file, all of it. Nothing is compiled yet.",
            object(json!({"source": text("the whole file, with `use` lines and `register!`")}), &["source"]),
        ),
        ("Compiles the source, and says what the compiler has against it.", nothing()),
        (
            "Runs the pass on every graph of the sample and verifies the graphs that it returns; measures nothing.",
            nothing(),
        ),
        (
            "Evaluates the pass on the sample: whether its results are right, how fast they are, and the score. The same source gets the same answer.",
            nothing(),
        ),
        (
            "Prints how to write a pass, or one section of that.",
            object(json!({"section": text("part of the title of a section, such as `Errors`")}), &[]),
        ),
        ("Hands in the source as it is and ends the attempt. Its score is that of the attempt.", nothing()),
    ];
    let described = NAMES.iter().zip(all);
    described.map(|(&name, (text, parameters))| Description { name, text, parameters }).collect()
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowGraph {
    #[serde(default)]
    variant: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WritePass {
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadGuide {
    #[serde(default)]
    section: Option<String>,
}

impl Tool {
    /// Reads a call: the name of a tool and its arguments as JSON text, of which nothing at all means none.
    ///
    /// # Errors
    ///
    /// If it cannot be executed, in words that say what to do.
    pub fn parse(name: &str, arguments: &str) -> Result<Tool, ToolError> {
        let nothing = |tool: &'static str| read::<Nothing>(tool, arguments, "{}");
        match name {
            "show_graph" => {
                let example = r#"{"variant": "float16"}"#;
                let ShowGraph { variant } = read("show_graph", arguments, example)?;
                Ok(Tool::ShowGraph { variant: part("show_graph", "variant", variant, example)? })
            }
            "show_refusals" => nothing("show_refusals").map(|_| Tool::ShowRefusals),
            "write_pass" => {
                let WritePass { source } = read("write_pass", arguments, r#"{"source": "use passhost_guest_sdk..."}"#)?;
                let found = source.chars().count();
                if found > SOURCE { Err(ToolError::Long { found }) } else { Ok(Tool::WritePass { source }) }
            }
            "build" => nothing("build").map(|_| Tool::Build),
            "check" => nothing("check").map(|_| Tool::Check),
            "eval" => nothing("eval").map(|_| Tool::Eval),
            "read_guide" => {
                let example = r#"{"section": "Errors"}"#;
                let ReadGuide { section } = read("read_guide", arguments, example)?;
                Ok(Tool::ReadGuide { section: part("read_guide", "section", section, example)? })
            }
            "submit" => nothing("submit").map(|_| Tool::Submit),
            _ => Err(ToolError::Unknown { name: passhost_result::untrusted::one_line(name, 60) }),
        }
    }
}

/// A part of a name or of a title. It becomes an argument of a command, which has no place for every text.
fn part(
    tool: &'static str,
    argument: &str,
    text: Option<String>,
    example: &'static str,
) -> Result<Option<String>, ToolError> {
    let is_long = |text: &String| text.chars().nth(PART).is_some();
    if text.as_ref().is_some_and(|text| is_long(text) || text.contains(char::is_control)) {
        let reason = format!("`{argument}` has control characters, or more than {PART} characters");
        return Err(ToolError::Arguments { tool, reason, example });
    }
    Ok(text)
}

/// Reads arguments, first as any object, so that what is no JSON is told from what is another object.
fn read<T: DeserializeOwned>(tool: &'static str, arguments: &str, example: &'static str) -> Result<T, ToolError> {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let object: serde_json::Map<String, Value> = serde_json::from_str(arguments)
        .map_err(|error| ToolError::NotJson { tool, reason: error.to_string(), example })?;
    serde_json::from_value(Value::Object(object)).map_err(|error| {
        let reason = passhost_result::untrusted::one_line(&error.to_string(), 200);
        ToolError::Arguments { tool, reason, example }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_is_described_is_read_and_takes_no_others_arguments() {
        for description in descriptions() {
            let arguments = if description.name == "write_pass" { r#"{"source": "x"}"# } else { "" };
            assert!(Tool::parse(description.name, arguments).is_ok(), "{}", description.name);
            let error = Tool::parse(description.name, r#"{"source": "x", "path": "/etc/passwd"}"#);
            assert!(matches!(error, Err(ToolError::Arguments { .. })), "{error:?}");
            assert_eq!(description.parameters["additionalProperties"], false);
        }
    }

    #[test]
    fn a_call_that_cannot_be_executed_says_what_to_write() {
        let cases = [
            ("compile", "{}", "call one of show_graph, show_refusals, write_pass, build"),
            ("write_pass", "fn main() {}", r#"write them as {"source": "#),
            ("write_pass", "{}", "missing field `source`"),
            ("write_pass", r#"{"source": 3}"#, "expected a string"),
            ("build", "[]", "no JSON object"),
            ("eval", r#"{"seed": 3}"#, "unknown field `seed`"),
            ("show_graph", r#"{"variant": "a\u0000"}"#, "`variant` has control characters"),
            ("show_graph", &format!(r#"{{"variant": "{}"}}"#, "x".repeat(128 << 10)), "more than 200 characters"),
            ("read_guide", r#"{"section": "a\nb"}"#, "`section` has control characters"),
            ("read_guide", &format!(r#"{{"section": "{}"}}"#, "x".repeat(PART + 1)), "more than 200 characters"),
        ];
        for (name, arguments, expected) in cases {
            let error = Tool::parse(name, arguments).map_err(|error| error.to_string()).err().unwrap_or_default();
            assert!(error.contains(expected), "{name} {arguments}: {error}");
        }
        let longest = "ä".repeat(PART);
        let call = serde_json::json!({"variant": longest}).to_string();
        assert_eq!(Tool::parse("show_graph", &call), Ok(Tool::ShowGraph { variant: Some(longest) }));
        let long = serde_json::json!({"source": "x".repeat(SOURCE + 1)}).to_string();
        assert_eq!(Tool::parse("write_pass", &long), Err(ToolError::Long { found: SOURCE + 1 }));
    }
}
