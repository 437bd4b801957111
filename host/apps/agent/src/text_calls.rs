//! Calls of tools in plain text, for models and endpoints that have no format for them.
//!
//! A call is a fenced block of the language `tool`, with a JSON object in it; a block of the language `rust` writes the
//! pass, so that no model has to escape a source.

use crate::wire::{CALLS, FunctionCall, ToolCall};
use passhost_agent_tools::descriptions;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct TextCall {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// The calls in a message, in their order.
pub fn read(text: &str) -> Vec<ToolCall> {
    let mut calls = vec![];
    let mut block: Option<(&str, String)> = None;
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), block.take()) {
            (Some(_), Some((language, body))) => calls.extend(call(language, &body)),
            (Some(language), None) => block = Some((language.trim(), String::new())),
            (None, Some((language, body))) => block = Some((language, body + line + "\n")),
            (None, None) => {}
        }
    }
    let numbered = calls.into_iter().take(CALLS).enumerate();
    let named = numbered.map(|(index, function)| ToolCall {
        id: format!("text_{index}"),
        kind: "function".to_owned(),
        function,
    });
    named.collect()
}

/// A call that is no JSON is one of which the tool says so.
fn call(language: &str, body: &str) -> Option<FunctionCall> {
    match language {
        "rust" => Some(FunctionCall { name: "write_pass".to_owned(), arguments: json!({"source": body}).to_string() }),
        "tool" => Some(match serde_json::from_str::<TextCall>(body) {
            Ok(TextCall { name, arguments: Value::Null }) => FunctionCall { name, arguments: "{}".to_owned() },
            Ok(TextCall { name, arguments }) => FunctionCall { name, arguments: arguments.to_string() },
            Err(error) => FunctionCall { name: format!("(no JSON: {error})"), arguments: body.to_owned() },
        }),
        _ => None,
    }
}

/// How a model is told to call tools.
pub fn instructions() -> String {
    let mut text = String::from(
        "Call a tool by a fenced block of the language `tool` that holds one JSON object, such as\n\n\
         ```tool\n{\"name\": \"show_graph\", \"arguments\": {}}\n```\n\n\
         Write the pass as a block of the language `rust`: it is the same as a call of `write_pass`. Several blocks in one \
         message are executed in their order. The tools are:\n\n",
    );
    for tool in descriptions() {
        let names: Vec<&String> =
            tool.parameters["properties"].as_object().into_iter().flat_map(|all| all.keys()).collect();
        let arguments: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let takes = if arguments.is_empty() { String::new() } else { format!(" Takes {}.", arguments.join(", ")) };
        text.push_str(&format!("- `{}`: {}{takes}\n", tool.name, tool.text));
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_calls_in_their_order() {
        let text = "First\n```rust\nfn main() {}\n```\nthen\n  ```tool\n{\"name\": \"build\"}\n```\n\
                    ```text\n{\"name\": \"eval\"}\n```\n```tool\nnonsense\n```\n```tool\n{\"name\": \"submit\"}";
        let calls = read(text);
        let names: Vec<&str> = calls.iter().map(|call| call.function.name.as_str()).collect();
        assert_eq!(names[..2], ["write_pass", "build"]);
        assert!(names[2].starts_with("(no JSON"), "{names:?}");
        assert_eq!(names.len(), 3, "a block that does not end is none");
        let source: Value = serde_json::from_str(&calls[0].function.arguments).unwrap();
        assert_eq!(source["source"], "fn main() {}\n");
        assert_eq!(calls[1].function.arguments, "{}");
    }

    #[test]
    fn the_instructions_are_read_as_they_are_written() {
        assert_eq!(read(&instructions())[0].function.name, "show_graph");
        assert!(instructions().contains("- `read_guide`: "));
    }
}
