//! The command lines of `passhost report` and `passhost compare`.

use clap::Args;
use passhost_report::GraphFilter;
use std::path::PathBuf;

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
    /// Also prints where the time of the evaluations went
    #[arg(long)]
    pub time: bool,
    /// The `id` in that file
    #[arg(long, value_name = "N", default_value_t = 1, requires = "aggregated")]
    pub sample_id: i64,
    #[command(flatten)]
    pub filter: FilterArguments,
}

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
