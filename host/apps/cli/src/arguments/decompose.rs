//! The command line of `passhost decompose`.

use super::SurveyArguments;
use clap::{Args, ValueEnum};
use passhost_corpus::decompose::Kind;
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  0  every model was cut
  2  usage error, or some model cannot be read; the samples from the others are written all the same
  3  trouble of the host or the device";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct DecomposeArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// An empty or new directory for the samples
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// What to cut the models into
    #[arg(long, value_enum, value_name = "KIND", value_delimiter = ',', default_values_t = [KindArgument::SoleOp, KindArgument::Typical, KindArgument::Fusible])]
    pub kind: Vec<KindArgument>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum KindArgument {
    /// Every op by itself
    SoleOp,
    /// Op sequences of 4 to 63 that occur more than once
    Typical,
    /// The longest stretches that fit one kernel behind at most one call of a library
    Fusible,
}

impl From<KindArgument> for Kind {
    fn from(kind: KindArgument) -> Kind {
        match kind {
            KindArgument::SoleOp => Kind::SoleOp,
            KindArgument::Typical => Kind::Typical,
            KindArgument::Fusible => Kind::Fusible,
        }
    }
}
