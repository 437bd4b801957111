//! `passhost report FILES...`

use super::documents;
use super::documents::FilterArguments;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::output::{print, write_json, write_text};
use crate::terminal::Terminal;
use clap::Args;
use passhost_page::report::{Origin, report as page};
use passhost_report::{Apart, EntrantResults, Summary, aggregated, contests, entries, summarise};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Files of results: those of `passhost bench`, documents, or lists of them
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Writes the summaries here, one a plugin; `-` for standard output, then without tables
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Writes a page for a browser here: verdict, curves, breakdowns, every graph; `-` for standard output, then without
    /// tables
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
    /// Writes AS over all graphs of the only plugin as PassNet's aggregated_score.json
    #[arg(long, value_name = "FILE")]
    pub aggregated: Option<PathBuf>,
    /// The `id` in that file
    #[arg(long, value_name = "N", default_value_t = 1, requires = "aggregated")]
    pub sample_id: i64,
    #[command(flatten)]
    pub filter: FilterArguments,
}

#[derive(Serialize)]
struct SummariesDocument<'a> {
    schema: &'static str,
    plugins: &'a [Summary],
}

pub fn run(arguments: &ReportArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let to_standard_output = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let files = CommandFiles::default().writes("--json", &arguments.json).writes("--html", &arguments.html);
    files.writes("--aggregated", &arguments.aggregated).reads("a result", &arguments.files).check()?;
    let documents = documents::read_all(&arguments.files)?;
    let filter = arguments.filter.filter();
    let mut entries = entries(&documents, Apart::Plugins, &filter);
    entries.retain(|entry| !entry.is_empty());
    if entries.is_empty() {
        return Err(Stop::usage("no graph in these files is one that --variant and --group ask for"));
    }
    let summaries: Vec<Summary> = entries.iter().map(summarise).collect();
    if let Some(path) = &arguments.aggregated {
        write_aggregated(path, &entries, &summaries, arguments.sample_id)?;
    }
    if let Some(path) = &arguments.json {
        write_json(path, &SummariesDocument { schema: "passhost.report/1", plugins: &summaries })?;
    }
    if let Some(path) = &arguments.html {
        write_page(path, &entries, &arguments.files)?;
    }
    if !to_standard_output(&arguments.json) && !to_standard_output(&arguments.html) {
        print(crate::summary::render(&summaries, terminal));
    }
    Ok(Exit::Success)
}

fn write_page(path: &Path, entries: &[EntrantResults<'_>], files: &[PathBuf]) -> Result<(), Stop> {
    let files = files.iter().map(|file| file.display().to_string()).collect();
    let origin = Origin { version: env!("CARGO_PKG_VERSION").to_owned(), files };
    write_text(path, &page(&contests(entries), &origin).render())
}

fn write_aggregated(path: &Path, entries: &[EntrantResults<'_>], summaries: &[Summary], id: i64) -> Result<(), Stop> {
    let [summary] = summaries else {
        let found = entries.len();
        return Err(Stop::usage(format!(
            "--aggregated writes one score, and these files have those of {found} plugins or conditions; give the files of one"
        )));
    };
    match aggregated(&summary.all, id) {
        Some(score) => write_json(path, &score),
        None => Err(Stop::usage("--aggregated has nothing to write: no graph in these files was measured")),
    }
}
