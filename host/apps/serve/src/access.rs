//! Who may ask for what: tokens, and how much each client may ask for at once.

use crate::connection::ClientConnection;
use crate::limits::ServerLimits;
use crate::problem::Problem;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use base64ct::{Base64, Encoding as _};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use passhost_queue::random_hexadecimal;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// How tokens begin, so that one in a log is known for what it is.
const PREFIX: &str = "passhost_";
/// Random bytes of a token.
const BYTES: usize = 32;
/// How many requests a client may have saved up, in seconds of its rate.
const BURST: u32 = 10;

/// A secret that a client shows. Only its hash is kept.
pub struct Token(String);

impl Token {
    /// A fresh one.
    ///
    /// # Errors
    ///
    /// If the system gives no random bytes.
    pub fn random() -> Result<Token, getrandom::Error> {
        Ok(Token(format!("{PREFIX}{}", random_hexadecimal::<BYTES>()?)))
    }

    /// What the client sends.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// The line of a client in the file of clients.
    pub fn line(&self, name: &str, role: ClientRole) -> String {
        format!("{} {name} {}", role.word(), digest(&self.0))
    }
}

fn digest(secret: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(secret))
}

/// What a client may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientRole {
    /// Submit, and hear of its own.
    Client,
    /// That, and see how the server does.
    Operator,
}

impl ClientRole {
    fn word(self) -> &'static str {
        match self {
            ClientRole::Client => "client",
            ClientRole::Operator => "operator",
        }
    }
}

/// Why nobody may ask for anything.
#[derive(Debug, thiserror::Error)]
pub enum ClientsError {
    /// The file cannot be read.
    #[error("cannot read the clients `{path}`: {1}; `passhost token NAME` prints a line for such a file", path = .0.display())]
    Read(PathBuf, std::io::Error),
    /// A line is not one.
    #[error("`{path}`, line {1}: {2}; a line is `client NAME HASH`, as `passhost token NAME` prints it", path = .0.display())]
    Line(PathBuf, usize, &'static str),
    /// Nobody is in it.
    #[error("`{}` names no client; `passhost token NAME` prints a line for it", .0.display())]
    Empty(PathBuf),
}

/// Everybody who may ask, by the hash of the token.
pub struct Clients(HashMap<String, KnownClient>);

struct KnownClient {
    name: Arc<str>,
    role: ClientRole,
    rate: DefaultDirectRateLimiter,
    /// Connections that it may open besides those that it has.
    connections: Arc<Semaphore>,
    /// KiB of submissions that may be received of it besides those that are.
    receiving: Arc<Semaphore>,
    /// Connections with episodes that it may open besides those that it has.
    sessions: Arc<Semaphore>,
}

/// What clients have at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientUsage {
    pub connections: usize,
    /// Bytes of submissions that are being received or not on the disk yet.
    pub receiving: usize,
    /// Connections with episodes.
    pub sessions: usize,
}

impl KnownClient {
    /// Counts a request; how long to wait if it comes too early.
    fn paced(&self) -> Result<(), Duration> {
        self.rate.check().map_err(|until| until.wait_time_from(DefaultClock::default().now()))
    }
}

impl Clients {
    /// Counts a request of a client that was admitted before; how long to wait if it comes too early.
    pub(crate) fn pace(&self, client: &str) -> Result<(), Duration> {
        self.0.values().find(|known| *known.name == *client).map_or(Ok(()), KnownClient::paced)
    }

    /// Reads a file of clients, a line each; lines that begin with `#` and empty ones say nothing.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, names nobody, or has a line that is none, or a name or hash twice.
    pub fn read(path: &Path, limits: &ServerLimits) -> Result<Clients, ClientsError> {
        let failed = |source| ClientsError::Read(path.into(), source);
        // Nobody may ever write to a pipe, and a device may never end.
        let is_file = std::fs::metadata(path).map_err(failed)?.is_file();
        let text = if is_file { std::fs::read_to_string(path) } else { Err(io::Error::other("it is no regular file")) };
        let text = text.map_err(failed)?;
        let mut clients = Clients(HashMap::new());
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            clients.add(line, limits).map_err(|reason| ClientsError::Line(path.into(), number + 1, reason))?;
        }
        if clients.0.is_empty() { Err(ClientsError::Empty(path.into())) } else { Ok(clients) }
    }

    fn add(&mut self, line: &str, limits: &ServerLimits) -> Result<(), &'static str> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [role, name, hash] = words[..] else { return Err("expected three words") };
        let role = [ClientRole::Client, ClientRole::Operator].into_iter().find(|known| known.word() == role);
        let role = role.ok_or("the first word is neither `client` nor `operator`")?;
        if hash.len() != 64 || !hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err("the hash has other than 64 hexadecimal digits");
        }
        if self.0.values().any(|known| *known.name == *name) {
            return Err("this name stands in the file before");
        }
        let rate = limits.rate;
        let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(BURST - 1));
        let rate = RateLimiter::direct(Quota::per_second(rate).allow_burst(burst));
        let connections = semaphore(limits.connections);
        let (receiving, sessions) = (semaphore(kibibytes(limits.receiving)), semaphore(limits.episodes.sessions));
        let known = KnownClient { name: name.into(), role, rate, connections, receiving, sessions };
        match self.0.insert(hash.to_owned(), known) {
            None => Ok(()),
            Some(_) => Err("this hash stands in the file before"),
        }
    }

    /// How many there are.
    #[allow(clippy::len_without_is_empty, reason = "a file that names nobody is refused")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What they have at the moment.
    pub(crate) fn usage(&self, limits: &ServerLimits) -> ClientUsage {
        let of = |permits: usize, left: fn(&KnownClient) -> &Semaphore| -> usize {
            self.0.values().map(|known| permits.saturating_sub(left(known).available_permits())).sum()
        };
        ClientUsage {
            connections: of(limits.connections, |known| &known.connections),
            receiving: 1024 * of(kibibytes(limits.receiving), |known| &known.receiving),
            sessions: of(limits.episodes.sessions, |known| &known.sessions),
        }
    }

    /// Waits until no client has a connection with episodes.
    pub(crate) async fn sessions_ended(&self, limits: &ServerLimits) {
        let all = u32::try_from(limits.episodes.sessions).unwrap_or(u32::MAX);
        for known in self.0.values() {
            // Nothing closes a semaphore.
            let _ = known.sessions.acquire_many(all).await;
        }
    }

    /// Who shows this token, if it may ask now, on this connection.
    fn admit(&self, token: Option<&str>, connection: Option<Arc<ClientConnection>>) -> Result<Client, Problem> {
        // By its hash, so that the time it takes says nothing of other tokens.
        let known = token.and_then(|token| self.0.get(&digest(token))).ok_or_else(unknown)?;
        known.paced().map_err(|wait| {
            let detail = "this client asks too often; wait for jobs with `?wait=`, or ask less often";
            Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).after(wait.as_secs() + 1)
        })?;
        if connection.as_ref().is_some_and(|connection| !connection.belongs_to(&known.name, &known.connections)) {
            let detail = "this client has as many connections open as it may; close some, or ask again on one of them";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).after(10).closing());
        }
        Ok(Client {
            name: Arc::clone(&known.name),
            role: known.role,
            receiving: Arc::clone(&known.receiving),
            sessions: Arc::clone(&known.sessions),
            _connection: connection,
        })
    }
}

fn unknown() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "send `Authorization: Bearer TOKEN` with a token of this server")
}

fn semaphore(permits: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)))
}

/// So many, rounded up: what semaphores count in.
pub(crate) fn kibibytes(bytes: usize) -> usize {
    bytes.div_ceil(1024)
}

/// Who asks.
#[derive(Debug, Clone)]
pub struct Client {
    /// As the operator calls it.
    pub name: Arc<str>,
    role: ClientRole,
    /// Room for its submissions, in KiB.
    pub(crate) receiving: Arc<Semaphore>,
    /// Room for its connections with episodes.
    pub(crate) sessions: Arc<Semaphore>,
    /// Has its place for as long as anything is answered on it.
    _connection: Option<Arc<ClientConnection>>,
}

impl Client {
    /// Refuses who is no operator.
    pub fn is_operator(&self) -> Result<(), Problem> {
        match self.role {
            ClientRole::Operator => Ok(()),
            ClientRole::Client => Err(Problem::new(StatusCode::FORBIDDEN, "this is for operators of the server")),
        }
    }
}

impl Clients {
    /// Who sends a request with these headers, if it may ask now.
    pub(crate) fn of_request(&self, parts: &Parts) -> Result<Client, Problem> {
        let value = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let connection = parts.extensions.get::<Arc<ClientConnection>>().cloned();
        let Some(pair) = value.strip_prefix("Basic ") else {
            return self.admit(value.strip_prefix("Bearer "), connection);
        };
        // As `http://NAME:TOKEN@host` is sent, by programs that can be given an address alone.
        let pair = Base64::decode_vec(pair.trim()).ok().and_then(|pair| String::from_utf8(pair).ok());
        let (name, token) = pair.as_deref().and_then(|pair| pair.split_once(':')).unwrap_or_default();
        let client = self.admit(Some(token), connection)?;
        if *client.name == *name { Ok(client) } else { Err(unknown()) }
    }
}
