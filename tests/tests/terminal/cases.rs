//! What each command is given: hostile names of files and directories, and files with hostile text.

use super::HOSTILE;
use super::place::{ON_A_LINE, Place, escaped, escaped_in_rust, octal};
use crate::agent::endpoint::{Endpoint, Reply};
use passhost_made_documents::{compared, document as made, right};
use passhost_sign::{BEGINNING, JobId, SecretKey, Statement};
use passhost_tests::{Passhost, plugin, repository};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A command and runs of it.
pub type Case = (&'static str, Vec<Passhost>);

/// All of several.
fn all_of(runs: impl IntoIterator<Item = Vec<Passhost>>) -> Vec<Passhost> {
    runs.into_iter().flatten().collect()
}

/// An endpoint that says hostile things, in each way that it can.
pub fn endpoint() -> Endpoint {
    Endpoint::start(|asked| match asked.number {
        0 => Reply::Raw(503, "", HOSTILE.to_owned()),
        1 => Reply::Say(HOSTILE.to_owned(), vec![(HOSTILE.to_owned(), json!({HOSTILE: HOSTILE}))]),
        2 => Reply::call(&[("write_pass", json!({"source": HOSTILE})), ("build", json!({}))]),
        _ => Reply::Raw(404, "", json!({"error": {"message": HOSTILE}}).to_string()),
    })
}

/// Cases of every command.
pub fn all(place: &Place, endpoint: &Endpoint) -> Vec<Case> {
    let mut cases = of_plugins(place);
    cases.extend(of_samples(place));
    cases.extend(of_results(place));
    cases.extend(of_runs(place, endpoint));
    cases.extend(of_fleets(place));
    cases.extend(of_names(place));
    cases
}

/// Commands that are given a pass.
fn of_plugins(place: &Place) -> Vec<Case> {
    let good = place.sample();
    let (device, quick) = (["--device", "cpu"], ["--quick", "--threads", "1"]);
    let hostile = ["forges_lines", "panics", "returns_error", "rubbish"].map(|name| plugin(name).display().to_string());
    let noop = plugin("noop").display().to_string();
    let copy = place.at("noop.wasm");
    place.write("noop.wasm", "");
    assert!(std::fs::copy(&noop, &copy).is_ok());
    let garbage = [
        place.write(&format!("garbage-{HOSTILE}.wasm"), &format!("\0asm{HOSTILE}")),
        place.write("none", HOSTILE),
        place
            .write(&format!("{HOSTILE}.rs"), &format!("fn main() {{ let {ON_A_LINE} = \"{HOSTILE}\"; }} // {HOSTILE}")),
        place.at("nowhere.wasm"),
    ];
    let all = || hostile.iter().chain(&garbage).chain([&copy]);
    let facts = place.write("facts.json", &json!({"kind": HOSTILE}).to_string());
    let more = place.write("more.json", &format!("{{\"{}\": 1}}", escaped()));
    let policy = place.write("policy.json", &format!("{{\"name\": \"{}\", \"{}\": 1}}", escaped(), escaped()));
    let shown = hostile.iter().chain([&copy]).flat_map(|plugin| {
        let shown = place.run(&["show", &good, "--after", plugin]).with(&device);
        [shown, place.run(&["show", &good, "--after", plugin, "--diff", "--kernels", "--cuda"]).with(&device)]
    });
    let wrong = [["--device-facts", &facts], ["--device-facts", &more], ["--policy", &policy], ["--variant", HOSTILE]];
    let wrong = wrong.map(|words| place.run(&["show", &good, "--after", &copy]).with(&words));
    let night = place.at("night.jsonl");
    let batch = |out: &str| Passhost::bench([&copy, &garbage[0], &good], Path::new(out));
    let damaged = place.write("damaged.jsonl", &format!("{{\"schema\":\"passhost.batch/2\",\"{}\":1}}\n", escaped()));
    vec![
        ("check", all().map(|plugin| place.run(&["check", plugin])).collect()),
        ("show", shown.chain(wrong).chain(place.bad_samples().iter().map(|path| place.run(&["show", path]))).collect()),
        (
            "eval",
            all()
                .map(|plugin| place.run(&["eval", plugin, &good, "--explain"]).with(&device).with(&quick))
                .chain([place.run(&["eval", &hostile[1], &good, "--json", "-"]).with(&device).with(&quick)])
                .chain(
                    place.bad_samples().iter().map(|path| place.run(&["eval", &copy, path]).with(&device).with(&quick)),
                )
                .chain([place.run(&["eval", &copy, &good, "--policy", &policy])])
                .chain([place.run(&["eval", &copy, &good, "--json", &place.at("no/where.json")])])
                .collect(),
        ),
        (
            "bench",
            vec![
                batch(&night),
                batch(&night),
                batch(&night).with(&["--resume", "--verbose"]),
                batch(&damaged).with(&["--resume"]),
                place.run(&["bench", &garbage[1], &place.at("list")]),
                place.run(&["bench", &copy, &good, "--queue", HOSTILE]),
                place.run(&["bench", &copy, &good, "--queue", "x", "--objects", &format!("s3://{HOSTILE}")]),
            ],
        ),
        ("build", builds(place, &garbage[2])),
    ]
}

/// Sources, crates that passhost builds, and those that cargo builds, which says what a build script wants it to.
fn builds(place: &Place, source: &str) -> Vec<Passhost> {
    let name = format!("crate-{HOSTILE}");
    place
        .write(&format!("{name}/src/lib.rs"), &format!("mod {ON_A_LINE};\ncompile_error!(\"{}\");", escaped_in_rust()));
    place.write(&format!("{name}/src/{ON_A_LINE}.rs"), HOSTILE);
    let manifest = "[package]\nname = \"hostile\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[lib]\ncrate-type = [\"cdylib\"]\n\n[profile.plugin]\ninherits = \"release\"\n";
    place.write(&format!("{name}/Cargo.toml"), manifest);
    let warning =
        format!("fn main() {{ println!(\"cargo::warning={}\"); }}\n", escaped_in_rust().replace("\\r\\n", ""));
    place.write(&format!("{name}/build.rs"), &warning);
    let unread = format!("unread-{HOSTILE}");
    place.write(&format!("{unread}/Cargo.toml"), &format!("{manifest}\n[{ON_A_LINE}\n"));
    let link = place.at(&format!("link-{HOSTILE}.rs"));
    assert!(std::os::unix::fs::symlink(HOSTILE, &link).is_ok());
    let crates = [name, unread].map(|name| place.at(&name));
    let json = place.at("build.json");
    vec![
        place.run(&["build", source]),
        place.run(&["build", source, "--json", "-"]),
        place.run(&["build", source, "--out", source]),
        place.run(&["build", source, "--json", &json, "--out", &json]),
        place.run(&["build", &crates[0]]),
        place.run(&["build", &crates[0], "--cargo"]),
        place.run(&["build", &crates[1], "--cargo"]),
        place.run(&["build", &link]),
        place.run(&["build", &place.at("nowhere")]),
        place.run(&["build", &place.at("nowhere"), "--cargo"]),
    ]
}

/// Commands that are given samples.
fn of_samples(place: &Place) -> Vec<Case> {
    let good = place.sample();
    let paths: Vec<String> = [good.clone(), place.at("")].into_iter().chain(place.bad_samples()).collect();
    let device = ["--device", "cpu", "--threads", "1"];
    let each = |words: &[&str], more: &[&str]| -> Vec<Passhost> {
        paths.iter().map(|path| place.run(words).with(&[path]).with(more)).collect()
    };
    let and_json = |words: &[&str]| all_of([each(words, &[]), each(words, &["--json", "-"])]);
    let [train, eval, counts, journal] = ["train", "eval", "counts", "journal"].map(|name| place.at(name));
    let split = ["--eval", "0.5", "--train-out", &train, "--eval-out", &eval];
    let python = place.write("python", &format!("#!/bin/sh\nprintf '{}' >&2\nexit 1\n", octal()));
    assert!(std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).is_ok());
    let out = place.at("baseline.jsonl");
    let baseline =
        |sample: &str, python: &str| Passhost::baseline(Path::new(sample), Path::new(python), Path::new(&out));
    let in_new = |words: &[&str], number: usize| place.run(words).with(&["--out", &place.at(&format!("out-{number}"))]);
    let made = |words: &[&str], from: usize| -> Vec<Passhost> {
        paths.iter().zip(from..).map(|(path, number)| in_new(words, number).with(&[path])).collect()
    };
    vec![
        ("samples", vec![place.run(&["samples"])]),
        (
            "samples check",
            all_of([and_json(&["samples", "check"]), each(&["samples", "check"], &["--resume", &journal])]),
        ),
        ("samples list", and_json(&["samples", "list"])),
        ("samples stats", and_json(&["samples", "stats"])),
        (
            "samples strength",
            each(&["samples", "strength"], &[device.as_slice(), &["--mutants", "1", "--compositions", "0"]].concat()),
        ),
        ("samples lowerings", each(&["samples", "lowerings"], &["--counts", &counts])),
        ("samples split", each(&["samples", "split"], &split)),
        ("samples hash", all_of([and_json(&["samples", "hash"]), each(&["samples", "hash"], &["--duplicates"])])),
        ("samples run", made(&["samples", "run"], 100).into_iter().map(|run| run.with(&device)).collect()),
        (
            "samples vary",
            all_of([
                made(&["samples", "vary"], 200),
                made(&["samples", "vary", "--set", &format!("{HOSTILE}=1")], 300),
            ]),
        ),
        ("samples pack", made(&["samples", "pack"], 500)),
        ("samples unpack", made(&["samples", "unpack"], 600)),
        ("decompose", made(&["decompose"], 400)),
        (
            "baseline",
            vec![baseline(&good, &python), baseline(&good, &place.at("nowhere")), baseline(&place.at("list"), &python)],
        ),
    ]
}

/// Commands that are given results, keys and boards.
fn of_results(place: &Place) -> Vec<Case> {
    let results = place.results();
    let each = |words: &[&str], more: &[&str]| -> Vec<Passhost> {
        results.iter().map(|path| place.run(words).with(&[path]).with(more)).collect()
    };
    let boards = boards(place);
    let public = std::fs::read_to_string(place.at("trusted.keys")).unwrap_or_default().replace(" lab\n", "");
    let keys = [
        format!("{ON_A_LINE}\n"),
        format!("ed25519 {ON_A_LINE} lab\n"),
        format!("{public} {ON_A_LINE}\n"),
        format!("{public} lab until {ON_A_LINE}\n"),
    ];
    let keys = keys.iter().zip(0..).map(|(line, number)| place.write(&format!("{number}.keys"), line));
    let untrusted = keys.map(|keys| place.run(&["verify", &results[0], "--trusted-keys", &keys]));
    let missing = place.at("nowhere.wasm");
    let good = place.sample();
    let again = ["--replay", "--sample", &good];
    let other = made("another", HOSTILE, vec![right(HOSTILE, 1.5), compared("right", 2.0, Some(-5))]);
    let other = place.write("other.json", &serde_json::to_string(&other).unwrap_or_default());
    vec![
        (
            "report",
            all_of([each(&["report"], &[]), each(&["report"], &["--json", "-"]), each(&["report"], &["--html", "-"])]),
        ),
        ("compare", all_of([each(&["compare"], &[&other]), each(&["compare"], &[&other, "--json", "-"])])),
        ("score", all_of([each(&["score"], &[]), each(&["score"], &["--json", "-"])])),
        (
            "verify",
            all_of([
                each(&["verify"], &[]),
                untrusted.collect(),
                vec![
                    place.run(&["verify", &results[0], "--plugin", &missing, "--sample", &good]),
                    place.run(&["verify", &results[0], "--plugin", &results[1], "--sample", &missing]),
                    place.run(&["verify", &results[0]]).with(&again),
                ],
            ]),
        ),
        ("leaderboard", boards),
    ]
}

/// A board that was begun, whose title and results say hostile things, and directories that are none.
fn boards(place: &Place) -> Vec<Passhost> {
    let path = PathBuf::from(place.write("lab.key", ""));
    let key = std::fs::remove_file(&path).ok().and_then(|()| SecretKey::create(&path).ok());
    let job = JobId::random();
    let (Some(key), Ok(job)) = (key, job) else { unreachable!("there are random bytes and a directory") };
    let made = made(HOSTILE, HOSTILE, vec![right(HOSTILE, 2.0)]);
    let programs = BTreeMap::from([("passhost".to_owned(), "00".to_owned())]);
    let statement = Statement { job, batch: None, signed_at: 1, author: None, programs, document: made };
    let line = statement.sign(&key).unwrap_or_else(|error| unreachable!("it can be signed: {error}"));
    let results = place.write("night.signed.jsonl", &format!("{line}\n"));
    let keys = place.write("trusted.keys", &format!("{} lab\n", key.public()));
    let board = place.at("board");
    let begin = place.run(&["leaderboard", &board, "--new", &results, "--trusted-keys", &keys, "--list", HOSTILE]);
    let begun = begin.run();
    begun.expect_end(0, &["board.json"]);
    super::check(&begun);
    let file = format!("{board}/board.json");
    let mut text: Value =
        std::fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    text["title"] = json!(HOSTILE);
    place.write("board/board.json", &text.to_string());
    for (name, text) in [("one", line.as_str()), (HOSTILE, HOSTILE), (ON_A_LINE, &format!("{BEGINNING}{ON_A_LINE}"))] {
        place.write(&format!("board/{name}.jsonl"), text);
    }
    place.write("other/board.json", &format!("{{\"{}\": 1}}", escaped()));
    let check = |file: &str| place.run(&["leaderboard", &board, "--check", file]);
    vec![
        begin,
        place.run(&["leaderboard", &board]),
        place.run(&["leaderboard", &board, "--html", &place.at("site")]),
        check(&results),
        check(&place.at(&format!("board/{HOSTILE}.jsonl"))),
        check(&place.at(&format!("board/{ON_A_LINE}.jsonl"))),
        check(&place.at("nowhere")),
        place.run(&["leaderboard", &place.at("other")]),
        place.run(&["leaderboard", &place.at("nowhere")]),
        place.run(&["leaderboard", &board, "--revoked", HOSTILE]),
        place.run(&["leaderboard", &board, "--revoked", &results]),
        place.run(&["leaderboard", &place.at("new"), "--new", &place.at("result-0.json"), "--trusted-keys", &keys]),
        place.run(&["leaderboard", &place.at("new"), "--new", &results, "--trusted-keys", &place.at("result-1.json")]),
    ]
}

/// Commands that ask a model, or read what one did.
fn of_runs(place: &Place, endpoint: &Endpoint) -> Vec<Case> {
    let reward = json!({"build": 0.0, "check": 0.0, "right": 0.0, "score": 0.0});
    let call = json!({"id": HOSTILE, "type": "function", "function": {"name": HOSTILE, "arguments": HOSTILE}});
    let message = json!({"role": "assistant", "content": HOSTILE, "tool_calls": [call]});
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1});
    let lines = [
        json!({"kind": "begin", "schema": "passhost.trajectory/2", "sample": HOSTILE, "attempt": 1, "model": HOSTILE,
            "has_tools": true, "messages": [{"role": "user", "content": HOSTILE}]}),
        json!({"kind": "answer", "answer": {"message": message, "finish": HOSTILE, "usage": usage}, "seconds": 1.0}),
        json!({"kind": "call", "call": call, "text": HOSTILE, "effect": {"kind": "nothing"}, "reward": reward,
            "seconds": 1.0, "device_seconds": 0.0}),
        json!({"kind": "end", "why": "steps", "score": 0.1, "reward": reward, "verdict": null}),
    ];
    let budget = json!({"steps": 1, "tokens": null, "seconds": null, "device_seconds": null});
    let settings = json!({"schema": "passhost.agent/1", "host": "0.1.0", "model": HOSTILE, "has_tools": true,
        "temperature": null, "samples": [HOSTILE], "attempts": 1, "budget": budget, "options": [HOSTILE]});
    for name in ["run", "damaged"] {
        place.write(&format!("{name}/run.json"), &settings.to_string());
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        place.write(&format!("{name}/attempts/{ON_A_LINE}-1.jsonl"), &lines);
    }
    place.write(&format!("damaged/attempts/{HOSTILE}.jsonl"), &format!("{{\"kind\": \"{}\"}}\n", escaped()));
    let formats = ["sft", "rl", "preference", "atif", "harbor"];
    let export = |run: &str, format: &str| place.run(&["agent", "export", &place.at(run), "--format", format]);
    let of_run = formats.map(|format| export("run", format));
    let of_others = ["damaged", "nowhere", "list"].map(|run| export(run, "sft"));
    let page = place.at("shown.html");
    let shown = ["run", "damaged", "nowhere", "list"];
    let shown = shown.map(|run| place.run(&["agent", "show", &place.at(run), "--html", &page]));
    let harbor = export("run", "harbor").with(&["--out", &place.at("tasks")]);
    let good = place.sample();
    let ask = |url: &str, out: &str| {
        let words = ["agent", "--model", HOSTILE, "--base-url", url, "--samples", &good, "--out", &place.at(out)];
        let run = place.run(&words).with(&["--device", "cpu", "--threads", "1", "--quick", "--retry-delay", "1ms"]);
        run.with(&["--json", "-"])
    };
    let [key, no_key] = [place.write("key", HOSTILE), place.at("no-key")];
    let url = endpoint.url.as_str();
    vec![
        ("agent show", Vec::from(shown)),
        ("agent export", of_run.into_iter().chain(of_others).chain([harbor]).collect()),
        (
            "agent",
            vec![
                ask(url, "asked").without("--json"),
                ask(url, "asked").with(&["--resume"]),
                ask(url, "run").with(&["--resume"]),
                ask(HOSTILE, "none"),
                ask(&format!("http://{HOSTILE}/v1"), "none"),
                ask(url, "none").with(&["--api-key-file", &key]),
                ask(url, "none").with(&["--api-key-file", &no_key]),
                ask(url, "none").with(&["--api-key-variable", HOSTILE]),
            ],
        ),
    ]
}

/// Servers of what cannot be served.
fn servers(place: &Place) -> Vec<Passhost> {
    let good = place.sample();
    let clients = place.write("clients", &format!("client {ON_A_LINE} {ON_A_LINE}\n"));
    let twice = place.write("clients-twice", &format!("{ON_A_LINE}\n"));
    place.write("data/file", "");
    let serve = |clients: &str, data: &str| {
        place.run(&["serve", &good, "--clients", clients, "--data", data, "--device", "cpu", "--disk", "64M"])
    };
    let data = [place.at("data"), place.at("clients"), place.at("queue")];
    let token = Passhost::new(["token", "alice"]).run().out;
    let known = place.write("known", &token);
    place.write("queue/queue.redb", HOSTILE);
    vec![serve(&clients, &data[0]), serve(&twice, &data[0]), serve(&place.at("nowhere"), &data[0])]
        .into_iter()
        .chain(data[1..].iter().map(|data| serve(&known, data)))
        .chain([
            serve(&known, &data[0]).with(&["--listen", HOSTILE]),
            serve(&known, &data[0]).with(&[&place.at("list")]),
            serve(&known, &data[0]).with(&["--rerun", HOSTILE]),
            place.run(&[
                "serve",
                &good,
                "--clients",
                &known,
                "--data",
                &data[0],
                "--queue",
                "x",
                "--device",
                "none",
                "--hosts",
                HOSTILE,
            ]),
        ])
        .chain([HOSTILE, &place.at("list")].map(|queue| serve(&known, &place.at("new")).with(&["--queue", queue])))
        .collect()
}

/// Commands for operators of a fleet.
fn of_fleets(place: &Place) -> Vec<Case> {
    vec![
        ("fleet", vec![place.run(&["fleet", HOSTILE])]),
        ("fleet status", vec![place.run(&["fleet", "status", "--queue", HOSTILE])]),
        ("fleet retry", vec![place.run(&["fleet", "retry", HOSTILE, "--queue", &place.at("list")])]),
        ("fleet revoked", vec![place.run(&["fleet", "revoked", "--queue", HOSTILE])]),
        ("fleet drain", vec![place.run(&["fleet", "drain", HOSTILE, "--queue", HOSTILE])]),
        (
            "fleet require-canary",
            vec![
                place.run(&["fleet", "require-canary", HOSTILE, "--queue", "x"]),
                place.run(&["fleet", "require-canary", "3h", "--queue", HOSTILE]),
            ],
        ),
    ]
}

/// Commands that are given names, and find the rest themselves.
fn of_names(place: &Place) -> Vec<Case> {
    place.write(&format!("sdk-{HOSTILE}/guest-sdk/Cargo.toml"), &format!("[{ON_A_LINE}\n"));
    let sdk = place.at(&format!("sdk-{HOSTILE}"));
    let root = repository().display().to_string();
    let home = place.at("home");
    place.write("home", "");
    vec![
        ("serve", servers(place)),
        (
            "worker",
            vec![
                place.run(&["worker", &place.at("list"), "--queue", HOSTILE]),
                place.run(&["worker", &place.sample(), "--device", "cpu", "--queue", HOSTILE]),
                place.run(&["worker", &place.sample(), "--queue", "x", "--labels", HOSTILE]),
                place.run(&["worker", &place.sample(), "--queue", "x", "--objects", &format!("s3://{HOSTILE}")]),
                place.run(&["worker", &place.sample(), "--device", "cpu", "--queue", "x", "--sign", HOSTILE]),
                place.run(&["worker", &place.sample(), "--device", "cpu", "--queue", "x", "--host", HOSTILE]),
            ],
        ),
        ("token", vec![place.run(&["token", HOSTILE]), place.run(&["token", "alice", HOSTILE])]),
        (
            "keygen",
            vec![
                place.run(&["keygen", &place.at("new.key"), "--name", "lab"]),
                place.run(&["keygen", &place.at("new.key"), "--name", "lab"]),
                place.run(&["keygen", &place.at("list"), "--name", "lab", "--public"]),
                place.run(&["keygen", &place.at("newer.key"), "--name", HOSTILE]),
                place.run(&["keygen", &place.at("no/where"), "--name", "lab"]),
            ],
        ),
        (
            "new",
            vec![
                place.run(&["new", &place.at(HOSTILE)]),
                place.run(&["new", &place.at("a-pass"), "--source", &root]),
                place.run(&["new", &place.at("a-pass"), "--source", &root]),
                place.run(&["new", &place.at("another"), "--source", &sdk]),
            ],
        ),
        (
            "setup-sdk",
            vec![
                place.run(&["setup-sdk", "--source", &sdk, "--out", &place.at("made")]),
                place.run(&["setup-sdk", "--source", &place.at("nowhere")]),
                place.run(&["setup-sdk", "--source", &root, "--out", &place.at("queue")]),
            ],
        ),
        ("explain", vec![place.run(&["explain", HOSTILE]), place.run(&["explain"])]),
        ("guide", vec![place.run(&["guide"])]),
        ("ops", vec![place.run(&["ops", HOSTILE]), place.run(&["ops"])]),
        (
            "policies",
            vec![place.run(&["policies", HOSTILE]), place.run(&["policies"]), place.run(&["policies", "strict"])],
        ),
        (
            "doctor",
            vec![
                place
                    .run(&["doctor", "--device", "cpu"])
                    .variable("XDG_CACHE_HOME", &home)
                    .variable("PASSHOST_SDK", &sdk),
                place.run(&["doctor", "--device", HOSTILE]),
            ],
        ),
        (
            "completions",
            ["bash", "elvish", "fish", "powershell", "zsh", HOSTILE]
                .map(|shell| place.run(&["completions", shell]))
                .into(),
        ),
    ]
}
