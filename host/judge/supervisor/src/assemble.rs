//! The verdicts on all variants of a sample, put together into a document.

use crate::sample::Sample;
use crate::supervisor::Supervisor;
use passhost_child::LoadedPlugin;
use passhost_child::device::Device;
use passhost_result::Walls;
use passhost_result::document::{CHECK, ChildWalls, Document, Failure, Job, Limits};
use passhost_result::scoring::{Frame, assemble};
use passhost_result::verdict::{Judged, empty, failed};
use passhost_score::FailureClass;

impl Supervisor {
    /// The document for a plugin on a sample whose variants were judged, in the sample's order.
    pub fn document(
        &self,
        plugin: &LoadedPlugin,
        sample: &Sample,
        device: Option<&Device>,
        judged: Vec<Judged>,
    ) -> Document {
        let config = &self.config;
        let frame = Frame {
            job: Job {
                plugin: plugin.file().path.clone(),
                plugin_sha256: plugin.file().sha256.clone(),
                plugin_info: plugin.info().cloned(),
                sample: sample.name().to_owned(),
                sample_sha256: sample.sha256().to_owned(),
                groups: sample.groups.clone(),
                host: env!("CARGO_PKG_VERSION").into(),
                check: CHECK,
                device: device.map(|device| device.info().clone()),
                fixed_seed: config.seed.is_some(),
                inputs: Some(config.inputs),
                baseline: None,
                left_out: sample.left_out(),
            },
            lost: sample.lost().cloned(),
            policy: config.policy.clone(),
            limits: Limits { guest: config.limits, measurement: config.settings },
            options: config.options,
            submissions: config.submissions,
            confinement: self.walls(plugin, sample.walls(), device),
        };
        assemble(frame, judged)
    }

    /// What keeps each kind of child in by now.
    pub(crate) fn walls(&self, plugin: &LoadedPlugin, reader: Option<Walls>, device: Option<&Device>) -> ChildWalls {
        ChildWalls {
            guest: plugin.walls(),
            reader,
            types: self.types_walls.get().copied(),
            device: device.map(Device::walls),
            compiler: device.and_then(Device::compiler_walls),
        }
    }

    /// The document for a plugin that cannot be loaded: every variant fails alike, and nothing needs to run for that.
    pub fn refused(&self, plugin: &LoadedPlugin, failure: &Failure, sample: &Sample) -> Document {
        let variants = sample.chosen_names();
        let judged = variants.map(|name| failed(empty(name), FailureClass::Compile, failure.clone())).collect();
        self.document(plugin, sample, None, judged)
    }
}
