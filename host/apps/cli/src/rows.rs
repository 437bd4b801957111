//! One line for each variant that has ended: a view of many results while they come.

use crate::reason::reason;
use crate::table::{speedup_of, verdict_on};
use crate::terminal::{Terminal, Tone, cut, padded};
use passhost_result::document::{Document, Failure, Variant};
use passhost_result::untrusted::one_line;

/// Characters of a name on a terminal.
const LONGEST: usize = 36;

/// Characters of why a variant is wrong.
const REASON: usize = 160;

/// How wide the columns are.
pub struct VariantRows {
    terminal: Terminal,
    /// 0 where there is one plugin, whose name needs no column.
    plugin: usize,
    sample: usize,
}

impl VariantRows {
    /// For these plugins and samples.
    pub fn new<'n>(
        terminal: &Terminal,
        plugins: impl ExactSizeIterator<Item = &'n str>,
        samples: impl Iterator<Item = &'n str>,
    ) -> VariantRows {
        let longest = |width: usize, name: &str| width.max(name.chars().count()).min(LONGEST);
        let plugin = if plugins.len() > 1 { plugins.fold(0, longest) } else { 0 };
        VariantRows { terminal: *terminal, plugin, sample: samples.fold(0, longest) }
    }

    /// `NAME  SAMPLE  VARIANT  VERDICT  SPEEDUP`.
    pub fn variant(&self, plugin: &str, sample: &str, variant: &Variant) -> String {
        let verdict = verdict_on(variant);
        let speedup = speedup_of(variant);
        let name = self.column(&variant.name, LONGEST);
        let mut row = format!("{}{name}  {verdict:<14} {speedup:>6}", self.names(plugin, sample));
        let of_pass =
            || variant.failure.as_ref().filter(|failure| failure.stage == "rewrite").map(|one| one.message.clone());
        if let Some(reason) = reason(variant).or_else(of_pass) {
            row.push_str(&format!("  {}", one_line(&reason, REASON)));
        }
        if variant.failure.is_some() { self.terminal.paint(Tone::Warn, &row) } else { row }
    }

    /// A sample of which there are no variants.
    pub fn lost(&self, plugin: &str, sample: &str, failure: &Failure) -> String {
        let row = format!("{}{} ({}): {}", self.names(plugin, sample), failure.blame, failure.stage, failure.message);
        self.terminal.paint(Tone::Bad, &row)
    }

    /// All of a document.
    pub fn document(&self, document: &Document) -> Vec<String> {
        let (plugin, sample) = (&document.job.plugin, &document.job.sample);
        match &document.failure {
            Some(failure) if document.variants.is_empty() => vec![self.lost(plugin, sample, failure)],
            _ => document.variants.iter().map(|variant| self.variant(plugin, sample, variant)).collect(),
        }
    }

    fn names(&self, plugin: &str, sample: &str) -> String {
        let column =
            |name: &str, width: usize| if width == 0 { String::new() } else { self.column(name, width) + "  " };
        column(plugin, self.plugin) + &column(sample, self.sample)
    }

    /// A name, cut where it is for a terminal.
    fn column(&self, name: &str, width: usize) -> String {
        padded(&cut(&one_line(name, 400), self.terminal.name_width(width)), width)
    }
}
