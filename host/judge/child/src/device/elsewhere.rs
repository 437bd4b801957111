//! What a device is asked about a program that someone else runs.

use super::{Device, DeviceError};
use passhost_protocol::device::{ElsewhereRun, Evaluation, FromDevice, RunError, ToDevice};
use std::time::Duration;

impl Device {
    /// Writes the inputs of so many rounds of the program that the first child has loaded, where [`DeviceSetup::files`] says.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn draw(&mut self, seed: u64, rounds: u32, limit: Duration) -> Result<Result<(), RunError>, DeviceError> {
        match self.ask(0, &ToDevice::Draw { seed, rounds }, limit, &mut |_| {})? {
            FromDevice::Drawn(drawn) => Ok(drawn),
            _ => Err(self.out_of_turn(0)),
        }
    }

    /// Compares what someone else made of these inputs with the program that the first child has loaded.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn judge(&mut self, run: ElsewhereRun, limit: Duration) -> Result<Evaluation, DeviceError> {
        match self.ask(0, &ToDevice::Judge(run), limit, &mut |_| {})? {
            FromDevice::Evaluated(evaluation) => Ok(*evaluation),
            _ => Err(self.out_of_turn(0)),
        }
    }
}
