//! Tries answers that nobody has to compute. Where one of them passes, passing says little.

use crate::element::HostElements;
use crate::held::HeldTensor;
use crate::judge::float_kind;
use passhost_ir::Dtype;

/// The tolerance at which a trivial answer must be wrong for a right one to count in the strict score.
const STRICT_T: i8 = -2;

/// Elements that are looked at first: hardly an answer is right there, and the others stay where they are.
const FIRST: usize = 1 << 12;

/// The trivial answers that together are right at t = -2, in words, or `None` if some output has none.
pub fn trivial_answer(outputs: &[HeldTensor], inputs: &[&HeldTensor]) -> Option<String> {
    let mut answers: Vec<String> = outputs.iter().map(|output| answer_for(output, inputs)).collect::<Option<_>>()?;
    answers.dedup();
    (!answers.is_empty()).then(|| answers.join(", "))
}

fn answer_for(output: &HeldTensor, inputs: &[&HeldTensor]) -> Option<String> {
    let (dtype, first) = (output.dtype(), output.first(FIRST));
    if output.count() == 0 {
        return None;
    }
    let values = |held: &HeldTensor| held.elements().to_f64().into_iter();
    let number = |number| {
        let is_right = |held| right(dtype, values(held).map(|value| (number, value)));
        is_right(&first) && is_right(output)
    };
    if number(0.0) {
        return Some("all zeros".into());
    }
    if dtype.is_float() && number(output.mean()) {
        return Some("the mean everywhere".into());
    }
    let is_right = |input: &HeldTensor, output: &HeldTensor| right(dtype, values(input).zip(values(output)));
    let copied = inputs.iter().position(|input| {
        let same = input.dtype() == dtype && input.count() == output.count();
        same && is_right(&input.first(FIRST), &first) && is_right(input, output)
    });
    copied.map(|position| format!("a copy of input {position}"))
}

fn right(dtype: Dtype, mut pairs: impl Iterator<Item = (f64, f64)>) -> bool {
    let Some(kind) = float_kind(dtype) else { return pairs.all(|(candidate, value)| candidate == value) };
    let tolerance = passhost_score::tolerance(kind, f64::from(STRICT_T));
    pairs.all(|(candidate, value)| passhost_score::is_close(candidate, value, tolerance))
}

/// Whether an output tells nothing: every element is the same, or one is not finite.
pub fn degenerate(output: &HeldTensor) -> Option<&'static str> {
    let is_constant = |output: HostElements<'_>| {
        let first = output.raw(0);
        output.bytes.chunks_exact(first.len()).all(|element| element == first)
    };
    let is_one_of_several = output.count() > 1 && output.dtype().is_float();
    if is_one_of_several && is_constant(output.first(FIRST).elements()) && is_constant(output.elements()) {
        return Some("constant");
    }
    (!output.is_finite()).then_some("not finite")
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
        // What differs behind the elements that are looked at first counts.
        let mut late = vec![0.0; FIRST + 1];
        check(&late, &late, Some("all zeros"));
        late[FIRST] = 1e3;
        check(&late, &[1.0], None);
        check(&late, &late, Some("a copy of input 0"));
    }

    #[test]
    fn constant_and_infinite_outputs_tell_nothing() {
        let judge = |values: [f32; 2]| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            degenerate(&HeldTensor::host(Dtype::F32, bytes))
        };
        assert_eq!(judge([1.0, 1.0]), Some("constant"));
        assert_eq!(judge([1.0, f32::INFINITY]), Some("not finite"));
        assert_eq!(judge([1.0, 2.0]), None);
        let mut late = vec![0; 4 * FIRST];
        assert_eq!(degenerate(&HeldTensor::host(Dtype::F32, late.clone())), Some("constant"));
        late.extend(1f32.to_le_bytes());
        assert_eq!(degenerate(&HeldTensor::host(Dtype::F32, late)), None);
    }
}
