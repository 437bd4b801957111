//! Other sizes: walks the calls in order and rewrites the literals that bake in a size.

use super::VaryRefusal;
use super::candidate::CandidateProgram;
use super::extents::{At, Extents, SizeStep};
use super::positions::Positions;
use super::reshape::{Reshape, Size};
use crate::fx::{CallTarget, Expr, TraceNode, ValueRef};
use crate::python::PythonSource;
use crate::reading::Reading;
use crate::value::PyValue;
use crate::weights::Weight;
use passhost_ir::Infer;
use passhost_ir::dims::wrap;

/// The program with the symbol changed, whose parameters have these records now.
pub fn resized(
    source: &PythonSource<'_>,
    before: &Reading,
    weights: Vec<Weight>,
    step: &SizeStep,
    infer: &mut dyn Infer,
) -> Result<Reading, VaryRefusal> {
    let mut candidate = CandidateProgram::new(source, before, weights, infer)?;
    let (mut extents, mut positions) = (Extents::default(), Positions::default());
    for position in 0..before.program.parameters.len() {
        candidate.each(ValueRef(position as u32), &mut |before, now| extents.note(before, now));
    }
    for (position, old) in before.program.nodes.iter().enumerate() {
        let mut node = candidate.moved(position);
        let call = SizedCall { candidate: &candidate, extents: &extents, step, old, position };
        call.follow(&mut node).map_err(|reason| candidate.unclear(old, &reason))?;
        let result = candidate.push(node.clone())?;
        positions.note(&candidate, &node, result).map_err(|reason| candidate.unclear(old, &reason))?;
        let parts = candidate.each(before.program.result(position), &mut |before, now| extents.note(before, now));
        if let Some((before, now)) = parts {
            let reason = format!("it returns {now} tensors instead of {before}, and the program uses {before}");
            return Err(candidate.unclear(old, &reason));
        }
    }
    Ok(candidate.finish()?)
}

/// A call, which may take sizes.
pub struct SizedCall<'c, 'a, 'i> {
    pub candidate: &'c CandidateProgram<'a, 'i>,
    extents: &'c Extents,
    pub step: &'c SizeStep,
    /// As it was.
    old: &'c TraceNode,
    position: usize,
}

impl SizedCall<'_, '_, '_> {
    /// Rewrites the sizes of `node`, which is the call on the values of the variant: the one table of calls that take
    /// sizes.
    fn follow(&self, node: &mut TraceNode) -> Result<(), String> {
        if matches!(node.target, CallTarget::GetItem | CallTarget::SetItem) {
            self.subscript(node);
        }
        match node.target.called().unwrap_or_default() {
            // Sizes of a result that has the elements of the operand, or of one dimension of it.
            "view" | "reshape" => return self.reshape(node),
            "unflatten" => return self.unflatten(node),
            "split" | "split_with_sizes" => return self.split(node),
            // Sizes and strides in memory mean something else in another shape.
            "as_strided" => {
                if let Some((from, to)) = self.operand(node).filter(|(from, to)| from != to) {
                    return Err(format!(
                        "its operand becomes {to:?} instead of {from:?}; sizes and strides in memory do not follow"
                    ));
                }
            }
            "expand" | "broadcast_to" => self.expand(node),
            "repeat" | "tile" => self.repeat(node),
            "zeros" | "ones" | "empty" | "full" | "rand" | "randn" | "eye" => self.construct(node, 0),
            "new_zeros" | "new_ones" | "new_empty" | "new_full" => self.construct(node, 1),
            "arange" => self.arange(node),
            "narrow" => self.each_literal(sizes(node, 3, &["length"]), |size, _| self.exact(size, None)),
            "interpolate" | "upsample" | "fold" => self.resample(node),
            // The number of batches of a `vmap`.
            "_remove_batch_dim" => {
                let size = node.args.get_mut(2).map(std::slice::from_mut).unwrap_or_default();
                self.each_literal(size, |size, _| self.exact(size, None));
            }
            _ => {}
        }
        Ok(())
    }

    /// Sizes of a new tensor, behind this many other arguments.
    fn construct(&self, node: &mut TraceNode, first: usize) {
        self.each_literal(sizes(node, first, &["size"]), |size, _| self.nearly(size, None));
    }

    /// What a number of elements becomes, if that is clear.
    pub fn exact(&self, size: i64, at: Option<At>) -> Option<i64> {
        self.step.follow(size, at, self.extents)
    }

    /// The same, for lengths that may have one more or less.
    pub fn nearly(&self, size: i64, at: Option<At>) -> Option<i64> {
        self.step.follow_nearly(size, at, self.extents)
    }

    /// The shapes of the first argument before and now.
    pub fn operand(&self, node: &TraceNode) -> Option<(&[i64], &[i64])> {
        self.candidate.shapes(self.old.args.first()?, node.args.first()?)
    }

    /// Rewrites each literal by its value and its position.
    pub fn each_literal(&self, sizes: &mut [Expr], rewrite: impl Fn(i64, usize) -> Option<i64>) {
        for (position, size) in sizes.iter_mut().enumerate() {
            if let Expr::Int(literal) = size
                && let Some(now) = rewrite(*literal, position)
            {
                *literal = now;
            }
        }
    }

    /// The sizes as they are written, if all of them are numbers.
    pub fn read(&self, sizes: &[Expr]) -> Option<Vec<Size>> {
        let size = |size: &Expr| match size {
            Expr::Int(size) => Some(Size::Literal(*size)),
            other => self.candidate.evaluate(other).int().map(Size::Known),
        };
        sizes.iter().map(size).collect()
    }

    fn reshape(&self, node: &mut TraceNode) -> Result<(), String> {
        let (Some((from, to)), Some(result)) = (self.operand(node), self.candidate.result_before(self.position)) else {
            return Ok(());
        };
        self.reshaped(from, to, result, sizes(node, 1, &["shape", "size"]))
    }

    fn unflatten(&self, node: &mut TraceNode) -> Result<(), String> {
        let dim = node.args.get(1).map(|dim| self.candidate.evaluate(dim));
        let (Some((from, to)), Some(PyValue::Int(dim))) = (self.operand(node), dim) else { return Ok(()) };
        let Some(dim) = wrap(dim, from.len()) else { return Ok(()) };
        let (Some(&to), Some(result)) = (to.get(dim), self.candidate.result_before(self.position)) else {
            return Ok(());
        };
        let written = sizes(node, 2, &["sizes"]);
        match result.get(dim..dim.saturating_add(written.len())) {
            Some(result) => self.reshaped(&[from[dim]], &[to], result, written),
            None => Ok(()),
        }
    }

    fn reshaped(&self, from: &[i64], to: &[i64], result: &[i64], written: &mut [Expr]) -> Result<(), String> {
        let Some(sizes) = self.read(written) else { return Ok(()) };
        let is_empty = from.contains(&0) || to.contains(&0) || sizes.len() != result.len();
        if from == to || is_empty {
            return Ok(());
        }
        let reshape = Reshape { from, to, sizes: &sizes, result };
        let now = reshape.follow(self.step, self.extents)?;
        self.each_literal(written, |_, position| now.get(position).copied());
        Ok(())
    }

    /// A size that does not expand its dimension follows the operand. In a batch of one, a leading 1 on an operand that
    /// does not change is the batch: where there is one, `expand(1, -1, -1)` of a class token does nothing, and it is
    /// there for batches of more. Other sizes follow where they are clear, else they stay and the calls behind decide.
    fn expand(&self, node: &mut TraceNode) {
        let Some((from, to)) = self.operand(node) else { return };
        let written = sizes(node, 1, &["size", "shape"]);
        let rank = written.len();
        let Some(leading) = rank.checked_sub(from.len()) else { return };
        self.each_literal(written, |size, position| {
            let extent = position.checked_sub(leading).map_or((1, 1), |dim| (from[dim], to[dim]));
            match extent {
                (old, new) if old == size && old != new => Some(new),
                (1, 1) if size == 1 && position == 0 => self.batch(from, to),
                (1, _) => self.exact(size, Some((rank, position))),
                _ => None,
            }
        });
    }

    /// A leading count of 1 is the batch as in an expand, unless something is repeated along another dimension.
    fn repeat(&self, node: &mut TraceNode) {
        let Some((from, to)) = self.operand(node) else { return };
        let written = sizes(node, 1, &["repeats", "dims"]);
        let Some(leading) = written.len().checked_sub(from.len()) else { return };
        self.each_literal(written, |count, position| {
            let extent = position.checked_sub(leading).map_or((1, 1), |dim| (from[dim], to[dim]));
            match extent {
                (1, 1) if count == 1 && position == 0 => self.batch(from, to),
                (old, new) if old == new && count == self.step.from => self.exact(count, None),
                _ => None,
            }
        });
    }

    /// The new batch, where a leading 1 means the batch.
    fn batch(&self, from: &[i64], to: &[i64]) -> Option<i64> {
        (self.step.from == 1 && self.step.is_alone() && from == to).then_some(self.step.to)
    }

    /// The size of the operand itself, or one that is clear for a dimension of this kind.
    fn resample(&self, node: &mut TraceNode) {
        let Some((from, to)) = self.operand(node) else { return };
        let written = match node.args.get(1) {
            Some(Expr::List(_) | Expr::Tuple(_)) | None => sizes(node, 1, &["size", "output_size"]),
            // One number, and further arguments behind it.
            Some(_) => &mut node.args[1..2],
        };
        let count = written.len();
        self.each_literal(written, |size, position| {
            // One number stands for all dimensions of an image.
            let dim = if count == 1 { 2 } else { 2 + position };
            match (from.get(dim), to.get(dim)) {
                (Some(&old), Some(&new)) if old == size && old != new => Some(new),
                _ => self.exact(size, Some((from.len(), dim))),
            }
        });
    }
}

/// The sizes of a call: a list at this position, the arguments from there on, or an argument by name.
pub fn sizes<'n>(node: &'n mut TraceNode, first: usize, names: &[&str]) -> &'n mut [Expr] {
    if node.args.len() > first {
        return match node.args.get(first) {
            Some(Expr::List(_) | Expr::Tuple(_)) => items(&mut node.args[first]),
            _ => &mut node.args[first..],
        };
    }
    match node.kwargs.iter_mut().find(|(name, _)| names.contains(&name.as_str())) {
        Some((_, value)) => items(value),
        None => &mut [],
    }
}

/// The items of a list, or what is no list by itself.
fn items(value: &mut Expr) -> &mut [Expr] {
    match value {
        Expr::List(items) | Expr::Tuple(items) => items,
        one => std::slice::from_mut(one),
    }
}
