//! The command line of `passhost decompose`.

use super::{SurveyArguments, one_of};
use clap::Args;
use clap::builder::TypedValueParser;
use passhost_corpus::decompose::Kind;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct DecomposeArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// An empty or new directory for the samples
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// What to cut the models into
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_values = ["sole-op", "typical", "fusible"], value_parser = kinds())]
    pub kind: Vec<Kind>,
    /// Samples of each kind, chosen so that many pairs of neighbouring ops occur, rare ones first; all if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max: Option<u32>,
    /// Variants of each sample: of all element types, and of those shapes that come first
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub variants: u32,
    /// Only samples whose name contains one of these
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    pub name: Vec<String>,
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    one_of([
        ("sole-op", "Every op by itself", Kind::SoleOp),
        ("typical", "Op sequences of 4 to 63 that occur more than once", Kind::Typical),
        ("fusible", "The longest stretches that fit one kernel behind at most one call of a library", Kind::Fusible),
    ])
}
