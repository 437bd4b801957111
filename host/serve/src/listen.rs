//! The sockets and threads of a server.

use crate::api::router;
use crate::error::ServeError;
use crate::grading::{Grader, work};
use crate::open::Open;
use crate::state::{Site, State};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use passhost_queue::Queue;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// How often is looked whether the server is to end.
const LOOK: Duration = Duration::from_millis(100);
/// How often is looked for what need not be kept any more.
const TIDY: Duration = Duration::from_secs(3600);
/// How long requests that are being answered may take when the server ends.
const GRACE: Duration = Duration::from_secs(10);
/// After an error of the socket, which is most often a lack of descriptors.
const PAUSE: Duration = Duration::from_millis(50);
/// Threads that answer requests. Those that grade are beside them.
const THREADS: usize = 2;

/// Answers requests, and has submissions graded, until `is_stopped`. Then jobs that are being graded are ended, no other is
/// begun, and what waits goes on waiting in the queue.
///
/// # Errors
///
/// If the sockets cannot be used, or the queue cannot be written.
pub fn serve(
    listener: std::net::TcpListener,
    site: Site,
    queue: Arc<dyn Queue>,
    graders: Vec<Box<dyn Grader>>,
    is_stopped: impl Fn() -> bool + Send + Sync,
) -> Result<(), ServeError> {
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let state = State::new(site, queue);
    std::thread::scope(|scope| {
        let work = |mut grader: Box<dyn Grader>| {
            let (state, handle) = (state.clone(), runtime.handle().clone());
            move || work(&state, &mut *grader, &handle)
        };
        let graders: Vec<_> = graders.into_iter().map(|grader| scope.spawn(work(grader))).collect();
        let answered = answer(&runtime, listener, &state, &is_stopped);
        let _ = state.ending.send_replace(true);
        for grader in graders {
            grader.join().map_err(|_| ServeError::Grader)??;
        }
        answered
    })
}

fn answer(
    runtime: &Runtime,
    listener: std::net::TcpListener,
    state: &State,
    is_stopped: &(impl Fn() -> bool + Send + Sync),
) -> Result<(), ServeError> {
    listener.set_nonblocking(true)?;
    runtime.block_on(async {
        let tidying = tokio::spawn(tidy(state.clone()));
        let listener = TcpListener::from_std(listener)?;
        let connections = Connections::new(state);
        tokio::select! {
            () = connections.accept(&listener) => {},
            () = stopped(state, is_stopped) => {},
        }
        // What waits for a job is answered now.
        let _ = state.ending.send_replace(true);
        drop(listener);
        let _ = timeout(GRACE, async { tokio::join!(connections.open.shutdown(), state.seats.all_left()) }).await;
        tidying.abort();
        Ok(())
    })
}

async fn stopped(state: &State, is_stopped: &(impl Fn() -> bool + Send + Sync)) {
    while !is_stopped() && !state.is_ending() {
        sleep(LOOK).await;
    }
}

/// Removes what nobody has to know any more.
async fn tidy(state: State) {
    loop {
        let keep = state.limits.keep;
        // The next time will do as well.
        let _ = state.ask(move |queue| queue.forget(keep)).await;
        sleep(TIDY).await;
    }
}

struct Connections {
    room: Arc<Semaphore>,
    http: http1::Builder,
    router: Router,
    open: Open,
}

impl Connections {
    fn new(state: &State) -> Connections {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(state.limits.request);
        let room = Arc::new(Semaphore::new(state.limits.connections));
        Connections { room, http, router: router(state.clone()), open: Open::new() }
    }

    /// Takes connections while there is room for them; others wait with the system.
    async fn accept(&self, listener: &TcpListener) {
        while let Ok(room) = self.room.clone().acquire_owned().await {
            match listener.accept().await {
                Ok((stream, _)) => self.talk(stream, room),
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    fn talk(&self, stream: TcpStream, room: OwnedSemaphorePermit) {
        let service = TowerToHyperService::new(self.router.clone());
        let connection = self.open.watch(self.http.serve_connection(TokioIo::new(stream), service).with_upgrades());
        tokio::spawn(async move {
            // A client that breaks off is its own business.
            let _ = connection.await;
            drop(room);
        });
    }
}
