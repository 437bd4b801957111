//! What the variants of a document count as, with the times behind it, for whoever puts many documents together.

use crate::document::{Document, Variant};
use crate::timing::{Rules, Speedups, measured};
use crate::verdict::recorded_conclusion;
use passhost_score::VariantOutcome;

/// What follows from a document for each of its variants.
#[derive(Debug, Clone, PartialEq)]
pub struct Recount {
    /// One per variant of the document.
    pub variants: Vec<CountedVariant>,
    /// The factor within which equal measurements of the device's time lie.
    pub device_resolution: f64,
}

/// What a variant counts as.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedVariant {
    /// `None` where the host is to blame that nothing is known.
    pub outcome: Option<VariantOutcome>,
    /// Speedups in each block of each process, of a variant that was compared.
    pub speedups: Option<Speedups>,
}

/// Looks at the records of each variant as [`verify::recompute`](crate::verify::recompute) does, without holding anything
/// against what the document says of them.
pub fn recount(document: &Document) -> Recount {
    let rules = Rules::of(document.job.device.as_ref().map_or("cpu", |device| &device.device));
    let accept_noise = document.limits.measurement.accept_noise;
    let variants = document.variants.iter().map(|variant| counted(variant, rules, accept_noise)).collect();
    Recount { variants, device_resolution: rules.device_resolution }
}

fn counted(variant: &Variant, rules: Rules, accept_noise: bool) -> CountedVariant {
    let outcome = recorded_conclusion(variant).outcome;
    let compared = matches!(outcome, Some(VariantOutcome::Compared { .. }));
    let timing = variant.timing.as_ref().filter(|_| compared);
    let speedups = timing.and_then(|timing| {
        let measured = measured(timing.processes.clone(), rules.of_then(timing), timing.ops, accept_noise).ok()?;
        Some(measured.speedups)
    });
    CountedVariant { outcome, speedups }
}
