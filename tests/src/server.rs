//! `passhost serve`, for those who talk to it.

use crate::{Passhost, directory, sample_with};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use tempfile::TempDir;

/// A server on the CPU with one small sample, and the clients `alice`, `bob` and, as its operator, `operator`. It is killed
/// when it is dropped.
#[derive(Debug)]
pub struct Server {
    process: Child,
    /// Host and port.
    pub address: String,
    place: TempDir,
    sample: TempDir,
    tokens: BTreeMap<&'static str, String>,
    options: Vec<String>,
}

impl Server {
    /// One that listens, with more options.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(options: &[&str]) -> Server {
        let (place, sample) = (directory(), sample_with("pointwise-chain", &["float32/s0-1_"]));
        let mut clients = String::new();
        let mut tokens = BTreeMap::new();
        for (name, more) in [("alice", &[][..]), ("bob", &[]), ("operator", &["--operator"])] {
            let run = Passhost::new(["token", name]).with(more).run();
            run.expect_end(0, &[]);
            clients.push_str(&run.out);
            tokens.insert(name, run.err.lines().last().unwrap_or_default().to_owned());
        }
        let written = std::fs::write(place.path().join("clients"), &clients);
        assert!(written.is_ok(), "{written:?}");
        // Whoever reads the file can ask for nothing.
        assert!(tokens.values().all(|token| token.len() > 40 && !clients.contains(token)), "{clients}");
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let (process, address) = listening(&place, &sample, &options);
        Server { process, address, place, sample, tokens, options }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// What a client shows.
    pub fn token(&self, client: &str) -> &str {
        self.tokens.get(client).map_or("", String::as_str)
    }

    /// The name of its only sample.
    pub fn sample(&self) -> String {
        self.sample.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Where that lies.
    pub fn sample_path(&self) -> &Path {
        self.sample.path()
    }

    /// What it keeps.
    pub fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    /// Kills it and starts it again on what it kept.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn killed(&mut self) {
        let _ = self.process.kill();
        self.again();
    }

    /// Waits for its end, and starts it again on what it kept. How it ended.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn again(&mut self) -> Option<ExitStatus> {
        let gone = self.process.wait();
        assert!(gone.is_ok(), "{gone:?}");
        (self.process, self.address) = listening(&self.place, &self.sample, &self.options);
        gone.ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

/// A server that has said where it listens.
fn listening(place: &TempDir, sample: &TempDir, options: &[String]) -> (Child, String) {
    let at = |name: &str| place.path().join(name);
    let serve = Passhost::new([Path::new("serve"), sample.path(), Path::new("--clients"), &at("clients")]);
    let words = ["--listen", "127.0.0.1:0", "--threads", "1", "--budget", "10ms", "--accept-noise"];
    let mut command = serve.with(&words).command();
    // As little as any machine that tests has free.
    for [option, value] in [["--disk", "64M"], ["--device", "cpu"]] {
        if !options.iter().any(|given| given == option) {
            command.args([option, value]);
        }
    }
    command.args(options).arg("--data").arg(at("data")).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = command.spawn();
    assert!(started.is_ok(), "passhost does not start: {started:?}");
    let Ok(mut process) = started else { unreachable!("it was checked") };
    let lines = process.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok);
    let mut addresses =
        lines.filter_map(|line| Some(line.strip_prefix("listening at http://")?.split(',').next()?.to_owned()));
    let address = addresses.next();
    assert!(address.is_some(), "it does not listen: {:?}", process.wait());
    (process, address.unwrap_or_default())
}
