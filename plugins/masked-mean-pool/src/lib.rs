//! The mean of the tokens that a mask keeps, as one kernel written by hand: the tutorial for `KernelBuilder`.
//!
//! Sentence embeddings end in these seven ops, which read and write the large tensor `x` (batch, tokens, features) five
//! times. The kernel reads it once:
//!
//! ```text
//! mask   = flags.unsqueeze(-1).expand(x.size()).to(float)
//! result = (x * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
//! ```
//!
//! `fuse-norms` would find this kernel by itself. By hand one decides every rounding and every index, which is the way for
//! ops that have no lowering, or for an algorithm other than eager's.

use passhost_guest_sdk::ir::kernel::Binary;
use passhost_guest_sdk::ir::{Arg, Graph};
use passhost_guest_sdk::lower::{KernelBuilder, Lowered, Output};
use passhost_guest_sdk::pattern::{Match, Pattern, any, argument, exactly, one_of, op};
use passhost_guest_sdk::{DeviceFacts, Index, Infer, Pass, PassError, PassInfo, Rewriter, log, register, view};

/// The pass.
pub struct MaskedMeanPool;

impl Pass for MaskedMeanPool {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "masked-mean-pool".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: "Replaces the mean of masked tokens by one kernel written by hand".to_owned(),
        }
    }

    // Find, build, replace. What almost matched is explained, what could not be built is refused with the reason.
    fn run(&self, rewriter: &mut Rewriter, _device: &DeviceFacts, _host: &mut dyn Infer) -> Result<(), PassError> {
        rewriter.remove_dead_code();
        rewriter.remove_identities();
        let pattern = pattern();
        if let Some(miss) = pattern.explain(rewriter.graph()) {
            log!("{miss}");
        }
        for found in pattern.find(rewriter.graph()) {
            let built = build(rewriter.graph(), &found);
            match built.and_then(|lowered| Ok(rewriter.replace(&lowered)?)) {
                Ok(kernel) => log!("{kernel} is a masked mean"),
                Err(error) => rewriter.refuse(found.nodes, error.to_string()),
            }
        }
        Ok(())
    }
}

/// Step 1: what to look for. Names capture tensors and arguments; `mask` occurs twice and must be the same tensor.
fn pattern() -> Pattern {
    let over_tokens = || [exactly(Arg::Ints(vec![1])), exactly(Arg::Bool(false))];
    let sum = |what: Pattern| {
        let [dims, keepdim] = over_tokens();
        op("aten::sum.dim_IntList", [what, dims, keepdim])
    };
    let mask = || op("aten::to", [any("flags")]).named("mask");
    let total = sum(op("aten::mul", [any("x"), mask()]).named("product")).named("total");
    let count = sum(mask()).named("count");
    let bounded = one_of([
        op("aten::clamp", [count.clone(), argument("least"), exactly(Arg::None)]),
        op("aten::clamp_min", [count, argument("least")]),
    ]);
    op("aten::div.Tensor", [total, bounded.named("bounded")]).named("result")
}

/// Step 2: the kernel, and which tensors of the graph it reads and defines.
fn build(graph: &Graph, found: &Match) -> Result<Lowered, PassError> {
    let value =
        |name: &str| found.value(name).ok_or_else(|| PassError::from(format!("nothing was captured as {name}")));
    let (x, result) = (value("x")?, value("result")?);
    let &[batch, tokens, features] = &graph.ty(x).shape[..] else {
        return Err(format!("%{} is {}, and not (batch, tokens, features)", graph.value(x).name, graph.ty(x)).into());
    };
    // The flags are read where they lie, through `unsqueeze` and `expand`: as (batch, tokens).
    let flags = view::root(graph, &graph.definitions(), value("flags")?);
    let expected = [Index::axis(0, batch), Index::axis(1, tokens)];
    if flags.coordinates != expected {
        return Err(format!("%{} is no mask of tokens", graph.value(flags.source).name).into());
    }

    // The space: a row for every feature of every sentence, over the tokens. Axis 0 is the batch, axis 1 the features and
    // axis 2, the first reduce axis, the tokens.
    let mut k = KernelBuilder::new(vec![batch, features], vec![tokens]);
    let x_input = k.input(graph.ty(x).dtype, graph.ty(x).shape.clone());
    let flags_input = k.input(graph.ty(flags.source).dtype, graph.ty(flags.source).shape.clone());
    let x_element = k.element(x_input, &[0, 2, 1]);
    let flag = k.element(flags_input, &[0, 2]);

    // Each step rounds as eager rounds when it stores the tensor of that step: `rounded` takes the type from the graph.
    // Half types are calculated with in f32; `rounded` gives the value back in that type.
    let dtype = |name: &str| Ok::<_, PassError>(graph.ty(value(name)?).dtype);
    let mask = k.rounded(dtype("mask")?, flag);
    let (left, right) = (k.rounded(dtype("product")?, x_element), k.rounded(dtype("product")?, mask));
    let product = k.binary(Binary::Mul, left, right);
    let product = k.rounded(dtype("product")?, product);

    // A reduction turns an element into a row: one value for all tokens.
    let total = k.sum(product);
    let total = k.rounded(dtype("total")?, total);
    let count = k.sum(mask);
    let count = k.rounded(dtype("count")?, count);

    // Rows are calculated with like elements.
    let least = match found.argument("least") {
        Some(Arg::Float(least)) => *least,
        Some(Arg::Int(least)) => *least as f64,
        _ => return Err("the count has no lower bound".into()),
    };
    let least = k.float(k.dtype(count), least);
    let bounded = k.binary(Binary::Max, count, least);
    let bounded = k.rounded(dtype("bounded")?, bounded);
    let (total, bounded) = (k.rounded(dtype("result")?, total), k.rounded(dtype("result")?, bounded));
    let mean = k.binary(Binary::Div, total, bounded);
    let mean = k.cast(dtype("result")?, mean);

    // A row value is stored over the parallel axes. The verifier runs here: a kernel that could read or write anything
    // else does not come out.
    k.store(mean, vec![0, 1], vec![batch, features]);
    let kernel = k.finish().map_err(passhost_guest_sdk::LowerError::from)?;
    Ok(Lowered {
        kernel,
        inputs: vec![x, flags.source],
        outputs: vec![Output { value: result, permutation: None }],
        nodes: found.nodes.clone(),
        covered: vec![],
    })
}

register!(MaskedMeanPool);
