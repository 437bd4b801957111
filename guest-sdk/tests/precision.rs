//! What kernels give on a processor where roundings count.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_guest_sdk::ir::kernel::{Tensor, scalar::Num};
use passhost_guest_sdk::ir::{Dtype, Graph, NodeId, contiguous_strides};
use passhost_guest_sdk::lower::{Group, region};
use passhost_kernels::{BoundInput, BoundOutput, CallingThread, CpuKernel};

/// The result of a graph of one node and one input that is the same number everywhere, as the CPU executor calculates it.
fn of_constant(text: &str, number: f64) -> Vec<f64> {
    let graph = Graph::parse(text).unwrap();
    let kernel = region(&graph, &[NodeId(0)], Group::ALL).unwrap().kernel;
    let shape = &kernel.inputs[0].shape;
    let input = Tensor::from_fn(Dtype::F32, shape.clone(), |_| Num::Float(number));
    let mut output = Tensor::zeros(Dtype::F32, kernel.output_types()[0].shape.clone());
    let strides = contiguous_strides(shape);
    let (pointer, bytes) = (input.data.as_ptr(), input.data.len());
    let inputs = [BoundInput { pointer, bytes, dtype: Dtype::F32, shape, strides: &strides }];
    let outputs = [BoundOutput { pointer: output.data.as_mut_ptr(), bytes: output.data.len() }];
    let compiled = CpuKernel::compile(&kernel).unwrap();
    // SAFETY: the tensors live until the end of this function, and nobody else has them.
    unsafe { compiled.bind(&inputs, &outputs) }.unwrap().run(&CallingThread);
    (0..output.len()).map(|at| output.get_f64(at)).collect()
}

#[test]
fn a_row_that_does_not_vary_is_normalised_to_nothing() {
    let norms = [
        "aten::group_norm(%x, 4, none, none, 1e-05, true)",
        "aten::layer_norm(%x, [4099], none, none, 1e-05, true)",
        "aten::instance_norm(%x, none, none, none, none, true, 0.1, 1e-05, true)",
    ];
    for norm in norms {
        let text = format!("graph(%x: f32[1,4,4099]) {{\n %y: f32[1,4,4099] = {norm}\n return (%y)\n}}");
        for number in [0.7, -3.3, 1234.567] {
            let largest = of_constant(&text, number).into_iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            // One last place of the number, times the root of 1 / 1e-5.
            let allowed = number.abs() * f64::from(f32::EPSILON) * 317.0;
            assert!(largest <= allowed / 4.0, "{norm} of {number}: {largest} of {allowed}");
        }
    }
}
