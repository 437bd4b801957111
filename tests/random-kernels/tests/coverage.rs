//! What 500 random kernels cover, and that the interpreter agrees with itself on them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_ir::kernel::{
    Binary, Compare, IndexExpr, Kernel, Mode, Op, PaddingMode, ReduceOp, ScanOp, Tensor, Unary, interpret, verify,
};
use passhost_random_kernels::check_against;
use passhost_random_kernels::{DTYPES, MOST_LONG_WORK, MOST_WORK, RandomKernel};
use std::collections::BTreeMap;

const SEEDS: std::ops::Range<u64> = 0..500;

/// What a kernel shows of the language, by name.
fn features(kernel: &Kernel) -> Vec<String> {
    let mut seen = vec![
        format!("{} parallel axes", kernel.parallel.len()),
        format!("{} reduce axes", kernel.reduce.len()),
        format!("{} stores", kernel.stores.len().min(4)),
    ];
    for &extent in kernel.parallel.iter().chain(&kernel.reduce) {
        seen.push(format!("extent {}", extent.min(2)));
    }
    for expr in &kernel.index {
        let name = format!("{expr:?}");
        seen.push(format!("index {}", name.split('(').next().unwrap_or_default()));
    }
    for inst in &kernel.body {
        seen.push(match &inst.op {
            Op::Unary(op, _) => format!("unary {op}"),
            Op::Binary(op, ..) => format!("binary {op}"),
            Op::Compare(op, ..) => format!("compare {op}"),
            Op::Reduce(op, _) => format!("reduce {op}"),
            Op::Scan(op, _) => format!("scan {op}"),
            Op::Load { .. } => format!("load {}", inst.dtype),
            Op::Const(_) => format!("const {}", inst.dtype),
            Op::Index(_) => "index value".to_owned(),
            Op::Select(..) => "select".to_owned(),
            Op::Fma(..) => "fma".to_owned(),
            Op::Cast(_) => format!("cast {}", inst.dtype),
        });
        match &inst.op {
            Op::Load { padding: PaddingMode::Pad(_), .. } => seen.push("pad".to_owned()),
            Op::Load { padding: PaddingMode::Clamp, .. } => seen.push("clamp".to_owned()),
            _ => {}
        }
    }
    for store in &kernel.stores {
        seen.push(format!("store {}", kernel.body[store.value.0 as usize].dtype));
        let rows = store.order.len() == kernel.parallel.len();
        seen.push(if rows { "row store" } else { "elem store" }.to_owned());
        if !store.order.is_sorted() {
            seen.push("permuted store".to_owned());
        }
    }
    if kernel.body.iter().filter(|inst| matches!(inst.op, Op::Reduce(..))).count() > 1 {
        seen.push("several reductions".to_owned());
    }
    seen
}

/// Every feature that must be seen.
fn expected() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    names.extend((0..=8).map(|axes| format!("{axes} parallel axes")));
    names.extend((0..=4).map(|axes| format!("{axes} reduce axes")));
    names.extend((1..=4).map(|stores| format!("{stores} stores")));
    names.extend((0..=2).map(|extent| format!("extent {extent}")));
    for kind in ["Axis", "Const", "Add", "Sub", "Mul", "FloorDiv", "Mod", "Value", "value"] {
        names.push(format!("index {kind}"));
    }
    names.extend(Unary::ALL.iter().map(|op| format!("unary {op}")));
    names.extend(Binary::ALL.iter().map(|op| format!("binary {op}")));
    names.extend(Compare::ALL.iter().map(|op| format!("compare {op}")));
    names.extend(ReduceOp::ALL.iter().map(|op| format!("reduce {op}")));
    names.extend(ScanOp::ALL.iter().map(|op| format!("scan {op}")));
    for dtype in DTYPES {
        names.extend(["load", "const", "cast", "store"].map(|what| format!("{what} {dtype}")));
    }
    let single = ["select", "fma", "pad", "clamp", "row store", "elem store", "permuted store", "several reductions"];
    names.extend(single.map(str::to_owned));
    names
}

#[test]
fn random_kernels_verify_and_cover_the_language() {
    let mut counts: BTreeMap<String, usize> = expected().into_iter().map(|name| (name, 0)).collect();
    for seed in SEEDS {
        let (kernel, inputs) = RandomKernel::generate(seed);
        verify(&kernel).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{kernel:#?}"));
        assert!(kernel.work() <= MOST_LONG_WORK as u64, "seed {seed}: {} points", kernel.work());
        assert_eq!(inputs.len(), kernel.inputs.len());
        for feature in features(&kernel) {
            *counts.get_mut(&feature).unwrap_or_else(|| panic!("`{feature}` is not expected")) += 1;
        }
    }
    let missing: Vec<&String> = counts.iter().filter(|&(_, &count)| count == 0).map(|(name, _)| name).collect();
    assert!(missing.is_empty(), "never generated: {missing:?}");
}

#[test]
fn kernels_of_a_kind_verify() {
    for seed in SEEDS {
        for (kernel, inputs) in [RandomKernel::transposed(seed), RandomKernel::concatenated(seed)] {
            verify(&kernel).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{kernel:#?}"));
            assert!(kernel.work() <= MOST_WORK as u64, "seed {seed}: {} points", kernel.work());
            assert_eq!(inputs.len(), kernel.inputs.len());
        }
    }
}

#[test]
fn a_seed_always_gives_the_same_kernel() {
    assert_eq!(RandomKernel::generate(7), RandomKernel::generate(7));
    assert_ne!(RandomKernel::generate(7).0, RandomKernel::generate(8).0);
    let gathers = |kernel: &Kernel| kernel.index.iter().any(|expr| matches!(expr, IndexExpr::Value(_)));
    assert!(SEEDS.map(RandomKernel::generate).any(|(kernel, _)| gathers(&kernel)));
}

#[test]
fn few_elements_of_random_kernels_are_unknown() {
    // Kernels with long rows have most of the elements, and few operations to make them of.
    for (is_long, most_unknown, exact_from) in [(false, 0.05, 0.3), (true, 0.1, 0.1)] {
        let (mut unknown, mut exact, mut all) = (0, 0, 0);
        for (kernel, inputs) in SEEDS.map(RandomKernel::generate) {
            if (kernel.work() > MOST_WORK as u64) != is_long {
                continue;
            }
            let facts = verify(&kernel).unwrap();
            for output in interpret(&kernel, &facts, &inputs, Mode::Declared) {
                all += output.values.len();
                unknown += output.values.iter().filter(|x| x.is_unknown()).count();
                exact += output.values.iter().filter(|x| x.is_exact()).count();
            }
        }
        let share = |count: usize| count as f64 / all as f64;
        assert!(share(unknown) < most_unknown, "{unknown} of {all} elements unknown");
        assert!(share(exact) > exact_from && share(exact) < 0.95, "{exact} of {all} elements exact");
    }
}

/// [`Mode::Rounding`] says how far rounding may take a value from the truth; the truth must lie there.
#[test]
fn double_precision_lies_within_the_rounding_bounds() {
    let (mut checked, mut rounded) = (0u64, 0u64);
    for seed in SEEDS {
        let (kernel, inputs) = RandomKernel::generate(seed);
        let facts = verify(&kernel).unwrap();
        let outputs = interpret(&kernel, &facts, &inputs, Mode::Rounding);
        let truths = interpret(&kernel, &facts, &inputs, Mode::Double);
        for (number, (output, truth)) in outputs.iter().zip(&truths).enumerate() {
            for (position, (x, truth)) in output.values.iter().zip(&truth.values).enumerate() {
                assert!(truth.is_exact(), "seed {seed}: truths have no bounds");
                if x.is_unknown() {
                    continue;
                }
                let (found, truth) = (x.value.as_f64(), truth.value.as_f64());
                let agrees = found == truth || (found.is_nan() && truth.is_nan()) || (found - truth).abs() <= x.bound;
                assert!(
                    agrees,
                    "seed {seed}, output {number}, element {position}: {x:?} against {truth:?}\n{kernel:#?}"
                );
                checked += 1;
                rounded += u64::from(!x.is_exact());
            }
        }
    }
    assert!(rounded > 100_000 && checked > 2 * rounded, "{rounded} of {checked} elements rounded");
}

#[test]
fn outputs_check_against_themselves() {
    for seed in SEEDS.step_by(10) {
        let (kernel, inputs) = RandomKernel::generate(seed);
        let facts = verify(&kernel).unwrap();
        for output in interpret(&kernel, &facts, &inputs, Mode::Declared) {
            let written = Tensor::from_fn(output.dtype, output.shape.clone(), |position| output.values[position].value);
            let stats = check_against(&output, &written.data).unwrap();
            assert_eq!(stats.checked + stats.unknown, output.values.len() as u64);
            assert_eq!(stats.max_ulp, 0.0);
        }
    }
}
