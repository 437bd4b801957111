//! Compiles the C++ shim against libtorch's headers.

use std::path::PathBuf;

fn main() {
    for path in ["src/bridge.rs", "cpp/dispatch.h", "cpp/dispatch.cc", "cpp/allocator.h", "cpp/allocator.cc"] {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    let Some(libtorch) = std::env::var_os("LIBTORCH").map(PathBuf::from) else {
        println!("cargo:warning=LIBTORCH is not set; run scripts/setup, which writes it to .cargo/config.toml");
        std::process::exit(1);
    };
    cxx_build::bridge("src/bridge.rs")
        .files(["cpp/dispatch.cc", "cpp/allocator.cc"])
        .include(libtorch.join("include"))
        .include(libtorch.join("include/torch/csrc/api/include"))
        .define("_GLIBCXX_USE_CXX11_ABI", "1")
        .std("c++20")
        .opt_level(2)
        // libtorch's own headers are not warning-free.
        .flag_if_supported("-w")
        .compile("passhost_torch_shim");
    println!("cargo:rustc-link-search=native={}", libtorch.join("lib").display());
    println!("cargo:rustc-link-lib=torch_cpu");
    println!("cargo:rustc-link-lib=c10");
    // For this crate's own tests; programs that depend on it set their own.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", libtorch.join("lib").display());
}
