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
    let shape = "expected `([extents], \"argument\")`, each extent an integer or a symbol, found `";
    let cases: Vec<(String, &str)> = vec![
        ("S0 = Symbol(".into(), "constraints.py:1:13"),
        (before("import os"), "1:1: expected imports of sympy"),
        (before("from os import system"), "expected imports of sympy"),
        (before("print(1)"), "expected imports of sympy"),
        (before("for x in []:\n    pass"), "expected imports of sympy"),
        (before("A = B = Symbol(\"A\")"), "found `A = B"),
        (before("A, B = Symbol(\"A\")"), "found `A, B"),
        (before("A = Symbol(\"B\")"), "found `A = Symbol(\"B\")`"),
        (before("A = Symbol(\"A\", positive=True)"), "found `A = Symbol("),
        (before("A = 3"), "found `A = 3`"),
        (missing(SYMBOLS), "found `dynamic_dim_constraint_symbol2example_value ="),
        (missing(EXAMPLES), "found `dynamic_dim_constraint_relations ="),
        (missing(RELATIONS), "found `dynamic_dim_constraint_input_shapes ="),
        (missing(SHAPES), "`dynamic_dim_constraint_input_shapes` is missing"),
        (format!("{}{SHAPES} = []\n", with_shapes("[]")), "expected imports of sympy"),
        (lists("(S0, S1)", "{S0: 1, S1: 2}"), "expected a list"),
        (lists("[S0, S0]", "{S0: 1, S1: 2}"), "expected symbols, each once, found `S0`"),
        (lists("[S0]", "{S0: 1, S1: 2}"), "expected a symbol with a value from 1 to 1099511627776, found `2`"),
        (lists("[S0, \"S1\"]", "{S0: 1, S1: 2}"), "expected symbols, each once, found `\"S1\"`"),
        (lists("[S0, S1]", "[1, 2]"), "or a dictionary of values"),
        (lists("[S0, S1]", "{S0: 1}"), "expected a value of `S1`"),
        (lists("[S0, S1]", "{S0: 1, S1: 0}"), "found `0`"),
        (lists("[S0, S1]", "{S0: 1, S1: -4}"), "found `-4`"),
        (lists("[S0, S1]", "{S0: 1, S1: 2.0}"), "found `2.0`"),
        (lists("[S0, S1]", "{S0: 1, S1: 99999999999999999999}"), "found `9999"),
        (lists("[S0, S1]", "{**S0, S1: 2}"), "expected a symbol with a value"),
        (
            file("[S0, S1]", "{S0: 1, S1: 2}", "[Eq(S0, S1)]", "[]"),
            "expected no relations between symbols, found `[Eq(",
        ),
        (file("[S0, S1]", "{S0: 1, S1: 2}", "None", "[]"), "expected no relations"),
        (with_shapes("{}"), "expected a list"),
        (with_shapes("[[S0, 3]]"), shape),
        (with_shapes("[([S0], \"x\", 1)]"), shape),
        (with_shapes("[(\"x\", [S0])]"), shape),
        (with_shapes("[([S0], x)]"), shape),
        (with_shapes("[([S0], \"x\\\"]\")]"), shape),
        (with_shapes("[([2 * S0], \"x\")]"), shape),
        (with_shapes("[([S2], \"x\")]"), shape),
        (with_shapes("[([-1], \"x\")]"), shape),
        (with_shapes("[([4611686018427387904], \"x\")]"), shape),
        (with_shapes(&deep), "brackets are nested too deeply"),
    ];
    for (text, expected) in cases {
        let error = read(&text).expect_err(&text).to_string();
        assert!(error.contains(expected) && error.starts_with("constraints.py:"), "{text}\n{error}");
    }
}
