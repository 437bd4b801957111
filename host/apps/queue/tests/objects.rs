//! What is promised of bytes in an object store, and of jobs whose bytes are in one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engines;
mod stores;

use engines::{Database, LEASE, Place as _};
use passhost_cache::Cache;
use passhost_queue::{
    JobLoss, JobState, NewJob, ObjectError, Objects, Postgres, Queue, QueueError, QueueLimits, Ticket, Worker,
};
use postgres::{Client, NoTls};
use sha2::{Digest as _, Sha256};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};
use stores::TestStore;

of_both_stores! {
    bytes_come_back_as_they_were_stored_or_not_at_all,
    large_ones_are_stored_and_go_when_nobody_refers_to_them_for_an_hour,
    a_job_whose_object_is_missing_or_changed_is_left_to_others_and_then_a_dead_letter,
    while_the_store_is_away_nothing_is_lost,
    whoever_stores_what_is_being_removed_waits_and_stores_it_again,
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Bytes that are stored.
fn large(byte: u8) -> Vec<u8> {
    vec![byte; 100_000]
}

fn bytes_come_back_as_they_were_stored_or_not_at_all(store: &TestStore, _: &str) {
    let (objects, bytes) = (store.open(), vec![7; 5 << 20]);
    let (name, size) = (hash(&bytes), bytes.len() as u64);
    let get = |limit| objects.get(&name, limit, soon());
    for _ in 0..2 {
        objects.put(&name, &bytes, soon()).unwrap();
        assert!(get(size).unwrap() == bytes);
    }
    assert!(matches!(get(size - 1), Err(ObjectError::Changed(_))), "longer than it may be");
    // A copy stays when the store changes its mind, and has an end.
    let place = tempfile::tempdir().unwrap();
    let cached = |bytes| Some(Cache::open(&place.path().join("cache")).unwrap().with_capacity(bytes));
    let cached = [2 * size, size - 1].map(|bytes| store.open().with_cache(cached(bytes)));
    assert!(cached[0].get(&name, size, soon()).unwrap() == bytes);
    let mut others = bytes.clone();
    others[99] ^= 1;
    for others in [&others[..], &bytes[1..], b""] {
        std::fs::write(store.file(&name), others).unwrap();
        let refused = get(size).unwrap_err();
        assert!(!refused.is_passing() && refused.to_string().contains(&format!("a/prefix/{name}")), "{refused}");
        assert!(matches!(refused, ObjectError::Changed(_)), "{refused}");
        assert!(cached[0].get(&name, size, soon()).unwrap() == bytes);
    }
    objects.put(&name, &bytes, soon()).unwrap();
    assert!(cached[1].get(&name, size, soon()).unwrap() == bytes);
    for _ in 0..2 {
        objects.remove(&name, soon()).unwrap();
    }
    assert!(matches!(get(size), Err(ObjectError::Missing(_))));
    for no_hash in ["../../etc/passwd", "", &name.to_uppercase()] {
        assert!(matches!(objects.get(no_hash, 1, soon()), Err(ObjectError::Missing(_))), "{no_hash}");
        assert!(objects.remove(no_hash, soon()).is_err(), "{no_hash}");
    }
    assert_eq!(store.count(), 0);
    // Another store, or one that was emptied, is none that has lost one object.
    let mark = std::fs::read_dir(store.file("")).unwrap().find(|entry| entry.as_ref().unwrap().file_name().len() == 64);
    std::fs::remove_file(mark.unwrap().unwrap().path()).unwrap();
    assert!(matches!(get(size), Err(ObjectError::Away { .. })));
}

fn opened(store: &TestStore, test: &str) -> Option<(Database, Postgres)> {
    let place = Database::new(test)?;
    let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap().with_objects(store.open());
    Some((place, queue))
}

fn worker(host: &str) -> Worker {
    Worker { name: host.to_owned(), host: host.to_owned(), ..Worker::default() }
}

fn submit(queue: &Postgres, client: &str, bytes: &[u8]) -> Ticket {
    queue.submit_job(client, None, &NewJob { head: b"head ", bytes, needs: &[] }).unwrap()
}

fn large_ones_are_stored_and_go_when_nobody_refers_to_them_for_an_hour(store: &TestStore, kind: &str) {
    let Some((place, queue)) = opened(store, &format!("stored_{kind}")) else { return };
    place.execute(&format!("CREATE ROLE stored_{kind} LOGIN; SELECT allow_worker('stored_{kind}')"));
    let address = place.address.replace("user=postgres", &format!("dbname=postgres user=stored_{kind}"));
    let hand = Postgres::open(&address, QueueLimits::default()).unwrap().with_objects(store.open());
    let held = queue.share("a").unwrap().held;
    let [first, second] = [large(1), large(1)].map(|bytes| submit(&queue, "a", &bytes));
    let small = submit(&queue, "a", &large(2)[..1000]);
    assert_eq!((store.count(), queue.share("a").unwrap().held - held), (1, 3 * 2048 + 2 * 100_005 + 1005));
    let mut database = Client::connect(&place.address, NoTls).unwrap();
    let mut rows = |sql: &str| -> i64 { database.query_one(sql, &[]).unwrap().get(0) };
    assert_eq!(rows("SELECT sum(length(bytes)) FROM objects"), 1000);
    assert_eq!(rows("SELECT sum(size)::bigint FROM stored_objects"), 100_000);
    let batch = hand.take_batch(&worker("one"), 3, LEASE).unwrap();
    let payloads: Vec<&[u8]> = batch.jobs.iter().map(|job| &*job.payload).collect();
    let all = [b"head ", &*large(1)].concat();
    assert!(payloads == [&*all, &*all, &[b"head ", &large(2)[..1000]].concat()]);
    for (job, outcome) in batch.jobs.iter().zip([large(3), large(4), b"done".to_vec()]) {
        hand.begin(&job.lease).unwrap();
        // Neither another user nor one whose lease is over stores anything.
        for _ in 0..2 {
            assert!(matches!(queue.finish(&job.lease, &large(9)), Err(QueueError::Stale(_))));
        }
        hand.finish(&job.lease, &outcome).unwrap();
        assert!(matches!(hand.finish(&job.lease, &large(9)), Err(QueueError::Stale(_))));
        assert!(queue.look("a", &job.lease.ticket).unwrap().unwrap().outcome.unwrap() == outcome);
    }
    assert_eq!(queue.share("a").unwrap().held - held, 3 * 2048 + 2 * 100_000 + 4);
    let week = Duration::from_secs(7 * 24 * 3600);
    // What was submitted is nobody's any more, and goes an hour after it was stored.
    place.pass(Duration::from_secs(3599));
    assert_eq!((queue.forget(week).unwrap(), store.count()), (0, 3));
    let again = submit(&queue, "a", &large(3));
    place.pass(Duration::from_secs(2));
    assert_eq!((queue.forget(week).unwrap(), store.count()), (0, 2));
    assert!(queue.remove("a", &first).unwrap() && queue.remove("a", &small).unwrap());
    // One of the outcomes is what somebody has submitted since.
    assert_eq!((queue.forget(week).unwrap(), store.count()), (0, 2));
    place.pass(Duration::from_secs(3600));
    let job = hand.take_as(&worker("one"), LEASE).unwrap().unwrap();
    assert!(job.lease.ticket == again && job.payload.ends_with(&large(3)));
    hand.finish(&job.lease, b"done").unwrap();
    assert_eq!((queue.forget(week).unwrap(), store.count()), (0, 1));
    place.pass(week + Duration::from_secs(1));
    assert_eq!((queue.forget(week).unwrap(), store.count()), (2, 0));
    assert_eq!((rows("SELECT count(*) FROM stored_objects"), queue.look("a", &second).unwrap()), (0, None));
}

fn a_job_whose_object_is_missing_or_changed_is_left_to_others_and_then_a_dead_letter(store: &TestStore, kind: &str) {
    let Some((_place, queue)) = opened(store, &format!("changed_{kind}")) else { return };
    for (number, others) in [None, Some(large(9))].into_iter().enumerate() {
        let (client, bytes) = (number.to_string(), large(1 + number as u8));
        let (ticket, file) = (submit(&queue, &client, &bytes), store.file(&hash(&bytes)));
        let spoil = |file: &Path| match &others {
            None => std::fs::remove_file(file).unwrap(),
            Some(others) => std::fs::write(file, others).unwrap(),
        };
        spoil(&file);
        for host in ["one", "two", "three"] {
            let Err(QueueError::Left(left, why)) = queue.take_as(&worker(host), LEASE) else { unreachable!("{host}") };
            assert!(left == ticket && why.contains(&format!("a/prefix/{}", hash(&bytes))), "{why}");
            assert_eq!(queue.take_as(&worker(host), LEASE).unwrap(), None, "another host's turn");
        }
        let status = queue.look(&client, &ticket).unwrap().unwrap();
        assert_eq!((status.state, status.loss, status.outcome), (JobState::Lost, Some(JobLoss::Hosts), None));
        assert_eq!(status.lost_attempts.iter().filter(|lost| !lost.died && lost.log.contains("object")).count(), 3);
        // Whoever brings the bytes back has it tried again.
        store.open().put(&hash(&bytes), &bytes, soon()).unwrap();
        assert_eq!(queue.retry(&ticket).unwrap(), Some(JobState::Waiting));
        let job = queue.take_as(&worker("four"), LEASE).unwrap().unwrap();
        assert!(job.payload.ends_with(&bytes));
        queue.finish(&job.lease, &large(3)).unwrap();
        spoil(&store.file(&hash(&large(3))));
        let status = queue.look(&client, &ticket).unwrap().unwrap();
        assert_eq!((status.state, status.loss, status.outcome), (JobState::Lost, Some(JobLoss::Outcome), None));
    }
}

fn while_the_store_is_away_nothing_is_lost(store: &TestStore, kind: &str) {
    let Some((place, queue)) = opened(store, &format!("away_{kind}")) else { return };
    let tickets = [1, 2].map(|byte| submit(&queue, "a", &large(byte)));
    let held = queue.take_as(&worker("one"), LEASE).unwrap().unwrap();
    queue.begin(&held.lease).unwrap();
    store.go_away();
    let away = [
        queue.submit("b", None, &large(3)).map(drop),
        queue.take_as(&worker("one"), LEASE).map(drop),
        queue.finish(&held.lease, &large(4)),
    ];
    for refused in away {
        let error = refused.unwrap_err();
        assert!(error.is_passing() && error.to_string().contains("the store"), "{error}");
    }
    let counts = queue.counts().unwrap();
    assert_eq!((counts.waiting, counts.running, counts.clients), (1, 1, 1));
    store.come_back();
    queue.finish(&held.lease, &large(4)).unwrap();
    let job = queue.take_as(&worker("one"), LEASE).unwrap().unwrap();
    assert!(job.lease.ticket == tickets[1] && job.payload.ends_with(&large(2)));
    let status = queue.look("a", &tickets[1]).unwrap().unwrap();
    assert_eq!((status.state, status.lost_attempts.len()), (JobState::Running, 0));
    let without = Postgres::open(&place.address, QueueLimits::default()).unwrap();
    let error = without.look("a", &tickets[0]).unwrap_err().to_string();
    assert!(error.contains("name it by --objects"), "{error}");
    store.go_away();
    assert!(queue.look("a", &tickets[0]).unwrap_err().is_passing());
    store.come_back();
    assert!(queue.look("a", &tickets[0]).unwrap().unwrap().outcome.unwrap() == large(4));
}

fn whoever_stores_what_is_being_removed_waits_and_stores_it_again(store: &TestStore, kind: &str) {
    let Some((place, queue)) = opened(store, &format!("removed_{kind}")) else { return };
    let ticket = submit(&queue, "a", &large(1));
    let [mut remover, mut watcher] = [(); 2].map(|()| Client::connect(&place.address, NoTls).unwrap());
    let remove = "DELETE FROM stored_objects";
    assert_eq!(remover.execute(remove, &[]).unwrap_err().code().unwrap().code(), "23503", "somebody refers to it");
    queue.cancel("a", &ticket).unwrap();
    // As `forget` does an hour later.
    let remover_pid: i32 = remover.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
    let mut removal = remover.transaction().unwrap();
    assert_eq!(removal.execute(remove, &[]).unwrap(), 1);
    std::thread::scope(|scope| {
        let submitted = scope.spawn(|| submit(&queue, "a", &large(1)));
        let waiting = "SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
        while watcher.query(waiting, &[&remover_pid]).unwrap().is_empty() {}
        std::fs::remove_file(store.file(&hash(&large(1)))).unwrap();
        removal.commit().unwrap();
        submitted.join().unwrap();
    });
    assert!(queue.take_as(&worker("one"), LEASE).unwrap().unwrap().payload.ends_with(&large(1)));
}

#[test]
fn a_wrong_secret_is_refused_at_the_start() {
    let Some(store) = TestStore::s3("a_wrong_secret_is_refused_at_the_start") else { return };
    let Err(error) = store.try_open("another") else { unreachable!() };
    assert!(matches!(&error, ObjectError::Refused { why, .. } if why.contains("SignatureDoesNotMatch")), "{error}");
}

#[test]
fn what_is_no_store_is_refused_with_its_reason() {
    let variables = |set: &'static [(&'static str, &'static str)]| {
        move |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    let keys = &[("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
    for (address, set, why) in [
        ("ftp://bucket", &keys[..], "unknown scheme"),
        ("s3://", keys, "its parts are not"),
        ("s3://bucket/a//b", keys, "its parts are not"),
        ("s3://bucket/../b", keys, "its parts are not"),
        ("s3://bucket/a b", keys, "its parts are not"),
        ("s3://bucket", &keys[1..], "the variable AWS_ACCESS_KEY_ID is not set"),
        ("s3://bucket", &keys[..1], "the variable AWS_SECRET_ACCESS_KEY is not set"),
        ("s3://bucket", &[("AWS_ENDPOINT_URL", "store.example")], "is not like https://HOST"),
        ("s3://bucket", &[("AWS_ENDPOINT_URL", "https://a:b@store.example")], "is not like https://HOST"),
        ("/dev/null/objects", &[], "Not a directory"),
    ] {
        let Err(error) = Objects::open(address, variables(set)) else { unreachable!("{address}") };
        assert!(error.to_string().contains(why) && !error.is_passing(), "{address}: {error}");
    }
}

/// Answers a request on each connection, and returns the requests.
fn answers(texts: Vec<String>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let answer = move |text: String| {
        let (mut stream, mut request) = (listener.accept().unwrap().0, vec![]);
        while !request.windows(4).any(|end| end == b"\r\n\r\n") {
            let mut part = [0; 4096];
            let read = stream.read(&mut part).unwrap();
            request.extend_from_slice(&part[..read]);
        }
        // Whoever has read enough takes no more.
        let _ = stream.write_all(text.as_bytes());
        String::from_utf8_lossy(&request).into_owned()
    };
    (origin, std::thread::spawn(move || texts.into_iter().map(answer).collect()))
}

#[test]
fn a_store_that_fails_is_asked_again_and_leads_nowhere_else() {
    let answer = |status: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    };
    let (none, mark) = (answer("404 Not Found", "<Code>NoSuchKey</Code>"), answer("200 OK", "passhost objects 1\n"));
    let busy = answer("503 Slow Down", "<Code>SlowDown</Code>");
    let short = mark.replace("content-length: 19", "content-length: 20");
    let start = [busy.clone(), String::new(), none.clone(), answer("200 OK", ""), short.clone(), mark];
    let cases = [
        (answer("307 Moved", "").replace("\r\n\r\n", "\r\nlocation: http://127.0.0.1:1/\r\n\r\n"), 1, "no redirect"),
        (answer("403 No", "<Error><Code>AccessDenied</Code></Error>"), 1, "status 403 AccessDenied"),
        (answer("404 No", "<Code>NoSuchBucket</Code>"), 1, "status 404 NoSuchBucket"),
        (answer("200 OK", &"x".repeat(1 << 20)), 1, "other bytes"),
        (busy, 5, "status 503 SlowDown"),
        (short, 5, "does not answer"),
    ];
    let texts = start.iter().cloned().chain(cases.iter().flat_map(|(text, times, _)| vec![text.clone(); *times]));
    let (origin, server) = answers(texts.collect());
    let variable = |name: &str| match name {
        "AWS_ENDPOINT_URL" => Some(origin.clone()),
        "AWS_REGION" => Some("eu-1".to_owned()),
        "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" | "AWS_SESSION_TOKEN" => Some(format!("the {name}")),
        _ => None,
    };
    let objects = Objects::open("s3://bucket/prefix/", variable).unwrap();
    for (text, _, why) in &cases {
        let error = objects.get(&hash(b""), 20, soon()).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
    let requests = server.join().unwrap();
    for request in requests {
        let request = request.to_lowercase();
        let signed = "signedheaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,";
        assert!(request.contains(signed) && request.contains("/eu-1/s3/aws4_request"), "{request}");
        assert!(request.contains(&format!("host: {}\r\n", &origin[7..])), "{request}");
        assert!(request.contains(" /bucket/prefix/") && !request.contains("secret_access_key"), "{request}");
    }
}
