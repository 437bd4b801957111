//! The sandbox profile of a compiler of Rust, which is made for sources that one trusts and gets others: its own files
//! and one source for reading, one directory for writing, the programs that link, no socket, no other process.
//!
//! A compiler is a program of others, so a call that is not on the list fails and nothing more. The profile holds for
//! all programs that it starts as well.

use crate::calls::{self, SyscallRule, call, calls};
use crate::files::FileAccess;
use crate::process::{self, limit, step};
use crate::{ConfineError, SandboxProfile};
use passhost_protocol::builder::{BuildLimits, Reach};
use rustix::fs::{Mode, fchmod, fstatfs};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitySet, CpuSet, sched_getaffinity, sched_setaffinity};
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd};
use std::os::unix::fs::MetadataExt;

/// Files that a process may have open.
const OPEN_FILES: u64 = 512;
/// Cores that the compiler sees: it starts threads for each, and a pass has work for few.
const CORES: usize = 4;
/// Processes of the same user that begin meanwhile, here or in containers: who watches the compiler counts its own.
const OTHERS: u64 = 4096;
/// Seconds from the end of a process' time on a core until it is killed for it.
const GRACE: u64 = 5;
/// Address space in terms of memory: files are mapped, and each thread has an arena and a stack.
const ADDRESSES: u64 = 4;

/// The type of the file system that pipes without a name are in.
const PIPES: i64 = 0x5049_5045;

/// What a compiler is started with.
#[derive(Debug)]
pub struct Enclosed {
    /// What keeps it in.
    pub profile: SandboxProfile,
    /// A variable of its environment: where the tokens of its threads are.
    pub tokens: (String, String),
}

/// Keeps standard input, output and error, what `reach` names, and threads and processes within `limits`. The process
/// becomes the compiler next.
///
/// A source names files, and `/dev/fd/2` is one. Landlock has no rule for a pipe that is opened again by such a name, so the
/// modes of those that the compiler holds let nobody open them. It would make one more for the tokens of its threads, and
/// gets that.
///
/// # Errors
///
/// If the system refuses what every kernel supports.
///
/// # Safety
///
/// The process must have one thread, and nothing in it may use a descriptor above 2 afterwards.
pub unsafe fn before_compiling(reach: &Reach, limits: &BuildLimits) -> Result<Enclosed, ConfineError> {
    // SAFETY: the caller sees to it.
    unsafe { process::forget_what_was_inherited() };
    close_pipes()?;
    let tokens = tokens()?;
    process::renounce(CapabilitySet::empty())?;
    few_cores()?;
    limit(Resource::Nproc, tasks_of_this_user().saturating_add(limits.tasks + OTHERS), "limit processes")?;
    limit(Resource::Nofile, OPEN_FILES, "limit open files")?;
    limit(Resource::Fsize, limits.scratch, "limit the size of files")?;
    limit(Resource::As, limits.memory.saturating_mul(ADDRESSES), "limit address space")?;
    // Each core may count all of the wall clock.
    let seconds = limits.wall_ms.div_ceil(1000).saturating_mul(CORES as u64);
    limit_processor_time(seconds)?;
    let files = FileAccess {
        readable: reach.readable.clone(),
        executable: reach.programs.clone(),
        writable: vec![reach.scratch.clone()],
        devices: vec!["/dev/null".into()],
        ..FileAccess::default()
    };
    let landlock = files.enforce()?;
    let mut allowed = calls::looking_for_files();
    allowed.push(calls::starting_threads());
    allowed.extend(calls::starting_programs());
    allowed.extend(calls::looking_at_the_machine());
    allowed.extend(of_a_compiler());
    allowed.extend(on_descriptors());
    let names_stay = keep_names()?;
    let profile = SandboxProfile { seccomp: calls::all([names_stay, calls::allow_only(&allowed)?]), landlock };
    Ok(Enclosed { profile, tokens })
}

/// Lets nobody open the pipes among standard input, output and error again. What else they may be has a name of its own.
fn close_pipes() -> Result<(), ConfineError> {
    let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let streams = [input.as_fd(), output.as_fd(), error.as_fd()];
    let is_pipe = |stream: &BorrowedFd<'_>| fstatfs(stream).is_ok_and(|found| found.f_type == PIPES);
    streams.into_iter().filter(is_pipe).try_for_each(close_pipe)
}

fn close_pipe(pipe: impl AsFd) -> Result<(), ConfineError> {
    fchmod(pipe, Mode::empty()).map_err(step("close a pipe"))
}

/// A pipe with a token for each core, as the compiler would make it by itself, but that nobody can open again, and the
/// variable that names it.
fn tokens() -> Result<(String, String), ConfineError> {
    let failed = step("make the tokens of threads");
    // Whatever becomes of this process inherits it.
    let (read, write) = pipe_with(PipeFlags::empty()).map_err(&failed)?;
    close_pipe(&read)?;
    rustix::io::write(&write, &[b'|'; CORES]).map_err(&failed)?;
    let names = format!("--jobserver-auth={},{}", read.into_raw_fd(), write.into_raw_fd());
    Ok(("CARGO_MAKEFLAGS".to_owned(), names))
}

/// Leaves every file that is made its name, by which it is found and counted: one that is mapped and has neither a name nor
/// a descriptor takes room that nobody sees but the kernel. The compiler and the linker remove what they are done with and
/// take it for an error if they cannot, so they are told that it is gone; nothing takes the name of a file that is there.
fn keep_names() -> Result<bool, ConfineError> {
    let mut removals = calls! { SYS_unlinkat }.to_vec();
    #[cfg(target_arch = "x86_64")]
    removals.extend(calls! { SYS_unlink SYS_rmdir });
    // The kernel's own bit of the flag, which with that of directories makes a file without a name.
    let nameless = u64::from((libc::O_TMPFILE & !libc::O_DIRECTORY).unsigned_abs());
    let mut made_nameless = vec![call(libc::SYS_openat).with_bits(2, nameless, nameless)];
    #[cfg(target_arch = "x86_64")]
    made_nameless.push(call(libc::SYS_open).with_bits(1, nameless, nameless));
    // `openat2`, whose flags no filter sees, is on no list.
    Ok(calls::all([
        calls::pretend(&removals)?,
        calls::refuse(&made_nameless, libc::EPERM, calls::FilterScope::ThisOne)?,
    ]))
}

/// The system says by a signal of its own that the time is over, and kills a while later: who is killed before was by others.
fn limit_processor_time(seconds: u64) -> Result<(), ConfineError> {
    let own = rustix::process::getrlimit(Resource::Cpu).maximum.unwrap_or(u64::MAX);
    let maximum = seconds.saturating_add(GRACE).min(own);
    let limit = Rlimit { current: Some(seconds.min(maximum)), maximum: Some(maximum) };
    rustix::process::setrlimit(Resource::Cpu, limit).map_err(step("limit processor time"))
}

fn few_cores() -> Result<(), ConfineError> {
    let failed = step("choose cores");
    let all = sched_getaffinity(None).map_err(&failed)?;
    let mut few = CpuSet::new();
    for core in (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core)).take(CORES) {
        few.set(core);
    }
    sched_setaffinity(None, &few).map_err(&failed)
}

/// Processes and threads of this user, who may have others: the system counts all of them. It counts none of root's.
fn tasks_of_this_user() -> u64 {
    let own = rustix::process::getuid().as_raw();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let of_this_user = processes.filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == own));
    of_this_user.map(|entry| std::fs::read_dir(entry.path().join("task")).map_or(0, |tasks| tasks.count() as u64)).sum()
}

/// The calls that read, write and list files, start programs and wait for them. None of them changes the modes or owners
/// of files, or groups and sessions of processes: whatever is started can be ended as a group. None moves a file or gives
/// it another name: who cannot copies it.
fn of_a_compiler() -> Vec<SyscallRule> {
    let mut found = calls! {
        SYS_chdir SYS_faccessat2 SYS_fstat SYS_fstatfs SYS_statfs SYS_lseek SYS_pread64 SYS_pwrite64 SYS_getdents64
        SYS_close SYS_dup SYS_dup3 SYS_pipe2 SYS_ppoll SYS_unlinkat SYS_mkdirat SYS_ftruncate SYS_fallocate SYS_fadvise64
        SYS_fsync SYS_copy_file_range SYS_sendfile SYS_flock SYS_mincore SYS_wait4 SYS_waitid SYS_getppid SYS_getuid
        SYS_geteuid SYS_getgid SYS_getegid SYS_getrusage SYS_umask SYS_set_tid_address
    }
    .to_vec();
    // Older forms of calls on the list, and what a thread does with its registers.
    #[cfg(target_arch = "x86_64")]
    found.extend(calls! { SYS_arch_prctl SYS_poll SYS_pipe SYS_dup2 SYS_unlink SYS_rmdir SYS_mkdir });
    found
}

/// What may be asked of descriptors: whether one is a terminal, whether it waits, whether it is inherited.
fn on_descriptors() -> Vec<SyscallRule> {
    let duplicates = [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC];
    let flags = [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL];
    let control = duplicates.into_iter().chain(flags).map(|what| call(libc::SYS_fcntl).with(1, what.unsigned_abs()));
    let ask = [libc::TCGETS, libc::TIOCGWINSZ, libc::FIONBIO, libc::FIOCLEX];
    let ask = ask.into_iter().map(|what| call(libc::SYS_ioctl).with(1, u32::try_from(what).unwrap_or(u32::MAX)));
    control.chain(ask).collect()
}
