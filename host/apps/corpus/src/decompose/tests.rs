#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::types::Contiguous;
use expect_test::{Expect, expect};
use passhost_ir::{OpTable, TensorType, canonical_text, functionalise};
use passhost_sample::{Constraints, GraphFolder, SampleText, Weight, model_text, weight_text};
use sha2::{Digest, Sha256};
use std::path::Path;

/// A model by its parameters (`x f32 2,3; i i64 4 0..9`) and the lines of its `forward`.
fn reading(parameters: &str, body: &str) -> Reading {
    let directory = tempfile::tempdir().unwrap();
    let weights: Vec<Weight> = parameters.split("; ").map(weight).collect();
    let names: Vec<&str> = weights.iter().map(|weight| weight.name.as_str()).collect();
    let lines: String = body.lines().map(|line| format!("        {line}\n")).collect();
    let head = "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, ";
    std::fs::write(directory.path().join("model.py"), format!("{head}{}):\n{lines}", names.join(", "))).unwrap();
    std::fs::write(directory.path().join("weight_meta.py"), weight_text(&weights)).unwrap();
    SampleText::open(directory.path()).unwrap().reading(0, &mut Contiguous).unwrap()
}

fn weight(text: &str) -> Weight {
    let words: Vec<&str> = text.split(' ').collect();
    let shape: Vec<i64> =
        words[2].split(',').filter(|extent| !extent.is_empty()).map(|extent| extent.parse().unwrap()).collect();
    let bounds = words.get(3).map(|bounds| bounds.split_once("..").unwrap());
    Weight {
        name: words[0].to_owned(),
        original_name: None,
        ty: TensorType::contiguous(words[1].parse().unwrap(), shape),
        mean: Some(0.25),
        std: Some(3.0),
        data: None,
        min: bounds.map(|(low, _)| low.parse().unwrap()),
        max: bounds.map(|(_, high)| high.parse().unwrap()),
    }
}

/// The calls, the inputs and the results of a piece, or why it is none.
fn shown(model: &Model<'_>, range: Range<usize>) -> String {
    let piece = match model.cut(range).and_then(|draft| draft.read(&mut Contiguous)) {
        Ok(piece) => piece,
        Err(refusal) => return format!("{refusal}\n"),
    };
    let mut text = String::new();
    for weight in &piece.weights {
        let bound = |bound: Option<f64>| bound.map_or_else(|| "_".to_owned(), |bound| bound.to_string());
        let statistics = match (weight.mean, weight.std) {
            (Some(mean), Some(std)) => format!("{mean} +- {std}"),
            _ => "-".to_owned(),
        };
        let original = weight.original_name.clone().unwrap_or_default();
        let (min, max) = (bound(weight.min), bound(weight.max));
        text.push_str(&format!("{}: {} is {original}, {statistics} in {min}..{max}\n", weight.name, weight.ty));
    }
    let lines = model_text(&piece.program);
    let freed = |line: &&str| line.ends_with(" = None");
    for line in lines.lines().skip_while(|line| !line.contains("def ")).skip(1).filter(|line| !freed(line)) {
        text.push_str(line.trim());
        text.push('\n');
    }
    text
}

fn check_cut(parameters: &str, body: &str, range: Range<usize>, expected: &Expect) {
    let reading = reading(parameters, body);
    expected.assert_eq(&shown(&Model::of(&reading), range));
}

#[test]
fn what_enters_comes_in_order_of_its_first_use_and_what_is_read_later_leaves() {
    let body = "a = torch.tanh(x)\nb = a + w\nc = b * a\nd = torch.sigmoid(c)\ne = b + d\nreturn (e, c)";
    check_cut(
        "x f32 2,3; w f32 3",
        body,
        1..4,
        &expect![[r#"
            in_0: f32[2,3] is a, 0 +- 0.25 in -1..1
            in_1: f32[3] is w, 0.25 +- 3 in _.._
            tmp_0 = in_0 + in_1
            tmp_1 = tmp_0 * in_0
            tmp_2 = torch.sigmoid(tmp_1)
            return (tmp_0, tmp_1, tmp_2)
        "#]],
    );
}

#[test]
fn what_python_knows_is_written_where_it_is_used() {
    let body =
        "n = x.shape[0]\nt = x.dtype\na = torch.tanh(x)\nb = a.view(n, -1, 1)\nc = b.to(t)\nd = c * n\nreturn (d,)";
    check_cut(
        "x f32 2,3",
        body,
        1..4,
        &expect![[r#"
            in_0: f32[2,3] is a, 0 +- 0.25 in -1..1
            tmp_0 = in_0.view(2, -1, 1)
            tmp_1 = tmp_0.to(torch.float32)
            tmp_2 = tmp_1 * 2
            return (tmp_2,)
        "#]],
    );
}

#[test]
fn elements_of_a_tuple_go_with_the_call_that_returns_it_or_enter_as_tensors() {
    let body = "a = torch.tanh(x)\nb = a.chunk(2, dim=0)\nc = b[1]\nd = torch.sigmoid(c)\ne = b[0]\nf = e + d\ng = torch.cat(b)\nreturn (f, g)";
    check_cut(
        "x f32 2,3",
        body,
        1..3,
        &expect![[r#"
            in_0: f32[2,3] is a, 0 +- 0.25 in -1..1
            tmp_0 = in_0.chunk(2, dim=0)
            tmp_1 = tmp_0[1]
            tmp_2 = torch.sigmoid(tmp_1)
            tmp_3 = tmp_0[0]
            return (tmp_3, tmp_1, tmp_2)
        "#]],
    );
    check_cut(
        "x f32 2,3",
        body,
        3..5,
        &expect![[r#"
            in_0: f32[1,3] is e, 0 +- 0.25 in -1..1
            in_1: f32[1,3] is d, 0.5 +- 0.125 in 0..1
            in_2: f32[1,3] is c, 0 +- 0.25 in -1..1
            tmp_0 = in_0 + in_1
            tmp_1 = torch.cat((in_0, in_2))
            return (tmp_0, tmp_1)
        "#]],
    );
}

#[test]
fn a_tensor_that_is_overwritten_leaves_where_its_memory_is_read_later() {
    // The result of the in-place op has no reader; what it wrote to has.
    let body = "a = torch.tanh(x)\nb = torch.nn.functional.relu(a, inplace=True)\na[0] = 3.0\nc = torch.sigmoid(a)\nreturn (c,)";
    check_cut(
        "x f32 2,3",
        body,
        1..2,
        &expect![[r#"
            in_0: f32[2,3] is a, 1 +- 0.5 in -1..3
            tmp_0 = torch.nn.functional.relu(in_0, inplace=True)
            return (in_0,)
        "#]],
    );
    check_cut(
        "x f32 2,3",
        body,
        2..3,
        &expect![[r#"
            in_0: f32[2,3] is a, 1 +- 0.5 in -1..3
            in_0[0] = 3.0
            return (in_0,)
        "#]],
    );
}

#[test]
fn memory_that_is_written_may_not_enter_twice() {
    let body = "a = torch.tanh(x)\nb = a.view(6)\na += 1.0\nc = b * 2.0\nd = a * 3.0\nreturn (c, d)";
    check_cut(
        "x f32 2,3",
        body,
        2..4,
        &expect![[r#"
        `operator.iadd` writes to memory that enters the piece as two tensors
    "#]],
    );
    // Once it is written, both names of it are one input.
    check_cut(
        "x f32 2,3",
        body,
        4..5,
        &expect![[r#"
        in_0: f32[2,3] is a, 0.5 +- 0.375 in -1..2
        tmp_0 = in_0 * 3.0
        return (tmp_0,)
    "#]],
    );
}

#[test]
fn inputs_that_the_model_computes_are_such_that_the_piece_runs() {
    // An additive mask; positions that stay in their table; what is divided by.
    let body = "a = 1.0 - m\nb = a * -10000.0\nc = torch.arange(4)\nd = c + 1\ne = torch.nn.functional.embedding(d, w)\nf = e + b\ng = x.sum(-1, keepdim=True)\nh = f / g\nreturn (h,)";
    let parameters = "x f32 4,3; m f32 4,1 0..1; w f32 5,3";
    check_cut(
        parameters,
        body,
        5..6,
        &expect![[r#"
        in_0: f32[4,3] is e, 0 +- 1 in _.._
        in_1: f32[4,1] is b, 0 +- 1 in -10000..0
        tmp_0 = in_0 + in_1
        return (tmp_0,)
    "#]],
    );
    check_cut(
        parameters,
        body,
        4..5,
        &expect![[r#"
        in_0: i64[4] is d, - in 1..4
        in_1: f32[5,3] is w, 0.25 +- 3 in _.._
        tmp_0 = torch.nn.functional.embedding(in_0, in_1)
        return (tmp_0,)
    "#]],
    );
    check_cut(
        parameters,
        body,
        7..8,
        &expect![[r#"
        in_0: f32[4,3] is f, 0 +- 1 in _.._
        in_1: f32[4,1] is g, 2 +- 0.05 in 0.._
        tmp_0 = in_0 / in_1
        return (tmp_0,)
    "#]],
    );
}

#[test]
fn an_index_of_unknown_range_gets_that_of_its_table_or_is_refused() {
    let body = "a = i * i\nb = torch.nn.functional.embedding(a, w)\nreturn (b,)";
    check_cut(
        "i i64 4 0..3; w f32 5,3",
        body,
        1..2,
        &expect![[r#"
        in_0: i64[4] is a, - in 0..4
        in_1: f32[5,3] is w, 0.25 +- 3 in _.._
        tmp_0 = torch.nn.functional.embedding(in_0, in_1)
        return (tmp_0,)
    "#]],
    );
    check_cut(
        "i i64 4 0..3; w f32 5,3",
        body,
        0..2,
        &expect![[r#"
        `aten::embedding` might be given an index outside
    "#]],
    );
}

/// The op sequences of the fusible pieces, one a line.
fn fusible(parameters: &str, body: &str) -> String {
    let reading = reading(parameters, body);
    let model = Model::of(&reading);
    let ops = model.ops();
    let lines = model.fusible().into_iter().map(|range| {
        let names: Vec<&str> = ops[range].iter().flatten().map(|op| op.rsplit('.').next().unwrap()).collect();
        format!("{}\n", names.join(" "))
    });
    lines.collect()
}

#[test]
fn a_stretch_is_one_kernel_behind_one_call_of_a_library() {
    let linear = "torch.nn.functional.linear";
    for (what, body, expected) in [
        (
            "what follows a matrix product joins it, and the next one begins a stretch",
            format!("a = {linear}(x, w)\nb = torch.tanh(a)\nc = b + x\nd = {linear}(c, w)\ne = torch.sigmoid(d)\nreturn (e,)"),
            "linear tanh add\nlinear sigmoid\n",
        ),
        (
            "what stands in front of a matrix product is a kernel of its own",
            format!("a = torch.tanh(x)\nb = a + x\nc = {linear}(b, w)\nreturn (c,)"),
            "tanh add\n",
        ),
        (
            "one op by itself is no stretch",
            format!("a = {linear}(x, w)\nb = {linear}(a, w)\nc = torch.tanh(b)\nd = {linear}(c, w)\nreturn (d,)"),
            "linear tanh\n",
        ),
        (
            "reductions of the same rows and what is in their rows",
            "a = x.mean(-1, keepdim=True)\nb = x - a\nc = b.pow(2)\nd = c.mean(-1, keepdim=True)\ne = d + 1.0\nf = b * e\nreturn (f,)".into(),
            "mean sub pow mean add mul\n",
        ),
        (
            "a reduction of a reduction along other dimensions is a second kernel",
            "a = torch.tanh(x)\nb = a.sum(-1)\nc = torch.sigmoid(b)\nd = c.sum(-1)\ne = torch.tanh(d)\nreturn (e,)".into(),
            "tanh sum sigmoid\nsum tanh\n",
        ),
        (
            "two norms of one shape along different dimensions are two kernels",
            "a = x.softmax(-1)\nb = torch.tanh(a)\nc = b.softmax(0)\nd = torch.tanh(c)\nreturn (d,)".into(),
            "softmax tanh\nsoftmax tanh\n",
        ),
        (
            "what crosses rows behind a norm is a second kernel, in front of it is not",
            "a = torch.roll(x, 1, 0)\nb = a.softmax(-1)\nc = torch.tanh(b)\nd = torch.roll(c, 1, 0)\ne = torch.tanh(d)\nreturn (e,)".into(),
            "roll softmax tanh\nroll tanh\n",
        ),
        (
            "results of several sizes are several kernels",
            "a = torch.tanh(x)\nb = torch.sigmoid(x)\nc = torch.tanh(r)\nd = torch.sigmoid(c)\nreturn (a, b, d)".into(),
            "tanh sigmoid\ntanh sigmoid\n",
        ),
        (
            "a small result that is only broadcast is calculated again",
            "a = torch.tanh(r)\nb = x + a\nreturn (b,)".into(),
            "tanh add\n",
        ),
        (
            "a part of a norm may be a result and nothing that is calculated with",
            "a = torch.tanh(x)\nb = a.softmax(-1)\nc = b[0]\nd = torch.tanh(c)\ne = torch.sigmoid(d)\nreturn (e,)".into(),
            "tanh softmax getitem\ntanh sigmoid\n",
        ),
        (
            "views at the ends that have nothing to do with a stretch are left off",
            "v = r.view(4, 1)\na = torch.tanh(x)\nb = torch.sigmoid(a)\nw2 = w.transpose(0, 1)\nreturn (v, b, w2)".into(),
            "tanh sigmoid\n",
        ),
    ] {
        assert_eq!(fusible("x f32 4,4; w f32 4,4; r f32 4", &body), expected, "{what}");
    }
}

#[test]
fn channels_have_statistics_of_their_own() {
    let body = "a = torch.conv2d(x, w, None, (1, 1), (0, 0), (1, 1), 1)\nb = torch.nn.functional.batch_norm(a, m, v, g, g, False, 0.1, 1e-05)\nc = torch.nn.functional.relu(b, inplace=True)\nd = torch.nn.functional.max_pool2d(c, 2, 2, 0, 1, ceil_mode=False, return_indices=False)\ne = torch.conv2d(d, w, None, (1, 1), (0, 0), (1, 1), 1)\nf = torch.nn.functional.batch_norm(e, m, v, g, g, False, 0.1, 1e-05)\nf += d\nh = torch.nn.functional.adaptive_avg_pool2d(f, 1)\nreturn (h,)";
    let parameters = "x f32 1,2,8,8; w f32 2,2,1,1; m f32 2; v f32 2; g f32 2";
    assert_eq!(
        fusible(parameters, body),
        "conv2d batch_norm relu max_pool2d\nconv2d batch_norm iadd adaptive_avg_pool2d\n"
    );
}

/// The hash of a graph folder as `passhost samples hash` has it.
fn hash(path: &Path) -> String {
    let reading = SampleText::open(path).unwrap().reading(0, &mut Contiguous).unwrap();
    let functional = functionalise(reading.graph(), OpTable::sample()).unwrap();
    let text = canonical_text(&functional.graph, OpTable::sample()).unwrap();
    base16ct::lower::encode_string(&Sha256::digest(text))
}

#[test]
fn every_piece_of_every_reference_sample_is_written_and_reads_back_as_the_same_graph() {
    let list = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../../samples/reference.txt");
    let directory = tempfile::tempdir().unwrap();
    let mut count = 0;
    for path in passhost_sample::find(&list).unwrap() {
        let sample = SampleText::open(&path).unwrap();
        let reading = sample.reading(0, &mut Contiguous).unwrap();
        let model = Model::of(&reading);
        let whole = std::iter::once(0..model.ops().len());
        for range in model.sole_ops().into_iter().chain(model.fusible()).chain(whole) {
            let piece = model.cut(range.clone()).unwrap().read(&mut Contiguous).unwrap();
            let folder = directory.path().join(format!("{}-{range:?}", sample.name()));
            let constraints = Constraints::fixed(&piece.weights);
            let files = GraphFolder {
                program: &piece.program,
                weights: &piece.weights,
                constraints: &constraints,
                graph_net: "{}\n",
            };
            files.write(&folder).unwrap();
            assert_eq!(hash(&folder), piece.hash, "{} {range:?}", sample.name());
            count += 1;
        }
    }
    assert!(count > 60, "{count} pieces");
}

#[test]
fn a_whole_task_cut_out_whole_is_the_same_graph() {
    for name in ["rotary-embedding", "se-gate-add-relu", "residual-add-layer-norm"] {
        let path = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../../samples").join(name);
        let sample = SampleText::open(&path).unwrap();
        let reading = sample.reading(0, &mut Contiguous).unwrap();
        let functional = functionalise(reading.graph(), OpTable::sample()).unwrap();
        let text = canonical_text(&functional.graph, OpTable::sample()).unwrap();
        let whole = base16ct::lower::encode_string(&Sha256::digest(text));
        let model = Model::of(&reading);
        let piece = model.cut(0..model.ops().len()).unwrap().read(&mut Contiguous).unwrap();
        assert_eq!(piece.hash, whole, "{name}");
    }
}

/// A piece of one op on a shape, as a task's variant.
fn piece(body: &str, shape: &str, dtype: &str) -> ([u8; 32], Piece) {
    let reading = reading(&format!("x {dtype} {shape}"), body);
    let model = Model::of(&reading);
    let draft = model.cut(0..model.ops().len()).unwrap();
    (draft.key(), draft.read(&mut Contiguous).unwrap())
}

fn tasks(pieces: &[(&str, &str, &str, usize)]) -> Vec<Task> {
    let mut tasks = Tasks::default();
    for (number, (body, shape, dtype, model)) in pieces.iter().enumerate() {
        let (key, piece) = piece(body, shape, dtype);
        let origin = Origin { model: *model, place: (number, number + 1, number) };
        if !tasks.count(&key, &origin) {
            tasks.add(key, piece, String::new(), origin);
        }
    }
    tasks.finish(9)
}

#[test]
fn the_same_graph_is_one_variant_and_the_same_ops_are_one_task() {
    let (tanh, view) = ("a = torch.tanh(x)\nreturn (a,)", "a = x.view(-1, 1)\nreturn (a,)");
    let found = tasks(&[
        (tanh, "2,3", "f32", 1),
        (tanh, "2,3", "f32", 0),
        (tanh, "4,5", "f32", 1),
        (tanh, "2,3", "f16", 1),
        (view, "2,3", "f32", 1),
        ("a = x.view(2, 3)\nreturn (a,)", "6", "f32", 1),
    ]);
    let shown: Vec<(&str, usize, usize, usize)> =
        found.iter().map(|task| (&*task.ops()[0], task.graphs, task.occurrences, task.models.len())).collect();
    assert_eq!(shown, [("torch.tanh", 3, 4, 2), (".view", 2, 2, 1)]);
    // The copy in the first model stands for both.
    assert_eq!(found[0].variants[0].origin.model, 0);
}

#[test]
fn a_task_has_at_most_so_many_variants_and_of_all_element_types() {
    let tanh = "a = torch.tanh(x)\nreturn (a,)";
    let shapes: Vec<String> = (1..=20).map(|extent| extent.to_string()).collect();
    let mut pieces: Vec<(&str, &str, &str, usize)> = shapes.iter().map(|shape| (tanh, &**shape, "f32", 0)).collect();
    pieces.push((tanh, "7", "f16", 0));
    let found = tasks(&pieces);
    assert_eq!((found.len(), found[0].variants.len(), found[0].graphs), (1, 9, 21));
    assert!(found[0].variants.iter().any(|variant| variant.piece.dtype == passhost_ir::Dtype::F16));
}

#[test]
fn tasks_are_chosen_so_that_rare_neighbours_occur() {
    let found = tasks(&[
        ("a = torch.tanh(x)\nb = torch.sigmoid(a)\nreturn (b,)", "2", "f32", 0),
        ("a = torch.tanh(x)\nb = torch.sigmoid(a)\nreturn (a, b)", "2", "f32", 0),
        ("a = torch.sigmoid(x)\nb = a.view(1, 2)\nreturn (b,)", "2", "f32", 1),
    ]);
    let tasks: Vec<&Task> = found.iter().collect();
    assert_eq!(covering(&tasks, 1), [2]);
    assert_eq!(covering(&tasks, 2), [0, 2]);
    assert_eq!(covering(&tasks, 9), [0, 1, 2]);
}

#[test]
fn a_range_is_called_by_its_layer_and_the_ops_that_say_most() {
    let [before, behind] = ["value", "output_modules_dense"].map(|module| {
        format!("L_self_modules_encoder_modules_layer_modules_3_modules_attention_modules_{module}_parameters_weight_")
    });
    let body = format!(
        "a = torch._C._nn.linear(x, {before})\nb = a.float()\nc = b / 8.0\nd = c + x\ne = torch.nn.functional.softmax(d, -1)\n\
         f = torch.nn.functional.dropout(e, 0.1, False, False)\ng = f.relu_()\nh = g.view(4, 4)\ni = h @ {behind}\nreturn (i,)"
    );
    let reading = reading(&format!("x f32 4,4; {before} f32 4,4; {behind} f32 4,4"), &body);
    let model = Model::of(&reading);
    let calls = model.ops().len();
    let last = calls - 1;
    for (range, expected) in [
        (0..1, "layer.3.attention.value-linear"),
        (last..last + 1, "layer.3.attention.output.dense-matmul"),
        (4..6, "layer.3.attention-softmax-dropout"),
        (5..6, "layer.3.attention-dropout"),
        (0..calls, "layer.3.attention-linear-softmax-matmul"),
    ] {
        assert_eq!(model.label(&range), expected, "{:?}", model.ops());
    }
    let plain = self::reading("x f32 4,4", "a = x + 1\nb = a.view(2, 8)\nreturn (b,)");
    assert_eq!(Model::of(&plain).label(&(0..2)), "add-view");
}
