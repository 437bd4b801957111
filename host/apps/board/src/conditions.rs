//! Under which conditions results stand in one ranking.

/// A ranking by positions in the board's lists of policies, devices and hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RankingConditions {
    pub policy: usize,
    /// `None` where no device was needed: that goes with any.
    pub device: Option<usize>,
    pub host: usize,
}
