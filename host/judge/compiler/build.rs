//! Lets the compiler child find the NVRTC beside the libtorch of the build without an environment variable.

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    if let Ok(libtorch) = std::env::var("LIBTORCH") {
        println!("cargo:rustc-env=PASSHOST_TORCH_LIBRARIES={libtorch}/lib");
    }
}
