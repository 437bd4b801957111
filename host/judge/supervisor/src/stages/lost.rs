//! Nothing came of running a rewrite: whose doing that is.

use super::Stopped;
use super::measure::Measurement;
use super::reference::MORE_MEMORY;
use passhost_child::device::DeviceError;
use passhost_child::{ChildError, DOCTOR, not_captured};
use passhost_protocol::device::{NotCaptured, ReferenceError, RewriteError, TimingError};
use passhost_result::document::{Blame, Failure, failure};
use passhost_score::FailureClass;

/// Why nothing came of it.
pub(super) enum Lost {
    /// The child of this number is gone.
    Process(usize, DeviceError),
    /// The rewrite fails.
    Rewrite(RewriteError),
    /// A program cannot be launched as it was to be.
    NotCaptured(NotCaptured),
    /// The reference fails.
    Reference(Failure),
}

impl From<TimingError> for Lost {
    fn from(error: TimingError) -> Lost {
        match error {
            TimingError::Rewrite(error) => Lost::Rewrite(error),
            TimingError::NotCaptured(reason) => Lost::NotCaptured(reason),
        }
    }
}

impl Measurement<'_, '_> {
    /// Whose doing it is.
    pub fn stopped(&mut self, lost: Lost) -> Stopped {
        match lost {
            Lost::Process(process, DeviceError::Child(error)) => self.blame_for_death(process, &error),
            Lost::Process(_, error) => {
                Stopped::new(FailureClass::Runtime, failure(Blame::Host, "evaluation", error, DOCTOR))
            }
            Lost::Rewrite(error) => rewrite_failed(&error),
            Lost::NotCaptured(reason) => Stopped::new(FailureClass::Runtime, not_captured(&reason)),
            Lost::Reference(failure) => Stopped::new(FailureClass::Reference, failure),
        }
    }

    /// The device child died twice or overran while it ran the rewrite: whether eager alone survives says whose doing it was.
    fn blame_for_death(&mut self, process: usize, error: &ChildError) -> Stopped {
        let stage = self.session.device().stage(process).map_or("start".into(), |stage| stage.to_string());
        match self.reference.load_in(process, self.trail, &mut self.session) {
            Ok(()) => {
                let message = format!("{error} while running the rewrite; the reference alone runs");
                let hint = "an inserted op or kernel crashes or hangs; take them out one by one";
                Stopped::new(FailureClass::Runtime, failure(Blame::Plugin, &stage, message, hint))
            }
            Err(other) => Stopped::new(FailureClass::Reference, other),
        }
    }
}

/// A rewrite that gave nothing to compare.
pub(super) fn rewrite_failed(error: &RewriteError) -> Stopped {
    let class = match error {
        RewriteError::Fault { .. } => {
            let hint = "what was verified must not fault; report this plugin and sample";
            return Stopped::new(FailureClass::Runtime, failure(Blame::Host, "plan", error, hint));
        }
        RewriteError::Memory { .. } => {
            return Stopped::new(FailureClass::Runtime, failure(Blame::Host, "plan", error, MORE_MEMORY));
        }
        RewriteError::Reference(ReferenceError::Memory { .. } | ReferenceError::TooLarge { .. }) => {
            return Stopped::new(FailureClass::Reference, failure(Blame::Host, "reference", error, MORE_MEMORY));
        }
        RewriteError::Reference(_) => {
            let hint = "record ranges of the inputs that the program takes, such as rows that its tables have";
            return Stopped::new(FailureClass::Reference, failure(Blame::Sample, "reference", error, hint));
        }
        RewriteError::Op { .. } => FailureClass::Runtime,
        RewriteError::WrongType { .. } => FailureClass::TypeMismatch,
    };
    let hint = "the reference runs on the same inputs; check the operands of the inserted node";
    Stopped::new(class, failure(Blame::Plugin, "plan", error, hint))
}
