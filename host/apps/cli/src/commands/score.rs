//! `passhost score FILE`

use super::documents;
use crate::arguments::ScoreArguments;
use crate::exit::{Exit, Stop};
use crate::files::Files;
use crate::output::{print, write_json};
use crate::terminal::Terminal;
use anyhow::Context;
use passhost_report::Sourced;
use passhost_result::untrusted::one_line;
use passhost_score::{Options, Scores, VectorFile, score};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

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
    Files::default().writes("--json", &arguments.json).reads("a result", [&arguments.file]).check()?;
    let scores = read(&arguments.file)
        .inspect(|source| source.remarks().for_each(|remark| terminal.complain(&one_line(&remark, 400))))
        .and_then(|source| compute(source, arguments))
        .with_context(|| format!("cannot score `{}`", arguments.file.display()))
        .map_err(|error| Stop { exit: Exit::Usage, error })?;
    if let Some(path) = &arguments.json {
        let cases = scores
            .iter()
            .map(|(_, scores)| CaseScores {
                s: by_name(&scores.s),
                es: by_name(&scores.es),
                aggregate: scores.aggregate_score,
            })
            .collect();
        write_json(path, &Cases { cases })?;
        if path == Path::new("-") {
            return Ok(Exit::Success);
        }
    }
    print(lines(&scores));
    Ok(Exit::Success)
}

fn by_name(map: &BTreeMap<i8, f64>) -> BTreeMap<String, f64> {
    map.iter().map(|(t, value)| (t.to_string(), *value)).collect()
}

/// What a file held.
enum ScoreFile {
    Vectors(VectorFile),
    Documents(Vec<Sourced>),
}

impl ScoreFile {
    /// What is said otherwise in the file than its trials give.
    fn remarks(&self) -> impl Iterator<Item = String> {
        let documents = match self {
            ScoreFile::Vectors(_) => &[][..],
            ScoreFile::Documents(documents) => documents,
        };
        documents.iter().filter_map(Sourced::remark)
    }
}

fn read(path: &Path) -> anyhow::Result<ScoreFile> {
    if documents::is_batch(path)? || documents::is_signed(path)? {
        return Ok(ScoreFile::Documents(documents::sourced(path, documents::read(path)?)));
    }
    let value = documents::read_json(path)?;
    if value.get("cases").is_some() {
        return Ok(ScoreFile::Vectors(
            serde_json::from_value(value).context("its `cases` are not in the vectors' form")?,
        ));
    }
    let documents = documents::parse(value, "it is neither a file with `cases` nor a result document")?;
    Ok(ScoreFile::Documents(documents::sourced(path, documents)))
}

fn compute(source: ScoreFile, arguments: &ScoreArguments) -> anyhow::Result<Vec<(String, Scores)>> {
    match source {
        ScoreFile::Vectors(file) => {
            let scored = file.cases.iter().enumerate().map(|(index, case)| {
                let options = arguments.options.over(case.options()?);
                let scores = case.outcomes().and_then(|outcomes| score(&outcomes, &options));
                Ok((format!("case {index}"), scores.with_context(|| format!("case {index}"))?))
            });
            scored.collect()
        }
        ScoreFile::Documents(documents) => {
            // Among others, one that has nothing to score is passed over.
            let is_empty = |sourced: &Sourced| sourced.document.outcomes.is_empty();
            let all = documents.iter().all(is_empty);
            let counted = documents.iter().filter(|sourced| all || !is_empty(sourced));
            let scored = counted.map(|Sourced { document, .. }| {
                let base: Options = document.options;
                let scores = score(&document.outcomes, &arguments.options.over(base))
                    .with_context(|| format!("the result for {}", document.job.sample))?;
                Ok((format!("{} on {}", document.job.plugin, document.job.sample), scores))
            });
            scored.collect()
        }
    }
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
