//! Whose a connection is. Until somebody shows a token on it, it is a stranger's: of those there are few, each has little
//! time, and for a new one the oldest is closed, so that whoever opens many keeps nobody out who has a token. From then on it
//! has one of the places of that client, for as long as it is open and anything is answered on it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Connections on which nobody has shown a token.
#[derive(Debug)]
pub struct UnauthenticatedConnections {
    limit: usize,
    last: AtomicU64,
    /// By number, the oldest first: who waits to hear that a client was found, or is dropped.
    open: Mutex<BTreeMap<u64, oneshot::Sender<()>>>,
}

impl UnauthenticatedConnections {
    pub fn new(limit: usize) -> Arc<UnauthenticatedConnections> {
        Arc::new(UnauthenticatedConnections { limit, last: AtomicU64::new(0), open: Mutex::default() })
    }

    /// A new one, and what tells when it is a client's; an error there says that others took its place.
    pub fn enter(self: &Arc<UnauthenticatedConnections>) -> (Arc<ClientConnection>, oneshot::Receiver<()>) {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let (found, is_found) = oneshot::channel();
        self.with(|open| {
            open.insert(number, found);
            if open.len() > self.limit {
                open.pop_first();
            }
        });
        (Arc::new(ClientConnection { number, unauthenticated: Arc::clone(self), owner: Mutex::default() }), is_found)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.with(|open| open.len())
    }

    fn leave(&self, number: u64) -> Option<oneshot::Sender<()>> {
        self.with(|open| open.remove(&number))
    }

    fn with<T>(&self, change: impl FnOnce(&mut BTreeMap<u64, oneshot::Sender<()>>) -> T) -> T {
        // Each change is whole.
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A connection, as the requests on it see it.
#[derive(Debug)]
pub struct ClientConnection {
    number: u64,
    unauthenticated: Arc<UnauthenticatedConnections>,
    owner: Mutex<Option<Owner>>,
}

#[derive(Debug)]
struct Owner {
    client: Arc<str>,
    _place: OwnedSemaphorePermit,
}

impl ClientConnection {
    /// Whether it is this client's from now on: it was, or there is a place left among those of the client. A proxy may send
    /// requests of several clients on one connection; it is that of the last.
    pub fn belongs_to(&self, client: &Arc<str>, places: &Arc<Semaphore>) -> bool {
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if owner.as_ref().is_some_and(|owner| owner.client == *client) {
            return true;
        }
        let Ok(place) = Arc::clone(places).try_acquire_owned() else { return false };
        *owner = Some(Owner { client: Arc::clone(client), _place: place });
        if let Some(found) = self.unauthenticated.leave(self.number) {
            // Whoever waits for it may be gone.
            let _ = found.send(());
        }
        true
    }
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        self.unauthenticated.leave(self.number);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use tokio::sync::oneshot::error::TryRecvError;

    #[test]
    fn for_a_new_stranger_the_oldest_goes_and_whoever_is_known_stays() {
        let unauthenticated = UnauthenticatedConnections::new(2);
        let places = Arc::new(Semaphore::new(1));
        let (known, mut is_known) = unauthenticated.enter();
        assert!(known.belongs_to(&"a".into(), &places));
        let mut others: Vec<_> = (0..3).map(|_| unauthenticated.enter()).collect();
        assert_eq!(is_known.try_recv(), Ok(()));
        assert_eq!(others[0].1.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(others[1].1.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(unauthenticated.count(), 2);
        // The only place is taken, until its connection is closed.
        assert!(known.belongs_to(&"a".into(), &places) && !others[2].0.belongs_to(&"a".into(), &places));
        drop(known);
        assert!(others[2].0.belongs_to(&"a".into(), &places));
        drop(others);
        assert_eq!((unauthenticated.count(), places.available_permits()), (0, 1));
    }

    #[test]
    fn a_connection_of_a_proxy_is_that_of_the_last_client() {
        let (places, of_another) = (Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(1)));
        let (connection, _found) = UnauthenticatedConnections::new(1).enter();
        assert!(connection.belongs_to(&"a".into(), &places) && connection.belongs_to(&"b".into(), &of_another));
        assert_eq!((places.available_permits(), of_another.available_permits()), (1, 0));
        let taken = Arc::clone(&places).try_acquire_owned().unwrap();
        assert!(!connection.belongs_to(&"a".into(), &places));
        // It is still that of whom it was.
        assert_eq!(of_another.available_permits(), 0);
        drop(taken);
    }
}
