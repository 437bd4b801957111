#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::{InputMode, SampleError, open};
use expect_test::{Expect, expect};
use passhost_ir::{Arg, Draw, Infer, InferError, OpName, TensorType, numel};
use std::path::Path;

/// Types of pointwise ops and of those that keep their first operand's type: enough for the graphs below, and honest
/// about all others.
struct Pointwise;

impl Infer for Pointwise {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let tensors: Vec<&TensorType> = args.iter().flat_map(Arg::values).collect();
        let largest = tensors.iter().max_by_key(|ty| numel(&ty.shape)).copied();
        let known = [
            "add",
            "add_",
            "mul",
            "div",
            "sub",
            "rsub",
            "reciprocal",
            "pow",
            "tanh",
            "sigmoid",
            "relu",
            "relu_",
            "softmax",
            "dropout",
            "layer_norm",
            "cat",
        ];
        match largest {
            Some(ty) if known.iter().any(|name| op.name == format!("aten::{name}")) => Ok(vec![ty.clone()]),
            _ => Err(InferError::Unknown(op.to_string())),
        }
    }
}

const WEIGHT: &str = "class Program_weight_tensor_meta_in_0:\n\tname = \"in_0\"\n\tshape = [4, 3]\n\tdtype = \"torch.float32\"\n\tdevice = \"cpu\"\n\tmean = 0.5\n\tstd = 2.0\n\tdata = None\n";

fn model(body: &str) -> String {
    let lines: String = body.lines().map(|line| format!("        {line}\n")).collect();
    format!("import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0):\n{lines}")
}

fn load(model: &str, weights: &str) -> Result<crate::Variant, SampleError> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("model.py"), model).unwrap();
    std::fs::write(directory.path().join("weight_meta.py"), weights).unwrap();
    open(directory.path())?[0].load(0, InputMode::Fresh, &mut Pointwise)
}

fn check(body: &str, expected: &Expect) {
    expected.assert_eq(&load(&model(body), WEIGHT).unwrap().program.to_string());
}

fn refusal(model: &str, weights: &str) -> String {
    load(model, weights).unwrap_err().to_string()
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
              %z: f32[4,3] = aten::cat([%y, %in_0], dim=-1)
              return (%y, %z)
            }
        "#]],
    );
}

#[test]
fn every_shipped_sample_translates() {
    let list = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../samples/all.txt");
    let samples = open(&list).unwrap();
    assert_eq!(samples.len(), 4);
    for sample in samples {
        assert_eq!(sample.variants().len(), 6, "{}", sample.name());
        for index in 0..6 {
            let variant = sample.load(index, InputMode::Fresh, &mut Pointwise).unwrap();
            assert!(!variant.program.nodes.is_empty());
            for input in &variant.inputs {
                assert!(!input.is_fixed(), "{}: {input:?}", sample.name());
            }
        }
    }
}

#[test]
fn what_is_no_straight_line_graph_is_refused_with_its_place() {
    let cases = [
        (model("if True:\n    return (in_0,)"), "model.py:6:9", "straight-line"),
        (model("for i in range(3):\n    pass\nreturn (in_0,)"), "model.py:6:9", "straight-line"),
        (model("x = self.weight\nreturn (x,)"), "model.py:6:13", "`self` is not defined"),
        (model("x = torch.frobnicate(in_0, 3, k=[1])\nreturn (x,)"), "torch.frobnicate(T, int, k=list)", "no op"),
        (model("x = in_0.frobnicate()\nreturn (x,)"), "T.frobnicate()", "no op"),
        (model("x = torch.tanh(in_0, in_0, 3)\nreturn (x,)"), "model.py:6:13", "positional arguments"),
        (model("x = open('/etc/passwd')\nreturn (in_0,)"), "open(str)", "no torch function"),
        (model("return (in_0, 3)"), "model.py:6:9", "returning anything but tensors"),
        (model("x = in_0"), "model.py", "returns nothing"),
        (model("x = torch.nn.functional.dropout(in_0, 0.5, True)\nreturn (x,)"), "dropout", "random"),
        (model("x = in_0 * 99999999999999999999\nreturn (x,)"), "model.py:6:20", "64 bits"),
        (format!("import os\n{}", model("return (in_0,)")), "model.py:1:1", "import torch"),
        (format!("{}\nimport torch\ntorch.load('x')\n", model("return (in_0,)")), "model.py", "expected"),
        ("def forward(self".to_owned(), "model.py", ""),
        (String::new(), "model.py", "no class"),
    ];
    for (model, place, text) in cases {
        let message = refusal(&model, WEIGHT);
        assert!(message.contains(place) && message.contains(text), "{model}\n{message}");
    }
}

#[test]
fn weights_that_cannot_be_are_refused_by_name() {
    let whole = model("return (in_0,)");
    let cases = [
        (WEIGHT.replace("[4, 3]", "[1152921504606846976]"), "spans more than"),
        (WEIGHT.replace("[4, 3]", "[4, -3]"), "negative"),
        (WEIGHT.replace("[4, 3]", "[99999999999999999999]"), "64 bits"),
        (WEIGHT.replace("[4, 3]", "\"four\""), "`shape`"),
        (WEIGHT.replace("torch.float32", "torch.float12"), "`dtype`"),
        (WEIGHT.replace("data = None", "data = [1.0, 2.0]"), "2 elements"),
        (WEIGHT.replace("mean = 0.5", "mean = open('x')"), "literal"),
        (WEIGHT.replace("\"in_0\"", "\"in_7\""), "in_0"),
        (format!("{WEIGHT}\n{}", WEIGHT.replace("in_0", "in_1")), "in_1"),
        ("import os\nos.abort()\n".to_owned(), "only classes"),
        (String::new(), "in_0"),
    ];
    for (weights, text) in cases {
        let message = refusal(&whole, &weights);
        assert!(message.contains(text), "{weights}\n{message}");
    }
}

#[test]
fn text_that_would_exhaust_the_parser_is_refused_before_it() {
    let deep =
        |open: &str, close: &str| model(&format!("x = {}in_0{}\nreturn (x,)", open.repeat(5000), close.repeat(5000)));
    for model in [deep("(", ")"), deep("-", ""), deep("not ", ""), deep("in_0 + ", ""), deep("torch.tanh(", ")")] {
        let message = refusal(&model, WEIGHT);
        assert!(message.contains("nested too deeply") || message.contains("too long"), "{message}");
    }
    let indented = format!("{}{}pass\n", model("return (in_0,)"), " ".repeat(10_000));
    assert!(refusal(&indented, WEIGHT).contains("indented too deeply"));
}

#[test]
fn nothing_outside_the_directory_is_opened() {
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("sample");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(directory.path().join("secret.py"), "x").unwrap();
    std::fs::write(inside.join("graph_list.txt"), "../\n").unwrap();
    assert!(matches!(open(&inside), Err(SampleError::Read { .. })));
    std::fs::remove_file(inside.join("graph_list.txt")).unwrap();
    std::os::unix::fs::symlink("../secret.py", inside.join("model.py")).unwrap();
    std::fs::write(inside.join("graph_list.txt"), ".\n").unwrap();
    assert!(open(&inside).is_err());
}

#[test]
fn files_that_are_missing_too_large_or_no_text_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    assert!(matches!(open(&path.join("nowhere")), Err(SampleError::Open { .. })));
    assert!(matches!(open(path), Err(SampleError::NoSample { .. })));
    std::fs::write(path.join("model.py"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(open(path).unwrap_err().to_string().contains("UTF-8"));
    std::fs::write(path.join("model.py"), "x").unwrap();
    assert!(open(path).unwrap_err().to_string().contains("weight_meta.py"));
    let sparse = std::fs::File::create(path.join("model.py")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    assert!(matches!(open(path), Err(SampleError::TooLarge { .. })));
    std::fs::write(path.join("empty.txt"), "# nothing\n").unwrap();
    assert!(matches!(open(&path.join("empty.txt")), Err(SampleError::Count { found: 0, .. })));
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
    let nan = WEIGHT.replace("std = 2.0", "std = float(\"nan\")");
    assert_eq!(draw(&nan), Draw::Normal { mean: 0.5, std: 1.0 });
}

#[test]
fn changed_bytes_never_panic() {
    let text = model("a = 0.5 * in_0\nb = torch.pow(a, 3.0)\nb += in_0[0:2, None]\nreturn (b, a)");
    let mut state = 1u64;
    let mut random = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % bound
    };
    for _ in 0..3000 {
        let (mut model, mut weights) = (text.clone().into_bytes(), WEIGHT.as_bytes().to_vec());
        for _ in 0..1 + random(3) {
            let target = if random(2) == 0 { &mut model } else { &mut weights };
            let position = random(target.len());
            match random(3) {
                0 => target[position] = b" \n()[]{},.=+-*:'\"019xa\\#@"[random(25)],
                1 => drop(target.remove(position)),
                _ => target.truncate(position.max(1)),
            }
        }
        let (model, weights) = (String::from_utf8(model).unwrap(), String::from_utf8(weights).unwrap());
        // Either outcome is fine; a panic fails the test.
        let _ = load(&model, &weights);
    }
}
