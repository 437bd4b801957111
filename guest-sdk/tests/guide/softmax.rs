use passhost_guest_sdk::prelude::*;

pub struct MaskedSoftmax;

impl Pass for MaskedSoftmax {
    fn info(&self) -> PassInfo {
        PassInfo::new("masked-softmax", "0.1.0", "softmax(scores * scale + mask) as one kernel")
    }

    fn run(&self, rewriter: &mut Rewriter, _device: &DeviceFacts, _host: &mut dyn Infer) -> Result<(), PassError> {
        rewriter.for_each_match(&weights(), fuse);
        Ok(())
    }
}

fn weights() -> Pattern {
    let scaled = op("aten::mul.Scalar", [any("scores"), argument("scale")]);
    let masked = op("aten::add.Tensor", [scaled, any("mask")]);
    op("aten::softmax.int", [masked, exactly(Arg::Int(-1))]).named("weights")
}

fn fuse(rewriter: &mut Rewriter, found: &Match) -> Result<(), PassError> {
    let graph = rewriter.graph();
    let (scores, mask, weights) = (found.tensor("scores")?, found.tensor("mask")?, found.tensor("weights")?);
    let (ty, mask_ty) = (graph.ty(scores), graph.ty(mask));
    let &[batch, heads, rows, cols] = &ty.shape[..] else {
        return Err("scores are not batch, heads, rows, columns".into());
    };
    if mask_ty.shape != [batch, 1, 1, cols] || mask_ty.dtype != ty.dtype {
        return Err(format!("the mask is {mask_ty}").into());
    }
    let dtype = ty.dtype;
    let kernel = format!(
        "space p0={batch}, p1={heads}, p2={rows}; reduce r0={cols}
         in x0: {ty}
         in x1: {mask_ty}
         v0: {dtype} = load x0[p0, p1, p2, r0] clamp
         v1: f32 = cast v0
         v2: f32 = const {scale:?}
         v3: f32 = mul v1, v2
         v4: {dtype} = cast v3
         v5: f32 = cast v4
         v6: {dtype} = load x1[p0, 0, 0, r0] clamp
         v7: f32 = cast v6
         v8: f32 = add v5, v7
         v9: {dtype} = cast v8
         v10: f32 = cast v9
         v11: f32 = reduce max v10
         v12: f32 = sub v10, v11
         v13: f32 = exp v12
         v14: f32 = reduce sum v13
         v15: f32 = div v13, v14
         v16: {dtype} = cast v15
         out v16 over [p0, p1, p2, r0] as [{batch},{heads},{rows},{cols}]",
        scale = found.number("scale")?,
    );
    rewriter.replace_with(&found.nodes, kernel, [scores, mask], [weights])?;
    Ok(())
}

register!(MaskedSoftmax);
