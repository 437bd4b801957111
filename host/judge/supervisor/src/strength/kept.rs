//! What is kept of the mutants of a variant, for evaluations of the same variant.

use crate::supervisor::Supervisor;
use passhost_cache::CacheKey;
use passhost_protocol::reader::SampleVariant;
use passhost_result::document::CHECK;
use passhost_result::{DeviceInfo, Strength, UnusualRound};
use serde::{Deserialize, Serialize};

/// How strong the check is, and the sets of rounds one of which an evaluation tries first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct KeptStrength {
    pub strength: Strength,
    pub sets: Vec<Vec<UnusualRound>>,
}

impl KeptStrength {
    /// The rounds that an evaluation with this seed tries first.
    pub fn first(&self, seed: u64) -> Vec<UnusualRound> {
        let chosen = (seed as usize).checked_rem(self.sets.len());
        chosen.map(|chosen| self.sets[chosen].clone()).unwrap_or_default()
    }

    /// Keeps it where there is a cache. What a policy without edge cases finds says nothing of one with them.
    pub fn keep(&self, supervisor: &Supervisor, variant: &SampleVariant, device: &DeviceInfo) {
        if supervisor.config.settings.edge_case_rounds
            && let (Some(cache), Ok(bytes)) = (&supervisor.cache, serde_json::to_vec(self))
        {
            cache.put(&key(supervisor, variant, device), &bytes);
        }
    }
}

/// What is known of a variant, whose types are those of a run.
pub(crate) fn known(supervisor: &Supervisor, variant: &SampleVariant, device: &DeviceInfo) -> Option<KeptStrength> {
    let settings = &supervisor.config.settings;
    if settings.quick || !settings.edge_case_rounds {
        return None;
    }
    serde_json::from_slice(&supervisor.cache.as_ref()?.get(&key(supervisor, variant, device))?).ok()
}

/// By the graph with its types and inputs, the kind of device, and the check.
fn key(supervisor: &Supervisor, variant: &SampleVariant, device: &DeviceInfo) -> CacheKey {
    let DeviceInfo { name, facts, torch, .. } = device;
    CacheKey::of(&[
        b"strength of a check",
        &CHECK.to_le_bytes(),
        variant.program.to_string().as_bytes(),
        format!("{:?}", variant.inputs).as_bytes(),
        name.as_bytes(),
        format!("{facts:?}").as_bytes(),
        torch.as_bytes(),
        &supervisor.config.settings.rounds.to_le_bytes(),
    ])
}
