//! One evaluation, from top to bottom: a variant is read and typed, a pass rewrites it, what came of that is verified,
//! measured and judged. Each stage is a type of [`stages`](crate::stages); this file says what happens where one stops.

use crate::budget::warning;
use crate::checker::{Checker, Seeds};
use crate::hidden::HiddenSearch;
use crate::sample::Sample;
use crate::stages::{Reference, RunPlan, Stopped, Trail, TypedVariant, VerifiedRewrite, read};
use passhost_child::device::Device;
use passhost_child::{LoadedPlugin, Use};
use passhost_ir::Graph;
use passhost_protocol::device::Draws;
use passhost_protocol::reader;
use passhost_result::document::{Failure, Variant};
use passhost_result::verdict::Judged;
use passhost_result::{NoteKind, Work};
use passhost_score::FailureClass;
use std::sync::Arc;

/// A variant that was read. No plugin has seen it.
#[derive(Clone)]
pub(crate) struct TypedReading<'s> {
    pub trail: Trail<'s>,
    pub typed: TypedVariant,
}

/// A variant that has been checked.
pub struct Checked<'s>(pub(crate) Result<CheckedItem<'s>, Box<Judged>>);

/// One that waits to be measured. The reference runs whatever the check found, so that a sample that is of no use is not
/// held against the plugin.
pub(crate) struct CheckedItem<'s> {
    trail: Trail<'s>,
    reference: Arc<reader::SampleVariant>,
    /// Whether its types are those of a run.
    is_observed: bool,
    end: Result<VerifiedRewrite, Stopped>,
    pub plan: RunPlan,
}

/// A variant whose types are others than inferred, as its run shows: it is checked again.
pub(crate) struct Retyped<'s> {
    reading: TypedReading<'s>,
    plan: RunPlan,
}

impl Checked<'_> {
    /// Measures it on these inputs.
    pub(crate) fn draw(&mut self, draws: Draws) {
        if let Ok(item) = &mut self.0 {
            (item.plan.draws, item.plan.is_shared) = (Some(draws), true);
        }
    }

    /// Why there is nothing to measure, as far as that is known without a device.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.0 {
            Ok(item) => item.end.as_ref().err().map(|stopped| &stopped.failure),
            Err(judged) => judged.variant.failure.as_ref(),
        }
    }

    /// The verified rewrite.
    pub fn graph(&self) -> Option<&Graph> {
        self.0.as_ref().ok()?.end.as_ref().ok().map(|verified| &verified.graph)
    }

    /// The reference program with its inputs, if it could be read.
    pub fn read(&self) -> Option<&reader::SampleVariant> {
        self.0.as_ref().ok().map(|item| &*item.reference)
    }
}

impl<'s> Checker<'s> {
    /// Checks what a plugin makes of variant `index` of a sample.
    ///
    /// # Panics
    ///
    /// If there is no such variant.
    pub fn check(&mut self, plugin: &mut LoadedPlugin, sample: &mut Sample, index: usize) -> Checked<'s> {
        let reading = self.read(sample, index);
        self.check_read(plugin, sample, index, reading)
    }

    /// Reads and types variant `index`, for as many plugins as there are. One that is of no use is judged.
    pub(crate) fn read(&mut self, sample: &mut Sample, index: usize) -> Result<TypedReading<'s>, Box<Judged>> {
        let mut trail = Trail::new(self.supervisor, sample, index);
        let variant = trail.spend(Work::Read, |trail| read(trail, &mut self.types, sample, index));
        let typed = variant.and_then(|variant| TypedVariant::new(variant, &mut trail));
        self.supervisor.keep_profile(&self.types);
        match typed {
            Ok(typed) => Ok(TypedReading { trail, typed }),
            Err(stopped) => Err(stopped.judged(trail).into()),
        }
    }

    /// Checks what a plugin makes of a variant, and of other sizes of it that it could not know.
    pub(crate) fn check_read(
        &mut self,
        plugin: &mut LoadedPlugin,
        sample: &mut Sample,
        index: usize,
        reading: Result<TypedReading<'s>, Box<Judged>>,
    ) -> Checked<'s> {
        let reading = match reading {
            Ok(reading) => reading,
            Err(judged) => return Checked(Err(judged)),
        };
        let Seeds { inputs, hidden, others, tuned } = self.recorded.get(index).cloned().unwrap_or_default();
        let draws = inputs.map(|seed| Draws { others, ..Draws::of(seed) });
        let plan = RunPlan { draws, tuned, ..RunPlan::default() };
        let mut item = self.item(plugin, reading, plan);
        if item.end.as_ref().is_ok_and(|verified| !verified.pass_miss) {
            let (trail, original) = (&item.trail, &item.reference.program);
            match (HiddenSearch { checker: self, plugin, sample, index, trail, original }).run(hidden) {
                Ok(hidden) => item.plan.hidden = hidden,
                Err(failure) => item.end = Err(Stopped::new(FailureClass::Runtime, failure)),
            }
            item.trail.note(NoteKind::HiddenSizes, item.plan.hidden.note.clone());
        }
        self.supervisor.keep_profile(&self.types);
        Checked(Ok(item))
    }

    fn item(
        &mut self,
        plugin: &mut LoadedPlugin,
        TypedReading { mut trail, typed }: TypedReading<'s>,
        plan: RunPlan,
    ) -> CheckedItem<'s> {
        let reference = Arc::clone(&typed.reference);
        let mut end = self.verified(plugin, typed, &mut trail);
        if let Ok(verified) = &mut end {
            trail.note_once(std::mem::take(&mut verified.notes));
        }
        CheckedItem { trail, reference, is_observed: false, end, plan }
    }

    /// What a pass makes of a program, if that may run.
    pub(crate) fn verified(
        &mut self,
        plugin: &mut LoadedPlugin,
        typed: TypedVariant,
        trail: &mut Trail<'s>,
    ) -> Result<VerifiedRewrite, Stopped> {
        let (types, device) = (&mut self.types, self.device);
        let rewritten = trail.spend(Work::Rewrite, |trail| typed.rewritten(trail, plugin, types, device))?;
        let verified = trail.spend(Work::Verify, |trail| rewritten.verified(trail, types, &device))?;
        if let Some(ahead) = self.ahead.as_mut().filter(|_| !verified.pass_miss) {
            let tune = self.supervisor.config.settings.tune;
            trail.spend(Work::CompileAhead, |_| ahead.compile(types, &verified.graph, tune));
        }
        Ok(verified)
    }

    /// Measures and judges a variant that was checked. One that its run shows to be of other types is another item, with
    /// those types, and is measured after it was checked as such.
    pub(crate) fn judge(&mut self, plugin: &mut LoadedPlugin, device: &mut Device, checked: Checked<'s>) -> Judged {
        let measured = match checked.0 {
            Ok(item) => item.measure(device),
            Err(judged) => return *judged,
        };
        match measured {
            Ok(judged) => judged,
            Err(retyped) => {
                let Retyped { reading, plan } = *retyped;
                let item = CheckedItem { is_observed: true, ..self.item(plugin, reading, plan) };
                self.judge(plugin, device, Checked(Ok(item)))
            }
        }
    }
}

impl<'s> CheckedItem<'s> {
    /// Runs the reference on the device, then a rewrite that may run, and judges what comes of it.
    fn measure(self, device: &mut Device) -> Result<Judged, Box<Retyped<'s>>> {
        let CheckedItem { mut trail, reference, is_observed, end, mut plan } = self;
        let guard = trail.guard(device, Use::Shared);
        let mut session = device.session();
        let loaded = Reference::load(&trail, &mut session, reference);
        trail.entry.spent_us.join(&session.end());
        let measured = match loaded {
            Err(failure) => Err(Stopped::new(FailureClass::Reference, failure)),
            Ok(reference) => {
                if !is_observed {
                    trail.note(NoteKind::Budget, warning(reference.loading, &trail.supervisor.config.settings));
                    if let Some(typed) = TypedVariant::observed(&reference.read, &reference.loaded.types, &mut trail) {
                        // Who makes another rewrite does so before its inputs are drawn.
                        plan.draws = plan.draws.filter(|_| !plan.is_shared);
                        trail.entry = Variant { rewrite: None, usage: None, excerpt: vec![], ..trail.entry };
                        return Err(Retyped { reading: TypedReading { trail, typed }, plan }.into());
                    }
                }
                end.and_then(|verified| verified.measured(&mut trail, device, &reference, plan, guard))
            }
        };
        Ok(match measured {
            Ok(measured) => measured.judged(trail),
            Err(stopped) => stopped.judged(trail),
        })
    }
}
