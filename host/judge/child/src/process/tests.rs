//! Children that do what they may not.

use super::*;
use passhost_protocol::Room;
use serde::{Deserialize, Deserializer};
use std::sync::atomic::{AtomicU64, Ordering};

/// A child for tests that says these bytes once it has heard something, and then listens. Its script is in the directory.
pub fn scripted<R: Reply + Send + 'static>(says: &[u8]) -> (tempfile::TempDir, Child<R>) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("says"), says).unwrap();
    let text = format!("head -c 1 >/dev/null; cat '{}'; cat >/dev/null\n", path("says").display());
    std::fs::write(path("script"), text).unwrap();
    let child = Child::start("scripted", "/bin/sh", Some(path("script").as_os_str()), &["PATH"]).unwrap();
    (directory, child)
}

static READ: AtomicU64 = AtomicU64::new(0);

/// A message without contents, which is counted when it is read.
struct Counted;

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Counted, D::Error> {
        READ.fetch_add(1, Ordering::SeqCst);
        Ok(Counted)
    }
}

impl Reply for Counted {
    const KINDS: &'static [Room] = &[];
}

#[derive(Debug, Deserialize)]
struct Empty;

impl Reply for Empty {
    const KINDS: &'static [Room] = &[];
}

#[test]
fn messages_that_nobody_asked_for_wait_in_the_pipe() {
    // Zeros are messages of no length, without end.
    let mut child: Child<Counted> =
        Child::start("zeros", "/bin/cat", Some(OsStr::new("/dev/zero")), &["PATH"]).unwrap();
    let soon = Instant::now() + Duration::from_secs(600);
    for received in 1..20_000 {
        child.receive(soon).unwrap();
        // Those that wait, the one that is on its way there, and one that was read since.
        let ahead = READ.load(Ordering::SeqCst) - received;
        assert!(ahead <= WAITING as u64 + 2, "{ahead} messages are held after {received}");
    }
}

#[test]
fn a_child_that_takes_nothing_is_given_up() {
    let mut child: Child<Counted> = Child::start("deaf", "/bin/sleep", Some(OsStr::new("600")), &["PATH"]).unwrap();
    child.stdin.give_up = Instant::now();
    let error = write_frame(&mut child.stdin, &vec![0u8; 1 << 20]).unwrap_err();
    assert!(matches!(&error, FrameError::Io(error) if error.kind() == io::ErrorKind::TimedOut), "{error}");
}

#[test]
fn a_child_that_never_stops_talking_has_no_more_time_than_a_silent_one() {
    // Zeros are frames without a byte.
    let mut child: Child<Empty> = Child::start("test", "/bin/cat", Some(OsStr::new("/dev/zero")), &[]).unwrap();
    assert!(child.receive(Instant::now() + Duration::from_secs(60)).is_ok());
    assert!(matches!(child.receive(Instant::now()), Err(ChildError::Deadline { .. })));
}

#[test]
fn what_a_message_of_its_kind_may_not_have_is_refused_and_the_child_ended() {
    #[derive(Debug, Deserialize)]
    enum Letter {
        A(Vec<String>),
    }
    impl Reply for Letter {
        const KINDS: &'static [Room] = &[Room::Growing(Most { bytes: 8, items: 2 })];
    }
    let more = Most { bytes: 1, items: 1 };
    for (bytes, allowed, refused) in [
        (&[4, 0, 0, 0, 0, 2, 0, 0][..], Most::default(), None),
        (&[5, 0, 0, 0, 0, 3, 0, 0, 0], Most::default(), Some("more than the 2 elements allowed")),
        (&[5, 0, 0, 0, 0, 3, 0, 0, 0], more, None),
        (&[9, 0, 0, 0, 0], Most::default(), Some("9 bytes is longer than the 8 allowed")),
        (&[9, 0, 0, 0, 0, 1, 6, 1, 1, 1, 1, 1, 1], more, None),
        (&[1, 0, 0, 0, 7], more, Some("of no kind that this process sends")),
    ] {
        let (_directory, mut child) = scripted::<Letter>(bytes);
        child.allow(allowed);
        child.send(&()).unwrap();
        let reply = child.receive(Instant::now() + Duration::from_secs(60));
        match (refused, reply) {
            (None, Ok(Letter::A(words))) => assert!(!words.is_empty()),
            (Some(why), Err(error @ ChildError::Protocol { .. })) => {
                assert!(error.to_string().contains(why), "{error}");
                assert!(child.process.try_wait().unwrap().is_some());
            }
            (_, reply) => panic!("{bytes:?}: {reply:?}"),
        }
    }
}
