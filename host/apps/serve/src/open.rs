//! Connections that are open: told when the server drains, and waited for. As `hyper_util::server::graceful`, which takes
//! connections that may become something else than HTTP with HTTP/2 alone.

use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1::UpgradeableConnection;
use hyper::service::HttpService;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_io_timeout::TimeoutStream;

/// A connection with requests on it.
type HttpConnection<S> = UpgradeableConnection<TokioIo<Pin<Box<TimeoutStream<TcpStream>>>>, S>;

/// Connections that are open.
pub struct Open {
    /// Each connection has a receiver.
    ending: watch::Sender<bool>,
}

impl Open {
    pub fn new() -> Open {
        Open { ending: watch::Sender::new(false) }
    }

    /// Serves a connection to its end, or to the end of the request that is being answered when the server ends.
    pub fn watch<S>(&self, connection: HttpConnection<S>) -> impl Future<Output = hyper::Result<()>> + Send + 'static
    where
        S: HttpService<Incoming, ResBody = Body, Error = Infallible> + Send + 'static,
        S::Future: Send,
    {
        let mut ending = self.ending.subscribe();
        async move {
            let mut connection = pin!(connection);
            tokio::select! {
                ended = connection.as_mut() => return ended,
                _ = ending.wait_for(|ending| *ending) => connection.as_mut().graceful_shutdown(),
            }
            connection.await
        }
    }

    /// Has all of them end, and waits for that.
    pub async fn shutdown(&self) {
        self.ending.send_replace(true);
        self.ending.closed().await;
    }
}
