//! Whether a pass keeps what a graph computes.

use super::{DEVICE, Types, draw, evaluate};
use crate::{LowerError, NodeRefusal, Pass, PassError, Rewriter};
use passhost_ir::kernel::Tensor;
use passhost_ir::kernel::scalar::{Num, round};
use passhost_ir::{Dtype, Graph, GraphError, Infer, OpTable, RewriteSummary, verify_rewrite};
use std::fmt;

/// How a graph and what a pass made of it differ, or why that cannot be said.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RewriteDifference {
    /// The pass gave up.
    #[error("the pass fails: {0}")]
    Pass(#[from] PassError),
    /// Two runs on the same graph gave two rewrites.
    #[error(
        "two runs of the pass on this graph give two rewrites; iterate over nodes in graph order, not over hash maps"
    )]
    NotDeterministic,
    /// The host would refuse the rewrite.
    #[error("the rewrite is refused: {0}")]
    Refused(#[from] GraphError),
    /// The pass changed nothing.
    #[error("the pass changed nothing{0}; its log says how far patterns came")]
    Unchanged(String),
    /// An op that only PyTorch can run.
    #[error("{0}, so that nothing can be compared natively; `passhost eval` runs it with PyTorch")]
    CannotRun(LowerError),
    /// Elements differ.
    #[error("{0}")]
    Elements(Box<DifferingElements>),
}

/// Elements of an output that differ.
#[derive(Debug, Clone, PartialEq)]
pub struct DifferingElements {
    /// The position of the output.
    pub output: usize,
    /// The name of its value in the original.
    pub name: String,
    /// Its element type.
    pub dtype: Dtype,
    /// How the inputs were drawn.
    pub draw: String,
    /// Where the first wrong element is.
    pub place: Vec<i64>,
    /// What the original has there.
    pub expected: f64,
    /// What the rewrite has there.
    pub found: f64,
    /// How many are wrong.
    pub wrong: usize,
    /// How many there are.
    pub of: usize,
}

impl DifferingElements {
    /// Where the mistake most often is.
    fn remedy(&self) -> String {
        let DifferingElements { dtype, expected, found, wrong, of, .. } = self;
        let is_narrow = matches!(dtype, Dtype::F16 | Dtype::Bf16);
        match () {
            () if expected.is_nan() => "a NaN must stay one: `max` and `min` keep it, comparisons do not".to_owned(),
            () if found.is_nan() => "something overflows: subtract the maximum before `exp`, as eager does".to_owned(),
            () if is_narrow && (found - expected).abs() < 0.05 * expected.abs() => {
                format!("round as eager does: cast to {dtype} and back at the end of each op")
            }
            () if wrong == of => "look at the arithmetic".to_owned(),
            () => "look at the indices of loads and at the axes of `out`".to_owned(),
        }
    }
}

impl fmt::Display for DifferingElements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DifferingElements { output, name, draw, place, expected, found, wrong, of, .. } = self;
        let place: Vec<String> = place.iter().map(i64::to_string).collect();
        // Types narrower than f64 are read back from f32, in as few digits.
        let shown = |x: f64| if self.dtype == Dtype::F64 { x.to_string() } else { (x as f32).to_string() };
        write!(
            f,
            "output {output} (%{name}) differs where {draw}: expected {} at [{}], found {}; {wrong} of {of} elements are wrong; {}",
            shown(*expected),
            place.join(", "),
            shown(*found),
            self.remedy()
        )
    }
}

/// Fails unless a pass changes a graph and keeps what it computes: see [`compare`].
///
/// ```
/// use passhost_guest_sdk::prelude::*;
/// use passhost_guest_sdk::testing::assert_same;
///
/// struct FuseGate;
///
/// impl Pass for FuseGate {
///     fn info(&self) -> PassInfo {
///         PassInfo::new("fuse-gate", "0.1.0", "silu(x) * y")
///     }
///
///     fn run(&self, rewriter: &mut Rewriter, _: &DeviceFacts, _: &mut dyn Infer) -> Result<(), PassError> {
///         rewriter.for_each_match(&op("aten::mul", [op("aten::silu", [any("x")]), any("y")]), |rewriter, found| {
///             let lowered = lower::region(rewriter.graph(), &found.nodes, &[Group::POINTWISE])?;
///             rewriter.replace(&lowered)?;
///             Ok(())
///         });
///         Ok(())
///     }
/// }
///
/// assert_same(
///     &FuseGate,
///     "graph(%x: f16[4,64], %y: f16[4,64]) {
///        %gate: f16[4,64] = aten::silu(%x)
///        %out: f16[4,64] = aten::mul.Tensor(%y, %gate)
///        return (%out)
///      }",
/// );
/// ```
///
/// # Panics
///
/// With the [`RewriteDifference`], or with what is wrong in the text of the graph.
#[track_caller]
pub fn assert_same(pass: &dyn Pass, graph: &str) {
    let graph = match Graph::parse(graph) {
        Ok(graph) => graph,
        Err(error) => fail(&format!("the text of the graph: {error}")),
    };
    if let Err(difference) = compare(pass, &graph) {
        let (rewritten, refusals) = super::rewrite(pass, graph.clone()).unwrap_or_else(|_| (graph, vec![]));
        let refusals: String = refusals.iter().map(|refusal| format!("\nrefused: {}", refusal.reason)).collect();
        fail(&format!("{difference}{refusals}\n{rewritten}"));
    }
}

#[track_caller]
#[allow(clippy::panic, reason = "tests fail by panicking")]
fn fail(message: &str) -> ! {
    panic!("{message}")
}

/// Whether what a pass makes of a graph gives what the graph gives, by the interpreter, ops rounded as eager rounds them.
///
/// The pass runs twice, with [`Types`] for a host; the rewrite must be one that the host accepts. Then both run on drawn
/// inputs, on large ones and small ones, and with each input of floats in turn all zeros, one value, with infinities, and
/// with NaNs. Elements may differ as `torch.testing` lets them (`t = -5`); where the original is not finite on unusual
/// inputs, anything goes but where a NaN is expected.
pub fn compare(pass: &dyn Pass, graph: &Graph) -> Result<RewriteSummary, RewriteDifference> {
    compare_with(pass, graph, &mut Types::default())
}

/// [`compare`] with a host of one's own.
pub fn compare_with(pass: &dyn Pass, graph: &Graph, host: &mut dyn Infer) -> Result<RewriteSummary, RewriteDifference> {
    let (rewritten, refusals) = run(pass, graph, host)?;
    if run(pass, graph, host)?.0 != rewritten {
        return Err(RewriteDifference::NotDeterministic);
    }
    let summary = verify_rewrite(graph, &rewritten, OpTable::insert(), host)?;
    if summary.pass_miss {
        let reasons: String = refusals.iter().map(|refusal| format!("; refused: {}", refusal.reason)).collect();
        return Err(RewriteDifference::Unchanged(reasons));
    }
    for (what, inputs) in draws(graph) {
        let expected = evaluate(graph, &inputs).map_err(RewriteDifference::CannotRun)?;
        let found = evaluate(&rewritten, &inputs).map_err(RewriteDifference::CannotRun)?;
        for (output, (expected, found)) in expected.iter().zip(&found).enumerate() {
            if let Some(difference) = differing(expected, found, what.is_none()) {
                let name = graph.value(graph.outputs[output]).name.clone();
                let draw = what.unwrap_or_else(|| "inputs are as usual".to_owned());
                let difference = DifferingElements { output, name, draw, ..difference };
                return Err(RewriteDifference::Elements(Box::new(difference)));
            }
        }
    }
    Ok(summary)
}

fn run(pass: &dyn Pass, graph: &Graph, host: &mut dyn Infer) -> Result<(Graph, Vec<NodeRefusal>), PassError> {
    let mut rewriter = Rewriter::new(graph.clone());
    pass.run(&mut rewriter, &DEVICE, host)?;
    Ok(rewriter.finish())
}

/// What is unusual about a tensor, and what each of its elements becomes, by position and value.
type UnusualElement = (&'static str, fn(usize, f64) -> f64);

/// Inputs, and what is unusual about them.
fn draws(graph: &Graph) -> Vec<(Option<String>, Vec<Tensor>)> {
    let usual: Vec<Tensor> = (1..).zip(&graph.inputs).map(|(salt, &id)| draw(graph.ty(id), salt)).collect();
    let mut draws = vec![(None, usual.clone())];
    let scaled = |factor: f64| usual.iter().map(|tensor| changed(tensor, |_, x| x * factor)).collect();
    draws.push((Some("inputs are 10,000 times as large".to_owned()), scaled(1e4)));
    draws.push((Some("inputs are 64 times as small".to_owned()), scaled(1.0 / 64.0)));
    let kinds: [UnusualElement; 4] = [
        ("is all zeros", |_, _| 0.0),
        ("is one value everywhere", |_, _| 1.5),
        ("has infinities", |position, x| if position % 7 == 3 { f64::INFINITY } else { x }),
        ("has NaNs", |position, x| if position % 7 == 3 { f64::NAN } else { x }),
    ];
    for (position, &id) in graph.inputs.iter().enumerate().filter(|(_, id)| graph.ty(**id).dtype.is_float()) {
        for (what, element) in kinds {
            let mut inputs = usual.clone();
            inputs[position] = changed(&usual[position], element);
            draws.push((Some(format!("%{} {what}", graph.value(id).name)), inputs));
        }
    }
    draws
}

/// Floats changed; other types as they are, since they may be indices.
fn changed(tensor: &Tensor, element: impl Fn(usize, f64) -> f64) -> Tensor {
    Tensor::from_fn(tensor.dtype, tensor.shape.clone(), |position| match tensor.get(position) {
        Num::Float(x) => Num::Float(round(tensor.dtype, element(position, x))),
        other => other,
    })
}

/// Relative and absolute, as `torch.testing` has them.
fn tolerance(dtype: Dtype) -> (f64, f64) {
    match dtype {
        Dtype::F16 => (1e-3, 1e-5),
        Dtype::Bf16 => (1.6e-2, 1e-5),
        Dtype::F32 => (1.3e-6, 1e-5),
        Dtype::F64 => (1e-7, 1e-7),
        _ => (0.0, 0.0),
    }
}

fn differing(expected: &Tensor, found: &Tensor, is_usual: bool) -> Option<DifferingElements> {
    let (relative, absolute) = tolerance(expected.dtype);
    let is_wrong = |&position: &usize| {
        let (x, y) = (expected.get_f64(position), found.get_f64(position));
        let is_close = x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= absolute + relative * x.abs();
        !is_close && (is_usual || x.is_finite() || x.is_nan())
    };
    let mut wrong = (0..expected.len()).filter(is_wrong);
    let first = wrong.next()?;
    Some(DifferingElements {
        output: 0,
        name: String::new(),
        dtype: expected.dtype,
        draw: String::new(),
        place: super::unravel(first, &expected.shape),
        expected: expected.get_f64(first),
        found: found.get_f64(first),
        wrong: 1 + wrong.count(),
        of: expected.len(),
    })
}
