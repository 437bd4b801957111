//! One seeded mistake, or more, for each rule of the verifier: in `mistakes.txt`, with the error on the line that it blames.
//! `UPDATE_EXPECT=1` writes the errors anew.

use super::*;
use std::collections::BTreeSet;
use std::path::Path;

/// Names every variant once: a new one does not compile until it is listed, and then needs a mistake.
macro_rules! rules {
    ($($rule:ident),* $(,)?) => {
        const RULES: &[&str] = &[$(stringify!($rule)),*];

        fn rule(error: &KernelError) -> &'static str {
            match error.rule { $(KernelRule::$rule { .. } => stringify!($rule)),* }
        }
    };
}

rules! {
    Count, ParallelExtent, ReduceExtent, Work, NoStore, InputComplex, InputType, IndexOperand, AxisRange, Divisor, IndexValueMissing, IndexValueType,
    IndexOverflow, IndexTooEarly, Operand, MissingIndex, MissingInput, LoadRank, ClampEmpty, LiteralKind, LiteralRange,
    LiteralNan, ComplexValue, OperandType, OperandsDiffer, ResultType, NoReduceAxis, StoreValue, StoreOrder, StoreElem,
    StoreShape, StoreType,
}

const FIXTURE: &str = include_str!("mistakes.txt");

/// The lines of the valid kernel by name, in order.
fn valid_lines() -> Vec<(String, String)> {
    let (_, rest) = FIXTURE.split_once("kernel {\n").expect("a kernel");
    let (body, _) = rest.split_once("\n}").expect("a whole kernel");
    let mut stores = 0;
    let named = |line: &str| {
        let line = line.trim();
        if let Some(store) = line.strip_prefix("out ") {
            stores += 1;
            return (format!("out {}", stores - 1), format!("out {}: {store}", stores - 1));
        }
        (name(line).to_owned(), line.to_owned())
    };
    body.lines().map(named).collect()
}

/// What a line of the fixture defines: `space`, `in x0`, `i3`, `v4` or `out 1`.
fn name(line: &str) -> &str {
    if line.starts_with("space") { "space" } else { line.split([':', '=']).next().unwrap_or(line).trim() }
}

fn kernel(lines: &[(String, String)]) -> Kernel {
    let text: String = lines
        .iter()
        .map(|(name, line)| match name.starts_with("out ") {
            true => line.replacen(&format!("{name}:"), "out", 1) + "\n",
            false => format!("{line}\n"),
        })
        .collect();
    let text = format!("kernel {{\n{text}}}");
    text.parse().expect("a kernel in the text form")
}

fn valid() -> Kernel {
    kernel(&valid_lines())
}

/// A block of the fixture as it should be, and the rule that it breaks: its lines, with the error on the one it blames.
fn checked(block: &str) -> (String, &'static str) {
    let mut lines = valid_lines();
    let mut shown: Vec<(String, String)> = Vec::new();
    let mut comments = String::new();
    for line in block.lines() {
        if line.starts_with('#') {
            comments += &format!("{line}\n");
            continue;
        }
        let line = line.split(" // ").next().unwrap_or(line).to_owned();
        let name = name(&line).to_owned();
        shown.push((name.clone(), line.clone()));
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = line,
            None => {
                let first = lines.iter().position(|(name, _)| name.starts_with("out ")).unwrap_or(lines.len());
                lines.insert(first, (name, line));
            }
        }
    }
    let error = verify(&kernel(&lines)).expect_err(block);
    let text = error.to_string();
    assert!(!text.ends_with('.'), "{text}");
    let place = error.line.to_string();
    if !shown.iter().any(|(name, _)| *name == place) {
        shown.push(lines.iter().find(|(name, _)| *name == place).expect("a line of the kernel").clone());
    }
    let shown: String = shown
        .into_iter()
        .map(|(name, line)| match name == place {
            true => format!("{line} // {}: {text}\n", rule(&error)),
            false => format!("{line}\n"),
        })
        .collect();
    (comments + &shown, rule(&error))
}

/// The blocks of the fixture behind the valid kernel and the explanation.
fn blocks() -> Vec<&'static str> {
    let (_, rest) = FIXTURE.split_once("\n}\n\n").expect("mistakes");
    rest.trim_end().split("\n\n").skip(1).collect()
}

type Mistake = (&'static str, fn(&mut Kernel));

/// What would be long as text, or has no text.
const UNWRITTEN: &[Mistake] = &[
    ("Count", |k| k.inputs = vec![k.inputs[0].clone(); 65]),
    ("Count", |k| k.index.resize(1025, IndexExpr::Const(0))),
    ("Count", |k| k.body.resize(513, Inst { dtype: Dtype::I32, op: Op::Const(Scalar::Int(0)) })),
    ("Count", |k| k.body.resize(12 + 63, k.body[0].clone())),
    ("Count", |k| k.stores = vec![k.stores[0].clone(); 33]),
    ("NoStore", |k| k.stores.clear()),
    ("LiteralNan", |k| k.body[8].op = Op::Const(Scalar::Float(f64::from_bits(0x7ff0_0000_0000_0001)))),
    ("LiteralNan", |k| k.body[8].op = Op::Const(Scalar::Float(-f64::NAN))),
];

#[test]
fn the_kernel_that_mistakes_are_seeded_in_is_valid() {
    let facts = verify(&valid()).expect("valid");
    assert_eq!(facts.class(Reg(1)), Class::Elem);
    assert_eq!(facts.class(Reg(5)), Class::Row);
    assert_eq!(facts.in_bounds[1], [true, true]);
    assert_eq!(facts.index_needs, [0, 0, 1, 1, 1]);
}

#[test]
fn every_mistake_of_the_fixture_is_told_on_the_line_that_it_blames() {
    let (head, _) = FIXTURE.split_once("\n}\n\n").expect("mistakes");
    let explanation = FIXTURE[head.len() + 4..].split("\n\n").next().unwrap_or_default();
    let found: Vec<String> = blocks().into_iter().map(|block| checked(block).0).collect();
    let expected = format!("{head}\n}}\n\n{explanation}\n\n{}", found.join("\n"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kernel/mistakes.txt");
        std::fs::write(path, expected).expect("the fixture can be written");
    } else {
        assert!(FIXTURE == expected, "mistakes.txt (UPDATE_EXPECT=1 writes it anew) should be:\n{expected}");
    }
}

#[test]
fn mistakes_without_text_are_caught_by_their_rules() {
    for (number, (expected, seed)) in UNWRITTEN.iter().enumerate() {
        let mut kernel = valid();
        seed(&mut kernel);
        let error = verify(&kernel).expect_err(expected);
        assert_eq!(rule(&error), *expected, "mistake {number}: {error}");
        assert!(!error.to_string().ends_with('.'), "{error}");
    }
}

#[test]
fn every_rule_has_a_seeded_mistake() {
    let written = blocks().into_iter().map(|block| checked(block).1);
    let seeded: BTreeSet<&str> = UNWRITTEN.iter().map(|&(rule, _)| rule).chain(written).collect();
    let rules: BTreeSet<&str> = RULES.iter().copied().collect();
    assert_eq!(seeded, rules);
}

#[test]
fn an_unproven_load_is_valid_and_keeps_its_guard() {
    let mut kernel = valid();
    kernel.inputs[0].shape = vec![4, 15];
    let facts = verify(&kernel).expect("clamped");
    assert_eq!(facts.in_bounds[1], [true, false]);
    assert!(!facts.load_in_bounds(Reg(1)));
}

#[test]
fn a_gather_bounded_by_extrema_is_proven() {
    let text = "kernel {
        space p0=5 in x0: i64[5] in x1: u8[20] i0 = p0
        v0: i64 = load x0[i0] clamp v1: i64 = const 0 v2: i64 = const 7 v3: i64 = max v0, v1 v4: i64 = min v3, v2
        i1 = v4 i2 = i1 * 2 i3 = i2 + i0 v5: u8 = load x1[i3] clamp out v5 over [p0] as [5] }";
    let kernel: Kernel = text.parse().expect("a kernel");
    let facts = verify(&kernel).expect("valid");
    assert_eq!(facts.index_interval(IndexId(3)), Interval::new(0, 18));
    assert!(facts.load_in_bounds(Reg(5)));
}

#[test]
fn empty_spaces_are_valid() {
    let mut kernel = valid();
    kernel.parallel[0] = 0;
    kernel.stores[0].shape = vec![0];
    kernel.stores[1].shape = vec![0, 3];
    kernel.stores[2].shape = vec![8, 0];
    assert!(verify(&kernel).is_ok());
}
