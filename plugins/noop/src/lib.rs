//! The pass that changes nothing: what the host makes of it is a pass miss.

use passhost_guest_sdk::{DeviceFacts, Infer, Pass, PassError, PassInfo, Rewriter, register};

struct Noop;

impl Pass for Noop {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "noop".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: "Returns the graph as it is".to_owned(),
        }
    }

    fn run(&self, _rewriter: &mut Rewriter, _device: &DeviceFacts, _host: &mut dyn Infer) -> Result<(), PassError> {
        Ok(())
    }
}

register!(Noop);
