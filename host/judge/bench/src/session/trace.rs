//! Which node of a rewrite makes it wrong. Both graphs run once more, with all values that correspond as outputs; the
//! first node is named that gives something else although what it reads is right. What is right on inputs of another scale
//! or on unusual ones is judged as the verdict judges outputs there.

use super::ReferenceSession;
use super::checks::{SCALED, is_amplified, keeps};
use super::drawn::DrawnInputs;
use super::edge_cases::{allowed, is_suspect};
use crate::blame::of_rewrite;
use crate::compare::{OutputComparison, unravel};
use crate::contested::wrong;
use crate::edge_cases::EdgeCaseDraw;
use crate::held::HeldTensor;
use crate::inputs::Round;
use crate::judge::float_kind;
use crate::precision::{can_judge, judge};
use passhost_ir::{
    Conversions, Dtype, Graph, Node, NodeId, NodeKind, OpTable, TensorType, ValueId, counterparts, functionalise,
    in_double,
};
use passhost_protocol::device::{RewriteError, RewriteJob};
use passhost_result::{DivergentNode, OutputReport, ShownBy};
use passhost_runtime::{Hints, KERNEL, Mode, NodeError};
use passhost_torch::Program;
use std::collections::BTreeSet;

/// Nodes that are listed beside the one that is named, at most.
const UNKNOWN: usize = 8;

/// Values of a rewrite beside those that they stand for.
struct Pairs<'a> {
    original: &'a Graph,
    rewritten: &'a Graph,
    /// Of the rewrite: the schedules of its kernels.
    hints: Hints,
    /// In the order of their definition.
    pairs: Vec<(ValueId, ValueId)>,
}

/// What is known of a value of the rewrite.
enum ValueVerdict {
    Right,
    Wrong(Box<OutputReport>),
    Unknown,
}

/// What both programs give for the values that correspond, in the order of [`Pairs::pairs`].
struct Both {
    rewritten: Vec<HeldTensor>,
    expected: Vec<HeldTensor>,
}

impl ReferenceSession {
    /// The node that makes a rewrite wrong: on the inputs that showed it, else in the first ordinary round that does. `None`
    /// if no node can be named, or all values at once take more memory than there is for a rewrite.
    pub fn trace(&self, job: &RewriteJob, shown_by: &ShownBy) -> Result<Option<DivergentNode>, RewriteError> {
        let (seed, rounds) = (job.draws.seed, job.settings.rounds);
        let Ok(original) = functionalise(&self.graph, OpTable::sample()) else { return Ok(None) };
        let Some(original) = original.graph.compact() else { return Ok(None) };
        let pairs = Pairs::new(&original, job);
        if pairs.bytes() > job.settings.rewrite_bytes {
            return Ok(None);
        }
        // With the way in which an input is unusual, if it has not just another scale.
        let shown = match shown_by {
            ShownBy::Ordinary => None,
            ShownBy::Scaled { input } => {
                let scaled = self.specs.iter().position(|spec| spec.name == *input);
                let drawn = scaled.map(|_| self.drawn(Round { seed, number: rounds, scaled })).transpose()?;
                drawn.map(|drawn| (drawn, None))
            }
            ShownBy::EdgeCase { input, draw } => {
                self.edge_cases(seed, input, draw)?.map(|(drawn, domain)| (drawn, Some(domain)))
            }
        };
        if let Some((drawn, domain)) = shown {
            let ordinary = self.ordinary(&pairs, seed, rounds)?;
            let found = self.trace_edge_case(&pairs, &drawn, domain, &ordinary)?;
            return Ok(found.map(|found| DivergentNode { shown_by: shown_by.clone(), ..found }));
        }
        for number in 0..rounds {
            let drawn = self.drawn(Round { seed, number, scaled: None })?;
            if let Some(found) = self.trace_ordinary(&pairs, &drawn)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn trace_ordinary(&self, pairs: &Pairs<'_>, drawn: &DrawnInputs) -> Result<Option<DivergentNode>, RewriteError> {
        let both = self.both(pairs, drawn)?;
        let mut verdicts = pairs.compared(self, &both);
        if !pairs.is_any_output_wrong(&verdicts) {
            // Right at t = -5, and less precise than eager all the same.
            let Some(truth) = self.truth_of_values(pairs, drawn) else { return Ok(None) };
            pairs.hold_against_truth(&mut verdicts, &both, &truth);
        }
        Ok(pairs.first_divergent(&verdicts))
    }

    /// Values where an input is unusual in this way, as the verdict judges outputs there. Where it has another scale, outputs
    /// are judged as the verdict does, and what they are made of as on large inputs. `ordinary` has the tolerance that each
    /// value needs on ordinary inputs.
    fn trace_edge_case(
        &self,
        pairs: &Pairs<'_>,
        drawn: &DrawnInputs,
        domain: Option<EdgeCaseDraw>,
        ordinary: &[Option<i8>],
    ) -> Result<Option<DivergentNode>, RewriteError> {
        let both = self.both(pairs, drawn)?;
        let truth = self.truth_of_values(pairs, drawn);
        let judged = ordinary.iter().enumerate().map(|(at, &ordinary)| {
            let (ty, pair) = (pairs.ty(at), [&both.rewritten[at], &both.expected[at]]);
            let truth = truth.as_ref().map(|truth| &truth[at]);
            match domain {
                None if pairs.is_output(at) => self.judged_scaled(ty, ordinary, pair, truth),
                _ => self.judged_edge_case(ty, (ordinary, domain.unwrap_or(EdgeCaseDraw::Large)), pair, truth),
            }
        });
        Ok(pairs.first_divergent(&pairs.verdicts(judged)))
    }

    /// What an output is where an input has another scale: unknown where that says nothing of it.
    fn judged_scaled(
        &self,
        ty: &TensorType,
        ordinary: Option<i8>,
        [rewritten, expected]: [&HeldTensor; 2],
        truth: Option<&HeldTensor>,
    ) -> ValueVerdict {
        if !keeps(ordinary) {
            return ValueVerdict::Unknown;
        }
        if keeps(OutputComparison::new(ty.clone()).add(&self.device, rewritten, expected)) {
            return ValueVerdict::Right;
        }
        let is_amplified = truth.is_some_and(|truth| is_amplified(ty, [rewritten, expected, truth]));
        let found = beyond(ty, SCALED, [rewritten, expected]).filter(|_| !is_amplified);
        verdict_of(ty, [rewritten, expected], found)
    }

    /// What a value is where an input is unusual: unknown where that says nothing of it.
    fn judged_edge_case(
        &self,
        ty: &TensorType,
        (ordinary, domain): (Option<i8>, EdgeCaseDraw),
        [rewritten, expected]: [&HeldTensor; 2],
        truth: Option<&HeldTensor>,
    ) -> ValueVerdict {
        let Some(allowed) = allowed(ordinary) else { return ValueVerdict::Unknown };
        if !is_suspect(&self.device, ty, allowed, [rewritten, expected]) {
            return ValueVerdict::Right;
        }
        let found = truth.and_then(|truth| wrong(ty, (allowed, domain), [rewritten, expected, truth], None));
        verdict_of(ty, [rewritten, expected], found)
    }

    /// The tolerance that each value needs in the ordinary rounds.
    fn ordinary(&self, pairs: &Pairs<'_>, seed: u64, rounds: u32) -> Result<Vec<Option<i8>>, RewriteError> {
        let types = (0..pairs.pairs.len()).map(|at| pairs.ty(at).clone());
        let mut comparisons: Vec<OutputComparison> = types.map(OutputComparison::new).collect();
        for number in 0..rounds {
            let both = self.both(pairs, &self.drawn(Round { seed, number, scaled: None })?)?;
            for (at, comparison) in comparisons.iter_mut().enumerate() {
                comparison.add(&self.device, &both.rewritten[at], &both.expected[at]);
            }
        }
        Ok(comparisons.iter().map(OutputComparison::passes_at).collect())
    }

    fn both(&self, pairs: &Pairs<'_>, drawn: &DrawnInputs) -> Result<Both, RewriteError> {
        let (before, after): (Vec<ValueId>, Vec<ValueId>) = pairs.pairs.iter().copied().unzip();
        let expected = self.values(pairs.original, &before, (Mode::Found, &Hints::default()), drawn)?;
        let rewritten = self.values(pairs.rewritten, &after, (Mode::Declared, &pairs.hints), drawn)?;
        Ok(Both { rewritten, expected })
    }

    /// What the values of the original are in double precision, where they can be run in it.
    fn truth_of_values(&self, pairs: &Pairs<'_>, drawn: &DrawnInputs) -> Option<Vec<HeldTensor>> {
        let outputs = pairs.pairs.iter().map(|(before, _)| *before).collect();
        let shown = in_double(&Graph { outputs, ..pairs.original.clone() }, Conversions::Dropped);
        let program = Program::compile(&shown, Mode::Found, &Hints::default(), self.device.context()).ok()?;
        self.run_in_double(&program, drawn).ok()
    }

    /// What some values of a graph are, all at once.
    fn values(
        &self,
        graph: &Graph,
        values: &[ValueId],
        (mode, hints): (Mode, &Hints),
        drawn: &DrawnInputs,
    ) -> Result<Vec<HeldTensor>, RewriteError> {
        let shown = Graph { outputs: values.to_vec(), ..graph.clone() };
        let run = || -> Result<Vec<HeldTensor>, NodeError> {
            let program = Program::compile(&shown, mode, hints, self.device.context())?;
            let inputs = drawn.tensors(self.device.target(), &self.specs).map_err(super::drawn::no_input)?;
            let outputs = program.run(&inputs)?;
            program.finish()?;
            Ok(self.held(&outputs))
        };
        run().map_err(of_rewrite)
    }
}

impl<'a> Pairs<'a> {
    fn new(original: &'a Graph, job: &'a RewriteJob) -> Pairs<'a> {
        let rewritten = &job.rewrite;
        let hints = Hints { schedules: job.schedules.iter().cloned().collect(), ..Hints::default() };
        let known = counterparts(original, rewritten);
        let defined = rewritten.nodes.iter().flat_map(|node| &node.outputs);
        let pairs = defined.filter_map(|&after| Some((known[after.index()]?, after))).collect();
        Pairs { original, rewritten, hints, pairs }
    }

    fn ty(&self, at: usize) -> &TensorType {
        self.original.ty(self.pairs[at].0)
    }

    fn is_output(&self, at: usize) -> bool {
        self.rewritten.outputs.contains(&self.pairs[at].1)
    }

    /// Of the values of three runs, which are held together: of both graphs, and of one in double precision.
    fn bytes(&self) -> u64 {
        let each = (0..self.pairs.len()).map(|at| {
            let ty = self.ty(at);
            let double = if ty.dtype.is_complex() { Dtype::C128 } else { Dtype::F64 };
            let truth = ty.numel().saturating_mul(double.size());
            ty.bytes().saturating_mul(2).saturating_add(truth)
        });
        each.fold(0, u64::saturating_add)
    }

    /// Of every value of the rewrite: inputs are right, and of what corresponds to nothing nothing is known.
    fn verdicts(&self, judged: impl Iterator<Item = ValueVerdict>) -> Vec<ValueVerdict> {
        let mut verdicts: Vec<ValueVerdict> = self.rewritten.values.iter().map(|_| ValueVerdict::Unknown).collect();
        self.rewritten.inputs.iter().for_each(|input| verdicts[input.index()] = ValueVerdict::Right);
        self.pairs.iter().zip(judged).for_each(|((_, after), judged)| verdicts[after.index()] = judged);
        verdicts
    }

    fn compared(&self, reference: &ReferenceSession, both: &Both) -> Vec<ValueVerdict> {
        let judged = both.rewritten.iter().zip(&both.expected).enumerate().map(|(at, (own, expected))| {
            let mut comparison = OutputComparison::new(self.ty(at).clone());
            comparison.add(&reference.device, own, expected);
            let report = comparison.into_report();
            if report.wrong > 0 { ValueVerdict::Wrong(Box::new(report)) } else { ValueVerdict::Right }
        });
        self.verdicts(judged)
    }

    /// Takes as wrong what is further from a run in double precision than eager's own error explains.
    fn hold_against_truth(&self, verdicts: &mut [ValueVerdict], both: &Both, truth: &[HeldTensor]) {
        for (at, &(_, after)) in self.pairs.iter().enumerate() {
            let (ty, three) = (self.ty(at), [&both.rewritten[at], &both.expected[at], &truth[at]]);
            if can_judge(ty, &truth[at]) && judge(ty, three).0.is_some() {
                verdicts[after.index()] = ValueVerdict::Wrong(Box::new(furthest(ty, three)));
            }
        }
    }

    fn is_any_output_wrong(&self, verdicts: &[ValueVerdict]) -> bool {
        self.rewritten.outputs.iter().any(|output| matches!(verdicts[output.index()], ValueVerdict::Wrong(_)))
    }

    /// The first node on the way to a wrong output that reads nothing wrong.
    fn first_divergent(&self, verdicts: &[ValueVerdict]) -> Option<DivergentNode> {
        let definitions = self.rewritten.definitions();
        let is_wrong = |value: &ValueId| matches!(verdicts[value.index()], ValueVerdict::Wrong(_));
        let mut left: Vec<ValueId> = self.rewritten.outputs.iter().copied().filter(is_wrong).collect();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut first: Option<(usize, BTreeSet<usize>)> = None;
        while let Some(value) = left.pop() {
            let Some(position) = definitions[value.index()].filter(|position| seen.insert(*position)) else { continue };
            let (unknown, wrong) = self.read_by(position, &definitions, verdicts);
            if wrong.is_empty() && first.as_ref().is_none_or(|(earliest, _)| position < *earliest) {
                first = Some((position, unknown));
            }
            left.extend(wrong);
        }
        let (position, unknown) = first?;
        self.describe(position, &unknown, verdicts)
    }

    /// What a node reads, also by way of nodes of which nothing is known: these, and the values that are wrong.
    fn read_by(
        &self,
        position: usize,
        definitions: &[Option<usize>],
        verdicts: &[ValueVerdict],
    ) -> (BTreeSet<usize>, Vec<ValueId>) {
        let (mut unknown, mut wrong) = (BTreeSet::new(), vec![]);
        let mut left = self.rewritten.nodes[position].operands();
        while let Some(value) = left.pop() {
            match &verdicts[value.index()] {
                ValueVerdict::Right => {}
                ValueVerdict::Wrong(_) => wrong.push(value),
                ValueVerdict::Unknown => {
                    if let Some(definition) = definitions[value.index()].filter(|at| unknown.insert(*at)) {
                        left.extend(self.rewritten.nodes[definition].operands());
                    }
                }
            }
        }
        (unknown, wrong)
    }

    fn describe(&self, position: usize, unknown: &BTreeSet<usize>, verdicts: &[ValueVerdict]) -> Option<DivergentNode> {
        let nodes = &self.rewritten.nodes;
        let node = &nodes[position];
        let (value, report) = node.outputs.iter().find_map(|value| match &verdicts[value.index()] {
            ValueVerdict::Wrong(report) => Some((*value, report)),
            _ => None,
        })?;
        let (before, _) = self.pairs.iter().find(|(_, after)| *after == value)?;
        Some(DivergentNode {
            node: node.id,
            op: op_of(node),
            is_kept: self.original.nodes.iter().any(|original| original.id == node.id),
            value: self.rewritten.value(value).name.clone(),
            original: self.original.value(*before).name.clone(),
            element: report.first_wrong.clone()?,
            rewritten: report.first_wrong_value?.to_string(),
            expected: report.first_wrong_reference?.to_string(),
            wrong: report.wrong,
            elements: report.elements,
            shown_by: ShownBy::Ordinary,
            unknown: unknown.iter().map(|&at| nodes[at].id).take(UNKNOWN).collect::<Vec<NodeId>>(),
        })
    }
}

fn op_of(node: &Node) -> String {
    match &node.kind {
        NodeKind::Aten { op, .. } => op.to_string(),
        NodeKind::Kernel { .. } => KERNEL.to_owned(),
    }
}

/// The first element that is beyond the tolerance of `t`, and how many are.
fn beyond(ty: &TensorType, t: i8, [rewritten, expected]: [&HeldTensor; 2]) -> Option<(usize, usize)> {
    let (own, expected) = (rewritten.elements().to_f64(), expected.elements().to_f64());
    let tolerance = float_kind(ty.dtype).map(|kind| passhost_score::tolerance(kind, f64::from(t)));
    let is_beyond = |at: &usize| match tolerance {
        Some(tolerance) => !passhost_score::is_close(own[*at], expected[*at], tolerance),
        None => own[*at] != expected[*at],
    };
    let mut places = (0..own.len()).filter(is_beyond);
    places.next().map(|first| (first, 1 + places.count()))
}

/// By the first wrong element, and how many there are: unknown where there is none.
fn verdict_of(ty: &TensorType, pair: [&HeldTensor; 2], found: Option<(usize, usize)>) -> ValueVerdict {
    found.map_or(ValueVerdict::Unknown, |(first, count)| ValueVerdict::Wrong(Box::new(report(ty, pair, first, count))))
}

/// A report of so many wrong elements, and one of them.
fn report(ty: &TensorType, [rewritten, expected]: [&HeldTensor; 2], at: usize, wrong: usize) -> OutputReport {
    let mut report = OutputComparison::new(ty.clone()).into_report();
    report.elements = ty.numel();
    report.wrong = wrong as u64;
    report.first_wrong = Some(unravel(at, &ty.shape));
    report.first_wrong_value = Some(rewritten.elements().get(at));
    report.first_wrong_reference = Some(expected.elements().get(at));
    report
}

/// A report whose first wrong element is the one that lies furthest from the truth.
fn furthest(ty: &TensorType, [rewritten, expected, truth]: [&HeldTensor; 3]) -> OutputReport {
    let [own, eager, truth] = [rewritten, expected, truth].map(|held| held.elements().to_f64());
    let error = |at: usize| (own[at] - truth[at]).abs();
    let worst = (0..own.len()).filter(|&at| error(at).is_finite()).max_by(|&a, &b| error(a).total_cmp(&error(b)));
    let different = (0..own.len()).filter(|&at| own[at] != eager[at]).count();
    report(ty, [rewritten, expected], worst.unwrap_or(0), different)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
