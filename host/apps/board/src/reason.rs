//! Why something is not on a board.

use passhost_sign::{LineError, Repetition, TrustError};

/// A reason, as a sentence about a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusalReason {
    /// It is not what was signed.
    #[error(transparent)]
    Line(LineError),
    /// Whoever signed it does not count.
    #[error(transparent)]
    Trust(TrustError),
    /// It was submitted before, or a measurement of it was.
    #[error(transparent)]
    Repetition(Repetition),
    /// Its submission has another result on its sample.
    #[error(
        "its plugin has another result on `{sample}` in the same batch, in {first}: a second measurement belongs to another \
         batch"
    )]
    Again {
        /// The sample.
        sample: String,
        /// Where.
        first: String,
    },
    /// It contradicts itself.
    #[error("it does not follow from its own trials: {difference}{}", and_more(*others))]
    Contradiction {
        /// The first thing that does not.
        difference: String,
        /// How many others do not.
        others: usize,
    },
    /// It is no result to rank.
    #[error("it is no result to rank: {0}")]
    Unfit(&'static str),
    /// Graphs were not measured.
    #[error("{graphs} of its graphs were not measured: {first}")]
    Unmeasured {
        /// How many.
        graphs: usize,
        /// Why the first was not.
        first: String,
    },
    /// Its host is not on the board's list.
    #[error("it was made by {program} with SHA-256 {found}, and no host on this board's list has that")]
    Host {
        /// The program.
        program: String,
        /// The beginning of its hash.
        found: String,
    },
    /// Its libtorch is not on the board's list.
    #[error("it was made with torch {0}, which no host on this board's list has")]
    Torch(String),
    /// Its policy is not on the board's list.
    #[error("its policy `{name}` (SHA-256 {found}) is not on this board's list")]
    Policy {
        /// The policy.
        name: String,
        /// The beginning of its hash.
        found: String,
    },
    /// Its device is not on the board's list.
    #[error("its device {0} is not on this board's list")]
    Device(String),
    /// It was measured or scored otherwise.
    #[error("its setting {item} is {found}, and this board accepts {accepted}")]
    Settings {
        /// Which.
        item: String,
        /// What it is.
        found: String,
        /// What it must be.
        accepted: String,
    },
    /// Its sample is on no list.
    #[error("its sample `{0}` is on none of this board's lists")]
    NotListed(String),
    /// Its sample has another content.
    #[error("its sample `{sample}` has another content (SHA-256 {found}) than the one on list `{list}` ({listed})")]
    OtherSample {
        /// The sample.
        sample: String,
        /// The beginning of its hash.
        found: String,
        /// The list.
        list: String,
        /// The beginning of the hash there.
        listed: String,
    },
    /// It leaves graphs out.
    #[error("it has {found} of the {listed} graphs of sample `{sample}`")]
    Graphs {
        /// The sample.
        sample: String,
        /// How many it has.
        found: usize,
        /// How many there are.
        listed: usize,
    },
    /// Samples of the list have no result.
    #[error("it has no result that counts for {missing} of the {of} samples of list `{list}`: {names}")]
    Incomplete {
        /// The list.
        list: String,
        /// How many.
        missing: usize,
        /// Of how many.
        of: usize,
        /// The first of them.
        names: String,
    },
    /// It ran nowhere.
    #[error("none of it ran on a device, so that it belongs to no ranking: its plugin does not load")]
    NoDevice,
    /// Nothing of it can be scored.
    #[error("nothing of it can be scored")]
    Unscored,
}

fn and_more(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "; and one thing more".to_owned(),
        count => format!("; and {count} things more"),
    }
}
