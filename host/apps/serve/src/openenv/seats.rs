//! Connections with episodes, and how many each client may have: what is one client's place, no other can take.

use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::watch;

/// Connections that are open.
#[derive(Debug)]
pub struct Seats {
    of_client: usize,
    taken: watch::Sender<HashMap<Arc<str>, usize>>,
}

/// A connection's place, until it is dropped.
#[derive(Debug)]
pub struct Seat {
    seats: Arc<Seats>,
    client: Arc<str>,
}

impl Seats {
    /// All free, so many for each client.
    pub fn new(of_client: usize) -> Arc<Seats> {
        Arc::new(Seats { of_client, taken: watch::Sender::new(HashMap::new()) })
    }

    /// A place among those of the client; none where it has taken all of them.
    pub fn take(self: &Arc<Seats>, client: &Arc<str>) -> Option<Seat> {
        let is_taken = self.taken.send_if_modified(|taken| {
            let own = taken.get(client).copied().unwrap_or(0);
            let is_free = own < self.of_client;
            if is_free {
                taken.insert(Arc::clone(client), own + 1);
            }
            is_free
        });
        is_taken.then(|| Seat { seats: Arc::clone(self), client: Arc::clone(client) })
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
    fn a_client_takes_its_own_places_alone_and_one_is_free_again_when_it_is_left() {
        let seats = Seats::new(2);
        let (alice, bob): (Arc<str>, Arc<str>) = ("alice".into(), "bob".into());
        let first = seats.take(&alice).unwrap();
        let _second = seats.take(&alice).unwrap();
        assert!(seats.take(&alice).is_none());
        let _others = [seats.take(&bob).unwrap(), seats.take(&bob).unwrap()];
        assert!(seats.take(&bob).is_none());
        drop(first);
        assert_eq!(seats.count(), 3);
        assert!(seats.take(&bob).is_none() && seats.take(&alice).is_some());
    }
}
