//! What may be said, as JSON schemas.

use super::wire::WAIT;
use passhost_workshop::{Description, descriptions};
use serde_json::{Value, json};

/// Schemas of actions, observations and states.
pub fn all() -> Value {
    json!({ "action": action(), "observation": observation(), "state": state() })
}

/// A call of a tool. Each brings its arguments.
fn action() -> Value {
    let tools = descriptions();
    let names = tools.iter().map(|tool| tool.name).chain([WAIT]);
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
    json!({
        "title": "PasshostAction",
        "description": "A call of a tool, such as {\"tool\": \"build\"} or {\"tool\": \"write_pass\", \"arguments\": {\"source\": \"...\"}}",
        "type": "object",
        "required": ["tool"],
        "additionalProperties": false,
        "properties": {
            "tool": { "type": "string", "enum": names.collect::<Vec<_>>(), "description": text },
            "arguments": { "type": "object", "description": "Of the tool; absent where it takes none" },
            "metadata": { "type": "object", "description": "Is not looked at" },
        },
        "allOf": cases.collect::<Vec<_>>(),
    })
}

fn observation() -> Value {
    let number = || json!({ "type": "number" });
    let verdict = json!({
        "type": ["object", "null"],
        "description": "What an evaluation found, where this step evaluated, or the episode ended without steps left",
        "required": ["score", "aggregate_score", "aggregate_score_strict", "verifies", "right", "findings"],
        "properties": {
            "score": { "type": "number", "description": "The headline of the server's policy" },
            "aggregate_score": number(),
            "aggregate_score_strict": number(),
            "verifies": { "type": "boolean", "description": "Whether all graphs that the pass returned may run" },
            "right": { "type": "boolean", "description": "Whether all graphs are right, and nothing was found" },
            "findings": { "type": "integer", "description": "Findings of the integrity checks" },
        },
    });
    object(
        "PasshostObservation",
        &json!({
            "text": { "type": "string", "description": "For the model" },
            "tool": { "type": ["string", "null"], "description": "The tool whose result it is, or that is waited for" },
            "pending": { "type": "boolean", "description": "Whether the tool goes on: `wait` waits for its result" },
            "sample": { "type": "string", "description": "What the episode is about" },
            "steps": { "type": "integer", "description": "Calls so far" },
            "verdict": verdict,
            "source_sha256": { "type": ["string", "null"], "description": "Of the source that is written" },
        }),
    )
}

fn state() -> Value {
    object(
        "PasshostState",
        &json!({
            "episode_id": { "type": ["string", "null"] },
            "step_count": { "type": "integer" },
            "sample": { "type": ["string", "null"] },
            "best_score": { "type": ["number", "null"], "description": "Of all evaluations of the episode" },
            "reward": { "type": "number", "description": "The sum of all rewards; at the end the episode's score" },
            "done": { "type": "boolean" },
        }),
    )
}

fn object(title: &str, properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().into_iter().flat_map(|all| all.keys()).collect();
    json!({ "title": title, "type": "object", "required": names, "properties": properties })
}
