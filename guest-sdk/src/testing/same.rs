//! Whether a pass keeps what a graph computes.

use super::{DEVICE, Types, draw, evaluate};
use crate::{LowerError, Pass, PassError};
use passhost_ir::kernel::Tensor;
use passhost_ir::kernel::scalar::{Num, round};
use passhost_ir::{Dtype, Graph, GraphError, OpTable, RewriteSummary, verify_rewrite};

/// How a graph and what a pass made of it differ, or why that cannot be said.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RewriteDifference {
    /// The pass gave up.
    #[error("the pass fails: {0}")]
    Pass(#[from] PassError),
    /// The host would refuse the rewrite.
    #[error("the rewrite is refused: {0}")]
    Refused(#[from] GraphError),
    /// An op that only PyTorch can run.
    #[error("{0}, so that nothing can be compared natively; `passhost eval` runs it with PyTorch")]
    CannotRun(#[from] LowerError),
    /// Two runs give two rewrites, nothing was changed, or elements differ: in words.
    #[error("{0}")]
    Rewrite(String),
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
    let host = &mut Types::default();
    let mut run = || super::rewrite_with(pass, graph.clone(), &DEVICE, &mut *host);
    let ((rewritten, refusals), (again, _)) = (run()?, run()?);
    if again != rewritten {
        let advice = "iterate over nodes in graph order, not over hash maps";
        let message = format!("two runs of the pass on this graph give two rewrites; {advice}");
        return Err(RewriteDifference::Rewrite(message));
    }
    let summary = verify_rewrite(graph, &rewritten, OpTable::insert(), host)?;
    if summary.pass_miss {
        let reasons: String = refusals.iter().map(|refusal| format!("; refused: {}", refusal.reason)).collect();
        let message = format!("the pass changed nothing{reasons}; its log says how far patterns came");
        return Err(RewriteDifference::Rewrite(message));
    }
    for (what, inputs) in draws(graph) {
        let (expected, found) = (evaluate(graph, &inputs)?, evaluate(&rewritten, &inputs)?);
        for (output, (expected, found)) in expected.iter().zip(&found).enumerate() {
            if let Some(difference) = difference(expected, found, what.is_none()) {
                let name = &graph.value(graph.outputs[output]).name;
                let draw = what.as_deref().unwrap_or("inputs are as usual");
                let message = format!("output {output} (%{name}) differs where {draw}: {difference}");
                return Err(RewriteDifference::Rewrite(message));
            }
        }
    }
    Ok(summary)
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

/// What the first wrong element is and should be, how many there are, and where the mistake most often is.
fn difference(expected: &Tensor, found: &Tensor, is_usual: bool) -> Option<String> {
    let (dtype, of) = (expected.dtype, expected.len());
    let (relative, absolute) = tolerance(dtype);
    let is_wrong = |&position: &usize| {
        let (x, y) = (expected.get_f64(position), found.get_f64(position));
        let is_close = x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= absolute + relative * x.abs();
        !is_close && (is_usual || x.is_finite() || x.is_nan())
    };
    let mut wrong = (0..of).filter(is_wrong);
    let first = wrong.next()?;
    let wrong = 1 + wrong.count();
    let (x, y) = (expected.get_f64(first), found.get_f64(first));
    let is_narrow = matches!(dtype, Dtype::F16 | Dtype::Bf16);
    let remedy = match () {
        () if x.is_nan() => "a NaN must stay one: `max` and `min` keep it, comparisons do not".to_owned(),
        () if y.is_nan() => "something overflows: subtract the maximum before `exp`, as eager does".to_owned(),
        () if is_narrow && (y - x).abs() < 0.05 * x.abs() => {
            format!("round as eager does: cast to {dtype} and back at the end of each op")
        }
        () if wrong == of => "look at the arithmetic".to_owned(),
        () => "look at the indices of loads and at the axes of `out`".to_owned(),
    };
    // Types narrower than f64 are read back from f32, in as few digits.
    let shown = |x: f64| if dtype == Dtype::F64 { x.to_string() } else { (x as f32).to_string() };
    let place = super::unravel(first, &expected.shape);
    let place = place.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let (x, y) = (shown(x), shown(y));
    Some(format!("expected {x} at [{place}], found {y}; {wrong} of {of} elements are wrong; {remedy}"))
}
