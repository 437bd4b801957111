//! Why a piece of a model is no sample.

use passhost_ir::FunctionalError;
use passhost_sample::SampleError;

/// Why a range of calls cannot be cut out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// A call in it cannot be separated from what is around it.
    #[error("`{call}`: {reason}")]
    Excluded {
        /// The name of the op.
        call: String,
        /// Why.
        reason: &'static str,
    },
    /// It writes to a tensor, and reads the same memory through another one that enters it, too.
    #[error("`{call}` writes to memory that enters the piece as two tensors")]
    SharedMemory {
        /// The name of the op.
        call: String,
    },
    /// No tensor comes out of it.
    #[error("no tensor comes out of it")]
    NoResult,
    /// A tensor of a type that no input can have enters it.
    #[error("{0} enters it, and only tensors of real numbers, integers and bools are drawn")]
    Input(String),
    /// The parts do not read back: most often a view that memory in the model allows and fresh inputs do not.
    #[error("it does not read back: {0}")]
    Reader(Box<SampleError>),
    /// It has no functional form.
    #[error("it has no functional form: {0}")]
    NotFunctional(Box<FunctionalError>),
    /// An index might point outside of what it indexes, or an integer divisor might be zero.
    #[error("`{op}` might be given {what}")]
    Values {
        /// The op.
        op: String,
        /// What it does not take.
        what: &'static str,
    },
}

impl From<SampleError> for Refusal {
    fn from(error: SampleError) -> Refusal {
        Refusal::Reader(Box::new(error))
    }
}

impl From<FunctionalError> for Refusal {
    fn from(error: FunctionalError) -> Refusal {
        Refusal::NotFunctional(Box::new(error))
    }
}

impl Refusal {
    /// A word or two, to count refusals by.
    pub fn kind(&self) -> &'static str {
        match self {
            Refusal::Excluded { reason, .. } => reason,
            Refusal::SharedMemory { .. } => "it writes to memory that enters it twice",
            Refusal::NoResult => "no tensor comes out of it",
            Refusal::Input(_) => "a tensor of complex numbers enters it",
            Refusal::Reader(_) => "it does not read back",
            Refusal::NotFunctional(_) => "it has no functional form",
            Refusal::Values { .. } => "an index or a divisor is not known to be valid",
        }
    }
}
