//! Asks an endpoint, again where it is busy or an answer did not come whole. Tries are counted and waited for here and not by a
//! library: a pause ends as soon as somebody asks to stop, and what is said of a failure never holds the key.

use crate::error::EndpointError;
use crate::key::ApiKey;
use crate::wire::{self, ChatAnswer, Message, Style, WireError};
use passhost_result::untrusted::one_line;
use rustls::crypto::ring;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use ureq::http::Response;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Proxy};

/// Bytes of an answer that are read.
const LIMIT: u64 = 8 << 20;
/// The longest that is waited before it is tried again.
const LONGEST: Duration = Duration::from_secs(120);
/// How often it is looked whether somebody asked to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Characters of an endpoint's own words that are shown.
const SAID: usize = 300;

/// How often and how long it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Requests for one answer.
    pub tries: u32,
    /// What is waited before the second; twice as long before each further one.
    pub delay: Duration,
    /// Wall clock of one request.
    pub timeout: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { tries: 8, delay: Duration::from_secs(1), timeout: Duration::from_secs(600) }
    }
}

/// An endpoint that speaks chat completions.
#[derive(Debug, Clone)]
pub struct Endpoint {
    agent: Agent,
    address: String,
    key: Option<ApiKey>,
    style: Style,
    patience: Patience,
}

/// Why one request gave no answer.
enum Failed {
    /// It may give one later, after what the endpoint asks to wait.
    Later(String, Option<Duration>),
    Never(EndpointError),
}

impl Endpoint {
    /// That of an address such as `https://host/v1`.
    ///
    /// # Errors
    ///
    /// If the address is none, or would have the key go over a network in the clear.
    pub fn new(base: &str, key: Option<ApiKey>, style: Style, patience: Patience) -> Result<Endpoint, EndpointError> {
        let address = |reason| EndpointError::Address { address: one_line(base, SAID), reason };
        let (scheme, rest) = base.split_once("://").ok_or_else(|| address("write https://host/v1"))?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            // What stands before the sign may be a secret.
            let address = format!("{scheme}://...");
            return Err(EndpointError::Address { address, reason: "a key goes into a file or a variable" });
        }
        match scheme {
            "https" => {}
            "http" if key.is_none() || is_own(authority) => {}
            "http" => return Err(address("the key would go over the network in the clear; write https://")),
            _ => return Err(address("write https://host/v1")),
        }
        let certificates = rustls_native_certs::load_native_certs().certs;
        let roots: Vec<Certificate<'static>> =
            certificates.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
        if scheme == "https" && roots.is_empty() {
            return Err(address("this system has no certificates; install its package ca-certificates"));
        }
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::new_with_certs(&roots))
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .build();
        // A proxy would read what goes over plain HTTP, the key included.
        let proxy = if scheme == "https" { Proxy::try_from_env() } else { None };
        let config = Agent::config_builder()
            .tls_config(tls)
            .proxy(proxy)
            .http_status_as_error(false)
            // What the key is for is this address alone.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(patience.timeout))
            .user_agent(concat!("passhost/", env!("CARGO_PKG_VERSION")))
            .build();
        let address = format!("{}/chat/completions", base.trim_end_matches('/'));
        Ok(Endpoint { agent: config.new_agent(), address, key, style, patience })
    }

    /// What must not be kept of what the endpoint and its model say.
    pub fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// How requests are written.
    pub fn style(&self) -> &Style {
        &self.style
    }

    /// Asks for the next message.
    ///
    /// # Errors
    ///
    /// If none comes, or `stop` says to stop.
    pub fn ask(&self, messages: &[Message], stop: &dyn Fn() -> bool) -> Result<ChatAnswer, EndpointError> {
        let body = wire::request(&self.style, messages).to_string();
        let mut last = String::new();
        for tried in 0..self.patience.tries.max(1) {
            let (why, wait) = match self.answer(&body, stop) {
                Ok(answer) => return Ok(answer),
                Err(Failed::Never(error)) => return Err(error),
                Err(Failed::Later(why, wait)) => (why, wait),
            };
            last = why;
            if tried + 1 < self.patience.tries {
                pause(wait.unwrap_or_else(|| self.backoff(tried)).min(LONGEST), stop)?;
            }
        }
        Err(EndpointError::Exhausted { tries: self.patience.tries.max(1), last })
    }

    /// Twice as long each time, and between half and all of that, so that those who were refused together do not come back
    /// together.
    fn backoff(&self, tried: u32) -> Duration {
        let random = getrandom::u32().unwrap_or(u32::MAX);
        let share = 0.5 + f64::from(random) / f64::from(u32::MAX) / 2.0;
        self.patience.delay.saturating_mul(1 << tried.min(16)).min(LONGEST).mul_f64(share)
    }

    /// One request, on a thread of its own: it is left to itself where somebody asks to stop.
    fn answer(&self, body: &str, stop: &dyn Fn() -> bool) -> Result<ChatAnswer, Failed> {
        let (sender, receiver) = mpsc::channel();
        let (endpoint, request) = (self.clone(), body.to_owned());
        std::thread::spawn(move || drop(sender.send(endpoint.exchange(&request))));
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if !stop() => {}
                Err(RecvTimeoutError::Timeout) => return Err(Failed::Never(EndpointError::Stopped)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failed::Later("the request ended without an answer".to_owned(), None));
                }
            }
        }
    }

    fn exchange(&self, body: &str) -> Result<ChatAnswer, Failed> {
        let mut request = self.agent.post(&self.address).header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {}", key.text()));
        }
        let later = |error: ureq::Error| Failed::Later(self.said(&error.to_string()), None);
        let response = request.send(body).map_err(later)?;
        let status = response.status().as_u16();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (kind, wait) = (header("content-type").unwrap_or_default(), header("retry-after"));
        let text = read(response).map_err(|error| Failed::Later(self.said(&error.to_string()), None))?;
        match status {
            200..=299 => {
                let is_stream = kind.starts_with("text/event-stream");
                let answer = if is_stream { wire::read_stream } else { wire::read_whole }(&text, body.len());
                let answer = answer.map_err(|error: WireError| Failed::Later(self.said(&error.to_string()), None))?;
                Ok(self.answer_without_key(answer))
            }
            408 | 409 | 425 | 429 | 500..=599 => {
                let wait = wait.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
                Err(Failed::Later(format!("status {status}: {}", self.said(&text)), wait))
            }
            _ => Err(Failed::Never(EndpointError::Refused { status, said: self.said(&text) })),
        }
    }

    fn said(&self, text: &str) -> String {
        one_line(&self.without_key(text), SAID)
    }

    fn without_key(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.removed_from(text))
    }

    /// Nothing that an endpoint says may carry the key into a request or a trajectory. The answer is whole here: its pieces
    /// may have cut the key.
    fn answer_without_key(&self, mut answer: ChatAnswer) -> ChatAnswer {
        let calls = answer.message.tool_calls.iter_mut();
        let of_calls = calls.flat_map(|call| [&mut call.id, &mut call.function.name, &mut call.function.arguments]);
        let others = [&mut answer.message.content, &mut answer.finish].into_iter().chain(&mut answer.refusal);
        for text in others.chain(of_calls) {
            *text = self.without_key(text);
        }
        answer
    }
}

/// Whether it is this machine.
fn is_own(authority: &str) -> bool {
    let host = authority.rsplit_once(':').map_or(authority, |(host, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { host } else { authority }
    });
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

fn read(mut response: Response<ureq::Body>) -> io::Result<String> {
    let mut bytes = vec![];
    response.body_mut().as_reader().take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT {
        return Err(io::Error::other(format!("the answer has more than the {LIMIT} bytes that are read")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("the answer is no UTF-8"))
}

/// Waits, and looks meanwhile whether somebody asked to stop.
fn pause(time: Duration, stop: &dyn Fn() -> bool) -> Result<(), EndpointError> {
    let started = Instant::now();
    loop {
        if stop() {
            return Err(EndpointError::Stopped);
        }
        let Some(left) = time.checked_sub(started.elapsed()).filter(|left| !left.is_zero()) else { return Ok(()) };
        std::thread::sleep(left.min(LOOK));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn endpoint(base: &str, key: Option<&str>) -> Result<Endpoint, EndpointError> {
        let style = Style { model: "m".into(), has_tools: true, streams: false, temperature: None };
        Endpoint::new(base, key.map(|key| ApiKey::new(key).unwrap()), style, Patience::default())
    }

    #[test]
    fn a_key_goes_over_no_network_in_the_clear_and_is_shown_nowhere() {
        let cases = [
            ("http://127.0.0.1:8000/v1", true),
            ("http://localhost/v1/", true),
            ("http://[::1]:8000", true),
            ("http://localhost.example/v1", false),
            ("http://192.0.2.1/v1", false),
            ("https://sk-secret@example.org/v1", false),
            ("ftp://127.0.0.1", false),
            ("example.org", false),
        ];
        for (base, is_taken) in cases {
            let made = endpoint(base, Some("sk-secret"));
            assert_eq!(made.is_ok(), is_taken, "{base}");
            let shown = made.map_or_else(|error| format!("{error} {error:?}"), |endpoint| format!("{endpoint:?}"));
            assert!(!shown.contains("sk-secret"), "{shown}");
        }
        assert!(endpoint("http://192.0.2.1/v1", None).is_ok(), "without a key there is nothing to hide");
    }

    #[test]
    fn an_answer_is_without_the_key_also_where_its_pieces_cut_it() {
        let pieces = [
            serde_json::json!({"content": "it is sk-secret-", "refusal": "sk-secret-"}),
            serde_json::json!({"content": "of-a-test", "refusal": "of-a-test"}),
            serde_json::json!({"tool_calls": [{"index": 0, "id": "sk-secret-of-a-test", "function": {
                "name": "sk-secret-of-a-test", "arguments": "{\"a\": \"sk-secret",
            }}]}),
            serde_json::json!({"tool_calls": [{"index": 0, "function": {"arguments": "-of-a-test\"}"}}]}),
        ];
        let event =
            |delta: &serde_json::Value| format!("data: {}\n", serde_json::json!({"choices": [{"delta": delta}]}));
        let end = "data: {\"choices\": [{\"finish_reason\": \"sk-secret-of-a-test\"}]}\n";
        let answer = wire::read_stream(&(pieces.iter().map(event).collect::<String>() + end), 0).unwrap();
        let kept =
            endpoint("http://127.0.0.1/v1", Some("sk-secret-of-a-test")).unwrap().answer_without_key(answer.clone());
        let text = serde_json::to_string(&kept).unwrap();
        assert!(!text.contains("sk-secret") && text.matches("<key>").count() == 6, "{text}");
        let with_word = endpoint("http://127.0.0.1/v1", Some("secret")).unwrap();
        assert_eq!(with_word.answer_without_key(answer.clone()), answer, "a short key is a word like others");
    }

    #[test]
    fn plain_http_goes_through_no_proxy() {
        let endpoint = endpoint("http://127.0.0.1/v1", None).unwrap();
        assert!(endpoint.agent.config().proxy().is_none());
    }

    #[test]
    fn what_is_waited_doubles_less_a_random_part_and_has_an_end() {
        let endpoint = endpoint("http://127.0.0.1/v1", None).unwrap();
        for (tried, most) in [(0, 1), (1, 2), (5, 32), (9, 120), (90, 120)] {
            let (wait, most) = (endpoint.backoff(tried), Duration::from_secs(most));
            assert!(most / 2 <= wait && wait <= most, "{wait:?} after {tried}");
        }
    }
}
