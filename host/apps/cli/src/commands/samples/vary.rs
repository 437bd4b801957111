//! `passhost samples vary SAMPLE --set S0=1,4 --dtype float16 --out DIR`

use super::one_graph;
use crate::arguments::{duration, one_of};
use crate::exit::{Exit, OrStop, Stop};
use crate::output::print;
use crate::terminal::{Terminal, Tone};
use clap::Args;
use clap::builder::TypedValueParser;
use passhost_child::Memo;
use passhost_corpus::vary::Origin;
use passhost_corpus::worker::{Worker, Workplace};
use passhost_corpus::{new_directory, write_whole};
use passhost_ir::Dtype;
use passhost_result::untrusted::one_line;
use passhost_sample::{SampleText, VariantChange};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct VaryArguments {
    /// A sample
    pub sample: PathBuf,
    /// Values of a symbol of input_tensor_constraints.py, such as S0=1,4,16; every combination with those of other
    /// symbols and with the element types is a variant. A graph that names no symbols has one for each extent above 1 of
    /// its inputs: E512=509 changes it wherever an input has it
    #[arg(long, value_name = "SYMBOL=N,N", value_parser = symbol)]
    pub set: Vec<Symbol>,
    /// Element types of the inputs that are float32
    #[arg(long, value_name = "TYPE", value_delimiter = ',', default_value = "float32", value_parser = input_types())]
    pub dtype: Vec<InputType>,
    /// An empty or new directory for the task
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The first graph with this in its name, instead of the first: a part of a folder's name, or folders as in
    /// float16/s0-1, the last by its beginning. May be given several times: the first graph that any of them means
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// Wall clock for reading the graph and making one variant
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    pub timeout: Duration,
}

/// A symbol with the values that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub values: Vec<i64>,
}

/// What to cast inputs to; nothing is as they are.
fn input_types() -> impl TypedValueParser<Value = InputType> {
    one_of([
        ("float32", "As they are", InputType(None)),
        ("float16", "", InputType(Some(Dtype::F16))),
        ("bfloat16", "", InputType(Some(Dtype::Bf16))),
    ])
}

/// An element type that inputs are cast to.
#[derive(Debug, Clone, Copy)]
pub struct InputType(pub Option<Dtype>);

fn symbol(text: &str) -> Result<Symbol, String> {
    let wrong = || format!("`{text}` gives no values to a symbol; write S0=1,4,16");
    let (name, values) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
    let values: Result<Vec<i64>, _> = values.split(',').map(str::parse).collect();
    Ok(Symbol { name: name.to_owned(), values: values.map_err(|_| wrong())? })
}

/// Variants of one task.
const MOST_VARIANTS: usize = 1000;

pub fn run(arguments: &VaryArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let changes = changes(arguments)?;
    let sample = SampleText::open(&arguments.sample).or_stop(Exit::Usage)?;
    let index = one_graph(&sample, &arguments.variants)?;
    new_directory(&arguments.out)?;
    let memo = Arc::new(Memo::default());
    let mut worker = Worker::new(Workplace::for_types(arguments.timeout), &memo);
    let origin = Origin::of(&sample, index);
    let (mut lines, mut graphs) = (vec![], vec![]);
    let mut seen = HashSet::new();
    for change in &changes {
        let made = worker.vary(&sample, index, change);
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
                origin.write(&arguments.out.join(&path), change, &varied)?;
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
fn changes(arguments: &VaryArguments) -> Result<Vec<VariantChange>, Stop> {
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
    let change =
        |dtype: Option<Dtype>| symbols.iter().map(move |symbols| VariantChange { symbols: symbols.clone(), dtype });
    Ok(arguments.dtype.iter().flat_map(|dtype| change(dtype.0)).collect())
}

/// `S0=4 S1=224 float16`.
fn described(change: &VariantChange) -> String {
    let symbols = change.symbols.iter().map(|(name, value)| format!("{}={value}", one_line(name, 40)));
    let dtype = change.dtype.map(|dtype| dtype.torch_name().to_owned());
    let words: Vec<String> = symbols.chain(dtype).collect();
    if words.is_empty() { "as it is".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use crate::commands::samples::SamplesCommand;
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

    #[test]
    fn values_of_symbols_are_lists_of_integers() {
        assert_eq!(symbol("S0=1,4"), Ok(Symbol { name: "S0".into(), values: vec![1, 4] }));
        for bad in ["", "S0", "=1", "S0=", "S0=1,", "S0=x", "S0=99999999999999999999"] {
            assert!(symbol(bad).is_err(), "{bad}");
        }
    }
}
