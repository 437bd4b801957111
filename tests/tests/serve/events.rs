//! Server-sent events of an evaluation, from waiting over running to the end, and at the end of a server.

use super::Server;
use passhost_tests::plugin;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

/// Events as they come.
struct Events(Option<BufReader<TcpStream>>);

impl Events {
    fn of(server: &Server, id: &str) -> Events {
        let request = server.request("alice", &format!("GET /v1/evaluations/{id}/events"), &[], b"");
        let stream = server.connect().and_then(|mut stream| stream.write_all(&request).ok().map(|()| stream));
        Events(stream.map(BufReader::new))
    }
}

impl Iterator for Events {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let lines = self.0.as_mut()?.lines().map_while(Result::ok);
        let mut events = lines.filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok());
        events.next()
    }
}

#[test]
fn an_evaluation_is_followed_from_waiting_to_its_end_and_over_the_end_of_the_server() {
    let mut server = Server::start();
    let wasm = std::fs::read(plugin("fuse-pointwise")).unwrap_or_default();
    let submit = |server: &Server, key: usize| {
        server.submit("alice", &key.to_string(), &wasm).map(|answer| answer.id()).unwrap_or_default()
    };
    // Those before it take seconds.
    let ids: Vec<String> = (0..4).map(|key| submit(&server, key)).collect();
    let told: Vec<Value> = Events::of(&server, &ids[3]).collect();
    let states: Vec<&str> = told.iter().filter_map(|event| event["state"].as_str()).collect();
    assert_eq!(states, ["waiting", "running", "finished"], "{told:?}");
    let is_whole = |event: &Value| event["document"]["variants"][0]["outputs"].is_array();
    assert!(told[0]["ahead"].is_u64() && told[1]["document"].is_null() && is_whole(&told[2]), "{told:?}");
    // Who breaks off after the first has no place any more.
    let more: Vec<String> = (4..24).map(|key| submit(&server, key)).collect();
    let mut events = Events::of(&server, &more[19]);
    assert_eq!(events.next().map(|event| event["state"].clone()), Some("waiting".into()));
    server.wait_for("connections", 2);
    drop(events);
    server.wait_for("connections", 1);
    let mut events = Events::of(&server, &more[19]);
    assert_eq!(events.next().map(|event| event["state"].clone()), Some("waiting".into()));
    let pid = i32::try_from(server.id()).ok().and_then(Pid::from_raw);
    assert!(pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok()));
    assert_eq!(events.next(), None, "it waits still, and nobody tells of it any more");
    let ended = server.again();
    assert_eq!(ended.and_then(|status| status.code()), Some(143));
    let last = Events::of(&server, &more[19]).last();
    assert!(last.as_ref().is_some_and(|last| last["state"] == "finished" && is_whole(last)), "{last:?}");
}
