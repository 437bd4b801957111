//! Several servers on one queue.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../queue/tests/engines/mod.rs"]
mod engines;
mod server;

use engines::{Database, Place, Server as DatabaseServer};
use passhost_queue::{JobState, Postgres, Queue, QueueLimits, Ticket};
use passhost_serve::{Graded, OPENAPI, ServerLimits};
use server::{Answer, Events, Server};
use std::sync::Arc;
use std::time::Duration;

of_both_engines! {
    a_second_server_leaves_the_jobs_and_episodes_of_the_first_alone,
}

fn a_second_server_leaves_the_jobs_and_episodes_of_the_first_alone(place: &dyn Place) {
    let queue: Arc<dyn Queue> = Arc::from(place.open(QueueLimits { running_of_client: 1, ..QueueLimits::default() }));
    // Its client has as many running jobs as it may, so that nobody takes this.
    let episode = |server: &str| queue.submit("alice", Some(&format!("episode {server} 1")), b"job").unwrap();
    let first = Server::start_on(ServerLimits::default(), |_| Arc::clone(&queue));
    let graded = Ticket::named(first.submit("alice", b"1").id());
    first.begins();
    let of_first = episode(&first.name());
    let mut of_second = None;
    let second = Server::start_on(ServerLimits::default(), |place| {
        of_second = Some(episode(&server::name(place)));
        Arc::clone(&queue)
    });
    assert_eq!(second.ask("alice", "GET /health").status, 200);
    let look = |ticket: &Ticket| queue.look("alice", ticket).unwrap();
    assert_eq!(look(&of_first).unwrap().state, JobState::Waiting);
    assert_eq!(look(&of_second.unwrap()), None);
    first.says("one");
    let status = first.ask("alice", &format!("GET /v1/evaluations/{graded}?wait=50")).json();
    assert_eq!(status["document"]["said"], "one");
    assert_eq!(look(&graded).unwrap().attempts, 1);
}

fn postgres(address: &str) -> Arc<dyn Queue> {
    Arc::new(Postgres::open(address, QueueLimits::default()).unwrap())
}

#[test]
fn what_one_server_takes_another_one_grades_and_whoever_waits_hears_of_it() {
    let Some(database) = DatabaseServer::shared("what_one_server_takes_another_one_grades") else { return };
    let address = database.schema("two_servers");
    let [first, second] = [(); 2].map(|()| Server::start_on(ServerLimits::default(), |_| postgres(&address)));
    // Whichever begins first is busy from here on.
    let busy = first.submit("alice", b"1").id();
    let is_first = first.begun.recv_timeout(Duration::from_secs(2)).is_ok();
    let (grades, other) = if is_first { (&second, &first) } else { (&first, &second) };
    let id = other.submit("bob", b"2").id();
    let mut events = Events::of(other, "bob", &id);
    assert_eq!(grades.begins().bytes, b"2");
    grades.says("two");
    let last = std::iter::from_fn(|| events.next()).last().unwrap();
    assert_eq!((&last["state"], &last["document"]["said"]), (&"finished".into(), &"two".into()));
    other.says("one");
    let status = grades.ask("alice", &format!("GET /v1/evaluations/{busy}?wait=50")).json();
    assert_eq!(status["document"]["said"], "one");
}

#[test]
fn a_client_is_told_that_a_result_counts_no_more() {
    let Some(database) = DatabaseServer::shared("a_client_is_told_that_a_result_counts_no_more") else { return };
    let address = database.schema("revoked");
    let server = Server::start_on(ServerLimits::default(), |_| postgres(&address));
    let id = server.submit("alice", b"1").id();
    server.begins();
    server.says("one");
    let look = format!("GET /v1/evaluations/{id}?wait=50");
    assert_eq!(server.ask("alice", &look).json().get("revoked"), None);
    let revoke = format!("INSERT INTO revocations (ticket, host, reason) VALUES ('{id}', 'host', 'it lied')");
    Database { address }.execute(&revoke);
    let status = server.ask("alice", &look).json();
    assert_eq!((&status["document"]["said"], &status["revoked"]), (&"one".into(), &"it lied".into()));
    let described: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
    assert_eq!(described.pointer("/components/schemas/Evaluation/properties/revoked/type").unwrap(), "string");
}

#[test]
fn while_the_database_is_away_clients_are_told_so_and_nothing_is_lost() {
    let database = match DatabaseServer::start() {
        Ok(database) => database,
        Err(why) => return eprintln!("skipped: while_the_database_is_away: {why}"),
    };
    let server = Server::start_on(ServerLimits::default(), |_| postgres(&database.schema("away")));
    let [graded, waits] = [b"1", b"2"].map(|body| server.submit("alice", body).id());
    server.begins();
    database.stop();
    let look = format!("GET /v1/evaluations/{graded}");
    let is_told = |answer: Answer| {
        assert_eq!(answer.status, 503, "{answer:?}");
        assert!(answer.head.contains("retry-after: 10") && answer.body.contains("database"), "{answer:?}");
    };
    is_told(server.submit("alice", b"3"));
    is_told(server.ask("alice", &look));
    server.says("one");
    is_told(server.ask("alice", &look));
    database.start_again();
    server.begins();
    server.says("two");
    for (id, said) in [(graded, "one"), (waits, "two")] {
        let status = server.ask("alice", &format!("GET /v1/evaluations/{id}?wait=50")).json();
        assert_eq!(status["document"]["said"], said, "{status}");
        assert_eq!(server.queue.look("alice", &Ticket::named(id)).unwrap().unwrap().attempts, 1);
    }
    server.submit("alice", b"3").id();
}

#[test]
fn what_a_machine_cannot_do_is_tried_on_others_that_are_like_it() {
    let Some(database) = DatabaseServer::shared("what_a_machine_cannot_do_is_tried_on_others") else { return };
    let address = database.schema("faults");
    let start = |offers: &[&str]| Server::start_offering(offers, ServerLimits::default(), |_| postgres(&address));
    let alike = [(); 4].map(|()| start(&["programs=1", "device=cpu"]));
    let other = start(&["programs=2", "device=cpu"]);
    let fault = || Graded::Fault(r#"{"said":"nothing"}"#.to_owned(), "Xid 79".to_owned());
    let ended = |id: &str| alike[0].ask("alice", &format!("GET /v1/evaluations/{id}?wait=50")).json();
    let tried_by = |tried: &mut Vec<usize>| {
        let next =
            (0..).map(|asks| asks % 4).find(|&at| alike[at].begun.recv_timeout(Duration::from_millis(50)).is_ok());
        assert!(!tried.contains(&next.unwrap()), "it was tried there before");
        tried.push(next.unwrap());
        &alike[next.unwrap()]
    };
    let (id, mut tried) = (alike[0].submit("alice", b"1").id(), vec![]);
    tried_by(&mut tried).grades(fault());
    tried_by(&mut tried).says("one");
    assert_eq!(ended(&id)["document"]["said"], "one");
    let (id, mut tried) = (alike[0].submit("alice", b"2").id(), vec![]);
    tried_by(&mut tried).grades(fault());
    tried_by(&mut tried).grades(Graded::Trouble("no room".to_owned()));
    tried_by(&mut tried).grades(fault());
    let lost = ended(&id);
    assert_eq!((&lost["state"], &lost["document"]), (&"lost".into(), &serde_json::Value::Null));
    let trouble = "as many machines as may try it could not evaluate it; it is not tried again: Xid 79";
    assert_eq!(lost["trouble"], trouble);
    let logs = other.queue.look("alice", &Ticket::named(id)).unwrap().unwrap().lost_attempts;
    assert_eq!(logs.iter().map(|lost| &*lost.log).collect::<Vec<_>>(), ["Xid 79", "no room", "Xid 79"]);
    assert!(other.begun.try_recv().is_err(), "what it is not like needs another");
}
