//! The client of the types child: knows the types of what ops return, without a device and apart from the one that
//! measures.

use crate::child::{Child, ChildError};
use crate::device::{ENVIRONMENT, OPEN};
use crate::memo::{Memo, Question as Key};
use passhost_ir::{Arg, Infer, InferError, OpName, TensorType};
use passhost_protocol::types::{Answer, Question, ROLE};
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Types come from meta kernels, which touch no data.
const INFER: Duration = Duration::from_secs(20);

/// A types child, started when it is first needed, and what is known of types.
pub struct Types {
    memo: Arc<Memo>,
    child: Option<Child<Answer>>,
    /// Whether the child has answered, so that its libraries are loaded.
    ready: bool,
    trouble: Option<ChildError>,
}

impl Types {
    /// One that has not started anything yet.
    pub fn new(memo: Arc<Memo>) -> Types {
        Types { memo, child: None, ready: false, trouble: None }
    }

    /// Starts the child, which gets ready by itself.
    ///
    /// # Errors
    ///
    /// If it is not there, or does not start.
    pub fn start(&mut self) -> Result<(), ChildError> {
        if self.child.is_none() {
            self.ready = false;
            self.child = Some(Child::start("types", "passhost-device", Some(OsStr::new(ROLE)), &ENVIRONMENT)?);
        }
        Ok(())
    }

    /// Ends the child, whatever it is doing.
    pub fn stop(&mut self) {
        self.child = None;
    }

    /// Why no child can be had, after the answer was that there are no types: no fault of who asked. Taken once.
    pub fn take_trouble(&mut self) -> Option<ChildError> {
        self.trouble.take()
    }

    /// Asks for the types of what an op returns. What is known already takes no time.
    ///
    /// # Errors
    ///
    /// If the child is lost. The next question starts a fresh one.
    pub fn ask(&mut self, op: &OpName, args: &[Arg<TensorType>], limit: Duration) -> Result<Answer, ChildError> {
        let key = Key::new(op, args);
        if let Some(answer) = key.as_ref().and_then(|key| self.memo.get(key)) {
            return Ok(answer);
        }
        let answer = self.ask_child(op, args, limit.min(INFER)).inspect_err(|_| self.child = None)?;
        // What an op returns depends on nothing else, unless the answer is that nobody could be asked.
        if let Some(key) = key.filter(|_| !matches!(answer, Err(InferError::Unavailable(_)))) {
            self.memo.put(key, answer.clone());
        }
        Ok(answer)
    }

    fn ask_child(&mut self, op: &OpName, args: &[Arg<TensorType>], limit: Duration) -> Result<Answer, ChildError> {
        self.start()?;
        let limit = if self.ready { limit } else { OPEN };
        let Some(child) = &mut self.child else { unreachable!("it was started") };
        child.send(&Question { op: op.clone(), args: args.to_vec() })?;
        let answer = child.receive(Instant::now() + limit)?;
        self.ready = true;
        Ok(answer)
    }
}

impl Infer for Types {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Answer {
        self.infer_within(op, args, INFER)
    }
}

impl Types {
    /// As [`Types::infer`], within a time. A child that dies is replaced once: a question that kills it twice has no
    /// answer.
    pub fn infer_within(&mut self, op: &OpName, args: &[Arg<TensorType>], limit: Duration) -> Answer {
        let answer = match self.ask(op, args, limit) {
            Err(ChildError::Died { .. }) => self.ask(op, args, limit),
            answer => answer,
        };
        answer.unwrap_or_else(|error| {
            let unavailable = Err(InferError::Unavailable(error.to_string()));
            if matches!(error, ChildError::Start { .. }) {
                self.trouble = Some(error);
            }
            unavailable
        })
    }
}
