//! What random contractions cover, and that few of their sums are unknown.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_ir::Dtype;
use passhost_ir::kernel::{Kernel, Mode, Op, PaddingMode, ReduceOp, Reg, interpret, verify};
use passhost_random_kernels::{MOST_PRODUCTS, RandomKernel};
use std::collections::BTreeMap;

const SEEDS: std::ops::Range<u64> = 0..400;

/// What is summed up: the type, under which condition a product counts, and the factors.
fn product(kernel: &Kernel) -> (Dtype, Option<Reg>, [Reg; 2]) {
    let mut sums = kernel.body.iter().filter_map(|inst| match inst.op {
        Op::Reduce(ReduceOp::Sum, a) => Some((inst.dtype, a)),
        Op::Reduce(..) | Op::Scan(..) | Op::Fma(..) => panic!("no contraction: {inst:?}"),
        _ => None,
    });
    let (dtype, summed) = sums.next().unwrap();
    assert!(sums.next().is_none(), "two sums");
    let op = |reg: Reg| &kernel.body[reg.0 as usize].op;
    let (condition, product) = match op(summed) {
        Op::Select(condition, product, _) => (Some(*condition), *product),
        _ => (None, summed),
    };
    let Op::Binary(_, a, b) = op(product) else { panic!("no product is summed up") };
    (dtype, condition, [*a, *b])
}

/// Whether a tensor has a say in a value.
fn is_read(kernel: &Kernel, value: Reg) -> bool {
    let op = &kernel.body[value.0 as usize].op;
    matches!(op, Op::Load { .. }) || op.operands().into_iter().any(|operand| is_read(kernel, operand))
}

/// The type of the element that a factor is, but for casts.
fn element_type(kernel: &Kernel, factor: Reg) -> Option<Dtype> {
    let inst = &kernel.body[factor.0 as usize];
    match inst.op {
        Op::Cast(from) => element_type(kernel, from),
        Op::Load { .. } => Some(inst.dtype),
        _ => None,
    }
}

/// What a kernel shows, by name.
fn features(kernel: &Kernel) -> Vec<String> {
    let (dtype, condition, factors) = product(kernel);
    let mut seen = vec![format!("sum in {dtype}"), format!("{} stores", kernel.stores.len())];
    seen.push(
        match condition {
            Some(condition) if is_read(kernel, condition) => "products that a tensor chooses",
            Some(_) => "some products",
            None => "all products",
        }
        .to_owned(),
    );
    seen.push(match factors.map(|factor| element_type(kernel, factor)) {
        [Some(a), Some(b)] if a == b => format!("factors of {a}"),
        [Some(_), Some(_)] => "factors of two types".to_owned(),
        _ => "computed factors".to_owned(),
    });
    seen.push(format!("{} reduce axes", kernel.reduce.len()));
    seen.push(
        match kernel.row_length() {
            1 => "1 term",
            900.. => "900 terms",
            _ => "terms",
        }
        .to_owned(),
    );
    seen.push(format!("{} of {} axes", kernel.stores[0].shape.len().min(4), kernel.parallel.len().min(4)));
    for expr in &kernel.index {
        let name = format!("{expr:?}");
        seen.push(format!("index {}", name.split('(').next().unwrap_or_default()));
    }
    for inst in &kernel.body {
        match inst.op {
            Op::Unary(op, _) => seen.push(format!("unary {op}")),
            Op::Load { padding: PaddingMode::Clamp, .. } => seen.push("clamp".to_owned()),
            Op::Load { .. } => seen.push("pad".to_owned()),
            _ => {}
        }
    }
    if kernel.parallel.iter().filter(|extent| **extent >= 16).count() >= 2 && kernel.row_length() >= 16 {
        seen.push("a product of tiles".to_owned());
    }
    seen
}

const EXPECTED: &[&str] = &[
    "sum in f32",
    "sum in f64",
    "1 stores",
    "2 stores",
    "3 stores",
    "some products",
    "products that a tensor chooses",
    "all products",
    "factors of f16",
    "factors of bf16",
    "factors of f32",
    "factors of f64",
    "factors of two types",
    "computed factors",
    "1 reduce axes",
    "2 reduce axes",
    "3 reduce axes",
    "4 reduce axes",
    "1 term",
    "900 terms",
    "terms",
    "index Const",
    "index Add",
    "index Sub",
    "index Mul",
    "index FloorDiv",
    "index Mod",
    "index Value",
    "unary exp",
    "unary erf",
    "unary tanh",
    "clamp",
    "pad",
    "0 of 0 axes",
    "1 of 1 axes",
    "2 of 2 axes",
    "1 of 3 axes",
    "3 of 3 axes",
    "4 of 4 axes",
    "a product of tiles",
];

#[test]
fn random_contractions_verify_and_cover_products_of_all_kinds() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for seed in SEEDS {
        let (kernel, inputs) = RandomKernel::contraction(seed);
        verify(&kernel).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{kernel}"));
        assert!(kernel.work() <= MOST_PRODUCTS as u64, "seed {seed}: {} points", kernel.work());
        assert_eq!(inputs.len(), kernel.inputs.len());
        for feature in features(&kernel) {
            *counts.entry(feature).or_default() += 1;
        }
    }
    let missing: Vec<_> = EXPECTED.iter().filter(|name| !counts.contains_key(**name)).collect();
    assert!(missing.is_empty(), "never generated: {missing:?} among {counts:#?}");
    assert!(counts["a product of tiles"] > 40, "{counts:#?}");
}

#[test]
fn few_sums_of_random_contractions_are_unknown_and_few_are_nonfinite() {
    let (mut unknown, mut nonfinite, mut all) = (0, 0, 0);
    for (kernel, inputs) in SEEDS.map(RandomKernel::contraction).filter(|(kernel, _)| kernel.work() <= 20_000) {
        for output in interpret(&kernel, &verify(&kernel).unwrap(), &inputs, Mode::Declared) {
            all += output.values.len();
            unknown += output.values.iter().filter(|x| x.is_unknown()).count();
            nonfinite += output.values.iter().filter(|x| !x.value.as_f64().is_finite()).count();
        }
    }
    assert!(unknown * 100 < all, "{unknown} of {all} elements unknown");
    assert!(nonfinite * 100 > all && nonfinite * 10 < all, "{nonfinite} of {all} elements infinite or NaN");
}
