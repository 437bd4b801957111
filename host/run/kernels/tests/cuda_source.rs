//! What is emitted for a GPU compiles, without one. Skipped only where `scripts/setup` found no NVRTC, and never in CI.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_ir::kernel::{IndexExpr, verify};
use passhost_ir::{Dtype, Kernel};
use passhost_kernels::KernelLayout;
use passhost_kernels::cuda::{Compiler, DeviceProperties, FORMS, Nvrtc, NvrtcError, candidates, emit, emit_joined};
use passhost_random_kernels::RandomKernel;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const SEEDS: u64 = 500;

/// The compiler of the libtorch that this build uses.
fn compiler() -> Option<Compiler> {
    let torch = PathBuf::from(std::env::var_os("LIBTORCH").unwrap_or_default());
    match Compiler::new((9, 0), &[torch.join("../nvidia/cu13/lib")]) {
        Ok(compiler) => Some(compiler),
        Err(NvrtcError::Missing { reason }) => {
            let [known, ci] = ["PASSHOST_WITHOUT_NVRTC", "CI"].map(std::env::var_os);
            assert!(known.is_some() && ci.is_none(), "no NVRTC (scripts/setup fetches it): {reason}");
            println!("skipped, as scripts/setup found no NVRTC: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A layout in which every other input is transposed or unaligned.
fn scattered(kernel: &Kernel, seed: u64) -> KernelLayout {
    let mut layout = KernelLayout::contiguous(kernel);
    for (input, strides) in layout.strides.iter_mut().enumerate() {
        if (seed + input as u64).is_multiple_of(2) {
            strides.reverse();
            layout.alignments[input] = kernel.inputs[input].dtype.size() as usize;
        }
    }
    layout
}

/// The first instruction that reads or writes memory that other launches see, and the one that waits for the launch before.
fn first_access_and_wait(assembly: &str) -> (Option<usize>, Option<usize>) {
    let own = [".param", ".const", ".shared", ".local"];
    let lines: Vec<&str> = assembly.lines().map(str::trim).collect();
    let is_access = |line: &&str| {
        let line = line.trim_start_matches(|c| c != ' ' && line.starts_with('@')).trim();
        let name = line.split_whitespace().next().unwrap_or("");
        ["ld.", "st.", "atom.", "red.", "cp.async"].iter().any(|start| name.starts_with(start))
            && !own.iter().any(|space| name.contains(space))
    };
    let access = lines.iter().position(is_access);
    (access, lines.iter().position(|line| line.starts_with("griddepcontrol.wait")))
}

#[test]
fn nothing_is_read_or_written_before_the_launch_before_has_ended() {
    if compiler().is_none() {
        return;
    }
    let torch = PathBuf::from(std::env::var_os("LIBTORCH").unwrap_or_default());
    let nvrtc = Nvrtc::load(&[torch.join("../nvidia/cu13/lib")]).unwrap();
    let mut looked_at = 0;
    for seed in 0..150 {
        let (kernel, _) = match seed % 3 {
            0 => RandomKernel::transposed(seed),
            1 => RandomKernel::concatenated(seed),
            _ => RandomKernel::generate(seed),
        };
        if kernel.rows() == 0 {
            continue;
        }
        let source =
            emit(&kernel, &verify(&kernel).unwrap(), &KernelLayout::contiguous(&kernel), &DeviceProperties::H200);
        let assembly = nvrtc.assembly(&source.text, (9, 0)).unwrap();
        let (access, wait) = first_access_and_wait(&assembly);
        let (access, wait) = (access.expect("a kernel writes"), wait.expect("a kernel waits"));
        assert!(wait < access, "seed {seed}: waits in line {wait}, and is at work in {access}\n{assembly}");
        looked_at += 1;
    }
    assert!(looked_at >= 100, "{looked_at}");
}

#[test]
fn random_kernels_compile_for_sm_90() {
    let Some(compiler) = compiler() else { return };
    let (next, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= SEEDS {
                        return;
                    }
                    let (kernel, _) = RandomKernel::generate(seed);
                    if kernel.rows() == 0 {
                        continue;
                    }
                    let facts = verify(&kernel).unwrap();
                    let layout = if seed.is_multiple_of(2) {
                        KernelLayout::contiguous(&kernel)
                    } else {
                        scattered(&kernel, seed)
                    };
                    let source = emit(&kernel, &facts, &layout, &DeviceProperties::H200);
                    match compiler.compile(&source.text) {
                        Ok(cubin) => bytes.fetch_add(cubin.0.len() as u64, Ordering::Relaxed),
                        Err(error) => panic!("seed {seed}: {error}\n{}", source.text),
                    };
                }
            });
        }
    });
    println!("{} bytes of machine code", bytes.into_inner());
}

#[test]
fn all_candidates_of_random_kernels_compile() {
    let Some(compiler) = compiler() else { return };
    let mut others = 0;
    for seed in 0..40 {
        let (kernel, _) = match seed % 4 {
            0 => RandomKernel::transposed(seed),
            1 => RandomKernel::concatenated(seed),
            _ => RandomKernel::generate(seed),
        };
        let layout = if seed.is_multiple_of(2) { KernelLayout::contiguous(&kernel) } else { scattered(&kernel, seed) };
        for source in candidates(&kernel, &verify(&kernel).unwrap(), &layout, &DeviceProperties::H200).iter().skip(1) {
            if let Err(error) = compiler.compile(&source.text) {
                panic!("seed {seed}, {}: {error}\n{}", source.schedule, source.text);
            }
            others += 1;
        }
    }
    assert!(others >= 80, "{others} candidates beside the defaults");
}

/// Sums, products and extrema of the columns of a wide matrix of f16, in some type.
fn columns(dtype: Dtype) -> Kernel {
    let text = format!(
        "kernel {{
          space p0=65536; reduce r0=4096
          in x0: f16[4096,65536]
          i0 = p0
          i1 = r0
          v0: f16 = load x0[i1, i0] clamp
          v1: {dtype} = cast v0
          v2: {dtype} = reduce sum v1
          v3: {dtype} = reduce prod v1
          v4: {dtype} = reduce max v1
          v5: {dtype} = reduce min v1
          out v2 over [p0] as [65536]
          out v3 over [p0] as [65536]
          out v4 over [p0] as [65536]
          out v5 over [p0] as [65536]
        }}"
    );
    text.parse().unwrap()
}

#[test]
fn several_reductions_share_the_memory_of_a_block() {
    let Some(compiler) = compiler() else { return };
    for dtype in [Dtype::F32, Dtype::F64, Dtype::I64] {
        let kernel = columns(dtype);
        let source =
            emit(&kernel, &verify(&kernel).unwrap(), &KernelLayout::contiguous(&kernel), &DeviceProperties::H200);
        assert!(source.text.contains("across_columns<Sum"), "columns are reduced as such");
        if let Err(error) = compiler.compile(&source.text) {
            panic!("{dtype}: {error}");
        }
    }
}

/// The sums, over the middle dimension, of a tensor [4, 64, 32768] of f16 and two [2, 64, 32768] joined along the first.
const SUMS_OF_JOINED: &str = "kernel {
  space p0=4, p1=32768; reduce r0=64
  in x0: f16[2,64,32768]
  in x1: f16[2,64,32768]
  in x2: f16[4,64,32768]
  i0 = p0
  i1 = p1
  i2 = r0
  i3 = 2
  i4 = i0 - i3
  v0: f16 = load x0[i0, i2, i1] pad 0.0
  v1: f16 = load x1[i4, i2, i1] pad 0.0
  v2: i64 = index i0
  v3: i64 = const 2
  v4: bool = lt v2, v3
  v5: f16 = select v4, v0, v1
  v6: f32 = cast v5
  v7: f16 = load x2[i0, i2, i1] pad 0.0
  v8: f32 = cast v7
  v9: f32 = add v6, v8
  v10: f32 = reduce sum v9
  out v10 over [p0, p1] as [4,32768]
}";

#[test]
fn columns_of_joined_tensors_compile() {
    let Some(compiler) = compiler() else { return };
    let kernel: Kernel = SUMS_OF_JOINED.parse().unwrap();
    let source = emit(&kernel, &verify(&kernel).unwrap(), &KernelLayout::contiguous(&kernel), &DeviceProperties::H200);
    assert!(
        source.text.contains("across_columns<Sum") && source.text.contains("v < 8"),
        "wide columns are what is meant"
    );
    if let Err(error) = compiler.compile(&source.text) {
        panic!("{error}");
    }
}

/// How many of the kernels of some seeds, and of contractions of an eighth of them, are emitted in each form.
fn counted(seeds: std::ops::Range<u64>) -> BTreeMap<&'static str, u32> {
    let mut counts: BTreeMap<&str, u32> = FORMS.iter().map(|form| (*form, 0)).collect();
    let contractions = (seeds.start..seeds.end / 8).map(|seed| RandomKernel::contraction(seed).0);
    for kernel in seeds.map(|seed| RandomKernel::generate(seed).0).chain(contractions) {
        if kernel.rows() > 0 {
            let facts = verify(&kernel).unwrap();
            let source = emit(&kernel, &facts, &KernelLayout::contiguous(&kernel), &DeviceProperties::H200);
            *counts.get_mut(source.form).unwrap() += 1;
        }
    }
    counts
}

#[test]
fn random_kernels_are_of_every_form() {
    let counts = counted(0..2000);
    assert!(counts.values().all(|count| *count >= 10), "{counts:?}");
}

#[test]
fn products_that_a_tensor_chooses_or_places_are_added_up_by_tiles() {
    let is_tiled = |kernel: Kernel| {
        let facts = verify(&kernel).unwrap();
        let source = emit(&kernel, &facts, &KernelLayout::contiguous(&kernel), &DeviceProperties::H200);
        source.form.starts_with("products")
    };
    let tiled = |is_of_kind: fn(&Kernel) -> bool| -> Vec<bool> {
        (0..400).map(|seed| RandomKernel::contraction(seed).0).filter(is_of_kind).map(is_tiled).collect()
    };
    let chosen = tiled(|kernel| kernel.inputs.iter().any(|input| input.dtype == Dtype::Bool));
    let placed = tiled(|kernel| kernel.index.iter().any(|expr| matches!(expr, IndexExpr::Value(_))));
    for (name, tiled) in [("chosen", chosen), ("placed", placed)] {
        let count = tiled.iter().filter(|tiled| **tiled).count();
        assert!(count >= 10 && 4 * count >= tiled.len(), "{name}: {count} of {}", tiled.len());
    }
}

#[test]
fn random_kernels_keep_what_they_read_of_rows() {
    let kept = (0..1000).filter(|seed| {
        let (kernel, _) = RandomKernel::generate(*seed);
        let facts = verify(&kernel).unwrap();
        let source = emit(&kernel, &facts, &KernelLayout::contiguous(&kernel), &DeviceProperties::H200);
        source.form.starts_with("rows") && source.text.contains("[j][v] = v")
    });
    assert!(kept.count() >= 20);
}

#[test]
fn golden_kernels_of_every_form_compile() {
    let Some(compiler) = compiler() else { return };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut forms = BTreeSet::new();
    for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "kernel") {
            continue;
        }
        let kernel: Kernel = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let source =
            emit(&kernel, &verify(&kernel).unwrap(), &KernelLayout::contiguous(&kernel), &DeviceProperties::H200);
        if let Err(error) = compiler.compile(&source.text) {
            panic!("{}: {error}\n{}", path.display(), source.text);
        }
        forms.insert(source.form);
    }
    assert_eq!(forms, BTreeSet::from(FORMS));
}

#[test]
fn random_kernels_joined_to_one_launch_compile() {
    let Some(compiler) = compiler() else { return };
    let mut seeds = 0..u64::MAX;
    for group in 0..40 {
        let some = seeds.by_ref().map(|seed| RandomKernel::generate(seed).0).filter(|kernel| kernel.rows() > 0);
        let kernels: Vec<Kernel> = some.take(2 + group % 7).collect();
        let facts: Vec<_> = kernels.iter().map(|kernel| verify(kernel).unwrap()).collect();
        let layouts: Vec<KernelLayout> =
            kernels.iter().enumerate().map(|(at, kernel)| scattered(kernel, at as u64)).collect();
        let parts: Vec<_> = (0..kernels.len()).map(|at| (&kernels[at], &facts[at], &layouts[at])).collect();
        let source = emit_joined(&parts, &DeviceProperties::H200);
        if let Err(error) = compiler.compile(&source.text) {
            panic!("group {group}: {error}\n{}", source.text);
        }
    }
}

#[test]
fn random_contractions_compile() {
    let Some(compiler) = compiler() else { return };
    for seed in 0..40 {
        let (kernel, _) = RandomKernel::contraction(seed);
        let layout = if seed % 4 == 3 { scattered(&kernel, seed) } else { KernelLayout::contiguous(&kernel) };
        let source = emit(&kernel, &verify(&kernel).unwrap(), &layout, &DeviceProperties::H200);
        if let Err(error) = compiler.compile(&source.text) {
            panic!("seed {seed}: {error}\n{}", source.text);
        }
    }
}

#[test]
fn transposed_inputs_are_read_by_way_of_shared_memory() {
    let Some(compiler) = compiler() else { return };
    let (mut tiled, mut wide, mut pairs) = (0, 0, 0);
    for seed in 0..100 {
        let (kernel, _) = RandomKernel::transposed(seed);
        let layout = if seed % 4 == 3 { scattered(&kernel, seed) } else { KernelLayout::contiguous(&kernel) };
        let source = emit(&kernel, &verify(&kernel).unwrap(), &layout, &DeviceProperties::H200);
        tiled += u32::from(source.text.contains("const u32 corner"));
        wide += u32::from(source.text.contains("const u32 corner") && source.text.contains("column * 2"));
        pairs += u32::from(source.text.contains("read(pairs"));
        if let Err(error) = compiler.compile(&source.text) {
            panic!("seed {seed}: {error}\n{}", source.text);
        }
    }
    assert!(pairs >= 2, "{pairs} of 100 kernels move elements in pairs");
    assert!(tiled >= 20 && wide >= 3, "{tiled} of 100 kernels, {wide} of them of 16-bit elements");
}
