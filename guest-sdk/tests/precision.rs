//! What kernels give on a processor where roundings count.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_guest_sdk::ir::kernel::{Mode, interpret, verify};
use passhost_guest_sdk::ir::kernel::{Tensor, scalar::Num};
use passhost_guest_sdk::ir::{DeviceFacts, DeviceKind, Dtype, Graph, Kernel, NodeId, contiguous_strides};
use passhost_guest_sdk::lower::{Group, fuse, region};
use passhost_guest_sdk::testing::DEVICE;
use passhost_kernels::{BoundInput, BoundOutput, CallingThread, CpuKernel};

/// The result of a graph of one node and one input that is the same number everywhere, as the CPU executor calculates it.
fn of_constant(text: &str, number: f64) -> Vec<f64> {
    let graph = Graph::parse(text).unwrap();
    let kernel = region(&graph, &[NodeId(0)], Group::ALL).unwrap().kernel().clone();
    let input = Tensor::from_fn(Dtype::F32, kernel.inputs[0].shape.clone(), |_| Num::Float(number));
    on_the_cpu(&kernel, &[input])
}

/// The only result of a kernel of `f32`, as the CPU executor calculates it.
fn on_the_cpu(kernel: &Kernel, inputs: &[Tensor]) -> Vec<f64> {
    let mut output = Tensor::zeros(Dtype::F32, kernel.output_types()[0].shape.clone());
    let strides: Vec<Vec<i64>> = inputs.iter().map(|input| contiguous_strides(&input.shape)).collect();
    let bound = inputs.iter().zip(&strides).map(|(Tensor { data, shape, .. }, strides)| {
        let (pointer, bytes) = (data.as_ptr(), data.len());
        BoundInput { pointer, bytes, dtype: Dtype::F32, shape, strides }
    });
    let inputs: Vec<BoundInput<'_>> = bound.collect();
    let outputs = [BoundOutput { pointer: output.data.as_mut_ptr(), bytes: output.data.len() }];
    let compiled = CpuKernel::compile(kernel).unwrap();
    // SAFETY: the tensors live until the end of this function, and nobody else has them.
    unsafe { compiled.run(&inputs, &outputs, &CallingThread) }.unwrap();
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

/// A group norm of two groups of 2 x 32 numbers in half precision, as the kernel for a device calculates it.
fn group_norm_on(kind: DeviceKind, x: &[f64], parameters: [&[f64]; 2]) -> Vec<f64> {
    let graph = "graph(%x: f16[1,4,32], %w: f16[4], %b: f16[4]) {
                   %y: f16[1,4,32] = aten::group_norm(%x, 2, %w, %b, 1e-05, true)
                   return (%y)
                 }";
    let graph = Graph::parse(graph).unwrap();
    let lowered = &fuse(&graph, &DeviceFacts { kind, ..DEVICE }, Group::ALL).kernels[0].lowered;
    let number = |values: &[f64], shape: Vec<i64>| {
        let values = values.to_vec();
        Tensor::from_fn(Dtype::F16, shape, move |position| Num::Float(values[position]))
    };
    let given = [number(x, vec![1, 4, 32]), number(parameters[0], vec![4]), number(parameters[1], vec![4])];
    let at = |value| graph.inputs.iter().position(|&input| input == value).unwrap();
    let inputs: Vec<Tensor> = lowered.inputs().iter().map(|&input| given[at(input)].clone()).collect();
    let results = interpret(lowered.kernel(), &verify(lowered.kernel()).unwrap(), &inputs, Mode::Declared);
    let stored = Tensor::from_fn(Dtype::F16, vec![128], |position| results[0].values[position].value);
    (0..128).map(|at| stored.get_f64(at)).collect()
}

#[test]
fn a_group_norm_in_half_precision_rounds_its_statistics_where_eager_does() {
    let half = |number: f64| Tensor::from_fn(Dtype::F16, vec![1], |_| Num::Float(number)).get_f64(0);
    let x: Vec<f64> = (0..128).map(|at: i32| half(f64::from(at * 37 % 101) / 50.0 + 3.0)).collect();
    let (weight, bias) = ([1.5, -0.75, 2.0, 0.3125], [0.5, 4.0, -1.0, 0.0]);
    let exactly = |round: &dyn Fn(f64) -> f64| -> Vec<f64> {
        let of_group = |group: &[f64]| {
            let count = group.len() as f64;
            let mean = group.iter().sum::<f64>() / count;
            let variance = group.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
            (round(mean), round(1.0 / (variance + 1e-5).sqrt()))
        };
        let statistics: Vec<(f64, f64)> = x.chunks(64).map(of_group).collect();
        let normed = |(at, x): (usize, &f64)| {
            let ((mean, scale), channel) = (statistics[at / 64], at / 32);
            half((x - mean) * scale * weight[channel] + bias[channel])
        };
        x.iter().enumerate().map(normed).collect()
    };
    let (unrounded, rounded) = (exactly(&|number| number), exactly(&half));
    let differing = |a: &[f64], b: &[f64]| a.iter().zip(b).filter(|(a, b)| a != b).count();
    assert!(differing(&unrounded, &rounded) > 30, "the roundings count");
    for (kind, expected) in [(DeviceKind::Cpu, &unrounded), (DeviceKind::Cuda, &rounded)] {
        let found = group_norm_on(kind, &x, [&weight, &bias]);
        assert!(differing(&found, expected) <= 1, "{kind:?}: {found:?}, expected {expected:?}");
    }
}

/// How the operand of a norm lies in memory.
#[derive(Clone, Copy, PartialEq)]
enum Lie {
    Rows,
    Strided,
    ChannelsLast,
}

/// A norm of 4 channels of 8 numbers by given statistics, as the kernel for a device calculates it. The numbers lie in rows,
/// or with the channels next to each other: of a row of points, or of an image.
fn by_statistics(kind: DeviceKind, (norm, lie): (&str, Lie), x: &[f32], parameters: [&[f32]; 4]) -> Vec<f32> {
    let (given, shape, ty, view) = match lie {
        Lie::Rows => ("%x: f32[1,4,8]", vec![1, 4, 8], "f32[1,4,8]", ""),
        Lie::Strided => {
            ("%t: f32[1,8,4]", vec![1, 8, 4], "f32[1,4,8]", "%x: f32[1,4,8]{32,1,4} = aten::transpose.int(%t, 1, 2)")
        }
        Lie::ChannelsLast => (
            "%t: f32[1,2,4,4]",
            vec![1, 2, 4, 4],
            "f32[1,4,2,4]",
            "%x: f32[1,4,2,4]{32,1,16,4} = aten::permute(%t, [0, 3, 1, 2])",
        ),
    };
    let graph = Graph::parse(&format!(
        "graph({given}, %w: f32[4], %b: f32[4], %m: f32[4], %v: f32[4]) {{
           {view}
           %y: {ty} = aten::{norm}(%x, %w, %b, %m, %v, false, 0.1, 1e-05, true)
           return (%y)
         }}"
    ))
    .unwrap();
    let lowered = &fuse(&graph, &DeviceFacts { kind, ..DEVICE }, Group::ALL).kernels[0].lowered;
    let tensor = |values: Vec<f32>, shape: Vec<i64>| {
        Tensor::from_fn(Dtype::F32, shape, move |position| Num::Float(values[position].into()))
    };
    let transposed = || (0..32).map(|at| x[at % 4 * 8 + at / 4]).collect();
    let x = tensor(if lie == Lie::Rows { x.to_vec() } else { transposed() }, shape);
    let given: Vec<Tensor> = [x].into_iter().chain(parameters.map(|values| tensor(values.to_vec(), vec![4]))).collect();
    let at = |value| graph.inputs.iter().position(|&input| input == value).unwrap();
    let inputs: Vec<Tensor> = lowered.inputs().iter().map(|&input| given[at(input)].clone()).collect();
    if kind == DeviceKind::Cpu {
        return on_the_cpu(lowered.kernel(), &inputs).into_iter().map(|number| number as f32).collect();
    }
    let results = interpret(lowered.kernel(), &verify(lowered.kernel()).unwrap(), &inputs, Mode::Declared);
    let stored = Tensor::from_fn(Dtype::F32, vec![32], |position| results[0].values[position].value);
    (0..32).map(|at| stored.get_f64(at) as f32).collect()
}

#[test]
fn a_norm_by_given_statistics_rounds_where_eager_does() {
    let x: Vec<f32> = (0..32).map(|at: i32| (at * 37 % 101) as f32 / 7.0 + 3.0).collect();
    let (weight, bias) = ([1.3f32, -0.7, 2.1, 0.3], [0.55f32, 4.1, -1.7, 0.1]);
    let (mean, variance) = ([3.1f32, -2.9, 11.3, 0.7], [0.003f32, 0.017, 1.9, 0.00007]);
    let inverse = |channel: usize| 1.0 / (variance[channel] + 1e-5).sqrt();
    let packed_on_cpu = |channel: usize, x: f32| {
        let factor = inverse(channel) * weight[channel];
        x.mul_add(factor, (-mean[channel]).mul_add(factor, bias[channel]))
    };
    let strided_on_cpu =
        |channel: usize, x: f32| (x - mean[channel]) * inverse(channel) * weight[channel] + bias[channel];
    let on_gpu = |channel: usize, x: f32| {
        let scale = (1.0 / f64::from(variance[channel] + 1e-5).sqrt()) as f32;
        ((x - mean[channel]) * weight[channel]).mul_add(scale, bias[channel])
    };
    let all =
        |of: &dyn Fn(usize, f32) -> f32| -> Vec<f32> { x.iter().enumerate().map(|(at, x)| of(at / 8, *x)).collect() };
    let [packed, strided, gpu] = [all(&packed_on_cpu), all(&strided_on_cpu), all(&on_gpu)];
    assert!(packed != strided && strided != gpu && gpu != packed, "the roundings count");
    let found = |kind, what| by_statistics(kind, what, &x, [&weight, &bias, &mean, &variance]);
    assert_eq!(found(DeviceKind::Cpu, ("batch_norm", Lie::Rows)), packed);
    assert_eq!(found(DeviceKind::Cpu, ("batch_norm", Lie::Strided)), strided);
    assert_eq!(found(DeviceKind::Cpu, ("instance_norm", Lie::Strided)), packed);
    assert_eq!(found(DeviceKind::Cpu, ("batch_norm", Lie::ChannelsLast)), packed);
    assert_eq!(found(DeviceKind::Cuda, ("batch_norm", Lie::Rows)), gpu);
}
