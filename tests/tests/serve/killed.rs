//! A server that is killed while it takes submissions.

use super::{Server, answered};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};

const ALL: usize = 200;

fn client_of(number: usize) -> &'static str {
    if number.is_multiple_of(3) { "bob" } else { "alice" }
}

/// No component: what is seen here is the queue.
fn bytes(number: usize) -> Vec<u8> {
    format!("submission {number}").into_bytes()
}

/// Sends all submissions at once, and what each was called; the server is killed the moment so many have a name.
fn submitted_at_once(server: &Server, kill_after: Option<usize>) -> BTreeMap<usize, String> {
    let (ready, named, ids) = (Barrier::new(ALL), AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let pid = i32::try_from(server.id()).ok().and_then(Pid::from_raw);
    let submit = |number: usize| {
        let request = server.submission(client_of(number), &number.to_string(), &bytes(number));
        let (last, before) = request.split_last()?;
        let stream = server.connect().and_then(|mut stream| stream.write_all(before).ok().map(|()| stream));
        // All but the last byte of each is there.
        ready.wait();
        let mut stream = stream?;
        stream.write_all(&[*last]).ok()?;
        let answer = answered(&mut stream)?;
        ids.lock().unwrap_or_else(PoisonError::into_inner).insert(number, answer.id());
        if named.fetch_add(1, Ordering::Relaxed) + 1 == kill_after? {
            return pid.map(|pid| kill_process(pid, Signal::KILL).is_ok());
        }
        Some(true)
    };
    let submit = &submit;
    std::thread::scope(|scope| {
        (0..ALL).for_each(|number| drop(scope.spawn(move || submit(number))));
    });
    ids.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn two_hundred_submissions_at_once_have_one_result_each_though_the_server_is_killed_among_them() {
    let mut server = Server::start();
    let mut named = submitted_at_once(&server, Some(10));
    assert!((10..ALL).contains(&named.len()), "it was killed after the last: {}", named.len());
    server.again();
    // Whoever lost the answer asks again with its key; the server is killed among these, too. It is not killed a third
    // time: what a server evaluated at each of three kills is lost, as it should be.
    for kill_after in [Some(60), None] {
        for (number, id) in submitted_at_once(&server, kill_after) {
            assert_eq!(*named.entry(number).or_insert_with(|| id.clone()), id, "a key stands for two evaluations");
        }
        if kill_after.is_some() {
            server.again();
        }
    }
    assert_eq!(named.len(), ALL, "all are named in the end");
    assert_eq!(named.values().collect::<BTreeSet<_>>().len(), ALL, "an evaluation stands for two keys");
    let mut hashes = BTreeSet::new();
    for (number, id) in &named {
        let evaluation = server.ended(client_of(*number), id);
        let hash = evaluation["document"]["job"]["plugin_sha256"].as_str().unwrap_or_default().to_owned();
        assert!(evaluation["state"] == "finished" && hashes.insert(hash), "{evaluation}");
    }
    // None is there that nobody knows of.
    let counts = ["jobs_ended", "jobs_waiting", "jobs_running"].map(|name| server.metric(name));
    assert_eq!((hashes.len(), counts), (ALL, [ALL as u64, 0, 0]));
}
