//! `passhost decompose LIST|DIR... --out DIR`

use super::samples::{SurveyArguments, conclude, crew, find, progress, survey};
use crate::arguments::one_of;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::{Terminal, Tone, table};
use clap::Args;
use clap::builder::TypedValueParser;
use passhost_child::Memo;
use passhost_corpus::decompose::Kind;
use passhost_corpus::pieces::{Collector, KindSummary, Selection, Summary, Tree, Typical, ops, typical};
use passhost_corpus::quantities::{count, time};
use passhost_corpus::survey::Each;
use passhost_corpus::worker::Worker;
use passhost_result::untrusted::one_line;
use passhost_sample::SampleText;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

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

const SCHEMA: &str = "passhost.decompose/1";

pub fn run(arguments: &DecomposeArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let kinds: BTreeSet<Kind> = arguments.kind.iter().copied().collect();
    let paths = find(&arguments.survey, CommandFiles::default())?;
    let mut tree = Tree::create(&arguments.out)?;
    let started = Instant::now();
    let memo = Arc::new(Memo::default());
    let crew = crew(&arguments.survey, &memo);
    let typical = if kinds.contains(&Kind::Typical) {
        // A model that cannot be read has none; the second look at it, for cutting, says why.
        typical(&survey(&paths, &crew, &Each(ops), &progress(&arguments.survey, &paths, terminal), |_| Ok(()))?)
    } else {
        Typical::new()
    };

    let collector = Collector::new(kinds, &paths, typical);
    let task = Each(|worker: &mut Worker, sample: &SampleText, index| collector.cut(worker, sample, index));
    let reports = survey(&paths, &crew, &task, &progress(&arguments.survey, &paths, terminal), |_| Ok(()))?;
    let (kinds, models) = collector.finish(arguments.variants as usize);
    let mut summary = Summary::of(&reports, started.elapsed());
    let selection = Selection { names: arguments.name.clone(), most: arguments.max.map(|most| most as usize) };
    for (kind, tasks) in kinds {
        let written = tree.write(kind, &tasks, &models, &selection)?;
        summary.add(kind, &tasks, written);
    }
    let lines = render(&summary, terminal);
    conclude(&arguments.survey, SCHEMA, summary, &reports, lines, terminal)
}

fn render(summary: &Summary, terminal: &Terminal) -> Vec<String> {
    let elapsed = time(Duration::from_millis(summary.milliseconds));
    let title = format!("{} models, {} calls, cut in {elapsed}", count(summary.models), count(summary.calls));
    let head = ["kind", "found", "calls each", "refused", "graphs", "tasks", "written"];
    let rows: Vec<Vec<String>> = summary.kinds.iter().map(|(category, kind)| row(category, kind)).collect();
    let mut lines = vec![terminal.paint(Tone::Strong, &title)];
    lines.extend(table(&head, &rows, terminal.width()));
    for (category, kind) in &summary.kinds {
        for (reason, times) in &kind.cuts.refused {
            let example = kind.cuts.examples.get(reason).map_or(String::new(), |example| one_line(example, 300));
            let text = format!("{category}: {} refused, {reason}; one of them: {example}", count(*times));
            lines.extend(terminal.painted(Tone::Dim, &text, "  "));
        }
    }
    lines
}

fn row(category: &str, kind: &KindSummary) -> Vec<String> {
    let each = kind.cuts.calls as f64 / kind.cuts.ranges.max(1) as f64;
    vec![
        category.to_owned(),
        count(kind.cuts.ranges),
        format!("{each:.1}"),
        count(kind.cuts.ranges - kind.cuts.pieces),
        count(kind.graphs),
        count(kind.tasks),
        count(kind.written.len() as u64),
    ]
}
