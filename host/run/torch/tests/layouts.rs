//! Programs in which kernels write images with channels last for libtorch's convolutions, and read what these give.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_ir::{Dtype, Graph, TensorType};
use passhost_runtime::{Hints, Mode};
use passhost_torch::{Context, Program, Target, Tensor};
use std::sync::Arc;

/// A residual block. All its numbers are small integers, so that sums are the same in any order.
const BLOCK: &str = "graph(%x: f32[2,8,5,3], %k: f32[8,8,3,3], %l: f32[8,8,3,3]) {
  %a: f32[2,8,5,3] = aten::relu(%x)
  %c: f32[2,8,5,3] = aten::conv2d(%a, %k, padding=[1, 1])
  %r: f32[2,8,5,3] = aten::relu(%c)
  %d: f32[2,8,5,3] = aten::conv2d(%r, %l, padding=[1, 1])
  %s: f32[2,8,5,3] = aten::add.Tensor(SUM)
  %o: f32[2,8,5,3] = aten::relu(%s)
  return (%o)
}";

/// `%to`, what is above 0 of the images of `from` and of those added, from either layout to channels last or to rows.
fn kernel(to: &str, from: &[&str], is_last: bool) -> String {
    let inputs: String = (0..from.len()).map(|at| format!(" in x{at}: f32[2,8,5,3]")).collect();
    let loads: String = (0..from.len()).map(|at| format!(" v{at}: f32 = load x{at}[i0, i1, i2, i3] clamp")).collect();
    let (sum, next) = if from.len() == 2 { (" v2: f32 = add v0, v1", 3) } else { ("", 1) };
    let (order, shape) = if is_last { ("p0, p2, p3, p1", "2,5,3,8") } else { ("p0, p1, p2, p3", "2,8,5,3") };
    let name = if is_last { format!("{to}_") } else { to.to_owned() };
    let view = format!("  %{to}: f32[2,8,5,3]{{120,1,24,8}} = aten::permute(%{name}, [0, 3, 1, 2])\n");
    format!(
        "  %{name}: f32[{shape}] = kernel(%{}) {{ space p0=2, p1=8, p2=5, p3=3{inputs} i0 = p0 i1 = p1 i2 = p2 i3 = p3{loads}{sum} \
         v{next}: f32 = const 0.0 v{}: f32 = max v{}, v{next} out v{} over [{order}] as [{shape}] }}\n{}",
        from.join(", %"),
        next + 1,
        next - 1,
        next + 1,
        if is_last { view } else { String::new() }
    )
}

/// `%to`, a weight with its channels last.
fn weight(to: &str, from: &str) -> String {
    format!(
        "  %{to}_: f32[8,3,3,8] = kernel(%{from}) {{ space p0=8, p1=3, p2=3, p3=8 in x0: f32[8,8,3,3] i0 = p0 i1 = p3 \
         i2 = p1 i3 = p2 v0: f32 = load x0[i0, i1, i2, i3] clamp out v0 over [p0, p1, p2, p3] as [8,3,3,8] }}\n  \
         %{to}: f32[8,8,3,3]{{72,1,24,8}} = aten::permute(%{to}_, [0, 3, 1, 2])\n"
    )
}

fn run(text: &str) -> Vec<u8> {
    let graph = Graph::parse(text).unwrap();
    let context = Arc::new(Context::cpu(Target::cpu()));
    let program = Program::compile(&graph, Mode::Declared, &Hints::default(), &context).unwrap();
    let inputs = graph.inputs.iter().enumerate().map(|(number, &input)| {
        let ty: &TensorType = graph.ty(input);
        assert_eq!(ty.dtype, Dtype::F32);
        let number = number as u64 + 3;
        let values = (0..ty.numel()).map(|at| (at * 7 + at / 5 * number) % 5).map(|value| value as f32 - 2.0);
        Tensor::from_bytes(&Target::cpu(), ty, &values.flat_map(f32::to_le_bytes).collect::<Vec<u8>>()).unwrap()
    });
    let inputs: Vec<Tensor> = inputs.collect();
    // Types of results are held against those that are declared in the first run.
    let [first, second] = [(), ()].map(|()| program.run(&inputs).unwrap()[0].to_bytes());
    assert_eq!(first, second);
    first
}

#[test]
fn kernels_around_convolutions_may_write_channels_last() {
    for sum in [["d", "a"], ["a", "d"]] {
        let convolved = |to: &str, of: &str, with: &str| {
            format!("  %{to}: f32[2,8,5,3]{{120,1,24,8}} = aten::conv2d(%{of}, %{with}, padding=[1, 1])\n")
        };
        let nodes = [
            kernel("a", &["x"], true),
            weight("k2", "k"),
            convolved("c", "a", "k2"),
            kernel("r", &["c"], true),
            weight("l2", "l"),
            convolved("d", "r", "l2"),
            kernel("o", &sum, false),
        ];
        let head = "graph(%x: f32[2,8,5,3], %k: f32[8,8,3,3], %l: f32[8,8,3,3]) {\n";
        let found = run(&[head, &nodes.concat(), "  return (%o)\n}"].concat());
        assert!(found.iter().any(|&byte| byte != 0));
        assert_eq!(found, run(&BLOCK.replace("SUM", &format!("%{}", sum.join(", %")))));
    }
}
