//! `passhost serve`: results are those of the command, each comes once, and who means no good is refused without harm.

mod events;
mod fleet;
mod killed;
mod load;
mod share;

use passhost_tests::{Passhost, plugin};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longest wait for anything that must come.
const PATIENCE: Duration = Duration::from_secs(120);
/// Longest wait for what several evaluations must come to.
const LONG_PATIENCE: Duration = Duration::from_secs(300);
const COMPONENT: (&str, &str) = ("Content-Type", "application/wasm");

/// A server that is asked byte by byte.
struct Server(passhost_tests::Server);

impl std::ops::Deref for Server {
    type Target = passhost_tests::Server;

    fn deref(&self) -> &passhost_tests::Server {
        &self.0
    }
}

impl std::ops::DerefMut for Server {
    fn deref_mut(&mut self) -> &mut passhost_tests::Server {
        &mut self.0
    }
}

/// What was answered.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    fn id(&self) -> String {
        assert_eq!(self.status, 202, "{self:?}");
        self.json()["id"].as_str().unwrap_or_default().to_owned()
    }
}

impl Server {
    fn start() -> Server {
        Server::start_with(&[])
    }

    /// One with these options.
    fn start_with(options: &[&str]) -> Server {
        Server(passhost_tests::Server::start(options))
    }

    fn path_of_submissions(&self) -> String {
        format!("/v1/evaluations?sample={}", self.sample())
    }

    /// What is answered to bytes that may be no request.
    fn raw(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = self.connect()?;
        stream.write_all(bytes).ok()?;
        answered(&mut stream)
    }

    fn connect(&self) -> Option<TcpStream> {
        let stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        Some(stream)
    }

    /// Says more than it sends, and is gone.
    fn breaks_off(&self, bytes: &[u8]) {
        let sent = TcpStream::connect(&self.address).and_then(|mut stream| stream.write_all(bytes));
        assert!(sent.is_ok(), "{sent:?}");
    }

    fn request(&self, client: &str, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let mut text = format!("{line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        let token = self.token(client);
        if !token.is_empty() {
            text.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        [text.as_bytes(), b"\r\n", body].concat()
    }

    fn ask(&self, client: &str, line: &str) -> Answer {
        let answer = self.raw(&self.request(client, line, &[], b""));
        assert!(answer.is_some(), "no answer to {line}");
        answer.unwrap_or_else(|| unreachable!("it was checked"))
    }

    fn submit(&self, client: &str, key: &str, bytes: &[u8]) -> Option<Answer> {
        self.raw(&self.submission(client, key, bytes))
    }

    fn submission(&self, client: &str, key: &str, bytes: &[u8]) -> Vec<u8> {
        let length = bytes.len().to_string();
        let headers = [COMPONENT, ("Content-Length", length.as_str()), ("Idempotency-Key", key)];
        self.request(client, &format!("POST {}", self.path_of_submissions()), &headers, bytes)
    }

    /// A number of the server, as Prometheus reads it.
    fn metric(&self, name: &str) -> u64 {
        let text = self.ask("operator", "GET /metrics").body;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("passhost_{name} ")));
        let number = line.and_then(|line| line.parse().ok());
        assert!(number.is_some(), "no {name} in {text}");
        number.unwrap_or_default()
    }

    /// Asks for that number until it is this one.
    fn wait_for(&self, name: &str, value: u64) {
        assert!(comes(|| self.metric(name) == value), "{name} is {}, expected {value}", self.metric(name));
    }

    /// Waits for the end of an evaluation.
    fn ended(&self, client: &str, id: &str) -> Value {
        loop {
            let evaluation = self.ask(client, &format!("GET /v1/evaluations/{id}?wait=50")).json();
            match evaluation["state"].as_str() {
                Some("waiting" | "running") => {}
                _ => return evaluation,
            }
        }
    }
}

/// Asks until it is so; false if it does not come.
fn comes(mut is_so: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < LONG_PATIENCE {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// The rest of what is answered on a connection.
fn answered(stream: &mut TcpStream) -> Option<Answer> {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_lowercase(), body: body.to_owned() })
}

/// What of a document does not depend on the moment: verdicts, and what the pass made.
fn verdicts(document: &Value) -> Vec<Value> {
    let of = |variant: &Value| {
        let (class, from) = (variant["class"].clone(), variant["passes_at"].clone());
        serde_json::json!([variant["name"], class, from, variant["rewrite"], document["blame"], document["failure"]])
    };
    document["variants"].as_array().into_iter().flatten().map(of).collect()
}

#[test]
fn a_result_is_that_of_the_command_and_is_its_clients_alone() {
    let server = Server::start();
    for (name, stands) in [("fuse-pointwise", true), ("panics", false)] {
        let wasm = std::fs::read(plugin(name)).unwrap_or_default();
        let submitted = server.submit("alice", name, &wasm).map(|answer| answer.id());
        let id = submitted.unwrap_or_default();
        let evaluation = server.ended("alice", &id);
        let run = Passhost::eval_within("10ms", &plugin(name), server.sample_path()).with(&["--threads", "1"]).run();
        let expected = verdicts(run.json());
        assert!(!expected.is_empty() && expected == verdicts(&evaluation["document"]), "{evaluation}\n{}", run.json());
        assert_eq!(evaluation["document"]["job"]["plugin_sha256"], run.json()["job"]["plugin_sha256"]);
        assert_eq!(evaluation["document"]["variants"][0]["class"].is_null(), stands, "{evaluation}");
        let events = server.ask("alice", &format!("GET /v1/evaluations/{id}/events"));
        assert!(
            events.head.contains("text/event-stream") && events.body.contains(r#""state":"finished""#),
            "{events:?}"
        );
        for line in ["GET /v1/evaluations/ID", "GET /v1/evaluations/ID/events", "DELETE /v1/evaluations/ID"] {
            for stranger in ["bob", "operator"] {
                assert_eq!(server.ask(stranger, &line.replace("ID", &id)).status, 404, "{line} of {stranger}");
            }
            assert_eq!(server.ask("nobody", &line.replace("ID", &id)).status, 401, "{line} of nobody");
        }
    }
    let metrics = server.ask("operator", "GET /metrics");
    assert!(metrics.body.contains("passhost_evaluations_total 2"), "{metrics:?}");
    assert_eq!(server.ask("alice", "GET /metrics").status, 403);
}

#[test]
fn the_source_of_a_pass_is_built_and_what_is_wrong_with_it_is_the_result() {
    let server = Server::start();
    let line = format!("POST {}", server.path_of_submissions());
    let headers = [("Content-Type", "text/rust; charset=utf-8"), ("Content-Length", "12")];
    let answer = server.raw(&server.request("alice", &line, &headers, b"fn wrong( {}"));
    let document = &server.ended("alice", &answer.map(|answer| answer.id()).unwrap_or_default())["document"];
    assert_eq!((document["blame"].as_str(), document["failure"]["stage"].as_str()), (Some("plugin"), Some("build")));
}

#[test]
fn who_means_no_good_is_refused_and_others_are_served() {
    let server = Server::start_with(&["--rate", "3"]);
    let path = server.path_of_submissions();
    let post = |headers: &[(&str, &str)], body: &[u8]| {
        server.raw(&server.request("alice", &format!("POST {path}"), headers, body))
    };
    let length = |value: &'static str| [COMPONENT, ("Content-Length", value)];
    server.breaks_off(&server.request("alice", &format!("POST {path}"), &length("10"), b"12345"));
    for (what, answer, status) in [
        ("a gigabyte", post(&length("1073741824"), b"begin"), 413),
        ("no number", post(&length("many"), b"12345"), 400),
        ("two lengths", post(&[COMPONENT, ("Content-Length", "5"), ("Content-Length", "6")], b"12345"), 400),
        ("no length", post(&[COMPONENT, ("Transfer-Encoding", "chunked")], b"5\r\n12345\r\n0\r\n\r\n"), 411),
        ("nothing", post(&length("0"), b""), 400),
        ("another type", post(&[("Content-Type", "text/html"), ("Content-Length", "1")], b"x"), 415),
        ("no type", post(&[("Content-Length", "1")], b"x"), 415),
        ("a long key", post(&[COMPONENT, ("Content-Length", "1"), ("Idempotency-Key", &"k".repeat(300))], b"x"), 400),
        ("no sample", server.raw(&server.request("alice", "POST /v1/evaluations", &length("1"), b"x")), 400),
        (
            "no such sample",
            server.raw(&server.request("alice", "POST /v1/evaluations?sample=..%2F..", &length("1"), b"x")),
            404,
        ),
        ("no request", server.raw(b"\0\0\0\r\n\r\n"), 400),
        ("an endless head", server.raw(&[b"GET / HTTP/1.1\r\n", vec![b'a'; 1 << 20].as_slice()].concat()), 431),
        ("nobody", Some(server.ask("nobody", &format!("POST {path}"))), 401),
        ("nothing there", Some(server.ask("alice", "GET /v2")), 404),
        ("another method", Some(server.ask("alice", "PUT /v1/samples")), 405),
        ("no number of seconds", Some(server.ask("alice", "GET /v1/evaluations/0?wait=long")), 400),
    ] {
        assert_eq!(answer.as_ref().map(|answer| answer.status), Some(status), "{what}: {answer:?}");
    }
    let flood = (0..100).filter_map(|_| server.raw(&server.request("bob", "GET /v1/about", &[], b"")));
    let refused = flood.filter(|answer| answer.status == 429 && answer.head.contains("retry-after"));
    assert!(refused.count() > 0, "nobody asks too often");
    let about = server.ask("alice", "GET /v1/about").json();
    assert_eq!(about["policy"], "open");
    let metrics = server.ask("operator", "GET /metrics").body;
    assert!(metrics.contains("passhost_submissions_total 0"), "{metrics}");
}
