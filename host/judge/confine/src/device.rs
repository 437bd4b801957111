//! The sandbox profile of a device child, which runs verified programs with libtorch, on a GPU with its driver: files
//! are for reading, but for hidden ones, and it reaches nobody by a socket and starts no program.
//!
//! Nobody lists what a driver does, so this is a list of what is refused. A refused call fails and nothing more: a
//! library that tries one and does without works.

use crate::calls::{self, FilterScope, SyscallRule, call, calls};
use crate::files::FileAccess;
use crate::process::{self, own_number};
use crate::{ConfineError, SandboxProfile, hidden};
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
pub fn before_opening(writable: Vec<PathBuf>, hidden: &[PathBuf]) -> Result<SandboxProfile, ConfineError> {
    // Files, whoever owns them.
    process::renounce(CapabilitySet::DAC_READ_SEARCH | CapabilitySet::DAC_OVERRIDE)?;
    let files = FileAccess {
        readable: hidden::all_but(hidden),
        listable: vec![hidden::DEVICES.into()],
        // What CUDA writes beside devices: segments that its own threads share.
        writable: [writable, vec!["/dev/shm".into()]].concat(),
        devices: devices(),
        ..FileAccess::default()
    };
    let landlock = files.enforce()?;
    let seccomp = calls::all([
        calls::hide_newer_clone(FilterScope::All)?,
        calls::forbid_second_numbers(FilterScope::All)?,
        calls::refuse(&refused(own_number()), libc::EPERM, FilterScope::All)?,
    ]);
    Ok(SandboxProfile { seccomp, landlock })
}

/// What CUDA opens for writing and controls: the devices of GPUs, which lie in `/dev` by the time a GPU can be used.
/// What a library prints to nowhere goes to `/dev/null`, and what CUDA calls its threads into their own files.
fn devices() -> Vec<PathBuf> {
    let names = std::fs::read_dir("/dev").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let of_gpus = names.filter(|name| name.to_string_lossy().starts_with("nvidia") || name == "dxg");
    let fixed = ["/dev/null", "/proc/self/task"].map(PathBuf::from);
    fixed.into_iter().chain(of_gpus.map(|name| Path::new("/dev").join(name))).collect()
}

/// The calls that are refused to the process of this number. `fchmod` is not among them: drivers set the modes of their
/// segments in shared memory.
fn refused(own: u32) -> Vec<SyscallRule> {
    let mut list = vec![
        // Processes: whatever the child does, it does itself.
        call(libc::SYS_clone).with_bits(0, libc::CLONE_THREAD.unsigned_abs().into(), 0),
        // Other processes: their limits, their lives.
        call(libc::SYS_prlimit64).without(0, 0).without(0, own),
        call(libc::SYS_kill).without(0, own),
        call(libc::SYS_tgkill).without(0, own),
        call(libc::SYS_rt_tgsigqueueinfo).without(0, own),
    ];
    list.extend(calls! {
        // Programs.
        SYS_execve SYS_execveat
        // Other processes: their memory, their descriptors, their lives.
        SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_pidfd_open SYS_pidfd_getfd
        SYS_pidfd_send_signal SYS_kcmp SYS_tkill SYS_rt_sigqueueinfo
        // A queue of calls that no filter sees.
        SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
        // Large parts of the kernel that nothing here needs, and that attacks come through.
        SYS_bpf SYS_perf_event_open SYS_userfaultfd SYS_keyctl SYS_add_key SYS_request_key SYS_fanotify_init
        // Memory and queues of the system that outlive the process and are shared by number.
        SYS_shmget SYS_shmat SYS_msgget SYS_semget SYS_mq_open
        // Another view of the system.
        SYS_unshare SYS_setns SYS_chroot SYS_pivot_root SYS_mount SYS_umount2 SYS_open_tree SYS_move_mount SYS_fsopen
        SYS_fsconfig SYS_fsmount SYS_fspick SYS_mount_setattr SYS_open_by_handle_at
        // The machine itself.
        SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load SYS_reboot SYS_swapon SYS_swapoff SYS_acct
        SYS_quotactl SYS_syslog SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_sethostname
        SYS_setdomainname
        // Changes of files that Landlock leaves alone, or learnt to see after its first version.
        SYS_truncate SYS_fchmodat SYS_fchownat SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr
        SYS_lremovexattr SYS_fremovexattr SYS_utimensat
        // The network and other processes' sockets. CUDA does not start without one of its own that it could be called
        // at (AF_UNIX, bound and listening); nobody is let in, and it calls nobody.
        SYS_socketpair SYS_connect SYS_accept SYS_accept4 SYS_sendto SYS_sendmsg SYS_sendmmsg
    });
    list.push(call(libc::SYS_socket).without(0, libc::AF_UNIX.unsigned_abs()));
    // Older forms of calls on the list.
    #[cfg(target_arch = "x86_64")]
    list.extend(calls! {
        SYS_fork SYS_vfork SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat SYS_kexec_file_load SYS_iopl
        SYS_ioperm
    });
    list
}
