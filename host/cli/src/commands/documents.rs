//! Result documents as files.

use anyhow::Context;
use passhost_protocol::open_regular;
use passhost_supervisor::document::{Document, SCHEMA};
use passhost_supervisor::untrusted::one_line;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// Bytes of a file that is read: a result document with a thousand variants has a few megabytes.
const FILE_LIMIT: u64 = 512 << 20;

/// A document, or a list of them.
pub fn read(path: &Path) -> anyhow::Result<Vec<Document>> {
    parse(read_json(path)?, "it is no result document")
}

/// What a file of JSON holds.
pub fn read_json(path: &Path) -> anyhow::Result<Value> {
    let mut text = String::new();
    let size = open_regular(path)?.take(FILE_LIMIT + 1).read_to_string(&mut text)?;
    anyhow::ensure!(size as u64 <= FILE_LIMIT, "it has more than the {FILE_LIMIT} bytes that are read");
    serde_json::from_str(&text).context("it is no JSON")
}

/// A document, or a list of them; `otherwise` says what is wrong with anything else.
pub fn parse(value: Value, otherwise: &str) -> anyhow::Result<Vec<Document>> {
    let values = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    let documents = values.into_iter().map(|value| {
        let schema = one_line(value.get("schema").and_then(Value::as_str).unwrap_or("none"), 60);
        anyhow::ensure!(schema == SCHEMA, "{otherwise}: its schema is `{schema}`, expected `{SCHEMA}`");
        serde_json::from_value(value).context("the result document is damaged")
    });
    documents.collect()
}
