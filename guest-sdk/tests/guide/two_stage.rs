use passhost_guest_sdk::prelude::*;

pub struct ReluMean;

impl Pass for ReluMean {
    fn info(&self) -> PassInfo {
        PassInfo::new("relu-mean", "0.1.0", "The mean of relu(x) over its last dimension, in two kernels")
    }

    fn run(&self, rewriter: &mut Rewriter, _device: &DeviceFacts, _host: &mut dyn Infer) -> Result<(), PassError> {
        rewriter.for_each_match(&mean(), two_kernels);
        Ok(())
    }
}

fn mean() -> Pattern {
    let relu = op("aten::relu", [any("x")]);
    op("aten::mean.dim", [relu, exactly(Arg::Ints(vec![-1])), exactly(Arg::Bool(false))]).named("mean")
}

fn two_kernels(rewriter: &mut Rewriter, found: &Match) -> Result<(), PassError> {
    let (x, mean) = (found.tensor("x")?, found.tensor("mean")?);
    let &[rows, cols] = &rewriter.graph().ty(x).shape[..] else { return Err("x is no matrix".into()) };
    if cols % 64 != 0 {
        return Err("rows do not divide by 64".into());
    }
    let (chunks, length) = (64, cols / 64);
    let partial = format!(
        "space p0={rows}, p1={chunks}; reduce r0={length}
         in x0: f32[{rows},{cols}]
         v0: f32 = load x0[p0, p1 * {length} + r0] clamp
         v1: f32 = const 0.0
         v2: f32 = max v0, v1
         v3: f32 = reduce sum v2
         out v3 over [p0, p1] as [{rows},{chunks}]"
    );
    let total = format!(
        "space p0={rows}; reduce r0={chunks}
         in x0: f32[{rows},{chunks}]
         v0: f32 = load x0[p0, r0] clamp
         v1: f32 = reduce sum v0
         v2: f32 = const {cols}.0
         v3: f32 = div v1, v2
         out v3 over [p0] as [{rows}]"
    );
    // After x, before what is removed.
    let position = rewriter.position(found.nodes[0])?;
    let sums = rewriter.insert_kernel(position, partial, [x])?;
    rewriter.replace_with(&found.nodes, total, sums, [mean])?;
    Ok(())
}

register!(ReluMean);
