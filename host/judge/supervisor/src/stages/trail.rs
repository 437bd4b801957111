//! What all stages say of a variant, and who is told of it meanwhile.

use crate::event::{EvaluationEvent, VariantPlace, WorkStage};
use crate::sample::Sample;
use crate::supervisor::Supervisor;
use passhost_child::device::Device;
use passhost_child::{DeviceGuard, LockEvent, Use};
use passhost_ir::Graph;
use passhost_result::document::{Variant, tensors_of};
use passhost_result::untrusted::one_line;
use passhost_result::verdict::empty;
use passhost_result::{Spent, Work};
use std::time::Instant;

/// A variant on its way, with what is said of it whatever it comes to.
#[derive(Clone)]
pub(crate) struct Trail<'s> {
    pub supervisor: &'s Supervisor,
    pub place: VariantPlace,
    /// As the sample has it.
    name: String,
    pub element_type: Option<String>,
    pub bytes: Option<u64>,
    notes: Vec<String>,
    pub spent: Spent,
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
        let (name, notes, spent) = (name.to_owned(), vec![], Spent::default());
        Trail { supervisor, place, name, element_type: None, bytes: None, notes, spent }
    }

    /// Of the same variant in another size, whose document says nothing of it.
    pub fn aside(&self) -> Trail<'s> {
        Trail { notes: vec![], spent: Spent::default(), ..self.clone() }
    }

    /// Says how large the tensors of the reference program are.
    pub fn describe(&mut self, program: &Graph) {
        let (element_type, bytes) = tensors_of(program);
        (self.element_type, self.bytes) = (element_type, Some(bytes));
    }

    /// The work on it has reached a step.
    pub fn reached(&self, step: WorkStage) {
        self.supervisor.tell(&EvaluationEvent::Reached { place: self.place.clone(), step });
    }

    /// A child died and a fresh one takes its place.
    pub fn replaced(&self, message: &str) {
        let message = one_line(message, 600);
        self.supervisor.tell(&EvaluationEvent::ChildReplaced { place: self.place.clone(), message });
    }

    /// Remarks for the document, which are told at once.
    pub fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        for note in notes {
            self.supervisor.tell(&EvaluationEvent::Note { place: self.place.clone(), text: one_line(&note, 600) });
            self.notes.push(note);
        }
    }

    /// The same, without those that there are.
    pub fn note_once(&mut self, mut notes: Vec<String>) {
        notes.retain(|note| !self.notes.contains(note));
        self.note(notes);
    }

    /// A remark for the document alone.
    pub fn write(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Does something, and accounts for its time.
    pub fn spend<T>(&mut self, work: Work, what: impl FnOnce(&mut Self) -> T) -> T {
        let started = Instant::now();
        let done = what(self);
        self.spent.add(work, started.elapsed());
        done
    }

    /// Waits until the device may be used so. Where noise is accepted, nobody waits.
    pub fn guard(&mut self, device: &Device, how: Use) -> Option<DeviceGuard> {
        let told = |event: LockEvent<'_>| {
            let place = self.place.clone();
            self.supervisor.tell(&match event {
                LockEvent::Waits(holder) => EvaluationEvent::Waiting { place, holder: holder.clone() },
                LockEvent::GoesOn(holder) => {
                    EvaluationEvent::Note { place, text: format!("{holder} for too long; not waited for it") }
                }
            });
        };
        let started = Instant::now();
        let accept_noise = self.supervisor.config.settings.accept_noise;
        let guard = (!accept_noise).then(|| DeviceGuard::take(&device.info().id, how, told));
        self.spent.add(Work::Wait, started.elapsed());
        guard
    }

    /// The entry of the document, which has nothing of the stages yet.
    pub fn entry(self) -> Variant {
        let Trail { name, element_type, bytes, notes, spent, .. } = self;
        Variant { element_type, bytes, notes, spent_us: spent, ..empty(&name) }
    }
}
