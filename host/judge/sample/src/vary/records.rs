//! The records of the inputs for other values of the symbols.

use super::VaryRefusal;
use super::extents::SizeStep;
use crate::constraints::{Constraints, Extent};
use crate::fx::Parameter;
use crate::reading::Reading;
use crate::weights::Weight;
use passhost_ir::{TensorType, numel};
use std::collections::HashMap;

/// Recorded elements that are written out for a new shape, at most.
const ELEMENTS: u64 = 1 << 20;

/// The records with the symbol changed.
///
/// Recorded elements of an input whose shape changes are repeated along the dimension that grows and cut off along the
/// one that shrinks: a larger batch has the same rows again. Published variants repeat the flat list. Where bounds are
/// recorded too, elements are dropped, and draws keep to the bounds. A recorded number that is the value of the symbol
/// becomes its new value: a `SymInt` parameter of any value, another integer without dimensions above 1.
pub fn resized(before: &Reading, constraints: &Constraints, step: &SizeStep) -> Result<Vec<Weight>, VaryRefusal> {
    let shapes: HashMap<&str, &Vec<Extent>> =
        constraints.shapes.iter().map(|(name, extents)| (name.as_str(), extents)).collect();
    let parameters: HashMap<&str, &Parameter> =
        before.program.parameters.iter().map(|parameter| (parameter.name.as_str(), parameter)).collect();
    let resized = |weight: &Weight| {
        let refused = |reason: String| VaryRefusal(format!("input `{}`: {reason}", weight.name));
        let is_symbol = parameters.get(weight.name.as_str()).is_some_and(|parameter| parameter.is_symbol);
        match shapes.get(weight.name.as_str()) {
            Some(extents) if extents.contains(&Extent::Symbol(step.symbol)) => {
                let recorded = constraints.shape(extents);
                if recorded != weight.ty.shape {
                    let found = &weight.ty.shape;
                    return Err(refused(format!(
                        "its symbols come to {recorded:?}, and its recorded shape is {found:?}"
                    )));
                }
                let extent = |(extent, old): (&Extent, i64)| match extent {
                    Extent::Symbol(symbol) if *symbol == step.symbol => step.to,
                    _ => old,
                };
                reshaped(weight, extents.iter().zip(recorded).map(extent).collect()).map_err(refused)
            }
            _ => Ok(renumbered(weight, is_symbol, step)),
        }
    };
    before.weights.iter().map(resized).collect()
}

fn reshaped(weight: &Weight, shape: Vec<i64>) -> Result<Weight, String> {
    let ty = TensorType::contiguous(weight.ty.dtype, shape);
    ty.check().map_err(|error| error.to_string())?;
    let is_bounded = !ty.dtype.is_float() && weight.min.is_some() && weight.max.is_some();
    let data = match &weight.data {
        Some(data) if !is_bounded => Some(repeated(data, &weight.ty.shape, &ty.shape)?),
        _ => None,
    };
    Ok(Weight { ty, data, ..weight.clone() })
}

/// The elements of a tensor of shape `new` that has those of one of shape `old` again and again along each dimension.
fn repeated(data: &[f64], old: &[i64], new: &[i64]) -> Result<Vec<f64>, String> {
    let count = numel(new);
    if count > ELEMENTS {
        return Err(format!("{count} recorded elements would be written out; at most {ELEMENTS} are"));
    }
    let mut elements = Vec::new();
    for flat in 0..count {
        let (mut rest, mut position, mut stride) = (flat, 0u64, 1u64);
        for (&old, &new) in old.iter().zip(new).rev() {
            let (old, new) = (old.unsigned_abs(), new.unsigned_abs());
            let index = (rest % new).checked_rem(old).ok_or("it has no recorded elements that could be repeated")?;
            position += index * stride;
            stride *= old;
            rest /= new;
        }
        let element = usize::try_from(position).ok().and_then(|position| data.get(position));
        elements.push(*element.ok_or("it has fewer recorded elements than its shape")?);
    }
    Ok(elements)
}

/// A number that is the value of the symbol becomes the new one.
fn renumbered(weight: &Weight, is_symbol: bool, step: &SizeStep) -> Weight {
    let means_symbol = weight.ty.rank() == 0
        && weight.ty.dtype.is_integer()
        && weight.elements().as_deref() == Some(&[step.from as f64])
        && step.is_alone()
        && (is_symbol || step.from > 1);
    if !means_symbol {
        return weight.clone();
    }
    Weight { data: Some(vec![step.to as f64]), mean: None, std: None, min: None, max: None, ..weight.clone() }
}
