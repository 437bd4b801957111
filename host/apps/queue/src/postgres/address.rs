//! Addresses of databases, and connections over TLS, of which PostgreSQL's client knows no words.

use crate::QueueError;
use postgres::config::SslMode;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use postgres::{Client, Config, NoTls};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, RootCertStore, crypto};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::{TlsConnector, client};

/// How a database is reached.
pub struct Address {
    config: Config,
    tls: Option<Tls>,
}

impl Address {
    /// Reads `postgres://...?sslmode=verify-full&sslrootcert=FILE`, or the same in words.
    pub fn parse(text: &str) -> Result<Address, QueueError> {
        let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        let (before, settings, between) = match text.split_once('?') {
            Some((before, settings)) if is_url => (format!("{before}?"), settings.split('&').collect(), "&"),
            _ if is_url => (text.to_owned(), vec![], "&"),
            _ => (String::new(), words(text), " "),
        };
        let value = |text: &str| if is_url { percent_decoded(text) } else { text.replace(['\'', '\\'], "") };
        let (mut mode, mut roots, mut others) = (None, None, vec![]);
        for setting in settings {
            match setting.split_once('=') {
                Some(("sslmode", mode_text)) => mode = Some(value(mode_text)),
                Some(("sslrootcert", path)) => roots = Some(value(path)),
                _ => others.push(setting),
            }
        }
        let mut config: Config = (before + &others.join(between)).parse()?;
        // However it was written.
        if config.get_ssl_mode() == SslMode::Require {
            return Err(QueueError::SslMode("require".to_owned()));
        }
        // A machine that is gone closes no connection.
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(15));
        }
        config.keepalives_idle(Duration::from_secs(15));
        let tls = match (mode.as_deref(), roots) {
            (None | Some("disable"), None) => None,
            (Some("verify-full"), roots) => Some(Tls::new(roots.as_deref())?),
            (mode, _) => return Err(QueueError::SslMode(mode.unwrap_or_default().to_owned())),
        };
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        Ok(Address { config, tls })
    }

    pub fn connect(&self) -> Result<Client, postgres::Error> {
        match &self.tls {
            Some(tls) => self.config.connect(tls.clone()),
            None => self.config.connect(NoTls),
        }
    }
}

/// What stands between spaces that are not in quotes.
fn words(text: &str) -> Vec<&str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let is_end = |letter: char| {
        is_quoted ^= letter == '\'' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        letter.is_whitespace() && !is_quoted
    };
    text.split(is_end).collect()
}

fn percent_decoded(text: &str) -> String {
    let (mut value, mut rest) = (vec![], text.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        let decoded =
            after.get(..2).filter(|_| byte == b'%').and_then(|digits| base16ct::mixed::decode_vec(digits).ok());
        rest = if decoded.is_some() { &after[2..] } else { after };
        value.extend(decoded.unwrap_or_else(|| vec![byte]));
    }
    String::from_utf8_lossy(&value).into_owned()
}

/// Makes connections to servers whose names certificates of known authorities have.
#[derive(Clone)]
struct Tls(TlsConnector);

impl Tls {
    /// With the authorities of a file, or with those of this system.
    fn new(file: Option<&str>) -> Result<Tls, QueueError> {
        let name = file.unwrap_or("system");
        let wrong = |why: String| QueueError::Certificates { file: name.to_owned(), why };
        let certificates: Vec<CertificateDer<'static>> = match file {
            None | Some("system") => rustls_native_certs::load_native_certs().certs,
            Some(file) => CertificateDer::pem_file_iter(file)
                .and_then(Iterator::collect)
                .map_err(|error| wrong(error.to_string()))?,
        };
        let mut roots = RootCertStore::empty();
        if roots.add_parsable_certificates(certificates).0 == 0 {
            return Err(wrong("it has no certificate".to_owned()));
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }
}

/// A connector and the name that the server's certificate must have.
struct Handshake(TlsConnector, ServerName<'static>);

/// A connection over TLS.
struct Encrypted<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, InvalidDnsNameError> {
        Ok(Handshake(self.0.clone(), ServerName::try_from(host.to_owned())?))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { self.0.connect(self.1, stream).await.map(Encrypted) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        // The certificate is verified.
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, bytes)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
