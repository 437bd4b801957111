//! What one client takes is missing to no other: connections, room for submissions, the disk.

use super::Server;
use passhost_tests::{Passhost, directory};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

/// A connection that stays open after it was answered.
fn open(server: &Server, client: &str) -> (TcpStream, u16) {
    let request = server.request(client, "GET /v1/samples", &[], b"");
    let request = String::from_utf8_lossy(&request).replace("Connection: close\r\n", "");
    let stream = server.connect();
    assert!(stream.is_some(), "no connection");
    let Some(mut stream) = stream else { unreachable!("it was checked") };
    let mut start = [0; 12];
    let answered = stream.write_all(request.as_bytes()).and_then(|()| stream.read_exact(&mut start));
    assert!(answered.is_ok(), "{answered:?}");
    let status = String::from_utf8_lossy(&start[9..]).parse();
    (stream, status.unwrap_or_default())
}

#[test]
fn a_client_has_as_many_connections_as_it_may_and_strangers_keep_nobody_out() {
    let server = Server::start_with(&["--connections", "3"]);
    let mut held: Vec<TcpStream> = vec![];
    for _ in 0..3 {
        let (stream, status) = open(&server, "alice");
        assert_eq!(status, 200);
        held.push(stream);
    }
    let refused = server.ask("alice", "GET /v1/about");
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.head.contains("connection: close") && refused.head.contains("retry-after"), "{refused:?}");
    assert!(refused.body.contains("as many connections open as it may; close some"), "{refused:?}");
    assert_eq!(server.ask("bob", "GET /v1/about").status, 200);
    // Heads that do not come to an end, more than there is room for.
    let strangers: Vec<TcpStream> = (0..400).filter_map(|_| server.connect()).collect();
    assert_eq!(strangers.len(), 400);
    for mut stranger in &strangers {
        // The oldest may be closed already.
        let _ = stranger.write_all(b"GET /v1/about HTTP/1.1\r\nHost: here\r\nX-Slow: ");
    }
    assert_eq!(server.ask("bob", "GET /v1/about").status, 200);
    let count = server.metric("connections_without_token");
    assert!(count <= 256, "{count} strangers");
    let mut first = &strangers[0];
    assert!(matches!(first.read(&mut [0; 1]), Ok(0) | Err(_)), "the oldest was closed for others");
    // Whoever is known stays.
    held.truncate(2);
    while server.ask("alice", "GET /v1/about").status != 200 {}
    let request = server.request("alice", "GET /v1/about", &[], b"");
    assert!(held[0].write_all(&request).is_ok());
    let mut rest = String::new();
    assert!(held[0].read_to_string(&mut rest).is_ok() && rest.contains("HTTP/1.1 200 OK"), "{rest}");
}

#[test]
fn a_client_fills_its_own_share_of_the_disk_and_can_make_room() {
    let server = Server::start_with(&["--disk", "100000"]);
    let id = server.submit("alice", "1", &[1; 100]).map(|answer| answer.id()).unwrap_or_default();
    let ended = server.ended("alice", &id);
    assert_eq!(ended["state"], "finished", "{ended}");
    let about = server.ask("alice", "GET /v1/about").json();
    let held = about["bytes_held"].as_u64().unwrap_or_default();
    assert!(held > 2048 && about["bytes_limit"] == 100_000, "{about}");
    // It would fit if nothing was kept.
    let large = vec![2; 97_000];
    let refused = server.submit("alice", "2", &large);
    let refused = refused.map(|answer| (answer.status, answer.body)).unwrap_or_default();
    let sentence = format!("have {held} bytes, and this job needs ");
    assert!(refused.0 == 507 && refused.1.contains(&sentence) && refused.1.contains("?forget=true"), "{refused:?}");
    assert_eq!(server.submit("bob", "2", &large).map(|answer| answer.status), Some(202));
    assert_eq!(server.ask("bob", &format!("DELETE /v1/evaluations/{id}?forget=true")).status, 404);
    assert_eq!(server.ask("alice", &format!("DELETE /v1/evaluations/{id}?forget=true")).status, 204);
    assert_eq!(server.ask("alice", &format!("GET /v1/evaluations/{id}")).status, 404);
    assert_eq!(server.ask("alice", "GET /v1/about").json()["bytes_held"], 0);
    assert_eq!(server.submit("alice", "2", &large).map(|answer| answer.status), Some(202));
}

#[test]
fn a_server_whose_clients_could_fill_the_disk_does_not_start_and_says_what_would_fit() {
    let (place, sample) = (directory(), passhost_tests::sample_with("pointwise-chain", &["float32/s0-1_"]));
    let token = Passhost::new(["token", "alice"]).run();
    let (clients, data) = (place.path().join("clients"), place.path().join("data"));
    assert!(std::fs::write(&clients, &token.out).is_ok(), "the clients are written");
    let words = [Path::new("serve"), sample.path(), Path::new("--clients"), &clients, Path::new("--data"), &data];
    let run = Passhost::new(words).with(&["--disk", "1000000G", "--device", "cpu"]).run();
    run.expect_end(2, &["1 clients with 1073741824000000 bytes each", "lower --disk to ", "or make room"]);
}
