//! Frames that nobody asked for, from a client that reads nothing: the server takes as many as the client's rate lets it, in
//! the memory that docs/serve.md states for a connection with an episode.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod server;

use passhost_serve::ServerLimits;
use server::Server;
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Connections that flood at once, for each kind of frame.
const EACH: usize = 3;
/// Bytes that each tries to send. The buffers of the system hold some 10 MB of a connection.
const FLOOD: usize = 96 << 20;
/// Memory of a connection with an episode, as docs/serve.md states it.
const OF_A_SESSION: u64 = 6 << 20;
/// How long a socket takes nothing before it counts as held up.
const HELD_UP: Duration = Duration::from_millis(400);

/// The most memory that this process ever had, the server's included, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

/// A frame that is masked with zeros.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    [&[first, 0x80 | payload.len() as u8, 0, 0, 0, 0], payload].concat()
}

/// Sends frames until the server takes no more; bytes that were sent, or all of them.
fn flood(stream: &mut TcpStream, first: &[u8], frames: &[u8]) -> usize {
    stream.set_write_timeout(Some(HELD_UP)).unwrap();
    stream.write_all(first).unwrap();
    let mut sent = 0;
    while sent < FLOOD {
        // From where the last write ended, which may be within a frame.
        match stream.write(&frames[sent % frames.len()..]) {
            Ok(count) => sent += count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
            Err(error) => panic!("the connection ended after {sent} bytes: {error}"),
        }
    }
    sent
}

#[test]
fn frames_of_all_kinds_count_in_the_rate_and_take_bounded_memory() {
    let server = Server::start(ServerLimits::default());
    let id = server.submit("bob", b"1").id();
    server.begins();
    let start = frame(0x01, b"");
    let kinds: [(&str, &[u8], Vec<u8>); 4] = [
        ("pings", b"", frame(0x89, &[7; 125])),
        ("empty pings", b"", frame(0x89, b"")),
        ("pongs", b"", frame(0x8a, &[7; 125])),
        ("empty parts of a message", &start, frame(0x00, b"")),
    ];
    let before = peak();
    // All are open before the first of them uses up the client's rate.
    let mut held: Vec<TcpStream> = (0..EACH * kinds.len()).map(|_| server.session("alice").unwrap()).collect();
    for ((name, first, one), streams) in kinds.iter().zip(held.chunks_mut(EACH)) {
        let frames = one.repeat((64 << 10) / one.len());
        let flooding = |stream| flood(stream, first, &frames);
        let sent: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = streams.iter_mut().map(|stream| scope.spawn(|| flooding(stream))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(sent.iter().all(|&sent| sent < FLOOD), "the server took {sent:?} bytes of {name}");
        // While the connections are open still.
        let answer = server.ask("bob", "GET /v1/about");
        assert_eq!(answer.status, 200, "another client is answered during a flood of {name}: {answer:?}");
    }
    let taken = peak().saturating_sub(before);
    let stated = OF_A_SESSION * held.len() as u64;
    assert!(taken < stated, "{} MiB for {} connections, {} MiB are stated", taken >> 20, held.len(), stated >> 20);
    server.says("one");
    let ended = server.ask("bob", &format!("GET /v1/evaluations/{id}?wait=50")).json();
    assert_eq!((&ended["state"], &ended["document"]["said"]), (&"finished".into(), &"one".into()));
}
