//! The command lines of `passhost report` and `passhost compare`.

use clap::Args;
use passhost_report::Filter;
use std::path::PathBuf;

const REPORT_EXIT_CODES: &str = "\
Exit codes:
  0  the summaries were printed, whatever they say
  2  a file cannot be read as results, or holds nothing that was asked for";

const COMPARE_EXIT_CODES: &str = "\
Exit codes:
  0  the comparison was printed, whatever it says
  2  a file cannot be read as results, or its entrants cannot be compared";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXIT_CODES)]
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
#[command(after_help = COMPARE_EXIT_CODES)]
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
    pub fn filter(&self) -> Filter {
        Filter { variants: self.variants.clone(), group: self.group.clone() }
    }
}
