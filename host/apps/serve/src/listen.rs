//! The sockets and threads of a server.

use crate::api::router;
use crate::connection::UnauthenticatedConnections;
use crate::error::ServerError;
use crate::grading::{Grader, LOOK, ShutdownMode, not_panicked};
use crate::openenv;
use crate::state::{ServedSite, ServerState};
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use passhost_queue::Queue;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

/// How often is looked for what need not be kept any more.
const TIDY: Duration = Duration::from_secs(3600);
/// How long requests that are being answered may take when the server ends.
const GRACE: Duration = Duration::from_secs(10);
/// After an error of the socket, which is most often a lack of descriptors.
const PAUSE: Duration = Duration::from_millis(50);
/// Threads that answer requests. Those that grade are beside them.
const THREADS: usize = 2;
/// Threads that may wait for the disk, beside those of episodes.
const BLOCKING: usize = 512;
/// Bytes of the head of a request that are read, and of an answer that are held before they are written.
const HEAD: usize = 64 << 10;

/// Answers requests, and has submissions graded, until somebody wishes otherwise. After [`ShutdownMode::EndNow`] graders may be at work
/// still when this returns: what they find nobody takes, and the process should end.
///
/// # Errors
///
/// If the sockets cannot be used, or the queue cannot be written.
pub fn serve(
    listener: std::net::TcpListener,
    site: ServedSite,
    queue: Arc<dyn Queue>,
    graders: Vec<Box<dyn Grader>>,
    mode: impl Fn() -> ShutdownMode,
) -> Result<(), ServerError> {
    // A call of an episode holds a thread of its own while it goes on, and takes none from those that wait for the disk.
    let calls = site.clients.len().saturating_mul(site.limits.episodes.sessions);
    let blocking = BLOCKING.saturating_add(calls);
    let runtime =
        Builder::new_multi_thread().worker_threads(THREADS).max_blocking_threads(blocking).enable_all().build()?;
    // Those before it of this name are gone: what they graded waits again, and nobody asks for evaluations of their episodes.
    queue.recover(&site.worker.name)?;
    queue.withdraw(&openenv::keys(&site.worker.name))?;
    let state = ServerState::new(site, queue);
    let judging = state.judge.clone().map(|judge| {
        let judging = state.clone();
        std::thread::spawn(move || {
            let count = |refused| _ = judging.metrics.results_refused.inc_by(refused as u64);
            judging.grading.judge(&*judge, count);
        })
    });
    let (served, handle) = (state.clone(), runtime.handle().clone());
    // Where both would use the same processors, no command of an episode runs meanwhile.
    let alone = move |grade: &mut dyn FnMut()| {
        let _alone = handle.block_on(served.sessions.undisturbed());
        grade();
    };
    let graders = state.grading.begin(graders, runtime.handle(), Arc::new(alone));
    let answered = answer(&runtime, listener, &state, &mode);
    // Who grades nothing ends by itself, and needs the runtime until then.
    graders.end(&state.grading, &mode)?;
    judging.map_or(Ok(()), not_panicked)?;
    answered
}

fn answer(
    runtime: &Runtime,
    listener: std::net::TcpListener,
    state: &ServerState,
    mode: &impl Fn() -> ShutdownMode,
) -> Result<(), ServerError> {
    listener.set_nonblocking(true)?;
    runtime.block_on(async {
        let tidying = tokio::spawn(tidy(state.clone()));
        let listener = TcpListener::from_std(listener)?;
        let connections = Connections::new(state);
        tokio::select! {
            () = connections.accept(&listener) => {},
            () = stopped(state, mode) => {},
        }
        // What waits for a job is answered now.
        let _ = state.grading.ending.send_replace(true);
        drop(listener);
        let _ =
            timeout(GRACE, async { tokio::join!(connections.shutdown(), state.clients.sessions_ended(&state.limits)) })
                .await;
        tidying.abort();
        Ok(())
    })
}

async fn stopped(state: &ServerState, mode: &impl Fn() -> ShutdownMode) {
    while mode() == ShutdownMode::GoOn && !state.is_ending() {
        sleep(LOOK).await;
    }
}

/// Removes what nobody has to know any more.
async fn tidy(state: ServerState) {
    loop {
        let keep = state.limits.keep;
        // The next time will do as well.
        let _ = state.ask(move |queue| queue.forget(keep)).await;
        sleep(TIDY).await;
    }
}

struct Connections {
    unauthenticated: Arc<UnauthenticatedConnections>,
    /// Time in which a connection must have shown a token, and in which some of an answer must be taken.
    patience: [Duration; 2],
    http: http1::Builder,
    router: Router,
    /// Says that the server ends; each connection that is open has a receiver.
    ending: watch::Sender<bool>,
}

impl Connections {
    fn new(state: &ServerState) -> Connections {
        let limits = &state.limits;
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(limits.request).max_buf_size(HEAD);
        let (unauthenticated, patience) = (Arc::clone(&state.unauthenticated), [limits.introduction, limits.request]);
        Connections {
            unauthenticated,
            patience,
            http,
            router: router(state.clone()),
            ending: watch::Sender::new(false),
        }
    }

    async fn accept(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => self.talk(stream),
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    fn talk(&self, stream: TcpStream) {
        let (connection, is_known) = self.unauthenticated.enter();
        let [introduction, taking] = self.patience;
        let router = TowerToHyperService::new(self.router.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Arc::clone(&connection));
            router.call(request)
        });
        // Who takes nothing of an answer is cut off, so that none is held for somebody who never reads it.
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(taking));
        let socket = TokioIo::new(Box::pin(stream));
        let talk = self.http.serve_connection(socket, service).with_upgrades();
        let mut ending = self.ending.subscribe();
        tokio::spawn(async move {
            let mut talk = pin!(talk);
            tokio::select! {
                // A client that breaks off is its own business.
                _ = talk.as_mut() => return,
                known = timeout(introduction, is_known) => if !matches!(known, Ok(Ok(()))) { return },
                _ = ending.wait_for(|ending| *ending) => {}
            }
            // As `hyper_util::server::graceful`, which takes connections that may become something else than HTTP with
            // HTTP/2 alone: the request that is being answered when the server ends is the last.
            tokio::select! {
                _ = talk.as_mut() => return,
                _ = ending.wait_for(|ending| *ending) => talk.as_mut().graceful_shutdown(),
            }
            let _ = talk.await;
        });
    }

    /// Has all connections end, and waits for that.
    async fn shutdown(&self) {
        self.ending.send_replace(true);
        self.ending.closed().await;
    }
}
