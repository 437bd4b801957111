//! Which system calls a process may make: seccomp.

use crate::ConfineError;
use crate::process::own_number;
use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, apply_filter_all_threads, sock_filter,
};
use std::collections::{BTreeMap, BTreeSet};

/// The option of `prctl` that says where the kernel's clock is: `PR_GET_AUXV`, which the crate `libc` does not have.
const GET_AUXILIARY_VECTOR: u32 = 0x4155_5856;

/// A system call on a list: always, or where its arguments are as the list says.
#[derive(Debug, Clone)]
pub(crate) struct SyscallRule {
    number: c_long,
    /// What must hold of the arguments, all of it: the position of one, its width, how it is compared, and with what.
    when: Vec<(u8, SeccompCmpArgLen, SeccompCmpOp, u64)>,
}

/// The calls of these names, whatever their arguments.
macro_rules! calls {
    ($($name:ident)*) => { [$(libc::$name),*].map($crate::calls::call) };
}
pub(crate) use calls;

/// The call, whatever its arguments.
pub(crate) fn call(number: c_long) -> SyscallRule {
    SyscallRule { number, when: vec![] }
}

impl SyscallRule {
    /// Only where a 32-bit argument has this value.
    pub(crate) fn with(mut self, argument: u8, value: u32) -> SyscallRule {
        self.when.push((argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value.into()));
        self
    }

    /// Only where a 32-bit argument has another value.
    pub(crate) fn without(mut self, argument: u8, value: u32) -> SyscallRule {
        self.when.push((argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value.into()));
        self
    }

    /// Only where those bits of an argument that are set in `mask` are as in `value`.
    pub(crate) fn with_bits(mut self, argument: u8, mask: u64, value: u64) -> SyscallRule {
        self.when.push((argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value));
        self
    }
}

/// Which threads a filter is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterScope {
    /// This one, and those it starts.
    ThisOne,
    /// All of the process.
    All,
}

/// Ends the process at any call but those of [`of_any_child`] and those that are `allowed`. Those that are `refused` fail,
/// for libraries that do without.
pub(crate) fn enclose(
    allowed: &[SyscallRule],
    refused: &[SyscallRule],
    threads: FilterScope,
) -> Result<bool, ConfineError> {
    let mut known = of_any_child();
    known.extend(adding_filters());
    known.extend(allowed.iter().chain(refused).cloned());
    known.push(call(libc::SYS_clone3));
    let stand = [
        hide_newer_clone(threads)?,
        refuse(refused, libc::EACCES, threads)?,
        // The filters above let pass what they do not name, and this one ends it.
        install(&filter(&known, SeccompAction::KillProcess, SeccompAction::Allow)?, threads)?,
    ];
    Ok(all(stand))
}

/// No more threads, and no more filters, from any thread of an enclosed process.
pub(crate) fn narrow() -> Result<bool, ConfineError> {
    let calls = [call(libc::SYS_clone), call(libc::SYS_seccomp)];
    install(&filter(&calls, SeccompAction::Allow, SeccompAction::KillProcess)?, FilterScope::All)
}

/// Answers calls that are listed with an error, for libraries that do without.
pub(crate) fn refuse(calls: &[SyscallRule], errno: i32, threads: FilterScope) -> Result<bool, ConfineError> {
    let errno = SeccompAction::Errno(errno.unsigned_abs());
    install(&filter(calls, SeccompAction::Allow, errno)?, threads)
}

/// Answers calls that are listed as if they had been done, in this thread, and in all processes that it starts.
pub(crate) fn pretend(calls: &[SyscallRule]) -> Result<bool, ConfineError> {
    refuse(calls, 0, FilterScope::ThisOne)
}

/// Answers every call with an error but those of [`of_any_child`] and those that are `allowed`, in this thread, and in all
/// processes that it starts: for programs that others wrote and that try calls which they can do without.
pub(crate) fn allow_only(allowed: &[SyscallRule]) -> Result<bool, ConfineError> {
    let mut known = of_any_child();
    known.extend_from_slice(allowed);
    known.push(call(libc::SYS_clone3));
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let stand = [
        hide_newer_clone(FilterScope::ThisOne)?,
        install(&filter(&known, refused, SeccompAction::Allow)?, FilterScope::ThisOne)?,
    ];
    Ok(all(stand))
}

/// Ends the process at a call by a number that lists do not know: on x86-64 each call has a second one, for programs
/// with short pointers.
pub(crate) fn forbid_second_numbers(threads: FilterScope) -> Result<bool, ConfineError> {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const SECOND: u32 = 0x4000_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    if !cfg!(target_arch = "x86_64") {
        return Ok(true);
    }
    let program = vec![
        step(LOAD_NUMBER, 0, 0, 0),
        step(JUMP_IF_AT_LEAST, 0, 1, SECOND),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    install(&program, threads)
}

/// Of several filters of system calls, whether all stand.
pub(crate) fn all(stand: impl IntoIterator<Item = bool>) -> bool {
    stand.into_iter().all(|stands| stands)
}

fn filter(
    calls: &[SyscallRule],
    others: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, seccompiler::Error> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let always: BTreeSet<c_long> = calls.iter().filter(|call| call.when.is_empty()).map(|call| call.number).collect();
    for call in calls {
        let of_call = rules.entry(call.number).or_default();
        // A call without rules is listed whatever its arguments.
        if !always.contains(&call.number) {
            let conditions = call.when.iter().cloned();
            let conditions = conditions
                .map(|(argument, width, compare, value)| SeccompCondition::new(argument, width, compare, value));
            of_call.push(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?);
        }
    }
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    Ok(SeccompFilter::new(rules, others, listed, architecture)?.try_into()?)
}

/// Whether the kernel has seccomp, and the filter is in force.
fn install(program: &BpfProgram, threads: FilterScope) -> Result<bool, ConfineError> {
    let installed = match threads {
        FilterScope::ThisOne => apply_filter(program),
        FilterScope::All => apply_filter_all_threads(program),
    };
    match installed {
        Ok(()) => Ok(true),
        // A kernel without the call, or without filters.
        Err(seccompiler::Error::Seccomp(error))
            if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) =>
        {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// The calls of a program that works on memory and answers messages. None of them names anything outside the process.
fn of_any_child() -> Vec<SyscallRule> {
    let always = calls! {
        // Messages, on descriptors that are open already.
        SYS_read SYS_write SYS_readv SYS_writev
        // Memory.
        SYS_mmap SYS_munmap SYS_mremap SYS_mprotect SYS_madvise SYS_brk
        // Locks.
        SYS_futex SYS_sched_yield
        // What a thread does when it begins.
        SYS_set_robust_list SYS_rseq SYS_gettid SYS_sched_getaffinity
        // Its own faults, which wasmtime turns into traps.
        SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_sigaltstack
        // Time.
        SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_nanosleep SYS_gettimeofday SYS_restart_syscall
        // Seeds of hash maps.
        SYS_getrandom
        // Machine code that one thread wrote and another runs.
        SYS_membarrier
        // The end.
        SYS_getpid SYS_exit SYS_exit_group
    };
    let conditional = [
        // `abort` is a signal to itself.
        call(libc::SYS_tgkill).with(0, own_number()),
        // Its own limits, which can be lowered alone.
        call(libc::SYS_prlimit64).with(0, 0),
        // The name of a thread, and where the kernel's clock is.
        call(libc::SYS_prctl).with(0, libc::PR_SET_NAME.unsigned_abs()),
        call(libc::SYS_prctl).with(0, GET_AUXILIARY_VECTOR),
    ];
    always.into_iter().chain(conditional).collect()
}

/// The calls that look for a file. Libraries do without those that they look for late.
pub(crate) fn looking_for_files() -> Vec<SyscallRule> {
    let mut found = calls! { SYS_openat SYS_newfstatat SYS_statx SYS_readlinkat SYS_faccessat SYS_getcwd }.to_vec();
    #[cfg(target_arch = "x86_64")]
    found.extend(calls! { SYS_open SYS_stat SYS_lstat SYS_readlink SYS_access });
    found
}

/// The calls that look at the machine. Libraries do without, and the answers are nobody's business.
pub(crate) fn looking_at_the_machine() -> [SyscallRule; 2] {
    calls! { SYS_sysinfo SYS_uname }
}

/// The call that starts a thread, and cannot start a process: exactly as the C library makes it.
pub(crate) fn starting_threads() -> SyscallRule {
    let flags = libc::CLONE_VM
        | libc::CLONE_FS
        | libc::CLONE_FILES
        | libc::CLONE_SIGHAND
        | libc::CLONE_THREAD
        | libc::CLONE_SYSVSEM
        | libc::CLONE_SETTLS
        | libc::CLONE_PARENT_SETTID
        | libc::CLONE_CHILD_CLEARTID;
    call(libc::SYS_clone).with_bits(0, u64::MAX, u64::from(flags.unsigned_abs()))
}

/// The call that starts a program: a process that shares all memory with the one that waits for it, until it becomes
/// another program.
pub(crate) fn starting_programs() -> [SyscallRule; 2] {
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    [call(libc::SYS_clone).with_bits(0, u64::MAX, u64::from(flags.unsigned_abs())), call(libc::SYS_execve)]
}

/// The newer call for threads, whose arguments no filter can see. The C library uses the older one where it is not there.
pub(crate) fn hide_newer_clone(threads: FilterScope) -> Result<bool, ConfineError> {
    refuse(&[call(libc::SYS_clone3)], libc::ENOSYS, threads)
}

/// The calls by which a filter is put on top of another.
fn adding_filters() -> [SyscallRule; 2] {
    [call(libc::SYS_seccomp), call(libc::SYS_prctl).with(0, libc::PR_SET_NO_NEW_PRIVS.unsigned_abs())]
}
