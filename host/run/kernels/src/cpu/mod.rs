//! The CPU executor of kernel IR.
//!
//! A kernel is compiled to a plan: steps over block buffers that fit the cache, each step a loop that the
//! compiler vectorised. Running it, every load fills a buffer, every operation goes from buffers to a buffer, every store
//! empties one. So an interpreter's dispatch is paid per block of some hundred or thousand points, and memory is touched
//! once.
//!
//! It is safe whatever the kernel says: storage is read and written through bounds-checked views, gathered indices are
//! padded or clamped first, and an index is used without that check only where it is affine with proven bounds.

#[cfg(test)]
mod accuracy_tests;
mod arena;
mod axes;
mod bind;
#[cfg(test)]
mod bind_tests;
mod column;
mod compute;
mod element;
mod exec;
mod f16_slices;
mod facts;
mod index;
mod isa;
mod lanes;
mod load;
mod math;
mod memory;
#[cfg(test)]
mod operation_tests;
mod plan;
mod prepared;
#[cfg(test)]
mod random_tests;
mod reduce;
mod simd;
mod slots;
#[cfg(test)]
mod storage;
mod store;
mod strided;
mod strips;
#[cfg(test)]
mod strips_tests;
mod threads;
mod tile_space;
mod vector_steps;
mod vectors;

pub use bind::Bound;
pub use facts::facts;
pub use prepared::PreparedRun;
pub use threads::{CallingThread, NewThreads, ThreadPool};

use crate::access::{BindError, BoundInput, BoundOutput};
use arena::Arenas;
use isa::Isa;
use passhost_ir::Kernel;
use passhost_ir::kernel::{KernelError, verify};
use plan::{BlockSizes, CpuPlan};
use std::sync::Arc;
use tile_space::Walks;

/// A kernel made ready for this machine's processor.
#[derive(Debug)]
pub struct CpuKernel {
    kernel: Kernel,
    plan: CpuPlan,
    walks: Walks,
    isa: Isa,
    /// Block buffers of past runs, by schedule.
    arenas: [Arenas; 2],
}

impl CpuKernel {
    /// Verifies a kernel and plans its execution.
    pub fn compile(kernel: &Kernel) -> Result<CpuKernel, KernelError> {
        CpuKernel::compile_tuned(kernel, BlockSizes::default())
    }

    fn compile_tuned(kernel: &Kernel, tuning: BlockSizes) -> Result<CpuKernel, KernelError> {
        verify(kernel)?;
        let plan = CpuPlan::new(kernel, tuning);
        let walks = Walks::new(&plan);
        Ok(CpuKernel { kernel: kernel.clone(), plan, walks, isa: Isa::best(), arenas: Default::default() })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Checks that storage fits the kernel's declarations, and makes it ready to run once: a few microseconds. What
    /// runs often is better served by [`CpuKernel::prepare`].
    ///
    /// # Safety
    /// Until the result is dropped, each input's storage can be read and is written to by nobody, and each output's can
    /// be written and is accessed by nobody else.
    pub unsafe fn bind(&self, inputs: &[BoundInput<'_>], outputs: &[BoundOutput]) -> Result<Bound<'_>, BindError> {
        // SAFETY: the caller's promise is the one that `Bound::new` asks for.
        unsafe { Bound::new(self, inputs, outputs) }
    }

    /// Checks that storage fits the kernel's declarations, and makes runs on such storage ready, wherever it lies.
    pub fn prepare(
        self: &Arc<CpuKernel>,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
    ) -> Result<PreparedRun, BindError> {
        PreparedRun::new(self, inputs, outputs)
    }

    fn arenas(&self, columns: bool) -> &Arenas {
        &self.arenas[usize::from(columns)]
    }
}
