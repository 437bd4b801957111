//! `passhost compare FILES...`

use super::documents;
use crate::arguments::CompareArguments;
use crate::output::{print, write_json};
use crate::terminal::Terminal;
use crate::{Exit, Stop};
use passhost_report::{Apart, Comparison, compare, entries};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

pub fn run(arguments: &CompareArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let documents = documents::read_all(&arguments.files)?;
    let entries = entries(&documents, Apart::Files, &arguments.filter.filter());
    let comparison = compare(&entries).map_err(|error| Stop::new(Exit::Usage, error))?;
    if let Some(path) = &arguments.json {
        write_json(path, &Report { schema: "passhost.comparison/1", comparison: &comparison })?;
    }
    if arguments.json.as_deref() != Some(Path::new("-")) {
        print(crate::comparison::render(&comparison, terminal));
    }
    Ok(Exit::Success)
}
