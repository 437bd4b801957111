//! Whose turn it is.

use std::collections::{BTreeMap, BTreeSet};

/// A client with jobs that wait. The least one is next: it has the fewest running jobs, and had its turn longest ago.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientTurn {
    pub running: u64,
    /// The number of the taking that was its last turn.
    pub last: u64,
    pub client: String,
    pub waiting: u64,
}

/// The clients of the next turns, at most so many, and how many turns each has, when none may have more running jobs than this.
pub fn turns(lines: Vec<ClientTurn>, running_limit: u64, most: usize) -> BTreeMap<String, i64> {
    let (mut lines, mut turns) = (lines.into_iter().collect::<BTreeSet<_>>(), BTreeMap::new());
    let last = lines.iter().map(|line| line.last).max().unwrap_or(0);
    for last in (last + 1..).take(most) {
        let Some(line) = lines.pop_first() else { break };
        *turns.entry(line.client.clone()).or_default() += 1;
        let next = ClientTurn { running: line.running + 1, waiting: line.waiting - 1, last, ..line };
        if next.waiting > 0 && next.running < running_limit {
            lines.insert(next);
        }
    }
    turns
}
