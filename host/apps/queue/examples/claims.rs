//! How fast jobs are submitted, taken and finished by so many threads, where a million wait, or as many as are named, on a PostgreSQL that is
//! started for it, or on that of an address: `cargo run -p passhost-queue --example claims [DEPTH [ADDRESS]]`.

#![allow(clippy::unwrap_used, reason = "a measurement fails by panicking")]

#[path = "../tests/engines/mod.rs"]
mod engines;

use engines::{Database, LEASE, Server};
use passhost_queue::{Postgres, Queue as _, QueueLimits, Worker};
use std::thread::scope;
use std::time::{Duration, Instant};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let depth: u32 = arguments.next().map_or(1_000_000, |depth| depth.parse().unwrap());
    let address = match arguments.next() {
        Some(address) => address,
        None => match Server::shared("claims") {
            Some(server) => server.schema("claims"),
            None => return,
        },
    };
    let limits = QueueLimits {
        running_of_client: u64::MAX,
        attempts: u32::MAX,
        waiting: u64::MAX,
        waiting_of_client: u64::MAX,
        ..QueueLimits::default()
    };
    let queue = &Postgres::open(&address, limits).unwrap();
    Database { address }.execute(&format!(
        "INSERT INTO jobs (ticket, client, payload_sha256, payload_bytes)
            SELECT n, n % 10, encode(sha256('job'), 'hex'), 3 FROM generate_series(1, {depth}) n;
        INSERT INTO objects VALUES ('hash', 'job');
        INSERT INTO payloads SELECT n, 'hash' FROM generate_series(1, {depth}) n; ANALYZE"
    ));
    for threads in [1, 8] {
        let until = Instant::now() + Duration::from_secs(5);
        let submit = &|thread: u32| {
            let submitted = (0..).take_while(|number| {
                queue.submit("submitter", None, format!("{thread} {number}").as_bytes()).unwrap();
                Instant::now() < until
            });
            submitted.count()
        };
        let jobs: usize = scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || submit(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        println!("{threads} threads: {} submissions/s", jobs / 5);
    }
    for (threads, batch) in [(1, 1), (8, 1), (8, 16)] {
        let until = Instant::now() + Duration::from_secs(10);
        let work = || {
            let (mut claims, mut jobs) = (vec![], 0);
            while Instant::now() < until {
                let begun = Instant::now();
                let taken = queue.take_batch(&Worker::default(), batch, LEASE).unwrap();
                claims.push(begun.elapsed());
                let ends: Vec<(_, &[u8])> = taken.jobs.iter().map(|job| (&job.lease, &b"done"[..])).collect();
                queue.finish_all(&ends).into_iter().for_each(Result::unwrap);
                jobs += taken.jobs.len();
            }
            (claims, jobs)
        };
        let (mut claims, mut jobs) = (vec![], 0);
        for (more, finished) in scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
        }) {
            claims.extend(more);
            jobs += finished;
        }
        claims.sort();
        let [median, p99, longest] = [50, 99, 100].map(|percent| claims[(claims.len() - 1) * percent / 100]);
        println!(
            "{threads} threads, batches of {batch}: {} jobs/s; claim median {median:?}, p99 {p99:?}, longest {longest:?}",
            jobs / 10
        );
    }
}
