//! Leases of this process. They are in memory alone: whoever opens the file next puts back all jobs that run.

use crate::{Lease, Ticket};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Leases of this process.
#[derive(Debug, Default)]
pub struct Leases(Mutex<BTreeMap<Ticket, HeldLease>>);

#[derive(Debug)]
struct HeldLease {
    attempt: u32,
    expires_ms: u64,
}

impl Leases {
    fn with<T>(&self, change: impl FnOnce(&mut BTreeMap<Ticket, HeldLease>) -> T) -> T {
        // Each change is whole.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Holds a job, unless somebody took it after this.
    pub fn hold(&self, lease: &Lease, expires_ms: u64) {
        let new = HeldLease { attempt: lease.attempt, expires_ms };
        self.with(|held| match held.get_mut(&lease.ticket) {
            Some(held) if held.attempt > new.attempt => {}
            Some(held) => *held = new,
            None => drop(held.insert(lease.ticket.clone(), new)),
        });
    }

    /// Holds it for longer. Whether it is still held.
    pub fn renew(&self, lease: &Lease, expires_ms: u64) -> bool {
        self.with(|held| match held.get_mut(&lease.ticket) {
            Some(held) if held.attempt == lease.attempt => {
                held.expires_ms = expires_ms;
                true
            }
            _ => false,
        })
    }

    pub fn release(&self, lease: &Lease) {
        self.with(|held| {
            if held.get(&lease.ticket).is_some_and(|held| held.attempt == lease.attempt) {
                held.remove(&lease.ticket);
            }
        });
    }

    /// Releases a job whoever holds it.
    pub fn release_all(&self, ticket: &Ticket) {
        self.with(|held| held.remove(ticket));
    }

    /// Those that ran out before this time.
    pub fn expired(&self, now_ms: u64) -> Vec<Lease> {
        self.with(|held| {
            let expired = held.iter().filter(|(_, held)| held.expires_ms < now_ms);
            expired.map(|(ticket, held)| Lease { ticket: ticket.clone(), attempt: held.attempt }).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_took_a_job_last_holds_it_whoever_says_so_last() {
        let leases = Leases::default();
        let lease = |attempt| Lease { ticket: Ticket::named("job"), attempt };
        for attempt in [1, 3, 2] {
            leases.hold(&lease(attempt), 10);
        }
        assert_eq!([1, 2, 3].map(|attempt| leases.renew(&lease(attempt), 20)), [false, false, true]);
    }
}
