//! `silu(x) * y` as one kernel: a pass with a pattern and a kernel of its own, and nothing else. What the SDK makes of it is
//! what every pass has at least.

use passhost_guest_sdk::prelude::*;

/// The pass.
pub struct Gate;

impl Pass for Gate {
    fn info(&self) -> PassInfo {
        PassInfo::new("gate", "0.1.0", "silu(x) * y as one kernel written by hand")
    }

    fn run(&self, rewriter: &mut Rewriter, _device: &DeviceFacts, _host: &mut dyn Infer) -> Result<(), PassError> {
        let gate = op("aten::mul", [op("aten::silu", [any("x")]), any("y")]).named("gate");
        rewriter.for_each_match(&gate, replace);
        Ok(())
    }
}

fn replace(rewriter: &mut Rewriter, found: &Match) -> Result<(), PassError> {
    let (x, y, gate) = (found.tensor("x")?, found.tensor("y")?, found.tensor("gate")?);
    let ty = rewriter.graph().ty(x).clone();
    if *rewriter.graph().ty(y) != ty {
        return Err(format!("x is {ty} and y is {}", rewriter.graph().ty(y)).into());
    }
    let axes: Vec<u32> = (0..ty.shape.len() as u32).collect();
    let k = KernelBuilder::new(ty.shape.clone(), []);
    let [x_element, y_element] = [(); 2].map(|()| k.widened(k.element(k.input_like(&ty), &axes)));
    let one = k.float(k.dtype(x_element), 1.0);
    let silu = k.div(x_element, k.add(one, k.unary(Unary::Exp, k.unary(Unary::Neg, x_element))));
    let product = k.mul(k.rounded(ty.dtype, silu), y_element);
    k.store(k.cast(ty.dtype, product), axes, ty.shape.clone());
    rewriter.replace_with(&found.nodes, k, [x, y], [gate])?;
    Ok(())
}

register!(Gate);

#[cfg(test)]
mod tests {
    use super::Gate;
    use passhost_guest_sdk::testing::assert_same;

    #[test]
    fn a_gate_becomes_a_kernel_in_each_type() {
        for dtype in ["f32", "f16", "bf16"] {
            let graph = "graph(%x: f32[3,5], %y: f32[3,5]) {
               %silu: f32[3,5] = aten::silu(%x)
               %out: f32[3,5] = aten::mul.Tensor(%y, %silu)
               return (%out)
             }";
            assert_same(&Gate, &graph.replace("f32", dtype));
        }
    }
}
