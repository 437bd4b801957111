//! The wire format of OpenAI-compatible chat completions, as far as it is used: a request, an answer, an answer in pieces.
//! Fields that nobody here knows are passed over; what is missing has a default.

use passhost_agent_tools::descriptions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Calls that are taken of one answer.
pub const CALLS: usize = 16;

/// One message of a conversation, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// What is said.
    #[serde(default, deserialize_with = "or_default")]
    pub content: String,
    /// Calls of tools, by the assistant.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub tool_calls: Vec<ToolCall>,
    /// Which call a tool answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Message {
    /// A message without calls.
    pub fn new(role: &str, content: impl Into<String>) -> Message {
        Message { role: role.to_owned(), content: content.into(), tool_calls: vec![], tool_call_id: None }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// By which the answer to it names it.
    #[serde(default, deserialize_with = "or_default")]
    pub id: String,
    /// Always `function`.
    #[serde(rename = "type", default = "function")]
    pub kind: String,
    /// What is called.
    pub function: FunctionCall,
}

/// A function and its arguments, which are text that should be JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionCall {
    /// The name of the tool.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// Its arguments.
    #[serde(deserialize_with = "or_default")]
    pub arguments: String,
}

/// Tokens that an answer took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Of the request.
    #[serde(default, deserialize_with = "or_default")]
    pub prompt_tokens: u64,
    /// Of the answer.
    #[serde(default, deserialize_with = "or_default")]
    pub completion_tokens: u64,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatAnswer {
    /// The message, as it is sent with later requests.
    pub message: Message,
    /// Why the answer ends, `stop` or `tool_calls` where all went well.
    pub finish: String,
    /// What the model says where it refuses to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// As the endpoint counts, or by four bytes a token where it does not.
    pub usage: TokenUsage,
}

/// Why what came is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// No JSON, or JSON of another form.
    #[error("the answer is no chat completion: {0}")]
    Form(String),
    /// The endpoint reports an error in place of an answer, or in its middle.
    #[error("the endpoint reports: {0}")]
    Reported(String),
    /// The stream ends before the answer does.
    #[error("the stream ends in the middle of the answer")]
    Truncated,
}

fn function() -> String {
    "function".to_owned()
}

/// `null` is what is not there.
fn or_default<'de, D: serde::Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// How requests are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// The model that is asked.
    pub model: String,
    /// Whether tools are told of in the format for them; otherwise the prompt tells of them.
    pub has_tools: bool,
    /// Whether the answer shall come in pieces.
    pub streams: bool,
    /// How freely the model picks its words; the endpoint's own if absent.
    pub temperature: Option<f64>,
}

/// The body of a request.
pub fn request(style: &Style, messages: &[Message]) -> Value {
    let mut body = json!({"model": style.model, "messages": messages, "stream": style.streams});
    if style.has_tools {
        body["tools"] = tools();
    }
    if style.streams {
        body["stream_options"] = json!({"include_usage": true});
    }
    if let Some(temperature) = style.temperature {
        body["temperature"] = json!(temperature);
    }
    body
}

/// The tools in the format of function calls.
pub fn tools() -> Value {
    let describe = |tool: passhost_agent_tools::Description| {
        let function = json!({"name": tool.name, "description": tool.text, "parameters": tool.parameters});
        json!({"type": "function", "function": function})
    };
    descriptions().into_iter().map(describe).collect()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Completion {
    choices: Vec<CompletionChoice>,
    usage: Option<TokenUsage>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionChoice {
    message: Option<MessagePiece>,
    delta: Option<MessagePiece>,
    finish_reason: Option<String>,
}

/// A message, or a piece of one.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MessagePiece {
    #[serde(deserialize_with = "or_default")]
    content: String,
    refusal: Option<String>,
    #[serde(deserialize_with = "or_default")]
    tool_calls: Vec<CallPiece>,
}

/// A call, or a piece of one.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CallPiece {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionCall>,
}

/// Puts an answer together, from one piece or from many.
#[derive(Default)]
struct Assembly {
    content: String,
    refusal: Option<String>,
    /// Calls and their ids, in the order in which they begin.
    calls: Vec<(String, FunctionCall)>,
    /// By the index that the pieces name, which of the calls goes on.
    open: BTreeMap<usize, usize>,
    finish: Option<String>,
    usage: Option<TokenUsage>,
}

impl Assembly {
    fn add(&mut self, completion: Completion) -> Result<(), WireError> {
        if let Some(error) = completion.error.filter(|error| !error.is_null()) {
            let message = error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
            return Err(WireError::Reported(message));
        }
        self.usage = completion.usage.or(self.usage);
        let Some(choice) = completion.choices.into_iter().next() else { return Ok(()) };
        self.finish = choice.finish_reason.or(self.finish.take());
        let Some(said) = choice.message.or(choice.delta) else { return Ok(()) };
        self.content.push_str(&said.content);
        if let Some(refusal) = said.refusal {
            self.refusal.get_or_insert_default().push_str(&refusal);
        }
        for (position, piece) in said.tool_calls.into_iter().enumerate() {
            self.add_call(piece.index.unwrap_or(position), piece);
        }
        Ok(())
    }

    /// Some endpoints count calls from 1, others give all calls of an answer the same index: a new id is a new call.
    fn add_call(&mut self, index: usize, piece: CallPiece) {
        let id = piece.id.unwrap_or_default();
        let function = piece.function.unwrap_or_default();
        let open = self.open.get(&index).and_then(|position| self.calls.get_mut(*position));
        match open {
            Some((known, call)) if id.is_empty() || known.is_empty() || *known == id => {
                if known.is_empty() {
                    *known = id;
                }
                call.name.push_str(&function.name);
                call.arguments.push_str(&function.arguments);
            }
            _ => {
                self.open.insert(index, self.calls.len());
                self.calls.push((id, function));
            }
        }
    }

    fn finish(self, sent: usize) -> Result<ChatAnswer, WireError> {
        let finish = self.finish.ok_or(WireError::Truncated)?;
        let bytes: usize = self.content.len() + self.calls.iter().map(|(_, call)| call.arguments.len()).sum::<usize>();
        let estimate = TokenUsage { prompt_tokens: sent as u64 / 4, completion_tokens: bytes as u64 / 4 };
        let named = self.calls.into_iter().filter(|(_, call)| !call.name.is_empty()).take(CALLS).enumerate();
        let calls = named.map(|(index, (id, function))| {
            let id = if id.is_empty() { format!("call_{index}") } else { id };
            ToolCall { id, kind: "function".to_owned(), function }
        });
        let message = Message { tool_calls: calls.collect(), ..Message::new("assistant", self.content) };
        let refusal = self.refusal.filter(|text| !text.is_empty());
        Ok(ChatAnswer { message, finish, refusal, usage: self.usage.unwrap_or(estimate) })
    }
}

fn form(error: &serde_json::Error) -> WireError {
    WireError::Form(error.to_string())
}

/// Reads an answer that came whole, to a request of so many bytes.
///
/// # Errors
///
/// If it is none.
pub fn read_whole(body: &str, sent: usize) -> Result<ChatAnswer, WireError> {
    let completion: Completion = serde_json::from_str(body).map_err(|error| form(&error))?;
    let mut assembly = Assembly::default();
    let is_empty = completion.choices.is_empty() && completion.error.is_none();
    assembly.add(completion)?;
    if is_empty {
        return Err(WireError::Form("it has no `choices`".to_owned()));
    }
    // Some endpoints leave the reason out of what comes whole.
    assembly.finish.get_or_insert_with(|| "stop".to_owned());
    assembly.finish(sent)
}

/// Reads an answer that came as server-sent events.
///
/// # Errors
///
/// If it is none, or ends in the middle.
pub fn read_stream(body: &str, sent: usize) -> Result<ChatAnswer, WireError> {
    let mut assembly = Assembly::default();
    for line in body.lines() {
        let Some(data) = line.strip_prefix("data:").map(str::trim) else { continue };
        if data == "[DONE]" {
            return assembly.finish(sent);
        }
        let completion = serde_json::from_str(data);
        assembly.add(completion.map_err(|error| if error.is_eof() { WireError::Truncated } else { form(&error) })?)?;
    }
    // The last event is missing, but the answer may be whole.
    assembly.finish(sent)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const PIECES: &str = "\
: comment
data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"I \"}}]}

data: {\"choices\":[{\"delta\":{\"content\":\"build\",\"tool_calls\":null}}],\"novelty\":{}}
data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"bu\",\"arguments\":\"\"}}]}}]}
data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"ild\",\"arguments\":\"{\"}}]}}]}
data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"}\"}}]}}]}
data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}
data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,\"total_tokens\":10}}
data: [DONE]
";

    #[test]
    fn an_answer_in_pieces_is_that_which_comes_whole() {
        let whole = json!({
            "id": "x", "object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "logprobs": null, "message": {
                "role": "assistant", "content": "I build", "refusal": null,
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "build", "arguments": "{}"}}],
            }}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "details": {}},
        });
        let whole = read_whole(&whole.to_string(), 100).unwrap();
        assert_eq!(read_stream(PIECES, 100).unwrap(), whole);
        assert_eq!(whole.message.tool_calls[0].function, FunctionCall { name: "build".into(), arguments: "{}".into() });
    }

    #[test]
    fn what_is_no_answer_says_why() {
        let cut = PIECES.find("\"finish_reason\"").unwrap();
        assert_eq!(read_stream(&PIECES[..cut], 0), Err(WireError::Truncated));
        let before = &PIECES[..PIECES.find("data: {\"choices\":[{\"delta\":{},").unwrap()];
        assert_eq!(read_stream(before, 0), Err(WireError::Truncated));
        assert!(matches!(read_whole("<html>", 0), Err(WireError::Form(_))));
        assert!(matches!(read_whole("{}", 0), Err(WireError::Form(_))));
        let reported = read_whole(r#"{"error": {"message": "overloaded"}}"#, 0);
        assert_eq!(reported, Err(WireError::Reported("overloaded".into())));
    }

    #[test]
    fn a_refusal_is_kept_and_calls_nothing() {
        let body = r#"{"choices": [{"finish_reason": "stop", "message": {"content": null, "refusal": "I will not"}}]}"#;
        let answer = read_whole(body, 0).unwrap();
        assert_eq!(answer.refusal.as_deref(), Some("I will not"));
        assert!(answer.message.tool_calls.is_empty() && answer.message.content.is_empty());
    }

    #[test]
    fn calls_beyond_those_that_are_taken_are_left_out() {
        let call = |index: usize| json!({"index": index, "function": {"name": "build", "arguments": "{}"}});
        let calls: Vec<Value> = (0..CALLS).chain([usize::MAX]).map(call).collect();
        let body = json!({"choices": [{"message": {"content": "", "tool_calls": calls}}]}).to_string();
        assert_eq!(read_whole(&body, 0).unwrap().message.tool_calls.len(), CALLS);
    }

    #[test]
    fn calls_in_pieces_are_told_apart_by_index_and_id() {
        let piece = |index: usize, id: &str, name: &str, arguments: &str| {
            let id = if id.is_empty() { Value::Null } else { json!(id) };
            json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
        };
        let both = [("a", "build", "{}"), ("b", "eval", "{}")];
        let cases = [
            ("indices from 1", vec![piece(1, "a", "build", "{}"), piece(2, "b", "eval", "{}")], both.to_vec()),
            (
                "the same index for all calls",
                vec![
                    piece(0, "a", "build", "{"),
                    piece(0, "", "", "}"),
                    piece(0, "b", "eval", ""),
                    piece(0, "b", "", "{}"),
                ],
                both.to_vec(),
            ),
            (
                "pieces of two calls in turn",
                vec![
                    piece(0, "a", "build", "{"),
                    piece(1, "b", "eval", "{"),
                    piece(0, "", "", "}"),
                    piece(1, "", "", "}"),
                ],
                both.to_vec(),
            ),
            ("a call without a name", vec![piece(0, "x", "", "{}"), piece(1, "a", "build", "{}")], both[..1].to_vec()),
            (
                "calls without ids",
                vec![piece(1, "", "build", "{}"), piece(2, "", "eval", "{}")],
                vec![("call_0", "build", "{}"), ("call_1", "eval", "{}")],
            ),
        ];
        for (case, pieces, expected) in cases {
            let event = |piece: &Value| format!("data: {}\n", json!({"choices": [{"delta": {"tool_calls": [piece]}}]}));
            let end = format!("data: {}\n", json!({"choices": [{"finish_reason": "tool_calls"}]}));
            let calls =
                read_stream(&(pieces.iter().map(event).collect::<String>() + &end), 0).unwrap().message.tool_calls;
            let found: Vec<(&str, &str, &str)> = calls
                .iter()
                .map(|call| (call.id.as_str(), call.function.name.as_str(), call.function.arguments.as_str()))
                .collect();
            assert_eq!(found, expected, "{case}");
        }
    }

    #[test]
    fn tokens_that_an_endpoint_leaves_out_are_none() {
        for (usage, expected) in [
            (
                json!({"prompt_tokens": null, "completion_tokens": 3}),
                TokenUsage { prompt_tokens: 0, completion_tokens: 3 },
            ),
            (json!({"prompt_tokens": 7}), TokenUsage { prompt_tokens: 7, completion_tokens: 0 }),
        ] {
            let body = json!({"choices": [{"message": {"content": "hello"}}], "usage": usage}).to_string();
            assert_eq!(read_whole(&body, 0).unwrap().usage, expected, "{usage}");
        }
    }

    #[test]
    fn tokens_that_nobody_counted_are_estimated() {
        let answer = read_whole(r#"{"choices": [{"message": {"content": "12345678"}}]}"#, 40).unwrap();
        assert_eq!(answer.usage, TokenUsage { prompt_tokens: 10, completion_tokens: 2 });
    }

    #[test]
    fn a_request_tells_of_tools_where_the_endpoint_takes_them() {
        let mut style = Style { model: "m".into(), has_tools: true, streams: true, temperature: Some(0.5) };
        let body = request(&style, &[Message::new("user", "hello")]);
        assert_eq!(body["messages"], json!([{"role": "user", "content": "hello"}]));
        assert_eq!(body["tools"][2]["function"]["name"], "write_pass");
        assert_eq!(body["stream_options"]["include_usage"], true);
        style.has_tools = false;
        assert!(request(&style, &[]).get("tools").is_none());
    }
}
