//! Variants of one graph, with other extents or element types, written as a task.

use crate::CorpusError;
use crate::pieces::folder;
use passhost_ir::Dtype;
use passhost_sample::{GraphFolder, SampleText, VariantChange, Varied};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What a graph by itself is filed under; one of a task stays in its category.
const CATEGORY: &str = "models";

/// The graph that variants are made from.
#[derive(Debug)]
pub struct Origin<'a> {
    sample: &'a SampleText,
    /// Its path within the sample.
    graph: &'a str,
    category: String,
    model: String,
    /// The content of its `graph_net.json`; empty if that is missing or says nothing.
    graph_net: Map<String, Value>,
}

impl<'a> Origin<'a> {
    /// Variant `index` of a sample.
    pub fn of(sample: &'a SampleText, index: usize) -> Origin<'a> {
        let graph = sample.variants()[index].name.as_str();
        let text = sample.text(index, "graph_net.json").unwrap_or_default();
        let graph_net = match serde_json::from_str(&text) {
            Ok(Value::Object(content)) => content,
            _ => Map::new(),
        };
        let mut parts = graph.split('/');
        let category = parts.next().filter(|&first| first == "graphs").and_then(|_| parts.next());
        let own = Path::new(graph).file_name().map(|name| name.to_string_lossy().into_owned());
        let name = graph_net.get("model_name").and_then(Value::as_str).map(str::to_owned).or(own);
        Origin {
            sample,
            graph,
            category: folder(category.unwrap_or(CATEGORY)),
            model: folder(name.as_deref().unwrap_or(sample.name())),
            graph_net,
        }
    }

    /// Where PassNet files a variant.
    pub fn folder(&self, varied: &Varied) -> String {
        let dtype = main_type(varied).torch_name();
        format!("graphs/{}/{dtype}/{}/{}", self.category, folder(&varied.constraints.label()), self.model)
    }

    /// Writes the files of a variant into a folder.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path, change: &VariantChange, varied: &Varied) -> Result<(), CorpusError> {
        let graph_net = self.graph_net(change)?;
        let files = GraphFolder {
            program: &varied.reading.program,
            weights: &varied.reading.weights,
            constraints: &varied.constraints,
            graph_net: &graph_net,
        };
        files.write(folder).map_err(CorpusError::write(folder))
    }

    /// Its `graph_net.json`, with what was changed.
    fn graph_net(&self, change: &VariantChange) -> serde_json::Result<String> {
        let mut content = self.graph_net.clone();
        let source = json!({ "sample": self.sample.name(), "graph": self.graph, "sha256": self.sample.sha256() });
        let symbols = serde_json::to_value(&change.symbols)?;
        let dtype = change.dtype.map(Dtype::torch_name);
        content.insert("variant_of".into(), source);
        content.insert("variant".into(), json!({ "symbols": symbols, "float32_inputs": dtype }));
        serde_json::to_string_pretty(&content).map(|text| text + "\n")
    }
}

/// The float type that most inputs have; float32 where there is none.
fn main_type(varied: &Varied) -> Dtype {
    let mut counts: BTreeMap<Dtype, usize> = BTreeMap::new();
    let floats = varied.reading.weights.iter().map(|weight| weight.ty.dtype).filter(|dtype| dtype.is_float());
    floats.for_each(|dtype| *counts.entry(dtype).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map_or(Dtype::F32, |(dtype, _)| dtype)
}
