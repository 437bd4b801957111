//! Which node of a rewrite makes it wrong, as the first device child finds it.

use super::{Device, DeviceError, RewriteRequest};
use passhost_protocol::device::FromDevice;
use passhost_result::{Departure, ShownBy};
use std::time::Duration;

impl Device {
    /// Looks for the node that makes a rewrite wrong, of the program that the first child has loaded, on the inputs that
    /// showed it. `None` where no node can be named.
    ///
    /// # Errors
    ///
    /// If the child is lost, which says nothing of the rewrite: it ran before.
    pub fn trace(
        &mut self,
        request: RewriteRequest<'_>,
        shown_by: ShownBy,
        limit: Duration,
    ) -> Result<Option<Departure>, DeviceError> {
        match self.ask(0, &request.to_trace(shown_by), limit, &mut |_| {})? {
            FromDevice::Traced(departure) => Ok(departure),
            _ => Err(self.out_of_turn(0)),
        }
    }
}
