//! The tables of a queue in a database, from version to version.

use super::connections::Connection;
use super::statements;
use crate::QueueError;
use crate::names::QueueNames;

/// What leads to each version from the one before. A migration that was released never changes.
const MIGRATIONS: [&str; 13] = [
    include_str!("migrations/0001_jobs.sql"),
    include_str!("migrations/0002_hosts.sql"),
    include_str!("migrations/0003_workers.sql"),
    include_str!("migrations/0004_counts.sql"),
    include_str!("migrations/0005_fleet.sql"),
    include_str!("migrations/0006_objects.sql"),
    include_str!("migrations/0007_delivered.sql"),
    include_str!("migrations/0008_canaries.sql"),
    include_str!("migrations/0009_reruns.sql"),
    include_str!("migrations/0010_ends.sql"),
    include_str!("migrations/0011_damaged.sql"),
    include_str!("migrations/0012_results.sql"),
    include_str!("migrations/0013_untried.sql"),
];
/// The oldest PostgreSQL that this is tested with.
const OLDEST: i32 = 15;

/// Brings the tables to the version of this program, and says what the queue is called. One process at a time does this. `None` for
/// a user of the database who may make no tables: a worker.
pub fn migrate(connection: &mut Connection) -> Result<Option<String>, QueueError> {
    let found = connection.query("SELECT current_setting('server_version_num')::integer / 10000", &[])?;
    let found = found.first().map_or(Ok(0), |row| row.try_get(0))?;
    if found < OLDEST {
        return Err(QueueError::DatabaseVersion { found, oldest: OLDEST });
    }
    let known = MIGRATIONS.len() as i32;
    let supported = |found| if found > known { Err(QueueError::Schema { found, known }) } else { Ok(()) };
    let owns = connection.query("SELECT has_schema_privilege(current_schema(), 'CREATE')", &[])?;
    if !owns.first().map_or(Ok(None), |row| row.try_get(0))?.unwrap_or(true) {
        let found = connection.query(statements::VERSION, &[])?;
        return supported(found.first().map_or(Ok(0), |row| row.try_get(0))?).map(|()| None);
    }
    // Without the lock below, which any user of the database can take.
    if let Some(name) = current(connection, known)? {
        return Ok(Some(name));
    }
    connection.transaction(|connection| {
        connection.batch("SELECT pg_advisory_xact_lock(1886221159, hashtext(current_schema()))")?;
        connection.batch(
            "CREATE TABLE IF NOT EXISTS schema_versions (version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())",
        )?;
        let found = connection.query("SELECT coalesce(max(version), 0) FROM schema_versions", &[])?;
        let found: i32 = found.first().map_or(Ok(0), |row| row.try_get(0))?;
        supported(found)?;
        for (version, migration) in (1..=known).zip(MIGRATIONS).filter(|(version, _)| *version > found) {
            connection.batch(migration)?;
            connection.query("INSERT INTO schema_versions (version) VALUES ($1)", &[&version])?;
        }
        let new = QueueNames::random()?.queue;
        connection.query("INSERT INTO queue (name) VALUES ($1) ON CONFLICT DO NOTHING", &[&new])?;
        let name = connection.query("SELECT name FROM queue", &[])?;
        Ok(Some(name.first().map_or(Ok(new), |row| row.try_get(0))?))
    })
}

/// The name of a queue whose tables have this version.
fn current(connection: &mut Connection, version: i32) -> Result<Option<String>, QueueError> {
    let made = connection.query(
        "SELECT FROM pg_class WHERE relname = 'schema_versions' AND relnamespace = current_schema()::regnamespace",
        &[],
    )?;
    if made.is_empty() {
        return Ok(None);
    }
    let name = connection
        .query("SELECT name FROM queue WHERE $1 = (SELECT max(version) FROM schema_versions)", &[&version])?;
    Ok(name.first().map(|row| row.try_get(0)).transpose()?)
}
