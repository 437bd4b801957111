//! The messages: what clients send, read strictly, and what they are answered.

use passhost_agent_tools::Tool;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Characters of the name that a client gives an episode.
const EPISODE: usize = 255;
/// The call that goes on waiting.
pub const WAIT: &str = "wait";

/// What a client asks.
#[derive(Debug, PartialEq)]
pub enum EpisodeRequest {
    Reset(Reset),
    Step(Map<String, Value>),
    State,
    Close,
}

/// On what an episode is. What is null is absent.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reset {
    /// A sample by its name.
    #[serde(default)]
    pub sample: Option<String>,
    /// Chooses a sample where none is named.
    #[serde(default)]
    pub seed: Option<u64>,
    /// What the client calls the episode.
    #[serde(default)]
    pub episode_id: Option<String>,
}

/// Why a request is not done, in OpenEnv's words and ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeFault {
    pub code: &'static str,
    pub message: String,
}

/// OpenEnv's codes.
impl EpisodeFault {
    pub fn no_json(message: impl Into<String>) -> EpisodeFault {
        EpisodeFault { code: "INVALID_JSON", message: message.into() }
    }

    pub fn unknown(message: impl Into<String>) -> EpisodeFault {
        EpisodeFault { code: "UNKNOWN_TYPE", message: message.into() }
    }

    pub fn invalid(message: impl Into<String>) -> EpisodeFault {
        EpisodeFault { code: "VALIDATION_ERROR", message: message.into() }
    }

    pub fn execution(message: impl Into<String>) -> EpisodeFault {
        EpisodeFault { code: "EXECUTION_ERROR", message: message.into() }
    }

    pub fn session(message: impl Into<String>) -> EpisodeFault {
        EpisodeFault { code: "SESSION_ERROR", message: message.into() }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub enum EpisodeAnswer {
    /// What came of a step, what it is worth, and whether the episode is over.
    Observation {
        observation: Value,
        reward: Option<f64>,
        done: bool,
    },
    State(Value),
    Fault(EpisodeFault),
}

impl EpisodeAnswer {
    pub fn text(&self) -> String {
        let message = match self {
            EpisodeAnswer::Observation { observation, reward, done } => {
                json!({ "type": "observation", "data": { "observation": observation, "reward": reward, "done": done } })
            }
            EpisodeAnswer::State(state) => json!({ "type": "state", "data": state }),
            EpisodeAnswer::Fault(EpisodeFault { code, message }) => {
                json!({ "type": "error", "data": { "message": message, "code": code } })
            }
        };
        message.to_string()
    }
}

impl EpisodeRequest {
    /// Reads a message.
    pub fn read(text: &str) -> Result<EpisodeRequest, EpisodeFault> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| EpisodeFault::no_json(format!("the message is no JSON: {error}")))?;
        let Value::Object(mut message) = value else {
            return Err(EpisodeFault::invalid(r#"a message is a JSON object, such as {"type": "state"}"#));
        };
        let kind = message.remove("type");
        let data = message.remove("data");
        let request = match (kind.as_ref().and_then(Value::as_str), data) {
            (Some("reset"), data) => EpisodeRequest::Reset(reset(data)?),
            (Some("step"), Some(Value::Object(action))) => EpisodeRequest::Step(action),
            (Some("step"), _) => {
                return Err(EpisodeFault::invalid(r#"a step has an action as its `data`, such as {"tool": "build"}"#));
            }
            (Some("state"), None) => EpisodeRequest::State,
            (Some("close"), None) => EpisodeRequest::Close,
            (Some("state" | "close"), Some(_)) => {
                return Err(EpisodeFault::invalid("`state` and `close` have no `data`"));
            }
            _ => return Err(EpisodeFault::unknown("the `type` of a message is reset, step, state or close")),
        };
        match message.keys().next() {
            Some(_) => Err(EpisodeFault::invalid("a message has a `type` and `data`, and nothing else")),
            None => Ok(request),
        }
    }
}

fn reset(data: Option<Value>) -> Result<Reset, EpisodeFault> {
    let data = data.filter(|data| !data.is_null()).unwrap_or_else(|| json!({}));
    let wrong = |reason: String| {
        EpisodeFault::invalid(format!("reset does not take this: {reason}; it takes `sample`, `seed` and `episode_id`"))
    };
    if !data.is_object() {
        return Err(wrong("its `data` is no object".to_owned()));
    }
    let reset: Reset = serde_json::from_value(data).map_err(|error| wrong(short(&error.to_string())))?;
    match &reset.episode_id {
        Some(id) if id.chars().nth(EPISODE).is_some() => {
            Err(wrong(format!("`episode_id` has more than {EPISODE} characters")))
        }
        _ => Ok(reset),
    }
}

/// A call, if an action is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EpisodeCall {
    Wait,
    Tool(String, Tool),
}

impl EpisodeCall {
    /// Reads an action. What is wrong with it is for the model, which wrote it.
    pub fn read(mut action: Map<String, Value>) -> Result<EpisodeCall, String> {
        const EXAMPLE: &str = r#"write {"tool": "build"} or {"tool": "write_pass", "arguments": {"source": "..."}}"#;
        let tool = action.remove("tool");
        let arguments = action.remove("arguments").filter(|arguments| !arguments.is_null());
        // Where OpenEnv's typed clients put what is no part of the action.
        let _ = action.remove("metadata");
        if let Some(key) = action.keys().next() {
            return Err(format!("an action has no `{}`; {EXAMPLE}", short(key)));
        }
        let Some(Value::String(tool)) = tool else { return Err(format!("the action names no `tool`; {EXAMPLE}")) };
        let arguments = arguments.map_or_else(String::new, |arguments| arguments.to_string());
        if tool == WAIT {
            return match arguments.as_str() {
                "" | "{}" => Ok(EpisodeCall::Wait),
                _ => Err("wait takes no arguments".to_owned()),
            };
        }
        let read = Tool::parse(&tool, &arguments).map_err(|error| error.to_string())?;
        Ok(EpisodeCall::Tool(tool, read))
    }
}

/// What a client wrote, as far as it is repeated to it.
fn short(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_what_openenv_has_and_nothing_else() {
        let code = |text: &str| EpisodeRequest::read(text).map_err(|fault| (fault.code, fault.message));
        let cases = [
            ("", "INVALID_JSON", "no JSON"),
            ("{\"type\": \"reset\"", "INVALID_JSON", "no JSON"),
            ("[1]", "VALIDATION_ERROR", "a message is a JSON object"),
            ("{}", "UNKNOWN_TYPE", "reset, step, state or close"),
            (r#"{"type": "mcp", "data": {}}"#, "UNKNOWN_TYPE", "reset, step, state or close"),
            (r#"{"type": ["reset"]}"#, "UNKNOWN_TYPE", "reset, step, state or close"),
            (r#"{"type": "step"}"#, "VALIDATION_ERROR", "a step has an action"),
            (r#"{"type": "step", "data": "build"}"#, "VALIDATION_ERROR", "a step has an action"),
            (r#"{"type": "state", "data": {}}"#, "VALIDATION_ERROR", "have no `data`"),
            (r#"{"type": "state", "more": 1}"#, "VALIDATION_ERROR", "and nothing else"),
            (r#"{"type": "reset", "data": []}"#, "VALIDATION_ERROR", "no object"),
            (r#"{"type": "reset", "data": {"split": "train"}}"#, "VALIDATION_ERROR", "unknown field `split`"),
            (r#"{"type": "reset", "data": {"seed": -1}}"#, "VALIDATION_ERROR", "invalid value"),
            (r#"{"type": "reset", "data": {"sample": 3}}"#, "VALIDATION_ERROR", "expected a string"),
        ];
        for (text, expected, words) in cases {
            let found = code(text);
            assert!(
                matches!(&found, Err((code, message)) if *code == expected && message.contains(words)),
                "{text}: {found:?}"
            );
        }
        let long = json!({"type": "reset", "data": {"episode_id": "x".repeat(EPISODE + 1)}}).to_string();
        assert!(matches!(code(&long), Err(("VALIDATION_ERROR", _))));
        for text in [r#"{"type": "reset"}"#, r#"{"type": "reset", "data": {"seed": null, "sample": null}}"#] {
            assert_eq!(EpisodeRequest::read(text), Ok(EpisodeRequest::Reset(Reset::default())), "{text}");
        }
        assert_eq!(EpisodeRequest::read(r#"{"type": "close"}"#), Ok(EpisodeRequest::Close));
    }

    #[test]
    fn an_action_that_is_no_call_says_what_to_write() {
        let call = |value: Value| EpisodeCall::read(value.as_object().cloned().unwrap_or_default());
        let cases = [
            (json!({}), "the action names no `tool`"),
            (json!({"tool": 3}), "the action names no `tool`"),
            (json!({"tool": "build", "path": "/etc"}), "an action has no `path`"),
            (json!({"tool": "make"}), "there is no tool `make`"),
            (json!({"tool": "write_pass"}), "missing field `source`"),
            (json!({"tool": "build", "arguments": "x"}), "no JSON object"),
            (json!({"tool": "wait", "arguments": {"seconds": 3}}), "wait takes no arguments"),
        ];
        for (action, expected) in cases {
            let found = call(action.clone());
            assert!(found.as_ref().is_err_and(|text| text.contains(expected)), "{action}: {found:?}");
        }
        let build = Ok(EpisodeCall::Tool("build".to_owned(), Tool::Build {}));
        for action in [
            json!({"tool": "build"}),
            json!({"tool": "build", "arguments": null}),
            json!({"tool": "build", "arguments": {}, "metadata": {"trace": 1}}),
        ] {
            assert_eq!(call(action.clone()), build, "{action}");
        }
        assert_eq!(call(json!({"tool": "wait"})), Ok(EpisodeCall::Wait));
    }
}
