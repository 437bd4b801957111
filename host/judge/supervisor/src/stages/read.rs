//! A variant is read and typed. Nothing of this depends on a plugin.

use super::{Stopped, Trail, without_types};
use crate::account::Account;
use crate::event::WorkStage;
use crate::sample::{ReadError, Sample};
use passhost_child::{DOCTOR, TypesClient};
use passhost_ir::{OpTable, TensorType, Unscorable, returns_views_alone, varying};
use passhost_protocol::reader::SampleVariant;
use passhost_result::document::{Blame, Failure, failure};
use passhost_result::{InputMode, NoteKind};
use passhost_score::FailureClass;
use std::sync::Arc;

/// A variant whose outputs depend on its inputs, with the types that were inferred or observed.
#[derive(Clone)]
pub(crate) struct TypedVariant {
    /// The program that rewrites are held against, with its inputs.
    pub reference: Arc<SampleVariant>,
}

/// Reads variant `index` of a sample.
pub(crate) fn read(
    trail: &mut Trail<'_>,
    types: &mut TypesClient,
    sample: &mut Sample,
    index: usize,
) -> Result<SampleVariant, Stopped> {
    trail.reached(WorkStage::Reading);
    let (inputs, limit) = (trail.supervisor.config.inputs, trail.supervisor.reading_limit());
    let mut account = Account::new(limit);
    let mut infer = account.pays(types);
    let read = sample.read(index, inputs, &mut infer, limit);
    if let Some(trouble) = infer.end() {
        return Err(unusable(without_types("sample", trouble)));
    }
    let variant = read.map_err(|error| {
        let (blame, hint) = match &error {
            ReadError::Sample(_) => (Blame::Sample, "`passhost show SAMPLE` reads it alone"),
            ReadError::Lost(_) => (Blame::Sample, "leave this sample out, and report it"),
            ReadError::Reader(_) => (Blame::Host, DOCTOR),
            ReadError::Changed => (Blame::Sample, "leave its files alone meanwhile"),
        };
        let twice = if matches!(error, ReadError::Lost(_)) { ", twice, while reading the sample" } else { "" };
        unusable(failure(blame, "sample", format!("{error}{twice}"), hint))
    })?;
    trail.entry.notes.extend(variant.notes.iter().cloned());
    Ok(variant)
}

impl TypedVariant {
    /// Leaves out outputs that are the same in every draw, and refuses a program that leaves a pass nothing to do.
    pub fn new(mut variant: SampleVariant, trail: &mut Trail<'_>) -> Result<TypedVariant, Stopped> {
        let varies = leave_out_fixed(&mut variant, trail);
        trail.describe(&variant.program);
        varies.map_err(unusable)?;
        if returns_views_alone(&variant.program, OpTable::sample()) {
            let hint = "leave this graph out, or record one that calculates something";
            return Err(unusable(failure(Blame::Sample, "sample", Unscorable::ViewsAlone, hint)));
        }
        Ok(TypedVariant { reference: Arc::new(variant) })
    }

    /// With the types that a run gave, where those are others.
    pub fn observed(reference: &SampleVariant, found: &[TensorType], trail: &mut Trail<'_>) -> Option<TypedVariant> {
        let mut observed = reference.clone();
        let mut notes = vec![];
        for (value, found) in observed.program.values.iter_mut().zip(found) {
            if value.ty != *found {
                let (name, inferred) = (&value.name, &value.ty);
                notes.push(format!("%{name} was inferred as {inferred}, the run gave {found}"));
                value.ty = found.clone();
            }
        }
        let is_other = !notes.is_empty();
        trail.note(NoteKind::InferredType, notes);
        is_other.then(|| {
            trail.describe(&observed.program);
            TypedVariant { reference: Arc::new(observed) }
        })
    }
}

/// A variant that is of no use, whatever the plugin does.
fn unusable(failure: Failure) -> Stopped {
    Stopped::new(FailureClass::Reference, failure)
}

/// Takes outputs away that are the same in every draw. Inputs that are drawn as published are left as they are.
fn leave_out_fixed(variant: &mut SampleVariant, trail: &mut Trail<'_>) -> Result<(), Failure> {
    let drawn: Vec<bool> = variant.inputs.iter().map(|input| !input.is_fixed()).collect();
    // A program without a functional form is refused where that is needed.
    let Ok(Some(varying)) = varying(&variant.program, &drawn, OpTable::sample()) else { return Ok(()) };
    if trail.supervisor.config.inputs == InputMode::Published {
        return Ok(());
    }
    if varying.program.outputs.is_empty() {
        let hint = "record inputs whose values nothing of the graph was built on";
        return Err(failure(Blame::Sample, "sample", Unscorable::Fixed, hint));
    }
    let left_out = varying.left_out.iter().map(|&at| {
        let name = &variant.program.values[variant.program.outputs[at].index()].name;
        format!("output {at} (%{name}) is the same in every draw of the inputs: it is left out and gives no points")
    });
    trail.note(NoteKind::FixedOutput, left_out);
    variant.program = varying.program;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::event::VariantPlace;
    use crate::supervisor::{Config, Supervisor};
    use passhost_ir::{Dtype, Graph};

    #[test]
    fn types_of_a_run_replace_others_that_were_inferred_and_are_noted() {
        let supervisor = Supervisor::new(Config::default());
        let place = VariantPlace { sample: "a".into(), variant: "one".into(), position: 0, count: 1 };
        let mut trail = Trail::at(&supervisor, place, "one");
        let program = Graph::parse("graph(%x: f32[4]) {\n%y: f32[4] = aten::relu(%x)\nreturn (%y)\n}").unwrap();
        let mut types: Vec<TensorType> = program.values.iter().map(|value| value.ty.clone()).collect();
        let read = SampleVariant { program, inputs: vec![], notes: vec![] };
        assert!(TypedVariant::observed(&read, &types, &mut trail).is_none());
        types[1].dtype = Dtype::F64;
        let observed = TypedVariant::observed(&read, &types, &mut trail).unwrap();
        assert_eq!(observed.reference.program.values[1].ty, types[1]);
        let entry = trail.entry;
        assert_eq!(entry.notes, ["%y was inferred as f32[4], the run gave f64[4] (bug of passhost)"]);
        assert_eq!((entry.element_type.as_deref(), entry.bytes), (Some("float64"), Some(16 + 32)));
    }
}
