//! The tools: names, descriptions in the form of function calls, and the strict reading of a call.

use passhost_result::untrusted::one_line;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Characters of a source that are taken.
const SOURCE: usize = 256 << 10;
/// Characters of a part of a name or of a title that are taken.
const PART: usize = 200;

/// A call that can be executed, as an object of its arguments under the name of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Tool {
    /// Prints the graphs of the sample, or those whose names contain a text.
    ShowGraph {
        /// Part of a variant's name.
        #[serde(default)]
        variant: Option<String>,
    },
    /// Says what the last evaluated pass left alone, and why.
    ShowRefusals {},
    /// Replaces the source of the pass.
    WritePass {
        /// A file of Rust.
        source: String,
    },
    /// Compiles the source.
    Build {},
    /// Runs the pass on the graphs and verifies what it returns, without running that.
    Check {},
    /// Evaluates the pass.
    Eval {},
    /// Prints how to write a pass, or one section of that.
    ReadGuide {
        /// Part of the section's title.
        #[serde(default)]
        section: Option<String>,
    },
    /// Says what is known of an op.
    Ops {
        /// Its name, with its overload or without.
        name: String,
    },
    /// Hands in a pass, and ends the attempt.
    Submit {
        /// Which pass.
        #[serde(default)]
        which: Which,
    },
}

/// Of the passes of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// The source as it is.
    #[default]
    Current,
    /// That of the highest score so far; the source as it is, if nothing was evaluated.
    Best,
}

/// Why a call is none. The text is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// No such tool.
    #[error("there is no tool `{0}`; call one of {names}", names = TOOLS.map(|(name, _)| name).join(", "))]
    Unknown(String),
    /// What stands in place of arguments is no JSON object.
    #[error("the arguments of {0} are no JSON object ({1}); write them as {2}")]
    NotJson(&'static str, String, &'static str),
    /// An argument is missing, unknown or of another type.
    #[error("{0} does not take these arguments: {1}; write them as {2}")]
    Arguments(&'static str, String, &'static str),
    /// The source has more than anybody reads.
    #[error("the source has {0} characters, of which {SOURCE} are taken; write a shorter pass")]
    Long(usize),
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Description {
    /// By which it is called.
    pub name: String,
    /// What it does, in a sentence or two.
    pub text: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// Names of tools, and arguments that each would take.
const TOOLS: [(&str, &str); 9] = [
    ("show_graph", r#"{"variant": "float16"}"#),
    ("show_refusals", "{}"),
    ("write_pass", r#"{"source": "use passhost_guest_sdk..."}"#),
    ("build", "{}"),
    ("check", "{}"),
    ("eval", "{}"),
    ("read_guide", r#"{"section": "Errors"}"#),
    ("ops", r#"{"name": "aten::gelu"}"#),
    ("submit", r#"{"which": "best"}"#),
];

/// All tools, as `tools.json` has them.
pub fn descriptions() -> Vec<Description> {
    // The text is ours, and a test reads it.
    serde_json::from_str(include_str!("tools.json")).unwrap_or_default()
}

impl Tool {
    /// Reads a call: the name of a tool and its arguments as JSON text, of which nothing at all means none.
    ///
    /// # Errors
    ///
    /// If it cannot be executed, in words that say what to do.
    pub fn parse(name: &str, arguments: &str) -> Result<Tool, ToolError> {
        let known = TOOLS.into_iter().find(|(known, _)| *known == name);
        let (tool, example) = known.ok_or_else(|| ToolError::Unknown(one_line(name, 60)))?;
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        // First as any object, so that what is no JSON is told from what is another object.
        let object: Map<String, Value> =
            serde_json::from_str(arguments).map_err(|error| ToolError::NotJson(tool, error.to_string(), example))?;
        let wrong = |reason| ToolError::Arguments(tool, reason, example);
        let call: Tool = serde_json::from_value(json!({ tool: object }))
            .map_err(|error| wrong(one_line(&error.to_string(), 200)))?;
        match &call {
            Tool::WritePass { source } => match source.chars().count() {
                found if found > SOURCE => Err(ToolError::Long(found)),
                _ => Ok(call),
            },
            Tool::ShowGraph { variant: Some(text) } if is_unfit(text) => Err(wrong(unfit("variant"))),
            Tool::ReadGuide { section: Some(text) } if is_unfit(text) => Err(wrong(unfit("section"))),
            Tool::Ops { name } if is_unfit(name) => Err(wrong(unfit("name"))),
            _ => Ok(call),
        }
    }
}

/// A part of a name or of a title becomes an argument of a command, which has no place for every text.
fn is_unfit(text: &str) -> bool {
    text.chars().nth(PART).is_some() || text.contains(char::is_control)
}

fn unfit(argument: &str) -> String {
    format!("`{argument}` has control characters, or more than {PART} characters")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_is_described_is_read_and_takes_no_others_arguments() {
        assert_eq!(descriptions().len(), TOOLS.len());
        for description in descriptions() {
            let arguments = match &*description.name {
                "write_pass" => r#"{"source": "x"}"#,
                "ops" => r#"{"name": "gelu"}"#,
                _ => "",
            };
            assert!(Tool::parse(&description.name, arguments).is_ok(), "{}", description.name);
            let error = Tool::parse(&description.name, r#"{"source": "x", "path": "/etc/passwd"}"#);
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
            ("ops", "{}", "missing field `name`"),
            ("submit", r#"{"which": "first"}"#, "unknown variant `first`, expected `current` or `best`"),
            ("ops", r#"{"name": "a\u0000"}"#, "`name` has control characters"),
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
        assert_eq!(Tool::parse("write_pass", &long), Err(ToolError::Long(SOURCE + 1)));
    }
}
