//! Plays a script on a graph.

use crate::script::{Step, steps};
use crate::{damage, edit, lowering, strain, witness};
use passhost_guest_sdk::ir::{Graph, Infer, TensorType};

/// What lies outside of the component.
pub trait World: Infer {
    /// Shows a line to the author.
    fn log(&mut self, line: &str);
}

/// What came of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// What to return.
    pub graph: Graph,
    /// What to refuse, in words.
    pub refusals: Vec<String>,
}

/// A script on its way.
pub(crate) struct Stage<'a> {
    /// As the host gave it.
    pub original: Graph,
    /// As it is now.
    pub graph: Graph,
    pub refusals: Vec<String>,
    pub world: &'a mut dyn World,
}

/// Plays the steps one after the other. An error names the line; the pass returns it.
pub fn play(text: &str, graph: Graph, world: &mut dyn World) -> Result<Played, String> {
    let mut stage = Stage { original: graph.clone(), graph, refusals: vec![], world };
    let mut applies = true;
    for step in steps(text) {
        match step.verb {
            "error" if applies => return Err(damage::unescaped(step.rest)),
            "when" => applies = holds(&stage, &step).map_err(|error| format!("line {}: {error}", step.line))?,
            "always" => applies = true,
            _ if applies => perform(&mut stage, &step).map_err(|error| format!("line {}: {error}", step.line))?,
            _ => {}
        }
    }
    Ok(Played { graph: stage.graph, refusals: stage.refusals })
}

/// `when %x f32[2,3]`: whether a value of the original has that type. `when clock`: whether a witness shows anything.
fn holds(stage: &Stage<'_>, step: &Step<'_>) -> Result<bool, String> {
    let Some((name, ty)) = step.rest.strip_prefix('%').and_then(|rest| rest.split_once(' ')) else {
        return Ok(witness::of(step.rest)? != 0);
    };
    let wanted: TensorType = ty.trim().parse().map_err(|error| format!("{error}"))?;
    Ok(stage.original.values.iter().any(|value| value.name == name && value.ty == wanted))
}

fn perform(stage: &mut Stage<'_>, step: &Step<'_>) -> Result<(), String> {
    match step.verb {
        "called" => Ok(()),
        "drop" => edit::drop(stage, step.rest),
        "define" => edit::define(stage, step),
        "append" => edit::append(stage, step),
        "return" => edit::returns(stage, step),
        "fuse" => lowering::fuse(stage, step),
        "damage" => damage::damage(stage, step),
        _ => strain::strain(stage, step),
    }
}
