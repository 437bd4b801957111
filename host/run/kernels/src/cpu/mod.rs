//! The CPU executor of kernel IR.
//!
//! A kernel is compiled to a [plan]: steps over *lanes*, the elements of one value over some hundred points, which stay in
//! the cache nearest the core. Each step is one loop that the compiler vectorised, or moves elements as they are. So an
//! interpreter's dispatch is paid per some hundred points, and memory is touched once. Where elements lie side by side, a
//! step reads them from the input and writes them to the output at once.
//!
//! It is safe whatever the kernel says: storage is read through bounds-checked views and written where a permutation of the
//! axes says, gathered indices are padded or clamped first, and an index is used without that check only where it is affine
//! with proven bounds.

#[cfg(test)]
mod accuracy_tests;
mod arena;
mod axes;
mod behind;
mod bind;
#[cfg(test)]
mod bind_tests;
mod chain;
mod column;
mod compute;
mod contraction;
mod domain;
mod exec;
mod facts;
mod halves;
mod isa;
mod lanes;
mod load;
mod loop_nest;
mod math;
mod memory;
mod merged;
#[cfg(test)]
mod operation_tests;
mod plan;
mod prepared;
#[cfg(test)]
mod random_tests;
mod reduce;
#[cfg(test)]
mod storage;
mod store;
mod threads;
mod tiles;

pub use facts::facts;
pub use prepared::PreparedRun;
pub use threads::{CallingThread, NewThreads, ThreadPool};

use crate::access::{BindError, BoundInput, BoundOutput, check};
use arena::Arenas;
use bind::Binding;
use isa::Isa;
use merged::MergedKernel;
use passhost_ir::Kernel;
use passhost_ir::kernel::{KernelError, verify};
use plan::{CpuPlan, StripSizes};
use std::sync::Arc;

/// A kernel made ready for this machine's processor.
#[derive(Debug)]
pub struct CpuKernel {
    kernel: Kernel,
    plan: CpuPlan,
    isa: Isa,
    /// For inputs of which dimensions are one in memory, where that is simpler.
    merged: Option<MergedKernel>,
    /// Buffers of past runs, by schedule.
    arenas: [Arenas; 2],
}

impl CpuKernel {
    /// Verifies a kernel and plans its execution.
    pub fn compile(kernel: &Kernel) -> Result<CpuKernel, KernelError> {
        CpuKernel::compile_tuned(kernel, StripSizes::default())
    }

    fn compile_tuned(kernel: &Kernel, tuning: StripSizes) -> Result<CpuKernel, KernelError> {
        let facts = verify(kernel)?;
        let merged = MergedKernel::of(kernel, &facts, |merged| CpuKernel::new(merged, tuning, None));
        Ok(CpuKernel::new(kernel, tuning, merged))
    }

    fn new(kernel: &Kernel, tuning: StripSizes, merged: Option<MergedKernel>) -> CpuKernel {
        let plan = CpuPlan::new(kernel, tuning);
        CpuKernel { kernel: kernel.clone(), plan, isa: Isa::best(), merged, arenas: Default::default() }
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Checks that storage fits the kernel's declarations, and runs once. What runs often is better served by
    /// [`CpuKernel::prepare`].
    ///
    /// # Safety
    /// Until this returns, each input's storage can be read and is written to by nobody, and each output's can be written
    /// and is accessed by nobody else.
    pub unsafe fn run(
        &self,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
        threads: &dyn ThreadPool,
    ) -> Result<(), BindError> {
        let (merged, mut binding) = self.bind(inputs, outputs)?;
        // SAFETY: the caller's promise.
        unsafe { binding.run(merged.map_or(self, Arc::as_ref), threads) };
        Ok(())
    }

    /// Checks that storage fits the kernel's declarations, and makes runs on such storage ready, wherever it lies.
    pub fn prepare(
        self: &Arc<CpuKernel>,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
    ) -> Result<PreparedRun, BindError> {
        PreparedRun::new(self, inputs, outputs)
    }

    /// The kernel that runs on such storage, if it is another one, and where it finds elements there.
    fn bind(
        &self,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
    ) -> Result<(Option<&Arc<CpuKernel>>, Binding), BindError> {
        // The shapes that merged ones are made of are the declared ones.
        check(&self.kernel, inputs, outputs)?;
        match self.merged.as_ref().and_then(|merged| Some((&merged.kernel, merged.bind(inputs, outputs)?))) {
            Some((kernel, binding)) => Ok((Some(kernel), binding)),
            None => Ok((None, Binding::new(self, inputs, outputs)?)),
        }
    }

    fn arenas(&self, columns: bool) -> &Arenas {
        &self.arenas[usize::from(columns)]
    }
}
