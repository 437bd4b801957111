//! What the evaluations of a server depend on, as labels: a submission to one server is evaluated by another one only where all
//! of it is the same.

use super::samples::ServedSamples;
use crate::commands::programs::programs;
use crate::exit::Stop;
use passhost_agent_tools::sha256;
use passhost_child::device::Device;
use passhost_result::DeviceInfo;
use passhost_sample::{CONSTRAINTS, SampleText};
use passhost_supervisor::Config;
use std::collections::BTreeMap;

/// Hexadecimal digits of a hash.
const DIGITS: usize = 16;

fn label(what: &str, text: &str) -> String {
    format!("{what}={}", &sha256(text.as_bytes())[..DIGITS])
}

/// The programs by their hashes.
pub fn of_programs(programs: &BTreeMap<String, String>) -> String {
    label("programs", &format!("{programs:?}"))
}

/// The programs, the policy, how is measured, and the samples.
pub fn of_server(config: &Config, samples: &ServedSamples) -> Result<Vec<String>, Stop> {
    let programs = programs().map_err(|error| Stop::host(format!("cannot read the programs of passhost: {error}")))?;
    let text = |path| SampleText::open(path).map_or_else(|error| error.to_string(), |text| everything(&text));
    let samples: BTreeMap<&String, String> = samples.iter().map(|(name, named)| (name, text(&named.path))).collect();
    Ok(vec![
        of_programs(&programs),
        format!("policy={}", config.policy.name()),
        label("settings", &format!("{config:?}")),
        label("samples", &format!("{samples:?}")),
    ])
}

/// A sample by its hash, and by what hidden sizes are drawn from, of which the hash says nothing.
fn everything(sample: &SampleText) -> String {
    let sizes = (0..sample.variants().len()).map(|variant| sample.text(variant, CONSTRAINTS));
    format!("{} {:?}", sample.sha256(), sizes.collect::<Vec<_>>())
}

/// What an operator calls workers that some submissions need.
pub fn of_labels(labels: &[String]) -> impl Iterator<Item = String> {
    labels.iter().map(|label| format!("label={label}"))
}

/// That submissions may be in an object store.
pub fn of_objects(address: &Option<String>) -> impl Iterator<Item = String> {
    address.iter().map(|_| "store=objects".to_owned())
}

/// The kind of a device.
pub fn of_device(device: &Device) -> String {
    of_kind(device.info())
}

/// The same, as results name it.
pub fn of_kind(info: &DeviceInfo) -> String {
    format!("device={}, {} threads, torch {}", info.name, info.threads, info.torch)
}
