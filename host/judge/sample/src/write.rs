//! Writes the files of a graph folder, in the form that they are read in.

use crate::constraints::Constraints;
use crate::files::CONSTRAINTS;
use crate::fx::{Expr, Trace, ValueRef, print};
use crate::weights::Weight;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

/// Names that a value must not take: `model.py` means something else by them.
const TAKEN: [&str; 8] = ["self", "torch", "device", "inf", "nan", "slice", "Ellipsis", "GraphModule"];

/// A graph, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct GraphFolder<'a> {
    /// What `forward` calls.
    pub program: &'a Trace,
    /// The records of its parameters.
    pub weights: &'a [Weight],
    /// The symbols in their shapes.
    pub constraints: &'a Constraints,
    /// The text of `graph_net.json`.
    pub graph_net: &'a str,
}

impl GraphFolder<'_> {
    /// Writes the six files into `folder`, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        let files = [
            ("graph_hash.txt", graph_hash(self.program)),
            ("model.py", model_text(self.program)),
            ("weight_meta.py", weight_text(self.weights)),
            ("input_meta.py", String::new()),
            (CONSTRAINTS, self.constraints.text()),
            ("graph_net.json", self.graph_net.to_owned()),
        ];
        std::fs::create_dir_all(folder)?;
        files.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text))
    }
}

/// The text of `model.py`. Values keep their names where these are unique.
pub fn model_text(program: &Trace) -> String {
    let mut taken: HashSet<&str> = TAKEN.into();
    taken.extend(program.parameters.iter().map(|parameter| parameter.name.as_str()));
    let mut names: Vec<String> = program.parameters.iter().map(|parameter| parameter.name.clone()).collect();
    let kept: Vec<bool> =
        program.nodes.iter().map(|node| !node.name.is_empty() && taken.insert(node.name.as_str())).collect();
    for (position, (node, kept)) in program.nodes.iter().zip(kept).enumerate() {
        let mut name = if kept { node.name.clone() } else { format!("value_{position}") };
        while !kept && taken.contains(name.as_str()) {
            name.push('_');
        }
        names.push(name);
    }
    print::model(program, &|value: ValueRef| names.get(value.index()).cloned().unwrap_or_default())
}

/// What `graph_hash.txt` has: the SHA-256 of the canonical text of `model.py`, in hexadecimal.
pub fn graph_hash(program: &Trace) -> String {
    base16ct::lower::encode_string(&Sha256::digest(print::canonical(program)))
}

/// The text of `weight_meta.py`.
pub fn weight_text(weights: &[Weight]) -> String {
    let records: Vec<String> = weights.iter().map(record).collect();
    records.join("\n\n")
}

fn record(weight: &Weight) -> String {
    let whole = weight.ty.dtype.is_integer() || weight.ty.dtype == passhost_ir::Dtype::Bool;
    let list = |items: &[String]| format!("[{}]", items.join(", "));
    let shape: Vec<String> = weight.ty.shape.iter().map(i64::to_string).collect();
    let data = weight.data.as_ref().map(|data| {
        let element = |&element: &f64| if whole { (element as i64).to_string() } else { number(element) };
        list(&data.iter().map(element).collect::<Vec<_>>())
    });
    let optional = |value: Option<f64>| value.map_or_else(|| "None".to_owned(), number);
    let mut text = format!("class Program_weight_tensor_meta_{}:\n", weight.name);
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(text, "\t{name} = {value}");
    };
    field("name", &format!("\"{}\"", weight.name));
    if let Some(original) = &weight.original_name {
        // The record was read from a file: any text may stand in it.
        field("original_name", &print::expression(&Expr::Str(original.clone()), &|_| String::new()));
    }
    field("shape", &list(&shape));
    field("dtype", &format!("\"torch.{}\"", weight.ty.dtype.torch_name()));
    field("device", "\"cpu\"");
    field("mean", &optional(weight.mean));
    field("std", &optional(weight.std));
    for (name, bound) in [("min_val", weight.min), ("max_val", weight.max)] {
        if let Some(bound) = bound {
            field(name, &if whole { (bound as i64).to_string() } else { number(bound) });
        }
    }
    field("data", data.as_deref().unwrap_or("None"));
    text
}

/// A float as Python reads it: the shortest text for the same number.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { format!("float(\"{value}\")") }
}
