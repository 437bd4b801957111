//! Result documents as files.

use super::agent::scores::{self, WrittenScores};
use crate::exit::{Exit, OrStop, Stop};
use crate::meant;
use crate::suggest::did_you_mean;
use anyhow::Context;
use clap::Args;
use passhost_protocol::open_regular;
use passhost_report::GraphFilter;
use passhost_report::Sourced;
use passhost_result::document::{Document, SCHEMA};
use passhost_result::untrusted::one_line;
use passhost_result::{PassInfo, is_read};
use passhost_sign::{LineError, Signed};
use passhost_supervisor::batch;
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct FilterArguments {
    /// Only graphs whose sample and path, `SAMPLE/PATH`, have this: a part of a folder's name, or folders as in
    /// float16/s0-1, the last by its beginning. May be given several times
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// Only graphs of samples that were named by a list of this name
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
}

impl FilterArguments {
    /// Which graphs count.
    pub fn filter(&self) -> GraphFilter {
        GraphFilter { variants: self.variants.clone(), group: self.group.clone() }
    }
}

/// Bytes of a file that is read: a result document with a thousand variants has a few megabytes.
const FILE_LIMIT: u64 = 512 << 20;

/// Files of a directory that are named.
const RESULTS: usize = 3;

const EMPTY: &str = "it is empty; `passhost eval --json FILE` writes a result";

/// The documents of several files, each with the file that it comes from, and with figures that follow from its trials.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Sourced>, Stop> {
    let mut all = vec![];
    for path in paths {
        let documents = read_any(path).with_context(|| format!("cannot read `{}`", path.display()));
        all.extend(documents.or_stop(Exit::Usage)?);
    }
    Ok(all)
}

/// Those of a file of results, or of the scores of `passhost agent --json`.
fn read_any(path: &Path) -> anyhow::Result<Vec<Sourced>> {
    if is_signed(path)? || is_batch(path)? {
        return Ok(sourced(path, read(path)?));
    }
    let value = read_json(path)?;
    match value.get("schema").and_then(Value::as_str) {
        Some(scores::SCHEMA) => of_agent(path, value),
        _ => Ok(sourced(path, parse(value, "it is no result document")?)),
    }
}

/// The documents of a file, with figures that follow from their trials.
pub fn sourced(path: &Path, documents: Vec<Document>) -> Vec<Sourced> {
    let source = path.display().to_string();
    documents.into_iter().map(|document| Sourced::new(source.clone(), document)).collect()
}

/// The documents behind the best attempts of a model, as those of one entrant: its passes are another on each sample, and each
/// was the best of so many, which share the error of one.
fn of_agent(path: &Path, value: Value) -> anyhow::Result<Vec<Sourced>> {
    let WrittenScores { model, tasks, documents } = serde_json::from_value(value).context("the scores are damaged")?;
    anyhow::ensure!(
        !documents.is_empty(),
        "nothing was evaluated in this run; `passhost agent --resume` goes on with it"
    );
    let mut documents = sourced(path, parse(Value::Array(documents), "a result in it is none")?);
    let attempts = tasks.iter().map(|task| task.attempts).max().unwrap_or(1);
    let passes: String = documents.iter().map(|sourced| sourced.document.job.plugin_sha256.as_str()).collect();
    let (name, version) = (format!("agent {model}"), format!("best of {attempts}"));
    let sha256 = passhost_agent_tools::sha256(format!("{name}\n{passes}").as_bytes());
    for Sourced { document, .. } in &mut documents {
        let info = PassInfo { name: name.clone(), version: version.clone(), ..PassInfo::default() };
        document.job.plugin_info = Some(info);
        document.job.plugin_sha256.clone_from(&sha256);
        if let Some(confidence) = &mut document.confidence {
            confidence.submissions = attempts;
        }
    }
    Ok(documents)
}

/// The documents of a file: one, a list of them, those of a batch, or signed ones, whoever signed them.
pub fn read(path: &Path) -> anyhow::Result<Vec<Document>> {
    if is_signed(path)? {
        let signed = signed_lines(path)?.into_iter().zip(1..);
        return signed
            .map(|(signed, line)| Ok(signed.with_context(|| format!("line {line}"))?.statement.document))
            .collect();
    }
    if is_batch(path)? {
        let documents = batch::read(path)?.documents;
        anyhow::ensure!(
            !documents.is_empty(),
            "no result is in it yet; `passhost bench` with --resume goes on with it"
        );
        return Ok(documents);
    }
    parse(read_json(path)?, "it is no result document")
}

/// Whether a file is one that `passhost bench` writes: its first line, of many, begins with the name of its form.
pub fn is_batch(path: &Path) -> anyhow::Result<bool> {
    begins_with(path, "{\"schema\":\"passhost.batch/")
}

/// Whether a file is one of signed results, each on a line that begins like this.
pub fn is_signed(path: &Path) -> anyhow::Result<bool> {
    begins_with(path, passhost_sign::BEGINNING)
}

/// A file of results. Of a directory, those in it are named.
fn open(path: &Path) -> anyhow::Result<File> {
    if let Some(near) = meant::near(path).filter(|near| !near.is_empty()) {
        anyhow::bail!("there is no such file; {}", did_you_mean(&near, ""));
    }
    if path.is_dir() {
        let is_result = |path: &Path| path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl");
        let entries = std::fs::read_dir(path)?.flatten().map(|entry| entry.path());
        let mut results: Vec<String> =
            entries.filter(|path| is_result(path)).map(|path| path.display().to_string()).collect();
        results.sort();
        results.truncate(RESULTS);
        let hint = did_you_mean(&results, "`passhost bench --out FILE` and `passhost eval --json FILE` write some");
        anyhow::bail!("it is a directory, expected files of results; {hint}");
    }
    Ok(open_regular(path)?)
}

fn begins_with(path: &Path, beginning: &str) -> anyhow::Result<bool> {
    let mut start = Vec::new();
    open(path)?.take(64).read_to_end(&mut start)?;
    Ok(start.starts_with(beginning.as_bytes()))
}

/// The results of a signed file, or why a line is none, each for itself.
pub fn signed_lines(path: &Path) -> anyhow::Result<Vec<Result<Signed, LineError>>> {
    let file = open(path)?;
    let bytes = file.metadata()?.len();
    anyhow::ensure!(bytes > 0, EMPTY);
    anyhow::ensure!(bytes <= FILE_LIMIT, "it has more than the {FILE_LIMIT} bytes that are read");
    Ok(passhost_sign::read_all(file.take(FILE_LIMIT), None)?)
}

/// What a file of JSON holds.
pub fn read_json(path: &Path) -> anyhow::Result<Value> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|error| {
        let why = if error.is_eof() { "it ends in the middle: whoever wrote it was stopped" } else { "it is no JSON" };
        anyhow::anyhow!("{why} ({error}); `passhost eval --json FILE` writes a result")
    })
}

fn read_text(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let size = open(path)?.take(FILE_LIMIT + 1).read_to_string(&mut text)?;
    anyhow::ensure!(size as u64 <= FILE_LIMIT, "it has more than the {FILE_LIMIT} bytes that are read");
    anyhow::ensure!(!text.trim().is_empty(), EMPTY);
    Ok(text)
}

/// A document, or a list of them; `otherwise` says what is wrong with anything else.
pub fn parse(value: Value, otherwise: &str) -> anyhow::Result<Vec<Document>> {
    let values = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    anyhow::ensure!(!values.is_empty(), "{otherwise}: it is a list of nothing");
    let documents = values.into_iter().map(|value| {
        let schema = one_line(value.get("schema").and_then(Value::as_str).unwrap_or("none"), 60);
        anyhow::ensure!(is_read(&schema), "{otherwise}: its schema is `{schema}`, expected `{SCHEMA}`");
        serde_json::from_value(value).context("the result document is damaged")
    });
    documents.collect()
}
