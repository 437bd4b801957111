//! The process in which cases are put to the host: what kills it or hangs is seen from outside.

use crate::random::Random;
use crate::target::{Outcome, Target};
use crate::targets::{Name, each};
use passhost_protocol::{FrameError, MAX_FRAME, Most, Reply, Room, read_frame, write_frame};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::io::{BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The argument that makes the program a worker.
pub const ROLE: &str = "worker";

/// Bytes of memory that a worker may hold at once, plugins and samples of all cases so far included.
const RESIDENT: u64 = 1 << 30;
/// Bytes of addresses, for what grows without being touched.
const ADDRESSES: u64 = 16 << 30;

/// What a worker is to do. Cases are those of numbers `first..first + count`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Work {
    /// What is fuzzed.
    pub target: Name,
    /// All cases of a seed are drawn from it.
    pub seed: u64,
    /// The number of the first case.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// Whether cases are only drawn, and handed back.
    pub only_drawn: bool,
}

/// What a worker says. There is one message for each case, in order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum FromWorker {
    /// It is ready for the first case.
    Ready,
    /// What came of a case.
    Done {
        /// How it is counted, or what is wrong.
        outcome: Outcome,
        /// The most memory that the process held at once so far, in bytes.
        peak: u64,
        /// The most that a process held which it started.
        peak_of_children: u64,
    },
    /// A case as it was drawn.
    Drawn(Vec<u8>),
    /// There can be no cases.
    Unable(String),
}

impl Reply for FromWorker {
    // A worker is one of ours, and hands back cases of any length.
    const KINDS: &'static [Room] = &[Room::Fixed(Most { bytes: MAX_FRAME, items: MAX_FRAME }); 4];
}

/// Does what the process at the other end of the standard streams asks.
///
/// # Errors
///
/// If the streams break.
pub fn serve() -> Result<(), FrameError> {
    let work: Work = read_frame(&mut std::io::stdin().lock(), MAX_FRAME)?;
    let _ = setrlimit(Resource::As, Rlimit { current: Some(ADDRESSES), maximum: Some(ADDRESSES) });
    let mut output = BufWriter::new(std::io::stdout().lock());
    let panicked = Arc::new(Mutex::new(String::new()));
    let last = Arc::clone(&panicked);
    std::panic::set_hook(Box::new(move |panic| {
        *last.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    each!(work.target, target => match target {
        Ok(mut target) => cases(&work, &mut target, &mut output, &panicked),
        Err(error) => write_frame(&mut output, &FromWorker::Unable(error)),
    })
}

fn cases<T: Target>(
    work: &Work,
    target: &mut T,
    output: &mut impl Write,
    panicked: &Mutex<String>,
) -> Result<(), FrameError> {
    write_frame(output, &FromWorker::Ready)?;
    for number in work.first..work.first.saturating_add(work.count) {
        let case = target.make(&mut Random::new(work.seed, number));
        if work.only_drawn {
            write_frame(output, &FromWorker::Drawn(target.written(&case)))?;
            continue;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| target.run(&case))).unwrap_or_else(|_| {
            let message = panicked.lock().unwrap_or_else(PoisonError::into_inner);
            Err(format!("panicked: {message}"))
        });
        let (peak, peak_of_children) = peaks();
        let outcome = match outcome {
            Ok(_) if peak > RESIDENT => Err(format!("the process holds {} MiB", peak >> 20)),
            outcome => outcome,
        };
        write_frame(output, &FromWorker::Done { outcome, peak, peak_of_children })?;
        if peak > RESIDENT {
            // A fresh process starts at the next case with nothing.
            return Ok(());
        }
    }
    Ok(())
}

/// The most memory that this process and any that it waited for held at once, in bytes.
fn peaks() -> (u64, u64) {
    let of = |whom| {
        // SAFETY: an all-zero `rusage` is one, and the call writes to nothing else.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a `rusage` that lives until the call returns.
        unsafe { libc::getrusage(whom, &raw mut usage) };
        u64::try_from(usage.ru_maxrss).unwrap_or_default() << 10
    };
    (of(libc::RUSAGE_SELF), of(libc::RUSAGE_CHILDREN))
}
