//! The longest stretches of consecutive steps that fit one kernel.

use super::kernel::{Kernel, NodeClass};
use super::steps::{Step, Steps};
use passhost_ir::ValueId;
use std::ops::Range;

/// Steps of one stretch: a kernel has room for so many, and no real stretch comes near.
const MOST_STEPS: usize = 64;
/// Tensors that a kernel loads.
const MOST_INPUTS: usize = 64;

/// Stretches of two or more steps that calculate, from front to back without overlap, each as long as it can be. Views
/// and constructors at either end that have nothing to do with the rest are left off.
pub(super) fn stretches(steps: &Steps<'_>) -> Vec<Range<usize>> {
    let classes = NodeClass::of_all(steps.graph());
    let works = |step: &Step| step.nodes.clone().any(|node| classes[node].is_work);
    let is_work: Vec<bool> = steps.list.iter().map(works).collect();
    let mut found = vec![];
    let mut start = 0;
    while start < steps.list.len() {
        let stretch = longest(steps, &classes, &is_work, start).map(|end| trimmed(steps, &is_work, start..end));
        match stretch {
            Some(stretch) => {
                start = stretch.end;
                found.push(stretch);
            }
            None => start += 1,
        }
    }
    found
}

/// The end of the longest stretch from `start` on.
fn longest(steps: &Steps<'_>, classes: &[NodeClass], is_work: &[bool], start: usize) -> Option<usize> {
    let mut kernel = Kernel::new(steps.graph(), &steps.memory, classes);
    let (mut work, mut end) = (0, None);
    // What is read of the steps so far, oldest first: a later step may make it the stretch's own business.
    let mut visible: Vec<ValueId> = vec![];
    let mut inputs: Vec<ValueId> = vec![];
    for (number, step) in steps.list.iter().enumerate().skip(start).take(MOST_STEPS) {
        if step.excluded.is_some() || !step.nodes.clone().all(|node| kernel.take(node)) {
            break;
        }
        let from_outside =
            step.reads.iter().filter(|&&tensor| steps.origin(tensor).is_none_or(|origin| origin < start));
        for &tensor in from_outside {
            if !inputs.contains(&tensor) {
                inputs.push(tensor);
            }
        }
        if inputs.len() > MOST_INPUTS {
            break;
        }
        work += usize::from(is_work[number]);
        visible.extend(step.defines.iter().chain(&step.writes));
        let behind = number + 1;
        visible.retain(|&tensor| steps.is_memory_read_from(behind, tensor));
        if work >= 2 && kernel.can_write(visible.iter().copied()) {
            end = Some(behind);
        }
    }
    end
}

/// Without free steps in front that nothing inside reads, and without those behind that read nothing inside.
fn trimmed(steps: &Steps<'_>, is_work: &[bool], stretch: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = stretch;
    let reads = |step: &Step, from: &Step| step.reads.iter().any(|tensor| from.defines.contains(tensor));
    let (list, is_free) = (&steps.list, |number: usize| !is_work[number]);
    while start < end && is_free(start) && !list[start + 1..end].iter().any(|step| reads(step, &list[start])) {
        start += 1;
    }
    while start < end && is_free(end - 1) && !list[start..end - 1].iter().any(|step| reads(&list[end - 1], step)) {
        end -= 1;
    }
    start..end
}
