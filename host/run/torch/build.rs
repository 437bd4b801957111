//! Compiles the C++ shim against libtorch's headers.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=src/bridge.rs");
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    let Some(libtorch) = std::env::var_os("LIBTORCH").map(PathBuf::from) else {
        println!("cargo:warning=LIBTORCH is not set; run scripts/setup, which writes it to .cargo/config.toml");
        std::process::exit(1);
    };
    cxx_build::bridge("src/bridge.rs")
        .files(
            [
                "allocator",
                "convolution",
                "dispatch",
                "gpu",
                "parallel",
                "pool",
                "prepared",
                "product",
                "scope",
                "tensor",
                "view",
            ]
            .map(|name| format!("cpp/{name}.cc")),
        )
        // Before the headers of CUDA that may be installed beside libtorch: those are incomplete.
        .include("cpp/cuda")
        .include(libtorch.join("include"))
        .include(libtorch.join("include/torch/csrc/api/include"))
        .define("_GLIBCXX_USE_CXX11_ABI", "1")
        .std("c++20")
        .opt_level(2)
        // at::parallel_for is a template: with OpenMP it shares libtorch's threads.
        .flag("-fopenmp")
        // libtorch's own headers are not warning-free.
        .flag_if_supported("-w")
        .compile("passhost_torch_shim");
    println!("cargo:rustc-link-search=native={}", libtorch.join("lib").display());
    println!("cargo:rustc-link-lib=torch_cpu");
    println!("cargo:rustc-link-lib=c10");
    println!("cargo:rustc-link-lib=dl");
    // The OpenMP runtime that libtorch itself uses: it comes with the wheel, under this very name.
    match libtorch.join("lib/libgomp.so.1").exists() {
        true => println!("cargo:rustc-link-lib=dylib:+verbatim=libgomp.so.1"),
        false => println!("cargo:rustc-link-lib=gomp"),
    }
    // For this crate's own tests; programs that depend on it set their own.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", libtorch.join("lib").display());
}
