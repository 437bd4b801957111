//! Errors of programs as the supervisor hears of them.

use passhost_protocol::device::{NotCaptured, ReferenceError, RewriteError, TimedProgram, TimingError};
use passhost_runtime::{Cause, NodeError, RecordError};
use passhost_torch::TorchError;

/// Of a reference.
pub fn of_reference(error: NodeError) -> ReferenceError {
    match error.cause {
        Cause::OutOfMemory(message) => ReferenceError::Memory(message),
        cause => ReferenceError::Op { node: error.node, op: error.op, message: cause.to_string() },
    }
}

/// Of a rewrite. Whether it took too much memory or there was too little, [`memory_of`] decides.
pub fn of_rewrite(error: NodeError) -> RewriteError {
    match error.cause {
        Cause::Type { declared, found } => RewriteError::WrongType { node: error.node, op: error.op, declared, found },
        Cause::OutOfMemory(message) => RewriteError::Memory { node: error.node, op: error.op, message },
        Cause::Fault(message) => RewriteError::Fault { node: error.node, op: error.op, message },
        // What a kernel may do was proven before: where it fails all the same, the proof or the code is wrong.
        Cause::Failed(message) if error.op == passhost_runtime::KERNEL => {
            RewriteError::Fault { node: error.node, op: error.op, message }
        }
        cause => RewriteError::Op { node: error.node, op: error.op, message: cause.to_string() },
    }
}

/// Of eager, on inputs that a rewrite would be checked on. Where the device itself fails, the rewrite that ran on it before
/// may have made it do so: nobody is blamed.
pub fn of_eager(error: NodeError) -> RewriteError {
    match error.cause {
        Cause::Fault(_) => of_rewrite(error),
        _ => RewriteError::Reference(of_reference(error)),
    }
}

/// Of a program that was to be captured.
pub fn not_recorded(program: TimedProgram, error: RecordError) -> TimingError {
    match error {
        RecordError::Op { node, op, message } => NotCaptured::Op { program, node, op, message }.into(),
        RecordError::Node(error) => while_captured(of_rewrite(error)),
        error @ (RecordError::Cpu | RecordError::Memory(_) | RecordError::Context(_)) => {
            NotCaptured::Nothing(error.to_string()).into()
        }
    }
}

/// Of a program that is captured. Where memory is short then, that is because several programs keep theirs side by side: no
/// rewrite can be blamed for that.
pub fn while_captured(error: RewriteError) -> TimingError {
    match error {
        error @ RewriteError::Memory { .. } => NotCaptured::Nothing(error.to_string()).into(),
        other => other.into(),
    }
}

/// Who is to blame where a rewrite found no memory: the rewrite, if `eager_takes_less`. That does not depend on what other
/// processes have taken meanwhile.
pub fn memory_of(error: RewriteError, eager_takes_less: impl FnOnce() -> bool) -> RewriteError {
    match error {
        RewriteError::Memory { node, op, message } if eager_takes_less() => {
            RewriteError::Op { node, op, message: Cause::OutOfMemory(message).to_string() }
        }
        other => other,
    }
}

/// Of an input that could not be made.
pub fn of_input(input: &str, error: TorchError) -> ReferenceError {
    match error {
        TorchError::OutOfMemory(message) => ReferenceError::Memory(message),
        other => ReferenceError::Input { input: input.to_owned(), message: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::NodeId;

    fn at_node(op: &str, cause: Cause) -> RecordError {
        RecordError::Node(NodeError { node: NodeId(4), op: op.into(), cause })
    }

    #[test]
    fn an_op_that_is_not_recorded_is_named_and_what_the_machine_lacks_is_nobodys() {
        let (op, message) = ("aten::nonzero".to_owned(), "it waits".to_owned());
        let refused = RecordError::Op { node: NodeId(4), op: op.clone(), message: message.clone() };
        let program = TimedProgram::Rewrite;
        let expected = NotCaptured::Op { program, node: NodeId(4), op, message };
        assert_eq!(not_recorded(program, refused), TimingError::NotCaptured(expected));
        for lacking in [RecordError::Cpu, at_node("aten::mm", Cause::OutOfMemory("2 GiB".into()))] {
            let found = not_recorded(program, lacking);
            assert!(matches!(found, TimingError::NotCaptured(NotCaptured::Nothing(_))), "{found:?}");
        }
        let kernel = not_recorded(program, at_node(passhost_runtime::KERNEL, Cause::Failed("no code".into())));
        assert!(matches!(kernel, TimingError::Rewrite(RewriteError::Fault { .. })), "{kernel:?}");
    }
}
