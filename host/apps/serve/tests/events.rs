//! Server-sent events, from waiting over running to the end.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod server;

use passhost_serve::{ServerLimits, ShutdownMode};
use serde_json::{Value, json};
use server::{Events, Server};

fn state(event: Option<Value>) -> String {
    event.map_or("no more".to_owned(), |event| event["state"].as_str().unwrap().to_owned())
}

#[test]
fn each_state_is_told_once_and_the_last_with_what_came_of_it() {
    let server = Server::start(ServerLimits::default());
    let first = server.submit("alice", b"1").id();
    server.begins();
    let second = server.submit("alice", b"2").id();
    let mut events = Events::of(&server, "alice", &second);
    let waiting = events.next().unwrap();
    assert_eq!((&waiting["state"], &waiting["ahead"], &waiting["id"]), (&json!("waiting"), &json!(0), &json!(second)));
    let mut of_first = Events::of(&server, "alice", &first);
    assert_eq!(state(of_first.next()), "running");
    server.says("one");
    assert_eq!(server.begins().bytes, b"2");
    // Whoever is told of the one is not told again of the other.
    let running = events.next().unwrap();
    assert_eq!((&running["state"], &running["document"]), (&json!("running"), &Value::Null));
    let ended = of_first.next().unwrap();
    assert_eq!((&ended["state"], &ended["document"]), (&json!("finished"), &json!({ "said": "one" })));
    assert_eq!(state(of_first.next()), "no more");
    server.says("two");
    let ended = events.next().unwrap();
    assert_eq!((&ended["state"], &ended["document"]), (&json!("finished"), &json!({ "said": "two" })));
    assert_eq!(state(events.next()), "no more");
    // Of one that has ended, the end alone is told.
    let mut late = Events::of(&server, "alice", &second);
    assert_eq!((state(late.next()), state(late.next())), ("finished".to_owned(), "no more".to_owned()));
}

#[test]
fn what_is_cancelled_or_forgotten_ends_its_events() {
    let server = Server::start(ServerLimits::default());
    server.submit("alice", b"1");
    server.begins();
    for (question, last) in [("", "cancelled"), ("?forget=true", "no more")] {
        let id = server.submit("alice", b"2").id();
        let mut events = Events::of(&server, "alice", &id);
        assert_eq!(state(events.next()), "waiting");
        let status = server.ask("alice", &format!("DELETE /v1/evaluations/{id}{question}")).status;
        assert_eq!(status, if question.is_empty() { 200 } else { 204 });
        let end = state(events.next());
        // What is forgotten may be seen cancelled before.
        assert!(end == last || end == "cancelled" && state(events.next()) == last, "{question}: {end}");
    }
}

#[test]
fn who_breaks_off_holds_nothing_and_disturbs_nobody() {
    let server = Server::start(ServerLimits { connections: 4, ..ServerLimits::default() });
    let id = server.submit("alice", b"1").id();
    server.begins();
    let mut listeners: Vec<Events> = (0..4).map(|_| Events::of(&server, "alice", &id)).collect();
    listeners.iter_mut().for_each(|events| assert_eq!(state(events.next()), "running"));
    assert_eq!(server.ask("alice", "GET /v1/about").status, 429, "they are connections of the client");
    assert_eq!(server.metric("connections"), 5, "with that of the operator");
    drop(listeners.split_off(1));
    server.wait_for("connections", 2);
    server.says("one");
    assert_eq!(state(listeners[0].next()), "finished");
    assert_eq!(server.ask("alice", &format!("GET /v1/evaluations/{id}")).json()["state"], "finished");
}

#[test]
fn a_server_that_stops_ends_all_events_and_what_it_told_of_goes_on_waiting() {
    let mut server = Server::start(ServerLimits::default());
    let ids = [b"1", b"2"].map(|bytes| server.submit("alice", bytes).id());
    server.begins();
    let mut events = ids.each_ref().map(|id| Events::of(&server, "alice", id));
    let states = events.each_mut().map(|events| state(events.next()));
    assert_eq!(states, ["running", "waiting"]);
    server.wish(ShutdownMode::End);
    let states = events.each_mut().map(|events| state(events.next()));
    assert_eq!(states, ["no more", "no more"]);
    server.says("one");
    server.ended().unwrap();
    let states = ids.map(|id| server.queue.look("alice", &passhost_queue::Ticket::named(id)).unwrap().unwrap().state);
    assert_eq!(states, [passhost_queue::JobState::Finished, passhost_queue::JobState::Waiting]);
}
