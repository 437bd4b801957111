//! Where a piece comes from: what `graph_net.json` says.

use crate::decompose::{Kind, Variant};
use passhost_sample::SampleText;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is taken over from the model's own `graph_net.json`.
#[derive(Debug, Default, PartialEq, Deserialize)]
struct Recorded {
    #[serde(default)]
    source: String,
    #[serde(default)]
    heuristic_tag: String,
    #[serde(default)]
    versions: BTreeMap<String, String>,
}

impl Recorded {
    fn of(text: &str) -> Recorded {
        serde_json::from_str(text).unwrap_or_default()
    }
}

/// A model that pieces were cut from.
#[derive(Debug, Clone)]
pub struct Provenance {
    /// The name of the sample.
    pub model: String,
    variant: String,
    sha256: String,
    source: String,
    heuristic_tag: String,
    versions: BTreeMap<String, String>,
}

/// The content of `graph_net.json`.
#[derive(Serialize)]
struct GraphNet<'a> {
    framework: &'static str,
    num_devices_required: u32,
    num_nodes_required: u32,
    dynamic: bool,
    model_name: &'a str,
    source: &'a str,
    heuristic_tag: &'a str,
    kind: &'static str,
    source_model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    source_variant: &'a str,
    /// Of the model's files, as `passhost` hashes samples.
    source_sha256: &'a str,
    /// The first node of the model's `forward` and the one behind the last.
    node_range: [usize; 2],
    op_sequence: &'a [String],
    /// As `passhost samples hash` prints it.
    canonical_hash: &'a str,
    /// How often the same graph was found, and in how many models.
    occurrences: usize,
    models: usize,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    versions: &'a BTreeMap<String, String>,
}

impl Provenance {
    /// Of a variant of a sample. A `graph_net.json` that is missing or not understood says nothing.
    pub fn of(sample: &SampleText, index: usize) -> Provenance {
        let recorded = Recorded::of(&sample.text(index, "graph_net.json").unwrap_or_default());
        let plain = |text: &str| passhost_result::untrusted::one_line(text, 100);
        let variant = &sample.variants()[index].name;
        let versions = recorded.versions.iter().take(16);
        Provenance {
            model: plain(sample.name()),
            variant: if variant == "." { String::new() } else { plain(variant) },
            sha256: sample.sha256().to_owned(),
            source: plain(&recorded.source),
            heuristic_tag: plain(&recorded.heuristic_tag),
            versions: versions.map(|(name, version)| (plain(name), plain(version))).collect(),
        }
    }

    /// The text of the file for a piece of this model that is called `name`.
    pub fn graph_net(&self, kind: Kind, name: &str, variant: &Variant) -> serde_json::Result<String> {
        let piece = &variant.piece;
        let content = GraphNet {
            framework: "torch",
            num_devices_required: 1,
            num_nodes_required: 1,
            dynamic: false,
            model_name: name,
            source: &self.source,
            heuristic_tag: &self.heuristic_tag,
            kind: kind.category(),
            source_model: &self.model,
            source_variant: &self.variant,
            source_sha256: &self.sha256,
            node_range: [piece.nodes.start, piece.nodes.end],
            op_sequence: &piece.ops,
            canonical_hash: &piece.hash,
            occurrences: variant.occurrences,
            models: variant.models.len(),
            versions: &self.versions,
        };
        let mut text = Vec::new();
        let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        content.serialize(&mut serde_json::Serializer::with_formatter(&mut text, format))?;
        text.push(b'\n');
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_understood_says_nothing() {
        let (deep, long) = ("[".repeat(100_000), format!("{{\"source\": \"{}", "x".repeat(100_000)));
        let nested = format!("{{\"versions\": {}1{}}}", "{\"a\": ".repeat(1000), "}".repeat(1000));
        let cases = [
            "",
            " ",
            "null",
            "true",
            "3",
            "\"source\"",
            "[]",
            "[1, 2, 3, 4]",
            "{",
            "}",
            "{\"source\"}",
            "{\"source\": }",
            "{\"source\": \"a\", }",
            "{\"source\": 3}",
            "{\"source\": null}",
            "{\"source\": \"a\", \"source\": \"b\"}",
            "{\"source\": \"\\ud800\"}",
            "{\"versions\": {\"torch\": 2.11}}",
            "{\"versions\": [\"torch\"]}",
            "{\"heuristic_tag\": 1e999999}",
            "{'source': 'a'}",
            "{\"source\": \"a\"} {\"source\": \"b\"}",
            "\u{feff}{\"source\": \"a\"}",
            &deep,
            &long,
            &nested,
        ];
        for text in cases {
            assert_eq!(Recorded::of(text), Recorded::default(), "{}", &text[..text.len().min(80)]);
        }
        let known = Recorded::of("{\"source\": \"timm\", \"other\": [[[]]], \"dynamic\": 10e400}");
        assert_eq!((known.source.as_str(), known.versions.len()), ("timm", 0));
    }
}
