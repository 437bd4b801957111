//! `passhost samples vary SAMPLE --set S0=1,4 --dtype float16 --out DIR`

use super::one_graph;
use crate::arguments::VaryArguments;
use crate::output::print;
use crate::terminal::{Terminal, Tone};
use crate::{Exit, Stop};
use anyhow::Context;
use passhost_corpus::pieces::folder;
use passhost_corpus::worker::{Worker, Workplace};
use passhost_corpus::{new_directory, write_whole};
use passhost_ir::Dtype;
use passhost_sample::{Change, GraphFolder, Sample, Varied};
use passhost_supervisor::Memo;
use passhost_supervisor::untrusted::one_line;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// What a graph by itself is filed under; one of a task stays in its category.
const CATEGORY: &str = "models";
/// Variants of one task.
const MOST_VARIANTS: usize = 1000;

pub fn run(arguments: &VaryArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let changes = changes(arguments)?;
    let sample = Sample::open(&arguments.sample).map_err(|error| Stop::new(Exit::Usage, error))?;
    let index = one_graph(&sample, arguments.variant.as_deref())?;
    new_directory(&arguments.out)?;
    let memo = Arc::new(Memo::default());
    let mut worker = Worker::new(Workplace::for_types(arguments.timeout), &memo);
    let origin = Origin::of(&sample, index);
    let (mut lines, mut graphs) = (vec![], vec![]);
    let mut seen = HashSet::new();
    for change in &changes {
        let made = worker.read(&sample, index, |reading, infer| sample.vary(index, &reading, change, infer));
        if let Some(trouble) = worker.take_trouble() {
            return Err(Stop::host(trouble));
        }
        let refused = |reason: String| {
            let line = format!("{}: {}", described(change), one_line(&reason, 600));
            format!("{} {line}", terminal.paint(Tone::Warn, "refused"))
        };
        lines.push(match made {
            Err(failure) => {
                let place = failure.place.map_or_else(String::new, |place| format!("{place}: "));
                refused(format!("{}: {place}{}", failure.outcome, failure.what))
            }
            Ok(Err(refusal)) => refused(refusal.to_string()),
            Ok(Ok(varied)) => {
                let path = origin.folder(&varied);
                if !seen.insert(path.clone()) {
                    continue;
                }
                write(&origin, &arguments.out.join(&path), change, &varied)
                    .map_err(|error| Stop { exit: Exit::Usage, error })?;
                let line = format!("{} {}: {path}", terminal.paint(Tone::Good, "written"), described(change));
                graphs.push(path);
                line
            }
        });
    }
    print(lines);
    if graphs.is_empty() {
        return Ok(Exit::Usage);
    }
    let list: String = graphs.iter().map(|graph| format!("{graph}\n")).collect();
    write_whole(&arguments.out.join("graph_list.txt"), &list)?;
    Ok(Exit::Success)
}

/// Every combination of what is asked for.
fn changes(arguments: &VaryArguments) -> Result<Vec<Change>, Stop> {
    let mut symbols: Vec<BTreeMap<String, i64>> = vec![BTreeMap::new()];
    for symbol in &arguments.set {
        if symbols.iter().any(|symbols| symbols.contains_key(&symbol.name)) {
            return Err(Stop::usage(format!("`{}` is set twice; give all its values at once", symbol.name)));
        }
        if symbols.len().saturating_mul(symbol.values.len()) > MOST_VARIANTS {
            return Err(Stop::usage(format!("these are more than {MOST_VARIANTS} variants; give fewer values")));
        }
        let with = |symbols: &BTreeMap<String, i64>, value: i64| {
            let mut symbols = symbols.clone();
            symbols.insert(symbol.name.clone(), value);
            symbols
        };
        symbols = symbols.iter().flat_map(|symbols| symbol.values.iter().map(|&value| with(symbols, value))).collect();
    }
    let change = |dtype: Option<Dtype>| symbols.iter().map(move |symbols| Change { symbols: symbols.clone(), dtype });
    Ok(arguments.dtype.iter().flat_map(|dtype| change(dtype.cast())).collect())
}

/// `S0=4 S1=224 float16`.
fn described(change: &Change) -> String {
    let symbols = change.symbols.iter().map(|(name, value)| format!("{}={value}", one_line(name, 40)));
    let dtype = change.dtype.map(|dtype| dtype.torch_name().to_owned());
    let words: Vec<String> = symbols.chain(dtype).collect();
    if words.is_empty() { "as it is".to_owned() } else { words.join(" ") }
}

/// The graph that variants are made from.
struct Origin<'a> {
    sample: &'a Sample,
    /// Its path within the sample.
    graph: &'a str,
    category: String,
    model: String,
    /// The content of its `graph_net.json`; empty if that is missing or says nothing.
    graph_net: Map<String, Value>,
}

impl<'a> Origin<'a> {
    fn of(sample: &'a Sample, index: usize) -> Origin<'a> {
        let graph = sample.variants()[index].name.as_str();
        let text = sample.graph_net(index).unwrap_or_default();
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
    fn folder(&self, varied: &Varied) -> String {
        let dtype = main_type(varied).torch_name();
        format!("graphs/{}/{dtype}/{}/{}", self.category, folder(&varied.constraints.label()), self.model)
    }

    /// Its `graph_net.json`, with what was changed.
    fn graph_net(&self, change: &Change) -> serde_json::Result<String> {
        let mut content = self.graph_net.clone();
        let source = json!({ "sample": self.sample.name(), "graph": self.graph, "sha256": self.sample.sha256() });
        let symbols = serde_json::to_value(&change.symbols)?;
        let dtype = change.dtype.map(Dtype::torch_name);
        content.insert("variant_of".into(), source);
        content.insert("variant".into(), json!({ "symbols": symbols, "float32_inputs": dtype }));
        serde_json::to_string_pretty(&content).map(|text| text + "\n")
    }
}

fn write(origin: &Origin<'_>, folder: &Path, change: &Change, varied: &Varied) -> anyhow::Result<()> {
    let graph_net = origin.graph_net(change)?;
    let files = GraphFolder {
        program: &varied.reading.program,
        weights: &varied.reading.weights,
        constraints: &varied.constraints,
        graph_net: &graph_net,
    };
    files.write(folder).with_context(|| format!("cannot write `{}`", one_line(&folder.display().to_string(), 400)))
}

/// The float type that most inputs have; float32 where there is none.
fn main_type(varied: &Varied) -> Dtype {
    let mut counts: BTreeMap<Dtype, usize> = BTreeMap::new();
    let floats = varied.reading.weights.iter().map(|weight| weight.ty.dtype).filter(|dtype| dtype.is_float());
    floats.for_each(|dtype| *counts.entry(dtype).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map_or(Dtype::F32, |(dtype, _)| dtype)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::arguments::{Cli, Command, SamplesCommand};
    use clap::Parser;

    fn arguments(line: &str) -> VaryArguments {
        let cli = Cli::parse_from(format!("passhost samples vary x --out y {line}").split_whitespace());
        let Command::Samples(samples) = cli.command else { unreachable!("`samples` was parsed") };
        let SamplesCommand::Vary(arguments) = samples.command else { unreachable!("`vary` was parsed") };
        arguments
    }

    #[test]
    fn every_combination_of_values_and_types_is_a_variant() {
        let described =
            |line: &str| -> Vec<String> { changes(&arguments(line)).unwrap().iter().map(described).collect() };
        assert_eq!(described(""), ["as it is"]);
        assert_eq!(
            described("--set S0=1,4 --set S1=7 --dtype float32,bfloat16"),
            ["S0=1 S1=7", "S0=4 S1=7", "S0=1 S1=7 bfloat16", "S0=4 S1=7 bfloat16"]
        );
    }

    #[test]
    fn too_many_variants_and_symbols_that_are_set_twice_are_refused() {
        let many: Vec<String> = (1..=40).map(|value| value.to_string()).collect();
        let many = many.join(",");
        assert!(changes(&arguments(&format!("--set S0={many} --set S1={many}"))).is_err());
        assert!(changes(&arguments("--set S0=1 --set S0=2")).is_err());
    }
}
