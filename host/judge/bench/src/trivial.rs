//! Tries answers that nobody has to compute. Where one of them passes, passing says little.

use crate::element::HostElements;
use crate::held::HeldTensor;
use crate::judge::float_kind;
use crate::on_device::sides::{TrivialAnswer, is_met};
use passhost_score::{Tolerance, is_close};

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
    let number =
        |number| is_right(TrivialAnswer::Number(number), &first) && is_right(TrivialAnswer::Number(number), output);
    if number(0.0) {
        return Some("all zeros".into());
    }
    if dtype.is_float() && number(output.mean()) {
        return Some("the mean everywhere".into());
    }
    let copied = inputs.iter().position(|input| {
        let same = input.dtype() == dtype && input.count() == output.count();
        same && is_right(TrivialAnswer::Copy(&input.first(FIRST)), &first)
            && is_right(TrivialAnswer::Copy(input), output)
    });
    copied.map(|position| format!("a copy of input {position}"))
}

/// Whether an answer is right everywhere, looked at where the elements are.
fn is_right(answer: TrivialAnswer<&HeldTensor>, output: &HeldTensor) -> bool {
    let exactly = Tolerance { rtol: 0.0, atol: 0.0 };
    let kind = float_kind(output.dtype());
    let tolerance = kind.map_or(exactly, |kind| passhost_score::tolerance(kind, f64::from(STRICT_T)));
    let there = match answer {
        TrivialAnswer::Number(number) => Some(TrivialAnswer::Number(number)),
        TrivialAnswer::Copy(input) => input.tensor().map(TrivialAnswer::Copy),
    };
    if let (Some(there), Some(output)) = (there, output.tensor())
        && let Ok(answer) = is_met(output, there, tolerance)
    {
        return answer;
    }
    let values = output.elements().to_f64().into_iter();
    let right = |candidate: f64, value: f64| is_close(candidate, value, tolerance);
    match answer {
        TrivialAnswer::Number(number) => values.into_iter().all(|value| right(number, value)),
        TrivialAnswer::Copy(input) => {
            input.elements().to_f64().into_iter().zip(values).all(|(own, value)| right(own, value))
        }
    }
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
    use passhost_ir::Dtype;

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
