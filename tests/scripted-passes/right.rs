use passhost_guest_sdk::prelude::*;

pub struct Scripted;

impl Pass for Scripted {
    fn info(&self) -> PassInfo {
        PassInfo::new("scripted", "0.1.0", "Written by a script")
    }

    fn run(&self, rewriter: &mut Rewriter, device: &DeviceFacts, host: &mut dyn Infer) -> Result<(), PassError> {
        let _ = &host;
        rewriter.remove_dead_code();
        let plan = lower::fuse(rewriter.graph(), device, Group::ALL);
        rewriter.replace_all(plan.kernels.iter().map(|fused| &fused.lowered))?;
        Ok(())
    }
}

register!(Scripted);
