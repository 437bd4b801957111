//! That nothing of a compiler is left when a build has ended. In a program of its own: it looks at all children of its process.

use passhost_builder::{BuildError, BuildLimits, Confinement, PassSource, RefusalReason, Sdk, build};
use passhost_protocol::builder::BuildLimit;
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, set_child_subreaper, wait};
use std::error::Error;

#[test]
fn a_compiler_that_is_stopped_has_ended_when_the_build_returns() -> Result<(), Box<dyn Error>> {
    // What the process beside the compiler does not wait for becomes a child of this one, and stays one.
    set_child_subreaper(Pid::from_raw(1))?;
    let source =
        PassSource::of_text(include_bytes!("../../../../tests/hostile-sources/loop-in-a-constant.rs").to_vec())?;
    let limits = BuildLimits { wall_ms: 500, ..BuildLimits::default() };
    match build(&Sdk::open(&Sdk::installed())?, &source, limits, Confinement::WherePossible) {
        Err(BuildError::Refused(refusal)) => assert_eq!(refusal.reason, RefusalReason::Limit(BuildLimit::Wall)),
        other => return Err(format!("expected a build that takes too long, found {other:?}").into()),
    }
    assert_eq!(wait(WaitOptions::NOHANG).err(), Some(Errno::CHILD), "a process is left");
    Ok(())
}
