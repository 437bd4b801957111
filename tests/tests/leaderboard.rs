//! `passhost leaderboard`: who stands where, why others do not, and pages in which text does nothing.

use crate::signing::Lab;
use passhost_result::verify::recomputed;
use passhost_sign::{BatchId, JobId, SecretKey, Signed, Statement};
use passhost_tests::{Passhost, Run, plugin, sample_with};
use std::ffi::OsStr;
use std::path::Path;

/// Text that does something where it is taken for markup, an address or a terminal's command.
const HOSTILE: &str = "<script>alert(1)</script>\"' onload='alert(1)\u{1b}[2J\u{202e}javascript:alert(1)";

/// A board that accepts what its first result is like, and that result.
fn board(sample: &Path) -> (Lab, Signed) {
    let lab = Lab::new();
    let signed = lab.signed(&plugin("fuse-pointwise"), sample, "first.jsonl");
    let (first, keys) = (lab.text("first.jsonl"), lab.text("trusted.keys"));
    leaderboard(&lab, &["--new", &first, "--trusted-keys", &keys, "--list", "gates"])
        .expect_end(0, &["board.json: 1 sample, open,", "whose results count"]);
    (lab, signed)
}

fn leaderboard(lab: &Lab, options: &[&str]) -> Run {
    Passhost::new([OsStr::new("leaderboard"), lab.path("board").as_os_str()]).with(options).run()
}

/// Puts a statement on the board, as a file of this name.
fn submit(lab: &Lab, statement: &Statement, file: &str) {
    lab.sign(statement, &format!("board/{file}"));
}

/// The same measurement as another one, of another batch: its own job and seeds.
fn another(signed: &Signed, change: impl FnOnce(&mut Statement)) -> Statement {
    let mut statement = signed.statement.clone();
    statement.job = JobId::random().unwrap_or_else(|error| unreachable!("there are random bytes: {error}"));
    statement.batch = BatchId::random().ok();
    statement.signed_at += 1;
    for variant in &mut statement.document.variants {
        variant.seed = variant.seed.map(|seed| seed ^ 1);
    }
    change(&mut statement);
    statement
}

#[test]
fn results_of_trusted_keys_stand_on_a_board_and_each_refusal_has_its_sentence() {
    let sample = sample_with("se-gate-add-relu", &["32/s0-1_"]);
    let (lab, signed) = board(sample.path());
    leaderboard(&lab, &[]).expect_end(0, &["nobody is on this board yet"]);
    submit(&lab, &signed.statement, "first.jsonl");
    let again = leaderboard(&lab, &["--new", &lab.text("first.jsonl"), "--trusted-keys", &lab.text("trusted.keys")]);
    again.expect_end(2, &["there is a board already"]);
    leaderboard(&lab, &[]).expect_end(0, &["ranks nobody", "gates, policy open,", "fuse-pointwise", "lab"]);
    let check = |file: &str| leaderboard(&lab, &["--check", &lab.text(file)]);
    check("board/first.jsonl").expect_end(0, &["on the board", "place 1, AS", "for lab in gates, policy open"]);

    let text = std::fs::read_to_string(lab.path("first.jsonl")).unwrap_or_default();
    lab.write("digit.jsonl", &text.replacen("\"threads\":1", "\"threads\":2", 1));
    check("digit.jsonl").expect_end(4, &["not on the board", "its signature does not fit"]);
    lab.write("copy.jsonl", &text);
    check("copy.jsonl").expect_end(4, &[&format!("job {} was met before, in", signed.statement.job)]);
    lab.write("batch.jsonl", "{\"schema\":\"passhost.batch/2\"}\n");
    check("batch.jsonl").expect_end(4, &["it is not signed: its schema is `passhost.batch/2`"]);
    check("nowhere.jsonl").expect_end(2, &["nowhere.jsonl"]);

    let refused = |said: &str, change: &dyn Fn(&mut Statement)| {
        lab.sign(&another(&signed, change), "changed.jsonl");
        check("changed.jsonl").expect_end(4, &["not on the board", said]);
    };
    refused("it does not follow from its own trials: scores.aggregate_score: recorded 9", &|statement| {
        statement.document.scores.iter_mut().for_each(|scores| scores.aggregate_score = 9.0);
    });
    refused("has another content (SHA-256 00...) than the one on list `gates`", &|statement| {
        statement.document.job.sample_sha256 = "00".into();
    });
    refused("it was made by passhost-guest with SHA-256 00..., and no host", &|statement| {
        statement.programs.insert("passhost-guest".into(), "00".into());
    });
    refused("its setting limits.measurement.budget_ms is 51, and this board accepts 50", &|statement| {
        statement.document.limits.measurement.budget_ms = 51;
    });
    refused("the seed of the result in first.jsonl: a measurement counts once", &|statement| {
        statement.document.variants.clone_from(&signed.statement.document.variants);
    });
    let stranger = SecretKey::create(&lab.path("stranger.key"));
    let line = stranger.ok().and_then(|key| another(&signed, |_| {}).sign(&key).ok()).unwrap_or_default();
    lab.write("stranger.jsonl", &line);
    check("stranger.jsonl").expect_end(4, &["a key that is not among the trusted ones: ed25519 "]);
    // What is refused takes no place from what is not, though it has its job and says that it was first; and what cannot be
    // read costs itself alone.
    let mut spoiling = signed.statement.clone();
    (spoiling.signed_at, spoiling.document.limits.measurement.budget_ms) = (0, 51);
    submit(&lab, &spoiling, "spoiling.jsonl");
    let made = std::fs::create_dir(lab.path("board/directory.json"));
    assert!(made.is_ok(), "{made:?}");
    leaderboard(&lab, &[]).expect_end(0, &["fuse-pointwise"]);
    let check_spoiling = leaderboard(&lab, &["--check", &lab.text("board/spoiling.jsonl")]);
    check_spoiling.expect_end(4, &["is 51, and this board accepts 50"]);
}

#[test]
fn authors_share_errors_and_a_batch_that_is_not_whole_is_not_ranked() {
    let sample = sample_with("se-gate-add-relu", &["32/s0-1_"]);
    let (lab, signed) = board(sample.path());
    submit(&lab, &signed.statement, "first.jsonl");
    let by = |author: &str| another(&signed, |statement| statement.author = Some(author.into()));
    submit(&lab, &by("lab"), "second.jsonl");
    submit(
        &lab,
        &another(&signed, |statement| {
            statement.author = Some("guest".into());
            statement.document.variants.iter_mut().for_each(|variant| variant.seed = Some(7));
        }),
        "third.jsonl",
    );
    // Two batches of an author in one file are two submissions, which share an error.
    let lines = [by("often"), by("often")].map(|mut statement| {
        let seed = statement
            .job
            .to_string()
            .bytes()
            .fold(8, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        statement.document.variants.iter_mut().for_each(|variant| variant.seed = Some(seed));
        statement.sign(&lab.key()).unwrap_or_default() + "\n"
    });
    lab.write("often.jsonl", &lines.concat());
    let often = leaderboard(&lab, &["--check", &lab.text("often.jsonl")]);
    often.expect_end(0, &["for often in gates, policy open", "superseded by the author's better submission"]);
    // The same times: nothing tells the two authors apart.
    let shown = leaderboard(&lab, &[]);
    shown.expect_end(0, &["1= guest", "1= lab"]);
    leaderboard(&lab, &["--check", &lab.text("board/first.jsonl"), &lab.text("board/third.jsonl")])
        .expect_end(0, &["place 1, which is shared"]);
    let file = lab.text("board/board.json");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let more = text.replacen(
        "\"samples\": [",
        "\"samples\": [{\"name\": \"rms-norm\", \"sha256\": \"00\", \"graphs\": 1},",
        1,
    );
    lab.write("board/board.json", &more);
    leaderboard(&lab, &["--check", &lab.text("board/first.jsonl")])
        .expect_end(4, &["not on the board", "no result that counts for 1 of the 2 samples of list `gates`: rms-norm"]);
    leaderboard(&lab, &[]).expect_end(0, &["nobody is on this board yet"]);
}

/// The same measurement, had every run of eager taken 100 us and every run of the rewrite this long: what is told apart from it is
/// then no matter of what else this machine does.
fn steady(statement: &mut Statement, rewritten_ns: u64) {
    let timings = statement.document.variants.iter_mut().filter_map(|one| one.timing.as_mut());
    for process in timings.flat_map(|timing| &mut timing.processes) {
        process.floor_ns = 1;
        for block in process.control.iter_mut().chain(&mut process.pairs) {
            block.eager_ns.fill(100_000);
            block.other_ns.fill(100_000);
        }
        process.pairs.iter_mut().for_each(|block| block.other_ns.fill(rewritten_ns));
    }
    statement.document = recomputed(statement.document.clone()).document;
}

#[test]
fn plugins_of_an_author_stand_below_each_other() {
    let sample = sample_with("se-gate-add-relu", &["32/s0-1_"]);
    let (lab, signed) = board(sample.path());
    submit(&lab, &another(&signed, |statement| steady(statement, 50_000)), "first.jsonl");
    lab.signed(&plugin("noop"), sample.path(), "board/noop.jsonl");
    let like = another(&signed, |statement| {
        steady(statement, 50_100);
        statement.document.job.plugin_sha256 = "00".into();
        statement.document.job.plugin_info.iter_mut().for_each(|info| info.name = "alike".into());
        statement.document.variants.iter_mut().for_each(|one| one.seed = one.seed.map(|seed| seed ^ 2));
    });
    submit(&lab, &like, "alike.jsonl");
    let shown = leaderboard(&lab, &[]);
    shown.expect_end(0, &["1 lab fuse-pointwise 0.1.0", "alike 0.1.0", "noop 0.1.0"]);
    let at = |plugin: &str| shown.out.lines().position(|line| line.contains(plugin)).unwrap_or(usize::MAX);
    shown.expect(at("fuse-pointwise") < at("alike") && at("alike") < at("noop"), "the best first");
    leaderboard(&lab, &["--html", &lab.text("site")]).expect_end(0, &["a page for each of 3 submissions"]);
    let page = std::fs::read_to_string(lab.path("site/index.html")).unwrap_or_default();
    shown.expect_end(0, &["a row without a place is superseded by the author's better submission"]);
    for text in ["below each other", "alike 0.1.0", "noop 0.1.0", "superseded by the author's better submission"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("Other submissions"), "all of them stand in the ranking");
}

#[test]
fn text_of_results_does_nothing_in_the_pages() {
    let sample = sample_with("se-gate-add-relu", &["32/s0-1_"]);
    let (lab, signed) = board(sample.path());
    let hostile = |author: &str, seed: u64| {
        another(&signed, |statement| {
            let document = &mut statement.document;
            statement.author = Some(author.into());
            document.job.plugin = HOSTILE.into();
            document.job.sample = HOSTILE.into();
            if let Some(info) = &mut document.job.plugin_info {
                info.name = HOSTILE.into();
            }
            for variant in &mut document.variants {
                variant.seed = Some(seed);
                variant.name = HOSTILE.into();
                variant.notes.push(HOSTILE.into());
            }
        })
    };
    submit(&lab, &hostile("me", 1), "one.jsonl");
    submit(&lab, &hostile("you", 2), "two.jsonl");
    submit(&lab, &another(&signed, |statement| statement.document.job.sample_sha256 = HOSTILE.into()), "three.jsonl");
    lab.write("board/<img src=x onerror=alert(1)>.jsonl", HOSTILE);
    let site = lab.path("site");
    leaderboard(&lab, &["--html", &lab.text("site")])
        .expect_end(0, &["index.html, and a page for each of 2 submissions"]);
    let pages = std::fs::read_dir(site.join("submissions")).into_iter().flatten().flatten().map(|entry| entry.path());
    let pages: Vec<_> = pages.chain([site.join("index.html")]).collect();
    assert_eq!(pages.len(), 3);
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap_or_default();
        assert!(text.contains("&lt;script&gt;alert(1)"), "{}: the text is there", page.display());
        for bad in
            ["<script>alert", "<img", "\"' onload", " onerror=alert(1)>", "\u{1b}", "\u{202e}", "href=\"javascript"]
        {
            assert!(!text.contains(bad), "{}: {bad}", page.display());
        }
        assert_eq!(text.matches("<script").count(), 1, "{}: its own script alone", page.display());
        assert!(text.contains("default-src 'none'"), "{}", page.display());
        // Whatever it links to is there.
        for link in text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let target = page.parent().map(|folder| folder.join(link));
            assert!(
                link.starts_with('#') || target.is_some_and(|target| target.is_file()),
                "{}: {link}",
                page.display()
            );
        }
    }
    let printed = leaderboard(&lab, &[]);
    printed
        .expect_end(0, &["alert(1)"])
        .expect(!printed.out.contains(['\u{1b}', '\u{202e}']), "a terminal stays as it is");
    // A page of what is on the board no more goes; other files stay.
    lab.write("site/submissions/notes.html", "mine");
    assert!(std::fs::remove_file(lab.path("board/two.jsonl")).is_ok());
    leaderboard(&lab, &["--html", &lab.text("site")]).expect_end(0, &["each of 1 submissions"]);
    let left = std::fs::read_dir(site.join("submissions")).into_iter().flatten().count();
    assert_eq!(left, 2);
}
