#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod answer;
mod calls;
mod malformed;
pub(crate) mod types;

use crate::{InputMode, SampleError, SampleText, find};
use expect_test::{Expect, expect};
use passhost_ir::Draw;
use std::path::Path;
use types::Contiguous;

const WEIGHT: &str = "class Program_weight_tensor_meta_in_0:\n\tname = \"in_0\"\n\tshape = [4, 3]\n\tdtype = \"torch.float32\"\n\tdevice = \"cpu\"\n\tmean = 0.5\n\tstd = 2.0\n\tdata = None\n";

fn model(body: &str) -> String {
    let lines: String = body.lines().map(|line| format!("        {line}\n")).collect();
    format!("import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0):\n{lines}")
}

/// The samples that a path names, all of them read.
fn open(path: &Path) -> Result<Vec<SampleText>, SampleError> {
    find(path)?.iter().map(|path| SampleText::open(path)).collect()
}

fn load(model: &str, weights: &str) -> Result<crate::SampleVariant, SampleError> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("model.py"), model).unwrap();
    std::fs::write(directory.path().join("weight_meta.py"), weights).unwrap();
    open(directory.path())?[0].load(0, InputMode::Fresh, &mut Contiguous)
}

fn check(body: &str, expected: &Expect) {
    expected.assert_eq(&load(&model(body), WEIGHT).unwrap().program.to_string());
}

fn refusal(model: &str, weights: &str) -> String {
    match load(model, weights) {
        Err(error) => error.to_string(),
        Ok(variant) => panic!("{model}\n{}", variant.program),
    }
}

#[test]
fn parameters_are_called_by_where_the_model_keeps_them_and_of_a_long_name_the_end_is_left() {
    let near = "L_self_modules_layer_modules_3_parameters_weight_".to_owned();
    let far = format!("L_self_modules_{}norm_parameters_weight_", "outer_modules_".repeat(9));
    let body = format!("return ({near} + {far},)");
    let text = model(&body).replace("in_0", &format!("{near}, {far}"));
    let record = |name: &str| WEIGHT.replace("in_0", name);
    let program = load(&text, &(record(&near) + &record(&far))).unwrap().program.to_string();
    let first = program.lines().next().unwrap();
    assert_eq!(first, "graph(%layer.3.weight: f32[4,3], %outer.outer.outer.outer.outer.outer.norm.weight: f32[4,3]) {");
    assert_eq!(passhost_ir::Graph::parse(&program).unwrap().to_string(), program);
}

#[test]
fn python_numbers_find_the_overloads_that_pytorch_takes() {
    check(
        "a = 0.5 * in_0\nb = torch.pow(a, 3.0)\nc = 1 - b\nd = 2.0 / c\nd += in_0\ne = d\nd = None\nf = torch.nn.functional.relu(e, inplace=True)\nreturn (f,)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %a: f32[4,3] = aten::mul.Scalar(%in_0, 0.5)
              %b: f32[4,3] = aten::pow.Tensor_Scalar(%a, 3.0)
              %c: f32[4,3] = aten::rsub.Scalar(%b, 1)
              %v_4: f32[4,3] = aten::reciprocal(%c)
              %d: f32[4,3] = aten::mul.Scalar(%v_4, 2.0)
              %e: f32[4,3] = aten::add_.Tensor(%d, %in_0)
              %f: f32[4,3] = aten::relu_(%e)
              return (%f)
            }
        "#]],
    );
}

#[test]
fn shapes_are_python_values() {
    check(
        "n = in_0.size(0)\nm = in_0.shape[-1] * n + 2 ** 3 // 3\ny = in_0 * m\nz = torch.cat([y, in_0], dim=-1)\nreturn (y, z)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %y: f32[4,3] = aten::mul.Scalar(%in_0, 14)
              %z: f32[4,6] = aten::cat([%y, %in_0], dim=-1)
              return (%y, %z)
            }
        "#]],
    );
}

#[test]
fn subscripts_are_views_dimension_by_dimension() {
    check(
        "a = in_0[Ellipsis, slice(1, None, 2)]\nb = in_0[..., ::2]\nc = in_0[:, None, 0:-1]\nd = in_0[-1, ...]\nreturn (a, b, c, d)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %a: f32[4,1] = aten::slice.Tensor(%in_0, dim=1, start=1, step=2)
              %b: f32[4,2] = aten::slice.Tensor(%in_0, dim=1, step=2)
              %v_3: f32[4,1,3] = aten::unsqueeze(%in_0, 1)
              %c: f32[4,1,2] = aten::slice.Tensor(%v_3, dim=2, start=0, end=-1)
              %d: f32[3] = aten::select.int(%in_0, 0, -1)
              return (%a, %b, %c, %d)
            }
        "#]],
    );
}

#[test]
fn sizes_come_one_by_one_as_a_tuple_or_as_a_size() {
    check(
        "a = in_0.view(2, -1)\nb = in_0.reshape((3, 4)).transpose(-1, -2)\nc = in_0.unsqueeze(0).expand(torch.Size([5, 4, 3]))\nd = c.permute(0, 2, 1).contiguous()\ne = d.flatten(1)\nreturn (a, b, c, e)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %a: f32[2,6] = aten::view(%in_0, [2, -1])
              %v_2: f32[3,4] = aten::reshape(%in_0, [3, 4])
              %b: f32[4,3] = aten::transpose.int(%v_2, -1, -2)
              %v_4: f32[1,4,3] = aten::unsqueeze(%in_0, 0)
              %c: f32[5,4,3] = aten::expand(%v_4, [5, 4, 3])
              %v_6: f32[5,3,4] = aten::permute(%c, [0, 2, 1])
              %d: f32[5,3,4] = aten::contiguous(%v_6)
              %e: f32[5,12] = aten::flatten.using_ints(%d, start_dim=1)
              return (%a, %b, %c, %e)
            }
        "#]],
    );
}

#[test]
fn tuples_of_tensors_are_unpacked_or_indexed() {
    check(
        "a, b = in_0.chunk(2, dim=0)\nc = torch.functional.split(in_0, [1, 2], dim=-1)\nd = c[1]\ne = torch.functional.split(in_0, split_size_or_sections=3)\nf = e[0]\ng = in_0.split((2, 2))\nh = g[-1]\nreturn (a, b, d, f, h)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %a: f32[2,3], %b: f32[2,3] = aten::chunk(%in_0, 2)
              %v_3: f32[4,1], %d: f32[4,2] = aten::split.sizes(%in_0, [1, 2], dim=-1)
              %f: f32[3,3], %v_6: f32[1,3] = aten::split.Tensor(%in_0, 3)
              %v_7: f32[2,3], %h: f32[2,3] = aten::split.sizes(%in_0, [2, 2])
              return (%a, %b, %d, %f, %h)
            }
        "#]],
    );
}

#[test]
fn element_types_follow_the_call() {
    check(
        "a = in_0.to(torch.float16)\nb = a.float().type_as(a)\nc = in_0.to(dtype=torch.bfloat16)\nd = c.to(device(type='cuda', index=0))\ne = b.double()\nreturn (a, d, e)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %a: f16[4,3] = aten::to.dtype(%in_0, f16)
              %v_2: f32[4,3] = aten::to.dtype(%a, f32)
              %b: f16[4,3] = aten::to.dtype(%v_2, f16)
              %c: bf16[4,3] = aten::to.dtype(%in_0, bf16)
              %e: f64[4,3] = aten::to.dtype(%b, f64)
              return (%a, %c, %e)
            }
        "#]],
    );
}

#[test]
fn reductions_take_one_dimension_or_several() {
    check(
        "a = in_0.pow(2).mean(-1, keepdim=True)\nb = torch.rsqrt(a + 1e-06)\nc = torch.sum(in_0, 1)\nd = in_0.sum((0, 1), keepdim=True)\ne = torch.clamp(c, min=1e-09)\nf = torch.mean(in_0, axis=0)\nreturn (b, d, e, f)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %v_1: f32[4,3] = aten::pow.Tensor_Scalar(%in_0, 2)
              %a: f32[4,1] = aten::mean.dim(%v_1, [-1], keepdim=true)
              %v_3: f32[4,1] = aten::add.Scalar(%a, 1e-6)
              %b: f32[4,1] = aten::rsqrt(%v_3)
              %c: f32[4] = aten::sum.dim_IntList(%in_0, [1])
              %d: f32[1,1] = aten::sum.dim_IntList(%in_0, [0, 1], keepdim=true)
              %e: f32[4] = aten::clamp(%c, min=1e-9)
              %f: f32[3] = aten::mean.dim(%in_0, [0])
              return (%b, %d, %e, %f)
            }
        "#]],
    );
}

#[test]
fn norms_and_pools_take_pythons_defaults() {
    check(
        "x = in_0.view(1, 1, 4, 3)\nw = in_0.sum((0, 1), keepdim=True).view(1)\na = torch.nn.functional.batch_norm(x, w, w, None, None, False, 0.1, 1e-05)\nb = torch.nn.functional.max_pool2d(a, 2, 2, 0, 1, ceil_mode=False, return_indices=False)\nc = torch._C._nn.avg_pool2d(a, kernel_size=2, stride=None)\nd = torch.nn.functional.adaptive_avg_pool2d(a, 1).flatten(1, -1)\ne = torch.nn.functional.rms_norm(in_0, (3,), None, 1e-06)\nf = torch._C._nn.gelu(e, approximate='none')\ng = torch._C._nn.pad(f, (0, 0, 1, 0), 'constant', None)\nh = torch.roll(g, shifts=(1, 2), dims=(0, 1))\ni = -torch.cat((h, g), dim=0)\nreturn (b, c, d, i)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %x: f32[1,1,4,3] = aten::view(%in_0, [1, 1, 4, 3])
              %v_2: f32[1,1] = aten::sum.dim_IntList(%in_0, [0, 1], keepdim=true)
              %w: f32[1] = aten::view(%v_2, [1])
              %a: f32[1,1,4,3] = aten::batch_norm(%x, none, none, %w, %w, false, 0.1, 1e-5, true)
              %b: f32[1,1,2,1] = aten::max_pool2d(%a, [2, 2], stride=[2, 2])
              %c: f32[1,1,2,1] = aten::avg_pool2d(%a, [2, 2])
              %v_7: f32[1,1,1,1] = aten::adaptive_avg_pool2d(%a, [1, 1])
              %d: f32[1,1] = aten::flatten.using_ints(%v_7, start_dim=1)
              %e: f32[4,3] = aten::rms_norm(%in_0, [3], eps=1e-6)
              %f: f32[4,3] = aten::gelu(%e)
              %g: f32[5,3] = aten::pad(%f, [0, 0, 1, 0])
              %h: f32[5,3] = aten::roll(%g, [1, 2], dims=[0, 1])
              %v_13: f32[10,3] = aten::cat([%h, %g])
              %i: f32[10,3] = aten::neg(%v_13)
              return (%b, %c, %d, %i)
            }
        "#]],
    );
}

#[test]
fn every_reference_sample_translates() {
    let list = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../../samples/reference.txt");
    let samples = open(&list).unwrap();
    assert_eq!(samples.len(), 12);
    for sample in samples {
        assert_eq!(sample.variants().len(), 6, "{}", sample.name());
        for index in 0..6 {
            let variant = sample.load(index, InputMode::Fresh, &mut Contiguous).unwrap();
            assert!(!variant.program.nodes.is_empty());
            for input in &variant.inputs {
                assert!(!input.is_fixed(), "{}: {input:?}", sample.name());
            }
        }
    }
}

#[test]
fn inputs_are_never_constant_and_keep_what_is_recorded() {
    let body = "x = torch.nn.functional.layer_norm(in_0, (3,), in_0, None)\nreturn (x,)";
    let draw = |weights: &str| load(&model(body), weights).unwrap().inputs.remove(0).draw;
    assert_eq!(draw(WEIGHT), Draw::Normal { mean: 0.5, std: 2.0 });
    let constant = WEIGHT.replace("std = 2.0", "std = 0.0");
    assert_eq!(draw(&constant), Draw::Normal { mean: 0.5, std: 1.0 });
    let masked = WEIGHT.replace("data = None", "data = None\n\tmin_val = -65504.0\n\tmax_val = 0.0");
    assert_eq!(draw(&masked), Draw::FloatMask { low: -65504.0 });
    let loss = "x = torch.nn.functional.binary_cross_entropy(in_0.sigmoid(), in_0)\nreturn (x,)";
    let probability = load(&model(loss), WEIGHT).unwrap().inputs.remove(0);
    assert_eq!((probability.min, probability.max), (Some(0.0), Some(1.0)));
    let nan = WEIGHT.replace("std = 2.0", "std = float(\"nan\")");
    assert_eq!(draw(&nan), Draw::Normal { mean: 0.5, std: 1.0 });
}
