//! Makes one kernel of `silu(x) * y`, which reads `x` and `y` once and writes the product once.

use passhost_guest_sdk::lower::{self, Group};
use passhost_guest_sdk::pattern::{any, op};
use passhost_guest_sdk::{DeviceFacts, Infer, Pass, PassError, PassInfo, Rewriter, log, register};

/// The pass.
pub struct OwnPass;

impl Pass for OwnPass {
    fn info(&self) -> PassInfo {
        PassInfo { name: "@NAME@".into(), version: "0.1.0".into(), description: "silu(x) * y as one kernel".into() }
    }

    fn run(&self, rewriter: &mut Rewriter, _device: &DeviceFacts, _host: &mut dyn Infer) -> Result<(), PassError> {
        let gate = op("aten::mul", [op("aten::silu", [any("x")]), any("y")]);
        for found in gate.find(rewriter.graph()) {
            match lower::region(rewriter.graph(), &found.nodes, &[Group::POINTWISE]) {
                Ok(lowered) => log!("fused as {}", rewriter.replace(&lowered)?),
                Err(error) => rewriter.refuse(found.nodes, error.to_string()),
            }
        }
        if let Some(miss) = gate.explain(rewriter.graph()) {
            log!("{miss}");
        }
        Ok(())
    }
}

register!(OwnPass);
