//! How much memory a program takes.

use passhost_ir::verify::peak_bytes;
use passhost_ir::{Graph, InputSpec, OpTable};

/// Bytes of all inputs together.
pub fn input_bytes(inputs: &[InputSpec]) -> u64 {
    inputs.iter().fold(0u64, |sum, input| sum.saturating_add(input.ty.bytes()))
}

/// An estimate of the bytes that one run takes: the inputs, the intermediates that live at once, and the copy of the
/// largest input or output that drawing or describing it takes. What an op needs for itself is not in it.
pub fn run_bytes(program: &Graph, inputs: &[InputSpec]) -> u64 {
    let outputs = program.outputs.iter().map(|output| program.ty(*output).bytes());
    let copy = inputs.iter().map(|input| input.ty.bytes()).chain(outputs).max().unwrap_or(0);
    input_bytes(inputs).saturating_add(peak_bytes(program, OpTable::sample())).saturating_add(copy)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::{Draw, Dtype, TensorType};

    #[test]
    fn a_run_takes_inputs_intermediates_and_one_copy() {
        let text = "graph(%x: f32[100]) {
  %a: f32[100] = aten::exp(%x)
  %b: f32[100] = aten::relu_(%a)
  %c: f32[100] = aten::exp(%b)
  return (%c)
}
";
        let graph = Graph::parse(text).unwrap();
        let ty = TensorType::contiguous(Dtype::F32, [100]);
        let draw = Draw::Normal { mean: 0.0, std: 1.0 };
        let inputs = [InputSpec { name: "x".into(), ty, draw, min: None, max: None }];
        // %x, then %a (which %b overwrites) and %c, and a copy of %c.
        assert_eq!(run_bytes(&graph, &inputs), 400 + 800 + 400);
    }
}
