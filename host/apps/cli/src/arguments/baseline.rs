//! The command line of `passhost baseline`.

use super::{DeviceArguments, MeasureArguments, ProgressArguments};
use clap::Args;
use passhost_supervisor::baseline::Method;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct BaselineArguments {
    /// Samples, lists of samples, or directories that hold some
    #[arg(required = true, value_name = "LIST|DIR")]
    pub paths: Vec<PathBuf>,
    /// What is measured, after one another: eager, inductor, inductor-reduce-overhead, inductor-precision, eager-graph,
    /// inductor-graph
    #[arg(long = "with", value_name = "METHODS", default_value = "eager,inductor", value_parser = methods)]
    pub methods: Methods,
    /// A Python with the torch that libtorch is of; its modules may lie where PYTHONPATH says
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub python: PathBuf,
    /// Processes of Python that the times of a graph are taken in: each compiles it once more
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=3))]
    pub processes: u32,
    /// Keeps each result in this file, a JSON value a line, as soon as it is there
    #[arg(long, value_name = "FILE", default_value = "baseline.jsonl")]
    pub out: PathBuf,
    /// Goes on with the batch in that file: what has ended is not done again
    #[arg(long)]
    pub resume: bool,
    /// Only variants with this in their names: a part of a folder's name, or folders as in float16/s0-1, the last by its
    /// beginning. May be given several times
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// Stops at the first trouble of the host; otherwise the others are measured
    #[arg(long)]
    pub fail_fast: bool,
    #[command(flatten)]
    pub measure: MeasureArguments,
    #[command(flatten)]
    pub progress: ProgressArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Methods(pub Vec<Method>);

/// `eager,inductor`: each once.
fn methods(text: &str) -> Result<Methods, String> {
    let mut methods: Vec<Method> = vec![];
    for name in text.split(',') {
        let known = || Method::ALL.map(Method::name).join(", ");
        let method =
            Method::from_name(name).ok_or_else(|| format!("`{name}` is no baseline; there are {}", known()))?;
        if methods.contains(&method) {
            return Err(format!("`{name}` is named twice"));
        }
        methods.push(method);
    }
    Ok(Methods(methods))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_named_each_once() {
        let all = Method::ALL.map(Method::name).join(",");
        assert_eq!(methods(&all), Ok(Methods(Method::ALL.to_vec())));
        for (bad, why) in
            [("eager,eager", "twice"), ("", "`` is no baseline"), ("tensorrt", "there are eager, inductor,")]
        {
            assert!(methods(bad).is_err_and(|error| error.contains(why)), "{bad}");
        }
    }
}
