//! Connections to the database: a few that are kept, and what is done when one breaks.

use super::address::Address;
use crate::QueueError;
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::ToSql;
use postgres::{Client, Notification, Row, Statement};
use std::collections::HashMap;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Connections at once.
const MOST: usize = 16;
/// How long an operation waits for a database that is not there.
const PATIENCE: Duration = Duration::from_secs(15);
/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// Each statement finds its rows by an index. The planner must not think otherwise where it knows little of the tables, as when
/// many jobs came at once: it keeps a plan.
const SETTINGS: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off;
    SET enable_mergejoin = off; SET jit = off";

/// A connection, and the statements that it has prepared.
pub struct Connection {
    client: Client,
    statements: HashMap<&'static str, Statement>,
}

impl Connection {
    /// The rows that a statement returns. It is prepared when it is used first.
    pub fn query(&mut self, sql: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, QueueError> {
        let statement = match self.statements.get(sql) {
            Some(statement) => statement.clone(),
            None => {
                let statement = self.client.prepare(sql)?;
                self.statements.insert(sql, statement.clone());
                statement
            }
        };
        Ok(self.client.query(&statement, values)?)
    }

    /// Makes a change whole, or none.
    pub fn transaction<T>(
        &mut self,
        change: impl FnOnce(&mut Connection) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        self.batch("BEGIN")?;
        let changed = change(self);
        match &changed {
            Ok(_) => self.batch("COMMIT")?,
            // On a broken connection the database rolls back by itself.
            Err(_) => drop(self.batch("ROLLBACK")),
        }
        changed
    }

    /// Runs statements that have no values.
    pub fn batch(&mut self, sql: &str) -> Result<(), QueueError> {
        Ok(self.client.batch_execute(sql)?)
    }
}

/// Whether an operation may be done again when the connection broke before its answer.
#[derive(Clone, Copy)]
pub enum Repeat {
    /// Done twice, it has the effect and the answer of once.
    Safe,
    /// Its answer would be another. The words say what is unknown then.
    Never(&'static str),
}

/// Connections that are open, for one operation each at a time.
pub struct ConnectionPool {
    address: Address,
    pool: Mutex<PoolState>,
    freed: Condvar,
    /// The one that hears of what is announced, on the channels of one caller.
    pub listener: Mutex<Option<Client>>,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<Connection>,
    open: usize,
    /// Whether the database did not answer for as long as an operation waits.
    is_away: bool,
}

/// A place among the connections, which is free again when this is dropped.
struct PoolPlace<'a>(&'a ConnectionPool);

impl Drop for PoolPlace<'_> {
    fn drop(&mut self) {
        self.0.pool().open -= 1;
        self.0.freed.notify_one();
    }
}

impl ConnectionPool {
    pub fn new(address: Address) -> ConnectionPool {
        ConnectionPool { address, pool: Mutex::default(), freed: Condvar::new(), listener: Mutex::default() }
    }

    fn pool(&self) -> MutexGuard<'_, PoolState> {
        // Each change is whole.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection outside the pool.
    pub fn connect(&self) -> Result<Client, QueueError> {
        self.address.connect().map_err(|error| match is_broken(&error) {
            true => QueueError::Unreachable(error),
            false => error.into(),
        })
    }

    /// What is announced on these channels, at most so long from now on until there is something. `None` if nobody listened until now.
    pub fn announced(&self, listen: &str, timeout: Duration) -> Result<Option<Vec<String>>, QueueError> {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(client) = listener.as_mut() else {
            let mut client = self.connect()?;
            client.batch_execute(listen)?;
            *listener = Some(client);
            return Ok(None);
        };
        let first = client.notifications().timeout_iter(timeout).next();
        let all = first.and_then(|first| {
            let others: Vec<Notification> = client.notifications().iter().collect()?;
            Ok(first.into_iter().chain(others).map(|notification| notification.payload().to_owned()).collect())
        });
        if all.is_err() || client.is_closed() {
            *listener = None;
        }
        Ok(Some(all?))
    }

    /// Does an operation, and does it again when that is safe and the connection broke or the database rolled it back. The
    /// operation learns whether an earlier try may have been done.
    pub fn run<T>(
        &self,
        repeat: Repeat,
        mut operation: impl FnMut(&mut Connection, bool) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        let (begun, mut again) = (Instant::now(), false);
        loop {
            let error = match self.once(repeat, &mut again, &mut operation) {
                Err(QueueError::Unreachable(error)) => error,
                Err(QueueError::Database(error)) if is_broken(&error) || is_undone(&error) => error,
                done => {
                    self.pool().is_away &= matches!(done, Err(QueueError::Busy));
                    return done;
                }
            };
            if again && let Repeat::Never(unknown) = repeat {
                return Err(QueueError::Unanswered(unknown));
            }
            // Where others waited for it in vain, nobody waits again.
            if self.pool().is_away || begun.elapsed() >= PATIENCE {
                self.pool().is_away = true;
                return Err(QueueError::Unreachable(error));
            }
            sleep(PAUSE);
        }
    }

    fn once<T>(
        &self,
        repeat: Repeat,
        again: &mut bool,
        operation: &mut impl FnMut(&mut Connection, bool) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        let freed = self.freed.wait_timeout_while(self.pool(), PATIENCE, |pool| pool.open >= MOST);
        let (mut pool, waited) = freed.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(QueueError::Busy);
        }
        pool.open += 1;
        let place = PoolPlace(self);
        let mut idle = pool.idle.pop();
        drop(pool);
        if matches!(repeat, Repeat::Never(_)) {
            // Else it would fail for a connection that broke while nobody used it.
            idle = idle.and_then(|mut idle| idle.client.is_valid(PATIENCE).is_ok().then_some(idle));
        }
        let mut connection = match idle.filter(|idle| !idle.client.is_closed()) {
            Some(idle) => idle,
            None => {
                let mut new = Connection { client: self.connect()?, statements: HashMap::new() };
                new.batch(SETTINGS)?;
                new
            }
        };
        let done = operation(&mut connection, *again);
        if matches!(&done, Err(QueueError::Database(error)) if is_broken(error)) {
            *again = true;
            // Those that did nothing meanwhile broke with it.
            let idle = std::mem::take(&mut self.pool().idle);
            drop(idle);
        } else {
            self.pool().idle.push(connection);
        }
        drop(place);
        done
    }
}

impl Drop for ConnectionPool {
    fn drop(&mut self) {
        // A client ends a runtime of its own, which must not happen on a thread of another one.
        let idle = std::mem::take(&mut self.pool().idle);
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = std::thread::spawn(move || drop((idle, listener))).join();
    }
}

/// Whether the connection is of no use any more, or was none.
fn is_broken(error: &postgres::Error) -> bool {
    match error.code() {
        // The server ends, or begins.
        Some(code) => code.code().starts_with("08") || code.code().starts_with("57P"),
        None => {
            let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<io::Error>());
            // A certificate that is refused is so again.
            let is_refused = |cause: &io::Error| cause.get_ref().is_some_and(|cause| cause.is::<rustls::Error>());
            error.is_closed() || cause.is_some_and(|cause| !is_refused(cause))
        }
    }
}

/// Whether the database did nothing because of others at the same time: a deadlock, an object that went, or too many
/// connections.
fn is_undone(error: &postgres::Error) -> bool {
    error.code().is_some_and(|code| ["40001", "40P01", "23503", "53300"].contains(&code.code()))
}
