//! Variants of a graph: other values for its symbols, another float type for its inputs. What the text bakes in of the
//! old sizes follows where the change is unambiguous; otherwise the variant is refused with the reason.

mod candidate;
mod casts;
mod extents;
mod positions;
mod ranges;
mod records;
mod reshape;
mod sizes;
mod tables;

use crate::SampleText;
use crate::constraints::{Constraints, LARGEST_EXTENT};
use crate::python::PythonSource;
use crate::reading::Reading;
use crate::weights::Weight;
use extents::SizeStep;
use passhost_ir::{Dtype, Infer};
use passhost_protocol::reader::{SampleError, SourceLocation, VariantChange};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Varied {
    /// The rewritten program, the records of its parameters and its types.
    pub reading: Reading,
    /// The symbols with their new values.
    pub constraints: Constraints,
}

/// Why there is no such variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
pub enum VaryRefusal {
    /// The graph has no such symbol.
    #[error("there is no symbol `{name}`; the graph has {known}")]
    Symbol {
        /// As asked for.
        name: String,
        /// Those that it has.
        known: String,
    },
    /// No tensor has such an extent.
    #[error("`{name}` = {value}: expected a value between 1 and {LARGEST_EXTENT}")]
    Value {
        /// The symbol.
        name: String,
        /// As asked for.
        value: i64,
    },
    /// Inputs are cast to types of 16 bits only.
    #[error("inputs cannot be cast to {0}; expected f16 or bf16")]
    Dtype(Dtype),
    /// There is nothing to cast.
    #[error("no input is an f32 that may be cast to {0}")]
    NoFloat(Dtype),
    /// The record of an input cannot follow its shape.
    #[error("input `{name}`: {reason}")]
    Input {
        /// The parameter of `forward`.
        name: String,
        /// Why not.
        reason: String,
    },
    /// It is not clear how a call follows.
    #[error("{place}: `{call}`: {reason}")]
    Call {
        /// Where, in the graph that the variant is made from.
        place: SourceLocation,
        /// What is called.
        call: String,
        /// Which argument, and why it is not clear.
        reason: String,
    },
    /// The graph cannot be read, or its calls refuse the new types.
    #[error(transparent)]
    Sample(#[from] SampleError),
}

impl SampleText {
    /// What may change in the sizes of graph `index`, whose parameters have these records: the symbols that it names, or, if
    /// it names none, the extents of its arguments.
    ///
    /// # Errors
    ///
    /// If the file of constraints says something that is not understood.
    ///
    /// # Panics
    ///
    /// If there is no such graph.
    pub fn sizes(&self, index: usize, weights: &[Weight]) -> Result<Constraints, SampleError> {
        match self.constraints(index) {
            Ok(named) if !named.symbols.is_empty() => Ok(named),
            Ok(_) | Err(SampleError::Read { .. }) => Ok(Constraints::of_extents(weights)),
            Err(error) => Err(error),
        }
    }

    /// A variant of graph `index`, which was read as `reading`. Symbols change one after the other, the float type last,
    /// and each time the whole program is translated again: what no call accepts is refused.
    ///
    /// # Errors
    ///
    /// If the change is not possible, or not clear.
    ///
    /// # Panics
    ///
    /// If there is no such graph.
    pub fn vary(
        &self,
        index: usize,
        reading: &Reading,
        change: &VariantChange,
        infer: &mut dyn Infer,
    ) -> Result<Varied, VaryRefusal> {
        let files = &self.variants[index];
        let source = PythonSource::new(self.files.shown(&files.path.join(Path::new("model.py"))), &files.model);
        let constraints = match self.constraints(index) {
            // A graph without symbols may come without the file.
            Err(SampleError::Read { .. }) if change.symbols.is_empty() => Constraints::fixed(&reading.weights),
            read if change.symbols.is_empty() => read?,
            _ => self.sizes(index, &reading.weights)?,
        };
        vary(&source, reading, constraints, change, infer)
    }
}

fn vary(
    source: &PythonSource<'_>,
    reading: &Reading,
    mut constraints: Constraints,
    change: &VariantChange,
    infer: &mut dyn Infer,
) -> Result<Varied, VaryRefusal> {
    let mut reading = reading.clone();
    for (name, &value) in &change.symbols {
        let symbol = constraints.position(name).ok_or_else(|| unknown(name, &constraints))?;
        if !(1..=LARGEST_EXTENT).contains(&value) {
            return Err(VaryRefusal::Value { name: name.clone(), value });
        }
        let step = SizeStep::new(&constraints, symbol, value);
        if step.from != step.to {
            let weights = records::resized(&reading, &constraints, &step)?;
            constraints.symbols[symbol].1 = value;
            let mut resized = sizes::resized(source, &reading, weights, &step, infer)?;
            tables::follow(&reading, &mut resized);
            reading = resized;
        }
    }
    if let Some(dtype) = change.dtype {
        reading = casts::cast(source, &reading, dtype, infer)?;
    }
    Ok(Varied { reading, constraints })
}

fn unknown(name: &str, constraints: &Constraints) -> VaryRefusal {
    let known: Vec<&str> = constraints.symbols.iter().map(|(name, _)| name.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    VaryRefusal::Symbol { name: name.to_owned(), known }
}

#[cfg(test)]
mod tests;
