//! A worker's user of the database can claim, hold and end its own jobs, and nothing else.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engines;

use engines::{Database, LEASE, Server};
use passhost_queue::{Counts, Postgres, Queue as _, QueueError, QueueLimits, Worker};
use postgres::{Client, NoTls};
use std::time::Duration;

/// What a worker must not do, each time as another user than the owner of the tables.
const DENIED: &[&str] = &[
    "UPDATE jobs SET state = 'finished'",
    "INSERT INTO losses SELECT",
    "COPY jobs TO STDOUT",
    "DO 'BEGIN LOCK TABLE jobs; END'",
    "SELECT nextval('turns')",
    "SELECT setval('turns', 1)",
    "SELECT nextval('reruns_compared')",
    "SELECT accept_delivered('t', 1, '', 0, NULL, NULL, NULL, NULL, NULL, NULL, false)",
    "SELECT run_again(NULL, 't', '{}', NULL, NULL)",
    "SELECT submit_job('t', 'a', NULL, '', 0, '', '{}', '', '', 1, 1, 1)",
    "SELECT remove_objects()",
    "CREATE INDEX ON jobs (client)",
    "CREATE RULE mine AS ON UPDATE TO jobs DO INSTEAD NOTHING",
    "CREATE TRIGGER mine AFTER UPDATE ON jobs EXECUTE FUNCTION count_jobs()",
    "GRANT SELECT ON jobs TO PUBLIC",
    "ALTER TABLE jobs DISABLE TRIGGER ALL",
    "ALTER SCHEMA roles RENAME TO mine",
    "CREATE SCHEMA mine",
    "CREATE ROLE mine",
    "ALTER ROLE two SET search_path = public",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres'",
    "SELECT pg_read_file('/etc/passwd')",
    "COPY (SELECT 1) TO PROGRAM 'cat'",
    "SELECT lose('{}', true, '', 1, 1)",
    "SELECT job_bytes('waiting', 1, 1)",
    "SELECT queue_now()",
    "SELECT allow_worker('stranger')",
    "CREATE TABLE mine ()",
    "CREATE OR REPLACE FUNCTION queue_now() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()'",
    "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()'",
    "ALTER FUNCTION worker_begin SECURITY INVOKER",
    "DROP TRIGGER jobs_updated ON jobs",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION two",
];

/// Fails unless the database refuses each statement on a table, and those of [`DENIED`].
fn expect_no_rights(client: &mut Client) {
    let tables = "jobs payloads objects stored_objects outcomes losses client_counts clients queue schema_versions workers \
         drained_hosts canaries quarantined_hosts revocations reruns disagreements \
         untried_results";
    let of_tables = ["SELECT FROM", "DELETE FROM", "TRUNCATE", "DROP TABLE"];
    let of_tables = tables.split(' ').flat_map(|table| of_tables.map(|what| format!("{what} {table}")));
    for sql in of_tables.chain(DENIED.iter().map(|&sql| sql.to_owned())) {
        let denied = client.batch_execute(&sql);
        let code = denied.as_ref().err().and_then(|error| error.code()).map(|code| code.code().to_owned());
        assert_eq!(code.as_deref(), Some("42501"), "{sql}: {denied:?}");
    }
}

#[test]
fn a_worker_of_the_database_ends_its_own_jobs_and_can_do_nothing_else() {
    let Some(server) = Server::shared("a_worker_of_the_database_ends_its_own_jobs") else { return };
    let owner = server.schema("roles");
    let queue = Postgres::open(&owner, QueueLimits::default()).unwrap();
    Database { address: owner.clone() }.execute(
        "CREATE ROLE one LOGIN; CREATE ROLE two LOGIN; CREATE ROLE stranger LOGIN;
        SELECT allow_worker('one'); SELECT allow_worker('two')",
    );
    let address = |user: &str| owner.replace("user=postgres", &format!("dbname=postgres user={user}"));
    let [one, two] = ["one", "two"].map(|user| Postgres::open(&address(user), QueueLimits::default()).unwrap());
    assert!(Postgres::open(&address("stranger"), QueueLimits::default()).is_err());
    (0..3).for_each(|number| drop(queue.submit("a", None, &[number]).unwrap()));
    let worker = Worker { name: "w".to_owned(), ..Worker::default() };
    let jobs = [(); 3].map(|()| one.take_as(&worker, LEASE).unwrap().unwrap());
    assert_eq!(jobs[2].payload, [2]);
    let [finished, given_back, held] = jobs.map(|job| job.lease);
    for lease in [&finished, &held] {
        one.begin(lease).unwrap();
        one.renew(lease, LEASE).unwrap();
    }
    one.finish(&finished, b"done").unwrap();
    one.give_back(&given_back).unwrap();
    // Whoever learns the lease of another worker, or has ended a job. The owner of the tables is none of its workers.
    for (thief, lease) in [(&two, &held), (&queue, &held), (&one, &finished), (&one, &given_back)] {
        for done in [
            thief.begin(lease),
            thief.renew(lease, LEASE),
            thief.finish(lease, b"forged"),
            thief.give_back(lease),
            thief.give_up(lease, "why", b""),
        ] {
            assert!(matches!(done, Err(QueueError::Stale(_))), "{done:?}");
        }
    }
    two.recover("w").unwrap();
    queue.recover("w").unwrap();
    assert_eq!(two.take_like(&worker, &held, 1, LEASE).unwrap().jobs.len(), 0);
    one.check_in(&worker).unwrap();
    two.check_in(&Worker { host: "forged".to_owned(), ..worker.clone() }).unwrap();
    assert_eq!(queue.fleet().unwrap().workers[0].host, "");
    for denied in [
        one.submit("a", None, b"job").map(drop),
        one.cancel("a", &held.ticket).map(drop),
        one.look("a", &held.ticket).map(drop),
        one.counts().map(drop),
        one.remove("a", &finished.ticket).map(drop),
        one.withdraw("").map(drop),
        one.share("a").map(drop),
        one.forget(Duration::ZERO).map(drop),
        one.fleet().map(drop),
        one.retry(&held.ticket).map(drop),
        one.drain("host", true),
        one.require_canary(None),
    ] {
        assert!(denied.as_ref().is_err_and(|error| error.to_string().ends_with("(42501)")), "{denied:?}");
    }
    let mut client = Client::connect(&address("one"), NoTls).unwrap();
    expect_no_rights(&mut client);
    // No lock that it can take holds up a server, and no lease of its is longer than an hour.
    let locks =
        "SELECT pg_advisory_lock(1886221159, hashtext('roles')), pg_advisory_lock(1886221160, hashtext('roles a'))";
    client.batch_execute(locks).unwrap();
    let patient = owner.replace("search_path", "lock_timeout=2s -c search_path");
    let another = Postgres::open(&patient, QueueLimits::default()).unwrap();
    another.cancel("a", &another.submit("a", None, b"job").unwrap()).unwrap();
    one.renew(&held, Duration::MAX).unwrap();
    Database { address: owner.clone() }
        .execute("DO $$ BEGIN ASSERT (SELECT max(expires) < now() + interval '61 minutes' FROM jobs); END $$");
    // Tables of its own do not stand in for those of the queue.
    let begin = format!("SELECT worker_begin('{}', {})", held.ticket, held.attempt);
    client.batch_execute("CREATE TEMP TABLE jobs (ticket text); SET search_path = pg_temp, roles").unwrap();
    assert_eq!(client.query(&begin, &[]).unwrap().len(), 1);
    one.finish(&held, b"done").unwrap();
    assert_eq!(queue.counts().unwrap(), Counts { waiting: 1, ended: 3, clients: 1, ..Counts::default() });
}
