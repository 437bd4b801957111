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
use passhost_ir::Infer;
use passhost_protocol::reader::{SampleError, VariantChange};
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

/// Why there is no such variant: in words, as they are all that becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{0}")]
pub struct VaryRefusal(pub String);

/// The graph cannot be read, or its calls refuse the new types.
impl From<SampleError> for VaryRefusal {
    fn from(error: SampleError) -> VaryRefusal {
        VaryRefusal(error.to_string())
    }
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
        let mut constraints = match self.constraints(index) {
            // A graph without symbols may come without the file.
            Err(SampleError::Read { .. }) if change.symbols.is_empty() => Constraints::fixed(&reading.weights),
            read if change.symbols.is_empty() => read?,
            _ => self.sizes(index, &reading.weights)?,
        };
        let mut reading = reading.clone();
        for (name, &value) in &change.symbols {
            let Some(symbol) = constraints.position(name) else {
                let known: Vec<&str> = constraints.symbols.iter().map(|(name, _)| name.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(VaryRefusal(format!("there is no symbol `{name}`; the graph has {known}")));
            };
            if !(1..=LARGEST_EXTENT).contains(&value) {
                let expected = format!("expected a value between 1 and {LARGEST_EXTENT}");
                return Err(VaryRefusal(format!("`{name}` = {value}: {expected}")));
            }
            let step = SizeStep::new(&constraints, symbol, value);
            if step.from != step.to {
                let weights = records::resized(&reading, &constraints, &step)?;
                constraints.symbols[symbol].1 = value;
                let mut resized = sizes::resized(&source, &reading, weights, &step, infer)?;
                tables::follow(&reading, &mut resized);
                reading = resized;
            }
        }
        if let Some(dtype) = change.dtype {
            reading = casts::cast(&source, &reading, dtype, infer)?;
        }
        Ok(Varied { reading, constraints })
    }
}

#[cfg(test)]
mod tests;
