//! Result documents, put together from the lines of a batch file.

use super::error::BatchError;
use super::header::{Header, PluginEntry};
use super::line::{BatchLine, SampleLine, SampleName, VariantLine};
use passhost_result::DeviceInfo;
use passhost_result::document::{ChildProfiles, Document, Job};
use passhost_result::scoring::{Frame, assemble};
use passhost_result::timing::{Rules, measured};
use passhost_result::untrusted::one_line;
use passhost_result::verdict::Judged;
use passhost_score::VariantOutcome;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// What is known of a plugin on a sample: variants by their position.
#[derive(Default)]
struct KnownVariants {
    variants: BTreeMap<usize, VariantLine>,
    /// Of the last line: an earlier device, or a child that was not needed yet, is not the end of the story.
    device: Option<usize>,
    confinement: ChildProfiles,
}

impl KnownVariants {
    fn add(&mut self, line: VariantLine) {
        let other_content = |known: &VariantLine| known.sample.sha256 != line.sample.sha256;
        if self.variants.values().next().is_some_and(other_content) {
            // The sample was changed, and what was found of the old one is not about this.
            *self = KnownVariants::default();
        }
        self.device = line.device;
        self.confinement = joined(self.confinement, line.confinement);
        self.variants.insert(line.position, line);
    }

    /// Whether every variant that belongs to the batch has ended.
    fn is_whole(&self) -> bool {
        self.variants.values().next().is_some_and(|line| line.of == self.variants.len())
    }
}

fn joined(earlier: ChildProfiles, later: ChildProfiles) -> ChildProfiles {
    ChildProfiles {
        guest: later.guest.or(earlier.guest),
        reader: later.reader.or(earlier.reader),
        types: later.types.or(earlier.types),
        device: later.device.or(earlier.device),
        compiler: later.compiler.or(earlier.compiler),
    }
}

/// The lines by what they are about: positions of a plugin and of a sample in the header.
#[derive(Default)]
struct Sorted {
    variants: HashMap<(usize, usize), KnownVariants>,
    samples: HashMap<usize, SampleLine>,
}

impl Sorted {
    /// The reason why a line is not about this batch is the error, with its number.
    fn new(header: &Header, lines: Vec<(usize, BatchLine)>) -> Result<Sorted, (usize, String)> {
        let plugins: HashMap<&str, usize> =
            header.plugins.iter().enumerate().map(|(index, plugin)| (plugin.sha256.as_str(), index)).collect();
        let samples: HashMap<&str, usize> =
            header.samples.iter().enumerate().map(|(index, sample)| (sample.path.as_str(), index)).collect();
        let mut sorted = Sorted::default();
        for (number, line) in lines {
            let unknown =
                |what: &str, name: &str| (number, format!("its {what} `{}` is not in the header", one_line(name, 200)));
            let sample = |name: &SampleName| {
                samples.get(name.path.as_str()).copied().ok_or_else(|| unknown("sample", &name.path))
            };
            match line {
                BatchLine::Sample(line) => drop(sorted.samples.insert(sample(&line.sample)?, line)),
                // It is among those of the header.
                BatchLine::Device(_) => {}
                BatchLine::Variant(line) => {
                    let plugin = plugins.get(line.plugin.as_str()).copied();
                    let plugin = plugin.ok_or_else(|| unknown("plugin", &line.plugin))?;
                    if line.device.is_some_and(|device| device >= header.devices.len()) {
                        return Err((number, "its device is not in the header".into()));
                    }
                    sorted.variants.entry((plugin, sample(&line.sample)?)).or_default().add(*line);
                }
            }
        }
        Ok(sorted)
    }

    /// Whether every plugin has ended on a sample.
    fn is_finished(&self, header: &Header, sample: usize) -> bool {
        let ended = |plugin: usize| self.variants.get(&(plugin, sample)).is_some_and(KnownVariants::is_whole);
        (0..header.plugins.len()).all(ended) || (self.samples.contains_key(&sample) && !self.is_begun(sample))
    }

    fn is_begun(&self, sample: usize) -> bool {
        self.variants.keys().any(|(_, begun)| *begun == sample)
    }
}

/// Documents made of lines.
pub(super) struct Assembled {
    /// One for each plugin and sample of which anything is known.
    pub documents: Vec<Document>,
    /// Whether every variant of each of them has ended.
    pub whole: Vec<bool>,
    /// How many samples every plugin has ended on.
    pub finished_samples: usize,
}

pub(super) fn documents(path: &Path, header: &Header, lines: Vec<(usize, BatchLine)>) -> Result<Assembled, BatchError> {
    let damaged = |(line, reason): (usize, String)| BatchError::line(path, line, &reason);
    let mut sorted = Sorted::new(header, lines).map_err(damaged)?;
    let finished_samples = (0..header.samples.len()).filter(|&sample| sorted.is_finished(header, sample)).count();
    let (mut documents, mut whole) = (vec![], vec![]);
    for (plugin, entry) in header.plugins.iter().enumerate() {
        for sample in 0..header.samples.len() {
            let known = sorted.variants.remove(&(plugin, sample));
            let line = sorted.samples.get(&sample);
            let is_whole = known.as_ref().is_none_or(KnownVariants::is_whole);
            let found = match (known, line) {
                (Some(known), _) => document(header, entry, known),
                (None, Some(SampleLine { sample, failure: Some(failure) })) => {
                    let frame = frame(header, entry, sample, None, ChildProfiles::default());
                    Some(assemble(Frame { lost: Some(failure.clone()), ..frame }, vec![]))
                }
                (None, _) => None,
            };
            whole.extend(found.is_some().then_some(is_whole));
            documents.extend(found);
        }
    }
    Ok(Assembled { documents, whole, finished_samples })
}

fn document(header: &Header, plugin: &PluginEntry, known: KnownVariants) -> Option<Document> {
    let device = known.device.map(|device| &header.devices[device]);
    let sample = known.variants.values().next()?.sample.clone();
    let frame = frame(header, plugin, &sample, device, known.confinement);
    let rules = Rules::of(device.map_or("cpu", |device| &device.device));
    let accept_noise = header.limits.measurement.accept_noise;
    Some(assemble(frame, known.variants.into_values().map(|line| judged(line, rules, accept_noise)).collect()))
}

/// The verdict as it was before it was written down: speedups follow from the times.
fn judged(line: VariantLine, rules: Rules, accept_noise: bool) -> Judged {
    let VariantLine { variant, outcome, .. } = line;
    let compared = matches!(outcome, Some(VariantOutcome::Compared { .. }));
    let timing = variant.timing.as_ref().filter(|_| compared);
    let found = timing
        .and_then(|timing| measured(timing.processes.clone(), rules.of_then(timing), timing.ops, accept_noise).ok());
    Judged { variant, outcome, speedups: found.map(|found| found.speedups) }
}

/// What a document says of its job and its rules.
pub(crate) fn frame(
    header: &Header,
    plugin: &PluginEntry,
    sample: &SampleName,
    device: Option<&DeviceInfo>,
    confinement: ChildProfiles,
) -> Frame {
    Frame {
        job: Job {
            plugin: plugin.path.clone(),
            plugin_sha256: plugin.sha256.clone(),
            plugin_info: plugin.info.clone(),
            sample: sample.name.clone(),
            sample_sha256: sample.sha256.clone(),
            groups: sample.groups.clone(),
            host: header.host.clone(),
            check: header.check,
            device: device.cloned(),
            fixed_seed: header.seed.is_some(),
            inputs: Some(header.inputs),
            baseline: plugin.baseline.clone(),
            left_out: 0,
        },
        lost: None,
        policy: header.policy.clone(),
        limits: header.limits.clone(),
        options: header.options,
        submissions: header.submissions,
        confinement,
    }
}
