//! The verdicts on all variants of a sample, put together into a document.

use crate::batch::{Header, PluginEntry, SampleName, frame};
use crate::sample::Sample;
use crate::supervisor::Supervisor;
use passhost_child::LoadedPlugin;
use passhost_child::device::Device;
use passhost_result::SandboxProfile;
use passhost_result::document::{ChildProfiles, Document, Failure};
use passhost_result::scoring::assemble;
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
        let header = Header::new(&self.config);
        let (path, sha256) = (plugin.file().path.clone(), plugin.file().sha256.clone());
        let entry = PluginEntry { path, sha256, info: plugin.info().cloned(), failure: None, baseline: None };
        let name = SampleName {
            name: sample.name().to_owned(),
            path: String::new(),
            sha256: sample.sha256().to_owned(),
            groups: sample.groups.clone(),
        };
        let profiles = self.profiles(plugin, sample.profile(), device);
        let mut frame = frame(&header, &entry, &name, device.map(Device::info), profiles);
        frame.job.left_out = sample.left_out();
        frame.lost = sample.lost().cloned();
        frame.submissions = self.config.submissions;
        assemble(frame, judged)
    }

    /// What keeps each kind of child in by now.
    pub(crate) fn profiles(
        &self,
        plugin: &LoadedPlugin,
        reader: Option<SandboxProfile>,
        device: Option<&Device>,
    ) -> ChildProfiles {
        ChildProfiles {
            guest: plugin.profile(),
            reader,
            types: self.types_profile.get().copied(),
            device: device.map(Device::profile),
            compiler: device.and_then(Device::compiler_profile),
        }
    }

    /// The document for a plugin that cannot be loaded: every variant fails alike, and nothing needs to run for that.
    pub fn refused(&self, plugin: &LoadedPlugin, failure: &Failure, sample: &Sample) -> Document {
        let variants = sample.chosen_names();
        let judged = variants.map(|name| failed(empty(name), FailureClass::Compile, failure.clone())).collect();
        self.document(plugin, sample, None, judged)
    }
}
