//! What is emitted for a dozen kernels, held against files: `golden/*.kernel` in the text form, `golden/*.cu` without the
//! prelude. `UPDATE_EXPECT=1` writes the latter anew, and the former as kernels are printed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use expect_test::expect_file;
use passhost_ir::Kernel;
use passhost_ir::kernel::verify;
use passhost_kernels::KernelLayout;
use passhost_kernels::cuda::{DeviceProperties, FORMS, emit, emit_joined};
use std::fs;
use std::path::{Path, PathBuf};

fn files(extension: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.sort();
    files
}

#[test]
fn sources_are_those_of_the_golden_files() {
    let kernels = files("kernel");
    assert!(kernels.len() >= 12, "{kernels:?}");
    for path in kernels {
        let text = fs::read_to_string(&path).unwrap();
        let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        expect_file![&path].assert_eq(&format!("{kernel}\n"));
        let facts = verify(&kernel).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let source = emit(&kernel, &facts, &KernelLayout::contiguous(&kernel), &DeviceProperties::H200);
        // The prelude is a file of its own.
        let (_, entry) = source.text.split_once("extern \"C\"").unwrap();
        let expected = format!("// {} blocks of {} threads\nextern \"C\"{entry}", source.blocks, source.threads);
        expect_file![path.with_extension("cu")].assert_eq(&expected);
    }
}

#[test]
fn every_golden_source_belongs_to_a_kernel() {
    for path in files("cu") {
        assert!(path.with_extension("kernel").exists(), "{} has no kernel", path.display());
    }
}

#[test]
fn the_table_of_forms_in_the_docs_has_a_kernel_of_each() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/kernels.md");
    let page = fs::read_to_string(page).unwrap();
    for form in FORMS {
        let row = page.lines().find(|line| line.starts_with(&format!("| {form} |")));
        let row = row.unwrap_or_else(|| panic!("docs/kernels.md has no row for `{form}`"));
        let name = row.split(['[', ']']).nth(1).unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.kernel"));
        let kernel: Kernel = fs::read_to_string(path).unwrap().parse().unwrap();
        let facts = verify(&kernel).unwrap();
        let emitted = emit(&kernel, &facts, &KernelLayout::contiguous(&kernel), &DeviceProperties::H200).form;
        assert_eq!(emitted, form, "{name} is the example of `{form}` in docs/kernels.md");
    }
}

/// A golden kernel by name.
fn golden(name: &str) -> Kernel {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.kernel"));
    fs::read_to_string(path).unwrap().parse().unwrap()
}

/// What stands between the braces of an entry, without its shared memory.
fn body(text: &str) -> &str {
    let (_, body) = text.split_once("    begin();\n").unwrap();
    body.trim_start_matches("    let_next_begin();\n").strip_suffix("}\n").unwrap()
}

#[test]
fn kernels_of_one_launch_are_functions_for_ranges_of_its_blocks() {
    // Two are alike, and a block of one has fewer threads than those of the others.
    let kernels = ["masked", "pointwise", "pointwise", "argmax"].map(golden);
    let facts = kernels.each_ref().map(|kernel| verify(kernel).unwrap());
    let layouts = kernels.each_ref().map(KernelLayout::contiguous);
    let parts: Vec<_> = (0..kernels.len()).map(|at| (&kernels[at], &facts[at], &layouts[at])).collect();
    let joined = emit_joined(&parts, &DeviceProperties::H200);
    let (_, text) = joined.text.split_once("// The number of a block").unwrap();
    let expected = format!("// {} blocks of {} threads\n// The number of a block{text}", joined.blocks, joined.threads);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/joined");
    expect_file![directory.join("masked_pointwise_twice_argmax.cu")].assert_eq(&expected);
    for (number, part) in parts.iter().enumerate() {
        let alone = emit(part.0, part.1, part.2, &DeviceProperties::H200);
        assert!(joined.text.contains(body(&alone.text)), "kernel {number} is the text that it is alone");
        assert_eq!(joined.claims[number], alone.claims[0]);
    }
    // A launch of one kernel is that kernel.
    let alone = emit(parts[0].0, parts[0].1, parts[0].2, &DeviceProperties::H200);
    assert_eq!(emit_joined(&parts[..1], &DeviceProperties::H200).text, alone.text);
}
