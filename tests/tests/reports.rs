//! `passhost report` and `passhost compare` on documents that are made by hand.

mod headroom;

use expect_test::{Expect, expect};
use passhost_made_documents::{compared, document, failed, missed, right, unmeasured};
use passhost_policy::Policy;
use passhost_result::document::{Document, Variant};
use passhost_result::{Spent, Work};
use passhost_score::FailureClass;
use passhost_tests::{Passhost, Run, directory, plugin, sample_with};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// Files in a directory, by which the command runs.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(directory())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn with(self, name: &str, text: &str) -> Files {
        let written = std::fs::write(self.path(name), text);
        assert!(written.is_ok(), "{name}: {written:?}");
        self
    }

    fn with_documents(self, name: &str, documents: &[Document]) -> Files {
        self.with(name, &json!(documents).to_string())
    }

    fn run(&self, command: &str, names: &[&str], columns: &str, options: &[&str]) -> Run {
        let words = std::iter::once(PathBuf::from(command)).chain(names.iter().map(|name| self.path(name)));
        Passhost::new(words).with(options).variable("COLUMNS", columns).variable("NO_COLOR", "1").run()
    }

    /// What a command prints, without the directory of its files; no line is longer than the terminal is wide.
    fn prints(&self, command: &str, names: &[&str], columns: usize, expected: &Expect) {
        let run = self.run(command, names, &columns.to_string(), &[]);
        run.expect_end(0, &[]);
        for line in run.out.lines() {
            run.expect(line.chars().count() <= columns, &format!("a line is too long: {line}"));
        }
        expected.assert_eq(&run.out.replace(&format!("{}/", self.0.path().display()), ""));
    }
}

/// What a pass made of two samples.
fn first() -> Vec<Document> {
    let half = |variant: Variant| Variant { element_type: Some("float16".into()), bytes: Some(1 << 22), ..variant };
    let gate = vec![
        right("float32/small", 2.0),
        half(right("float16/small", 3.0)),
        compared("float32/large", 4.0, Some(-3)),
        unmeasured("float16/large", "the machine was busy during 7 of 18 blocks of trials"),
    ];
    let norm = vec![right("float32/small", 0.8), missed("float32/large"), failed("broken", FailureClass::Runtime)];
    let mut documents = vec![document("fuse", "gate", gate), document("fuse", "norm", norm)];
    documents[0].job.groups = vec!["fusible_subgraphs".into()];
    documents
}

/// What another made of them.
fn other() -> Vec<Document> {
    let gate = vec![
        right("float32/small", 2.5),
        right("float16/small", 3.01),
        right("float32/large", 4.0),
        right("float16/large", 9.0),
    ];
    let norm = vec![failed("float32/small", FailureClass::Compile), right("float32/large", 1.5)];
    vec![document("blend", "gate", gate), document("blend", "norm", norm)]
}

#[test]
fn a_summary_fits_a_narrow_terminal() {
    let files = Files::new().with_documents("one.json", &first());
    files.prints(
        "report",
        &["one.json"],
        60,
        &expect![[r#"
            fuse 0.1.0: 7 graphs of 2 samples, cpu, policy open
            faster: 2.09x (95% CI 2.01 to 2.18) over graphs that ran
            AS strict 0.62 [0.59, 0.64]   AS 0.63 [0.60, 0.65]
            over device time: AS strict 0.40 [0.39, 0.42]   AS 0.41
            [0.40, 0.42]
            each sample counting once: AS 0.628
            t        -10    -5    -3    -2    -1     0     1     3
            ES(t)   0.41  0.41  0.76  0.76  0.76  0.76  0.76  1.11
              from  0.39  0.39  0.73  0.73  0.73  0.73  0.73  1.07
              to    0.43  0.43  0.79  0.79  0.79  0.79  0.79  1.16
            strict  0.41  0.41  0.76  0.76  0.76  0.76  0.76  0.76
            device  0.29  0.29  0.48  0.48  0.48  0.48  0.48  0.70
            fusible_subgraphs, several element types: fast_0 66.7%,
            fast_1 66.7%, fast_2 66.7% of 3 graphs, geometric mean of
            the right ones 2.45
            graphs             count  right    AS  strict  device
            all                    7    50%  0.63    0.62    0.41
            fusible_subgraphs      4    67%  1.91    1.91    1.03
            float16                1   100%  3.00    3.00    1.50
            float32                6    40%  0.46    0.45    0.32
            1 to 16 MiB            7    50%  0.63    0.62    0.41
            1 accuracy, 1 not measured, 1 unchanged, 3 right, 1 runtime
            progress: 2 faster, 2 right at t = -5, 1 right at t = -2, 1
            verifies, 1 loads
            best                  AS  speedup  result
            gate/float16/small  3.00     3.00   right
            gate/float32/small  2.00     2.00   right
            worst                 AS  speedup     result
            norm/float32/large  0.10        -  unchanged
            norm/broken         0.11        -    runtime
            norm/float32/small  0.80     0.80      right
            slowest right       speedup  library calls
            norm/float32/small     0.80              -
            gate/float32/small     2.00              -
            gate/float16/small     3.00              -
            unchanged graphs, 1: norm/float32/large
            not measured, 1 of 7 graphs (14.3%): they are not in the
            score
              1: not measured: the machine was busy during 7 of 18
              blocks of trials (timing)
        "#]],
    );
}

#[test]
fn several_plugins_have_a_row_and_a_section_each() {
    let files = Files::new().with_documents("one.json", &first()).with_documents("two.json", &other());
    files.prints(
        "report",
        &["one.json", "two.json"],
        100,
        &expect![[r#"
            plugin         count  right    AS        95%  strict  device
            1 fuse 0.1.0       7    50%  0.63  0.60-0.65    0.62    0.41
            2 blend 0.1.0      6    83%  1.89  1.81-1.96    1.85    1.06

            1 fuse 0.1.0: 7 graphs of 2 samples, cpu, policy open
            faster: 2.09x (95% CI 2.01 to 2.18) over graphs that ran
            AS strict 0.62 [0.59, 0.64]   AS 0.63 [0.60, 0.65]
            over device time: AS strict 0.40 [0.39, 0.42]   AS 0.41 [0.40, 0.42]
            each sample counting once: AS 0.628
            t        -10    -5    -3    -2    -1     0     1     3
            ES(t)   0.41  0.41  0.76  0.76  0.76  0.76  0.76  1.11
              from  0.39  0.39  0.73  0.73  0.73  0.73  0.73  1.07
              to    0.43  0.43  0.79  0.79  0.79  0.79  0.79  1.16
            strict  0.41  0.41  0.76  0.76  0.76  0.76  0.76  0.76
            device  0.29  0.29  0.48  0.48  0.48  0.48  0.48  0.70
            fusible_subgraphs, several element types: fast_0 66.7%, fast_1 66.7%, fast_2 66.7% of 3 graphs,
            geometric mean of the right ones 2.45
            graphs             count  right    AS        95%  strict  device
            all                    7    50%  0.63  0.60-0.65    0.62    0.41
            fusible_subgraphs      4    67%  1.91  1.83-1.98    1.91    1.03
            float16                1   100%  3.00  2.88-3.12    3.00    1.50
            float32                6    40%  0.46  0.44-0.48    0.45    0.32
            1 to 16 MiB            7    50%  0.63  0.60-0.65    0.62    0.41
            1 accuracy, 1 not measured, 1 unchanged, 3 right, 1 runtime
            progress: 2 faster, 2 right at t = -5, 1 right at t = -2, 1 verifies, 1 loads
            best                  AS  speedup        95%  result
            gate/float16/small  3.00     3.00  2.88-3.12   right
            gate/float32/small  2.00     2.00  1.92-2.08   right
            worst                 AS  speedup        95%     result
            norm/float32/large  0.10        -          -  unchanged
            norm/broken         0.11        -          -    runtime
            norm/float32/small  0.80     0.80  0.77-0.83      right
            slowest right       speedup      us  library calls
            norm/float32/small     0.80  1500.0              -
            gate/float32/small     2.00   600.0              -
            gate/float16/small     3.00   400.0              -
            unchanged graphs, 1: norm/float32/large
            not measured, 1 of 7 graphs (14.3%): they are not in the score
              1: not measured: the machine was busy during 7 of 18 blocks of trials (timing)

            2 blend 0.1.0: 6 graphs of 2 samples, cpu, policy open
            faster: 3.32x (95% CI 3.20 to 3.46) over graphs that ran
            AS strict 1.85 [1.78, 1.93]   AS 1.89 [1.81, 1.96]
            over device time: AS strict 1.04 [1.01, 1.07]   AS 1.06 [1.03, 1.09]
            each sample counting once: AS 1.286
            t        -10    -5    -3    -2    -1     0     1     3
            ES(t)   1.85  1.85  1.85  1.85  1.85  1.85  1.85  2.72
              from  1.78  1.78  1.78  1.78  1.78  1.78  1.78  2.62
              to    1.93  1.93  1.93  1.93  1.93  1.93  1.93  2.83
            strict  1.85  1.85  1.85  1.85  1.85  1.85  1.85  1.85
            device  1.04  1.04  1.04  1.04  1.04  1.04  1.04  1.53
            all, float32: fast_0 83.3%, fast_1 83.3%, fast_2 66.7% of 6 graphs, geometric mean of the right ones
            3.32
            graphs       count  right    AS        95%  strict  device
            all              6    83%  1.89  1.81-1.96    1.85    1.06
            float32          6    83%  1.89  1.81-1.96    1.85    1.06
            1 to 16 MiB      6    83%  1.89  1.81-1.96    1.85    1.06
            1 compile, 5 right
            progress: 5 faster, 1 loads
            best                  AS  speedup        95%  result
            gate/float16/large  9.00     9.00  8.65-9.36   right
            gate/float32/large  4.00     4.00  3.85-4.16   right
            gate/float16/small  3.01     3.01  2.89-3.13   right
            worst                 AS  speedup        95%   result
            norm/small          0.11        -          -  compile
            norm/large          1.50     1.50  1.44-1.56    right
            gate/float32/small  2.50     2.50  2.40-2.60    right
            slowest right       speedup     us  library calls
            norm/large             1.50  800.0              -
            gate/float32/small     2.50  480.0              -
            gate/float16/small     3.01  398.7              -
            gate/float32/large     4.00  300.0              -
            gate/float16/large     9.00  133.3              -
        "#]],
    );
}

#[test]
fn a_comparison_fits_a_narrow_and_a_wide_terminal() {
    let files = Files::new().with_documents("one.json", &first()).with_documents("two.json", &other());
    files.prints(
        "compare",
        &["one.json", "two.json"],
        60,
        &expect![[r#"
            5 graphs of 2 samples, cpu, policy open
            entrant    AS  strict  right  ratio        95%  verdict
            1        0.89    0.89    60%      -          -    first
            2        1.38    1.35    80%   1.55  1.47-1.64   better
            1 is fuse 0.1.0, one.json
            2 is blend 0.1.0, two.json

            2 against 1: AS 1.552 times as high [1.468, 1.641]; better
            on 3 graphs, worse on 1, undecided on 1
            rewrite against rewrite, without eager: on the device alone
            2 takes 0.893 times as long as 1 in the geometric mean of 2
            graphs that both have right; 1 takes at most 1.10 times as
            long as 2 on 1 of them
            each sample counting once: a ratio of 1.533
            right, and wrong with 1: 1
            graph               ratio             result
            gate/float32/large   3.46  accuracy to right
            wrong, and right with 1: 1
            graph               ratio            result
            norm/float32/small   0.14  right to compile
            changed, and unchanged with 1: 1
            graph               ratio              result
            norm/float32/large  15.00  unchanged to right
            right with both, at another speed: 1
            graph               ratio  result
            gate/float32/small   1.25   right

            graphs that not all entrants have: 1
              2 lacks 1: norm/broken

            graphs that were not measured for all: 1
              1 lacks 1: gate/float16/large
        "#]],
    );
    files.prints(
        "compare",
        &["two.json", "one.json"],
        100,
        &expect![[r#"
            5 graphs of 2 samples, cpu, policy open
            entrant          AS  strict  ES(0)  right  speed  ratio        95%  verdict
            1 blend 0.1.0  1.38    1.35   1.35    80%      -      -          -    first
            2 fuse 0.1.0   0.89    0.89   1.14    60%   0.89   0.64  0.61-0.68    worse
            1 is blend 0.1.0, two.json
            2 is fuse 0.1.0, one.json

            2 against 1: AS 0.644 times as high [0.609, 0.681]; better on 1 graph, worse on 3, undecided on 1
            rewrite against rewrite, without eager: on the device alone 2 takes 1.120 times as long as 1 in the
            geometric mean of 2 graphs that both have right; 1 takes at most 1.10 times as long as 2 on 2 of
            them
            each sample counting once: a ratio of 0.652
            right, and wrong with 1: 1
            graph       ratio        95%            result
            norm/small   7.23  6.84-7.64  compile to right
            wrong, and right with 1: 1
            graph               ratio        95%             result
            gate/float32/large   0.29  0.27-0.31  right to accuracy
            unchanged, and changed with 1: 1
            graph       ratio        95%              result
            norm/large  0.067  0.06-0.07  right to unchanged
            right with both, at another speed: 1
            graph               ratio        95%  result
            gate/float32/small   0.80  0.76-0.85   right

            graphs that not all entrants have: 1
              1 lacks 1: norm/broken

            graphs that were not measured for all: 1
              2 lacks 1: gate/float16/large
        "#]],
    );
}

#[test]
fn results_without_times_are_measured_again_before_they_are_compared() {
    let busy = |plugin| document(plugin, "gate", vec![unmeasured("float32/small", "the machine was busy")]);
    let files = Files::new().with_documents("busy.json", &[busy("fuse"), busy("blend")]);
    let says = ["for all 2 entrants: 2 results without times", "the machine was busy", "--resume --wait 5m"];
    files.run("compare", &["busy.json"], "60", &[]).expect_end(2, &says);
}

#[test]
fn summaries_and_comparisons_are_json_too() {
    let files = Files::new().with_documents("one.json", &first()).with_documents("two.json", &other());
    let json = |command: &str, names: &[&str]| -> Value {
        let run = files.run(command, names, "60", &["--json", "-"]);
        run.expect_end(0, &[]);
        let value = serde_json::from_str(&run.out);
        run.expect(value.is_ok(), "standard output is JSON");
        value.unwrap_or_default()
    };
    let report = json("report", &["one.json"]);
    assert_eq!(report["schema"], "passhost.report/1");
    assert_eq!(report["plugins"][0]["all"]["scored"], 6);
    let headroom = &report["plugins"][0]["headroom"];
    assert_eq!((&headroom["clock"], &headroom["graphs"][0]["library_calls"]), (&json!("wall"), &Value::Null));
    assert_eq!(headroom["graphs"][0]["place"]["variant"], "float32/small");
    let comparison = json("compare", &["one.json", "two.json"]);
    assert_eq!((&comparison["schema"], &comparison["graphs"]), (&json!("passhost.comparison/1"), &json!(5)));
    let against = &comparison["standings"][1]["against_first"];
    assert_eq!(against["turned_changed"][0]["place"]["variant"], "float32/large");
    assert_eq!((&against["turned_unchanged"], &against["turned_wrong"][0]["other"]), (&json!([]), &json!("compile")));
    for (texts, graphs) in [
        (&["--variant", "gate/float16/s"][..], 1),
        (&["--variant", "ate/float16/s"], 0),
        (&["--variant", "gate/float16/s", "--variant", "norm/"], 4),
        (&["--variant", "float16"], 2),
    ] {
        let narrow = files.run("report", &["one.json"], "60", &[texts, &["--json", "-"]].concat());
        let narrow: Value = serde_json::from_str(&narrow.out).unwrap_or_default();
        assert_eq!(narrow["plugins"][0]["all"]["graphs"].as_u64().unwrap_or(0), graphs, "{texts:?}");
    }
}

#[test]
fn the_published_file_has_two_fields_and_one_plugin() {
    let files = Files::new().with_documents("one.json", &first()).with_documents("two.json", &other());
    let path = files.path("aggregated_score.json").display().to_string();
    let options = ["--aggregated", &path, "--sample-id", "7"];
    files.run("report", &["one.json"], "60", &options).expect_end(0, &["AS"]);
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let written: Value = serde_json::from_str(&written).unwrap_or_default();
    assert_eq!(
        (&written["id"], written["score"].is_f64(), written.as_object().map(serde_json::Map::len)),
        (&json!(7), true, Some(2))
    );
    files.run("report", &["one.json", "two.json"], "60", &options).expect_end(2, &["one score", "2 plugins"]);
}

#[test]
fn files_that_are_no_results_are_named_with_a_way_out() {
    let whole = json!(first()).to_string();
    let files = Files::new()
        .with("empty.json", "")
        .with("text.json", "hello")
        .with("cut.json", &whole[..whole.len() / 2])
        .with("other.json", "{\"schema\": \"other/1\"}")
        .with("nothing.json", "[]")
        .with("damaged.json", "[{\"schema\": \"passhost.result/3\"}]")
        .with_documents("fine.json", &first());
    let cases: [(&str, &[&str]); 7] = [
        ("empty.json", &["it is empty", "passhost eval --json"]),
        ("text.json", &["it is no JSON", "passhost eval --json"]),
        ("cut.json", &["it ends in the middle", "passhost eval --json"]),
        ("other.json", &["its schema is `other/1`, expected `passhost.result/3`"]),
        ("nothing.json", &["a list of nothing"]),
        ("damaged.json", &["damaged", "missing field"]),
        ("missing.json", &["No such file"]),
    ];
    for (name, texts) in cases {
        for command in ["report", "compare"] {
            let run = files.run(command, &["fine.json", name], "100", &[]);
            run.expect_end(2, &[name]).expect_end(2, texts);
        }
    }
    files.run("report", &["fine.json"], "100", &["--group", "nobody"]).expect_end(2, &["--group"]);
    files.run("report", &[], "100", &[]).expect_end(2, &["FILES"]);
}

#[test]
fn results_that_were_not_made_alike_are_kept_apart_and_not_compared() {
    let strict = |document: Document| Document { policy: Policy::built_in("strict").unwrap_or_default(), ..document };
    let strict: Vec<Document> = other().into_iter().map(strict).collect();
    let files = Files::new().with_documents("one.json", &first()).with_documents("strict.json", &strict);
    let mixed = ["one.json", "strict.json"];
    files.run("report", &mixed, "100", &[]).expect_end(0, &["kept apart: policy `open` and `strict`"]);
    let refused = files.run("compare", &mixed, "100", &[]);
    refused.expect_end(2, &["not made alike: policy `open` and `strict`", "evaluate one of them again"]);
    files.run("compare", &["one.json"], "100", &[]).expect_end(2, &["1 entrant", "a comparison needs two"]);
}

#[test]
fn what_a_plugin_calls_itself_does_nothing_to_a_terminal() {
    let mut hostile = first();
    for document in &mut hostile {
        document.job.sample = "\u{1b}[31mred".into();
        document.job.plugin_info.iter_mut().for_each(|info| info.name = "\u{1b}]0;title\u{7}evil\nname".into());
    }
    let files = Files::new().with_documents("one.json", &hostile).with_documents("two.json", &other());
    for command in ["report", "compare"] {
        let run = files.run(command, &["one.json", "one.json", "two.json"], "100", &[]);
        run.expect(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "escapes reach the terminal");
    }
}

#[test]
fn a_speedup_that_somebody_wrote_into_a_document_is_not_shown() {
    for speedup in [0.0, 99.0] {
        let mut forged = first();
        forged[0].variants[0].timing.iter_mut().for_each(|timing| timing.speedup = speedup);
        let honest = Files::new().with_documents("one.json", &other()).with_documents("forged.json", &first());
        let forged = Files::new().with_documents("one.json", &other()).with_documents("forged.json", &forged);
        for (command, names) in
            [("report", &["forged.json"][..]), ("compare", &["one.json", "forged.json"]), ("score", &["forged.json"])]
        {
            let [honest, forged] = [&honest, &forged].map(|files| files.run(command, names, "400", &[]));
            let said = format!("gate: float32/small: timing.speedup: recorded {speedup}, its trials give 2.0000");
            forged.expect_end(0, &[&said]);
            let figures = |run: &Run| -> Vec<String> {
                run.out.lines().filter(|line| !line.contains("json")).map(str::to_owned).collect()
            };
            forged.expect(figures(&forged) == figures(&honest), "the same figures");
        }
    }
}

#[test]
fn an_evaluation_says_how_large_its_tensors_are() {
    let sample = sample_with("se-gate-add-relu", &["/float16/s0-1_"]);
    let run = Passhost::eval(&plugin("noop"), sample.path()).run();
    for variant in run.variants() {
        run.expect(variant["element_type"] == "float16", "the element type is written");
        run.expect(variant["bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 10), "the bytes are written");
    }
}

#[test]
fn where_the_time_went_is_in_the_summary() {
    let spent = |work: &[(Work, u64)]| {
        let mut spent = Spent::default();
        work.iter().for_each(|&(work, time)| spent.add(work, Duration::from_millis(time)));
        spent
    };
    let one = Variant { spent_us: spent(&[(Work::Draw, 300), (Work::TimePairs, 100)]), ..right("a", 2.0) };
    let other = Variant { spent_us: spent(&[(Work::Draw, 100), (Work::Compare, 300)]), ..right("b", 2.0) };
    let files = Files::new().with_documents("results.json", &[document("pass", "sample", vec![one, other])]);
    let run = files.run("report", &["results.json"], "60", &["--json", "-"]);
    run.expect_end(0, &[]);
    let summaries: serde_json::Value = serde_json::from_str(&run.out).unwrap_or_default();
    let expected = serde_json::json!({"draw": 400_000, "compare": 300_000, "time_pairs": 100_000});
    assert_eq!(summaries["plugins"][0]["spent_us"], expected);
}
