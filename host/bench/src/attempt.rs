//! What who has taken one of the programs of this crate over could do, tried: [`passhost_confine::attempt`].

use crate::serve::{ServeError, enclose, set_up};
use crate::types;
use passhost_confine::attempt::{NO_WALLS, make};
use passhost_protocol::device::DeviceChoice;
use std::ffi::OsString;
use std::process::ExitCode;

/// While a device child runs programs.
pub const MEASURING: &str = "measuring";
/// While a types child answers questions.
pub const ANSWERING: &str = "answering";

/// Makes an attempt behind the walls of the stage: the arguments of the program, a stage, an attempt and its target.
///
/// # Errors
///
/// If the process cannot be confined, or there is no such stage.
pub fn attempt(arguments: &[OsString]) -> Result<ExitCode, ServeError> {
    let [stage, name, target] = arguments else { return Err(ServeError::OutOfTurn("attempt")) };
    if stage != NO_WALLS {
        set_up()?;
        if stage == ANSWERING { types::enclose() } else { enclose(DeviceChoice::Auto, None) }?;
    }
    Ok(make(name, target))
}
