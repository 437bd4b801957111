//! What a plugin that has taken its child over could do, tried: [`passhost_confine::attempt`].

use crate::serve::{GuestServeError, on_a_thread};
use passhost_confine::attempt::{UNCONFINED, make};
use passhost_confine::guest;
use passhost_result::GuestLimits;
use std::ffi::OsString;
use std::process::ExitCode;

/// While a plugin is compiled: threads may be started.
pub const LOADING: &str = "loading";
/// While code of the plugin runs.
pub const RUNNING: &str = "running";

/// Makes an attempt in the stage of this name, confined as serving is by then: the arguments of the
/// program, a stage, an attempt and its target.
///
/// # Errors
///
/// If the process cannot be confined, or there is no such stage.
pub fn attempt(arguments: &[OsString]) -> Result<ExitCode, GuestServeError> {
    let [stage, name, target] = arguments else {
        return Err(GuestServeError::UnexpectedMessage("a stage, an attempt and a target"));
    };
    let stage = stage.to_string_lossy();
    if stage == UNCONFINED {
        return Ok(make(name, target));
    }
    // SAFETY: one thread, and nothing is open: as in `main`, which calls this first.
    unsafe { guest::before_anything() }?;
    let (limits, running) = (GuestLimits::default(), stage == RUNNING);
    guest::before_loading(&limits)?;
    let (name, target) = (name.clone(), target.clone());
    on_a_thread(&limits, move || {
        if running {
            guest::before_plugin_code()?;
        }
        Ok(make(&name, &target))
    })?
}
