//! Every kernel that the reference plugins make of the shipped samples compiles for a GPU, without one. Skipped only
//! where `scripts/setup` found no NVRTC, and never in CI.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_child::device::{Device, DeviceSetup};
use passhost_child::{Confinement, Plugin};
use passhost_ir::kernel::verify;
use passhost_ir::{Graph, NodeKind};
use passhost_kernels::KernelLayout;
use passhost_kernels::cuda::{Compiler, DeviceProperties, NvrtcError, emit};
use passhost_protocol::device::DeviceChoice;
use passhost_supervisor::{Config, Sample, Supervisor};
use passhost_tests::{plugin, repository};
use std::path::PathBuf;

/// The verified graphs that a plugin returns for all variants of all samples.
fn rewrites(name: &str) -> Vec<Graph> {
    let supervisor = Supervisor::new(Config::default());
    let plugin = Plugin::read(&plugin(name), supervisor.config().limits.wasm).unwrap();
    let facts = Device::open(DeviceSetup::new(DeviceChoice::Cpu, None)).unwrap().info().facts;
    let mut plugin = supervisor.load(plugin);
    let mut checker = supervisor.checker(facts);
    let mut graphs = vec![];
    for path in passhost_sample::find(&repository().join("samples/reference.txt")).unwrap() {
        let mut sample = Sample::open(&path, Confinement::default()).unwrap();
        for index in 0..sample.variants().len() {
            let checked = checker.check(&mut plugin, &mut sample, index);
            let graph = checked.graph().unwrap_or_else(|| panic!("{name}: {:?}", checked.failure()));
            graphs.push(graph.clone());
        }
    }
    graphs
}

#[test]
fn kernels_of_the_samples_compile_for_sm_90() {
    let torch = PathBuf::from(std::env::var_os("LIBTORCH").unwrap_or_default());
    let compiler = match Compiler::new((9, 0), &[torch.join("../nvidia/cu13/lib")]) {
        Ok(compiler) => compiler,
        Err(NvrtcError::Missing { reason }) => {
            let [known, ci] = ["PASSHOST_WITHOUT_NVRTC", "CI"].map(std::env::var_os);
            assert!(known.is_some() && ci.is_none(), "no NVRTC (scripts/setup fetches it): {reason}");
            println!("skipped, as scripts/setup found no NVRTC: {reason}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    for name in ["autofuse", "fuse-pointwise", "fuse-norms", "masked-mean-pool"] {
        let mut kernels = 0;
        for graph in rewrites(name) {
            for node in &graph.nodes {
                let NodeKind::Kernel { kernel, inputs } = &node.kind else { continue };
                let layout = KernelLayout {
                    strides: inputs.iter().map(|input| graph.ty(*input).strides.clone()).collect(),
                    ..KernelLayout::contiguous(kernel)
                };
                let source = emit(kernel, &verify(kernel).unwrap(), &layout, &DeviceProperties::H200);
                assert!(source.blocks > 0 && source.threads <= 1024);
                match compiler.compile(&source.text) {
                    Ok(cubin) => assert!(!cubin.0.is_empty()),
                    Err(error) => panic!("{name}: {error}\n{}", source.text),
                }
                kernels += 1;
                if let Some(directory) = std::env::var_os("PASSHOST_DUMP") {
                    let path = PathBuf::from(directory).join(format!("{name}-{kernels}.cu"));
                    std::fs::write(path, format!("// {kernel:?}\n// blocks {}\n{}", source.blocks, source.text))
                        .unwrap();
                }
            }
        }
        println!("{name}: {kernels} kernels");
        assert!(kernels >= 6, "{name} made {kernels} kernels of all samples");
    }
}
