//! `passhost decompose LIST|DIR... --out DIR`

use super::samples::progress::SurveyProgress;
use super::samples::{crew, find, print_if, report_unusable, survey, write_document};
use crate::arguments::DecomposeArguments;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::{Terminal, Tone, table};
use passhost_child::Memo;
use passhost_corpus::decompose::Kind;
use passhost_corpus::pieces::{Collector, KindSummary, Selection, Summary, Tree, Typical, ops, typical};
use passhost_corpus::quantities::{count, time};
use passhost_corpus::survey::Each;
use passhost_corpus::worker::Worker;
use passhost_result::untrusted::one_line;
use passhost_sample::SampleText;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SCHEMA: &str = "passhost.decompose/1";

pub fn run(arguments: &DecomposeArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let kinds: BTreeSet<Kind> = arguments.kind.iter().copied().collect();
    let paths = find(&arguments.survey, CommandFiles::default())?;
    let tree = Tree::create(&arguments.out)?;
    let started = Instant::now();
    let memo = Arc::new(Memo::default());
    let crew = crew(&arguments.survey, &memo);
    let mut progress = SurveyProgress::new(terminal, arguments.survey.quiet, paths.len());
    let typical = if kinds.contains(&Kind::Typical) {
        // A model that cannot be read has none; the second look at it, for cutting, says why.
        typical(&survey(&paths, &crew, &Each(ops), &mut progress, |_| Ok(()))?)
    } else {
        Typical::new()
    };

    let collector = Collector::new(kinds, &paths, typical);
    let mut progress = SurveyProgress::new(terminal, arguments.survey.quiet, paths.len());
    let task = Each(|worker: &mut Worker, sample: &SampleText, index| collector.cut(worker, sample, index));
    let reports = survey(&paths, &crew, &task, &mut progress, |_| Ok(()))?;
    let (kinds, models) = collector.finish(arguments.variants as usize);
    let mut summary = Summary::of(&reports, started.elapsed());
    let selection = Selection { names: arguments.name.clone(), most: arguments.max.map(|most| most as usize) };
    for (kind, tasks) in kinds {
        let written = tree.write(kind, &tasks, &models, &selection)?;
        summary.add(kind, &tasks, written);
    }
    let lines = render(&summary, terminal);
    print_if(write_document(&arguments.survey, SCHEMA, summary, &reports)?, lines);
    Ok(report_unusable(&reports, terminal))
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
            let refused = terminal.wrap(&text, "  ");
            lines.extend(refused.iter().map(|line| terminal.paint(Tone::Dim, line)));
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
