//! Compares one output of the rewrite with eager's, element by element, over all rounds.

use crate::device::BenchDevice;
use crate::held::HeldTensor;
use crate::judge::{ElementJudge, Stretch};
use crate::on_device::compare::compare;
use passhost_ir::TensorType;
use passhost_result::OutputReport;

/// What is known of one output so far.
#[derive(Debug, Clone)]
pub struct OutputComparison {
    ty: TensorType,
    judge: ElementJudge,
    elements: u64,
    found: Stretch,
}

impl OutputComparison {
    /// Of an output of this type, before any round.
    pub fn new(ty: TensorType) -> OutputComparison {
        OutputComparison { judge: ElementJudge::new(ty.dtype), ty, elements: 0, found: Stretch::NOTHING }
    }

    /// Adds a round, compared where the elements are. Both are of the type given to [`OutputComparison::new`]. Returns the least
    /// t at which this round alone is right.
    pub fn add(&mut self, device: &BenchDevice, rewritten: &HeldTensor, eager: &HeldTensor) -> Option<i8> {
        let found = match (rewritten.bytes_on_device(), eager.bytes_on_device(), device.on_device(&self.ty)) {
            (Some(rewritten), Some(eager), Some(kernels)) => {
                compare(device.context(), kernels, &self.judge, self.ty.dtype, [&rewritten, &eager]).ok()
            }
            _ => None,
        };
        // What the device has no room for is compared on the CPU.
        let found = found.unwrap_or_else(|| self.judge.all(rewritten.elements(), eager.elements()));
        self.elements += self.ty.numel();
        // Of the first round that has one.
        let first_wrong = self.found.first_wrong.or(found.first_wrong);
        self.found = Stretch { first_wrong, ..self.found.join(found) };
        found.passes_at
    }

    /// The least t at which every round so far is right.
    pub fn passes_at(&self) -> Option<i8> {
        self.found.passes_at
    }

    /// The report over all rounds.
    pub fn into_report(self) -> OutputReport {
        let OutputComparison { ty, elements, found, .. } = self;
        let Stretch { passes_at, different, wrong, non_finite, max_abs, max_rel, first_wrong } = found;
        OutputReport {
            passes_at,
            elements,
            different,
            wrong,
            non_finite,
            max_abs,
            max_rel,
            first_wrong: first_wrong.map(|(index, ..)| unravel(index, &ty.shape)),
            first_wrong_value: first_wrong.map(|(_, value, _)| value),
            first_wrong_reference: first_wrong.map(|(.., reference)| reference),
            truth: None,
            decided: None,
            moved_by: None,
            ty,
        }
    }
}

/// The logical index of a row-major position.
pub fn unravel(mut position: usize, shape: &[i64]) -> Vec<i64> {
    let mut index = vec![0; shape.len()];
    for (slot, &extent) in index.iter_mut().zip(shape).rev() {
        let extent = usize::try_from(extent).unwrap_or(1).max(1);
        *slot = (position % extent) as i64;
        position /= extent;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::Dtype;

    fn f32_bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn compare(out: &[f32], reference: &[f32], shape: &[i64]) -> OutputReport {
        let mut comparison = OutputComparison::new(TensorType::contiguous(Dtype::F32, shape));
        let held = |values| HeldTensor::host(Dtype::F32, f32_bytes(values));
        comparison.add(&BenchDevice::cpu(), &held(out), &held(reference));
        comparison.into_report()
    }

    #[test]
    fn equal_outputs_are_right_at_every_tolerance() {
        let report = compare(&[1.0, f32::NAN, f32::INFINITY], &[1.0, f32::NAN, f32::INFINITY], &[3]);
        assert_eq!((report.passes_at, report.different, report.wrong), (Some(-10), 0, 0));
    }

    #[test]
    fn the_first_wrong_element_is_named_by_its_logical_index() {
        let mut out = vec![1.0f32; 6];
        out[4] = 1.5;
        out[5] = 7.0;
        let report = compare(&out, &[1.0; 6], &[2, 3]);
        assert_eq!(report.first_wrong, Some(vec![1, 1]));
        assert_eq!((report.first_wrong_value, report.first_wrong_reference), (Some(1.5), Some(1.0)));
        assert_eq!((report.wrong, report.max_abs), (2, 6.0));
    }

    #[test]
    fn nan_and_infinity_match_only_their_like() {
        for (out, reference) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::INFINITY, f32::NEG_INFINITY)] {
            let report = compare(&[out], &[reference], &[1]);
            assert_eq!(report.passes_at, None, "{out} against {reference}");
        }
        assert_eq!(compare(&[f32::NAN], &[1.0], &[1]).non_finite, 1);
    }

    #[test]
    fn a_later_round_can_only_raise_the_tolerance() {
        let mut comparison = OutputComparison::new(TensorType::contiguous(Dtype::F32, [1]));
        let device = BenchDevice::cpu();
        let [one, off] = [1.0, 1.01].map(|value| HeldTensor::host(Dtype::F32, f32_bytes(&[value])));
        let wrong = comparison.add(&device, &off, &one);
        assert!(wrong.is_some_and(|t| t > -5));
        assert_eq!(comparison.add(&device, &one, &one), Some(-10));
        assert_eq!(comparison.passes_at(), wrong);
    }

    #[test]
    fn integers_must_be_equal() {
        let mut comparison = OutputComparison::new(TensorType::contiguous(Dtype::I16, [2]));
        let [out, reference] = [2, 3].map(|last| HeldTensor::host(Dtype::I16, vec![1, 0, last, 0]));
        assert_eq!(comparison.add(&BenchDevice::cpu(), &out, &reference), None);
    }
}
