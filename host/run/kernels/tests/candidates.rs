//! The schedules that a kernel may have in place of its default.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_ir::kernel::{Op, ReduceOp, verify};
use passhost_ir::{Dtype, Kernel};
use passhost_kernels::KernelLayout;
use passhost_kernels::cuda::{
    DeviceProperties, FORMS, KernelSource, MOST_CANDIDATES, candidates, emit, emit_as, emit_joined,
};
use passhost_random_kernels::RandomKernel;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const SEEDS: u64 = 1000;

fn random(seed: u64) -> Kernel {
    match seed % 4 {
        0 => RandomKernel::transposed(seed).0,
        1 => RandomKernel::concatenated(seed).0,
        _ => RandomKernel::generate(seed).0,
    }
}

/// The kernels of the golden files, which are of every form.
fn golden() -> Vec<(String, Kernel)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let kernels = paths.filter(|path| path.extension().is_some_and(|extension| extension == "kernel"));
    kernels.map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap().parse().unwrap())).collect()
}

fn of(kernel: &Kernel) -> Vec<KernelSource> {
    candidates(kernel, &verify(kernel).unwrap(), &KernelLayout::contiguous(kernel), &DeviceProperties::H200)
}

fn of_text(text: &str) -> Vec<String> {
    of(&text.parse().unwrap()).into_iter().map(|source| source.schedule).collect()
}

#[test]
fn candidates_are_few_and_distinct_and_begin_with_the_default() {
    let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
    for seed in 0..SEEDS {
        let kernel = random(seed);
        let (facts, layout) = (verify(&kernel).unwrap(), KernelLayout::contiguous(&kernel));
        let all = candidates(&kernel, &facts, &layout, &DeviceProperties::H200);
        assert!(all.len() <= MOST_CANDIDATES, "seed {seed}");
        assert_eq!(all.first(), Some(&emit(&kernel, &facts, &layout, &DeviceProperties::H200)), "seed {seed}");
        let texts: BTreeSet<&str> = all.iter().map(|source| source.text.as_str()).collect();
        let names: BTreeSet<&str> = all.iter().map(|source| source.schedule.as_str()).collect();
        assert_eq!((texts.len(), names.len()), (all.len(), all.len()), "seed {seed}: {names:?}");
        for source in &all {
            let again = emit_as((&kernel, &facts), &layout, &DeviceProperties::H200, &source.schedule);
            assert_eq!(again.as_ref(), Some(source), "seed {seed}");
        }
        *counts.entry(all.len()).or_default() += 1;
    }
    assert!(counts.keys().any(|count| *count == MOST_CANDIDATES), "{counts:?}");
    // Where a kernel has few points, one block has them all.
    assert!(counts[&1] < SEEDS as u32 / 2, "{counts:?}");
}

/// Whether the order matters in which some reduction or scan of a kernel's text takes its elements.
fn has_an_order(kernel: &Kernel, text: &str) -> bool {
    kernel.body.iter().enumerate().any(|(at, inst)| {
        let (op, operand) = match inst.op {
            Op::Reduce(op, operand) => (op, operand),
            Op::Scan(op, operand) => (op.reduction(), operand),
            _ => return false,
        };
        let dtype = kernel.body[operand.0 as usize].dtype;
        let is_there = [format!(" acc{at}["), format!(" c{at}[")].iter().any(|name| text.contains(name));
        match op {
            _ if !is_there => false,
            ReduceOp::Sum | ReduceOp::Prod => dtype.is_float(),
            ReduceOp::Max | ReduceOp::Min => dtype == Dtype::F64,
            _ => false,
        }
    })
}

/// The functions of the prelude that take parts of a row together, with the argument that the order does not depend on:
/// how many rows lie side by side.
const ORDERING: [(&str, usize); 7] = [
    ("across", 2),
    ("across_columns", 1),
    ("column", 2),
    ("tell", 0),
    ("take", 1),
    ("collect", 1),
    ("scan", usize::MAX),
];

/// What a text says of the order in which a row is taken together.
fn order(text: &str) -> Vec<String> {
    let (_, entry) = text.split_once("extern \"C\"").unwrap();
    let mut order: Vec<String> = vec![];
    for (name, beside) in ORDERING {
        for call in entry.split(&format!("{name}<")).skip(1) {
            let arguments = call.split('>').next().unwrap().split(", ").enumerate();
            let arguments = arguments.filter(|(at, _)| *at != beside).map(|(_, argument)| argument);
            order.push(format!("{name} {}", arguments.collect::<Vec<_>>().join(", ")));
        }
    }
    // Tiles of products, whose terms follow each other.
    order.extend(entry.matches("multiply_").map(str::to_owned));
    // Points from one turn of a thread to its next.
    order.extend(entry.split("first += ").skip(1).map(|rest| rest.split(')').next().unwrap().to_owned()));
    order
}

#[test]
fn the_order_of_a_reduction_is_that_of_the_default() {
    let (mut seen, mut free) = (BTreeMap::new(), 0);
    for (name, kernel) in (0..SEEDS).map(|seed| (format!("seed {seed}"), random(seed))).chain(golden()) {
        let all = of(&kernel);
        let same = |source: &&KernelSource| order(&source.text) == order(&all[0].text);
        if !has_an_order(&kernel, &all[0].text) {
            free += all.iter().filter(|source| !same(source)).count();
            continue;
        }
        for source in &all {
            assert!(same(&source), "{name}: `{}` and `{}`", all[0].schedule, source.schedule);
            *seen.entry(source.form).or_insert(0) += order(&source.text).len();
        }
    }
    let reducing = FORMS.iter().filter(|form| **form != "map" && **form != "scan by a thread");
    assert!(reducing.clone().all(|form| seen.get(form).is_some_and(|count| *count > 1)), "{seen:?}");
    assert!(free > 20, "{free} schedules in which what has no order is taken together otherwise");
}

const SUM: &str = "kernel {
  space p0=4096; reduce r0=1024
  in x0: f32[4096,1024]
  i0 = p0
  i1 = r0
  v0: f32 = load x0[i0, i1] clamp
  v1: f32 = reduce sum v0
  out v1 over [p0] as [4096]
}";

#[test]
fn a_maximum_may_be_taken_by_more_threads_and_a_sum_may_not() {
    let threads = |schedules: &[String]| -> BTreeSet<String> {
        schedules.iter().filter_map(|schedule| schedule.split(' ').nth(1)).map(str::to_owned).collect()
    };
    let (sums, maxima) = (of_text(SUM), of_text(&SUM.replace("reduce sum", "reduce max")));
    assert_eq!(sums[0], maxima[0]);
    assert_eq!(threads(&sums).len(), 1, "{sums:?}");
    assert!(threads(&maxima).len() > 1, "{maxima:?}");
    assert!(sums.len() > 1, "{sums:?}");
}

#[test]
fn what_is_read_by_squares_may_be_read_where_it_lies() {
    let schedules = of_text(
        "kernel {
          space p0=2048, p1=1024
          in x0: f32[1024,2048]
          i0 = p0
          i1 = p1
          v0: f32 = load x0[i1, i0] clamp
          out v0 over [p0, p1] as [2048,1024]
        }",
    );
    assert_eq!(schedules[0], "squares lanes=1");
    assert!(schedules.len() > 2 && schedules[1..].iter().all(|other| other.starts_with("columns")), "{schedules:?}");
}

#[test]
fn an_unknown_name_is_no_schedule() {
    let kernel: Kernel = SUM.parse().unwrap();
    let facts = verify(&kernel).unwrap();
    let unknown = emit_as((&kernel, &facts), &KernelLayout::contiguous(&kernel), &DeviceProperties::H200, "rows");
    assert_eq!(unknown, None);
}

/// A sum of products with a batch, two sides and terms.
const PRODUCT: &str = "kernel {
  space p0=3, p1=40, p2=72; reduce r0=100
  in x0: f16[3,40,100]
  in x1: f16[3,100,72]
  i0 = p0
  i1 = p1
  i2 = p2
  i3 = r0
  v0: f16 = load x0[i0, i1, i3] clamp
  v1: f32 = cast v0
  v2: f16 = load x1[i0, i3, i2] clamp
  v3: f32 = cast v2
  v4: f32 = mul v1, v3
  v5: f32 = reduce sum v4
  out v5 over [p0, p1, p2] as [3,40,72]
}";

#[test]
fn sums_of_products_with_two_sides_are_added_up_by_tiles() {
    let older = DeviceProperties { shared_bytes_per_multiprocessor: 64 << 10, ..DeviceProperties::H200 };
    let form = |text: &str, device| {
        let kernel: Kernel = text.parse().unwrap();
        emit(&kernel, &verify(&kernel).unwrap(), &KernelLayout::contiguous(&kernel), device).form
    };
    let (cores, tiles) = ("products on tensor cores", "products in tiles");
    for (what, [from, to], expected) in [
        ("as it is", ["", ""], cores),
        ("results in the other order", ["[p0, p1, p2] as [3,40,72]", "[p2, p0, p1] as [72,3,40]"], cores),
        ("the batch in one factor", ["load x1[i0, i3, i2]", "load x1[i1, i3, i2]"], "rows"),
        ("an index that is clamped", ["in x1: f16[3,100,72]", "in x1: f16[1,100,72]"], cores),
        ("no product", ["mul v1, v3", "add v1, v3"], "rows"),
        ("no sum", ["reduce sum", "reduce max"], "rows"),
        ("a side that no factor follows", ["load x1[i0, i3, i2]", "load x1[i0, i3, i1]"], "rows"),
        ("a square of one factor", ["mul v1, v3", "mul v1, v1"], "rows"),
        ("a short side", ["p2=72", "p2=3"], "rows"),
        ("few terms", ["r0=100", "r0=7"], "rows"),
    ] {
        let mut text = PRODUCT.replace(from, to);
        for (extent, shapes) in [("p2=3;", [",72]", ",3]"]), ("r0=7", ["100", "7"])] {
            if text.contains(extent) {
                text = text.replace(shapes[0], shapes[1]);
            }
        }
        let found = form(&text, &DeviceProperties::H200);
        assert!(found == expected || expected == "rows" && found == "columns", "{what}: {found}\n{text}");
        assert_eq!(form(&text, &older) == tiles, expected == cores, "{what}: tensor cores multiply halves");
    }
}

/// Eight lanes that read one element have it in common, and no run of eight that can be copied.
#[test]
fn only_runs_of_elements_are_copied() {
    let kernel: Kernel = PRODUCT.replace("100", "104").parse().unwrap();
    let copies = |layout: &KernelLayout| {
        let text = emit(&kernel, &verify(&kernel).unwrap(), layout, &DeviceProperties::H200).text;
        text.split("extern \"C\"").last().unwrap().contains("copy_later")
    };
    let mut layout = KernelLayout::contiguous(&kernel);
    assert!(copies(&layout));
    layout.strides[0][2] = 0;
    assert!(!copies(&layout));
}

#[test]
fn large_products_of_halves_are_those_of_warpgroups_where_these_are_and_have_the_memory() {
    let large: String = ["p1=40, p2=72; reduce r0=100", "[3,40,100]", "[3,100,72]", "[3,40,72]"]
        .into_iter()
        .zip(["p1=1024, p2=1024; reduce r0=1024", "[3,1024,1024]", "[3,1024,1024]", "[3,1024,1024]"])
        .fold(PRODUCT.into(), |text: String, (from, to)| text.replace(from, to));
    let none = DeviceProperties { warpgroup_shared_bytes: 0, ..DeviceProperties::H200 };
    let schedules = |text: &str, device| -> Vec<String> {
        let kernel: Kernel = text.parse().unwrap();
        let layout = KernelLayout::contiguous(&kernel);
        candidates(&kernel, &verify(&kernel).unwrap(), &layout, device).into_iter().map(|one| one.schedule).collect()
    };
    let has = |schedules: &[String]| schedules.iter().any(|one| one.ends_with("warpgroups"));
    assert!(schedules(&large, &DeviceProperties::H200)[0].ends_with("warpgroups"));
    assert!(!has(&schedules(&large, &none)));
    let (loads, rest) = large.split_once("  v2: ").unwrap();
    let (_, out) = rest.split_once(" over ").unwrap();
    let computed = format!(
        "{loads}  v2: f16 = cast v1\n  v3: f32 = cast v2\n  v4: f16 = load x1[i0, i3, i2] clamp\n  v5: f32 = cast v4\n  \
         v6: f32 = mul v3, v5\n  v7: f32 = reduce sum v6\n  out v7 over {out}"
    );
    let found = schedules(&computed, &DeviceProperties::H200);
    assert!(found[0].starts_with("products") && !has(&found), "what is computed is not copied: {found:?}");
    let kernel: Kernel = large.parse().unwrap();
    let (facts, layout) = (verify(&kernel).unwrap(), KernelLayout::contiguous(&kernel));
    let alone = emit(&kernel, &facts, &layout, &DeviceProperties::H200);
    assert!(alone.shared_bytes > 48 << 10 && alone.threads == 256);
    let joined = emit_joined(&[(&kernel, &facts, &layout), (&kernel, &facts, &layout)], &DeviceProperties::H200);
    assert_eq!(joined.shared_bytes, 0, "what is joined to others leaves them memory");
}
