//! Which schedules the kernels of a rewrite are to have, in all device children alike.

use super::{Device, DeviceError, RewriteRequest};
use crate::schedules;
use passhost_protocol::device::{FromDevice, RewriteError, Stage};
use passhost_result::TunedKernel;
use std::time::Duration;

impl Device {
    /// Has the first child measure the kernels of a verified rewrite of the program that it has loaded, in the schedules
    /// that they may have; what is known from before is not measured again.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn tune(
        &mut self,
        request: RewriteRequest<'_>,
        limit: Duration,
        watch: &mut dyn FnMut(Stage),
    ) -> Result<Result<Vec<TunedKernel>, RewriteError>, DeviceError> {
        let cache = self.setup.machine_code.clone();
        let known = cache.as_ref().map(|cache| schedules::known(cache, request.rewrite, &self.info));
        let tuned = match self.ask(0, &request.to_tune(known.unwrap_or_default()), limit, watch)? {
            FromDevice::Tuned(tuned) => tuned.map(|tuned| schedules::sound(request.rewrite, tuned)),
            _ => return Err(self.out_of_turn(0)),
        };
        if let (Some(cache), Ok(tuned)) = (&cache, &tuned) {
            schedules::keep(cache, request.rewrite, &self.info, tuned);
        }
        Ok(tuned)
    }
}
