//! `passhost compare FILES...`

use super::documents;
use super::documents::FilterArguments;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::output::write_and_print;
use crate::table::is_unmeasured;
use crate::terminal::Terminal;
use clap::Args;
use passhost_page::number::counted;
use passhost_report::{
    Apart, ComparisonError, EntrantComparison, EntrantResults, Sourced, by_launch, compare, entries,
};
use passhost_result::untrusted::one_line;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Files of results; each plugin in each file is an entrant, the first is what the others are held against
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Writes the comparison here; `-` for standard output, then without tables
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub filter: FilterArguments,
}

#[derive(Serialize)]
struct ComparisonDocument<'a> {
    schema: &'static str,
    #[serde(flatten)]
    comparison: &'a EntrantComparison,
}

pub fn run(arguments: &CompareArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    CommandFiles::default().writes("--json", &arguments.json).reads("a result", &arguments.files).check()?;
    let documents = documents::read_all(&arguments.files)?;
    let mut groups = by_launch(entries(&documents, Apart::Files, &arguments.filter.filter()));
    // Who alone launches as it does has nobody to be compared with, unless nobody has.
    let several = groups.iter().any(|group| group.len() > 1);
    let (compared, alone): (Vec<_>, Vec<_>) = groups.drain(..).partition(|group| !several || group.len() > 1);
    let compared = compared.iter().map(|group| compare(group)).collect::<Result<Vec<_>, _>>();
    let compared = compared.map_err(|error| not_compared(error, &documents))?;
    let document = |comparison| ComparisonDocument { schema: "passhost.comparison/1", comparison };
    let mut lines = vec![];
    for comparison in &compared {
        lines.extend((!lines.is_empty()).then(String::new));
        lines.extend(crate::comparison::render(comparison, terminal));
    }
    lines.extend(alone.iter().flatten().map(left_out));
    match compared.as_slice() {
        [one] => write_and_print(&arguments.json, &document(one), lines)?,
        several => write_and_print(&arguments.json, &several.iter().map(document).collect::<Vec<_>>(), lines)?,
    }
    Ok(Exit::Success)
}

/// Why entrants are not compared. Where times are missing, other samples are no remedy.
fn not_compared(error: ComparisonError, documents: &[Sourced]) -> Stop {
    let variants = documents.iter().flat_map(|sourced| &sourced.document.variants).filter(|one| is_unmeasured(one));
    let reasons: Vec<&str> = variants.filter_map(|one| Some(one.failure.as_ref()?.message.as_str())).collect();
    match (&error, reasons.first()) {
        (ComparisonError::NothingShared(entrants), Some(first)) => Stop::usage(format!(
            "no graph was measured for all {entrants} entrants: {} without times ({}); `passhost bench` with --resume \
             --wait 5m measures what is missing",
            counted(reasons.len(), "result"),
            one_line(first, 300)
        )),
        _ => Stop::new(Exit::Usage, error),
    }
}

fn left_out(entry: &EntrantResults<'_>) -> String {
    let name = one_line(&entry.entrant.name, 60);
    format!("{name} is left out: it alone is of its kind ({})", entry.conditions.launch)
}
