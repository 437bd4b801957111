//! Who hears of all that happens in a batch: keeps it, shows it, and stops where that is asked.

use super::given::{resume_command, short_name};
use crate::interrupt;
use crate::output::print;
use crate::progress::WorkProgress;
use crate::rows::VariantRows;
use crate::terminal::Terminal;
use passhost_result::document::{Blame, Failure};
use passhost_supervisor::batch::{
    BatchError, BatchEvent, BatchFile, BatchLine, Finished, Header, SampleLine, VariantLine,
};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a batch is kept and shown.
#[derive(Debug, Clone, Copy)]
pub struct Keeping<'a> {
    /// The file.
    pub out: &'a Path,
    /// Shows nothing until the end.
    pub quiet: bool,
    /// Stops at the first trouble of the host.
    pub fail_fast: bool,
}

/// Keeps and shows what comes.
pub struct Keeper<'a> {
    file: BatchFile,
    header: &'a Header,
    keeping: Keeping<'a>,
    terminal: &'a Terminal,
    progress: &'a WorkProgress,
    stop: &'a AtomicBool,
    rows: VariantRows,
    /// Names of the plugins by their hash.
    names: HashMap<&'a str, String>,
    /// Lines that are to come of each sample that was begun.
    left: HashMap<usize, usize>,
    /// Lines that were kept.
    kept: usize,
    is_stopping: bool,
}

impl<'a> Keeper<'a> {
    pub fn new(
        file: BatchFile,
        header: &'a Header,
        keeping: Keeping<'a>,
        terminal: &'a Terminal,
        progress: &'a WorkProgress,
        stop: &'a AtomicBool,
    ) -> Keeper<'a> {
        let names: HashMap<&str, String> =
            header.plugins.iter().map(|plugin| (plugin.sha256.as_str(), short_name(&plugin.path))).collect();
        let plugins: Vec<&str> = names.values().map(String::as_str).collect();
        let samples = header.samples.iter().filter_map(|sample| Path::new(&sample.path).file_name()?.to_str());
        let rows = VariantRows::new(terminal, plugins.into_iter(), samples);
        let (left, kept, is_stopping) = (HashMap::new(), 0, false);
        Keeper { file, header, keeping, terminal, progress, stop, rows, names, left, kept, is_stopping }
    }

    /// Says what is going to happen.
    pub fn introduce(&self, finished: &Finished) {
        let devices = self.header.devices.iter().map(crate::commands::device_line);
        self.show(devices.collect());
        for plugin in &self.header.plugins {
            if let Some(Failure { message, hint, .. }) = &plugin.failure {
                self.show(vec![format!("{} does not load: {message}; {hint}", short_name(&plugin.path))]);
            }
        }
        if !finished.is_empty() {
            let (variants, out) = (finished.variants(), self.keeping.out.display());
            self.show(vec![format!("{variants} results in {out} are kept, and not measured again")]);
        }
    }

    /// Something happened.
    pub fn hear(&mut self, heard: BatchEvent) -> Result<(), BatchError> {
        match heard {
            BatchEvent::Nothing => {}
            BatchEvent::Begun { sample, left } => drop(self.left.insert(sample, left)),
            BatchEvent::Line { sample, line } => self.keep(sample, &line)?,
            BatchEvent::Ended { sample } => self.progress.sample(self.left.remove(&sample).unwrap_or(0)),
        }
        self.progress.tick();
        self.heed_signals();
        Ok(())
    }

    fn keep(&mut self, sample: usize, line: &BatchLine) -> Result<(), BatchError> {
        self.file.add(line)?;
        if let BatchLine::Device(info) = line {
            self.progress.clear();
            self.show(vec![crate::commands::device_line(info)]);
            return Ok(());
        }
        self.kept += 1;
        if let Some(left) = self.left.get(&sample) {
            self.progress.part(*left);
        }
        let (row, failure) = match line {
            BatchLine::Variant(line) => (Some(self.row(line)), line.variant.failure.as_ref()),
            BatchLine::Sample(SampleLine { sample, failure }) => {
                (failure.as_ref().map(|failure| self.rows.lost("", &sample.name, failure)), failure.as_ref())
            }
            BatchLine::Device(_) => (None, None),
        };
        self.progress.clear();
        self.show(row.into_iter().collect());
        if self.keeping.fail_fast && failure.is_some_and(|failure| failure.blame == Blame::Host) {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn row(&self, line: &VariantLine) -> String {
        let name = self.names.get(line.plugin.as_str()).map_or("", String::as_str);
        self.rows.variant(name, &line.sample.name, &line.variant)
    }

    fn show(&self, lines: Vec<String>) {
        if !self.keeping.quiet {
            print(lines);
        }
    }

    /// The first signal lets what is being measured end; the second ends all at once.
    fn heed_signals(&mut self) {
        match interrupt::count() {
            0 => {}
            1 if self.is_stopping => {}
            1 => {
                self.is_stopping = true;
                self.stop.store(true, Ordering::Relaxed);
                self.progress.clear();
                self.terminal.complain("stopping once what is being measured has ended; again ends at once");
            }
            _ => {
                self.progress.clear();
                let (kept, out) = (self.kept, self.keeping.out.display());
                self.terminal
                    .complain(&format!("{kept} new results are kept in {out}; to go on: {}", resume_command()));
                std::process::exit(128 + i32::from(interrupt::last()));
            }
        }
    }
}
