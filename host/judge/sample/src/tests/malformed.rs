//! Files that are no samples: every one ends in a message that names the place, none in a panic or a large allocation.

use super::{WEIGHT, load, model, open, refusal};
use crate::SampleError;

#[test]
fn lists_that_cannot_be_followed_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::create_dir(path.join("graph")).unwrap();
    std::fs::write(path.join("graph/model.py"), model("return (in_0,)")).unwrap();
    std::fs::write(path.join("graph/weight_meta.py"), WEIGHT).unwrap();
    std::fs::write(path.join("secret"), "x").unwrap();
    std::os::unix::fs::symlink("/etc", path.join("outside")).unwrap();
    std::os::unix::fs::symlink("loop", path.join("loop")).unwrap();
    let long = "x/".repeat(3000);
    let many: String = (0..200_001).map(|graph| format!("graph{graph}\n")).collect();
    let cases: [(&[u8], &str); 20] = [
        (b"", "names 0 entries"),
        (b"# nothing\n\n", "names 0 entries"),
        (b"../graph\n", "leads out of"),
        (b"graph/../../graph\n", "leads out of"),
        (b"/etc\n", "leads out of"),
        (b"outside\n", "cannot read"),
        (b"outside/passwd\n", "cannot read"),
        (b"loop\n", "cannot read"),
        (b"nowhere\n", "cannot read"),
        (b"secret\n", "cannot read"),
        (b"graph/model.py\n", "cannot read"),
        (b"graph nowhere\n", "cannot read"),
        (b"sample_path\n", "names 0 entries"),
        (b"name,sample_path\nfirst,nowhere\n", "cannot read"),
        (b"name,sample_path\nfirst\n", ""),
        (b"\"unclosed\n", "cannot read"),
        (b"graph\x00model\n", "cannot read"),
        (b"\xff\xfe\n", "UTF-8"),
        (long.as_bytes(), "cannot read"),
        (many.as_bytes(), "200000"),
    ];
    for (list, text) in cases {
        std::fs::write(path.join("graph_list.txt"), list).unwrap();
        let shown = String::from_utf8_lossy(&list[..list.len().min(80)]).into_owned();
        match open(path) {
            Err(error) => assert!(error.to_string().contains(text), "{shown}\n{error}"),
            Ok(samples) => panic!("{shown}: {samples:?}"),
        }
    }
    std::fs::write(path.join("graph_list.txt"), "graph\r\n# a comment\r\n").unwrap();
    assert_eq!(open(path).unwrap()[0].variants().len(), 1);
}

#[test]
fn what_is_no_straight_line_graph_is_refused_with_its_place() {
    let cases = [
        (model("if True:\n    return (in_0,)"), "model.py:6:9", "straight-line"),
        (model("for i in range(3):\n    pass\nreturn (in_0,)"), "model.py:6:9", "straight-line"),
        (model("x = self.weight\nreturn (x,)"), "model.py:6:13", "`self.weight` is not defined"),
        (model("x = torch.frobnicate(in_0, 3, k=[1])\nreturn (x,)"), "torch.frobnicate(T, int, k=list)", "no op"),
        (model("x = in_0.frobnicate()\nreturn (x,)"), "T.frobnicate()", "no op"),
        (model("x = torch.tanh(in_0, in_0, 3)\nreturn (x,)"), "model.py:6:13", "positional arguments"),
        (model("x = open('/etc/passwd')\nreturn (in_0,)"), "model.py:6:13", "anything but torch"),
        (model("return (3,)"), "model.py", "returning no tensor"),
        (model("return ('x', in_0)"), "model.py", "returning a str"),
        (model("x = torch.ops.aten._print('x')\nreturn (in_0,)"), "torch.ops.aten._print(str)", "no op"),
        (model("x = torch.tanh(in_0.item())\nreturn (x,)"), "model.py:6:24", "12 elements"),
        (model("x = torch.zeros(in_0[0, 0].item())\nreturn (x,)"), "torch.zeros", "depends on data"),
        (model("x = in_0"), "model.py", "returns nothing"),
        (
            model("x = torch.nn.functional.max_pool2d(in_0, 2, return_indices=True)\nreturn (x,)"),
            "max_pool2d",
            "indices",
        ),
        (
            model("x = torch.functional.norm(in_0, 'nuc')\nreturn (x,)"),
            "torch.functional.norm(T, str)",
            "the string \"nuc\"",
        ),
        (model("x = torch.utils.data.relu(in_0)\nreturn (x,)"), "torch.utils.data.relu(T)", "namespace"),
        (model("x = in_0[in_0]\nreturn (x,)"), "model.py:6:13", "T[T]"),
        (model("x = torch.nn.functional.dropout(in_0, 0.5, True)\nreturn (x,)"), "dropout", "random"),
        (model("x = in_0 * 99999999999999999999\nreturn (x,)"), "model.py:6:20", "64 bits"),
        (format!("import os\n{}", model("return (in_0,)")), "model.py:1:1", "import torch"),
        (format!("{}\nimport torch\ntorch.load('x')\n", model("return (in_0,)")), "model.py", "expected"),
        ("def forward(self".to_owned(), "model.py", ""),
        (String::new(), "model.py", "no class"),
        (model("return (in_0,)").replace("in_0)", "in_0, in_0)"), "model.py:5", ""),
        (model("x = in_0[3, 0, 0]\nreturn (x,)"), "model.py:6:13", "3 indices for a tensor of rank 2"),
        (model("x = in_0.view(*in_0.shape)\nreturn (x,)"), "model.py:6:23", "starred"),
        (model("x = lambda: 3\nreturn (x,)"), "model.py:6:13", "form of expression"),
        (model("x = [y for y in in_0]\nreturn (x,)"), "model.py:6:13", "form of expression"),
        (model("x, y, z = in_0.chunk(2, dim=0)\nreturn (x,)"), "model.py:6:9", "element 2 of 2"),
        (model("x = in_0.chunk(2, dim=0)[0:1]\nreturn (x,)"), "model.py:6:13", "a list indexed by a slice"),
        (model("x = 2 ** 9999999\nreturn (in_0,)"), "model.py:6:13", "no value"),
        (model("x = [None] * 99999999999\nreturn (in_0,)"), "model.py:6:13", "no value"),
        (model("x = 1 // 0\nreturn (in_0,)"), "model.py:6:13", "no value"),
        (model("x = torch.zeros(1152921504606846976)\nreturn (x,)"), "model.py", ""),
        (model("x = torch.tensor([[1, 2], [3]])\nreturn (x,)"), "torch.tensor(list)", "different lengths"),
        (model("x = torch.nn.functional.relu(in_0, inplace=3)\nreturn (x,)"), "inplace=int", "expected a bool"),
        (model("x = torch.nn.functional.dropout(in_0, 0.5, p=0.5)\nreturn (x,)"), "dropout", "given twice"),
        (model("x = torch.nn.functional.embedding(in_0, in_0, max_norm=1.0)\nreturn (x,)"), "embedding", "max_norm"),
        (model("x = torch.cat\nreturn (x,)"), "model.py", "returning a str"),
        (model("x = in_0.__reduce__()\nreturn (x,)"), "T.__reduce__()", "operator reduce"),
        (model("x = torch.ops.aten.frob.default(in_0)\nreturn (x,)"), "torch.ops.aten.frob.default(T)", "no op"),
        (model("x = torch.hub.load('a', 'b')\nreturn (in_0,)"), "torch.hub.load(str, str)", "namespace"),
        (model("del in_0\nreturn (3,)"), "model.py:6:9", "straight-line"),
        (model("with torch.no_grad():\n    pass\nreturn (in_0,)"), "model.py:6:9", "straight-line"),
        (model("global x\nreturn (in_0,)"), "model.py:6:9", "straight-line"),
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
        (WEIGHT.replace("[4, 3]", "[4, 3.5]"), "`shape`"),
        (WEIGHT.replace("[4, 3]", "(4, [3])"), "`shape`"),
        (WEIGHT.replace("[4, 3]", &format!("[{}]", "4, ".repeat(200))), "dimensions"),
        (WEIGHT.replace("[4, 3]", "[4] * 99999999"), "literal"),
        (WEIGHT.replace("[4, 3]", "[3037000500, 3037000500]"), "spans more than"),
        (WEIGHT.replace("data = None", "data = [[1.0]]"), "`data`"),
        (WEIGHT.replace("data = None", "data = \"all ones\""), "`data`"),
        (WEIGHT.replace("data = None", "data = [1.0, 'x']"), "`data`"),
        (WEIGHT.replace("\tname = \"in_0\"\n", ""), "`name`"),
        (WEIGHT.replace("shape = [4, 3]", "shape"), "expected `field = literal`"),
        (WEIGHT.replace("mean = 0.5", "mean = std = 0.5"), "one field name"),
        (WEIGHT.replace("mean = 0.5", "self.mean = 0.5"), "one field name"),
        (WEIGHT.replace("mean = 0.5", "def f(self): pass"), "expected `field = literal`"),
        (WEIGHT.replace("mean = 0.5", "mean = 0.5 if True else 1"), "literal"),
        (WEIGHT.replace("mean = 0.5", "mean = 1e999999"), ""),
        (WEIGHT[..WEIGHT.len() / 2].to_owned(), "weight_meta.py"),
        (format!("{WEIGHT}{WEIGHT}"), "twice"),
    ];
    for (weights, text) in cases {
        // A mean beyond every float is as good as none.
        if weights.contains("1e999999") {
            assert!(load(&whole, &weights).is_ok());
            continue;
        }
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
fn values_that_double_with_every_line_are_refused_before_they_are_made() {
    let again = |first: &str, line: &str, times: usize| {
        model(&format!("{first}\n{}\nreturn (in_0,)", vec![line; times].join("\n")))
    };
    for (model, text) in [
        (again("a = (1, 2)", "a = (a, a)", 60), "parts"),
        (again("a = b = (1, 2)", "a = b = slice(a, b, a)", 60), "parts"),
        (again("a = in_0.shape * 2000", "b = a[0]", 1100), "real samples are far below that"),
        (again("a = in_0.shape * 2000", "a = a * 2", 60), "has no value here"),
        (again("a = [in_0.shape * 1000] * 3", "a = a * 4", 60), "has no value here"),
        (again("a = 'x'", "a = a + a", 60), "has no value here"),
    ] {
        let message = refusal(&model, WEIGHT);
        assert!(message.contains(text), "{message}");
    }
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
    assert!(matches!(open(path), Err(SampleError::NoSample(_))));
    std::fs::write(path.join("model.py"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(open(path).unwrap_err().to_string().contains("UTF-8"));
    std::fs::write(path.join("model.py"), "x").unwrap();
    assert!(open(path).unwrap_err().to_string().contains("weight_meta.py"));
    let sparse = std::fs::File::create(path.join("model.py")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    assert!(matches!(open(path), Err(SampleError::TooLarge { .. })));
    std::fs::write(path.join("empty.txt"), "# nothing\n").unwrap();
    assert!(open(&path.join("empty.txt")).unwrap_err().to_string().contains("it names no sample"));
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
