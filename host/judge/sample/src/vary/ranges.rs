//! Ranges, slices and parts: how what counts along one dimension follows.

use super::extents::At;
use super::reshape::Size;
use super::sizes::{SizedCall, sizes};
use crate::fx::{Expr, TraceNode};
use crate::value::PyValue;
use passhost_ir::Dtype;
use passhost_ir::dims::wrap;

impl SizedCall<'_, '_, '_> {
    /// `arange(n)`, `arange(0, n)`; elsewhere it is the length that follows: `arange(2, 2 + n)`, `arange(n - 1, -1, -1)`.
    /// `arange(1)` counts the rows of a batch of one.
    pub fn arange(&self, node: &mut TraceNode) {
        let counted = |end: i64| match end {
            1 if self.step.from == 1 && self.step.is_alone() => Some(self.step.to),
            end => self.nearly(end, None),
        };
        let end = node.kwargs.iter_mut().find(|(name, _)| name == "end").map(|(_, end)| end);
        match (&mut node.args[..], end) {
            (
                [Expr::Int(end)] | [Expr::Int(0), Expr::Int(end)] | [Expr::Int(0), Expr::Int(end), Expr::Int(1)],
                None,
            ) => {
                *end = counted(*end).unwrap_or(*end);
            }
            ([], Some(Expr::Int(end))) => {
                *end = counted(*end).unwrap_or(*end);
            }
            ([Expr::Int(start), Expr::Int(end)] | [Expr::Int(start), Expr::Int(end), Expr::Int(1)], None) => {
                if let Some(now) = self.length(*start, *end) {
                    *end = now;
                }
            }
            ([Expr::Int(start), Expr::Int(-1), Expr::Int(-1)], None) => {
                if let Some(length) = self.exact(start.saturating_add(1), None) {
                    *start = length - 1;
                }
            }
            _ => {}
        }
    }

    /// The end of a range from `start` to `end` whose length follows.
    fn length(&self, start: i64, end: i64) -> Option<i64> {
        self.exact(end.checked_sub(start)?, None)?.checked_add(start)
    }

    /// Bounds of slices. One that is the old end of its dimension stays the end.
    pub fn subscript(&self, node: &mut TraceNode) {
        let Some((from, to)) = self.operand(node) else { return };
        let Some(index) = node.args.get_mut(1) else { return };
        let items = match index {
            Expr::Tuple(items) => &mut items[..],
            one => std::slice::from_mut(one),
        };
        let takes = |item: &Expr| match self.candidate.evaluate(item) {
            PyValue::None | PyValue::Ellipsis | PyValue::Bool(_) => 0,
            PyValue::Tensor(_) => match self.candidate.ty(item) {
                Some(ty) if ty.dtype == Dtype::Bool => ty.rank(),
                _ => 1,
            },
            _ => 1,
        };
        let taken: usize = items.iter().map(takes).sum();
        let mut dim = 0;
        for item in items {
            if let Expr::Slice(parts) = item
                && let (Some(&old), Some(&new)) = (from.get(dim), to.get(dim))
            {
                self.slice(parts, (old, new), (from.len(), dim));
            }
            dim += match item {
                Expr::Ellipsis => from.len().saturating_sub(taken),
                item => takes(item),
            };
        }
    }

    fn slice(&self, [start, stop, _]: &mut [Expr; 3], (old, new): (i64, i64), at: At) {
        let begin = match start {
            Expr::Int(begin @ 0..) => *begin,
            Expr::None => 0,
            _ => return,
        };
        if let Expr::Int(end @ 1..) = stop {
            let now = match *end {
                end if end == old => (old != new).then_some(new),
                end if end > old => None,
                end if begin == 0 => self.nearly(end, Some(at)),
                end => self.length(begin, end).or_else(|| self.nearly(end, Some(at))),
            };
            *end = now.unwrap_or(*end);
        }
        // What is left behind a part of a dimension that changes.
        if let (Expr::Int(begin @ 2..), true) = (start, old != new && matches!(stop, Expr::None)) {
            *begin = self.exact(*begin, Some(at)).unwrap_or(*begin);
        }
    }

    /// Parts of a dimension that changes, whose sizes must come to its extent again.
    pub fn split(&self, node: &mut TraceNode) -> Result<(), String> {
        let given = |position: usize, name: &str| {
            node.args.get(position).or_else(|| node.kwargs.iter().find(|(key, _)| key == name).map(|(_, value)| value))
        };
        let dim = given(2, "dim").map_or(Some(0), |dim| self.candidate.evaluate(dim).int());
        let (Some((from, to)), Some(dim)) = (self.operand(node), dim) else { return Ok(()) };
        let Some(dim) = wrap(dim, from.len()) else { return Ok(()) };
        let (old, Some(&new)) = (from[dim], to.get(dim)) else { return Ok(()) };
        if old == new {
            return Ok(());
        }
        let at = (from.len(), dim);
        let keywords = ["split_size_or_sections", "split_size", "split_sizes"];
        let written = match node.args.get_mut(1) {
            Some(Expr::List(items) | Expr::Tuple(items)) => &mut items[..],
            Some(one) => std::slice::from_mut(one),
            None => sizes(node, 1, &keywords),
        };
        let Some(parts) = self.read(written) else { return Ok(()) };
        self.each_literal(written, |size, _| self.exact(size, Some(at)));
        let now = self.read(written).unwrap_or_default();
        let sum = |parts: &[Size]| parts.iter().map(Size::number).fold(0i64, i64::saturating_add);
        if sum(&parts) == old && sum(&now) != new {
            return Err(format!(
                "the dimension that it splits becomes {new} instead of {old}, and its parts do not follow clearly"
            ));
        }
        Ok(())
    }
}
