//! What can be wrong with the input of a score.

/// Why no score could be computed. Indices count from zero.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScoreError {
    /// There is no geometric mean of nothing.
    #[error("no variants to score; a score needs the outcome of at least one")]
    NoVariants,
    /// A speedup that no pair of run times can have.
    #[error("speedup {found} is not a positive finite number")]
    Speedup {
        /// The speedup as given.
        found: f64,
    },
    /// The score of a failure is outside (0, 1].
    #[error("b = {found} is out of range; the score of a failure lies in (0, 1], 0.1 as published")]
    FailureScore {
        /// `b` as given.
        found: f64,
    },
    /// The slowdown penalty is outside 0..=100.
    #[error("p = {found} is out of range; the slowdown penalty lies in 0..=100, 0 as published")]
    SlowdownPenalty {
        /// `p` as given.
        found: f64,
    },
    /// Repeats are to be given for every outcome.
    #[error(
        "{found} sets of repeats for {expected} variants; pass one entry a variant, none for a variant that failed"
    )]
    RepeatsCount {
        /// Number of outcomes.
        expected: usize,
        /// Number of entries given.
        found: usize,
    },
    /// What processes differ by shows in several only.
    #[error("blocks of {found} process{}; between processes needs at least two, each with a block", if *.found == 1 { "" } else { "es" })]
    TooFewProcesses {
        /// Processes with a block.
        found: usize,
    },
    /// Any of the above that concerns one variant, and which one.
    #[error("variant {variant}: {problem}")]
    InVariant {
        /// Position among the outcomes.
        variant: usize,
        /// What is wrong there.
        problem: Box<ScoreError>,
    },
    /// An interpretation that is neither of the published two.
    #[error("interpretation {found:?} is unknown; expected \"default\" or \"mismatch_extended\"")]
    UnknownInterpretation {
        /// The name as given.
        found: String,
    },
    /// A graph's status in a vector file.
    #[error("graphs[{graph}]: status {found:?} is unknown; expected one of {expected}")]
    UnknownStatus {
        /// Position in the case's `graphs`.
        graph: usize,
        /// The status as given.
        found: String,
        /// The known ones, for the message.
        expected: String,
    },
    /// An output's dtype in a vector file.
    #[error("graphs[{graph}]: dtype {found:?} of output {output} is unknown; expected one of {expected}")]
    UnknownDtype {
        /// Position in the case's `graphs`.
        graph: usize,
        /// Position in the graph's `dtypes`.
        output: usize,
        /// The dtype as given.
        found: String,
        /// The known ones, for the message.
        expected: String,
    },
    /// The per-output lists of a graph in a vector file do not cover its outputs.
    #[error("graphs[{graph}]: `{list}` has no entry for output {output}; expected one entry for each of `dtypes`")]
    MissingOutput {
        /// Position in the case's `graphs`.
        graph: usize,
        /// Position in the graph's `dtypes`.
        output: usize,
        /// The list that is too short.
        list: &'static str,
    },
    /// A graph in a vector file is right somewhere but has no speedup.
    #[error("graphs[{graph}]: `speedup` is missing; a correct graph needs one")]
    MissingSpeedup {
        /// Position in the case's `graphs`.
        graph: usize,
    },
    /// Any of the above, in one case of a vector file.
    #[error("cases[{case}]: {problem}")]
    InCase {
        /// Position in the file's `cases`.
        case: usize,
        /// What is wrong there.
        problem: Box<ScoreError>,
    },
}

impl ScoreError {
    pub(crate) fn in_variant(self, variant: usize) -> ScoreError {
        ScoreError::InVariant { variant, problem: Box::new(self) }
    }

    pub(crate) fn in_case(self, case: usize) -> ScoreError {
        ScoreError::InCase { case, problem: Box::new(self) }
    }
}
