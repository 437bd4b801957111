//! A server without a device, whose submissions workers evaluate. They share a PostgreSQL database.

#[path = "../../../host/apps/queue/tests/engines/mod.rs"]
#[allow(clippy::unwrap_used, unused_macros, reason = "a test fails by panicking")]
mod engines;

use super::{Answer, COMPONENT, Server};
use engines::Server as Database;
use passhost_queue::{Postgres, Queue as _, QueueLimits};
use passhost_result::verify::recomputed;
use passhost_sign::{JobId, SecretKey, Signed};
use passhost_tests::{Passhost, directory, plugin, sample_with};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

/// A worker on the CPU.
struct Worker(Child, BufReader<ChildStdout>);

impl Worker {
    fn start(samples: &[&Path], address: &str, options: &[&str]) -> Worker {
        let words = ["--device", "cpu", "--threads", "1", "--accept-noise", "--lease", "2s", "--queue", address];
        let worker = Passhost::new([Path::new("worker")].iter().chain(samples)).with(&words).with(options);
        let started = worker.command().stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        assert!(started.is_ok(), "{started:?}");
        let mut process = started.unwrap_or_else(|_| unreachable!("it was checked"));
        let out = process.stdout.take().unwrap_or_else(|| unreachable!("it was piped"));
        Worker(process, BufReader::new(out))
    }

    /// The next line that it prints with this text.
    fn says(&mut self, text: &str) -> String {
        let mut line = String::new();
        while self.1.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            if line.contains(text) {
                return line;
            }
            line.clear();
        }
        unreachable!("the worker ended without `{text}`: {:?}", self.0.try_wait())
    }

    /// Its exit code after a signal.
    fn ends(mut self, signal: Signal) -> Option<i32> {
        let sent = kill_process(Pid::from_child(&self.0), signal);
        assert!(sent.is_ok(), "{sent:?}");
        self.0.wait().ok()?.code()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

fn fleet(address: &str) -> Value {
    let run = Passhost::new(["fleet", "status", "--queue", address, "--json", "-"]).run();
    run.expect_end(0, &[]);
    serde_json::from_str(&run.out).unwrap_or_default()
}

/// What of a document is the same wherever and whenever the evaluation runs: neither times nor what the drawn inputs decide,
/// as the tightest tolerance.
fn lasting(document: &Value) -> Value {
    let of = |value: &Value, names: &[&str]| names.iter().map(|&name| value[name].clone()).collect::<Vec<_>>();
    let variants = document["variants"].as_array().into_iter().flatten();
    let variants =
        variants.map(|variant| of(variant, &["name", "class", "rewrite", "element_type", "bytes", "failure"]));
    let job = of(
        &document["job"],
        &["plugin_sha256", "plugin_info", "sample", "sample_sha256", "groups", "device", "inputs"],
    );
    let all = of(document, &["schema", "blame", "failure", "policy", "limits", "options", "confinement"]);
    serde_json::json!([variants.collect::<Vec<_>>(), job, all])
}

#[test]
fn workers_that_are_killed_evaluate_each_submission_once_and_as_the_command_does() {
    let Some(database) = Database::shared("workers_that_are_killed_evaluate_each_submission_once") else { return };
    let address = database.schema("workers");
    // In float32: with halves a verdict may depend on the inputs that are drawn.
    let more = [("rms-norm", "float32/s0-1_"), ("masked-mean-pool", "float32/shape-0/")];
    let more = more.map(|(name, variant)| sample_with(name, &[variant]));
    let [norm, pool] = more.each_ref().map(|sample| sample.path().display().to_string());
    let server = Server::start_with(&["--device", "none", "--queue", &address, &norm, &pool]);
    let samples = [server.sample_path(), more[0].path(), more[1].path()];
    // Whoever measures otherwise leaves them to others, and says so.
    let mut other = Worker::start(&samples[..], &address, &["--budget", "20ms"]);
    let submit = |sample: &Path, name: &str| -> Answer {
        let sample = sample.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let bytes = std::fs::read(plugin(name)).unwrap_or_default();
        let headers = [COMPONENT, ("Content-Length", &bytes.len().to_string())];
        let line = format!("POST /v1/evaluations?sample={sample}");
        let answer = server.raw(&server.request("alice", &line, &headers, &bytes));
        answer.unwrap_or_else(|| unreachable!("no answer to {line}"))
    };
    let plugins = ["fuse-pointwise", "noop", "panics", "autofuse"];
    let jobs: Vec<(&Path, &str, String)> =
        samples.iter().flat_map(|sample| plugins.map(|name| (*sample, name, submit(sample, name).id()))).collect();
    let refusal = other.says("refused");
    assert!(refusal.contains("needs `settings=") && refusal.contains("12 such wait"), "{refusal}");
    let start = || Worker::start(&samples[..], &address, &["--budget", "10ms"]);
    let (mut first, second) = (start(), start());
    first.says("evaluated in");
    assert_eq!(first.ends(Signal::KILL), None);
    for (sample, name, id) in &jobs {
        let evaluation = server.ended("alice", id);
        assert_eq!(evaluation["state"], "finished", "{evaluation}");
        let run = Passhost::eval_within("10ms", &plugin(name), sample).with(&["--threads", "1"]).run();
        let expected = lasting(run.json());
        assert_eq!(lasting(&evaluation["document"]), expected, "{name} on {}", sample.display());
        assert!(expected[1][0].is_string() && !expected[2][3].is_null(), "{expected}");
    }
    let status = fleet(&address);
    assert_eq!((&status["counts"]["ended"], &status["counts"]["waiting"]), (&12.into(), &0.into()), "{status}");
    let ended = status["workers"].as_array().into_iter().flatten().map(|worker| worker["ended"].as_u64());
    assert_eq!(ended.sum::<Option<u64>>(), Some(12), "{status}");
    for worker in [other, second] {
        assert_eq!(worker.ends(Signal::TERM), Some(143));
    }
}

/// A key, and its line in a file of hosts.
fn key(place: &Path, host: &str) -> (String, String) {
    let path = place.join(host).display().to_string();
    let run = Passhost::new(["keygen", &path, "--name", host]).run();
    run.expect_end(0, &["ed25519 "]);
    (path, run.out)
}

#[test]
fn a_result_counts_if_an_enrolled_host_signed_it_and_another_host_tries_what_does_not() {
    let Some(database) = Database::shared("a_result_counts_if_an_enrolled_host_signed_it") else { return };
    let (address, place) = (database.schema("signed"), directory());
    let [(stranger, _), (enrolled, line)] = ["node-1", "node-2"].map(|host| key(place.path(), host));
    let hosts = place.path().join("hosts").display().to_string();
    assert!(std::fs::write(&hosts, line).is_ok());
    let server = Server::start_with(&["--device", "none", "--queue", &address, "--hosts", &hosts]);
    let start = |host: &str, more: &[&str]| {
        Worker::start(&[server.sample_path()], &address, &[&["--budget", "10ms", "--host", host], more].concat())
    };
    let id = server.submit("alice", "key", &std::fs::read(plugin("fuse-pointwise")).unwrap_or_default());
    let id = id.map(|answer| answer.id()).unwrap_or_default();
    let mut unsigned = start("node-3", &[]);
    let refusal = unsigned.says("refused");
    assert!(refusal.contains("needs `results=signed`, and this worker has not"), "{refusal}");
    let mut stranger = start("node-1", &["--sign", &stranger]);
    stranger.says("evaluated in");
    server.wait_for("results_refused_total", 1);
    let lines = Passhost::new(["fleet", "status", "--queue", &address]).run();
    lines.expect_end(0, &["host node-1: 1 results refused, the last one because it was signed with a key that is not"]);
    let mut worker = start("node-2", &["--sign", &enrolled]);
    worker.says("evaluated in");
    let evaluation = server.ended("alice", &id);
    assert_eq!(evaluation["document"]["status"], "scored", "{evaluation}");
    let signed = place.path().join("signed.jsonl").display().to_string();
    assert!(std::fs::write(&signed, evaluation["signed"].as_str().unwrap_or_default()).is_ok());
    let verify = Passhost::new(["verify", &signed, "--trusted-keys", &hosts, "--offline"]).run();
    verify.expect_end(0, &["signed by node-2", &id]);
}

#[test]
fn a_host_whose_canary_drifts_is_quarantined_and_its_last_results_are_revoked() {
    let Some(database) = Database::shared("a_host_whose_canary_drifts_is_quarantined") else { return };
    let (address, place) = (database.schema("drifts"), directory());
    let at = |name: &str| place.path().join(name).display().to_string();
    let (secret, line) = key(place.path(), "node-1");
    assert!(std::fs::write(at("hosts"), line).is_ok());
    let server = Server::start_with(&["--device", "none", "--queue", &address, "--hosts", &at("hosts")]);
    // What a good host measures: the fused pass is faster than the one that changes nothing.
    let measured = |name: &str| {
        let run = Passhost::eval_within("10ms", &plugin(name), server.sample_path()).with(&["--threads", "1"]).run();
        let device = run.json()["job"]["device"]["name"].as_str().unwrap_or_default().to_owned();
        (run.json()["scores"]["aggregate_score"].as_f64().unwrap_or_default(), device)
    };
    let ((fast, device), (slow, _)) = (measured("fuse-pointwise"), measured("noop"));
    assert!(fast > 1.2 * slow && slow > 0.0, "{fast} {slow}");
    let canary_is = |name: &str| assert!(std::fs::copy(plugin(name), at("canary.wasm")).is_ok(), "{name}");
    let ratio = [(fast * slow).sqrt(), 100.0];
    let canary = serde_json::json!({"plugin": "canary.wasm", "sample": server.sample(), "ratios": {&*device: ratio}});
    assert!(std::fs::write(at("canary.json"), canary.to_string()).is_ok());
    canary_is("fuse-pointwise");
    let submit = |key: &str| {
        let answer = server.submit("alice", key, &std::fs::read(plugin("fuse-pointwise")).unwrap_or_default());
        answer.map(|answer| answer.id()).unwrap_or_default()
    };
    let id = submit("one");
    // Where one is required, nothing is taken without it.
    let require = |what: &str| Passhost::new(["fleet", "require-canary", what, "--queue", &address]).run();
    require("1h").expect_end(0, &["a good canary of the last 1 h is required"]);
    let options = ["--budget", "10ms", "--host", "node-1", "--sign", &secret, "--canary", &at("canary.json")];
    let mut bare = Worker::start(&[server.sample_path()], &address, &["--budget", "10ms", "--host", "node-2"]);
    let why = "host node-2 had no good canary in the last 1 h, as this queue requires: `passhost worker --canary FILE`";
    bare.says(&format!("nothing is taken: {why}"));
    let status = Passhost::new(["fleet", "status", "--queue", &address]).run();
    status.expect_end(0, &[&format!(", takes nothing: {why}"), "a good canary of the last 1 h is required"]);
    assert_eq!(server.ask("alice", &format!("GET /v1/evaluations/{id}")).json()["state"], "waiting");
    assert_eq!(bare.ends(Signal::TERM), Some(143));
    let mut worker =
        Worker::start(&[server.sample_path()], &address, &[&options[..], &["--canary-interval", "10s"]].concat());
    worker.says(", expected ");
    canary_is("noop");
    let signed = server.ended("alice", &id)["signed"].as_str().unwrap_or_default().to_owned();
    assert!(std::fs::write(at("signed.jsonl"), signed).is_ok());
    let verify = |more: &[&str]| {
        let words = ["verify", &at("signed.jsonl"), "--trusted-keys", &at("hosts"), "--offline"];
        Passhost::new(words).with(more).run()
    };
    verify(&[]).expect_end(0, &["signed by node-1"]);
    let drifted = worker.says("canary on ");
    assert!(drifted.contains("the ratio of the canary is ") && drifted.contains("nothing is taken"), "{drifted}");
    canary_is("fuse-pointwise");
    worker.says("this host is quarantined");
    let more = submit("two");
    let status = Passhost::new(["fleet", "status", "--queue", &address]).run();
    status.expect_end(0, &["host node-1: quarantined ", "1 results revoked: the ratio of the canary is "]);
    let metrics = server.ask("operator", "GET /metrics").body;
    for line in [r#"fleet_workers{state="quarantined"} 1"#, "fleet_results_revoked 1"] {
        assert!(metrics.contains(line), "{metrics}");
    }
    assert_eq!(server.ask("alice", &format!("GET /v1/evaluations/{more}")).json()["state"], "waiting");
    let revoked = Passhost::new(["fleet", "revoked", "--queue", &address]).run();
    revoked.expect_end(0, &[&id, " node-1 the ratio of the canary is "]);
    assert!(std::fs::write(at("revoked"), &revoked.out).is_ok());
    verify(&["--revoked", &at("revoked")]).expect_end(4, &[&format!("the result of job {id} was revoked: ")]);
    Passhost::new(["fleet", "drain", "node-1", "--undo", "--queue", &address]).run().expect_end(0, &["not drained"]);
    assert_eq!(server.ended("alice", &more)["state"], "finished");
    require("--undo").expect_end(0, &["no canary is required"]);
}

#[test]
fn a_worker_whose_grace_is_over_gives_back_what_it_evaluates_and_is_gone_with_its_children() {
    let Some(database) = Database::shared("a_worker_whose_grace_is_over") else { return };
    let address = database.schema("grace");
    let endless = ["--limit-fuel", "18446744073709551615", "--limit-deadline", "1h"];
    let server = Server::start_with(&[&["--device", "none", "--queue", &address], &endless[..]].concat());
    let submitted = server.submit("alice", "key", &std::fs::read(plugin("endless-loop")).unwrap_or_default());
    let id = submitted.map(|answer| answer.id()).unwrap_or_default();
    let options = [&["--budget", "10ms", "--grace", "1ms"], &endless[..]].concat();
    let worker = Worker::start(&[server.sample_path()], &address, &options);
    let children = || -> Vec<String> {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let names = processes.map(|process| process.file_name().to_string_lossy().into_owned());
        // Its name, its state, and its parent.
        let parent =
            |stat: &str| stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1).map(str::to_owned));
        let is_child = |name: &String| {
            let stat = std::fs::read_to_string(format!("/proc/{name}/stat")).unwrap_or_default();
            parent(&stat) == Some(worker.0.id().to_string())
        };
        names.filter(is_child).collect()
    };
    let is_evaluated = || fleet(&address)["counts"]["running"] == 1 && !children().is_empty();
    assert!(super::comes(is_evaluated), "{}", fleet(&address));
    let children = children();
    // It takes an hour.
    assert_eq!(worker.ends(Signal::TERM), Some(143));
    let evaluation = server.ask("alice", &format!("GET /v1/evaluations/{id}")).json();
    assert_eq!(evaluation["state"], "waiting", "{evaluation}");
    while children.iter().any(|child| Path::new(&format!("/proc/{child}")).exists()) {
        std::thread::yield_now();
    }
    let no_loss = "DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM losses); END $$";
    engines::Database { address: address.clone() }.execute(no_loss);
}

#[test]
fn a_host_that_signs_what_it_did_not_find_is_quarantined_when_others_evaluate_it_again() {
    let Some(database) = Database::shared("a_host_that_signs_what_it_did_not_find") else { return };
    let (address, place) = (database.schema("reruns"), directory());
    let keys = ["node-1", "node-2", "node-3"].map(|host| key(place.path(), host));
    let hosts = place.path().join("hosts").display().to_string();
    assert!(std::fs::write(&hosts, keys.each_ref().map(|(_, line)| line.as_str()).concat()).is_ok());
    let options = ["--device", "none", "--queue", &address, "--hosts", &hosts, "--rerun", "0.999999999"];
    let server = Server::start_with(&options);
    let submit = |key: &str| {
        let answer = server.submit("alice", key, &std::fs::read(plugin("fuse-pointwise")).unwrap_or_default());
        answer.map(|answer| answer.id()).unwrap_or_default()
    };
    let start = |host: &str, key: &str| {
        Worker::start(&[server.sample_path()], &address, &["--budget", "10ms", "--host", host, "--sign", key])
    };
    // While it is alone, its results wait for another host, and the operator sees that.
    let (alone, worker) = (submit("alone"), start("node-1", &keys[0].0));
    let evaluation = server.ended("alice", &alone);
    let status = Passhost::new(["fleet", "status", "--queue", &address]).run();
    let line =
        "host node-1: 0 results drawn by --rerun were tried by no other host, 1 wait for one; alone of its kind, ";
    status.expect_end(0, &[line, "start a worker on another: device="]);
    let forget = "DELETE FROM jobs WHERE client = '(rerun)'";
    engines::Database { address: address.clone() }.execute(forget);
    let status = Passhost::new(["fleet", "status", "--queue", &address]).run();
    status
        .expect_end(0, &["1 results drawn by --rerun were tried by no other host, 0 wait for one; alone of its kind"]);
    assert_eq!(server.metric("fleet_results_untried"), 1);
    assert_eq!(worker.ends(Signal::TERM), Some(143));
    let signed = passhost_sign::read(evaluation["signed"].as_str().unwrap_or_default().as_bytes());
    assert!(signed.is_ok(), "{signed:?}");
    let Ok(Signed { mut statement, .. }) = signed else { return };
    // Now it signs that a rewrite is wrong which is right.
    let lie = submit("lie");
    let needs = fleet(&address)["depth"][0]["needs"].as_array().cloned().unwrap_or_default();
    let offers = needs.iter().filter_map(|need| need.as_str().map(str::to_owned)).collect();
    let liar = passhost_queue::Worker { name: "liar".to_owned(), host: "node-1".to_owned(), offers };
    let queue = Postgres::open(&address, QueueLimits::default());
    assert!(queue.is_ok(), "it cannot be opened");
    let (Ok(queue), Ok(secret)) = (queue, SecretKey::read(Path::new(&keys[0].0))) else { return };
    let taken = queue.take_as(&liar, Duration::from_secs(600)).ok().flatten().map(|taken| taken.lease);
    assert_eq!(taken.as_ref().map(|lease| lease.ticket.as_str()), Some(lie.as_str()));
    let (Some(lease), Ok(job)) = (taken, JobId::try_from(lie.clone())) else { return };
    let mut document = statement.document;
    let right = document.variants.iter_mut().find(|variant| variant.class.is_none());
    assert!(right.map(|variant| variant.outputs[0].passes_at = Some(2)).is_some());
    (statement.job, statement.document) = (job, recomputed(document).document);
    let line = statement.sign_any(&secret).unwrap_or_default();
    let others = [start("node-2", &keys[1].0), start("node-3", &keys[2].0)];
    let are_there = |state: &Value| {
        let workers = state["workers"].as_array().cloned().unwrap_or_default();
        ["node-2", "node-3"].iter().all(|host| workers.iter().any(|worker| worker["host"] == *host))
    };
    assert!(super::comes(|| are_there(&fleet(&address))), "{}", fleet(&address));
    assert!(queue.begin(&lease).and_then(|()| queue.finish(&lease, line.as_bytes())).is_ok());
    // Its client has that at once, and hears of the rest later.
    assert_eq!(server.ended("alice", &lie)["document"]["status"], "scored");
    let are_compared = |state: &Value| state["reruns"] == 2;
    assert!(super::comes(|| are_compared(&fleet(&address))), "{}", fleet(&address));
    assert_eq!(["fleet_reruns", "fleet_disagreements"].map(|name| server.metric(name)), [2, 1]);
    let why = server.ended("alice", &lie)["revoked"].as_str().unwrap_or_default().to_owned();
    assert!(why.starts_with(&format!("the result of node-1 for job {lie} differs from those of node-")), "{why}");
    assert!(why.contains(": class: Some(Accuracy) and None"), "{why}");
    let status = Passhost::new(["fleet", "status", "--queue", &address]).run();
    let lines = ["2 results compared with those of another host, 1 disagreements", "disagreement ", &why];
    status.expect_end(0, &[&["host node-1: quarantined ", "2 results revoked: "], &lines[..]].concat());
    let revoked = Passhost::new(["fleet", "revoked", "--queue", &address]).run();
    revoked.expect_end(0, &[&alone, &lie]);
    for worker in others {
        assert_eq!(worker.ends(Signal::TERM), Some(143));
    }
}

#[test]
fn a_host_that_is_drained_takes_nothing_until_it_is_not_any_more() {
    let Some(database) = Database::shared("a_host_that_is_drained_takes_nothing") else { return };
    let address = database.schema("drained");
    let server = Server::start_with(&["--device", "none", "--queue", &address, "--labels", "small"]);
    let mut worker = Worker::start(&[server.sample_path()], &address, &["--budget", "10ms", "--labels", "small,cpu"]);
    let host = worker.says("worker ");
    let host = host.split(" on ").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_default();
    let drain = |more: &[&str]| {
        Passhost::new(["fleet", "drain", host, "--queue", &address]).with(more).run().expect_end(0, &["is "]);
    };
    drain(&[]);
    worker.says("nothing is taken");
    let wasm = std::fs::read(plugin("fuse-pointwise")).unwrap_or_default();
    let id = server.submit("alice", "key", &wasm).map(|answer| answer.id()).unwrap_or_default();
    let status = fleet(&address);
    assert_eq!((&status["counts"]["waiting"], &status["oldest"]["ticket"]), (&1.into(), &id.as_str().into()));
    assert_eq!((&status["drained"][0], &status["workers"][0]["host"]), (&host.into(), &host.into()));
    let refused = Passhost::new(["fleet", "retry", &id, "--queue", &address]).run();
    refused.expect_end(0, &["waits"]);
    drain(&["--undo"]);
    worker.says("taken again");
    assert_eq!(server.ended("alice", &id)["state"], "finished");
    let refused = Passhost::new(["fleet", "retry", &id, "--queue", &address]).run();
    refused.expect_end(2, &["is finished; only what is lost is tried again"]);
}

#[test]
fn a_batch_on_a_fleet_is_that_of_this_machine_and_goes_on_where_it_was_killed() {
    let Some(database) = Database::shared("a_batch_on_a_fleet_is_that_of_this_machine") else { return };
    let (address, place) = (database.schema("batches"), directory());
    let samples =
        ["rms-norm", "masked-mean-pool"].map(|name| sample_with(name, &["float32/s0-1_", "float32/shape-0/"]));
    let samples = samples.each_ref().map(|sample| sample.path());
    let [noop, fuse] = [plugin("noop"), plugin("fuse-pointwise")];
    let paths = [noop.as_path(), fuse.as_path(), samples[0], samples[1]];
    let (here, there) = (place.path().join("here.jsonl"), place.path().join("there.jsonl"));
    let seed = ["--seed", "7"];
    Passhost::bench(paths, &here).with(&seed).run().expect_end(0, &["2 of 2 samples have ended"]);
    let options = ["--out", &there.display().to_string(), "--budget", "5ms", "--accept-noise", "--queue", &address];
    let bench =
        |more: &[&str]| Passhost::new([Path::new("bench")].iter().chain(&paths)).with(&options).with(&seed).with(more);
    let begun = bench(&[]).command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut begun = begun.unwrap_or_else(|error| unreachable!("{error}"));
    while fleet(&address)["counts"]["waiting"] != 4 {
        std::thread::yield_now();
    }
    assert!(begun.kill().and_then(|()| begun.wait()).is_ok());
    let worker = ["--budget", "5ms", "--submissions", "2", "--seed", "7"];
    let workers =
        ["node-1", "node-2"].map(|host| Worker::start(&samples, &address, &[&worker[..], &["--host", host]].concat()));
    let run = bench(&["--resume"]).run();
    run.expect_end(0, &["2 of 2 samples have ended", "device: cpu", "fuse-pointwise"]);
    assert_eq!(fleet(&address)["counts"], serde_json::json!({"waiting": 0, "running": 0, "ended": 0, "clients": 0}));
    let documents = |file: &Path| -> Vec<Value> {
        let batch = passhost_supervisor::batch::read(file).map(|batch| batch.documents).unwrap_or_default();
        batch.iter().map(|document| serde_json::to_value(document).unwrap_or_default()).collect()
    };
    let (one, other) = (documents(&here), documents(&there));
    assert_eq!((one.len(), other.iter().map(lasting).collect::<Vec<_>>()), (4, one.iter().map(lasting).collect()));
    bench(&["--resume"]).run().expect_end(0, &["results in ", "are kept, and not measured again"]);
    for worker in workers {
        assert_eq!(worker.ends(Signal::TERM), Some(143));
    }
    bench(&["--resume", "--labels", "none"]).run().expect_end(0, &["no worker takes these jobs now"]);
}
