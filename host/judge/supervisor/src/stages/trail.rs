//! A variant on its way: its entry in the document, which each stage adds to, and who is told of it meanwhile.

use crate::event::{EvaluationEvent, VariantPlace, WorkStage};
use crate::sample::Sample;
use crate::supervisor::Supervisor;
use passhost_child::device::Device;
use passhost_child::{DeviceGuard, Holder, Use};
use passhost_ir::Graph;
use passhost_result::document::{Variant, tensors_of};
use passhost_result::untrusted::one_line;
use passhost_result::verdict::empty;
use passhost_result::{NoteKind, Work};
use std::time::Instant;

/// A variant on its way.
#[derive(Clone)]
pub(crate) struct Trail<'s> {
    pub supervisor: &'s Supervisor,
    pub place: VariantPlace,
    /// Its entry in the document, as far as it came.
    pub entry: Variant,
}

impl<'s> Trail<'s> {
    /// Of variant `index` of a sample.
    pub fn new(supervisor: &'s Supervisor, sample: &Sample, index: usize) -> Trail<'s> {
        let (name, sample_name, count) =
            (&sample.variants()[index], one_line(sample.name(), 80), sample.variants().len());
        let place = VariantPlace { sample: sample_name, variant: one_line(name, 60), position: index, count };
        Trail::at(supervisor, place, name)
    }

    /// At a place, of the variant that the sample calls so.
    pub fn at(supervisor: &'s Supervisor, place: VariantPlace, name: &str) -> Trail<'s> {
        Trail { supervisor, place, entry: empty(name) }
    }

    /// Of the same variant in another size, whose document says nothing of it.
    pub fn aside(&self) -> Trail<'s> {
        Trail::at(self.supervisor, self.place.clone(), &self.entry.name)
    }

    /// Says how large the tensors of the reference program are.
    pub fn describe(&mut self, program: &Graph) {
        let (element_type, bytes) = tensors_of(program);
        (self.entry.element_type, self.entry.bytes) = (element_type, Some(bytes));
    }

    /// The work on it has reached a step.
    pub fn reached(&self, step: WorkStage) {
        self.supervisor.tell(&EvaluationEvent { place: self.place.clone(), step });
    }

    /// Remarks of one kind for the document.
    pub fn note(&mut self, kind: NoteKind, texts: impl IntoIterator<Item = String>) {
        self.entry.notes.extend(texts.into_iter().map(|text| kind.note(text)));
    }

    /// Remarks that are written already, without those that there are.
    pub fn note_once(&mut self, mut notes: Vec<String>) {
        notes.retain(|note| !self.entry.notes.contains(note));
        self.entry.notes.extend(notes);
    }

    /// Does something, and accounts for its time.
    pub fn spend<T>(&mut self, work: Work, what: impl FnOnce(&mut Self) -> T) -> T {
        let started = Instant::now();
        let done = what(self);
        self.entry.spent_us.add(work, started.elapsed());
        done
    }

    /// Waits until the device may be used so. Where noise is accepted, nobody waits.
    pub fn guard(&mut self, device: &Device, how: Use) -> Option<DeviceGuard> {
        let told = |holder: &Holder| self.reached(WorkStage::Waiting(holder.clone()));
        let started = Instant::now();
        let accept_noise = self.supervisor.config.settings.accept_noise;
        let guard = (!accept_noise).then(|| DeviceGuard::take(&device.info().id, how, told));
        self.entry.spent_us.add(Work::Wait, started.elapsed());
        guard
    }
}
