//! The object stores that the tests are about: a directory, and a bucket of a server that speaks as S3 does (`s3s-fs`, if it is
//! installed), whose files lie in a directory, too.

use passhost_queue::Objects;
use std::cell::RefCell;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

const KEYS: [&str; 2] = ["AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"];

pub struct TestStore {
    place: TempDir,
    /// The port of a server, and its process while it runs.
    server: Option<(u16, RefCell<Option<Child>>)>,
}

impl TestStore {
    pub fn directory(_: &str) -> Option<TestStore> {
        Some(TestStore { place: tempfile::tempdir().unwrap(), server: None })
    }

    /// Says why a test is skipped without a server.
    pub fn s3(test: &str) -> Option<TestStore> {
        let is_there = || Command::new("s3s-fs").arg("--version").stdout(Stdio::null()).status().is_ok();
        if std::env::var_os("CI").is_some() || !is_there() {
            eprintln!("skipped: {test}: no s3s-fs, or CI");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let store = TestStore { place: tempfile::tempdir().unwrap(), server: Some((port, RefCell::default())) };
        std::fs::create_dir(store.place.path().join("bucket")).unwrap();
        store.come_back();
        Some(store)
    }

    pub fn open(&self) -> Objects {
        self.try_open(KEYS[1]).unwrap()
    }

    /// With this secret.
    pub fn try_open(&self, secret: &str) -> Result<Objects, passhost_queue::ObjectError> {
        let Some((port, _)) = self.server else {
            return Objects::open(&self.file("").display().to_string(), |_| None);
        };
        let variable = |name: &str| match name {
            "AWS_ENDPOINT_URL" => Some(format!("http://127.0.0.1:{port}")),
            "AWS_ACCESS_KEY_ID" => Some(KEYS[0].to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some(secret.to_owned()),
            _ => None,
        };
        Objects::open("s3://bucket/a/prefix", variable)
    }

    /// Where an object lies.
    pub fn file(&self, hash: &str) -> PathBuf {
        self.place.path().join("bucket/a/prefix").join(hash)
    }

    /// How many objects there are, without the mark of the store.
    pub fn count(&self) -> usize {
        let is_object = |name: &str| name.len() == 64;
        let entries = std::fs::read_dir(self.file("")).unwrap();
        entries.filter(|entry| is_object(entry.as_ref().unwrap().file_name().to_str().unwrap())).count() - 1
    }

    /// The server ends, or the directory is not mounted any more.
    pub fn go_away(&self) {
        match &self.server {
            None => std::fs::rename(self.file(""), self.place.path().join("away")).unwrap(),
            Some((_, process)) => {
                let mut process = process.take().unwrap();
                process.kill().and_then(|()| process.wait()).unwrap();
            }
        }
    }

    pub fn come_back(&self) {
        let Some((port, process)) = &self.server else {
            return std::fs::rename(self.place.path().join("away"), self.file("")).unwrap();
        };
        let mut command = Command::new("s3s-fs");
        command.args([
            "--host",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--access-key",
            KEYS[0],
            "--secret-key",
            KEYS[1],
        ]);
        *process.borrow_mut() = Some(command.arg(self.place.path()).stdout(Stdio::null()).spawn().unwrap());
        while TcpStream::connect(("127.0.0.1", *port)).is_err() {
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for TestStore {
    fn drop(&mut self) {
        if self.server.as_ref().is_some_and(|(_, process)| process.borrow().is_some()) {
            self.go_away();
        }
    }
}

/// Each of these is a test of both stores.
#[macro_export]
macro_rules! of_both_stores {
    ($($test:ident),* $(,)?) => {
        mod directory { $(#[test] fn $test() {
            if let Some(store) = super::stores::TestStore::directory(stringify!($test)) { super::$test(&store, "directory"); }
        })* }
        mod s3 { $(#[test] fn $test() {
            if let Some(store) = super::stores::TestStore::s3(stringify!($test)) { super::$test(&store, "s3"); }
        })* }
    };
}
