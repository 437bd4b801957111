//! What who has taken one of the programs of this crate over could do, tried: [`passhost_confine::attempt`].

use crate::serve::{DeviceServeError, enclose, set_up};
use crate::types;
use passhost_confine::attempt::{UNCONFINED, make};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// While a device child runs programs.
pub const MEASURING: &str = "measuring";
/// While a types child answers questions.
pub const ANSWERING: &str = "answering";

/// Makes an attempt, confined as in the stage: the arguments of the program, what is hidden from a device child, then
/// a stage, an attempt and its target.
///
/// # Errors
///
/// If the process cannot be confined, or there is no such stage.
pub fn attempt(hidden: &[OsString], arguments: &[OsString]) -> Result<ExitCode, DeviceServeError> {
    let [stage, name, target] = arguments else { return Err(DeviceServeError::UnexpectedMessage("attempt")) };
    if stage != UNCONFINED {
        set_up()?;
        let hidden: Vec<PathBuf> = hidden.iter().map(PathBuf::from).collect();
        if stage == ANSWERING { types::enclose() } else { enclose(None, &hidden) }?;
    }
    Ok(make(name, target))
}
