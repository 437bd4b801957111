//! Signed results: who measured, and that nobody changed it since.

use crate::confinement::{Place, place};
use passhost_child::beside_this_executable;
use passhost_confine::attempt::{AttemptOutcome, of_program};
use passhost_sign::{BatchId, JobId, SecretKey, Signed, Statement, read};
use passhost_tests::{Passhost, Run, directory, plugin, sample_with};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory with a key and a file of trusted keys that has its public line.
pub struct Lab {
    directory: TempDir,
}

impl Lab {
    pub fn new() -> Lab {
        let lab = Lab { directory: directory() };
        let made = lab.keygen("lab.key", &["--name", "lab"]);
        made.expect_end(0, &["the secret key is in", "for you alone"]);
        lab.write("trusted.keys", &made.out);
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub fn write(&self, name: &str, text: &str) {
        let written = std::fs::write(self.path(name), text);
        assert!(written.is_ok(), "{name}: {written:?}");
    }

    fn keygen(&self, key: &str, options: &[&str]) -> Run {
        Passhost::new([OsStr::new("keygen"), self.path(key).as_os_str()]).with(options).run()
    }

    pub fn key(&self) -> SecretKey {
        SecretKey::read(&self.path("lab.key")).unwrap_or_else(|error| unreachable!("it was made: {error}"))
    }

    /// `passhost eval --sign` of a plugin, to a file of this name.
    pub fn eval(&self, plugin: &Path, sample: &Path, file: &str) -> Passhost {
        let (key, file) = (self.text("lab.key"), self.text(file));
        let options = ["--json", &file, "--sign", &key, "--budget", "50ms", "--device", "cpu", "--threads", "1"];
        Passhost::new([OsStr::new("eval"), plugin.as_os_str(), sample.as_os_str()]).with(&options)
    }

    /// A signed result that is written to a file of this name.
    pub fn signed(&self, plugin: &Path, sample: &Path, file: &str) -> Signed {
        let run = self.eval(plugin, sample, file).with(&["--accept-noise"]).run();
        run.expect(run.code < 2, "it was evaluated");
        self.read(file)
    }

    pub fn read(&self, file: &str) -> Signed {
        let text = std::fs::read_to_string(self.path(file));
        let signed = text.as_deref().map(read);
        assert!(matches!(signed, Ok(Ok(_))), "{file}: {signed:?}");
        let Ok(Ok(signed)) = signed else { unreachable!("it was checked") };
        signed
    }

    /// What is otherwise, signed again and written to a file of this name.
    pub fn sign(&self, statement: &Statement, file: &str) {
        let line = statement.sign(&self.key());
        assert!(line.is_ok(), "{line:?}");
        self.write(file, &format!("{}\n", line.unwrap_or_default()));
    }

    fn verify(&self, files: &[&str], options: &[&str]) -> Run {
        let files: Vec<PathBuf> = files.iter().map(|file| self.path(file)).collect();
        let words = [OsStr::new("verify")].into_iter().chain(files.iter().map(|file| file.as_os_str()));
        Passhost::new(words).with(&["--trusted-keys", &self.text("trusted.keys")]).with(options).run()
    }
}

#[test]
fn a_key_is_its_users_alone_and_never_overwritten_or_printed() {
    let lab = Lab::new();
    let secret = std::fs::read_to_string(lab.path("lab.key")).unwrap_or_default();
    let digits = secret.trim_end().rsplit(' ').next().unwrap_or_default();
    assert_eq!(digits.len(), 64, "{secret}");
    let mode = std::fs::metadata(lab.path("lab.key")).map(|metadata| metadata.permissions().mode() & 0o7777);
    assert_eq!(mode.ok(), Some(0o600));
    let again = lab.keygen("lab.key", &["--name", "lab"]);
    again.expect_end(2, &["a key is never overwritten; choose another path"]);
    assert_eq!(std::fs::read_to_string(lab.path("lab.key")).ok(), Some(secret.clone()));
    let public = lab.keygen("lab.key", &["--name", "lab", "--public"]);
    public.expect(public.out == std::fs::read_to_string(lab.path("trusted.keys")).unwrap_or_default(), "the same line");
    for run in [again, public] {
        run.expect(!run.out.contains(digits) && !run.err.contains(digits), "the secret is not printed");
    }
    lab.keygen("other.key", &["--name", "a b"]).expect_end(2, &["letters, digits and `-_.@`"]);
    lab.keygen("none/other.key", &["--name", "lab"]).expect_end(3, &["choose a path in a directory of yours"]);
}

#[test]
fn a_signed_result_is_verified_and_what_was_changed_in_it_is_named() {
    let (lab, sample) = (Lab::new(), sample_with("se-gate-add-relu", &["32/s0-1_"]));
    let path = sample.path().display().to_string();
    let signed = lab.signed(&plugin("fuse-pointwise"), sample.path(), "result.jsonl");
    lab.verify(&["result.jsonl"], &["--sample", &path, "--replay"])
        .expect_end(0, &["agrees", "signed by lab at 20", "a signature says who measured, and not that it is true"]);
    // What reads results reads signed ones.
    Passhost::new([OsStr::new("report"), lab.path("result.jsonl").as_os_str()])
        .run()
        .expect_end(0, &["fuse-pointwise"]);

    let text = std::fs::read_to_string(lab.path("result.jsonl")).unwrap_or_default();
    let refused = |name: &str, changed: &str, said: &[&str]| {
        assert_ne!(changed, text, "{name}");
        lab.write("changed.jsonl", changed);
        lab.verify(&["changed.jsonl"], &[]).expect_end(4, &[&["refused"], said].concat());
    };
    refused(
        "a byte",
        &text.replacen("\"blame\":null", "\"blame\":nulL", 1),
        &["its signature does not fit", "changed"],
    );
    refused("a digit", &text.replacen("\"threads\":1", "\"threads\":2", 1), &["its signature does not fit"]);
    refused(
        "a space",
        &text.replacen(',', ", ", 1),
        &["its signature does not fit", "reformatted after it was signed"],
    );
    refused(
        "twice",
        &text.replacen("{\"author\":null", "{\"author\":null,\"author\":null", 1),
        &["its signature does not fit"],
    );
    refused("cut", &text[..text.len() / 2], &["it was cut off"]);
    refused("the first", &text.replacen('{', "[", 1), &["changed after it was signed"]);
    refused(
        "older",
        &text.replacen("passhost.signed/1", "passhost.signed/0", 1),
        &["its schema is `passhost.signed/0`"],
    );
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    refused("stripped", &value["payload"]["document"].to_string(), &["it is not signed", "--sign KEY"]);

    let changed = |change: &dyn Fn(&mut Statement)| {
        let mut statement = signed.statement.clone();
        change(&mut statement);
        lab.sign(&statement, "changed.jsonl");
    };
    changed(&|statement| drop(statement.programs.insert("passhost-device".into(), "00".repeat(32))));
    let other_host = lab.verify(&["changed.jsonl"], &[]);
    other_host.expect_end(4, &["made by another passhost-device (SHA-256 0000000000000000...)", "--any-host"]);
    lab.verify(&["changed.jsonl"], &["--any-host"]).expect_end(0, &["agrees"]);
    changed(&|statement| statement.document.scores.iter_mut().for_each(|scores| scores.aggregate_score = 9.0));
    lab.verify(&["changed.jsonl"], &[]).expect_end(4, &["differs", "scores.aggregate_score: recorded 9"]);
    // Signed again, under the same job or another file's name: it counts once.
    changed(&|statement| statement.signed_at += 1);
    let twice = lab.verify(&["result.jsonl", "changed.jsonl"], &[]);
    twice.expect_end(4, &[&format!("job {} was met before, in", signed.statement.job), "a result counts once"]);

    changed(&|statement| statement.job = JobId::within("another", &[]));
    let same_seed = lab.verify(&["result.jsonl", "changed.jsonl"], &[]);
    same_seed.expect_end(4, &["has the seed of the result in", "result.jsonl: a measurement counts once"]);

    let other = sample_with("se-gate-add-relu", &["/float16/s0-1_"]);
    let other = other.path().display().to_string();
    lab.verify(&["result.jsonl"], &["--sample", &other]).expect_end(4, &["job.sample_sha256: recorded"]);
    lab.verify(&["result.jsonl"], &["--replay"]).expect_end(2, &["--sample"]);
    let nowhere = ["--sample", &path, "--plugin", "/nowhere", "--replay"];
    lab.verify(&["result.jsonl"], &nowhere).expect_end(2, &["/nowhere"]);
}

#[test]
fn what_nobody_signed_costs_no_more_memory_than_a_line_may_have() {
    let lab = Lab::new();
    let zeros = "0,".repeat(60 << 19);
    let (signature, signer) = ("00".repeat(64), String::from(lab.key().public()));
    let end = format!(r#","schema":"passhost.signed/1","signature":"{signature}","signer":"{signer}"}}"#);
    let long = format!("{{\"payload\":[{zeros}0]{end}\n");
    let short = format!("{{\"payload\":[{}0]{end}\n", &zeros[..30 << 20]);
    let document = format!("{{\"schema\":\"passhost.result/3\",\n\"outcomes\":[\n{zeros}0]}}\n");
    for (text, said) in [
        (long, "it has more than the 33554432 bytes that a signed result may have"),
        (short, "its signature does not fit"),
        (document, "its schema is `passhost.result/3`"),
    ] {
        lab.write("large.jsonl", &text);
        let (file, board, keys) = (lab.text("large.jsonl"), lab.text("board"), lab.text("trusted.keys"));
        let begin = Passhost::new(["leaderboard", &board, "--new", &file, "--trusted-keys", &keys]);
        begin.within_memory(256 << 20).run().expect_end(2, &["cannot begin a board with", said]);
    }
}

#[test]
fn whose_key_does_not_count_is_refused() {
    let (lab, sample) = (Lab::new(), sample_with("se-gate-add-relu", &["32/s0-1_"]));
    let path = sample.path().display().to_string();
    lab.signed(&plugin("noop"), sample.path(), "result.jsonl");
    let line = std::fs::read_to_string(lab.path("trusted.keys")).unwrap_or_default();
    let other = lab.keygen("other.key", &["--name", "other"]).out;
    for (keys, said) in [
        (other, "a key that is not among the trusted ones: ed25519 "),
        (format!("{} revoked", line.trim_end()), "with a key of lab that was revoked"),
        (format!("{} until 2020-01-01", line.trim_end()), "with a key of lab that was trusted until 2020-01-01"),
    ] {
        lab.write("trusted.keys", &keys);
        lab.verify(&["result.jsonl"], &[]).expect_end(4, &["refused", said]);
        let again = lab.verify(&["result.jsonl"], &["--sample", &path, "--replay"]);
        again.expect_end(4, &[said, "nothing was run: a refused result is not judged again"]);
    }
    lab.write("trusted.keys", "somebody\n");
    lab.verify(&["result.jsonl"], &[]).expect_end(2, &["line 1: it does not begin with `ed25519 KEY NAME`"]);
    let nobody = Passhost::new([OsStr::new("verify"), lab.path("result.jsonl").as_os_str()]).run();
    nobody.expect_end(0, &["whether that is anybody is not known without --trusted-keys"]);
}

#[test]
fn what_cannot_be_signed_is_said_before_anything_runs() {
    let (lab, sample) = (Lab::new(), sample_with("se-gate-add-relu", &["32/s0-1_"]));
    let noop = plugin("noop");
    let eval = |options: &[&str]| lab.eval(&noop, sample.path(), "result.jsonl").with(options).run();
    eval(&["--quick"]).expect_end(2, &["a result of --quick is none to rank"]);
    eval(&["--seed", "1"]).expect_end(2, &["a result of --seed is none to rank"]);
    eval(&["--author", "<b>"]).expect_end(2, &["`--author` takes letters"]);
    let key = lab.text("lab.key");
    let without =
        Passhost::new([OsStr::new("eval"), noop.as_os_str(), sample.path().as_os_str()]).with(&["--sign", &key]);
    without.run().expect_end(2, &["name a file with --json FILE"]);
    let bench =
        Passhost::bench([&noop, &sample.path().to_path_buf()], &lab.path("night.jsonl")).with(&["--sign", &key]);
    bench.with(&["--variant", "float32"]).run().expect_end(2, &["a result of --variant is none to rank"]);
    let author = Passhost::eval(&noop, sample.path()).with(&["--author", "me"]).run();
    author.expect_end(2, &["--sign"]);

    let with_key = |key: &Path| {
        let key = key.display().to_string();
        Passhost::eval(&noop, sample.path()).with(&["--sign", &key]).run()
    };
    with_key(&lab.path("nowhere")).expect_end(2, &["`passhost keygen FILE` makes one"]);
    with_key(&lab.path("trusted.keys")).expect_end(2, &["expected a file of this user that nobody else can read"]);
    assert!(symlink(lab.path("lab.key"), lab.path("link")).is_ok());
    with_key(&lab.path("link")).expect_end(2, &["is a link"]);
    let within = sample.path().join("key");
    assert!(std::fs::copy(lab.path("lab.key"), &within).is_ok());
    with_key(&within).expect_end(2, &["which a child process may read; put it elsewhere"]);
    assert!(!lab.path("result.jsonl").exists());
}

#[test]
fn a_batch_is_signed_as_it_ends_and_a_result_keeps_its_job() {
    let (lab, sample) = (Lab::new(), sample_with("se-gate-add-relu", &["32/s0-1_"]));
    let paths = [plugin("fuse-pointwise"), plugin("noop"), sample.path().to_path_buf()];
    let (out, key) = (lab.path("night.jsonl"), lab.text("lab.key"));
    let bench =
        |options: &[&str]| Passhost::bench(&paths, &out).with(&["--sign", &key, "--author", "me"]).with(options).run();
    let named = |file: &str| -> Vec<(JobId, Option<String>)> {
        let file = std::fs::File::open(lab.path(file));
        let lines = file.and_then(|file| passhost_sign::read_all(file, None)).unwrap_or_default();
        let statements = lines.into_iter().flatten().map(|signed| signed.statement);
        statements.map(|statement| (statement.job, statement.batch.map(String::from))).collect()
    };
    let jobs = || named("night.signed.jsonl");
    bench(&[]).expect_end(0, &["2 results are signed, in"]);
    lab.verify(&["night.signed.jsonl"], &[]).expect_end(0, &["submitted by me, as whoever signed it says"]);
    let first = jobs();
    assert!(first.len() == 2 && first[0].0 != first[1].0, "{first:?}");
    let header = std::fs::read_to_string(&out).unwrap_or_default().lines().next().map(serde_json::from_str::<Value>);
    let id = header.and_then(Result::ok).and_then(|header| header["id"].as_str().map(str::to_owned));
    let name = id.map(|id| String::from(BatchId::of(&id)));
    assert!(name.is_some() && first.iter().all(|(_, batch)| *batch == name), "{name:?}: {first:?}");
    bench(&["--resume"]).expect_end(0, &["2 results are signed, in"]);
    assert_eq!(jobs(), first);
    // The results of one `passhost eval` are a batch as well.
    let other = sample_with("se-gate-add-relu", &["/float16/s0-1_"]);
    let other = other.path().display().to_string();
    for file in ["one.jsonl", "two.jsonl"] {
        lab.eval(&plugin("noop"), sample.path(), file).with(&[&other, "--accept-noise"]).run().expect_end(0, &[]);
    }
    let [one, two] = ["one.jsonl", "two.jsonl"].map(|file| named(file).into_iter().map(|(_, batch)| batch));
    let [one, two]: [Vec<Option<String>>; 2] = [one.collect(), two.collect()];
    assert!(one.len() == 2 && one[0].is_some() && one[0] == one[1] && two[0] == two[1], "{one:?} {two:?}");
    assert_ne!(one[0], two[0]);
}

/// The children that see what nobody trusts, as far as they go with it.
fn children(hidden: &Path, sample: &Path) -> Vec<Place> {
    let with =
        |program, stage, argument: &Path| Place { arguments: vec![OsString::from(argument)], ..place(program, stage) };
    vec![
        place("passhost-guest", "loading"),
        place("passhost-guest", "running"),
        place("passhost-device", "answering"),
        place("passhost-compiler", "compiling"),
        place("passhost-builder", "compiling"),
        with("passhost-device", "measuring", hidden),
        with("passhost-reader", passhost_sample::READING, sample),
    ]
}

#[test]
fn no_child_can_read_a_key_that_signs() -> std::io::Result<()> {
    if !crate::confinement::landlock() {
        return Ok(());
    }
    let lab = Lab::new();
    let key = lab.path("lab.key").canonicalize()?;
    let sample = passhost_tests::sample("single-gelu");
    for Place { program, arguments, stage } in children(&key, &sample) {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
        let outcome = of_program(&beside_this_executable(program), &arguments, stage, "open-key", key.as_os_str())?;
        assert!(outcome.held() && outcome != AttemptOutcome::NotMade, "{program} {stage}: {outcome}");
    }
    Ok(())
}
