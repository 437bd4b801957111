//! What is wrong with a result is said, all of it, and nothing else of its board suffers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_board::{Board, BoardContents, Refused, Standings, SubmittedFile};
use passhost_made_documents::{document, right, unmeasured};
use passhost_sign::{BatchId, JobId, SecretKey, Signed, Statement, TrustedKeys};
use std::collections::BTreeMap;
use std::path::Path;

fn key() -> SecretKey {
    let directory = tempfile::tempdir().unwrap();
    SecretKey::create(&directory.path().join("key")).unwrap()
}

/// A result of `plugin`, signed with a key.
fn result(key: &SecretKey, plugin: &str) -> Signed {
    let programs = ["passhost", "passhost-device"].map(|name| (name.to_owned(), format!("hash of {name}")));
    let mut one = right("a", 2.0);
    one.seed = Some(plugin.len() as u64);
    let statement = Statement {
        job: JobId::random().unwrap(),
        batch: BatchId::random().ok(),
        signed_at: 1_767_398_399,
        author: None,
        programs: BTreeMap::from(programs),
        document: document(plugin, "sample", vec![one, right("b", 2.0)]),
    };
    Signed { statement, signer: key.public() }
}

fn contents(results: Vec<Signed>) -> BoardContents {
    let lines = results.into_iter().map(Ok).collect();
    BoardContents { files: vec![SubmittedFile { name: "night.jsonl".into(), lines }] }
}

/// A board that trusts a key and accepts what is like its result.
fn board(key: &SecretKey) -> (Board, TrustedKeys) {
    let keys = TrustedKeys::parse(Path::new("keys"), &format!("{} lab", key.public())).unwrap();
    (Board::like(&[result(key, "pass")], "list", "trusted.keys".into()).unwrap(), keys)
}

fn reasons(standings: &Standings) -> Vec<String> {
    let of = |refused: &Refused| refused.reasons.iter().map(ToString::to_string).collect::<Vec<_>>();
    standings.refused.iter().flat_map(of).collect()
}

/// Does something to a result.
type Change<'c> = &'c dyn Fn(&mut Signed);

#[test]
fn each_thing_that_is_wrong_has_a_sentence() {
    let (key, other) = (key(), key());
    let (board, keys) = board(&key);
    let stand = |result: Signed| reasons(&board.stand(&contents(vec![result]), &keys));
    // Times made by hand do not follow from each other to the last digit: that is said of every one of these.
    let known = stand(result(&key, "pass"));
    assert!(known.iter().all(|reason| reason.starts_with("it does not follow from its own trials: ")), "{known:?}");
    let table: [(Change<'_>, &str); 15] = [
        (&|one| one.signer = other.public(), "a key that is not among the trusted ones: ed25519 "),
        (
            &|one| one.statement.document.limits.measurement.quick = true,
            "no result to rank: it is of some graphs alone (--quick, --variant)",
        ),
        (&|one| one.statement.document.job.fixed_seed = true, "its seed was fixed by hand"),
        (
            &|one| one.statement.document.variants[0] = unmeasured("a", "busy"),
            "1 of its graphs were not measured: not measured: busy",
        ),
        (&|one| drop(one.statement.document.variants.pop()), "it has 1 of the 2 graphs of sample `sample`"),
        (
            &|one| drop(one.statement.programs.insert("passhost-device".into(), "another".into())),
            "it was made by passhost-device with SHA-256 another..., and no host on this board's list has that",
        ),
        (&|one| drop(one.statement.programs.remove("passhost")), "it was made by passhost with SHA-256 none"),
        (
            &|one| one.statement.document.job.device.as_mut().unwrap().torch = "1.0".into(),
            "made with torch 1.0, which no host",
        ),
        (
            &|one| one.statement.document.job.device.as_mut().unwrap().name = "another".into(),
            "its device cpu, another, 2 threads, is not on",
        ),
        (
            &|one| one.statement.document.job.device.as_mut().unwrap().threads = 64,
            "its device cpu, a processor, 64 threads, is not on",
        ),
        (
            &|one| one.statement.document.limits.measurement.budget_ms = 1,
            "its setting limits.measurement.budget_ms is 1, and this board accepts 10000",
        ),
        (&|one| one.statement.document.limits.guest.fuel = 1, "its setting limits.guest.fuel is 1, and"),
        (
            &|one| one.statement.document.limits.measurement.accept_noise = true,
            "accept_noise is true, and this board accepts false",
        ),
        (
            &|one| one.statement.document.job.sample_sha256 = "other".into(),
            "`sample` has another content (SHA-256 other...) than the one on list `list` (hashofsample...)",
        ),
        (
            &|one| {
                one.statement.document.job.sample_sha256 = "other".into();
                one.statement.document.job.sample = "elsewhere".into();
            },
            "its sample `elsewhere` is on none of this board's lists",
        ),
    ];
    for (change, said) in table {
        let mut changed = result(&key, "pass");
        change(&mut changed);
        let found = stand(changed);
        assert!(found.iter().any(|reason| reason.contains(said)), "expected `{said}` among {found:#?}");
    }
}

#[test]
fn a_policy_that_is_not_on_the_list_is_refused() {
    let key = key();
    let (mut board, keys) = board(&key);
    board.policies[0].sha256 = "another".into();
    let found = reasons(&board.stand(&contents(vec![result(&key, "pass")]), &keys));
    assert!(found.iter().any(|reason| reason.starts_with("its policy `open` (SHA-256 ")), "{found:#?}");
}

#[test]
fn a_board_begins_with_results_that_were_made_alike() {
    let key = key();
    let (one, mut other) = (result(&key, "pass"), result(&key, "other"));
    assert!(Board::like(&[one.clone(), other.clone()], "list", "keys".into()).is_ok());
    other.statement.document.limits.measurement.budget_ms = 1;
    let said = |results: &[Signed]| Board::like(results, "list", "keys".into()).unwrap_err().to_string();
    let mut renamed = one.clone();
    renamed.statement.document.job.sample = "renamed".into();
    assert!(
        said(&[one.clone(), renamed]).contains("`renamed` and `sample` of the sample list `list` have one content")
    );
    assert!(said(&[one, other]).contains("differ in their settings"));
    assert!(said(&[]).contains("there are none"));
}

#[test]
fn a_board_is_read_as_it_was_written_and_what_cannot_be_meant_is_refused() {
    let key = key();
    let (board, _) = board(&key);
    let directory = tempfile::tempdir().unwrap();
    let read = |board: &serde_json::Value| {
        std::fs::write(directory.path().join("board.json"), board.to_string()).unwrap();
        Board::read(directory.path()).map_err(|error| error.to_string())
    };
    let value = serde_json::to_value(&board).unwrap();
    assert_eq!(read(&value), Ok(board));
    let said = |pointer: &str, to: serde_json::Value| {
        let mut changed = value.clone();
        *changed.pointer_mut(pointer).unwrap() = to;
        read(&changed).unwrap_err()
    };
    let twice = |pointer: &str| {
        let list = value.pointer(pointer).unwrap().as_array().unwrap();
        said(pointer, serde_json::json!([list[0], list[0]]))
    };
    assert!(twice("/sample_lists").contains("two sample lists are called `list`"));
    assert!(twice("/hosts").contains("two hosts are called `passhost 0.1.0`"));
    assert!(twice("/sample_lists/0/samples").contains("two samples are called `sample`"));
    let mut renamed = value["sample_lists"][0]["samples"][0].clone();
    renamed["name"] = "again".into();
    let both = serde_json::json!([value["sample_lists"][0]["samples"][0], renamed]);
    let one_content = "`sample` and `again` of the sample list `list` have one content";
    assert!(said("/sample_lists/0/samples", both).contains(one_content));
    assert!(said("/sample_lists/0/samples", serde_json::json!([])).contains("`list` has no sample"));
    assert!(said("/schema", "passhost.board/0".into()).contains("expected `passhost.board/2`"));
    assert!(said("/title", 1.into()).contains("docs/signing.md"));
    assert!(Board::read(Path::new("/nowhere")).unwrap_err().to_string().contains("--new RESULTS"));
}
