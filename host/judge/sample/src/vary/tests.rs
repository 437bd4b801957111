#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod types;

use super::*;
use crate::tests::types::Contiguous;
use crate::write::{GraphFolder, model_text, weight_text};
use crate::{Constraints, Extent, Weight};
use expect_test::{Expect, expect};
use passhost_ir::{Dtype, OpTable, TensorType, canonical_text};
use std::collections::BTreeMap;

/// A graph by its inputs (`x f32 S0,3,S1; w f32 4`), the values of its symbols and its calls.
struct Graph<'a> {
    inputs: &'a str,
    symbols: &'a [(&'a str, i64)],
    body: &'a str,
}

impl Graph<'_> {
    fn files(&self) -> (String, Vec<Weight>, Constraints) {
        let symbols: Vec<(String, i64)> = self.symbols.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let mut constraints = Constraints { symbols, shapes: vec![] };
        let (mut weights, mut parameters) = (vec![], vec![]);
        for input in self.inputs.split("; ") {
            let mut words = input.split(' ');
            let (annotated, dtype) = (words.next().unwrap(), words.next().unwrap().parse().unwrap());
            let name = annotated.split(':').next().unwrap().to_owned();
            let extents: Vec<Extent> = words
                .next()
                .into_iter()
                .flat_map(|shape| shape.split(','))
                .map(|extent| match constraints.position(extent) {
                    Some(symbol) => Extent::Symbol(symbol),
                    None => Extent::Fixed(extent.parse().unwrap()),
                })
                .collect();
            let ty = TensorType::contiguous(dtype, constraints.shape(&extents));
            weights.push(Weight {
                name: name.clone(),
                original_name: None,
                ty,
                mean: Some(0.5),
                std: Some(1.0),
                data: None,
                min: None,
                max: None,
            });
            constraints.shapes.push((name, extents));
            parameters.push(annotated.replace(':', ": "));
        }
        let lines: String = self.body.lines().map(|line| format!("        {line}\n")).collect();
        let head = "import torch\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, ";
        (format!("{head}{}):\n{lines}", parameters.join(", ")), weights, constraints)
    }

    fn vary(&self, change: &VariantChange, record: impl Fn(&mut Weight)) -> Result<Varied, VaryRefusal> {
        let (model, mut weights, constraints) = self.files();
        weights.iter_mut().for_each(record);
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write("model.py", &model);
        write("weight_meta.py", &weight_text(&weights));
        write("input_tensor_constraints.py", &constraints.text());
        let sample = SampleText::open(directory.path()).unwrap();
        let reading = sample.reading(0, &mut Contiguous).unwrap();
        sample.vary(0, &reading, change, &mut Contiguous)
    }

    /// The calls of the variant; what it writes reads back as the same graph.
    fn calls(&self, change: &VariantChange) -> Result<String, String> {
        let varied = self.vary(change, |_| {}).map_err(|refusal| refusal.to_string())?;
        let directory = tempfile::tempdir().unwrap();
        let reading = &varied.reading;
        let folder = GraphFolder {
            program: &reading.program,
            weights: &reading.weights,
            constraints: &varied.constraints,
            graph_net: "{}\n",
        };
        folder.write(directory.path()).unwrap();
        let written = SampleText::open(directory.path()).unwrap();
        assert_eq!(written.constraints(0).unwrap(), varied.constraints);
        let again = written.reading(0, &mut Contiguous).unwrap();
        assert_eq!(again.weights, reading.weights);
        let canonical = |reading: &Reading| canonical_text(reading.graph(), OpTable::sample()).unwrap();
        assert_eq!(canonical(&again), canonical(reading));
        let text = model_text(&reading.program);
        let lines = text.lines().skip_while(|line| !line.contains("def forward")).skip(1).map(str::trim);
        Ok(lines.filter(|line| !line.ends_with("= None")).map(|line| format!("{line}\n")).collect())
    }
}

fn symbols(symbols: &[(&str, i64)]) -> VariantChange {
    VariantChange { symbols: symbols.iter().map(|&(name, value)| (name.to_owned(), value)).collect(), dtype: None }
}

fn in_type(dtype: Dtype) -> VariantChange {
    VariantChange { symbols: BTreeMap::new(), dtype: Some(dtype) }
}

/// In a batch of one and a sequence of twelve, with both changed.
fn check_text(inputs: &str, body: &str, change: &[(&str, i64)], expected: &Expect) {
    let graph = Graph { inputs, symbols: &[("S0", 1), ("S1", 12)], body };
    expected.assert_eq(&graph.calls(&symbols(change)).unwrap_or_else(|refusal| without_directory(&refusal)));
}

/// A message without the temporary directory that it names.
fn without_directory(refusal: &str) -> String {
    let start = refusal.find("model.py").unwrap_or(0);
    format!("{}\n", &refusal[start..])
}

/// One call on a tensor of this shape, where the batch becomes 4 and the sequence 20.
fn check_call(shape: &str, call: &str, expected: &str) {
    let graph = Graph {
        inputs: &format!("x f32 {shape}"),
        symbols: &[("S0", 1), ("S1", 12)],
        body: &format!("y = {call}\nreturn (y,)"),
    };
    let calls = graph.calls(&symbols(&[("S0", 4), ("S1", 20)]));
    let found = match &calls {
        Ok(calls) => calls.lines().next().and_then(|line| line.strip_prefix("y = ")).unwrap(),
        Err(refusal) => refusal.as_str(),
    };
    assert!(
        if calls.is_ok() { found == expected } else { found.contains(expected) },
        "{shape}: {call}\n{found}\n{expected}"
    );
}

#[test]
fn sizes_of_a_view_follow_the_extents_that_they_were() {
    let cases = [
        // Heads split and merge again.
        ("S0,S1,768", "x.view(1, 12, 8, 96)", "x.view(4, 20, 8, 96)"),
        ("S0,S1,768", "x.view(1, -1, 12, 64)", "x.view(4, -1, 12, 64)"),
        ("S0,S1,12,64", "x.reshape(1, 12, 768)", "x.reshape(4, 20, 768)"),
        ("S0,S1,12,64", "x.reshape((1, 12, -1))", "x.reshape((4, 20, -1))"),
        ("S0,S1,12,64", "torch.reshape(x, (1, 12, 768))", "torch.reshape(x, (4, 20, 768))"),
        // The sequence is as long as there are heads, and the order of the elements says which is which.
        ("S0,S1,768", "x.view(1, 12, 12, 64)", "x.view(4, 20, 12, 64)"),
        ("S0,12,S1,64", "x.reshape(1, 12, 12, 64)", "x.reshape(4, 12, 20, 64)"),
        // Batch and sequence become one dimension, and two again.
        ("S0,S1,768", "x.view(-1, 768)", "x.view(-1, 768)"),
        ("S0,S1,768", "x.view(12, 768)", "x.view(80, 768)"),
        ("S0,8,S1,S1", "x.view(8, 12, 12)", "x.view(32, 20, 20)"),
        // Nothing to follow.
        ("3,4", "x.view(12)", "x.view(12)"),
        ("S0,3,8,8", "x.view(1, 192)", "x.view(4, 192)"),
        // One dimension becomes several.
        ("S0,1,S1", "x.view(1, 1, 1, 12)", "x.view(4, 1, 1, 20)"),
        ("S0,768,S1", "x.unflatten(1, (12, 64))", "x.unflatten(1, (12, 64))"),
        ("S0,S1,768", "x.unflatten(1, (2, 6))", "none of the sizes [2, 6] follows clearly"),
        ("S0,S1,768", "x.view(1, 3, 4, 768)", "none of the sizes [4, 3, 4, 768] follows clearly"),
        ("S1,S0,768", "x.reshape(12, 768)", "none of the sizes [12, 768] follows clearly"),
    ];
    for (shape, call, expected) in cases {
        check_call(shape, call, expected);
    }
}

#[test]
fn an_expand_follows_its_operand_the_batch_or_the_symbol() {
    let cases = [
        // In a batch of one this does nothing, and is there for larger ones.
        ("1,1,768", "x.expand(1, -1, -1)", "x.expand(4, -1, -1)"),
        ("1,1,768", "x.expand((1, 12, 768))", "x.expand((4, 20, 768))"),
        ("S0,1,S1", "x.expand(1, 12, 12)", "x.expand(4, 20, 20)"),
        ("S0,1,768", "x.expand(-1, 12, -1)", "x.expand(-1, 20, -1)"),
        ("1,768", "x.expand(7, 768)", "x.expand(7, 768)"),
        // The batch is in another dimension already.
        ("1,S0,768", "x.expand(1, -1, -1)", "x.expand(1, -1, -1)"),
        ("768", "x.repeat(1, 12, 1)", "x.repeat(4, 20, 1)"),
        ("S0,S1,8", "x.repeat(1, 1, 2)", "x.repeat(1, 1, 2)"),
    ];
    for (shape, call, expected) in cases {
        check_call(shape, call, expected);
    }
}

#[test]
fn what_is_made_of_the_length_of_the_sequence_follows() {
    let cases = [
        ("torch.arange(12)", "torch.arange(20)"),
        ("torch.arange(0, 12, dtype=torch.int64)", "torch.arange(0, 20, dtype=torch.int64)"),
        ("torch.arange(2, 14)", "torch.arange(2, 22)"),
        ("torch.arange(13)", "torch.arange(21)"),
        ("torch.arange(7)", "torch.arange(7)"),
        ("torch.arange(1)", "torch.arange(4)"),
        ("torch.zeros(1, 12)", "torch.zeros(1, 20)"),
        ("torch.zeros(size=(12, 4))", "torch.zeros(size=(20, 4))"),
        ("torch.full((12, 13), 0.5)", "torch.full((20, 21), 0.5)"),
        ("torch.ones([11, 10])", "torch.ones([19, 10])"),
    ];
    for (call, expected) in cases {
        check_call("S0,S1,3", call, expected);
    }
    // 13 is an extent that does not follow, so that it does not mean one more than the sequence.
    check_call("S0,S1,13", "torch.arange(13)", "torch.arange(13)");
}

#[test]
fn bounds_of_slices_and_sizes_of_images_follow() {
    let all = "slice(None, None, None)";
    let cases = [
        ("S0,S1,8", "x[:, :12]", format!("x[{all}, slice(None, 20, None)]")),
        ("S0,S1,8", "x[:, 1:11]", format!("x[{all}, slice(1, 19, None)]")),
        ("S0,S1,8", "x[..., 0:12, 2:5]", "x[Ellipsis, slice(0, 20, None), slice(2, 5, None)]".into()),
        ("S0,S1,8", "x[:, :9223372036854775807]", format!("x[{all}, slice(None, 9223372036854775807, None)]")),
        ("1,512", "x[:, :12]", format!("x[{all}, slice(None, 20, None)]")),
        ("1,512", "x[:, 2:14]", format!("x[{all}, slice(2, 22, None)]")),
        // All of a dimension that does not change, though it is as long as the sequence.
        ("S0,12,8", "x[:, :12]", format!("x[{all}, slice(None, 12, None)]")),
        (
            "S0,3,S1,S1",
            "torch.nn.functional.interpolate(x, size=(12, 12))",
            "torch.nn.functional.interpolate(x, size=(20, 20))".into(),
        ),
        (
            "S0,3,7,7",
            "torch.nn.functional.interpolate(x, (14, 14))",
            "torch.nn.functional.interpolate(x, (14, 14))".into(),
        ),
        ("S0,S1", "x.as_strided((1, 12), (12, 1))", "sizes and strides in memory do not follow".into()),
    ];
    for (shape, call, expected) in cases {
        check_call(shape, call, &expected);
    }
}

#[test]
fn a_class_token_follows_the_batch_and_its_positions_do_not_follow_the_sequence() {
    let inputs = "x f32 S0,S1,8; cls f32 1,1,8; pos f32 1,13,8";
    let body = "c = cls.expand(1, -1, -1)\nh = torch.cat([c, x], dim=1)\nh = h + pos\nreturn (h[:, 0],)";
    check_text(
        inputs,
        body,
        &[("S0", 4)],
        &expect![[r#"
            c = cls.expand(4, -1, -1)
            h = torch.cat([c, x], dim=1)
            value_2 = h + pos
            value_3 = value_2[slice(None, None, None), 0]
            return (value_3,)
        "#]],
    );
    check_text(
        inputs,
        body,
        &[("S1", 20)],
        &expect![[r#"
        model.py:7:13: `add(T, T)` is not supported: the result type of `aten::add.Tensor` cannot be inferred; use an op with a meta kernel, or a kernel node
    "#]],
    );
}

#[test]
fn positions_and_masks_of_a_language_model_follow() {
    check_text(
        "ids i64 S0,S1; table f32 512,8; words f32 100,8",
        "p = torch.arange(0, 12, dtype=torch.int64)\ne = torch.nn.functional.embedding(p, table)\nw = torch.nn.functional.embedding(ids, words)\nh = w + e\nm = torch.full((12, 12), 0.5)\nk = m[None, None, :, :].expand(1, 1, 12, 12)\nq = h.view(1, 12, 2, 4).transpose(1, 2)\ns = q @ q.transpose(-1, -2) + k\nreturn (s,)",
        &[("S0", 2), ("S1", 30)],
        &expect![[r#"
            p = torch.arange(0, 30, dtype=torch.int64)
            e = torch.nn.functional.embedding(p, table)
            w = torch.nn.functional.embedding(ids, words)
            h = w + e
            m = torch.full((30, 30), 0.5)
            value_5 = m[None, None, slice(None, None, None), slice(None, None, None)]
            k = value_5.expand(2, 1, 30, 30)
            value_7 = h.view(2, 30, 2, 4)
            q = value_7.transpose(1, 2)
            value_9 = q.transpose(-1, -2)
            value_10 = q @ value_9
            s = value_10 + k
            return (s,)
        "#]],
    );
}

#[test]
fn more_positions_than_a_table_has_rows_are_refused() {
    let graph = Graph {
        inputs: "x f32 S0,S1,8; table f32 34,8",
        symbols: &[("S0", 1), ("S1", 12)],
        body: "p = torch.arange(0, 12).unsqueeze(0) + 2\ne = torch.nn.functional.embedding(p, table)\nreturn (x + e,)",
    };
    assert!(graph.calls(&symbols(&[("S1", 32)])).is_ok());
    let refusal = graph.calls(&symbols(&[("S1", 33)])).unwrap_err();
    assert!(refusal.ends_with("positions reach 34, and its table has 34 rows"), "{refusal}");
}

#[test]
fn sides_of_feature_maps_are_known_from_the_tensors_before() {
    let inputs = "x f32 S0,3,S1,S1; w f32 8,3,2,2";
    let body = "c = torch.conv2d(x, w, None, (2, 2))\nf = c.flatten(2).transpose(1, 2)\nm = f.view(1, 6, 6, 8)\nz = torch.zeros((1, 6, 6, 1))\nreturn (m + z,)";
    check_text(
        inputs,
        body,
        &[("S0", 2), ("S1", 24)],
        &expect![[r#"
        c = torch.conv2d(x, w, None, (2, 2))
        value_1 = c.flatten(2)
        f = value_1.transpose(1, 2)
        m = f.view(2, 12, 12, 8)
        z = torch.zeros((1, 12, 12, 1))
        value_5 = m + z
        return (value_5,)
    "#]],
    );
}

#[test]
fn weights_do_not_follow() {
    let inputs = "x f32 S0,3,S1,S1; w f32 8,3,4,4; fc f32 5,72";
    let body = "c = torch.conv2d(x, w, None, (4, 4))\nf = c.flatten(1)\ny = torch._C._nn.linear(f, fc)\nreturn (y,)";
    check_text(
        inputs,
        body,
        &[("S0", 2)],
        &expect![[r#"
        c = torch.conv2d(x, w, None, (4, 4))
        f = c.flatten(1)
        y = torch._C._nn.linear(f, fc)
        return (y,)
    "#]],
    );
    check_text(
        inputs,
        body,
        &[("S1", 24)],
        &expect![[r#"
        model.py:7:13: `torch._C._nn.linear(T, T)` is not supported: the result type of `aten::linear` cannot be inferred; use an op with a meta kernel, or a kernel node
    "#]],
    );
}

#[test]
fn a_call_that_gives_another_number_of_tensors_is_refused() {
    let body = "a, b, c = x.split(4, dim=1)\nreturn (a + b, c)";
    check_text(
        "x f32 S0,S1,8",
        body,
        &[("S1", 20)],
        &expect![[r#"
        model.py:5:19: `.split`: it returns 5 tensors instead of 3, and the program uses 3
    "#]],
    );
    let body = "a, b = x.split([1, 11], dim=1)\nreturn (a, b)";
    check_text(
        "x f32 S0,S1,8",
        body,
        &[("S1", 20)],
        &expect![[r#"
        model.py:5:16: `.split`: the dimension that it splits becomes 20 instead of 12, and its parts do not follow clearly
    "#]],
    );
    let body = "a, b = x.split([12, 8], dim=1)\nreturn (a, b)";
    check_text(
        "t f32 S0,S1,8; i f32 S0,8,8",
        &format!("x = torch.cat([t, i], 1)\n{body}"),
        &[("S1", 20)],
        &expect![[r#"
            x = torch.cat([t, i], 1)
            value_1 = x.split([20, 8], dim=1)
            a = value_1[0]
            b = value_1[1]
            return (a, b)
        "#]],
    );
}

#[test]
fn recorded_elements_are_repeated_or_cut_and_bounds_stay_instead() {
    let graph = Graph { inputs: "x i64 S0,S1", symbols: &[("S0", 1), ("S1", 3)], body: "return (x + 1,)" };
    let varied = |change: &[(&str, i64)], bounded: bool| {
        let record = |weight: &mut Weight| {
            weight.data = Some(vec![7.0, 8.0, 9.0]);
            (weight.min, weight.max) = if bounded { (Some(0.0), Some(9.0)) } else { (None, None) };
        };
        graph.vary(&symbols(change), record).unwrap().reading.weights.remove(0)
    };
    type Case<'a> = (&'a [(&'a str, i64)], &'a [f64]);
    let cases: [Case<'_>; 4] = [
        (&[("S0", 2)], &[7.0, 8.0, 9.0, 7.0, 8.0, 9.0]),
        (&[("S1", 5)], &[7.0, 8.0, 9.0, 7.0, 8.0]),
        (&[("S1", 2)], &[7.0, 8.0]),
        (&[("S0", 2), ("S1", 2)], &[7.0, 8.0, 7.0, 8.0]),
    ];
    for (change, expected) in cases {
        assert_eq!(varied(change, false).data.as_deref(), Some(expected), "{change:?}");
        let bounded = varied(change, true);
        assert_eq!((bounded.data, bounded.min, bounded.max), (None, Some(0.0), Some(9.0)));
    }
}

#[test]
fn indices_into_a_table_that_becomes_smaller_stay_within_it() {
    let calls = [
        "y = torch.nn.functional.embedding(i, t, None, None, 2.0, False, False)\nreturn (y,)",
        "j = i.contiguous()\ny = torch.nn.functional.embedding(j, t, None, None, 2.0, False, False)\nreturn (y,)",
        "y = torch.index_select(t, 0, i)\nreturn (y,)",
        "y = t[i]\nreturn (y,)",
    ];
    for body in calls {
        let graph = Graph { inputs: "i i64 4; t f32 S0,8", symbols: &[("S0", 10)], body };
        let varied = |rows: i64, low: f64, high: f64, data: bool| {
            let record = |weight: &mut Weight| {
                if weight.name == "i" {
                    (weight.min, weight.max) = (Some(low), Some(high));
                    weight.data = data.then(|| vec![low, 2.0, 5.0, high]);
                }
            };
            let index = graph.vary(&symbols(&[("S0", rows)]), record).unwrap().reading.weights.remove(0);
            (index.min, index.max, index.data)
        };
        assert_eq!(varied(6, 0.0, 9.0, false), (Some(0.0), Some(5.0), None), "{body}");
        assert_eq!(varied(6, 7.0, 9.0, false), (Some(5.0), Some(5.0), None), "{body}");
        assert_eq!(varied(6, 0.0, 3.0, false), (Some(0.0), Some(3.0), None), "{body}: they were within it");
        assert_eq!(varied(12, 0.0, 9.0, false), (Some(0.0), Some(9.0), None), "{body}: it becomes larger");
        assert_eq!(varied(6, 0.0, 12.0, false), (Some(0.0), Some(12.0), None), "{body}: they never were within it");
        assert_eq!(varied(4, 0.0, 9.0, true).2, Some(vec![0.0, 2.0, 3.0, 3.0]), "{body}");
    }
}

#[test]
fn indices_into_a_table_of_which_nothing_is_left_stay_as_they_are() {
    let body = "u = t[6:]\ny = torch.nn.functional.embedding(i, u, None, None, 2.0, False, False)\nreturn (y,)";
    let graph = Graph { inputs: "i i64 4; t f32 S0,8", symbols: &[("S0", 10)], body };
    let record = |weight: &mut Weight| {
        if weight.name == "i" {
            (weight.min, weight.max) = (Some(0.0), Some(3.0));
        }
    };
    let index = graph.vary(&symbols(&[("S0", 6)]), record).unwrap().reading.weights.remove(0);
    assert_eq!((index.min, index.max), (Some(0.0), Some(3.0)));
}

#[test]
fn a_number_that_is_the_value_of_the_symbol_becomes_the_new_one() {
    let graph = Graph {
        inputs: "x f32 S0,S1,8; n:torch.SymInt i64; m i64; b i64",
        symbols: &[("S0", 1), ("S1", 12)],
        body: "y = x.view(1, n, 2, 4)\nreturn (y + m + b,)",
    };
    let record = |weight: &mut Weight| match weight.name.as_str() {
        "n" | "m" => weight.data = Some(vec![12.0]),
        // A number of 1 may mean anything.
        "b" => weight.data = Some(vec![1.0]),
        _ => {}
    };
    let varied = graph.vary(&symbols(&[("S0", 4), ("S1", 20)]), record).unwrap().reading;
    let data: Vec<Option<f64>> = varied.weights.iter().map(|weight| weight.data.as_ref().map(|data| data[0])).collect();
    assert_eq!(data, [None, Some(20.0), Some(20.0), Some(1.0)]);
    assert_eq!(varied.program.nodes[0].args.len(), 5);
    assert!(model_text(&varied.program).contains("y = x.view(4, n, 2, 4)"));
}

#[test]
fn impossible_changes_are_refused() {
    let graph = Graph { inputs: "x f32 S0,4; w f32 4", symbols: &[("S0", 1)], body: "return (x * w,)" };
    let whole = Graph { inputs: "x i64 S0,4", symbols: &[("S0", 1)], body: "return (x + 1,)" };
    let large = 1 << 39;
    let cases = [
        (&graph, symbols(&[("S3", 2)]), "there is no symbol `S3`; the graph has S0"),
        (&graph, symbols(&[("S0", 0)]), "`S0` = 0: expected a value between 1 and"),
        (&graph, symbols(&[("S0", 1 << 50)]), "expected a value between 1 and"),
        (&graph, symbols(&[("S0", large)]), "input `x`"),
        (&graph, in_type(Dtype::F64), "inputs cannot be cast to f64"),
        (&whole, in_type(Dtype::F16), "no input is an f32"),
    ];
    for (graph, change, expected) in cases {
        let refusal = graph.vary(&change, |_| {}).unwrap_err().to_string();
        assert!(refusal.contains(expected), "{change:?}\n{refusal}");
    }
    let shape = |weight: &mut Weight| weight.ty = TensorType::contiguous(Dtype::F32, [3, 4]);
    let contradicting = graph.vary(&symbols(&[("S0", 2)]), shape).unwrap_err();
    assert!(contradicting.to_string().starts_with("input `x`: its symbols come to "), "{contradicting}");
}

#[test]
fn a_graph_that_names_no_symbols_has_one_for_each_extent() {
    let graph = Graph {
        inputs: "x f32 2,512; w f32 512,2; s f32 1",
        symbols: &[],
        body: "a = torch.matmul(x, w)\nb = x.reshape(1024)\nreturn (a, b)",
    };
    let change =
        |name: &str, value: i64| VariantChange { symbols: BTreeMap::from([(name.to_owned(), value)]), dtype: None };
    let varied = graph.vary(&change("E512", 509), |_| {}).unwrap();
    let shapes: Vec<&[i64]> = varied.reading.weights.iter().map(|weight| &weight.ty.shape[..]).collect();
    assert_eq!(shapes, [&[2, 509][..], &[509, 2], &[1]]);
    assert_eq!(varied.constraints.label(), "e2-2_e512-509");
    let unknown = graph.calls(&change("S0", 3)).unwrap_err();
    assert!(unknown.contains("there is no symbol `S0`; the graph has E2, E512"), "{unknown}");
}
