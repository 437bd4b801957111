//! Rewrites of graphs, verified.

use crate::{PassError, convert, engine_error};
use passhost_ir::verify::{check_own_calls, verify_rewrite};
use passhost_ir::{
    Arg, Graph, GraphError, Infer, InferError, NodeKind, OpName, OpTable, TensorType, in_place_nodes, verify_graph,
};
use passhost_policy::{Inserted, Policy};
use passhost_result::GuestLimits;
use passhost_result::untrusted::one_line;
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// A verified rewrite.
#[pyclass(frozen, get_all, module = "passhost._engine")]
pub(crate) struct Rewrite {
    /// As text.
    pub(crate) graph: String,
    pub(crate) kernels: usize,
    /// Whether anything that counts is other than it was.
    pub(crate) changed: bool,
    /// Why the pass left nodes alone.
    pub(crate) refusals: Vec<String>,
    /// Whether it was kept from another run of the pass.
    pub(crate) is_kept: bool,
}

/// Characters of a reason or an error that Python gets.
pub(crate) const TEXT: usize = 600;

/// An error in words of which some may be the pass's: fit for a terminal.
pub(crate) fn pass_error(text: &str) -> PyErr {
    PassError::new_err(one_line(text, TEXT))
}

/// A graph in text form, verified, with ops of these.
pub(crate) fn graph_of(text: &str, ops: &OpTable) -> PyResult<Graph> {
    let graph = Graph::parse(text).map_err(engine_error)?;
    verify_graph(&graph, ops).map_err(engine_error)?;
    Ok(graph)
}

impl Rewrite {
    /// Verifies what is said to be a rewrite of a graph.
    pub(crate) fn verified(
        graph: &Graph,
        rewrite: &Graph,
        policy: &Policy,
        infer: &mut PythonTypes,
    ) -> Result<Rewrite, GraphError> {
        let summary = verify_rewrite(graph, rewrite, OpTable::insert(), infer)?;
        if policy.rules().inserted != Inserted::Listed {
            check_own_calls(graph, rewrite)?;
        }
        let is_kernel = |kind: &NodeKind| matches!(kind, NodeKind::Kernel { .. });
        Ok(Rewrite {
            graph: rewrite.to_string(),
            kernels: rewrite.nodes.iter().filter(|node| is_kernel(&node.kind)).count(),
            changed: !summary.pass_miss,
            refusals: vec![],
            is_kept: false,
        })
    }
}

/// Verifies that a text from anywhere is a rewrite of a graph that a policy allows. Neither has ops of training steps, which
/// trust their operands.
#[pyfunction]
#[pyo3(signature = (graph, rewrite, types, policy = "open"))]
pub(crate) fn verify(py: Python<'_>, graph: &str, rewrite: &str, types: Py<PyAny>, policy: &str) -> PyResult<Rewrite> {
    let policy = Policy::built_in(policy).map_err(engine_error)?;
    let graph = graph_of(graph, OpTable::sample())?;
    if let Some((_, op)) = in_place_nodes(&graph, OpTable::sample()).into_iter().next() {
        return Err(pass_error(&format!("the graph calls {op}, which writes to a tensor")));
    }
    py.detach(|| {
        let rewrite = Graph::parse(rewrite).map_err(|error| pass_error(&error.to_string()))?;
        let mut infer = PythonTypes::new(types, &GuestLimits::default());
        check_declared(&graph, &mut infer).map_err(|error| pass_error(&error))?;
        Rewrite::verified(&graph, &rewrite, &policy, &mut infer).map_err(|error| pass_error(&error.to_string()))
    })
}

/// Whether ops return what a graph says that they do: a rewrite is verified on the strength of it.
fn check_declared(graph: &Graph, infer: &mut PythonTypes) -> Result<(), String> {
    for node in &graph.nodes {
        let NodeKind::Aten { op, args } = &node.kind else { continue };
        let typed: Vec<Arg<TensorType>> = args.iter().map(|arg| arg.map(|&id| graph.ty(id).clone())).collect();
        let found = infer.infer(op, &typed).map_err(|error| format!("node #{}: {error}", node.id.0))?;
        let declared = node.outputs.iter().map(|&id| graph.ty(id));
        // Steps along a dimension of one element mean nothing.
        let steps = |ty: &TensorType| -> Vec<(i64, i64)> {
            ty.shape.iter().copied().zip(ty.strides.iter().copied()).filter(|(extent, _)| *extent != 1).collect()
        };
        let same =
            |(a, b): (&TensorType, &TensorType)| a.dtype == b.dtype && a.shape == b.shape && steps(a) == steps(b);
        if found.len() != node.outputs.len() || !found.iter().zip(declared).all(same) {
            return Err(format!("node #{} ({op}) returns other types than the graph declares", node.id.0));
        }
    }
    Ok(())
}

/// Tensors and numbers in one question about types, at most.
const OPERANDS: u64 = 10_000;

/// Types that a function of Python knows, as long as there is time for answers.
pub(crate) struct PythonTypes {
    ask: Py<PyAny>,
    left: Duration,
}

impl PythonTypes {
    pub(crate) fn new(ask: Py<PyAny>, limits: &GuestLimits) -> PythonTypes {
        PythonTypes { ask, left: Duration::from_millis(limits.answers_ms) }
    }
}

impl Infer for PythonTypes {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let Some(schema) = OpTable::sample().get(op) else { return Err(InferError::NotAllowed(op.to_string())) };
        let refused = |message: String| InferError::Refused { op: op.to_string(), message };
        let operands: u64 = args.iter().map(Arg::size).sum();
        if operands > OPERANDS {
            return Err(refused(format!("{operands} operands and numbers; at most {OPERANDS} are answered")));
        }
        if self.left.is_zero() {
            return Err(InferError::Unavailable("the time for answers is used up".into()));
        }
        schema.check_args(args).map_err(|error| refused(error.to_string()))?;
        let asked = Instant::now();
        let ask = |py: Python<'_>| {
            let name = op.name.trim_start_matches("aten::");
            let answer = self.ask.bind(py).call1((name, &op.overload, convert::arguments(py, args)?))?;
            let types: Vec<(String, Vec<i64>, Vec<i64>)> = answer.extract()?;
            types.into_iter().map(convert::tensor_type).collect::<PyResult<Vec<TensorType>>>()
        };
        let answer = Python::attach(ask).map_err(|error| refused(error.to_string()));
        self.left = self.left.saturating_sub(asked.elapsed());
        answer
    }

    fn may_insert(&mut self, op: &OpName) -> bool {
        OpTable::insert().get(op).is_some()
    }
}
