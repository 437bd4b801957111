//! Rankings of signed results. A board is a directory: a file that says what it [accepts](Board), a file of trusted keys,
//! and files of signed results. What one batch has of one plugin is a [`Submission`]. [`Board::stand`] says who stands where, and why
//! everything else does not.
//!
//! There is one [`Ranking`] for each list of samples, policy, device and host, as the board names them, and what answers
//! another question than a ranking is never in it. Results count where they are signed with a trusted key, were not met
//! before, and [follow](passhost_result::verify::recompute) from the trials that they record.
//!
//! # Errors that are shared
//!
//! An author with k submissions to a ranking is ranked by the best of them. So each of their intervals covers with
//! 1 - 5%/k, and each of their verdicts has an error of 0.1%/k: who tries often is not faster by luck. Places follow from
//! the comparison of each author's best with each other one, of which k times l pairs were possible, and of which one
//! author has part in n - 1: its error is divided by all of these.
//!
//! Nothing here writes anything, or knows how a board is shown.

mod accepted;
mod admission;
mod conditions;
mod rank;
mod stand;
mod submission;

pub use accepted::{
    AcceptedDevice, AcceptedHost, AcceptedPolicy, AcceptedSettings, Board, BoardError, FILE, ListedSample, SampleList,
};
pub use rank::{Ranking, RankingRow, Score, Scored};
pub use stand::{BoardContents, Refused, Standings, SubmittedFile};
pub use submission::{Submission, SubmittedBatch, Unranked};
