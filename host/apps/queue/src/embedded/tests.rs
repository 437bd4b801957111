use super::*;
use crate::JOB;
use crate::tables::JOBS;
use redb::ReadableTable as _;

const LEASE: Duration = Duration::from_secs(60);

struct Place {
    _directory: tempfile::TempDir,
    queue: Embedded,
}

fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let queue = Embedded::open(&directory.path().join("queue"), QueueLimits::default()).unwrap();
    Place { _directory: directory, queue }
}

/// A job of this client that is taken and begun.
fn begun(queue: &Embedded, client: &str, payload: &[u8]) -> Lease {
    queue.submit(client, None, payload).unwrap();
    let lease = queue.take(LEASE).unwrap().unwrap().lease;
    queue.begin(&lease).unwrap();
    lease
}

/// Damages what is kept of a job while the queue is open.
fn damage(queue: &Embedded, ticket: &Ticket) {
    let damaged = queue.store.write(0, |transaction| {
        transaction.open_table(JOBS)?.insert(ticket.as_str(), &b"no record"[..])?;
        Ok(())
    });
    damaged.unwrap();
}

#[test]
fn a_lease_that_two_found_run_out_takes_nothing_from_whoever_has_the_job_next() {
    let Place { queue, .. } = &place();
    let first = begun(queue, "a", b"job");
    let requeue = || {
        let gone = [(first.ticket.clone(), Some(first.attempt))];
        queue.write(0, |tables| queue.requeue(tables, gone)).unwrap();
        queue.store.read(|transaction| {
            let jobs = transaction.open_table(JOBS)?;
            jobs.get(first.ticket.as_str())?.map(|record| JobRecord::read(record.value())).transpose()
        })
    };
    let record = requeue().unwrap().unwrap();
    assert_eq!((record.state, record.losses), (JobState::Waiting, 1));
    let second = queue.take(LEASE).unwrap().unwrap().lease;
    queue.begin(&second).unwrap();
    let record = requeue().unwrap().unwrap();
    assert_eq!((record.state, record.attempts, record.losses), (JobState::Running, 2, 1));
    queue.finish(&second, b"done").unwrap();
}

#[test]
fn a_job_whose_record_is_damaged_while_it_runs_is_lost_alone_and_its_worker_goes_on() {
    type Way<'a> = (&'a str, &'a dyn Fn(&Embedded, &Lease) -> Result<(), QueueError>);
    let ways: [Way<'_>; 3] = [
        ("begin", &|queue, lease| queue.begin(lease)),
        ("finish", &|queue, lease| queue.finish(lease, b"done")),
        ("give back", &|queue, lease| queue.give_back(lease)),
    ];
    for (way, go_on) in ways {
        let Place { queue, .. } = &place();
        let lease = begun(queue, "a", b"job");
        damage(queue, &lease.ticket);
        for _ in 0..2 {
            assert!(matches!(go_on(queue, &lease), Err(QueueError::Stale(ticket)) if ticket == lease.ticket), "{way}");
        }
        assert_eq!(queue.look("a", &lease.ticket).unwrap().unwrap().loss, Some(JobLoss::Record), "{way}");
        assert_eq!(queue.counts().unwrap(), Counts::default(), "{way}");
        assert!(matches!(queue.renew(&lease, LEASE), Err(QueueError::Stale(_))), "{way}");
        queue.finish(&begun(queue, "a", b"next"), b"done").unwrap();
    }
}

#[test]
fn a_job_whose_record_is_damaged_takes_none_of_its_clients_room_any_more() {
    let Place { queue, .. } = &place();
    queue.finish(&begun(queue, "a", b"ended"), b"its outcome").unwrap();
    let lease = begun(queue, "a", &[7; 1000]);
    let waits = queue.submit("a", None, b"waits").unwrap();
    queue.submit("b", None, b"another's").unwrap();
    let held = |client: &str| queue.share(client).unwrap().held;
    assert_eq!((held("a"), held("b")), (3 * JOB + 1016, JOB + 9));
    damage(queue, &lease.ticket);
    assert!(queue.finish(&lease, b"done").is_err());
    assert_eq!((held("a"), held("b")), (2 * JOB + 16, JOB + 9));
    // One that waits is its client's still, until it is taken.
    damage(queue, &waits);
    queue.write(0, |tables| tables.strike(&lease.ticket)).unwrap();
    assert_eq!(held("a"), 2 * JOB + 16);
}

/// As the version that kept leases on the disk wrote it: what runs by the end of its lease, records without a hash, without
/// what they say of `begun`, and without the queue's own clock.
fn as_an_older_version_wrote_it(transaction: &redb::WriteTransaction, running: &Ticket) -> Result<(), QueueError> {
    const BEFORE: redb::TableDefinition<'_, (u64, &str), ()> = redb::TableDefinition::new("running");
    transaction.delete_table(RUNNING)?;
    transaction.open_table(BEFORE)?.insert((1_700_000_000_000, running.as_str()), ())?;
    let mut jobs = transaction.open_table(JOBS)?;
    let records: Vec<(String, Vec<u8>)> = jobs
        .iter()?
        .map(|entry| entry.map(|(ticket, record)| (ticket.value().to_owned(), record.value().to_owned())))
        .collect::<Result<_, _>>()?;
    for (ticket, record) in records {
        let mut fields: serde_json::Map<_, _> = serde_json::from_slice(&record[64..]).unwrap();
        fields.retain(|name, _| !["begun", "kept_from_ms", "outcome_sha256", "loss"].contains(&name.as_str()));
        fields.insert("expires_ms".to_owned(), (ticket == running.as_str()).then_some(1_700_000_000_000_u64).into());
        jobs.insert(ticket.as_str(), serde_json::to_vec(&fields).unwrap().as_slice())?;
    }
    Ok(())
}

#[test]
fn a_file_of_an_older_version_is_read_and_goes_on() {
    let Place { _directory: directory, queue } = place();
    let ended = begun(&queue, "a", b"ends");
    queue.finish(&ended, b"outcome").unwrap();
    let runs = begun(&queue, "b", b"runs").ticket;
    let waiting = queue.submit("a", Some("key"), b"waits").unwrap();
    queue.store.write(0, |transaction| as_an_older_version_wrote_it(transaction, &runs)).unwrap();
    drop(queue);
    for _ in 0..2 {
        let queue = Embedded::open(&directory.path().join("queue"), QueueLimits::default()).unwrap();
        let look = |client, ticket| queue.look(client, ticket).unwrap().unwrap();
        assert_eq!(look("a", &ended.ticket).outcome, Some(b"outcome".to_vec()));
        assert_eq!(look("b", &runs).state, JobState::Waiting);
        assert_eq!(look("a", &waiting).state, JobState::Waiting);
        assert_eq!(queue.submit("a", Some("key"), b"waits").unwrap(), waiting);
    }
    let queue = Embedded::open(&directory.path().join("queue"), QueueLimits::default()).unwrap();
    let mut payloads = vec![];
    while let Some(job) = queue.take(LEASE).unwrap() {
        queue.begin(&job.lease).unwrap();
        queue.finish(&job.lease, b"done").unwrap();
        payloads.push(job.payload);
    }
    payloads.sort();
    assert_eq!(payloads, [b"runs".to_vec(), b"waits".to_vec()]);
}
