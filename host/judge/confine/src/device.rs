//! The walls around a device child, which runs verified programs with libtorch, on a GPU with its driver: files are for
//! reading, but for hidden ones, and it reaches nobody by a socket and starts no program.
//!
//! Nobody lists what a driver does, so this is a list of what is refused. A refused call fails and nothing more: a
//! library that tries one and does without works.

use crate::calls::{self, Call, Threads, call};
use crate::files::Files;
use crate::process::{self, own_number};
use crate::{ConfineError, Walls, hidden};
use rustix::thread::CapabilitySet;
use std::path::{Path, PathBuf};

/// Whether the driver of a GPU is at work on this machine. Whether the GPU can be used is known when it is opened.
pub fn gpu_present() -> bool {
    Path::new("/dev/nvidiactl").exists()
}

/// Keeps what is not refused below, files for reading but for `hidden` ones and disks, and `writable` for writing. Comes
/// before the GPU is opened, and before threads are started.
///
/// # Errors
///
/// If the system refuses what every kernel supports.
pub fn before_opening(writable: Vec<PathBuf>, hidden: &[PathBuf]) -> Result<Walls, ConfineError> {
    // Files, whoever owns them.
    process::renounce(CapabilitySet::DAC_READ_SEARCH | CapabilitySet::DAC_OVERRIDE)?;
    let files = Files {
        readable: hidden::all_but(hidden),
        listable: hidden::listable(),
        writable: shared_memory(writable),
        devices: devices(),
        ..Files::default()
    };
    let landlock = files.enforce()?;
    let seccomp = calls::all([
        calls::hide_newer_clone(Threads::All)?,
        calls::forbid_second_numbers(Threads::All)?,
        calls::refuse(&refused(own_number()), libc::EPERM, Threads::All)?,
    ]);
    Ok(Walls { seccomp, landlock })
}

/// What CUDA writes beside devices: segments that its own threads share.
fn shared_memory(mut writable: Vec<PathBuf>) -> Vec<PathBuf> {
    writable.push("/dev/shm".into());
    writable
}

/// What CUDA opens for writing and controls: the devices of GPUs, which lie in `/dev` by the time a GPU can be used.
/// What a library prints to nowhere goes to `/dev/null`, and what CUDA calls its threads into their own files.
fn devices() -> Vec<PathBuf> {
    let mut found = vec!["/dev/null".into(), "/proc/self/task".into()];
    let names = std::fs::read_dir("/dev").into_iter().flatten().flatten().map(|entry| entry.file_name());
    found.extend(
        names
            .filter(|name| name.to_string_lossy().starts_with("nvidia") || name == "dxg")
            .map(|name| Path::new("/dev").join(name)),
    );
    found
}

/// The calls that are refused to the process of this number. `fchmod` is not among them: drivers set the modes of their
/// segments in shared memory.
fn refused(own: u32) -> Vec<Call> {
    let mut list = vec![
        // Programs and processes: whatever the child does, it does itself.
        call(libc::SYS_execve),
        call(libc::SYS_execveat),
        call(libc::SYS_clone).with_bits(0, libc::CLONE_THREAD.unsigned_abs().into(), 0),
        // Other processes: their memory, their descriptors, their limits, their lives.
        call(libc::SYS_ptrace),
        call(libc::SYS_process_vm_readv),
        call(libc::SYS_process_vm_writev),
        call(libc::SYS_process_madvise),
        call(libc::SYS_pidfd_open),
        call(libc::SYS_pidfd_getfd),
        call(libc::SYS_pidfd_send_signal),
        call(libc::SYS_kcmp),
        call(libc::SYS_prlimit64).without(0, 0).without(0, own),
        call(libc::SYS_kill).without(0, own),
        call(libc::SYS_tgkill).without(0, own),
        call(libc::SYS_tkill),
        call(libc::SYS_rt_sigqueueinfo),
        call(libc::SYS_rt_tgsigqueueinfo).without(0, own),
        // A queue of calls that no filter sees.
        call(libc::SYS_io_uring_setup),
        call(libc::SYS_io_uring_enter),
        call(libc::SYS_io_uring_register),
        // Large parts of the kernel that nothing here needs, and that attacks come through.
        call(libc::SYS_bpf),
        call(libc::SYS_perf_event_open),
        call(libc::SYS_userfaultfd),
        call(libc::SYS_keyctl),
        call(libc::SYS_add_key),
        call(libc::SYS_request_key),
        call(libc::SYS_fanotify_init),
        // Memory and queues of the system that outlive the process and are shared by number.
        call(libc::SYS_shmget),
        call(libc::SYS_shmat),
        call(libc::SYS_msgget),
        call(libc::SYS_semget),
        call(libc::SYS_mq_open),
        // Another view of the system.
        call(libc::SYS_unshare),
        call(libc::SYS_setns),
        call(libc::SYS_chroot),
        call(libc::SYS_pivot_root),
        call(libc::SYS_mount),
        call(libc::SYS_umount2),
        call(libc::SYS_open_tree),
        call(libc::SYS_move_mount),
        call(libc::SYS_fsopen),
        call(libc::SYS_fsconfig),
        call(libc::SYS_fsmount),
        call(libc::SYS_fspick),
        call(libc::SYS_mount_setattr),
        call(libc::SYS_open_by_handle_at),
        // The machine itself.
        call(libc::SYS_init_module),
        call(libc::SYS_finit_module),
        call(libc::SYS_delete_module),
        call(libc::SYS_kexec_load),
        call(libc::SYS_reboot),
        call(libc::SYS_swapon),
        call(libc::SYS_swapoff),
        call(libc::SYS_acct),
        call(libc::SYS_quotactl),
        call(libc::SYS_syslog),
        call(libc::SYS_settimeofday),
        call(libc::SYS_clock_settime),
        call(libc::SYS_clock_adjtime),
        call(libc::SYS_adjtimex),
        call(libc::SYS_sethostname),
        call(libc::SYS_setdomainname),
        // Changes of files that Landlock leaves alone, or learnt to see after its first version.
        call(libc::SYS_truncate),
        call(libc::SYS_fchmodat),
        call(libc::SYS_fchownat),
        call(libc::SYS_setxattr),
        call(libc::SYS_lsetxattr),
        call(libc::SYS_fsetxattr),
        call(libc::SYS_removexattr),
        call(libc::SYS_lremovexattr),
        call(libc::SYS_fremovexattr),
        call(libc::SYS_utimensat),
    ];
    list.extend(sockets());
    list.extend(of_this_architecture());
    list
}

/// The network and other processes' sockets. CUDA does not start without one of its own that it could be called at
/// (AF_UNIX, bound and listening); nobody is let in, and it calls nobody.
fn sockets() -> Vec<Call> {
    vec![
        call(libc::SYS_socket).without(0, libc::AF_UNIX.unsigned_abs()),
        call(libc::SYS_socketpair),
        call(libc::SYS_connect),
        call(libc::SYS_accept),
        call(libc::SYS_accept4),
        call(libc::SYS_sendto),
        call(libc::SYS_sendmsg),
        call(libc::SYS_sendmmsg),
    ]
}

/// Older forms of calls on the list.
#[cfg(target_arch = "x86_64")]
fn of_this_architecture() -> Vec<Call> {
    let numbers = [
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
        libc::SYS_kexec_file_load,
        libc::SYS_iopl,
        libc::SYS_ioperm,
    ];
    numbers.into_iter().map(call).collect()
}

/// There are none.
#[cfg(not(target_arch = "x86_64"))]
fn of_this_architecture() -> Vec<Call> {
    vec![]
}
