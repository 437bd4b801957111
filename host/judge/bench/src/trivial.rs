//! Tries answers that nobody has to compute. Where one of them passes, passing says little.

use crate::element::HostElements;
use crate::held::HeldTensor;
use crate::judge::float_kind;
use passhost_ir::{Dtype, TensorType};

/// The tolerance at which a trivial answer must be wrong for a right one to count in the strict score.
const STRICT_T: i8 = -2;

/// Elements at the beginning of a tensor on a device that tell most answers from a right one.
const BEGINNING: usize = 1 << 16;

/// A tensor with its type, contiguous on the host.
#[derive(Debug, Clone, Copy)]
pub struct TypedElements<'a> {
    /// Element type and shape.
    pub ty: &'a TensorType,
    /// Its elements.
    pub elements: HostElements<'a>,
}

/// The trivial answers that together are right at t = -2, in words, or `None` if some output has none.
pub fn trivial_answer(outputs: &[TypedElements<'_>], inputs: &[TypedElements<'_>]) -> Option<String> {
    let mut answers: Vec<String> = outputs.iter().map(|output| answer_for(*output, inputs)).collect::<Option<_>>()?;
    answers.dedup();
    (!answers.is_empty()).then(|| answers.join(", "))
}

/// The same of tensors that may be on a device: brought to the CPU only where their beginnings do not rule it out.
pub fn trivial_answer_held(
    outputs: &[(&TensorType, &HeldTensor)],
    inputs: &[(&TensorType, &HeldTensor)],
) -> Option<String> {
    if outputs.iter().any(|&output| is_ruled_out(output, inputs)) {
        return None;
    }
    trivial_answer(&typed(outputs), &typed(inputs))
}

fn typed<'a>(tensors: &[(&'a TensorType, &'a HeldTensor)]) -> Vec<TypedElements<'a>> {
    tensors.iter().map(|(ty, held)| TypedElements { ty, elements: held.elements() }).collect()
}

/// Whether the beginning of an output on a device is wrong by every trivial answer.
fn is_ruled_out((ty, held): (&TensorType, &HeldTensor), inputs: &[(&TensorType, &HeldTensor)]) -> bool {
    let Some(tensor) = held.tensor() else { return false };
    let beginning = |held: &HeldTensor| {
        held.beginning(BEGINNING).map(|bytes| HostElements { dtype: ty.dtype, bytes: &bytes }.to_f64())
    };
    let Ok(reference) = beginning(held) else { return false };
    let is_wrong =
        |candidates: &mut dyn Iterator<Item = f64>| !right(ty.dtype, candidates.zip(reference.iter().copied()));
    let is_mean = || tensor.mean().is_ok_and(|mean| !is_wrong(&mut std::iter::repeat(mean)));
    let mut alike = inputs.iter().filter(|(input, _)| input.dtype == ty.dtype && input.numel() == ty.numel());
    is_wrong(&mut std::iter::repeat(0.0))
        && !(ty.dtype.is_float() && is_mean())
        && alike.all(|(_, input)| beginning(input).is_ok_and(|values| is_wrong(&mut values.into_iter())))
}

fn answer_for(output: TypedElements<'_>, inputs: &[TypedElements<'_>]) -> Option<String> {
    if output.elements.is_empty() {
        return None;
    }
    let reference = output.elements.to_f64();
    if right(output.ty.dtype, reference.iter().map(|&value| (0.0, value))) {
        return Some("all zeros".into());
    }
    let mean = reference.iter().sum::<f64>() / reference.len() as f64;
    if output.ty.dtype.is_float() && right(output.ty.dtype, reference.iter().map(|&value| (mean, value))) {
        return Some("the mean everywhere".into());
    }
    let copied = inputs.iter().position(|input| {
        let same = input.ty.dtype == output.ty.dtype && input.ty.numel() == output.ty.numel();
        same && right(output.ty.dtype, input.elements.to_f64().into_iter().zip(reference.iter().copied()))
    });
    copied.map(|position| format!("a copy of input {position}"))
}

fn right(dtype: Dtype, mut pairs: impl Iterator<Item = (f64, f64)>) -> bool {
    let Some(kind) = float_kind(dtype) else { return pairs.all(|(candidate, value)| candidate == value) };
    let tolerance = passhost_score::tolerance(kind, f64::from(STRICT_T));
    pairs.all(|(candidate, value)| passhost_score::is_close(candidate, value, tolerance))
}

/// The same of a tensor that may be on a device: brought to the CPU only where its beginning is constant, or it is not finite.
pub fn degenerate_held(ty: &TensorType, held: &HeldTensor) -> Option<&'static str> {
    if let (Some(tensor), Ok(beginning)) = (held.tensor(), held.beginning(BEGINNING)) {
        let mut elements = beginning.chunks_exact(ty.dtype.size() as usize);
        let first = elements.next();
        let varies = !ty.dtype.is_float() || elements.any(|element| Some(element) != first);
        if varies && tensor.is_finite() == Ok(true) {
            return None;
        }
    }
    degenerate(TypedElements { ty, elements: held.elements() })
}

/// Whether an output tells nothing: every element is the same, or one is not finite.
pub fn degenerate(output: TypedElements<'_>) -> Option<&'static str> {
    if output.elements.len() > 1 && output.ty.dtype.is_float() {
        let first = output.elements.raw(0);
        if output.elements.bytes.chunks_exact(first.len()).all(|element| element == first) {
            return Some("constant");
        }
    }
    let mut finite = true;
    output.elements.for_each(|value| finite &= value.is_finite());
    (!finite).then_some("not finite")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f32], input: &[f32], expected: Option<&str>) {
        let ty = TensorType::contiguous(Dtype::F32, [values.len() as i64]);
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let (output, input) = (bytes(values), bytes(input));
        let typed = |bytes| TypedElements { ty: &ty, elements: HostElements { dtype: Dtype::F32, bytes } };
        assert_eq!(trivial_answer(&[typed(&output)], &[typed(&input)]).as_deref(), expected);
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
        let ty = TensorType::contiguous(Dtype::F32, [2]);
        let judge = |values: [f32; 2]| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            degenerate(TypedElements { ty: &ty, elements: HostElements { dtype: Dtype::F32, bytes: &bytes } })
        };
        assert_eq!(judge([1.0, 1.0]), Some("constant"));
        assert_eq!(judge([1.0, f32::INFINITY]), Some("not finite"));
        assert_eq!(judge([1.0, 2.0]), None);
    }
}
