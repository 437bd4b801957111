//! What a batch file has already.

use super::line::{BatchLine, SampleLine, SampleName, VariantLine};
use passhost_result::document::{Blame, Failure};
use std::collections::{HashMap, HashSet};

/// What is done, by content, so that it is not done again. What the host was to blame for is not done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finished {
    /// Plugin, path and content of the sample, variant.
    variants: HashSet<[String; 4]>,
    /// Samples without variants, by path.
    samples: HashMap<String, SampleLine>,
    /// Which device a sample was begun on, by path.
    devices: HashMap<String, usize>,
}

impl Finished {
    /// Takes note of a line, in the order of the file.
    pub fn add(&mut self, line: &BatchLine) {
        match line {
            BatchLine::Variant(line) => self.add_variant(line),
            BatchLine::Sample(line) => drop(self.samples.insert(line.sample.path.clone(), line.clone())),
            BatchLine::Device(_) => {}
        }
    }

    fn add_variant(&mut self, line: &VariantLine) {
        let VariantLine { plugin, sample, device, variant, .. } = line;
        if let Some(device) = device {
            self.devices.insert(sample.path.clone(), *device);
        }
        let key = key(plugin, sample, &variant.name);
        if is_hosts(variant.failure.as_ref()) {
            self.variants.remove(&key);
        } else {
            self.variants.insert(key);
        }
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.variants.is_empty() && self.samples.is_empty()
    }

    /// How many variants are, each plugin counted.
    pub fn variants(&self) -> usize {
        self.variants.len()
    }

    pub(super) fn has(&self, plugin: &str, sample: &SampleName, variant: &str) -> bool {
        self.variants.contains(&key(plugin, sample, variant))
    }

    pub(crate) fn has_sample(&self, line: &SampleLine) -> bool {
        self.samples.get(&line.sample.path) == Some(line)
    }

    /// The device that a sample was begun on: one document names one device.
    pub(super) fn device(&self, path: &str) -> Option<usize> {
        self.devices.get(path).copied()
    }
}

fn key(plugin: &str, sample: &SampleName, variant: &str) -> [String; 4] {
    [plugin, &sample.path, &sample.sha256, variant].map(str::to_owned)
}

fn is_hosts(failure: Option<&Failure>) -> bool {
    failure.is_some_and(|failure| failure.blame == Blame::Host)
}
