//! What can be wrong with the input of a score.

/// Why no score could be computed. Indices count from zero.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScoreError {
    /// There is no geometric mean of nothing.
    #[error("no variants to score; a score needs the outcome of at least one")]
    NoVariants,
    /// A speedup that no pair of run times can have.
    #[error("speedup {0} is not a positive finite number")]
    Speedup(f64),
    /// The score `b` of a failure is outside (0, 1].
    #[error("b = {0} is out of range; the score of a failure lies in (0, 1], 0.1 as published")]
    FailureScore(f64),
    /// The slowdown penalty `p` is outside 0..=100.
    #[error("p = {0} is out of range; the slowdown penalty lies in 0..=100, 0 as published")]
    SlowdownPenalty(f64),
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
    /// What processes differ by shows in several only; so many have a block.
    #[error("blocks of {} process{}; between processes needs at least two, each with a block", .0, if *.0 == 1 { "" } else { "es" })]
    TooFewProcesses(usize),
    /// Any of the above that concerns the variant at this position among the outcomes.
    #[error("variant {0}: {1}")]
    InVariant(usize, Box<ScoreError>),
    /// The graph at this position of a case in a vector file, and what is wrong with it.
    #[error("graphs[{0}]: {1}")]
    VectorGraph(usize, String),
}
