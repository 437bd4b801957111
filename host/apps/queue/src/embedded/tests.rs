use super::*;
use crate::tables::JOBS;

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
