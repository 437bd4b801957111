//! The command line of `passhost samples vary`.

use super::{duration, one_of};
use clap::Args;
use clap::builder::TypedValueParser;
use passhost_ir::Dtype;
use std::path::PathBuf;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_symbols_are_lists_of_integers() {
        assert_eq!(symbol("S0=1,4"), Ok(Symbol { name: "S0".into(), values: vec![1, 4] }));
        for bad in ["", "S0", "=1", "S0=", "S0=1,", "S0=x", "S0=99999999999999999999"] {
            assert!(symbol(bad).is_err(), "{bad}");
        }
    }
}
