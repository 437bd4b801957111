//! The command line of `passhost samples vary`.

use super::duration;
use clap::{Args, ValueEnum};
use passhost_ir::Dtype;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "\
Exit codes:
  0  at least one variant was written
  2  usage error, the graph cannot be read, or all variants were refused
  3  trouble of the host or the device";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct VaryArguments {
    /// A sample
    pub sample: PathBuf,
    /// Values of a symbol of input_tensor_constraints.py, such as S0=1,4,16; every combination with those of other
    /// symbols and with the element types is a variant. A graph that names no symbols has one for each extent above 1 of
    /// its inputs: E512=509 changes it wherever an input has it
    #[arg(long, value_name = "SYMBOL=N,N", value_parser = symbol)]
    pub set: Vec<Symbol>,
    /// Element types of the inputs that are float32
    #[arg(long, value_enum, value_name = "TYPE", value_delimiter = ',', default_values_t = [InputType::Float32])]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputType {
    /// As they are
    Float32,
    Float16,
    Bfloat16,
}

impl InputType {
    /// What to cast to.
    pub fn cast(self) -> Option<Dtype> {
        match self {
            InputType::Float32 => None,
            InputType::Float16 => Some(Dtype::F16),
            InputType::Bfloat16 => Some(Dtype::Bf16),
        }
    }
}

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
