//! The child's side of the protocol: a greeting, one plugin, and then one reply to each request.

use crate::plugin::{CompiledPlugin, LoadedComponent};
use passhost_confine::{ConfineError, SandboxProfile, guest};
use passhost_ir::alias::never_copies;
use passhost_ir::{Arg, Infer, InferError, OpName, OpTable, TensorType};
use passhost_protocol::guest::{FromGuest, GuestFailure, Limit, ToGuest, room_for_log, room_for_rewrite};
use passhost_protocol::{FrameError, MAX_FRAME, Most, read_frame, write_reply};
use passhost_result::GuestLimits;
use std::io;
use std::time::{Duration, Instant};

/// Stack for the host's own functions, besides the plugin's.
const HOST_STACK: u64 = 4 << 20;

/// Why the child stops before the supervisor closes the connection.
#[derive(Debug, thiserror::Error)]
pub enum GuestServeError {
    /// The connection broke.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The process still has rights that it must not have.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// No engine can be made on this machine.
    #[error("cannot make a WebAssembly engine: {0}")]
    Engine(String),
    /// A message that has no place here.
    #[error("expected {0}, got another message; the programs passhost and passhost-guest must be of one build")]
    UnexpectedMessage(&'static str),
    /// The thread that runs the plugin cannot be started, or failed.
    #[error("the thread that runs the plugin {0}")]
    Thread(String),
}

/// Serves the supervisor at standard input and output until it closes the connection, in a process that is confined
/// already ([`guest::before_anything`]).
///
/// # Errors
///
/// If the connection breaks or the supervisor speaks out of turn, or the process cannot be confined further.
pub fn serve(profile: SandboxProfile) -> Result<(), GuestServeError> {
    let engine = crate::engine::new(GuestLimits::default().stack)
        .map_err(|error| GuestServeError::Engine(format!("{error:#}")))?;
    send(&FromGuest::Hello { engine: crate::engine::identity(&engine), profile })?;
    let (wasm, artefact, limits) = match receive() {
        Ok(ToGuest::Load { wasm, artefact, limits }) => (wasm, artefact, limits),
        Ok(_) => return Err(GuestServeError::UnexpectedMessage("Load")),
        Err(FrameError::Closed) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    guest::before_loading(&limits)?;
    on_a_thread(&limits, move || serve_plugin(&wasm, artefact.as_deref(), limits))?
}

/// A thread of its own, because the stack of the main one has whatever size this process inherited.
pub(crate) fn on_a_thread<T: Send + 'static>(
    limits: &GuestLimits,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, GuestServeError> {
    let stack = usize::try_from(limits.stack.saturating_add(HOST_STACK)).unwrap_or(usize::MAX);
    let started = std::thread::Builder::new().name("plugin".into()).stack_size(stack).spawn(work);
    let thread = started.map_err(|error| GuestServeError::Thread(format!("cannot be started: {error}")))?;
    thread.join().map_err(|_| GuestServeError::Thread("panicked; this is a bug of passhost".into()))
}

fn serve_plugin(wasm: &[u8], artefact: Option<&[u8]>, limits: GuestLimits) -> Result<(), GuestServeError> {
    let started = Instant::now();
    // SAFETY: the supervisor started this process and authenticates what it sends as an artefact.
    let loaded = unsafe { CompiledPlugin::load(wasm, artefact, limits) };
    let plugin = match loaded {
        Ok(LoadedComponent { plugin, artefact }) => {
            guest::before_plugin_code()?;
            // Sent before any code of the plugin runs: what the supervisor signs was made by the compiler alone.
            send(&FromGuest::Loaded { artefact, wall_us: microseconds(started.elapsed()) })?;
            Some(plugin)
        }
        Err(failure) => {
            send(&FromGuest::Failed(failure))?;
            None
        }
    };
    loop {
        let request = match receive() {
            Ok(request) => request,
            Err(FrameError::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let Some(plugin) = &plugin else {
            return Err(GuestServeError::UnexpectedMessage("the end of the connection, for no plugin is loaded"));
        };
        guest::allow_processor_time(Duration::from_millis(limits.deadline_ms))?;
        match request {
            ToGuest::Describe => {
                let (info, usage) = plugin.describe();
                send_more(&FromGuest::Described(info, usage), room_for_log(&limits))?;
            }
            ToGuest::Run { graph, device, inserts_calls, infer_calls } => {
                let host = Box::new(AskSupervisor { inserts_calls });
                let (rewrite, usage) = plugin.run(&graph, device, infer_calls, host);
                let more = room_for_rewrite(&limits, &graph);
                match send_more(&FromGuest::Ran(rewrite, usage.clone()), more) {
                    // The limit on output is above what a message may have.
                    Err(FrameError::TooLong { limit, .. }) => {
                        let failure = GuestFailure::Limit { limit: Limit::Output, value: limit as u64 };
                        send_more(&FromGuest::Ran(Err(failure), usage), more)?;
                    }
                    sent => sent?,
                }
            }
            ToGuest::Load { .. } | ToGuest::Inferred(_) => {
                return Err(GuestServeError::UnexpectedMessage("Describe or Run"));
            }
        }
    }
}

/// Passes a plugin's questions about types on.
struct AskSupervisor {
    /// Whether the rewrite may call ops that the graph does not call, views apart.
    inserts_calls: bool,
}

impl Infer for AskSupervisor {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let broken = |error: FrameError| InferError::Unavailable(error.to_string());
        send(&FromGuest::Infer { op: op.clone(), args: args.to_vec() }).map_err(broken)?;
        match receive().map_err(broken)? {
            ToGuest::Inferred(answer) => answer,
            _ => Err(InferError::Unavailable("the supervisor answered something else".into())),
        }
    }

    fn may_insert(&mut self, op: &OpName) -> bool {
        OpTable::insert().get(op).is_some_and(|schema| self.inserts_calls || never_copies(schema))
    }
}

fn receive() -> Result<ToGuest, FrameError> {
    read_frame(&mut io::stdin().lock(), MAX_FRAME)
}

fn send(message: &FromGuest) -> Result<(), FrameError> {
    send_more(message, Most::default())
}

/// Sends a message that may have so much more than one of its kind has by itself.
fn send_more(message: &FromGuest, more: Most) -> Result<(), FrameError> {
    write_reply(&mut io::stdout().lock(), message, more)
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
