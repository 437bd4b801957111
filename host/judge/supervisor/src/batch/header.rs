//! What all variants of a batch have in common.

use super::SCHEMA;
use crate::supervisor::Config;
use passhost_policy::Policy;
use passhost_result::document::{Baseline, CHECK, Failure, Limits, first_check};
use passhost_result::{DeviceInfo, InputMode, PassInfo, first_difference, milliseconds};
use passhost_score::Options;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The first line of a batch file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of passhost.
    pub host: String,
    /// [`CHECK`] of the program that began it.
    #[serde(default = "first_check")]
    pub check: u32,
    /// A random name for the batch, by which its results are known however often it is gone on with. Older batches have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// SHA-256 of its programs, by name.
    pub programs: BTreeMap<String, String>,
    /// Whether an external runner evaluates, whose devices come with results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
    /// The devices that variants are measured on, side by side.
    pub devices: Vec<DeviceInfo>,
    /// The rules in force.
    pub policy: Policy,
    /// Limits and measurement settings in force.
    pub limits: Limits,
    /// Constants of the score.
    pub options: Options,
    /// How inputs are drawn.
    pub inputs: InputMode,
    /// What `--seed` fixed, for debugging, never for a ranking.
    pub seed: Option<u64>,
    /// Wall clock of one step of the device child, in milliseconds, if it was given.
    pub timeout_ms: Option<u64>,
    /// Submissions that share the error of a verdict.
    pub submissions: u32,
    /// What the names of the variants that are evaluated have, one of these; all are where there is none.
    #[serde(rename = "variant", default, serialize_with = "write_fewest", deserialize_with = "any_number")]
    pub variants: Vec<String>,
    /// The plugins, in the order in which they were given.
    pub plugins: Vec<PluginEntry>,
    /// The samples, in the order in which they are evaluated.
    pub samples: Vec<SampleEntry>,
}

/// A plugin of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PluginEntry {
    /// Path as given.
    pub path: String,
    /// Of the component, in hexadecimal.
    pub sha256: String,
    /// What it says of itself, if it loads; untrusted.
    pub info: Option<PassInfo>,
    /// Why it does not load. Every variant then fails for that reason.
    pub failure: Option<Failure>,
    /// What it is, if it is no plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
}

/// A sample of a batch, which nobody has opened yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleEntry {
    /// Where it lies.
    pub path: String,
    /// Lists that named it, without their endings.
    pub groups: Vec<String>,
    /// The line that names it first, `list.txt:3`, if a list does.
    pub place: Option<String>,
}

impl Header {
    /// Of a batch under `config` that nothing is known of yet.
    pub fn new(config: &Config) -> Header {
        Header {
            schema: SCHEMA.into(),
            host: env!("CARGO_PKG_VERSION").into(),
            check: CHECK,
            id: None,
            programs: BTreeMap::new(),
            external: false,
            devices: vec![],
            policy: config.policy.clone(),
            limits: Limits { guest: config.limits, measurement: config.settings },
            options: config.options,
            inputs: config.inputs,
            seed: config.seed,
            timeout_ms: config.timeout.map(milliseconds),
            submissions: config.submissions.max(1),
            variants: vec![],
            plugins: vec![],
            samples: vec![],
        }
    }

    /// The first thing, if any, for which what `now` asks for is not what this was begun with: its name, what it was and
    /// what it is.
    pub fn difference(&self, now: &Header) -> Option<[String; 3]> {
        first_difference(&self.identity(), &now.identity())
    }

    /// What must be the same for results to stand in one file.
    fn identity(&self) -> Value {
        let Header { host, programs, devices, policy, limits, options, .. } = self;
        let devices: Vec<DeviceInfo> =
            devices.iter().map(|info| DeviceInfo { note: String::new(), ..info.clone() }).collect();
        let plugins =
            self.plugins.iter().map(|plugin| json!({"sha256": plugin.sha256, "loads": plugin.failure.is_none()}));
        let variants: BTreeSet<&String> = self.variants.iter().collect();
        let samples = self.samples.iter().map(|sample| json!({"path": sample.path, "groups": sample.groups}));
        json!({
            "schema": self.schema,
            "host": host,
            "check": self.check,
            "programs": programs,
            "plugins": plugins.collect::<Vec<_>>(),
            "policy": {"name": policy.name(), "sha256": policy.sha256()},
            "limits": limits,
            "options": options,
            "inputs": self.inputs,
            "seed": self.seed,
            "timeout_ms": self.timeout_ms,
            "submissions": self.submissions,
            "variant": fewest(&variants.into_iter().cloned().collect::<Vec<_>>()),
            "external": self.external,
            "devices": if self.external { vec![] } else { devices },
            "samples": samples.collect::<Vec<_>>(),
        })
    }
}

/// Texts as a file has them: older files have one or none.
fn fewest(texts: &[String]) -> Value {
    match texts {
        [] => Value::Null,
        [one] => json!(one),
        several => json!(several),
    }
}

fn write_fewest<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    fewest(texts).serialize(serializer)
}

fn any_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(vec![]),
        Value::String(text) => Ok(vec![text]),
        several => serde_json::from_value(several).map_err(D::Error::custom),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_result::Launch;

    #[test]
    fn a_batch_goes_on_with_the_launch_that_it_was_begun_with() {
        let stream = Header::new(&Config::default());
        let mut config = Config::default();
        config.settings.launch = Launch::Graph;
        let graph = Header::new(&config);
        let expected = ["limits.measurement.launch", "`stream`", "`graph`"].map(str::to_owned);
        assert_eq!(stream.difference(&graph), Some(expected));
        // A batch of before did not say, and launched one after the other.
        let mut older = serde_json::to_value(&stream).unwrap();
        let settings = older.pointer_mut("/limits/measurement").and_then(Value::as_object_mut).unwrap();
        assert_eq!(settings.remove("launch"), Some(json!("stream")));
        assert_eq!(serde_json::from_value::<Header>(older).unwrap().difference(&stream), None);
    }

    #[test]
    fn a_batch_goes_on_with_the_variants_that_it_was_begun_with() {
        let of = |texts: &[&str]| {
            let variants = texts.iter().map(|&text| text.to_owned()).collect();
            Header { variants, ..Header::new(&Config::default()) }
        };
        for (texts, written) in [
            (&[][..], json!(null)),
            (&["float16"], json!("float16")),
            (&["bfloat16", "float16"], json!(["bfloat16", "float16"])),
        ] {
            let value = serde_json::to_value(of(texts)).unwrap();
            assert_eq!(value["variant"], written);
            assert_eq!(serde_json::from_value::<Header>(value).unwrap(), of(texts));
        }
        let expected = ["variant", "`float16`", "[\"bfloat16\",\"float16\"]"].map(str::to_owned);
        assert_eq!(of(&["float16", "bfloat16"]).difference(&of(&["bfloat16", "float16", "float16"])), None);
        assert_eq!(of(&["float16"]).difference(&of(&["bfloat16", "float16"])), Some(expected));
    }

    #[test]
    fn a_batch_goes_on_with_schedules_as_it_was_begun() {
        let default = Header::new(&Config::default());
        let mut config = Config::default();
        config.settings.tune = true;
        let tuned = Header::new(&config);
        let expected = ["limits.measurement.tune", "false", "true"].map(str::to_owned);
        assert_eq!(default.difference(&tuned), Some(expected));
    }
}
