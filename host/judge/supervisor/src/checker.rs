//! One who checks, and what an evaluation that is repeated has from the first.

use crate::supervisor::Supervisor;
use passhost_child::{Ahead, ForGpu, TypesClient};
use passhost_ir::DeviceFacts;
use passhost_result::{OtherRounds, TunedKernel};
use serde::{Deserialize, Serialize};

/// One who checks what passes make of variants, with a types child of its own. Nothing of it needs a device, and several
/// may work at once.
pub struct Checker<'s> {
    pub(crate) supervisor: &'s Supervisor,
    pub(crate) types: TypesClient,
    /// What a pass is told of the device that its rewrites will run on.
    pub(crate) device: DeviceFacts,
    /// Of an evaluation that is repeated.
    pub(crate) recorded: Vec<Seeds>,
    pub(crate) ahead: Option<Ahead>,
}

/// What a variant that is judged a second time has from the first: seeds, `None` where one is drawn, and schedules.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seeds {
    /// Of the inputs.
    pub inputs: Option<u64>,
    /// Of the hidden sizes.
    pub hidden: Option<u64>,
    /// The rounds beside the ordinary ones.
    pub others: Option<OtherRounds>,
    /// Kernels whose schedules were measured, and which each has.
    pub tuned: Vec<TunedKernel>,
}

impl Supervisor {
    /// Who checks for a device with these facts. It needs no device itself.
    pub fn checker(&self, device: DeviceFacts) -> Checker<'_> {
        Checker { supervisor: self, types: self.types(), device, recorded: vec![], ahead: None }
    }
}

impl<'s> Checker<'s> {
    /// With a types child that may have been started ahead of the first question, so that it gets ready while something
    /// else does.
    #[must_use]
    pub fn with_types(self, types: TypesClient) -> Checker<'s> {
        Checker { types, ..self }
    }

    /// The types child, for whoever checks next.
    pub fn into_types(self) -> TypesClient {
        self.types
    }

    /// Compiles kernels for a GPU before they are measured, where they are kept.
    #[must_use]
    pub fn compiling_ahead(self, gpu: Option<ForGpu>) -> Checker<'s> {
        Checker { ahead: gpu.map(Ahead::new), ..self }
    }

    /// With the seeds of an evaluation that is repeated, one for each variant.
    #[must_use]
    pub fn with_seeds(self, recorded: Vec<Seeds>) -> Checker<'s> {
        Checker { recorded, ..self }
    }
}
