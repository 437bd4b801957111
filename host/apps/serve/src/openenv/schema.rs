//! What may be said, as JSON schemas: `schema.json`, with the tools.

use super::wire::WAIT;
use passhost_agent_tools::{Description, descriptions};
use serde_json::{Value, json};

/// Schemas of actions, observations and states. An action is a call of a tool, each of which brings its arguments.
pub fn all() -> Value {
    // The text is ours, and a test reads it.
    let mut all: Value = serde_json::from_str(include_str!("schema.json")).unwrap_or_default();
    let tools = descriptions();
    let names = tools.iter().map(|tool| tool.name.as_str()).chain([WAIT]);
    let mut text = String::from("What to do.");
    for Description { name, text: what, .. } in &tools {
        text.push_str(&format!(" {name}: {what}"));
    }
    text.push_str(&format!(" {WAIT}: Goes on waiting for a call whose observation is `pending`."));
    let cases = tools.iter().map(|Description { name, parameters, .. }| {
        let needs: &[&str] = if parameters["required"] == json!([]) { &[] } else { &["arguments"] };
        let then = json!({ "properties": { "arguments": parameters }, "required": needs });
        json!({ "if": { "properties": { "tool": { "const": name } } }, "then": then })
    });
    let action = &mut all["action"];
    action["properties"]["tool"]["enum"] = names.collect();
    action["properties"]["tool"]["description"] = text.into();
    action["allOf"] = cases.collect();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_schemas_are_there_and_the_action_names_every_tool() {
        let all = all();
        for (name, title) in
            [("action", "PasshostAction"), ("observation", "PasshostObservation"), ("state", "PasshostState")]
        {
            assert_eq!(all[name]["title"], title);
        }
        assert_eq!(
            all["action"]["properties"]["tool"]["enum"].as_array().map(Vec::len),
            Some(descriptions().len() + 1)
        );
    }
}
