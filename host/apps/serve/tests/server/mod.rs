//! A server in this process, whose grader does what a test says and whose queue is a real one.

#![allow(dead_code, reason = "each test program uses a part")]

use passhost_agent_tools::{CliRunner, DeviceGate};
use passhost_queue::{Embedded, Queue, Worker};
use passhost_serve::{
    ClientRole, Clients, Graded, Grader, JobsOfSample, ServedSite, ServerError, ServerInfo, ServerLimits, SessionStore,
    ShutdownMode, SubmittedJob, Token, serve,
};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

/// Longest wait for anything that must come.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often is asked for what must come, which takes minutes.
const ASKS: usize = 100_000;
pub const SAMPLE: &str = "POST /v1/evaluations?sample=s";
pub const WASM: (&str, &str) = ("Content-Type", "application/wasm");

/// A grader that says when it begins, and waits for what it is to say.
struct Told {
    begun: Sender<SubmittedJob>,
    outcomes: Receiver<Graded>,
}

impl Grader for Told {
    fn grade(&mut self, jobs: &mut dyn JobsOfSample) {
        while let Some(job) = jobs.next() {
            // Nobody listens any more when a test ends.
            let _ = self.begun.send(job);
            jobs.ended(self.outcomes.recv().unwrap_or_else(|_| Graded::Trouble("the test is over".to_owned())));
        }
    }
}

/// What clients show, by their names.
#[derive(Clone)]
pub struct Tokens(BTreeMap<&'static str, String>);

impl Tokens {
    /// New ones, in the file of clients of this directory.
    pub fn new(place: &Path) -> Tokens {
        let (mut lines, mut tokens) = (String::new(), BTreeMap::new());
        for (name, role) in
            [("alice", ClientRole::Client), ("bob", ClientRole::Client), ("operator", ClientRole::Operator)]
        {
            let token = Token::random().unwrap();
            lines.push_str(&format!("{}\n", token.line(name, role)));
            tokens.insert(name, token.secret().to_owned());
        }
        std::fs::write(place.join("clients"), lines).unwrap();
        Tokens(tokens)
    }
}

/// What a server is called that has its files in this directory.
pub fn name(place: &Path) -> String {
    place.display().to_string()
}

/// What a server offers that has its files in this directory.
pub fn site(place: &Path, clients: Clients, limits: ServerLimits) -> ServedSite {
    let about = ServerInfo { host: "0".into(), devices: vec!["cpu".into()], policy: "open".into() };
    let samples = BTreeMap::from([("s".to_owned(), vec!["list".to_owned()])]);
    let worker = Worker { name: name(place), host: name(place), offers: vec![] };
    ServedSite { worker, samples, clients, about, limits, sessions: session_store(place), judge: None }
}

/// Asks a server, wherever it runs.
pub struct Asker {
    pub address: SocketAddr,
    pub tokens: Tokens,
}

pub struct Server {
    asker: Asker,
    pub queue: Arc<dyn Queue>,
    /// Jobs that the grader begins.
    pub begun: Receiver<SubmittedJob>,
    /// What it is to say; without one, it goes on grading.
    pub outcomes: Option<Sender<Graded>>,
    wish: Arc<Mutex<ShutdownMode>>,
    thread: Option<JoinHandle<Result<(), ServerError>>>,
    _place: TempDir,
}

impl std::ops::Deref for Server {
    type Target = Asker;

    fn deref(&self) -> &Asker {
        &self.asker
    }
}

/// What was answered.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// In small letters.
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub fn id(&self) -> String {
        assert_eq!(self.status, 202, "{self:?}");
        self.json()["id"].as_str().unwrap_or_default().to_owned()
    }
}

/// The real queue, in a file of this directory.
pub fn queue(place: &Path, limits: passhost_queue::QueueLimits) -> Arc<dyn Queue> {
    Arc::new(Embedded::open(&place.join("queue"), limits).unwrap())
}

/// Where episodes would be worked on. Nothing here begins one.
fn session_store(place: &Path) -> SessionStore {
    let runner = CliRunner {
        program: "passhost".into(),
        policy: vec![],
        eval: vec![],
        check: vec![],
        cores: vec![],
        withheld: vec![],
        gate: Arc::new(DeviceGate::new(false)),
        stop: Arc::new(|| false),
    };
    SessionStore::open(runner, "", None, BTreeMap::new(), &place.join("episodes"), vec![], 1).unwrap()
}

impl Server {
    pub fn start(limits: ServerLimits) -> Server {
        Server::start_on(limits, |place| queue(place, passhost_queue::QueueLimits::default()))
    }

    pub fn start_on(limits: ServerLimits, queue: impl FnOnce(&Path) -> Arc<dyn Queue>) -> Server {
        Server::start_offering(&[], limits, queue)
    }

    /// One that evaluates what needs this, and whose submissions do.
    pub fn start_offering(
        offers: &[&str],
        limits: ServerLimits,
        queue: impl FnOnce(&Path) -> Arc<dyn Queue>,
    ) -> Server {
        let place = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(place.path());
        let clients = Clients::read(&place.path().join("clients"), &limits).unwrap();
        let queue = queue(place.path());
        let mut site = site(place.path(), clients, limits);
        site.worker.offers = offers.iter().map(|&offer| offer.to_owned()).collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let ((begun_to, begun), (outcomes, outcomes_of)) = (channel(), channel());
        let graders: Vec<Box<dyn Grader>> = vec![Box::new(Told { begun: begun_to, outcomes: outcomes_of })];
        let wish = Arc::new(Mutex::new(ShutdownMode::GoOn));
        let (wished, of_server) = (Arc::clone(&wish), Arc::clone(&queue));
        let serving = move || serve(listener, site, of_server, graders, move || *wished.lock().unwrap());
        let thread = Some(std::thread::spawn(serving));
        let asker = Asker { address, tokens };
        Server { asker, queue, begun, outcomes: Some(outcomes), wish, thread, _place: place }
    }

    /// What it is called on its queue.
    pub fn name(&self) -> String {
        name(self._place.path())
    }

    pub fn wish(&self, wish: ShutdownMode) {
        *self.wish.lock().unwrap() = wish;
    }

    /// Waits until it has ended.
    pub fn ended(&mut self) -> Result<(), ServerError> {
        self.thread.take().unwrap().join().unwrap()
    }

    pub fn says(&self, text: &str) {
        self.grades(Graded::Document(serde_json::json!({ "said": text }).to_string()));
    }

    pub fn grades(&self, outcome: Graded) {
        self.outcomes.as_ref().unwrap().send(outcome).unwrap();
    }

    pub fn begins(&self) -> SubmittedJob {
        self.begun.recv_timeout(PATIENCE).unwrap()
    }
}

impl Asker {
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A request, after which the connection is closed unless a header says otherwise.
    pub fn request(&self, client: &str, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let mut text = format!("{line} HTTP/1.1\r\nHost: here\r\n");
        if let Some(token) = self.tokens.0.get(client) {
            text.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        if !headers.iter().any(|(name, _)| *name == "Connection") {
            text.push_str("Connection: close\r\n");
        }
        headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        [text.as_bytes(), b"\r\n", body].concat()
    }

    /// What is answered to bytes that may be no request.
    pub fn raw(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.write_all(bytes).ok()?;
        read_answer(&mut stream)
    }

    /// A connection that has become a WebSocket.
    pub fn session(&self, client: &str) -> Option<TcpStream> {
        let headers = [
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.write_all(&self.request(client, "GET /ws", &headers, b"")).ok()?;
        let mut head = vec![];
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        head.starts_with(b"HTTP/1.1 101").then_some(stream)
    }

    pub fn ask(&self, client: &str, line: &str) -> Answer {
        self.raw(&self.request(client, line, &[], b"")).unwrap()
    }

    pub fn submit(&self, client: &str, body: &[u8]) -> Answer {
        self.submit_with(client, &[], body)
    }

    pub fn submit_with(&self, client: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.raw(&self.submission(client, headers, body)).unwrap()
    }

    pub fn submission(&self, client: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let length = body.len().to_string();
        let headers = [headers, &[WASM, ("Content-Length", length.as_str())]].concat();
        self.request(client, SAMPLE, &headers, body)
    }

    /// A number of the server, as Prometheus reads it.
    pub fn metric(&self, name: &str) -> u64 {
        let text = self.ask("operator", "GET /metrics").body;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("passhost_{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    /// Asks for that number until it is this one.
    pub fn wait_for(&self, name: &str, value: u64) {
        let comes = (0..ASKS).any(|_| self.metric(name) == value);
        assert!(comes, "{name} is {}, expected {value}", self.metric(name));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.wish(ShutdownMode::EndNow);
        self.outcomes = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The rest of what is answered on a connection.
pub fn read_answer(stream: &mut TcpStream) -> Option<Answer> {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_lowercase(), body: body.to_owned() })
}

/// Events as they come.
pub struct Events(BufReader<TcpStream>);

impl Events {
    pub fn of(server: &Server, client: &str, id: &str) -> Events {
        let mut stream = server.connect();
        let request = server.request(client, &format!("GET /v1/evaluations/{id}/events"), &[], b"");
        stream.write_all(&request).unwrap();
        Events(BufReader::new(stream))
    }

    /// The next one; `None` when there is no more.
    pub fn next(&mut self) -> Option<serde_json::Value> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(text) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(text).unwrap());
            }
        }
    }
}
