//! Objects in a bucket of S3, or of a server that speaks as S3 does.

use super::signature::{S3Credentials, SignedParts};
use super::store::{ObjectError, ObjectStore};
use crate::record::sha256;
use rustls::crypto::ring;
use std::io::Read as _;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Proxy, http};

/// Tries of one request, and the time before the second; twice as long before each further one.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(100);
const CONNECT: Duration = Duration::from_secs(5);
/// Bytes of a refusal that are read.
const REFUSAL: u64 = 64 << 10;

pub struct S3Store {
    agent: Agent,
    /// As in `https://host`.
    origin: String,
    host: String,
    /// What stands before names.
    path: String,
    address: String,
    credentials: S3Credentials,
}

struct S3Request<'a> {
    method: &'a str,
    name: &'a str,
    body: &'a [u8],
    /// Bytes of the answer: one more is read.
    limit: u64,
    until: Instant,
}

impl S3Store {
    /// Of `s3://BUCKET/PREFIX`, of which `place` is the end.
    pub fn new(address: &str, place: &str, variable: impl Fn(&str) -> Option<String>) -> Result<S3Store, ObjectError> {
        let wrong = |why: String| ObjectError::Address { address: address.to_owned(), why };
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let needed = |name: &str| variable(name).ok_or_else(|| wrong(format!("the variable {name} is not set")));
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        let prefix = prefix.trim_matches('/');
        // Nothing here has two ways to be written in an address.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let parts: Vec<&str> =
            std::iter::once(bucket).chain(prefix.split('/').filter(|_| !prefix.is_empty())).collect();
        if parts.iter().any(|part| part.trim_matches('.').is_empty() || !part.bytes().all(is_plain)) {
            return Err(wrong("its parts are not letters, digits and `-_.`".to_owned()));
        }
        let region = variable("AWS_REGION").unwrap_or_else(|| "us-east-1".to_owned());
        // A bucket with a dot has a name that certificates do not have.
        let (origin, in_path) = match variable("AWS_ENDPOINT_URL") {
            Some(endpoint) => (endpoint.trim_end_matches('/').to_owned(), true),
            None if bucket.contains('.') => (format!("https://s3.{region}.amazonaws.com"), true),
            None => (format!("https://{bucket}.s3.{region}.amazonaws.com"), false),
        };
        let host = match origin.split_once("://") {
            Some(("https" | "http", host)) if !host.contains(['/', '@', '?', '#']) => host.to_owned(),
            _ => return Err(wrong("AWS_ENDPOINT_URL is not like https://HOST".to_owned())),
        };
        let path: String = parts[usize::from(!in_path)..].iter().map(|part| format!("/{part}")).collect();
        let credentials = S3Credentials {
            access_key: needed("AWS_ACCESS_KEY_ID")?,
            secret: needed("AWS_SECRET_ACCESS_KEY")?,
            token: variable("AWS_SESSION_TOKEN"),
            region,
        };
        let agent = agent(origin.starts_with("https"));
        Ok(S3Store { agent, origin, host, path, address: address.trim_end_matches('/').to_owned(), credentials })
    }

    /// The answer, `None` if there is no such object. It is asked again where the store is busy or away.
    fn ask(&self, request: &S3Request<'_>) -> Result<Option<Vec<u8>>, ObjectError> {
        let (object, mut tried, mut pause) = (self.described(request.name), 1, PAUSE);
        loop {
            let (is_passing, why) = match self.ask_once(request) {
                Ok((200 | 204, bytes)) => return Ok(Some(bytes)),
                Ok((404, bytes)) if code(&bytes) == "NoSuchKey" => return Ok(None),
                Ok((status @ 300..=399, _)) => (false, format!("status {status}: no redirect is followed")),
                Ok((status, bytes)) => {
                    (matches!(status, 408 | 429 | 500..), format!("status {status} {}", code(&bytes)))
                }
                Err(error) => (true, error.to_string()),
            };
            if !is_passing {
                return Err(ObjectError::Refused { object, why });
            }
            if tried == TRIES || Instant::now() + pause >= request.until {
                return Err(ObjectError::Away { object, why });
            }
            sleep(pause);
            (tried, pause) = (tried + 1, pause * 2);
        }
    }

    /// The status of the answer, and its bytes.
    fn ask_once(&self, asked: &S3Request<'_>) -> Result<(u16, Vec<u8>), ureq::Error> {
        let (method, path, hash) = (asked.method, format!("{}/{}", self.path, asked.name), sha256(asked.body));
        let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string().replace(['-', ':'], "");
        let mut headers = vec![("host", &*self.host), ("x-amz-content-sha256", &*hash), ("x-amz-date", &*time)];
        headers.extend(self.credentials.token.as_deref().map(|token| ("x-amz-security-token", token)));
        let parts = SignedParts { method, path: &path, headers: &headers, sha256: &hash, time: &time };
        let signed = self.credentials.authorization(&parts);
        let mut request = http::Request::builder().method(method).uri(format!("{}{path}", self.origin));
        for (name, value) in headers.into_iter().chain([("authorization", &*signed)]) {
            request = request.header(name, value);
        }
        let (agent, left) = (&self.agent, Some(asked.until.saturating_duration_since(Instant::now())));
        let answer = match method {
            "PUT" => agent.run(agent.configure_request(request.body(asked.body)?).timeout_global(left).build())?,
            _ => agent.run(agent.configure_request(request.body(())?).timeout_global(left).build())?,
        };
        let status = answer.status().as_u16();
        let limit = if status == 200 { asked.limit } else { REFUSAL };
        let mut bytes = vec![];
        answer.into_body().into_reader().take(limit + 1).read_to_end(&mut bytes)?;
        Ok((status, bytes))
    }
}

impl ObjectStore for S3Store {
    fn put(&self, name: &str, body: &[u8], until: Instant) -> Result<(), ObjectError> {
        self.ask(&S3Request { method: "PUT", name, body, limit: REFUSAL, until }).map(drop)
    }

    fn get(&self, name: &str, limit: u64, until: Instant) -> Result<Option<Vec<u8>>, ObjectError> {
        self.ask(&S3Request { method: "GET", name, body: b"", limit, until })
    }

    fn remove(&self, name: &str, until: Instant) -> Result<(), ObjectError> {
        self.ask(&S3Request { method: "DELETE", name, body: b"", limit: REFUSAL, until }).map(drop)
    }

    fn described(&self, name: &str) -> String {
        format!("{}/{name}", self.address)
    }
}

/// What asks this one server, and goes where it points to nowhere else.
fn agent(is_encrypted: bool) -> Agent {
    let certificates = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<Certificate<'static>> =
        certificates.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build();
    let config = Agent::config_builder()
        .tls_config(tls)
        .proxy(if is_encrypted { Proxy::try_from_env() } else { None })
        .https_only(is_encrypted)
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_connect(Some(CONNECT))
        .user_agent(concat!("passhost/", env!("CARGO_PKG_VERSION")));
    config.build().new_agent()
}

/// The code of a refusal, of its XML.
fn code(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>")).map(|(code, _)| code);
    code.unwrap_or_default().chars().filter(char::is_ascii_alphanumeric).take(64).collect()
}
