//! Names what ended a call.

use crate::check::cut;
use crate::imports::Exited;
use crate::meter::Meter;
use passhost_protocol::guest::{GuestFailure, Limit};
use passhost_result::GuestLimits;
use wasmtime::Trap;

/// The longest message of a plugin that is passed on, in characters.
pub(crate) const MESSAGE: usize = 4000;

/// What wasmtime says when a plugin hands over more than [`GuestLimits::output`]. The error has no public type; a test
/// sees that the words stay.
const TOO_MUCH_DATA: &str = "too much data is being copied between the host and the guest";

/// What was going on when a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Making the instance, start functions included.
    Instantiate,
    /// The call itself, with what it returned being read.
    Call,
}

/// Classifies by what the host itself recorded and by types of errors, never by text that a plugin could have written.
/// Order matters: a limit that was hit often shows as a panic later on.
pub(crate) fn classify(error: &wasmtime::Error, phase: Phase, meter: &Meter, limits: &GuestLimits) -> GuestFailure {
    let limit = |limit| GuestFailure::Limit { limit, value: value_of(limits, limit) };
    if let Some(hit) = meter.hit {
        return limit(hit);
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        return match trap {
            Trap::OutOfFuel => limit(Limit::Fuel),
            Trap::StackOverflow => limit(Limit::Stack),
            Trap::Interrupt => limit(Limit::Deadline),
            // How Rust aborts after a panic.
            Trap::UnreachableCodeReached => GuestFailure::Trap(
                panic_message(meter).unwrap_or_else(|| "`unreachable` executed without a message".into()),
            ),
            // Frames that need memory overrun it before WebAssembly's own stack is full.
            Trap::MemoryOutOfBounds => {
                GuestFailure::Trap(format!("{trap} (endless recursion looks like this as well)"))
            }
            other => GuestFailure::Trap(other.to_string()),
        };
    }
    if error.is::<Exited>() {
        return GuestFailure::Trap(Exited.to_string());
    }
    if phase == Phase::Call && error.root_cause().to_string().starts_with(TOO_MUCH_DATA) {
        return limit(Limit::Output);
    }
    let text = cut(&format!("{error:#}"), MESSAGE);
    match phase {
        Phase::Instantiate => GuestFailure::Compile(text),
        Phase::Call => GuestFailure::Malformed(text),
    }
}

/// The value of a limit, in the unit of its field.
pub(crate) fn value_of(limits: &GuestLimits, limit: Limit) -> u64 {
    match limit {
        Limit::Fuel => limits.fuel,
        Limit::Memory => limits.memory,
        Limit::Tables => limits.tables,
        Limit::Stack => limits.stack,
        Limit::Deadline => limits.deadline_ms,
        Limit::Log => limits.log,
        Limit::Output => limits.output,
        Limit::InferCalls => limits.infer_calls,
        Limit::Answers => limits.answers_ms,
        Limit::Wasm => limits.wasm,
        Limit::Compile => limits.compile_ms,
    }
}

/// The last panic message that a component printed: in standard error, or in the log, which the SDK prints to. All of
/// standard error if there is none. This is shown and nothing else.
fn panic_message(meter: &Meter) -> Option<String> {
    let [stderr, log] = [&meter.stderr, &meter.log].map(|printed| String::from_utf8_lossy(printed));
    let panic = |text: &str| text.rfind("panicked at ").map(|start| text[start..].to_owned());
    let message = panic(&stderr).or_else(|| panic(&log)).unwrap_or_else(|| stderr.into_owned());
    let lines = message.lines().filter(|line| !line.starts_with("note: run with `RUST_BACKTRACE"));
    let message = lines.collect::<Vec<_>>().join("\n");
    let message = message.trim();
    (!message.is_empty()).then(|| cut(message, MESSAGE))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::meter::LogSource;

    #[test]
    fn the_panic_message_is_found_in_what_was_printed() {
        const PANIC: &str = "before\nthread '<unnamed>' (1) panicked at src/lib.rs:3:5:\nno such node: 7\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        const MESSAGE: &str = "panicked at src/lib.rs:3:5:\nno such node: 7";
        for (source, printed, expected) in [
            (LogSource::Stderr, "", None),
            (LogSource::Stderr, " \n", None),
            (LogSource::Stderr, "only words\n", Some("only words")),
            (LogSource::Log, "only words\n", None),
            (LogSource::Stderr, PANIC, Some(MESSAGE)),
            (LogSource::Log, PANIC, Some(MESSAGE)),
        ] {
            let mut meter = Meter::new(GuestLimits::default());
            meter.write(source, printed.as_bytes()).unwrap();
            assert_eq!(panic_message(&meter).as_deref(), expected, "{source:?} {printed:?}");
        }
    }
}
