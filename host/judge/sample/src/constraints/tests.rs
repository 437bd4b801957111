#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

const HEAD: &str = "from sympy import Symbol\n\nS0 = Symbol(\"S0\")\nS1 = Symbol(\"S1\")\n\n";

fn read(text: &str) -> Result<Constraints, SampleError> {
    constraints(&PythonSource::new("constraints.py".into(), text))
}

/// A file with these lists.
fn file(symbols: &str, examples: &str, relations: &str, shapes: &str) -> String {
    format!(
        "{HEAD}{SYMBOLS} = {symbols}\n\n{EXAMPLES} = {examples}\n\n{RELATIONS} = {relations}\n\n{SHAPES} = {shapes}\n"
    )
}

fn with_shapes(shapes: &str) -> String {
    file("[S0, S1]", "{S0: 1, S1: 224}", "[]", shapes)
}

#[test]
fn symbols_their_values_and_shapes_are_read_and_written_back() {
    let text = with_shapes("[\n    ([S0, 3, S1, S1], \"x\"),\n    ([], \"scale\"),\n    ([64], \"weight\"),\n]");
    let constraints = read(&text).unwrap();
    assert_eq!(constraints.symbols, [("S0".to_owned(), 1), ("S1".to_owned(), 224)]);
    assert_eq!(constraints.shapes[0].0, "x");
    assert_eq!(constraints.shape(&constraints.shapes[0].1), [1, 3, 224, 224]);
    assert_eq!(constraints.shape(&constraints.shapes[1].1), [] as [i64; 0]);
    assert_eq!(constraints.label(), "s0-1_s1-224");
    assert_eq!(constraints.text(), text);
}

#[test]
fn a_file_may_have_no_symbols_or_nothing_at_all() {
    assert_eq!(read("").unwrap(), Constraints::default());
    assert_eq!(read("# nothing\n").unwrap().label(), "s-fixed");
    let text = format!("{SYMBOLS} = []\n{EXAMPLES} = {{}}\n{RELATIONS} = []\n{SHAPES} = [([4, 3], \"in_0\")]\n");
    let constraints = read(&text).unwrap();
    assert_eq!(constraints.shapes, [("in_0".to_owned(), vec![Extent::Fixed(4), Extent::Fixed(3)])]);
    assert_eq!(read(&constraints.text()).unwrap(), constraints);
}

#[test]
fn other_imports_of_sympy_and_qualified_symbols_are_understood() {
    let text = "import sympy\nfrom sympy import Symbol, Expr, Rel, Eq\n\nS0 = sympy.Symbol('S0')\n";
    let lists = format!("{SYMBOLS} = [S0]\n{EXAMPLES} = {{S0: 7}}\n{RELATIONS} = []\n{SHAPES} = []\n");
    assert_eq!(read(&format!("{text}{lists}")).unwrap().symbols, [("S0".to_owned(), 7)]);
}

#[test]
fn whatever_is_not_understood_is_refused_with_its_place() {
    let lists = |symbols, examples| file(symbols, examples, "[]", "[]");
    let missing = |name: &str| {
        let all = with_shapes("[]");
        let lines: Vec<&str> = all.lines().filter(|line| !line.starts_with(name)).collect();
        lines.join("\n")
    };
    let before = |line: &str| format!("{line}\n{}", with_shapes("[]"));
    let deep = format!("[([{}S0{}], \"x\")]", "[".repeat(60), "]".repeat(60));
    let long = format!("[([{}], \"x\")]", vec!["2"; 40].join(", "));
    let cases: Vec<(String, &str)> = vec![
        ("S0 = Symbol(".into(), "constraints.py:1:13"),
        (before("import os"), "1:1: expected only imports of sympy"),
        (before("from os import system"), "expected only imports of sympy"),
        (before("print(1)"), "expected only imports of sympy"),
        (before("for x in []:\n    pass"), "expected only imports of sympy"),
        (before("A = B = Symbol(\"A\")"), "one name"),
        (before("A, B = Symbol(\"A\")"), "one name"),
        (before("A = Symbol(\"B\")"), "the symbol `B` is assigned to another name, `A`"),
        (before("A = Symbol(\"A\", positive=True)"), "expected `A = Symbol(\"A\")`"),
        (before("A = 3"), "expected `A = Symbol(\"A\")`, found `3`"),
        (before("A = Symbol(\"A\")"), "the symbol `A` is not in"),
        (before("S0 = Symbol(\"S0\")"), "`S0` is defined twice"),
        (missing(SYMBOLS), "`dynamic_dim_constraint_symbols` is missing"),
        (missing(EXAMPLES), "`dynamic_dim_constraint_symbol2example_value` is missing"),
        (missing(RELATIONS), "`dynamic_dim_constraint_relations` is missing"),
        (missing(SHAPES), "`dynamic_dim_constraint_input_shapes` is missing"),
        (format!("{}{SHAPES} = []\n", with_shapes("[]")), "is given twice"),
        (lists("(S0, S1)", "{S0: 1, S1: 2}"), "is no list"),
        (lists("[S0, S0]", "{S0: 1, S1: 2}"), "`S0` is listed twice"),
        (lists("[S0]", "{S0: 1, S1: 2}"), "the symbol `S1` is not in"),
        (lists("[S0, S7]", "{S0: 1, S1: 2}"), "the symbol `S7` is not defined"),
        (lists("[S0, \"S1\"]", "{S0: 1, S1: 2}"), "expected a symbol, found `\"S1\"`"),
        (lists("[S0, S1]", "[1, 2]"), "is no dictionary"),
        (lists("[S0, S1]", "{S0: 1}"), "`S1` has no value"),
        (lists("[S0, S1]", "{S0: 1, S1: 2, S0: 3}"), "`S0` has two values"),
        (lists("[S0, S1]", "{S0: 1, S1: 0}"), "the value of `S1` is `0`"),
        (lists("[S0, S1]", "{S0: 1, S1: -4}"), "the value of `S1` is `-4`"),
        (lists("[S0, S1]", "{S0: 1, S1: 2.0}"), "the value of `S1` is `2.0`"),
        (lists("[S0, S1]", "{S0: 1, S1: 99999999999999999999}"), "the value of `S1`"),
        (lists("[S0, S1]", "{**S0, S1: 2}"), "expected `symbol: value`"),
        (file("[S0, S1]", "{S0: 1, S1: 2}", "[Eq(S0, S1)]", "[]"), "`Eq(S0, S1)`: relations"),
        (file("[S0, S1]", "{S0: 1, S1: 2}", "None", "[]"), "is no list"),
        (with_shapes("{}"), "is no list"),
        (with_shapes("[[S0, 3]]"), "expected `([extents], \"argument\")`"),
        (with_shapes("[([S0], \"x\", 1)]"), "expected `([extents], \"argument\")`"),
        (with_shapes("[(\"x\", [S0])]"), "expected `([extents], \"argument\")`"),
        (with_shapes("[([S0], x)]"), "expected `([extents], \"argument\")`"),
        (with_shapes("[([S0], \"x\\\"]\")]"), "is no name of an argument"),
        (with_shapes("[([S0], \"x\"), ([3], \"x\")]"), "the argument `x` has two shapes"),
        (with_shapes("[([2 * S0], \"x\")]"), "an integer or one symbol, found `2 * S0`"),
        (with_shapes("[([S2], \"x\")]"), "the symbol `S2` is not defined"),
        (with_shapes("[([-1], \"x\")]"), "an integer or one symbol, found `-1`"),
        (with_shapes("[([4611686018427387904], \"x\")]"), "an extent of 4611686018427387904"),
        (with_shapes(&long), "a shape has at most 16 extents, found 40"),
        (with_shapes(&deep), "brackets are nested too deeply"),
    ];
    for (text, expected) in cases {
        let error = read(&text).expect_err(&text).to_string();
        assert!(error.contains(expected) && error.starts_with("constraints.py:"), "{text}\n{error}");
    }
}
