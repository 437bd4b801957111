//! Makes one kernel of an RMS norm, six ops that read and write `x` again and again: the kernel reads it once.

use passhost_guest_sdk::lower::{self, Group};
use passhost_guest_sdk::pattern::{any, op};
use passhost_guest_sdk::{DeviceFacts, Infer, Pass, PassError, PassInfo, Rewriter, log, register};

/// The pass.
pub struct OwnPass;

impl Pass for OwnPass {
    fn info(&self) -> PassInfo {
        PassInfo { name: "@NAME@".into(), version: "0.1.0".into(), description: "RMS norm as one kernel".into() }
    }

    fn run(&self, rewriter: &mut Rewriter, _device: &DeviceFacts, _host: &mut dyn Infer) -> Result<(), PassError> {
        // x * rsqrt(mean(x * x) + eps) * weight. `x` occurs twice and must be the same tensor.
        let mean = op("aten::mean.dim", [op("aten::pow", [any("x")])]);
        let scale = op("aten::rsqrt", [op("aten::add", [mean])]);
        let norm = op("aten::mul", [op("aten::mul", [any("x"), scale]), any("weight")]);
        for found in norm.find(rewriter.graph()) {
            match lower::region(rewriter.graph(), &found.nodes, &[Group::POINTWISE, Group::REDUCTIONS]) {
                Ok(lowered) => log!("fused as {}", rewriter.replace(&lowered)?),
                Err(error) => rewriter.refuse(found.nodes, error.to_string()),
            }
        }
        if let Some(miss) = norm.explain(rewriter.graph()) {
            log!("{miss}");
        }
        Ok(())
    }
}

register!(OwnPass);
