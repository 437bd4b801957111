//! Tries answers that nobody has to compute. Where one of them passes, passing says little.

use crate::element::HostElements;
use crate::held::HeldTensor;
use crate::judge::float_kind;
use passhost_ir::Dtype;

/// The tolerance at which a trivial answer must be wrong for a right one to count in the strict score.
const STRICT_T: i8 = -2;

/// The trivial answers that together are right at t = -2, in words, or `None` if some output has none.
pub fn trivial_answer(outputs: &[HeldTensor], inputs: &[&HeldTensor]) -> Option<String> {
    let mut answers: Vec<String> =
        outputs.iter().map(|output| answer_for(output.elements(), inputs)).collect::<Option<_>>()?;
    answers.dedup();
    (!answers.is_empty()).then(|| answers.join(", "))
}

fn answer_for(output: HostElements<'_>, inputs: &[&HeldTensor]) -> Option<String> {
    if output.is_empty() {
        return None;
    }
    let reference = output.to_f64();
    if right(output.dtype, reference.iter().map(|&value| (0.0, value))) {
        return Some("all zeros".into());
    }
    let mean = reference.iter().sum::<f64>() / reference.len() as f64;
    if output.dtype.is_float() && right(output.dtype, reference.iter().map(|&value| (mean, value))) {
        return Some("the mean everywhere".into());
    }
    let copied = inputs.iter().position(|input| {
        let same = input.dtype() == output.dtype && input.count() == output.len() as u64;
        same && right(output.dtype, input.elements().to_f64().into_iter().zip(reference.iter().copied()))
    });
    copied.map(|position| format!("a copy of input {position}"))
}

fn right(dtype: Dtype, mut pairs: impl Iterator<Item = (f64, f64)>) -> bool {
    let Some(kind) = float_kind(dtype) else { return pairs.all(|(candidate, value)| candidate == value) };
    let tolerance = passhost_score::tolerance(kind, f64::from(STRICT_T));
    pairs.all(|(candidate, value)| passhost_score::is_close(candidate, value, tolerance))
}

/// Whether an output tells nothing: every element is the same, or one is not finite.
pub fn degenerate(output: HostElements<'_>) -> Option<&'static str> {
    if output.len() > 1 && output.dtype.is_float() {
        let first = output.raw(0);
        if output.bytes.chunks_exact(first.len()).all(|element| element == first) {
            return Some("constant");
        }
    }
    let mut finite = true;
    output.for_each(|value| finite &= value.is_finite());
    (!finite).then_some("not finite")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f32], input: &[f32], expected: Option<&str>) {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let held = |values| HeldTensor::host(Dtype::F32, bytes(values));
        assert_eq!(trivial_answer(&[held(values)], &[&held(input)]).as_deref(), expected);
    }

    #[test]
    fn zeros_means_and_copies_are_found() {
        check(&[0.001, -0.002], &[5.0, 5.0], Some("all zeros"));
        check(&[4.0, 4.001], &[9.0, 9.0], Some("the mean everywhere"));
        check(&[1.0, 2.0], &[1.0, 2.0001], Some("a copy of input 0"));
        check(&[1.0, 2.0], &[2.0, 1.0], None);
    }

    #[test]
    fn constant_and_infinite_outputs_tell_nothing() {
        let judge = |values: [f32; 2]| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            degenerate(HostElements { dtype: Dtype::F32, bytes: &bytes })
        };
        assert_eq!(judge([1.0, 1.0]), Some("constant"));
        assert_eq!(judge([1.0, f32::INFINITY]), Some("not finite"));
        assert_eq!(judge([1.0, 2.0]), None);
    }
}
