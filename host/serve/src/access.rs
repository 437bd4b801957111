//! Who may ask for what: tokens, and how often each client may ask.

use crate::problem::Problem;
use crate::state::State;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Token(format!("{PREFIX}{}", base16ct::lower::encode_string(&bytes))))
    }

    /// What the client sends.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// The line of a client in the file of clients.
    pub fn line(&self, name: &str, role: Role) -> String {
        format!("{} {name} {}", role.word(), digest(&self.0))
    }
}

fn digest(secret: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(secret))
}

/// What a client may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Submit, and hear of its own.
    Client,
    /// That, and see how the server does.
    Operator,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Role::Client => "client",
            Role::Operator => "operator",
        }
    }
}

/// Why nobody may ask for anything.
#[derive(Debug, thiserror::Error)]
pub enum ClientsError {
    /// The file cannot be read.
    #[error("cannot read the clients `{}`: {source}; `passhost token NAME` prints a line for such a file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is not one.
    #[error("`{}`, line {line}: {reason}; a line is `client NAME HASH`, as `passhost token NAME` prints it", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// Nobody is in it.
    #[error("`{}` names no client; `passhost token NAME` prints a line for it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Everybody who may ask, by the hash of the token.
pub struct Clients(HashMap<String, Known>);

struct Known {
    name: Arc<str>,
    role: Role,
    rate: DefaultDirectRateLimiter,
}

impl Clients {
    /// Reads a file of clients, a line each; lines that begin with `#` and empty ones say nothing.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, names nobody, or has a line that is none, or a name or hash twice.
    pub fn read(path: &Path, rate: NonZeroU32) -> Result<Clients, ClientsError> {
        let failed = |source| ClientsError::Read { path: path.into(), source };
        // Nobody may ever write to a pipe, and a device may never end.
        let is_file = std::fs::metadata(path).map_err(failed)?.is_file();
        let text = if is_file { std::fs::read_to_string(path) } else { Err(io::Error::other("it is no regular file")) };
        let text = text.map_err(failed)?;
        let mut clients = Clients(HashMap::new());
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            clients.add(line, rate).map_err(|reason| ClientsError::Line {
                path: path.into(),
                line: number + 1,
                reason,
            })?;
        }
        if clients.0.is_empty() { Err(ClientsError::Empty { path: path.into() }) } else { Ok(clients) }
    }

    fn add(&mut self, line: &str, rate: NonZeroU32) -> Result<(), &'static str> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [role, name, hash] = words[..] else { return Err("expected three words") };
        let role = [Role::Client, Role::Operator].into_iter().find(|known| known.word() == role);
        let role = role.ok_or("the first word is neither `client` nor `operator`")?;
        if hash.len() != 64 || !hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err("the hash has other than 64 hexadecimal digits");
        }
        if self.0.values().any(|known| *known.name == *name) {
            return Err("this name stands in the file before");
        }
        let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(BURST - 1));
        let rate = RateLimiter::direct(Quota::per_second(rate).allow_burst(burst));
        match self.0.insert(hash.to_owned(), Known { name: name.into(), role, rate }) {
            None => Ok(()),
            Some(_) => Err("this hash stands in the file before"),
        }
    }

    /// Who shows this token, if it may ask now.
    fn admit(&self, token: Option<&str>) -> Result<Client, Problem> {
        let unknown =
            || Problem::new(StatusCode::UNAUTHORIZED, "send `Authorization: Bearer TOKEN` with a token of this server");
        // By its hash, so that the time it takes says nothing of other tokens.
        let known = token.and_then(|token| self.0.get(&digest(token))).ok_or_else(unknown)?;
        known.rate.check().map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            let detail = "this client asks too often; wait for jobs with `?wait=`, or ask less often";
            Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).after(wait.as_secs() + 1)
        })?;
        Ok(Client { name: Arc::clone(&known.name), role: known.role })
    }
}

/// Who asks.
#[derive(Debug, Clone)]
pub struct Client {
    /// As the operator calls it.
    pub name: Arc<str>,
    role: Role,
}

impl Client {
    /// Refuses who is no operator.
    pub fn is_operator(&self) -> Result<(), Problem> {
        match self.role {
            Role::Operator => Ok(()),
            Role::Client => Err(Problem::new(StatusCode::FORBIDDEN, "this is for operators of the server")),
        }
    }
}

impl FromRequestParts<State> for Client {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Client, Problem> {
        let value = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        state.clients.admit(value.and_then(|value| value.strip_prefix("Bearer ")))
    }
}
