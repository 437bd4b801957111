//! Episodes over a WebSocket, as OpenEnv has them: a pass is written, mended and handed in, for a score that is the command's;
//! and who says what he must not, or is gone, harms nobody.

use crate::agent::below_checks;
use base64ct::{Base64, Encoding as _};
use passhost_tests::{BROKEN, Passhost, RIGHT, Server, WRONG};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::http::header::AUTHORIZATION;
use tungstenite::http::{HeaderValue, Response};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Bytes, Message, WebSocket};

/// Longest wait for anything that must come.
const PATIENCE: Duration = Duration::from_secs(120);

/// One client's connection.
struct Client(WebSocket<TcpStream>);

/// What came of a step.
#[derive(Debug)]
struct Seen {
    observation: Value,
    reward: Option<f64>,
    done: bool,
}

impl Seen {
    fn text(&self) -> &str {
        self.observation["text"].as_str().unwrap_or_default()
    }
}

/// Connects, or says with which status it was refused.
fn connect(server: &Server, authorization: Option<&str>, more: &[(&'static str, &str)]) -> Result<Client, u16> {
    admitted(server, authorization, more).map_err(|refusal| refusal.status().as_u16())
}

/// Connects, or says how it was refused.
fn admitted(
    server: &Server,
    authorization: Option<&str>,
    more: &[(&'static str, &str)],
) -> Result<Client, Box<Response<Option<Vec<u8>>>>> {
    let stream = TcpStream::connect(&server.address);
    assert!(stream.is_ok(), "{stream:?}");
    let Ok(stream) = stream else { unreachable!("it was checked") };
    assert!(stream.set_read_timeout(Some(PATIENCE)).is_ok());
    let request = format!("ws://{}/ws", server.address).into_client_request();
    let Ok(mut request) = request else { unreachable!("it is an address") };
    let words = authorization.map(|words| (AUTHORIZATION.as_str(), words)).into_iter().chain(more.iter().copied());
    for (name, value) in words {
        let value = HeaderValue::from_str(value).unwrap_or_else(|_| unreachable!("it is ASCII"));
        let name: tungstenite::http::HeaderName = name.parse().unwrap_or(AUTHORIZATION);
        request.headers_mut().insert(name, value);
    }
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(Client(socket)),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => Err(answer),
        Err(error) => unreachable!("neither taken nor refused: {error}"),
    }
}

fn as_client(server: &Server, name: &str) -> Client {
    let client = connect(server, Some(&format!("Bearer {}", server.token(name))), &[]);
    client.unwrap_or_else(|status| unreachable!("refused with {status}"))
}

impl Client {
    fn say(&mut self, message: Message) {
        let sent = self.0.send(message);
        assert!(sent.is_ok(), "{sent:?}");
    }

    /// The next message, or the code with which the connection ends.
    fn hear(&mut self) -> Result<Value, Option<CloseCode>> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Ok(serde_json::from_str(text.as_str()).unwrap_or_default()),
                Ok(Message::Close(frame)) => return Err(frame.map(|frame| frame.code)),
                Ok(_) => {}
                Err(_) => return Err(None),
            }
        }
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.say(Message::text(message.to_string()));
        let answer = self.hear();
        answer.unwrap_or_else(|end| unreachable!("it ended with {end:?} after {message}"))
    }

    fn observed(&mut self, message: &Value) -> Seen {
        let answer = self.ask(message);
        assert_eq!(answer["type"], "observation", "{answer}");
        let data = &answer["data"];
        Seen {
            observation: data["observation"].clone(),
            reward: data["reward"].as_f64(),
            done: data["done"].as_bool().unwrap_or_default(),
        }
    }

    fn reset(&mut self, data: &Value) -> Seen {
        let seen = self.observed(&json!({ "type": "reset", "data": data }));
        self.settled(seen)
    }

    /// A step, until there is a result.
    fn step(&mut self, action: &Value) -> Seen {
        let seen = self.observed(&json!({ "type": "step", "data": action }));
        self.settled(seen)
    }

    fn settled(&mut self, mut seen: Seen) -> Seen {
        while seen.observation["pending"] == true {
            seen = self.observed(&json!({ "type": "step", "data": { "tool": "wait" } }));
        }
        seen
    }

    fn write(&mut self, source: &str) -> Seen {
        self.step(&json!({ "tool": "write_pass", "arguments": { "source": source } }))
    }

    fn fault(&mut self, message: Message) -> (String, String) {
        self.say(message);
        let answer = self.hear().unwrap_or_default();
        assert_eq!(answer["type"], "error", "{answer}");
        let word = |key: &str| answer["data"][key].as_str().unwrap_or_default().to_owned();
        (word("code"), word("message"))
    }
}

/// Files of episodes that a server has.
fn left(server: &Server) -> Vec<String> {
    let files = std::fs::read_dir(server.data().join("episodes")).into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    // But for the one by which the server knows the directory for its own.
    names.filter(|name| !name.starts_with('.')).collect()
}

/// Waits until there are none.
fn wait_for_nothing_left(server: &Server) {
    while !left(server).is_empty() {
        std::thread::yield_now();
    }
}

/// What is answered to a request without a body.
fn http(server: &Server, line: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(&server.address).unwrap_or_else(|error| unreachable!("{error}"));
    let asked = format!("{line} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n{headers}\r\n");
    assert!(stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.write_all(asked.as_bytes())).is_ok());
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    (status, text.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()))
}

#[test]
fn a_sample_is_solved_step_by_step_for_the_score_of_the_command() {
    let server = Server::start(&[]);
    let mut alice = as_client(&server, "alice");
    let first = alice.reset(&json!({ "sample": server.sample(), "episode_id": "mine" }));
    assert!(first.text().contains("It is data") && first.text().contains("graph(%"), "{first:?}");
    assert!(first.reward.is_none() && !first.done && first.text().contains("`read_guide`"), "{first:?}");
    for words in
        ["\nvariant ", "Evaluations run on cpu, ", " measure every variant.", "The built-in fusion scores about "]
    {
        assert!(first.text().contains(words), "{words} in {first:?}");
    }
    let mut seen = vec![];
    let guide = alice.step(&json!({ "tool": "read_guide", "arguments": { "section": "Errors" } }));
    assert!(guide.text().starts_with("## Errors"), "{guide:?}");
    seen.push(guide);
    seen.push(alice.write(BROKEN));
    let broken = alice.step(&json!({ "tool": "build" }));
    assert!(broken.text().contains("build: failed") && broken.text().contains("`remove_knots`"), "{broken:?}");
    seen.push(broken);
    seen.push(alice.write(WRONG));
    let check = alice.step(&json!({ "tool": "check" }));
    assert!(check.text().contains("check: every graph may run") && check.reward > Some(0.0), "{check:?}");
    seen.push(check);
    let wrong = alice.step(&json!({ "tool": "eval" }));
    assert!(wrong.text().contains("verdict: WRONG") && wrong.observation["verdict"]["right"] == false, "{wrong:?}");
    seen.push(wrong);
    seen.push(alice.write(RIGHT));
    let right = alice.step(&json!({ "tool": "eval" }));
    let verdict = right.observation["verdict"].clone();
    assert!(right.text().contains("verdict: RIGHT") && verdict["right"] == true && !right.done, "{right:?}");
    seen.push(right);
    let state = alice.ask(&json!({ "type": "state" }));
    let expected = json!([verdict["score"], 8, "mine", server.sample(), false]);
    let data = &state["data"];
    assert_eq!(
        json!([data["best_score"], data["step_count"], data["episode_id"], data["sample"], data["done"]]),
        expected
    );
    assert_eq!(left(&server).len(), 1, "the episode has a folder");
    assert_eq!(passhost_tests::open_to_others(&server.data()), Vec::<String>::new());
    let last = alice.step(&json!({ "tool": "submit" }));
    assert!(last.done && last.observation["verdict"] == verdict, "a source is measured once: {last:?}");
    seen.push(last);
    let paid: f64 = seen.iter().filter_map(|seen| seen.reward).sum();
    assert!((paid - verdict["score"].as_f64().unwrap_or_default()).abs() < 1e-9, "{paid} for {verdict}");
    let folder = |path: &Path| path.parent().map_or(String::new(), |folder| folder.display().to_string());
    let sample = server.sample_path().display().to_string();
    for path in [folder(&server.data()), sample, folder(&passhost_tests::plugin("fuse-pointwise"))] {
        let told = seen.iter().chain([&first]).find(|seen| seen.observation.to_string().contains(&path));
        assert!(told.is_none(), "the path `{path}` of the server is told: {told:?}");
    }
    wait_for_nothing_left(&server);
    let over = alice.fault(Message::text(json!({ "type": "step", "data": { "tool": "build" } }).to_string()));
    assert_eq!(over.0, "EXECUTION_ERROR");
    is_the_commands(&server, &verdict);
}

/// Whether the command says the same of the right pass, as far as that does not depend on the moment.
fn is_the_commands(server: &Server, verdict: &Value) {
    let folder = passhost_tests::directory();
    let source = folder.path().join("pass.rs");
    assert!(std::fs::write(&source, RIGHT).is_ok());
    let run = Passhost::new([Path::new("eval"), &source, server.sample_path()]).with_json();
    let run = run.with(&["--device", "cpu", "--threads", "1", "--budget", "10ms", "--accept-noise"]).run();
    run.expect_end(0, &["AS "]);
    let scores = &run.json()["scores"];
    let ratio = |key: &str| verdict[key].as_f64().zip(scores[key].as_f64()).map(|(ours, theirs)| ours / theirs);
    // Times differ from one moment to the next, by far less than a failure does from a success.
    for key in ["aggregate_score", "aggregate_score_strict"] {
        assert!(ratio(key).is_some_and(|ratio| (0.2..5.0).contains(&ratio)), "{key}: {verdict}, {scores}");
    }
    run.expect(run.variants().iter().all(|variant| variant["class"].is_null()), "the command finds it right");
}

#[test]
fn an_episode_without_steps_left_is_settled_by_what_was_evaluated_last() {
    let server = Server::start(&["--episode-steps", "3"]);
    let mut alice = as_client(&server, "alice");
    alice.reset(&json!({}));
    let mut paid = alice.write(WRONG).reward.unwrap_or_default();
    let eval = alice.step(&json!({ "tool": "eval" }));
    paid += eval.reward.unwrap_or_default();
    let last = alice.step(&json!({ "tool": "write_pass", "arguments": { "text": 3 } }));
    assert!(last.done && last.text().contains("does not take these arguments"), "{last:?}");
    assert!(last.text().contains("no steps left"), "{last:?}");
    paid += last.reward.unwrap_or_default();
    let score = last.observation["verdict"]["score"].as_f64();
    assert!(score.is_some() && score == eval.observation["verdict"]["score"].as_f64(), "{last:?}");
    assert!((paid - score.unwrap_or_default()).abs() < 1e-9, "{paid}");
}

#[test]
fn who_says_what_no_client_says_hears_why_and_others_are_served() {
    let server = Server::start(&["--sessions", "2"]);
    let mut alice = as_client(&server, "alice");
    let text = |value: Value| Message::text(value.to_string());
    let step = || text(json!({ "type": "step", "data": { "tool": "build" } }));
    for (message, code, words) in [
        (Message::text("{"), "INVALID_JSON", "no JSON"),
        (Message::text("7"), "VALIDATION_ERROR", "a JSON object"),
        (Message::binary(vec![0u8, 1, 2]), "INVALID_JSON", "no bytes"),
        (text(json!({ "type": "mcp", "data": {} })), "UNKNOWN_TYPE", "reset, step, state or close"),
        (step(), "EXECUTION_ERROR", "send `reset` first"),
        (text(json!({ "type": "reset", "data": { "sample": "../../etc" } })), "VALIDATION_ERROR", "no such sample"),
        (text(json!({ "type": "reset", "data": { "task": 1 } })), "VALIDATION_ERROR", "unknown field `task`"),
    ] {
        let fault = alice.fault(message.clone());
        assert!(fault.0 == code && fault.1.contains(words), "{message}: {fault:?}");
    }
    assert!(alice.reset(&json!({ "seed": 17 })).text().contains("graph(%"), "it goes on all the same");
    for action in [json!({}), json!({ "tool": "rm" }), json!({ "tool": "build", "arguments": { "path": "/" } })] {
        let seen = alice.step(&action);
        assert!(seen.text().starts_with("error: ") && seen.reward == Some(0.0), "{seen:?}");
    }
    alice.say(Message::Ping(Bytes::from_static(b"there?")));
    assert!(matches!(alice.0.read(), Ok(Message::Pong(words)) if &words[..] == b"there?"));
    let mut second = as_client(&server, "alice");
    // Longer than a message may be: its length alone ends the connection.
    let long = format!("{{\"type\": \"step\", \"data\": \"{}\"}}", "x".repeat(2 << 20));
    let _ = second.0.send(Message::text(long));
    let words = second.hear();
    assert!(
        words.as_ref().is_ok_and(|words| words["data"]["message"].as_str().is_some_and(|m| m.contains("more than"))),
        "{words:?}"
    );
    assert_eq!(second.hear(), Err(Some(CloseCode::Size)));
    alice.say(text(json!({ "type": "close" })));
    assert_eq!(alice.hear(), Err(Some(CloseCode::Normal)));
    wait_for_nothing_left(&server);
    assert!(!as_client(&server, "bob").reset(&json!({})).done);
}

#[test]
fn a_check_runs_the_pass_under_the_limits_of_evaluations() {
    for (options, expected) in [(&[][..], "check: every graph may run"), (&["--limit-fuel", "10000"], "check: refused")]
    {
        let server = Server::start(options);
        let mut alice = as_client(&server, "alice");
        alice.reset(&json!({}));
        alice.write(RIGHT);
        let check = alice.step(&json!({ "tool": "check" }));
        assert!(check.text().contains(expected), "{check:?}");
        assert_eq!(check.text().contains("exceeded the fuel limit of 10000 units"), !options.is_empty(), "{check:?}");
        let eval = alice.step(&json!({ "tool": "eval" }));
        assert_eq!(eval.text().contains("exceeded the fuel limit of 10000 units"), !options.is_empty(), "{eval:?}");
    }
}

#[test]
fn a_check_opens_no_device_that_would_be_timed_and_could_read_what_is_the_servers() {
    let server = Server::start(&[]);
    let mut alice = as_client(&server, "alice");
    alice.reset(&json!({}));
    alice.write(RIGHT);
    assert!(alice.step(&json!({ "tool": "build" })).text().contains("build: ok"));
    let (check, seen) = std::thread::scope(|scope| {
        let check = scope.spawn(|| alice.step(&json!({ "tool": "check" })));
        let seen = below_checks(server.id(), || check.is_finished());
        (check.join(), seen)
    });
    assert!(check.is_ok_and(|check| check.text().contains("check: every graph may run")));
    // The reader and the guest open nothing but the sample: `confinement`.
    assert!(seen.contains("passhost-guest") && !seen.contains("passhost-device"), "{seen:?}");
}

#[test]
fn a_client_has_its_own_connections_with_episodes_and_takes_none_of_others() {
    let server = Server::start(&["--sessions", "2"]);
    let _held = [as_client(&server, "alice"), as_client(&server, "alice")];
    let bearer = format!("Bearer {}", server.token("alice"));
    for _ in 0..4 {
        let refusal = admitted(&server, Some(&bearer), &[]).err();
        assert!(refusal.is_some(), "a third connection");
        let Some(refusal) = refusal else { unreachable!("it was checked") };
        let body = String::from_utf8_lossy(refusal.body().as_deref().unwrap_or_default()).into_owned();
        assert_eq!((refusal.status().as_u16(), refusal.headers().contains_key("retry-after")), (429, true), "{body}");
        assert!(body.contains("as many connections with episodes open as it may; close some"), "{body}");
    }
    // It is no more than its own share, whatever it asks for.
    let others = [as_client(&server, "bob"), as_client(&server, "bob"), as_client(&server, "operator")];
    for mut client in others {
        assert!(client.reset(&json!({})).text().contains("graph(%"));
    }
}

#[test]
fn a_client_shows_its_token_as_bearer_or_in_the_address() {
    let server = Server::start(&[]);
    let token = server.token("alice").to_owned();
    let basic =
        |name: &str, token: &str| format!("Basic {}", Base64::encode_string(format!("{name}:{token}").as_bytes()));
    for (authorization, expected) in [
        (format!("Bearer {token}"), None),
        (basic("alice", &token), None),
        (basic("bob", &token), Some(401)),
        (basic("alice", "passhost_0"), Some(401)),
        ("Basic ?".to_owned(), Some(401)),
        (format!("Bearer {token}x"), Some(401)),
    ] {
        assert_eq!(connect(&server, Some(&authorization), &[]).err(), expected, "{authorization}");
        let asked = http(&server, "GET /v1/samples", &format!("Authorization: {authorization}\r\n")).0;
        assert_eq!(asked, u16::from(expected.is_none()) * 200 + expected.unwrap_or(0), "{authorization}");
    }
    assert_eq!(connect(&server, None, &[]).err(), Some(401));
    let bearer = format!("Bearer {token}");
    assert_eq!(connect(&server, Some(&bearer), &[("origin", "http://example.org")]).err(), Some(403));
    let authorized = format!("Authorization: {bearer}\r\n");
    for (line, status, words) in [
        ("GET /ws", 426, "this is a WebSocket"),
        ("POST /reset", 426, "open a WebSocket at `/ws`"),
        ("POST /step", 426, "open a WebSocket at `/ws`"),
        ("GET /state", 426, "open a WebSocket at `/ws`"),
        ("POST /mcp", 200, "tools are called by steps"),
        ("GET /metadata", 200, "\"name\":\"passhost\""),
        ("GET /health", 200, "healthy"),
        ("GET /schema", 200, "write_pass"),
    ] {
        let (found, body) = http(&server, line, &authorized);
        assert!(found == status && body.contains(words), "{line}: {found} {body}");
    }
    let schema: Value = serde_json::from_str(&http(&server, "GET /schema", "").1).unwrap_or_default();
    assert_eq!(schema["action"]["required"], json!(["tool"]), "{schema}");
    let tools = schema["action"]["properties"]["tool"]["enum"].as_array().map(Vec::len);
    assert_eq!((tools, schema["action"]["allOf"].as_array().map(Vec::len)), (Some(10), Some(9)), "{schema}");
}

#[test]
fn an_episode_ends_with_its_connection_and_leaves_nothing() {
    let mut server = Server::start(&[]);
    let mut alice = as_client(&server, "alice");
    alice.reset(&json!({}));
    alice.write(RIGHT);
    let eval = json!({ "type": "step", "data": { "tool": "eval" } });
    alice.say(Message::text(eval.to_string()));
    // Gone in the middle of an evaluation, without a word.
    drop(alice);
    wait_for_nothing_left(&server);
    let mut bob = as_client(&server, "bob");
    bob.reset(&json!({}));
    bob.write(RIGHT);
    assert_eq!(left(&server).len(), 1);
    server.killed();
    assert_eq!(left(&server).len(), 0, "what a killed server left is removed when it starts");
    let mut bob = as_client(&server, "bob");
    bob.reset(&json!({}));
    let pid = i32::try_from(server.id()).ok().and_then(Pid::from_raw);
    assert!(pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok()));
    let last = bob.hear().unwrap_or_default();
    assert!(last["data"]["message"].as_str().is_some_and(|words| words.contains("about to end")), "{last}");
    assert_eq!(bob.hear(), Err(Some(CloseCode::Away)));
    wait_for_nothing_left(&server);
}

#[test]
fn a_connection_that_asks_for_nothing_is_told_so_and_ended() {
    let server = Server::start(&["--session-idle", "1ms"]);
    let mut alice = as_client(&server, "alice");
    let last = alice.hear().unwrap_or_default();
    assert!(last["data"]["message"].as_str().is_some_and(|words| words.contains("nothing was asked")), "{last}");
    assert_eq!(alice.hear(), Err(Some(CloseCode::Policy)));
}

#[test]
fn who_asks_too_often_is_answered_later_and_loses_nothing() {
    let server = Server::start(&["--rate", "1"]);
    let mut alice = as_client(&server, "alice");
    let state = Message::text(json!({ "type": "state" }).to_string());
    // More than may be asked at once.
    for _ in 0..12 {
        alice.say(state.clone());
        assert_eq!(alice.hear().unwrap_or_default()["type"], "state");
    }
    assert!(!as_client(&server, "bob").reset(&json!({})).done);
}

#[test]
fn evaluations_of_an_episode_are_the_clients_own_in_the_queue() {
    let server = Server::start(&[]);
    let mut alice = as_client(&server, "alice");
    alice.reset(&json!({}));
    alice.write(RIGHT);
    assert!(alice.step(&json!({ "tool": "eval" })).observation["verdict"]["right"] == true);
    let mut again = as_client(&server, "alice");
    again.reset(&json!({}));
    let refusals = again.step(&json!({ "tool": "show_refusals" }));
    assert!(refusals.text().contains("this source was not evaluated"), "an episode begins with nothing: {refusals:?}");
    let own = format!("Authorization: Bearer {}\r\n", server.token("alice"));
    let about = http(&server, "GET /v1/about", &own).1;
    assert!(about.contains("\"bytes_held\":0,"), "nothing stays that its client cannot name: {about}");
    let operator = format!("Authorization: Bearer {}\r\n", server.token("operator"));
    let metrics = http(&server, "GET /metrics", &operator).1;
    // The built-in fusion, once for both episodes, and the pass.
    for line in ["passhost_evaluations_total 2", "passhost_submissions_total 2", "passhost_sessions_open 2"] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
}
