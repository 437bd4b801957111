//! The process beside the compiler: it watches what is used, and ends everything in the end.
//!
//! The compiler and all that it starts are one group of processes, because the sandbox refuses the calls that leave a
//! group. Whatever is orphaned becomes a child of this process, which leaves when it has none. Where it is killed
//! itself, the compiler is killed with it.

use crate::error::WardenError;
use crate::wire::Wire;
use crate::{enclosed, usage};
use passhost_confine::process;
use passhost_protocol::builder::{BuildLimit, BuildOrder, CompilerEnd, FromBuilder};
use passhost_protocol::{Most, read_reply, write_frame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, kill_process, kill_process_group,
    pidfd_open, wait, waitid,
};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often is looked at what is used.
const LOOK: Duration = Duration::from_millis(50);
/// `__WALL`: also for children that were made to end without the usual signal.
const ANY: WaitOptions = WaitOptions::from_bits_retain(0x4000_0000);
/// Directories in the scratch directory that are looked into: the compiler makes one.
const DEPTH: usize = 4;

/// Serves one order.
pub fn serve(wire: Wire) -> Result<(), WardenError> {
    process::outlive_interruptions();
    rustix::process::set_child_subreaper(Pid::from_raw(1))?;
    let order = wire.order()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(enclosed::ROLE).env_clear().process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut compiler = command.spawn()?;
    let group = Pid::from_child(&compiler);
    let end = watch(wire, &order, &mut compiler, group);
    let left = end_all(group);
    if matches!(end, Ok(CompilerEnd::Stopped)) {
        // Whoever made it may be gone. If not, it is removed twice.
        let _ = passhost_builder::remove_all(&order.whole);
    }
    let told = end.and_then(|end| wire.say(&FromBuilder::Ended(end)));
    if told.is_err() {
        // Whoever made it is gone, and may have been before the compiler started.
        let _ = passhost_builder::remove_all(&order.whole);
    }
    told.and(left)
}

/// Waits until the compiler ends or uses too much, or nobody waits for it any more.
fn watch(wire: Wire, order: &BuildOrder, compiler: &mut Child, group: Pid) -> Result<CompilerEnd, WardenError> {
    let deadline = Instant::now() + Duration::from_millis(order.limits.wall_ms);
    if let Some(mut input) = compiler.stdin.take() {
        write_frame(&mut input, order)?;
    }
    if let Some(mut output) = compiler.stdout.take() {
        // Only the process that is enclosed writes here, until it becomes the compiler, whose output goes nowhere.
        while let Ok(message) = read_reply::<FromBuilder>(&mut output, Most::default) {
            wire.say(&message)?;
        }
    }
    let ended = pidfd_open(group, PidfdFlags::empty())?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now()).min(LOOK);
        let input = std::io::stdin();
        let mut events = [PollFd::new(&ended, PollFlags::IN), PollFd::new(&input, PollFlags::IN)];
        poll(&mut events, Some(&Timespec::try_from(left).unwrap_or_default()))?;
        let [over, closed] = [0, 1].map(|event| !events[event].revents().is_empty());
        if over {
            // The last it wrote counts as well.
            let is_too_much = usage::of_directory(&order.reach.scratch, DEPTH) > order.limits.scratch;
            return if is_too_much { Ok(CompilerEnd::Limit(BuildLimit::Scratch)) } else { how(group) };
        }
        if closed {
            return Ok(CompilerEnd::Stopped);
        }
        if let Some(limit) = exceeded(order, group, deadline) {
            return Ok(CompilerEnd::Limit(limit));
        }
    }
}

fn exceeded(order: &BuildOrder, group: Pid, deadline: Instant) -> Option<BuildLimit> {
    let limits = &order.limits;
    let used = usage::of_group(group.as_raw_nonzero().get());
    let scratch = usage::of_directory(&order.reach.scratch, DEPTH).saturating_add(used.unlinked);
    let found = [
        (Instant::now() >= deadline, BuildLimit::Wall),
        (used.tasks > limits.tasks, BuildLimit::Tasks),
        (used.memory > limits.memory, BuildLimit::Memory),
        (scratch > limits.scratch, BuildLimit::Scratch),
    ];
    found.into_iter().find_map(|(exceeded, limit)| exceeded.then_some(limit))
}

/// How the first process of the group ended. It is left where it is: its number stays that of the group.
fn how(group: Pid) -> Result<CompilerEnd, WardenError> {
    let ended = waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let status = ended.as_ref().and_then(WaitIdStatus::exit_status);
    let signal = ended.as_ref().and_then(WaitIdStatus::terminating_signal);
    Ok(status.map_or_else(|| CompilerEnd::Killed(signal.unwrap_or_default()), CompilerEnd::Exited))
}

/// Kills the group, and every child of this process, until there is none.
fn end_all(group: Pid) -> Result<(), WardenError> {
    // No process leaves the group, and none is born into it while the signal is sent.
    let _ = kill_process_group(group, Signal::KILL);
    loop {
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
        }
        // For a child of any group: `waitpid` without a process is for those of this process's own alone.
        match wait(ANY) {
            Err(Errno::CHILD) => return Ok(()),
            Err(Errno::INTR) | Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The children of this process, orphans of the compiler included.
fn children() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero();
    let list = std::fs::read_to_string(format!("/proc/self/task/{own}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)).collect()
}
