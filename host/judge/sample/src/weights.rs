//! `weight_meta.py`: what is recorded of each tensor that a graph takes.

use crate::fx::parse::literal;
use crate::python::PythonSource;
use crate::value::PyValue;
use passhost_ir::{Arg, Dtype, TensorType};
use passhost_protocol::reader::SampleError;
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The record of one tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Weight {
    /// Parameter name.
    pub name: String,
    /// What the model calls it that this graph was cut from.
    pub original_name: Option<String>,
    /// Element type and shape.
    pub ty: TensorType,
    /// Mean, if recorded and finite.
    pub mean: Option<f64>,
    /// Standard deviation, if recorded and finite.
    pub std: Option<f64>,
    /// Literal elements, row-major.
    pub data: Option<Vec<f64>>,
    /// Smallest element.
    pub min: Option<f64>,
    /// Largest element.
    pub max: Option<f64>,
}

/// The default of PyTorch's norms.
const EPSILON: f64 = 1e-5;

impl Weight {
    /// The elements, where the record gives all of them.
    pub fn elements(&self) -> Option<Vec<f64>> {
        match (&self.data, self.mean) {
            (Some(data), _) => Some(data.clone()),
            (None, Some(mean)) if self.ty.rank() == 0 && self.std.is_none_or(|std| std == 0.0) => {
                // A float of Python's that became an argument is recorded in double precision, with three decimals: one
                // that reads 0.000 is an epsilon, of which a norm would not take zero.
                let lost = mean == 0.0 && self.ty.dtype == Dtype::F64;
                Some(vec![if lost { EPSILON } else { mean }])
            }
            _ => None,
        }
    }
}

/// Reads the records in order.
pub fn weights(source: &PythonSource<'_>) -> Result<Vec<Weight>, SampleError> {
    let mut weights: Vec<Weight> = vec![];
    let mut names = HashSet::new();
    for statement in source.statements()? {
        match &statement {
            Stmt::ClassDef(class) => {
                let weight = weight(source, class.name.as_str(), &class.body)?;
                if !names.insert(weight.name.clone()) {
                    return Err(source.error(class.start(), format!("`{}` is described twice", weight.name)));
                }
                weights.push(weight);
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_) => {}
            other => return Err(source.error(other.start(), "expected only classes that describe tensors")),
        }
    }
    Ok(weights)
}

fn weight(source: &PythonSource<'_>, class: &str, body: &[Stmt]) -> Result<Weight, SampleError> {
    let mut fields: Vec<(&str, PyValue)> = vec![];
    for statement in body {
        let Stmt::Assign(assign) = statement else {
            if matches!(statement, Stmt::Pass(_)) {
                continue;
            }
            return Err(source.error(statement.start(), "expected `field = literal`"));
        };
        let [Expr::Name(target)] = &assign.targets[..] else {
            return Err(source.error(statement.start(), "expected one field name"));
        };
        let value = literal(source, &assign.value).map(|literal| PyValue::of(&literal, &[]));
        let value = value.ok_or_else(|| source.error(assign.value.start(), "expected a literal that fits 64 bits"))?;
        fields.push((target.id.as_str(), value));
    }
    let field = |name: &str| fields.iter().rev().find(|(field, _)| *field == name).map(|(_, value)| value);
    let wrong = |reason: String| SampleError::Weight { file: source.file().to_owned(), name: class.to_owned(), reason };
    let name = match field("name") {
        Some(PyValue::Str(name)) => name.clone(),
        _ => return Err(wrong("`name` is not a string".into())),
    };
    let Some(Arg::Ints(shape)) = field("shape").and_then(PyValue::to_arg) else {
        return Err(wrong("`shape` is not a list of integers".into()));
    };
    let dtype = match field("dtype") {
        Some(PyValue::Str(text)) => Dtype::from_torch_name(text.trim_start_matches("torch.")),
        _ => None,
    }
    .ok_or_else(|| wrong("`dtype` is not a string such as \"torch.float32\"".into()))?;
    let ty = TensorType::contiguous(dtype, shape);
    ty.check().map_err(|error| wrong(error.to_string()))?;
    let data = match field("data") {
        None | Some(PyValue::None) => None,
        Some(PyValue::List(items)) => {
            let items: Option<Vec<f64>> = items.iter().map(PyValue::float).collect();
            let items = items.ok_or_else(|| wrong("`data` is not a flat list of numbers".into()))?;
            if items.len() as u64 != ty.numel() {
                return Err(wrong(format!("`data` has {} elements, the shape {}", items.len(), ty.numel())));
            }
            Some(items)
        }
        Some(_) => return Err(wrong("`data` is neither None nor a list".into())),
    };
    let finite = |name: &str| field(name).and_then(PyValue::float).filter(|value| value.is_finite());
    let original_name = match field("original_name") {
        Some(PyValue::Str(name)) => Some(name.clone()),
        _ => None,
    };
    Ok(Weight {
        name,
        original_name,
        ty,
        mean: finite("mean"),
        std: finite("std"),
        data,
        min: finite("min_val"),
        max: finite("max_val"),
    })
}
