//! What is told of the samples of a batch while they are measured.

use super::line::{BatchLine, SampleLine, SampleName, VariantLine};
use super::work::{BatchEvent, BatchWork, OpenedForBatch, SampleQueue, VariantTask, open};
use crate::supervisor::Supervisor;
use passhost_result::SandboxProfile;
use passhost_result::document::ChildProfiles;
use passhost_result::verdict::Judged;
use std::sync::mpsc::Sender;

/// Tells whoever hears of a batch what one worker does.
pub(crate) struct Reporter<'a> {
    pub work: &'a BatchWork<'a>,
    pub events: Sender<BatchEvent>,
}

/// A sample whose variants are being measured.
pub(crate) struct MeasuredSample {
    /// Position in the header.
    pub index: usize,
    pub name: SampleName,
    of: usize,
    /// What kept its reader in.
    pub reader: Option<SandboxProfile>,
    /// Names of its variants.
    pub variants: Vec<String>,
}

impl MeasuredSample {
    pub fn new(index: usize, opened: &OpenedForBatch) -> MeasuredSample {
        let OpenedForBatch { sample, name, of, .. } = opened;
        let (reader, variants) = (sample.profile(), sample.variants().to_vec());
        MeasuredSample { index, name: name.clone(), of: *of, reader, variants }
    }
}

impl Reporter<'_> {
    pub fn begun<'t>(&self, sample: usize, tasks: impl IntoIterator<Item = &'t VariantTask>) {
        self.tell(BatchEvent::Begun { sample, left: tasks.into_iter().map(|task| task.plugins.len()).sum() });
    }

    /// What became of the variant at a position under a plugin, on a device if it got there.
    pub fn variant(
        &self,
        sample: &MeasuredSample,
        (position, plugin): (usize, usize),
        device: Option<usize>,
        confinement: ChildProfiles,
        Judged { variant, outcome, .. }: Judged,
    ) {
        let plugin = self.work.header.plugins[plugin].sha256.clone();
        let (name, of) = (sample.name.clone(), sample.of);
        let line = VariantLine { plugin, sample: name, position, of, device, confinement, outcome, variant };
        self.tell(BatchEvent::Line { sample: sample.index, line: BatchLine::Variant(Box::new(line)) });
    }

    /// A sample of which there are no variants, which the file may say already.
    pub fn no_variants(&self, sample: usize, line: SampleLine) {
        if !self.work.finished.has_sample(&line) {
            self.tell(BatchEvent::Line { sample, line: BatchLine::Sample(line) });
        }
    }

    /// Nothing more comes of a sample, unless it was left in the middle.
    pub fn ended(&self, sample: usize) {
        if !self.work.is_stopped() {
            self.tell(BatchEvent::Ended { sample });
        }
    }

    /// Opens the samples that are left for a device, one after the other, and has something done with each variant that is
    /// left of them.
    pub fn each_variant(
        &self,
        supervisor: &Supervisor,
        queue: &SampleQueue<'_>,
        device: usize,
        mut work: impl FnMut(usize, &mut OpenedForBatch, VariantTask),
    ) {
        while let Some(index) = queue.next(device) {
            match open(supervisor, self.work, &self.work.header.samples[index]) {
                Ok(mut opened) => {
                    let tasks = std::mem::take(&mut opened.tasks);
                    self.begun(index, &tasks);
                    let tasks = tasks.into_iter().take_while(|_| !self.work.is_stopped());
                    tasks.for_each(|task| work(index, &mut opened, task));
                }
                Err(line) => self.no_variants(index, *line),
            }
            self.ended(index);
        }
    }

    pub fn tell(&self, event: BatchEvent) {
        // Who no longer hears has ended the batch.
        let _ = self.events.send(event);
    }
}
