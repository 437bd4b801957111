//! The client of the types child: knows the types of what ops return, without a device and apart from the one that
//! measures.

use crate::memo::{self, Memo};
use crate::process::{Child, ChildError, Confinement, ENVIRONMENT, OPEN};
use passhost_ir::{Arg, Graph, Infer, InferError, OpName, TensorType};
use passhost_protocol::device::GpuProperties;
use passhost_protocol::types::{FromTypes, ROLE, ToTypes, TypesAnswer, TypesQuestion};
use passhost_result::SandboxProfile;
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Types come from meta kernels, which touch no data.
const INFER: Duration = Duration::from_secs(20);

/// The child in messages.
const NAME: &str = "types";

/// A types child, started when it is first needed, and what is known of types.
pub struct TypesClient {
    memo: Arc<Memo>,
    confinement: Confinement,
    child: Option<Child<FromTypes>>,
    /// What keeps the child in, once its libraries are loaded and it has said so.
    profile: Option<SandboxProfile>,
}

/// Questions of one who asks a types child, and why none could be had.
pub struct TypesSession<'t> {
    types: &'t mut TypesClient,
    trouble: Option<ChildError>,
}

impl TypesClient {
    /// One that has not started anything yet, for children that are confined as they must be.
    pub fn new(memo: Arc<Memo>, confinement: Confinement) -> TypesClient {
        TypesClient { memo, confinement, child: None, profile: None }
    }

    /// What keeps the child in, if one had to be asked.
    pub fn profile(&self) -> Option<SandboxProfile> {
        self.profile
    }

    /// Starts the child, which gets ready by itself.
    ///
    /// # Errors
    ///
    /// If it is not there, or does not start.
    pub fn start(&mut self) -> Result<(), ChildError> {
        if self.child.is_none() {
            self.profile = None;
            self.child = Some(Child::start(NAME, "passhost-device", Some(OsStr::new(ROLE)), &ENVIRONMENT)?);
        }
        Ok(())
    }

    /// Ends the child, whatever it is doing.
    pub fn stop(&mut self) {
        self.child = None;
    }

    /// Begins to ask.
    pub fn session(&mut self) -> TypesSession<'_> {
        TypesSession { types: self, trouble: None }
    }

    /// Asks for the types of what an op returns. What is known already takes no time.
    ///
    /// # Errors
    ///
    /// If the child is lost. The next question starts a fresh one.
    pub fn ask(&mut self, op: &OpName, args: &[Arg<TensorType>], limit: Duration) -> Result<TypesAnswer, ChildError> {
        let key = memo::key(op, args);
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

    fn ask_child(&mut self, op: &OpName, args: &[Arg<TensorType>], limit: Duration) -> Result<TypesAnswer, ChildError> {
        let question = ToTypes::Question(TypesQuestion { op: op.clone(), args: args.to_vec() });
        match self.answer(&question, limit)? {
            FromTypes::Typed(answer) if answer.iter().flatten().all(|ty| ty.check().is_ok()) => Ok(answer),
            _ => Err(ChildError::UnexpectedMessage(NAME)),
        }
    }

    /// The texts that the kernels of a verified rewrite will be compiled from on a GPU, with `all` in every schedule that
    /// they may have; none if the child is lost.
    pub fn sources(&mut self, rewrite: &Graph, gpu: GpuProperties, all: bool) -> Vec<String> {
        let question = ToTypes::Sources { rewrite: Box::new(rewrite.clone()), gpu, all };
        match self.answer(&question, INFER) {
            Ok(FromTypes::Sources(sources)) => sources,
            _ => {
                self.child = None;
                vec![]
            }
        }
    }

    fn answer(&mut self, question: &ToTypes, limit: Duration) -> Result<FromTypes, ChildError> {
        self.start()?;
        let Some(child) = &mut self.child else { unreachable!("it was started") };
        if self.profile.is_none() {
            let FromTypes::Ready(profile) = child.receive(Instant::now() + OPEN)? else {
                return Err(ChildError::UnexpectedMessage(NAME));
            };
            child.hold_to(self.confinement, profile)?;
            self.profile = Some(profile);
        }
        child.send(question)?;
        child.receive(Instant::now() + limit)
    }
}

impl TypesSession<'_> {
    /// As [`Infer::infer`], within a time. A child that dies is replaced once: a question that kills it twice has no
    /// answer.
    pub fn infer_within(&mut self, op: &OpName, args: &[Arg<TensorType>], limit: Duration) -> TypesAnswer {
        let answer = match self.types.ask(op, args, limit) {
            Err(ChildError::Died { .. }) => self.types.ask(op, args, limit),
            answer => answer,
        };
        answer.unwrap_or_else(|error| {
            let unavailable = Err(InferError::Unavailable(error.to_string()));
            if error.is_hosts() {
                self.trouble = Some(error);
            }
            unavailable
        })
    }

    /// Why no child could be had, where the answer to a question was that: no fault of who asked.
    pub fn end(self) -> Option<ChildError> {
        self.trouble
    }
}

impl Infer for TypesSession<'_> {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> TypesAnswer {
        self.infer_within(op, args, INFER)
    }
}
