//! `passhost score FILE`

use super::documents;
use crate::arguments::ScoreOptions;
use crate::exit::{Exit, OrStop, Stop};
use crate::files::CommandFiles;
use crate::output::write_and_print;
use crate::terminal::Terminal;
use anyhow::Context;
use clap::Args;
use passhost_report::Sourced;
use passhost_result::untrusted::one_line;
use passhost_score::{Scores, VectorFile, score};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ScoreArguments {
    /// A result document, a list of them, a batch, or a file of score vectors
    pub file: PathBuf,
    /// Writes {"cases": [{"S": {...}, "ES": {...}, "AS": x}, ...]} here; to standard output without a FILE or for `-`
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub options: ScoreOptions,
}

#[derive(Serialize)]
struct Cases {
    cases: Vec<CaseScores>,
}

#[derive(Serialize)]
struct CaseScores {
    #[serde(rename = "S")]
    s: BTreeMap<String, f64>,
    #[serde(rename = "ES")]
    es: BTreeMap<String, f64>,
    #[serde(rename = "AS")]
    aggregate: f64,
}

pub fn run(arguments: &ScoreArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    CommandFiles::default().writes("--json", &arguments.json).reads("a result", [&arguments.file]).check()?;
    let remark = |remark: String| terminal.complain(&one_line(&remark, 400));
    let scores = compute(&arguments.file, arguments, remark)
        .with_context(|| format!("cannot score `{}`", arguments.file.display()))
        .or_stop(Exit::Usage)?;
    let case = |(_, Scores { s, es, aggregate_score, .. }): &(String, Scores)| CaseScores {
        s: by_name(s),
        es: by_name(es),
        aggregate: *aggregate_score,
    };
    write_and_print(&arguments.json, &Cases { cases: scores.iter().map(case).collect() }, lines(&scores))?;
    Ok(Exit::Success)
}

fn by_name(map: &BTreeMap<i8, f64>) -> BTreeMap<String, f64> {
    map.iter().map(|(t, value)| (t.to_string(), *value)).collect()
}

/// The scores of what a file holds: test vectors, or results, of which those with nothing to score are passed over if others
/// have something. `remark` hears what is said otherwise in results than their trials give.
fn compute(path: &Path, arguments: &ScoreArguments, remark: impl Fn(String)) -> anyhow::Result<Vec<(String, Scores)>> {
    let documents = if documents::is_batch(path)? || documents::is_signed(path)? {
        documents::read(path)?
    } else {
        let value = documents::read_json(path)?;
        if value.get("cases").is_some() {
            let file = serde_json::from_value(value).context("its `cases` are not in the vectors' form")?;
            return of_vectors(&file, arguments);
        }
        documents::parse(value, "it is neither a file with `cases` nor a result document")?
    };
    let documents = documents::sourced(path, documents);
    documents.iter().filter_map(Sourced::remark).for_each(remark);
    let is_empty = |sourced: &&Sourced| sourced.document.outcomes.is_empty();
    let all = documents.iter().all(|sourced| is_empty(&sourced));
    let counted = documents.iter().filter(|sourced| all || !is_empty(sourced));
    let scored = counted.map(|Sourced { document, .. }| {
        let scores = score(&document.outcomes, &arguments.options.over(document.options))
            .with_context(|| format!("the result for {}", document.job.sample))?;
        Ok((format!("{} on {}", document.job.plugin, document.job.sample), scores))
    });
    scored.collect()
}

fn of_vectors(file: &VectorFile, arguments: &ScoreArguments) -> anyhow::Result<Vec<(String, Scores)>> {
    let scored = file.cases.iter().enumerate().map(|(index, case)| {
        let options = arguments.options.over(case.options());
        let scores = case.outcomes().and_then(|outcomes| score(&outcomes, &options));
        Ok((format!("case {index}"), scores.with_context(|| format!("case {index}"))?))
    });
    scored.collect()
}

fn lines(scores: &[(String, Scores)]) -> Vec<String> {
    let mut lines = vec![];
    for (name, scores) in scores {
        lines.push(one_line(name, 200));
        for (title, map) in [("S ", &scores.s), ("ES", &scores.es)] {
            let cells: Vec<String> = map.iter().map(|(t, value)| format!("{t}: {value:.4}")).collect();
            for (index, chunk) in cells.chunks(8).enumerate() {
                let title = if index == 0 { title } else { "  " };
                lines.push(format!("  {title} {}", chunk.join("  ")));
            }
        }
        lines.push(format!("  AS {:.6}  AS strict {:.6}", scores.aggregate_score, scores.aggregate_score_strict));
    }
    lines
}
