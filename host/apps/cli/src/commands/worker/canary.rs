//! The canary of a fleet: a pass and a sample whose ratio is known, by the kind of the device.

use passhost_queue::Canary;
use passhost_result::DeviceInfo;
use passhost_result::document::Document;
use passhost_result::untrusted::one_line;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What `--canary` names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanaryFile {
    /// A component; a path from where the file lies.
    plugin: PathBuf,
    /// One of the worker's samples.
    pub sample: String,
    /// The least AS and the largest, over device time where that is known, by the name of the device.
    ratios: BTreeMap<String, [f64; 2]>,
}

impl CanaryFile {
    /// The file, and the bytes of its plugin.
    pub fn read(path: &Path) -> Result<(CanaryFile, Vec<u8>), String> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| format!("cannot read `{}`: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| failed(path, &error))?;
        let file: CanaryFile = serde_json::from_str(&text).map_err(|error| failed(path, &error))?;
        let plugin = path.parent().unwrap_or(Path::new("")).join(&file.plugin);
        let bytes = std::fs::read(&plugin).map_err(|error| failed(&plugin, &error))?;
        Ok((file, bytes))
    }

    /// The interval of a device.
    pub fn ratio(&self, device: &DeviceInfo) -> Result<[f64; 2], String> {
        let found = self.ratios.get(&device.name).copied();
        found.ok_or_else(|| format!("the canary has no ratio for the device `{}`", one_line(&device.name, 80)))
    }

    /// What a document says of the device. An error says that it was not measured.
    pub fn judge(&self, document: &Document, device: &DeviceInfo) -> Result<Canary, String> {
        let [least, most] = self.ratio(device)?;
        let of_device = document.device_scores.as_ref().map(|scores| scores.aggregate_score);
        let Some(ratio) = of_device.or(document.scores.as_ref().map(|scores| scores.aggregate_score)) else {
            let why = document.failure.as_ref().map_or("it has no score", |failure| &failure.message);
            return Err(one_line(why, 400));
        };
        let is_good = (least..=most).contains(&ratio);
        let text = format!("{ratio:.3}, expected {least} to {most}");
        let report = if is_good { text } else { format!("the ratio of the canary is {text}") };
        Ok(Canary { device: device.name.clone(), is_good, report })
    }
}
