//! What a failure means: whose doing it is, and what to do about it.

use crate::guest::GuestError;
use crate::process::ChildError;
use passhost_protocol::device::{NotCaptured, TimedProgram};
use passhost_protocol::guest::{GuestFailure, Limit};
use passhost_result::document::{Blame, Failure, failure};
use passhost_result::untrusted::one_line;

/// What to do where a child does not start.
pub const DOCTOR: &str = "run `passhost doctor`";
/// What to do where a child cannot be confined as it must.
pub const UNCONFINED: &str =
    "use a kernel with Landlock and seccomp (THREAT_MODEL.md), or leave --require-confinement out";

/// Programs that were to be timed as captured ones and cannot be: the pass's doing only where eager can.
pub fn not_captured(reason: &NotCaptured) -> Failure {
    let (blame, hint) = match reason {
        NotCaptured::Op { program, .. } | NotCaptured::Differs { program, .. } => match program {
            TimedProgram::Reference => (Blame::Sample, "leave out --launch graph for this sample"),
            TimedProgram::Rewrite => (
                Blame::Plugin,
                "eager can be captured: insert no op that waits for the device, or leave out --launch graph",
            ),
        },
        NotCaptured::Nothing(_) => (Blame::Host, "leave out --launch graph"),
    };
    let message = if blame == Blame::Plugin { reason.to_string() } else { format!("not measured: {reason}") };
    failure(blame, "timing", message, hint)
}

/// What a failure of the guest child means. Only what happened twice, or what the child itself reports, is charged to
/// the plugin.
pub fn guest_failure(stage: &str, error: GuestError) -> Failure {
    let (blame, hint) = match &error {
        GuestError::Plugin(failure) => match failure {
            GuestFailure::Host(_) => (Blame::Host, DOCTOR),
            failure => (Blame::Plugin, hint(failure)),
        },
        GuestError::Child(ChildError::Unconfined { .. }) => (Blame::Host, UNCONFINED),
        GuestError::Child(error) if error.is_hosts() => (Blame::Host, DOCTOR),
        GuestError::Child(_) => (Blame::Plugin, "the process that runs it died twice; report a crash of the sandbox"),
    };
    Failure { blame, stage: stage.into(), message: one_line(&error.to_string(), 600), hint: hint.into() }
}

fn hint(failure: &GuestFailure) -> &'static str {
    match failure {
        GuestFailure::NotComponent(_) => "build the pass as a cdylib for the target wasm32-wasip2",
        GuestFailure::Version { .. } => "rebuild the pass with the guest SDK of this host's version",
        GuestFailure::ForbiddenImport(_) => {
            "a pass has no files, sockets, clocks or environment; remove the code that needs them"
        }
        GuestFailure::MissingExport(_) => "register the pass with passhost_guest_sdk::register!",
        GuestFailure::Compile(_) => "check that the file is whole and built for WebAssembly 2.0 without extensions",
        GuestFailure::Limit { limit, .. } => match limit {
            Limit::Fuel => "the pass may loop; else raise --limit-fuel",
            Limit::Memory => "the pass may leak; else raise --limit-memory",
            Limit::Tables => "the module's tables are too large for a pass",
            Limit::Stack => "the pass may recurse without end; else raise --limit-stack",
            Limit::Deadline => "the pass may loop; else raise --limit-deadline",
            Limit::Log => "log less, or raise --limit-log",
            Limit::Output => "return a smaller graph, or raise --limit-output",
            Limit::Answers => "ask for fewer or smaller types, or raise --limit-answers",
            Limit::InferCalls => "ask for each type once and keep it, or raise --limit-infer-calls",
            Limit::Wasm => "build with the profile `plugin`, or raise --limit-wasm",
            Limit::Compile => "make the module smaller, or raise --limit-compile",
        },
        GuestFailure::Trap(_) => "see the log of the pass; `passhost show` runs it alone",
        GuestFailure::Refused(_) => "the message is the pass's own",
        GuestFailure::Malformed(_) => "build the returned graph with the guest SDK's editor",
        GuestFailure::Host(_) => DOCTOR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::NodeId;

    #[test]
    fn what_eager_cannot_do_captured_is_no_plugins_doing() {
        let op = |program| NotCaptured::Op {
            program,
            node: NodeId(3),
            op: "aten::dropout".into(),
            message: "it draws random numbers".into(),
        };
        let differs = |program| NotCaptured::Differs { program, output: 1 };
        let nothing = NotCaptured::Nothing("no headers".into());
        for (reason, blame, said) in [
            (op(TimedProgram::Reference), Blame::Sample, "not measured: node #3 (aten::dropout) of the reference"),
            (op(TimedProgram::Rewrite), Blame::Plugin, "node #3 (aten::dropout) of the rewrite"),
            (differs(TimedProgram::Reference), Blame::Sample, "the reference gives another output 1"),
            (differs(TimedProgram::Rewrite), Blame::Plugin, "the rewrite gives another output 1"),
            (nothing, Blame::Host, "no headers"),
        ] {
            let failure = not_captured(&reason);
            assert_eq!((failure.blame, failure.stage.as_str()), (blame, "timing"));
            assert!(failure.message.contains(said), "{}", failure.message);
        }
    }
}
