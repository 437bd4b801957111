//! Hundreds of connections at once, of those who are slow, who trickle and who do not read: in bounded memory.

use super::{COMPONENT, Server, answered};
use passhost_tests::plugin;
use std::io::{ErrorKind, Write as _};
use std::net::TcpStream;

/// Connections of each kind.
const MANY: u64 = 200;
/// Bytes of a submission that does not come to its end.
const BODY: usize = 2 << 20;
/// What the server may take for all of them. Bodies without a limit would be 400 MB, answers that nobody reads many times that.
const BOUND: u64 = 250 << 20;

/// The most memory that a server ever had, in bytes.
fn peak(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    assert!(kibibytes.is_some(), "{status}");
    kibibytes.unwrap_or_default() * 1024
}

/// Writes as much to each as it takes now; whether any took something.
fn pour(streams: &mut [(TcpStream, usize)], bytes: &[u8]) -> bool {
    let mut any = false;
    for (stream, written) in streams {
        match stream.write(&bytes[*written..]) {
            Ok(count) => {
                *written += count;
                any |= count > 0;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
    }
    any
}

fn open(server: &Server, bytes: &[u8]) -> Vec<(TcpStream, usize)> {
    let mut opened = vec![];
    for _ in 0..MANY {
        let stream = server.connect();
        let ready = stream.as_ref().is_some_and(|stream| stream.set_nonblocking(true).is_ok());
        assert!(ready, "{stream:?}");
        opened.extend(stream.map(|stream| (stream, 0)));
    }
    pour(&mut opened, bytes);
    opened
}

#[test]
fn hundreds_of_connections_that_mean_no_good_take_bounded_memory() {
    let server = Server::start_with(&["--connections", "250", "--rate", "100000"]);
    let wasm = std::fs::read(plugin("fuse-pointwise")).unwrap_or_default();
    let id = server.submit("bob", "first", &wasm).map(|answer| answer.id()).unwrap_or_default();
    assert_eq!(server.ended("bob", &id)["state"], "finished");
    let before = peak(&server);

    // Bodies that come to all but their last byte.
    let length = BODY.to_string();
    let headers = [COMPONENT, ("Content-Length", length.as_str())];
    let line = format!("POST {}", server.path_of_submissions());
    let unfinished = server.request("alice", &line, &headers, &vec![7; BODY - 1]);
    let mut bodies = open(&server, &unfinished);
    // Else they would still be strangers' when others open more, and be closed for those.
    server.wait_for("connections", MANY + 1);
    // Results that are asked for again and again, and never read.
    let asked = server.request("bob", &format!("GET /v1/evaluations/{id}/events"), &[], b"");
    let asked = String::from_utf8_lossy(&asked).replace("Connection: close\r\n", "").repeat(200);
    let mut unread = open(&server, asked.as_bytes());
    server.wait_for("connections", 2 * MANY + 1);
    // Heads that trickle.
    let strangers = open(&server, b"GET /health HTTP/1.1\r\nX-Slow: ");
    while pour(&mut bodies, &unfinished) | pour(&mut unread, asked.as_bytes()) {}
    server.wait_for("submission_bytes_held", 64 << 20);
    // What is there to be read is read, however long that takes.
    let mut last = 0;
    while last != peak(&server) {
        last = peak(&server);
        for _ in 0..50 {
            assert_eq!(server.ask("operator", "GET /v1/about").status, 200, "others are served meanwhile");
            pour(&mut bodies, &unfinished);
        }
    }
    let taken = last.saturating_sub(before);
    assert!(taken < BOUND, "{} MiB, after {} MiB before", taken >> 20, before >> 20);
    drop((bodies, unread, strangers));
    server.wait_for("submission_bytes_held", 0);
    server.wait_for("connections", 1);
    let mut stream = server.connect();
    let request = server.submission("alice", "last", b"bytes");
    let status = stream.as_mut().and_then(|stream| {
        stream.write_all(&request).ok()?;
        answered(stream).map(|answer| answer.status)
    });
    assert_eq!(status, Some(202));
}
