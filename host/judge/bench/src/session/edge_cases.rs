//! The domain rounds of a rewrite: one input at a time is unusual. They count for no tolerance and no score; where eager
//! stays meaningful and the rewrite does not do the same, a finding says so.

use super::checks::Checks;
use super::edge_case::EdgeCase;
use super::prepared::PreparedRound;
use crate::compare::{OutputComparison, unravel};
use crate::contested::wrong;
use crate::device::BenchDevice;
use crate::edge_cases::EdgeCaseDraw;
use crate::held::HeldTensor;
use crate::inputs::Round;
use passhost_ir::{Conversions, TensorType};
use passhost_protocol::device::RewriteError;
use passhost_result::EdgeCaseFinding;
use std::cell::LazyCell;

impl Checks<'_> {
    /// A round in which inputs are unusual.
    pub(super) fn check_edge_case(
        &mut self,
        prepared: &PreparedRound,
        round: Round,
        case: &EdgeCase,
    ) -> Result<(), RewriteError> {
        let reference = self.reference;
        let eager = &prepared.eager;
        let rewritten = self.guarded_run(&prepared.drawn, round, eager)?;
        let suspects: Vec<(usize, i8)> = reference
            .output_types
            .iter()
            .enumerate()
            .filter_map(|(position, ty)| {
                let allowed = allowed(self.passes_at(position))?;
                let pair = [&rewritten[position], &eager[position]];
                is_suspect(&reference.device, ty, allowed, pair).then_some((position, allowed))
            })
            .collect();
        if suspects.is_empty() {
            return Ok(());
        }
        let Ok(truth) = reference.truth(prepared, Conversions::Dropped) else { return Ok(()) };
        // Where large numbers cancel, what is left in double precision is a matter of order, too.
        let may_cancel = case.draw == EdgeCaseDraw::Extremes;
        let shaken = LazyCell::new(|| reference.shaken_truth(prepared, Conversions::Dropped));
        for (position, allowed) in suspects {
            let ty = &reference.output_types[position];
            let (rewritten, eager) = (&rewritten[position], &eager[position]);
            let wrong = |shaken| wrong(ty, (allowed, case.draw), [rewritten, eager, &truth[position]], shaken);
            let found = wrong(None).and_then(|found| match may_cancel.then(|| shaken.as_ref()).flatten() {
                Some(shaken) => wrong(Some(&shaken[position])),
                None => Some(found),
            });
            if let Some((element, _)) = found {
                self.evaluation.edge_cases.push(EdgeCaseFinding {
                    output: position as u32,
                    input: case.name(&reference.specs),
                    draw: case.draw.to_string(),
                    element: unravel(element, &ty.shape),
                    rewritten: rewritten.elements().get(element).to_string(),
                    eager: eager.elements().get(element).to_string(),
                });
            }
        }
        Ok(())
    }
}

/// The tolerance that a value may need on an unusual input, by the one that it needs on ordinary ones: a step more. `None`
/// where it is not right on those.
pub(super) fn allowed(ordinary: Option<i8>) -> Option<i8> {
    ordinary.filter(|&t| t <= 0).map(|t| t.max(-5) + 1)
}

/// Whether a value needs more tolerance than is allowed, so that it takes a run in double precision to say who is right.
pub(super) fn is_suspect(
    device: &BenchDevice,
    ty: &TensorType,
    allowed: i8,
    [rewritten, eager]: [&HeldTensor; 2],
) -> bool {
    let are_on_host = rewritten.tensor().is_none() && eager.tensor().is_none();
    if are_on_host && rewritten.elements().bytes == eager.elements().bytes {
        return false;
    }
    let found = OutputComparison::new(ty.clone()).add(device, rewritten, eager);
    found.is_none_or(|found| found > allowed)
}
