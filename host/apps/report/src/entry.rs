//! Documents sorted by who was evaluated, and the graphs in them.

use crate::conditions::Conditions;
use crate::names::short_names;
use passhost_result::document::{Document, Timing, Variant};
use passhost_result::verify::{Difference, Recomputed, recomputed};
use passhost_result::{is_among, recount};
use passhost_score::{FailureClass, Options, Repeats, VariantOutcome};
use serde::Serialize;

/// A document, and the file that it comes from. Its figures are those of its trials: here, and nowhere else, what a file says
/// of them is held against the trials that it records.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced {
    /// The file, as it was given.
    pub source: String,
    /// The document.
    pub document: Document,
    /// What the file says otherwise.
    differences: Vec<Difference>,
    /// What contradicts the rest of the file, and cannot be computed from it.
    left: Vec<Difference>,
}

impl Sourced {
    /// A document from a file.
    pub fn new(source: impl Into<String>, document: Document) -> Sourced {
        let Recomputed { document, differences, left } = recomputed(document);
        Sourced { source: source.into(), document, differences, left }
    }

    /// What the file says otherwise than its trials, and what contradicts itself in it.
    pub fn remark(&self) -> Option<String> {
        let computed = first_of(&self.differences, "its trials give", "what the trials give counts");
        let left = first_of(&self.left, "expected", "that cannot be computed from it: evaluate again");
        let said = [computed, left].into_iter().flatten().reduce(|one, other| format!("{one}. {other}"))?;
        let job = &self.document.job;
        Some(format!("{}: {} on {}: {said}", self.source, job.plugin, job.sample))
    }
}

fn first_of(differences: &[Difference], expected: &str, so: &str) -> Option<String> {
    let [first, others @ ..] = differences else { return None };
    let more = match others.len() {
        0 => String::new(),
        more => format!(" (and {more} more figures)"),
    };
    Some(format!("{}: recorded {}, {expected} {}{more}; {so}", first.item, first.recorded, first.found))
}

/// Who was evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entrant {
    /// What the plugin calls itself, with its version, else its path. Untrusted text.
    pub name: String,
    /// Of the plugin.
    pub plugin_sha256: String,
    /// Files that have results of it.
    pub sources: Vec<String>,
}

/// What makes two results those of different entrants, besides plugin and conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apart {
    /// Nothing.
    Plugins,
    /// The file.
    Files,
}

/// Which graphs count. The default takes all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphFilter {
    /// Those whose sample and path, with a slash in between, have one of these, as [`is_named`](passhost_result::is_named)
    /// says; all where there is none.
    pub variants: Vec<String>,
    /// Those of samples that a list of this name has.
    pub group: Option<String>,
}

impl GraphFilter {
    fn takes(&self, document: &Document, variant: &Variant) -> bool {
        let name = format!("{}/{}", document.job.sample, variant.name);
        is_among(&name, &self.variants) && self.group.as_ref().is_none_or(|group| document.job.groups.contains(group))
    }

    /// Whether a document without graphs counts, that of a sample which could not be opened.
    fn takes_lost(&self, document: &Document) -> bool {
        document.variants.is_empty() && self.variants.is_empty() && self.group.is_none()
    }
}

/// All results of one entrant.
#[derive(Debug, Clone, PartialEq)]
pub struct EntrantResults<'a> {
    /// Who.
    pub entrant: Entrant,
    /// What all its results have in common.
    pub conditions: Conditions,
    /// Samples that were evaluated more than once: the last result counts.
    pub repeated: usize,
    pub(crate) documents: Vec<&'a Document>,
    /// Of documents whose files say something else than their trials.
    pub(crate) recomputed: Vec<String>,
    pub(crate) items: Vec<GraphItem<'a>>,
    pub(crate) scoring: EntryScoring,
}

impl EntrantResults<'_> {
    /// Whether nothing is left of it.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The same as one of so many submissions of one author, of which the best is shown: they share the error of one.
    #[must_use]
    pub fn shared_by(mut self, submissions: u32) -> Self {
        self.scoring.submissions = submissions;
        self
    }
}

/// How outcomes become scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EntryScoring {
    pub options: Options,
    pub device_resolution: f64,
    /// That share the errors of intervals and verdicts.
    pub submissions: u32,
    /// Whether processes tell how sure a score is: not where it is against times of another number of them.
    pub has_intervals: bool,
}

/// A graph variant in a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GraphItem<'a> {
    pub document: &'a Document,
    pub variant: &'a Variant,
    /// Its path, with those folders alone that tell it from the other graphs of the document.
    pub short: String,
    /// `None` where the host is to blame that nothing is known.
    pub outcome: Option<VariantOutcome>,
    pub wall: Option<Repeats>,
    pub device: Option<Repeats>,
    /// The factor within which equal measurements of its host lie, by wall clock.
    pub resolution: f64,
}

impl<'a> GraphItem<'a> {
    /// Its times, unless the machine did something else meanwhile.
    pub fn measured(&self) -> Option<&'a Timing> {
        self.variant.timing.as_ref().filter(|timing| timing.trouble.is_none())
    }

    /// Whether it is right at t = -5.
    pub fn is_right(&self) -> bool {
        self.outcome.is_some() && self.variant.class.is_none()
    }

    /// Whether the sample failed: nothing a plugin returns could be right there.
    pub fn is_unwinnable(&self) -> bool {
        self.outcome.is_some() && self.variant.class == Some(FailureClass::Reference)
    }
}

/// The logarithm of the factor within which equal measurements of some graphs lie, by wall clock: the mean of those that were
/// compared, as their score is a geometric mean. `None` of none.
pub(crate) fn ln_resolution(items: &[&GraphItem<'_>]) -> Option<f64> {
    let compared = items.iter().filter(|item| item.wall.is_some());
    let logarithms: Vec<f64> = compared.map(|item| item.resolution.ln()).collect();
    (!logarithms.is_empty()).then(|| logarithms.iter().sum::<f64>() / logarithms.len() as f64)
}

/// What tells a sample from others: its hash, or its name where none of its files could be read.
pub(crate) fn sample_key(document: &Document) -> &str {
    let job = &document.job;
    if job.sample_sha256.is_empty() { &job.sample } else { &job.sample_sha256 }
}

/// Sorts documents by entrant, in the order in which entrants first occur. Of several results of one entrant on one sample
/// the last counts.
pub fn entries<'a>(documents: &'a [Sourced], apart: Apart, filter: &GraphFilter) -> Vec<EntrantResults<'a>> {
    let mut sorted: Vec<(Entrant, Conditions, Vec<&'a Sourced>)> = vec![];
    for sourced in documents {
        let Sourced { source, document, .. } = sourced;
        let conditions = Conditions::of(document);
        let same = |(entrant, other, _): &&mut (Entrant, Conditions, Vec<_>)| {
            entrant.plugin_sha256 == document.job.plugin_sha256
                && other.differences(&conditions).is_empty()
                && (apart == Apart::Plugins || entrant.sources.contains(source))
        };
        match sorted.iter_mut().find(same) {
            Some((entrant, known, documents)) => {
                documents.push(sourced);
                known.device = known.device.take().or(conditions.device);
                if !entrant.sources.contains(source) {
                    entrant.sources.push(source.clone());
                }
            }
            None => sorted.push((entrant(source, document), conditions, vec![sourced])),
        }
    }
    sorted.into_iter().map(|(entrant, conditions, documents)| entry(entrant, conditions, documents, filter)).collect()
}

/// Entries apart by how they launch, in the order in which each first occurs: captured ones are compared with captured ones.
pub fn by_launch(entries: Vec<EntrantResults<'_>>) -> Vec<Vec<EntrantResults<'_>>> {
    let mut groups: Vec<Vec<EntrantResults<'_>>> = vec![];
    for entry in entries {
        match groups.iter_mut().find(|group| group[0].conditions.launch == entry.conditions.launch) {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    groups
}

fn entrant(source: &str, document: &Document) -> Entrant {
    let job = &document.job;
    let name =
        job.plugin_info.as_ref().map_or_else(|| job.plugin.clone(), |info| format!("{} {}", info.name, info.version));
    let name = if document.is_tuned() { format!("{name}, tuned") } else { name };
    Entrant { name, plugin_sha256: job.plugin_sha256.clone(), sources: vec![source.to_owned()] }
}

/// How many submissions share the error of a document's intervals and verdict.
fn submissions(document: &Document) -> u32 {
    document.confidence.as_ref().map_or(1, |confidence| confidence.submissions)
}

fn entry<'a>(
    entrant: Entrant,
    conditions: Conditions,
    all: Vec<&'a Sourced>,
    filter: &GraphFilter,
) -> EntrantResults<'a> {
    let mut last: Vec<&Sourced> = vec![];
    for sourced in all.iter().rev() {
        if !last.iter().any(|later| sample_key(&later.document) == sample_key(&sourced.document)) {
            last.push(sourced);
        }
    }
    last.reverse();
    let repeated = all.len() - last.len();
    last.retain(|Sourced { document, .. }| {
        filter.takes_lost(document) || document.variants.iter().any(|variant| filter.takes(document, variant))
    });
    let recomputed = last.iter().filter_map(|sourced| sourced.remark()).collect();
    let documents: Vec<&Document> = last.into_iter().map(|sourced| &sourced.document).collect();
    let submissions = documents.iter().map(|document| submissions(document)).max().unwrap_or(1);
    let options = conditions.options;
    let mut scoring = EntryScoring { options, device_resolution: 1.0, submissions, has_intervals: true };
    let mut items = vec![];
    for &document in &documents {
        let recount = recount(document);
        scoring.device_resolution = scoring.device_resolution.max(recount.device_resolution);
        let names: Vec<&str> = document.variants.iter().map(|variant| variant.name.as_str()).collect();
        let counted = document.variants.iter().zip(short_names(&names)).zip(recount.variants);
        let taken = counted.filter(|((variant, _), _)| filter.takes(document, variant));
        items.extend(taken.map(|((variant, short), counted)| {
            let resolution = counted.speedups.as_ref().map_or(1.0, |speedups| speedups.resolution);
            let (wall, device) = counted.speedups.map(|speedups| (speedups.wall, speedups.device)).unzip();
            GraphItem { document, variant, short, outcome: counted.outcome, wall, device: device.flatten(), resolution }
        }));
    }
    EntrantResults { entrant, conditions, repeated, documents, recomputed, items, scoring }
}
