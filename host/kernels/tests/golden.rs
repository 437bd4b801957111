//! What is emitted for a dozen kernels, held against files: `golden/*.kernel` in the text form, `golden/*.cu` without the
//! prelude. `UPDATE_EXPECT=1` writes the latter anew, and the former as kernels are printed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use expect_test::expect_file;
use passhost_ir::Kernel;
use passhost_ir::kernel::verify;
use passhost_kernels::Layout;
use passhost_kernels::cuda::{DeviceProperties, FORMS, emit};
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
        let source = emit(&kernel, &facts, &Layout::contiguous(&kernel), &DeviceProperties::H200);
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
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kernels.md");
    let page = fs::read_to_string(page).unwrap();
    for form in FORMS {
        let row = page.lines().find(|line| line.starts_with(&format!("| {form} |")));
        let row = row.unwrap_or_else(|| panic!("docs/kernels.md has no row for `{form}`"));
        let name = row.split(['[', ']']).nth(1).unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.kernel"));
        let kernel: Kernel = fs::read_to_string(path).unwrap().parse().unwrap();
        let facts = verify(&kernel).unwrap();
        let emitted = emit(&kernel, &facts, &Layout::contiguous(&kernel), &DeviceProperties::H200).form;
        assert_eq!(emitted, form, "{name} is the example of `{form}` in docs/kernels.md");
    }
}
