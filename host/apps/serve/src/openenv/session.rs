//! A connection: messages in and out, and when it ends.

use super::episode_tools::Workplace;
use super::paced::Paced;
use super::session_table::SessionTable;
use super::wire::{EpisodeAnswer, EpisodeFault, EpisodeRequest};
use super::workplace::ClientWorkplace;
use crate::access::Client;
use crate::limits::EpisodeLimits;
use crate::state::ServerState;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, Join, ReadHalf, WriteHalf, copy, join, sink, split};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

/// How often a client is asked whether it is there.
const PING: Duration = Duration::from_secs(20);
/// It is looked no more often.
const LOOK: Duration = Duration::from_millis(1);
/// After how long of nothing at all it is taken for gone.
const GONE: Duration = Duration::from_secs(70);
/// How long a client may take to read an answer, and to say goodbye.
const READING: Duration = Duration::from_secs(30);
/// How long, and how many bytes, of what cannot be read are forgotten before a connection is cut off.
const DRAINING: Duration = Duration::from_secs(5);
const FORGOTTEN: u64 = 8 << 20;
/// Requests that may come while one is answered: OpenEnv's clients wait for each answer.
const AHEAD: usize = 1;
/// Bytes that wait to be written, beyond which the socket must take some: of answers, pings and pongs together.
const BUFFERED: usize = 16 << 10;
/// Bytes that wait to be written at most. The longest answer is shorter.
const UNWRITTEN: usize = 1 << 20;

type UpgradedStream = TokioIo<Upgraded>;
type Socket = WebSocketStream<Join<Paced<ReadHalf<UpgradedStream>>, WriteHalf<UpgradedStream>>>;

/// Holds a connection to its end, and its place until nothing of it goes on: whoever hears the end may take it again.
pub async fn hold(upgraded: Upgraded, state: ServerState, client: Client, permit: OwnedSemaphorePermit) {
    let limits = state.limits.episodes;
    let config = WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(BUFFERED)
        .max_write_buffer_size(UNWRITTEN)
        .max_message_size(Some(limits.message))
        .max_frame_size(Some(limits.message));
    let (clients, name) = (state.clone(), Arc::clone(&client.name));
    let (reader, writer) = split(TokioIo::new(upgraded));
    let reader = Paced::new(reader, move || clients.clients.pace(&name));
    let mut socket = WebSocketStream::from_raw_socket(join(reader, writer), Role::Server, Some(config)).await;
    state.metrics.sessions.inc();
    let workplace: Arc<dyn Workplace> = Arc::new(ClientWorkplace::new(state.clone(), Arc::clone(&client.name)));
    let mut table = SessionTable::new(workplace, limits);
    let closing = EpisodeConnection::new(&mut socket, &state).serve(&mut table).await;
    // Whoever hears the end finds nothing going on any more.
    table.clear().await;
    drop(permit);
    if let Some(closing) = closing {
        close(&mut socket, closing).await;
    }
}

/// How a connection ends: the last message, and the close frame.
struct SessionClose {
    /// What the client finds where it looks for an answer.
    fault: Option<EpisodeFault>,
    code: CloseCode,
}

impl SessionClose {
    fn of_the_end() -> SessionClose {
        SessionClose::new(CloseCode::Away, "the server is about to end, and the episode with it")
    }

    fn new(code: CloseCode, message: impl Into<String>) -> SessionClose {
        SessionClose { fault: Some(EpisodeFault::session(message)), code }
    }
}

async fn close(socket: &mut Socket, closing: SessionClose) {
    let SessionClose { fault, code } = closing;
    let reason: String = fault.iter().flat_map(|fault| fault.message.chars()).take(60).collect();
    let speaking = async {
        if let Some(fault) = fault {
            socket.send(Message::text(EpisodeAnswer::Fault(fault).text())).await?;
        }
        socket.close(Some(CloseFrame { code, reason: reason.into() })).await?;
        // Until the client has said goodbye as well; after what could not be read, nothing is read as messages.
        while let Some(message) = socket.next().await {
            message?;
        }
        Ok::<(), Error>(())
    };
    let _ = timeout(READING, speaking).await;
    if matches!(code, CloseCode::Size | CloseCode::Protocol) {
        // What is on its way is forgotten: who is cut off while it writes may never read the last words.
        let mut rest = socket.get_mut().reader_mut().unpaced().take(FORGOTTEN);
        let _ = timeout(DRAINING, copy(&mut rest, &mut sink())).await;
    }
}

/// Why what came cannot be read.
fn unread(error: &Error, limit: usize) -> Option<SessionClose> {
    match error {
        Error::Capacity(_) => {
            let words = format!("a message has more than {limit} bytes, which is the limit");
            Some(SessionClose::new(CloseCode::Size, words))
        }
        Error::Utf8(_) | Error::Protocol(_) => {
            Some(SessionClose::new(CloseCode::Protocol, "what came is no message of a WebSocket"))
        }
        _ => None,
    }
}

async fn ended(ending: &mut watch::Receiver<bool>) {
    // The sender lives as long as the server.
    let _ = ending.wait_for(|ending| *ending).await;
}

/// A connection whose requests are answered.
struct EpisodeConnection<'a> {
    socket: &'a mut Socket,
    state: &'a ServerState,
    limits: EpisodeLimits,
    ending: watch::Receiver<bool>,
    ticks: Interval,
    /// When anything came last.
    heard: Instant,
    /// When a request was answered last.
    active: Instant,
    is_answering: bool,
    /// Requests that came while one was answered.
    ahead: VecDeque<Message>,
}

impl<'a> EpisodeConnection<'a> {
    fn new(socket: &'a mut Socket, state: &'a ServerState) -> EpisodeConnection<'a> {
        let mut ticks = interval(PING.min(state.limits.episodes.idle).max(LOOK));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (now, ending, limits) = (Instant::now(), state.grading.ending.subscribe(), state.limits.episodes);
        let (heard, active, is_answering, ahead) = (now, now, false, VecDeque::new());
        EpisodeConnection { socket, state, limits, ending, ticks, heard, active, is_answering, ahead }
    }

    /// Answers until the connection ends; the last words, if there is somebody to hear them.
    async fn serve(mut self, table: &mut SessionTable) -> Option<SessionClose> {
        loop {
            let message = match self.ahead.pop_front() {
                Some(message) => message,
                None => match self.next().await {
                    Ok(message) => message,
                    Err(end) => return end,
                },
            };
            self.is_answering = true;
            if let Err(end) = self.respond(message, table).await {
                return end;
            }
            (self.is_answering, self.active) = (false, Instant::now());
        }
    }

    async fn respond(&mut self, message: Message, table: &mut SessionTable) -> Result<(), Option<SessionClose>> {
        let request = match &message {
            Message::Text(text) => EpisodeRequest::read(text.as_str()),
            _ => Err(EpisodeFault::no_json("a message is text, and no bytes")),
        };
        let answer = match request {
            Ok(EpisodeRequest::Close) => return Err(Some(SessionClose { fault: None, code: CloseCode::Normal })),
            Ok(request) => {
                self.state.metrics.requests.inc();
                let answering = table.answer(request);
                tokio::pin!(answering);
                loop {
                    tokio::select! {
                        answer = &mut answering => break answer,
                        message = self.next(), if self.ahead.len() < AHEAD => self.ahead.push_back(message?),
                    }
                }
            }
            Err(fault) => EpisodeAnswer::Fault(fault),
        };
        self.send(Message::text(answer.text())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Option<SessionClose>> {
        match timeout(READING, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(None),
        }
    }

    /// The next request, or why there is none. What is dropped before its end has lost nothing.
    async fn next(&mut self) -> Result<Message, Option<SessionClose>> {
        loop {
            tokio::select! {
                message = self.socket.next() => {
                    self.heard = Instant::now();
                    match message {
                        Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => return Ok(message),
                        Some(Ok(Message::Close(_))) | None => return Err(None),
                        // A ping has been answered: nothing more is read until that answer is written.
                        Some(Ok(_)) => self.flush().await?,
                        Some(Err(error)) => return Err(unread(&error, self.limits.message)),
                    }
                }
                () = ended(&mut self.ending) => {
                    return Err(Some(SessionClose::of_the_end()));
                }
                _ = self.ticks.tick() => self.look().await?,
            }
        }
    }

    /// Writes what waits to be written. A client that takes nothing of it in [`READING`] is cut off.
    async fn flush(&mut self) -> Result<(), Option<SessionClose>> {
        let written = tokio::select! {
            written = timeout(READING, self.socket.flush()) => written,
            () = ended(&mut self.ending) => return Err(Some(SessionClose::of_the_end())),
        };
        if matches!(written, Ok(Ok(()))) { Ok(()) } else { Err(None) }
    }

    /// Looks whether the client is there, and whether it has anything to say.
    async fn look(&mut self) -> Result<(), Option<SessionClose>> {
        let EpisodeLimits { idle, .. } = self.limits;
        if self.heard.elapsed() > GONE {
            return Err(None);
        }
        if !self.is_answering && self.active.elapsed() > idle {
            let words = format!("nothing was asked for {} seconds; the episode has ended", idle.as_secs());
            return Err(Some(SessionClose::new(CloseCode::Policy, words)));
        }
        self.send(Message::Ping(Vec::new().into())).await
    }
}
