//! The description of the interface, both ways: whatever is answered is described, and whatever is described is answered.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod server;

use passhost_queue::{Counts, DiskShare, JobState, JobStatus, Lease, NewJob, Queue, QueueError, Taken, Ticket, Worker};
use passhost_serve::{OPENAPI, ServerLimits, paths};
use serde_json::{Value, json};
use server::{Answer, Server, WASM, queue};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What was answered, by path and method: statuses.
type Seen = BTreeMap<(String, String), BTreeSet<u16>>;

fn described() -> Value {
    serde_json::from_str(OPENAPI).unwrap()
}

/// The thing that a reference names, or the thing itself.
fn resolved<'a>(root: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(name) => root.pointer(name.strip_prefix('#').unwrap()).unwrap_or_else(|| panic!("no {name}")),
        None => value,
    }
}

/// Everything that is wrong with a value, by the words of JSON Schema that the description uses. Another word is an error, so
/// that nothing is passed over.
fn faults(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let schema = resolved(root, schema);
    let mut found = vec![];
    for (word, rule) in schema.as_object().unwrap() {
        match word.as_str() {
            "description" | "default" | "format" => {}
            "type" => {
                let is_one = |name: &Value| match name.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    other => panic!("the type {other}"),
                };
                let types = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                found.extend((!types.iter().any(is_one)).then(|| format!("{at} is {value}, expected {rule}")));
            }
            "enum" => {
                let is_one = rule.as_array().unwrap().contains(value);
                found.extend((!is_one).then(|| format!("{at} is {value}, expected one of {rule}")));
            }
            "required" => {
                let missing =
                    rule.as_array().unwrap().iter().filter(|name| value.get(name.as_str().unwrap()).is_none());
                found.extend(missing.map(|name| format!("{at} has no {name}")));
            }
            "properties" => {
                let parts = rule.as_object().unwrap().iter();
                let parts = parts.filter_map(|(name, schema)| Some((name, schema, value.get(name)?)));
                found
                    .extend(parts.flat_map(|(name, schema, part)| faults(root, schema, part, &format!("{at}/{name}"))));
            }
            "additionalProperties" => {
                assert_eq!(*rule, json!(false));
                let known = schema["properties"].as_object().unwrap();
                let other = value.as_object().into_iter().flatten().find(|(name, _)| !known.contains_key(*name));
                found.extend(other.map(|(name, _)| format!("{at} has {name}, which is not described")));
            }
            "items" => {
                let parts = value.as_array().into_iter().flatten();
                found.extend(parts.flat_map(|part| faults(root, rule, part, &format!("{at}/*"))));
            }
            "minimum" => {
                found.extend(value.as_f64().filter(|value| *value < rule.as_f64().unwrap()).map(|_| at.to_owned()))
            }
            other => panic!("the word {other} at {at}"),
        }
    }
    found
}

/// Holds an answer against the description, and notes that it came.
fn note(seen: &mut Seen, root: &Value, path: &str, method: &str, answer: &Answer) {
    let operation = &root["paths"][path][method];
    let status = answer.status.to_string();
    let response = resolved(root, &operation["responses"][status.as_str()]);
    assert!(response.is_object(), "{method} {path} answers {status}, which is not described: {answer:?}");
    let header = |name: &str| answer.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    for name in response["headers"].as_object().into_iter().flatten().map(|(name, _)| name.to_lowercase()) {
        assert!(header(&name).is_some(), "{method} {path} answers {status} without {name}: {answer:?}");
    }
    match response["content"].as_object() {
        None => assert_eq!(answer.body, "", "{method} {path} {status}"),
        Some(content) => {
            let kind = header("content-type").and_then(|kind| kind.split(';').next()).unwrap_or_default();
            let media = content.get(kind).unwrap_or_else(|| panic!("{method} {path} {status} is {kind}: {answer:?}"));
            if kind.ends_with("json") {
                let wrong = faults(root, &media["schema"], &answer.json(), "");
                assert!(wrong.is_empty(), "{method} {path} {status}: {wrong:?}\n{}", answer.body);
            }
        }
    }
    seen.entry((path.to_owned(), method.to_owned())).or_default().insert(answer.status);
}

#[test]
fn every_route_is_described_and_every_described_one_is_there() {
    let root = described();
    let described: BTreeSet<&str> = root["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(described, paths().into_iter().collect());
    let server = Server::start(ServerLimits::default());
    for path in paths() {
        for method in ["get", "put", "post", "delete", "patch", "trace"] {
            let line = format!("{} {}", method.to_uppercase(), path.replace("{id}", "0"));
            let answer = server.ask("operator", &line);
            let is_there = answer.status != 405;
            assert!(!answer.body.contains("there is nothing here"), "{line}");
            assert_eq!(root["paths"][path].get(method).is_some(), is_there, "{line}: {answer:?}");
        }
    }
}

/// A queue that fails, for the errors of a disk.
struct Broken(fn() -> QueueError);

const DAMAGED: Broken = Broken(|| QueueError::Damaged("it is broken for this test"));
const FULL: Broken = Broken(|| QueueError::Room("queue".into()));

impl Broken {
    fn failed<T>(&self) -> Result<T, QueueError> {
        Err((self.0)())
    }
}

#[rustfmt::skip]
impl Queue for Broken {
    fn submit_job(&self, _: &str, _: Option<&str>, _: &NewJob<'_>) -> Result<Ticket, QueueError> { self.failed() }
    fn take_as(&self, _: &Worker, _: Duration) -> Result<Option<Taken>, QueueError> { Ok(None) }
    fn begin(&self, _: &Lease) -> Result<(), QueueError> { self.failed() }
    fn renew(&self, _: &Lease, _: Duration) -> Result<(), QueueError> { self.failed() }
    fn finish(&self, _: &Lease, _: &[u8]) -> Result<(), QueueError> { self.failed() }
    fn give_back(&self, _: &Lease) -> Result<(), QueueError> { self.failed() }
    fn cancel(&self, _: &str, _: &Ticket) -> Result<Option<JobState>, QueueError> { self.failed() }
    fn look(&self, _: &str, _: &Ticket) -> Result<Option<JobStatus>, QueueError> { self.failed() }
    fn counts(&self) -> Result<Counts, QueueError> { self.failed() }
    fn remove(&self, _: &str, _: &Ticket) -> Result<bool, QueueError> { self.failed() }
    fn withdraw(&self, _: &str) -> Result<usize, QueueError> { Ok(0) }
    fn share(&self, _: &str) -> Result<DiskShare, QueueError> { self.failed() }
    fn forget(&self, _: Duration) -> Result<usize, QueueError> { self.failed() }
}

const SUBMIT: &str = "/v1/evaluations";
const ONE: &str = "/v1/evaluations/{id}";
const WEB_SOCKET: &str = "/ws";

/// Every operation, with how it is asked for.
fn operations() -> Vec<(&'static str, &'static str)> {
    vec![
        ("/health", "get"),
        ("/openapi.json", "get"),
        ("/metrics", "get"),
        ("/v1/about", "get"),
        ("/v1/samples", "get"),
        (SUBMIT, "post"),
        (ONE, "get"),
        (ONE, "delete"),
        ("/v1/evaluations/{id}/events", "get"),
        (WEB_SOCKET, "get"),
        ("/schema", "get"),
        ("/metadata", "get"),
        ("/mcp", "post"),
        ("/reset", "post"),
        ("/step", "post"),
        ("/state", "get"),
    ]
}

/// Whether it is answered to everybody.
fn is_open(path: &str) -> bool {
    matches!(path, "/health" | "/openapi.json" | "/schema" | "/metadata" | "/mcp" | "/reset" | "/step" | "/state")
}

fn line(path: &str, method: &str, id: &str) -> String {
    let question = if path == SUBMIT { "?sample=s" } else { "" };
    format!("{} {}{question}", method.to_uppercase(), path.replace("{id}", id))
}

/// What a server answers whose queue works.
fn ordinary(seen: &mut Seen, root: &Value) {
    let server =
        Server::start(ServerLimits { body: 1000, request: Duration::from_millis(300), ..ServerLimits::default() });
    let mut submit = |server: &Server, headers: &[(&str, &str)], body: &[u8]| {
        let answer = server.raw(&server.request("alice", "POST /v1/evaluations?sample=s", headers, body)).unwrap();
        note(seen, root, SUBMIT, "post", &answer);
        answer
    };
    let length = |text: &'static str| [WASM, ("Content-Length", text), ("Idempotency-Key", "k")];
    let id = submit(&server, &length("1"), b"1").id();
    assert_eq!(submit(&server, &length("1"), b"2").status, 409);
    assert_eq!(submit(&server, &length("1001"), b"").status, 413);
    assert_eq!(submit(&server, &[WASM, ("Transfer-Encoding", "chunked")], b"0\r\n\r\n").status, 411);
    assert_eq!(submit(&server, &[("Content-Length", "1")], b"1").status, 415);
    assert_eq!(submit(&server, &length("0"), b"").status, 400);
    assert_eq!(submit(&server, &length("10"), b"1").status, 408);
    let nowhere = server.ask("alice", "POST /v1/evaluations?sample=t");
    note(seen, root, SUBMIT, "post", &nowhere);
    server.begins();
    for (path, method) in operations().into_iter().filter(|(path, _)| *path != SUBMIT) {
        let who = if path == "/metrics" { ["alice", "operator"] } else { ["bob", "alice"] };
        for client in who {
            if path.ends_with("events") && client == "alice" {
                server.says("one");
            }
            let answer = server.ask(client, &line(path, method, &id));
            note(seen, root, path, method, &answer);
        }
    }
    let of_a_page = server.request("alice", "GET /ws", &[("Origin", "http://elsewhere")], b"");
    note(seen, root, WEB_SOCKET, "get", &server.raw(&of_a_page).unwrap());
    for (question, method) in [("?wait=long", "get"), ("?forget=maybe", "delete"), ("?forget=true", "delete")] {
        let answer = server.ask("alice", &format!("{} /v1/evaluations/{id}{question}", method.to_uppercase()));
        note(seen, root, ONE, method, &answer);
    }
}

/// What a server answers to those who ask for too much, or whose queue does not work.
fn troubled(seen: &mut Seen, root: &Value) {
    let few = NonZeroU32::MIN;
    let limited = Server::start(ServerLimits { rate: few, ..ServerLimits::default() });
    let broken = [DAMAGED, FULL].map(|broken| Server::start_on(ServerLimits::default(), |_| Arc::new(broken)));
    for (path, method) in operations() {
        let line = line(path, method, "0");
        if !is_open(path) {
            note(seen, root, path, method, &limited.ask("nobody", &line));
            let mut asked = std::iter::repeat_with(|| limited.ask("alice", &line));
            note(seen, root, path, method, &asked.find(|answer| answer.status == 429).unwrap());
        }
        for broken in &broken {
            let mut request = broken.request("operator", &line, &[], b"");
            if path == SUBMIT {
                request = broken.submission("operator", &[], b"1");
            }
            note(seen, root, path, method, &broken.raw(&request).unwrap());
        }
    }
    let full = |limits: passhost_queue::QueueLimits| {
        let server = Server::start_on(ServerLimits::default(), |place: &Path| queue(place, limits));
        // The grader has the first.
        server.submit("alice", b"1").id();
        server.begins();
        server
    };
    let room = passhost_queue::QueueLimits::default();
    let bytes = full(passhost_queue::QueueLimits { bytes_of_client: 2 * passhost_queue::JOB, ..room });
    let answer = bytes.submit("alice", &[1; 3000]);
    assert!(answer.body.contains("?forget=true"), "{answer:?}");
    note(seen, root, SUBMIT, "post", &answer);
    let waiting = full(passhost_queue::QueueLimits { waiting: 1, ..room });
    waiting.submit("bob", b"1").id();
    note(seen, root, SUBMIT, "post", &waiting.submit("alice", b"1"));
}

#[test]
fn every_answer_is_described_and_every_described_answer_comes() {
    let root = described();
    let mut seen = Seen::new();
    ordinary(&mut seen, &root);
    troubled(&mut seen, &root);
    for (path, method) in operations() {
        let responses = root["paths"][path][method]["responses"].as_object().unwrap();
        let described: BTreeSet<u16> = responses.keys().map(|status| status.parse().unwrap()).collect();
        let seen = seen.get(&(path.to_owned(), method.to_owned())).cloned().unwrap_or_default();
        // Only who asks at the moment in which the server ends hears of it, and only a WebSocket is taken for one.
        let allowed: &[u16] = match path {
            "/health" => &[503],
            WEB_SOCKET => &[101, 400, 503],
            _ => &[],
        };
        let unseen: Vec<u16> =
            described.difference(&seen).filter(|&status| !allowed.contains(status)).copied().collect();
        assert!(unseen.is_empty(), "{method} {path}: {unseen:?} is described and never answered");
    }
}
