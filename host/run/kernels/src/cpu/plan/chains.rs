//! Steps on points whose results only the next of them reads: one loop for all, where one is compiled.

use super::build::{PlanBuilder, is_narrow_float};
use super::{Action, Place, Step};
use crate::cpu::chain::{Chain, FORMS, Form, Link, OPERANDS, Output};
use crate::cpu::compute::Code;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, ReduceOp, Unary};
use std::collections::HashMap;

/// A chain in the making.
#[derive(Debug, Clone, Default)]
struct Draft {
    links: Vec<Link>,
    sources: Vec<Place>,
    /// A bit for each source that is narrow.
    narrow: u8,
    dtype: Option<Dtype>,
    rounds: Option<bool>,
    narrows: bool,
    sums: bool,
    /// What others read though it is summed.
    written: Option<Place>,
    /// The steps that it stands for, and what the last of them gives.
    steps: Vec<usize>,
    value: Option<Place>,
}

impl PlanBuilder<'_> {
    /// Makes chains of the steps on the points of a segment. What is `kept`, by node, is written in any case.
    pub(super) fn chained(&self, steps: Vec<Step>, kept: &[bool]) -> Vec<Step> {
        let mut readers: HashMap<Place, Vec<usize>> = HashMap::new();
        for (at, step) in steps.iter().enumerate() {
            step.sources.iter().for_each(|place| readers.entry(*place).or_default().push(at));
        }
        let kept_at = |place: Place| self.computing(place).is_some_and(|node| kept[node]);
        let mut found = vec![];
        for at in 0..steps.len() {
            let (mut draft, mut best, mut next) = (Draft::default(), None, Some(at));
            while let Some(at) = next
                && self.extend(&mut draft, &steps[at]).is_some()
            {
                draft.steps.push(at);
                let target = steps[at].target;
                let later = |place| readers[&place].iter().all(|reader| draft.steps.contains(reader) || *reader > at);
                if draft.written.is_none_or(|place| draft.sums && later(place)) {
                    best = draft.chain().map(|chain| (chain, draft.clone())).or(best);
                }
                let Some(all) = readers.get(&target).filter(|_| steps[at].into.is_none() && !draft.sums) else { break };
                if kept_at(target) && draft.written.is_none() {
                    draft.written = Some(target);
                } else if kept_at(target) || all.iter().any(|reader| *reader != all[0]) {
                    break;
                }
                next = Some(all[0]);
            }
            found.extend(best);
        }
        // Long ones first: a step is in one chain.
        found.sort_by_key(|(_, draft)| std::cmp::Reverse(draft.steps.len()));
        let mut chained: Vec<Option<Step>> = steps.iter().cloned().map(Some).collect();
        let mut free = vec![true; steps.len()];
        for (chain, draft) in found {
            if !draft.steps.iter().all(|at| free[*at]) {
                continue;
            }
            draft.steps.iter().for_each(|at| (free[*at], chained[*at]) = (false, None));
            let last = draft.steps[draft.steps.len() - 1];
            let (action, places, sources) = (Action::Chain(chain), draft.written, draft.sources);
            chained[last] = Some(Step { action, places, sources, round: None, ..steps[last].clone() });
        }
        let mut chained: Vec<Step> = chained.into_iter().flatten().collect();
        let read: Vec<Place> = chained.iter().flat_map(|step| step.sources.clone()).collect();
        chained.retain(|step| !matches!(step.action, Action::Spread) || read.contains(&step.target));
        chained
    }

    /// Adds what a step does with what the steps before it give; none if no loop does so.
    fn extend(&self, draft: &mut Draft, step: &Step) -> Option<()> {
        let value = draft.value.replace(step.target);
        let (link, narrow, dtype) = match (&step.action, value) {
            _ if draft.narrows => return None,
            (Action::Compute(Code::Convert(from, Dtype::F32)), None) if is_narrow_float(*from) => {
                (draft.sources, draft.narrow) = (step.sources.clone(), 1);
                return draft.agree(*from).filter(|_| step.round.is_none());
            }
            (Action::Compute(Code::Convert(Dtype::F32, to)), Some(_)) if is_narrow_float(*to) => {
                draft.narrows = true;
                return draft.agree(*to);
            }
            (Action::Reduce(ReduceOp::Sum, Dtype::F32), Some(_)) => {
                draft.sums = true;
                return Some(());
            }
            _ if draft.written.is_some() => return None,
            (Action::Compute(Code::Binary(op, Dtype::F32)), _) => (binary(*op)?, [false; 3], step.round),
            (Action::Compute(Code::Narrow(op, dtype, narrow)), _) => (binary(*op)?, *narrow, Some(*dtype)),
            (Action::Compute(Code::Unary(Unary::Exp, Dtype::F32)), _) => (Link::Exp, [false; 3], step.round),
            (Action::Compute(Code::Unary(Unary::Erf, Dtype::F32)), _) => (Link::Erf, [false; 3], step.round),
            (Action::Compute(Code::Unary(Unary::Tanh, Dtype::F32)), _) => (Link::Tanh, [false; 3], step.round),
            (Action::Compute(Code::Fma(Dtype::F32)), _) => (Link::Fma, [false; 3], step.round),
            _ => return None,
        };
        dtype.map_or(Some(()), |dtype| draft.agree(dtype))?;
        draft.narrows = narrow[2];
        // What is narrow at the end is rounded by that.
        if !draft.narrows && *draft.rounds.get_or_insert(step.round.is_some()) != step.round.is_some() {
            return None;
        }
        let (mut operands, all) = (step.sources.iter().copied().zip(narrow).collect::<Vec<_>>(), step.sources.len());
        let square = all == 2 && link == Link::Mul && step.sources[0] == step.sources[1];
        if let Some(value) = value {
            operands.retain(|(place, _)| *place != value);
            let first = step.sources[0] == value
                || matches!(link, Link::Add | Link::Mul | Link::Fma) && step.sources[1] == value;
            if !first || !square && operands.len() + 1 != all {
                return None;
            }
        } else if square {
            operands.truncate(1);
        }
        for (place, narrow) in operands {
            if draft.sources.len() == OPERANDS {
                return None;
            }
            draft.narrow |= u8::from(narrow) << draft.sources.len();
            draft.sources.push(self.spread(place).unwrap_or(place));
        }
        draft.links.push(if square { Link::Square } else { link });
        Some(())
    }

    /// The value of a row that a step repeats at its points.
    pub(super) fn spread(&self, place: Place) -> Option<Place> {
        let step = &self.nodes[self.computing(place)?].step;
        let is_float = |place: &Place| self.values[place.number()].dtype == Dtype::F32;
        step.sources.first().copied().filter(|row| matches!(step.action, Action::Spread) && is_float(row))
    }
}

impl Draft {
    /// All that is narrow is of one type.
    fn agree(&mut self, dtype: Dtype) -> Option<()> {
        (*self.dtype.get_or_insert(dtype) == dtype).then_some(())
    }

    /// The loop for it. Of rows that are shorter than a group there is none.
    fn chain(&self) -> Option<Chain> {
        let by_row = |place: &Place| matches!(place, Place::Row(_));
        let one = |place: &Place| !matches!(place, Place::Point(_));
        let rows = self.sources.iter().enumerate().fold(0, |rows, (at, place)| rows | u8::from(one(place)) << at);
        let output = match (self.sums, self.written) {
            (true, Some(_)) => Output::SumAndWide,
            (true, None) => Output::Sum,
            (false, _) if self.narrows => Output::Narrow,
            (false, _) => Output::Wide,
        };
        let fits = |form: &Form| match self.dtype {
            Some(_) => {
                form.narrow == self.narrow
                    && self.rounds.is_none_or(|rounds| rounds == form.rounds)
                    && form.output == output
            }
            None => output == if form.output == Output::Narrow { Output::Wide } else { form.output },
        };
        let pays = self.steps.len() > 1 || self.sources.iter().any(by_row);
        let form =
            FORMS.iter().position(|form| pays && *form.links == *self.links && form.rows == rows && fits(form))?;
        Some(Chain { form, dtype: self.dtype.unwrap_or(Dtype::F32) })
    }
}

fn binary(op: Binary) -> Option<Link> {
    Some(match op {
        Binary::Add => Link::Add,
        Binary::Sub => Link::Sub,
        Binary::Mul => Link::Mul,
        Binary::Div => Link::Div,
        Binary::Max => Link::Max,
        _ => return None,
    })
}
