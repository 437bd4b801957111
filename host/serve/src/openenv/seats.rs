//! Connections that are open, and how many there may be.

use super::limits::EpisodeLimits;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::watch;

/// Connections that are open.
#[derive(Debug)]
pub struct Seats {
    limits: EpisodeLimits,
    taken: watch::Sender<HashMap<Arc<str>, usize>>,
}

/// A connection's place, until it is dropped.
#[derive(Debug)]
pub struct Seat {
    seats: Arc<Seats>,
    client: Arc<str>,
}

impl Seats {
    /// All free.
    pub fn new(limits: EpisodeLimits) -> Arc<Seats> {
        Arc::new(Seats { limits, taken: watch::Sender::new(HashMap::new()) })
    }

    /// A place, or why there is none.
    pub fn take(self: &Arc<Seats>, client: &Arc<str>) -> Result<Seat, String> {
        let EpisodeLimits { sessions, sessions_of_client, .. } = self.limits;
        let mut refusal = None;
        self.taken.send_if_modified(|taken| {
            let own = taken.get(client).copied().unwrap_or(0);
            if own >= sessions_of_client {
                refusal =
                    Some(format!("this client has {own} sessions, which is its limit; close one, or wait for its end"));
            } else if taken.values().sum::<usize>() >= sessions {
                refusal = Some("the server has as many sessions as it takes; try again later".to_owned());
            } else {
                taken.insert(Arc::clone(client), own + 1);
            }
            refusal.is_none()
        });
        match refusal {
            Some(refusal) => Err(refusal),
            None => Ok(Seat { seats: Arc::clone(self), client: Arc::clone(client) }),
        }
    }

    /// How many are taken.
    pub fn count(&self) -> usize {
        self.taken.borrow().values().sum()
    }

    /// Waits until all are free.
    pub async fn all_left(&self) {
        // The sender is here.
        let _ = self.taken.subscribe().wait_for(HashMap::is_empty).await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.taken.send_modify(|taken| {
            let left = taken.get(&self.client).copied().unwrap_or(0).saturating_sub(1);
            match left {
                0 => taken.remove(&self.client),
                left => taken.insert(Arc::clone(&self.client), left),
            };
        });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_it_is_left() {
        let seats = Seats::new(EpisodeLimits { sessions: 3, sessions_of_client: 2, ..EpisodeLimits::default() });
        let (alice, bob): (Arc<str>, Arc<str>) = ("alice".into(), "bob".into());
        let first = seats.take(&alice).unwrap();
        let _second = seats.take(&alice).unwrap();
        assert!(seats.take(&alice).unwrap_err().contains("this client has 2 sessions"));
        let _third = seats.take(&bob).unwrap();
        assert!(seats.take(&bob).unwrap_err().contains("as many sessions as it takes"));
        drop(first);
        assert_eq!(seats.count(), 2);
        assert!(seats.take(&bob).is_ok());
    }
}
