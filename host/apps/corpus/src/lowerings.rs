//! What becomes of each call of many graphs when the guest SDK lowers it by itself: a kernel, a view, or what it was.

use crate::outcome::{Failure, SampleReport};
use crate::worker::Worker;
use passhost_guest_sdk::lower::{CallCoverage, LowerError, call_coverage};
use passhost_ir::Graph;
use passhost_sample::SampleText;
use serde::Serialize;
use std::collections::BTreeMap;

/// Calls of one op.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// All of them.
    pub calls: u64,
    /// Graphs that have some.
    pub graphs: u64,
    /// Those that become a kernel.
    pub kernels: u64,
    /// Those that are views, or give back what they are given.
    pub views: u64,
    /// The others, by why they are not covered.
    pub refused: BTreeMap<String, u64>,
}

impl Calls {
    /// Takes in those of another graph, or of another overload.
    pub fn add(&mut self, other: &Calls) {
        self.calls += other.calls;
        self.graphs += other.graphs;
        self.kernels += other.kernels;
        self.views += other.views;
        for (reason, count) in &other.refused {
            *self.refused.entry(reason.clone()).or_insert(0) += count;
        }
    }
}

/// Calls by op, of one graph or of many.
pub type Lowerings = BTreeMap<String, Calls>;

/// Lowers the calls of variant `index` of a sample that somebody reads, each by itself. The graph is what a pass would
/// see.
///
/// # Errors
///
/// If it cannot be read.
pub fn lowerings(worker: &mut Worker, sample: &SampleText, index: usize) -> Result<Lowerings, Failure> {
    Ok(of_graph(&worker.load_functional(sample, index)?))
}

fn of_graph(graph: &Graph) -> Lowerings {
    let mut found = Lowerings::new();
    for (op, fate) in call_coverage(graph) {
        let of_op = found.entry(op.to_string()).or_insert_with(|| Calls { graphs: 1, ..Calls::default() });
        of_op.calls += 1;
        match fate {
            CallCoverage::Kernel => of_op.kernels += 1,
            CallCoverage::View => of_op.views += 1,
            CallCoverage::Library(error) => *of_op.refused.entry(clause(&error)).or_insert(0) += 1,
        }
    }
    found
}

/// A reason without the names of one graph, so that equal ones count together.
fn clause(error: &LowerError) -> String {
    match error {
        LowerError::NoLowering(_) => NO_LOWERING.to_owned(),
        LowerError::NotCovered(_, reason) => reason.clone(),
        LowerError::Empty(_) => "has no elements".to_owned(),
        LowerError::Layout(_) => "has a result with gaps or overlaps in memory".to_owned(),
        LowerError::Rank(..) => "has too many dimensions".to_owned(),
        LowerError::Kernel(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// The reason of an op without a lowering.
pub const NO_LOWERING: &str = "has no lowering";

/// The same over all graphs.
pub fn total(reports: &[SampleReport<Lowerings>]) -> Lowerings {
    let mut total = Lowerings::new();
    for (op, calls) in reports.iter().flat_map(SampleReport::found).flatten() {
        total.entry(op.clone()).or_default().add(calls);
    }
    total
}

/// What many graphs had of each op, as a file: a line for each op, and one for each reason below it.
///
/// ```
/// use passhost_corpus::lowerings::{Calls, Lowerings, read, write};
///
/// let refused = [("has the mode reflect".to_owned(), 1)].into();
/// let pad = Calls { calls: 5, graphs: 2, kernels: 4, views: 0, refused };
/// let found = Lowerings::from([("aten::pad".to_owned(), pad)]);
/// let text = write("of two graphs", &found);
/// assert_eq!(text, "# of two graphs\naten::pad 5 2 4 0\n  1 has the mode reflect\n");
/// assert_eq!(read(&text), Ok(found));
/// ```
pub fn write(about: &str, lowerings: &Lowerings) -> String {
    let mut text = format!("# {about}\n");
    for (op, Calls { calls, graphs, kernels, views, refused }) in lowerings {
        text.push_str(&format!("{op} {calls} {graphs} {kernels} {views}\n"));
        for (reason, count) in refused {
            text.push_str(&format!("  {count} {reason}\n"));
        }
    }
    text
}

/// Reads what [`write()`] wrote.
///
/// # Errors
///
/// The first line that is not of this form.
pub fn read(text: &str) -> Result<Lowerings, String> {
    let mut found = Lowerings::new();
    let mut last = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let read = match line.strip_prefix("  ") {
            Some(reason) => last.as_ref().and_then(|op| found.get_mut(op)).and_then(|calls: &mut Calls| {
                let (count, reason) = reason.split_once(' ')?;
                calls.refused.insert(reason.to_owned(), count.parse().ok()?);
                Some(())
            }),
            None => of_line(line).map(|(op, calls)| {
                found.insert(op.clone(), calls);
                last = Some(op);
            }),
        };
        read.ok_or_else(|| format!("expected an op and four numbers, or a number and a reason, found `{line}`"))?;
    }
    Ok(found)
}

fn of_line(line: &str) -> Option<(String, Calls)> {
    let (op, numbers) = line.split_once(' ')?;
    let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [calls, graphs, kernels, views] = numbers[..] else { return None };
    Some((op.to_owned(), Calls { calls, graphs, kernels, views, refused: BTreeMap::new() }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn calls_count_by_op_and_by_what_becomes_of_them() {
        let text = "graph(%x: f32[4,8]) {
  %a: f32[4,8] = aten::relu(%x)
  %b: f32[8,4] = aten::t(%a)
  %c: f32[8,4] = aten::relu(%b)
  %d: f32[8,4] = aten::msort(%c)
  %e: f32[2,4] = aten::linalg_norm(%d, 1)
  return (%d, %e)
}
";
        let found = of_graph(&Graph::parse(text).unwrap());
        let expected = "# of one graph
aten::linalg_norm 1 1 0 0
  1 has the norm of a matrix
aten::msort 1 1 0 0
  1 has no lowering
aten::relu 2 1 2 0
aten::t 1 1 0 1
";
        assert_eq!(write("of one graph", &found), expected);
    }

    #[test]
    fn a_line_of_another_form_is_named() {
        for text in ["aten::relu 1 2\n", "  1 has no lowering\n", "aten::relu 1 1 1 x\n"] {
            assert!(read(text).unwrap_err().ends_with(&format!("found `{}`", text.trim_end())));
        }
    }
}
