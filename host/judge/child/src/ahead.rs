//! Kernels for a GPU are compiled before a device waits for them: while something else is measured, on cores that time nothing.

use crate::machine_code::{Allowance, MachineCode, processes};
use crate::process::Confinement;
use crate::types::TypesClient;
use passhost_cache::Cache;
use passhost_ir::Graph;
use passhost_protocol::compiler::CompilerSource;
use passhost_protocol::device::GpuProperties;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Wall clock for the kernels of one rewrite. What is not compiled until then is compiled when it is needed.
const LIMIT: Duration = Duration::from_secs(60);

/// For which GPU kernels are compiled, and where their machine code is kept.
#[derive(Debug, Clone)]
pub struct ForGpu {
    /// What texts of kernels are written by.
    pub gpu: GpuProperties,
    /// Where machine code is kept.
    pub cache: Arc<Cache>,
    /// How compilers must be confined.
    pub confinement: Confinement,
}

/// Who compiles ahead, for one GPU.
pub struct Ahead {
    gpu: GpuProperties,
    machine_code: MachineCode,
}

impl Ahead {
    /// For this GPU.
    pub fn new(ForGpu { gpu, cache, confinement }: ForGpu) -> Ahead {
        Ahead { gpu, machine_code: MachineCode::new(processes(confinement), Some(cache)) }
    }

    /// Puts the machine code of a verified rewrite's kernels where a device child will be given it from; with `all`, in every
    /// schedule that they may have. What goes wrong here goes wrong again where it is needed, and is told there.
    pub fn compile(&mut self, types: &mut TypesClient, rewrite: &Graph, all: bool) {
        let deadline = Instant::now() + LIMIT;
        let mut allowance = Allowance::default();
        for text in types.sources(rewrite, self.gpu, all) {
            let source = CompilerSource { text, capability: self.gpu.capability };
            if self.machine_code.of(&source, &mut allowance, deadline).is_err() {
                return;
            }
        }
    }
}
