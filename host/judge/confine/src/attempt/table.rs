//! The attempts.

use libc::{c_long, c_void};
use std::ffi::{CString, OsStr};
use std::io::{Error, Read, Result};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::ptr::null;

/// One way out.
pub struct EscapeAttempt {
    /// As it is called on a command line.
    pub name: &'static str,
    /// Whether an ordinary user can do it on an ordinary machine, so that it must work unconfined.
    pub ordinary: bool,
    /// Whether a device child may do it: it reads files, and starts threads.
    pub device_may: bool,
    /// Does it, to the target where it has one.
    pub(super) make: fn(&OsStr) -> Result<()>,
}

const fn ordinary(name: &'static str, make: fn(&OsStr) -> Result<()>) -> EscapeAttempt {
    EscapeAttempt { name, ordinary: true, device_may: false, make }
}

const fn privileged(name: &'static str, make: fn(&OsStr) -> Result<()>) -> EscapeAttempt {
    EscapeAttempt { name, ordinary: false, device_may: false, make }
}

const fn but_for_the_device(attempt: EscapeAttempt) -> EscapeAttempt {
    EscapeAttempt { device_may: true, ..attempt }
}

/// Something that every child may do, in every sandbox: where it fails, the others are held by accident.
pub const HARMLESS: EscapeAttempt = EscapeAttempt {
    name: "allocate",
    ordinary: true,
    device_may: true,
    make: |_| {
        let mut memory = vec![1u8; 1 << 20];
        memory.truncate(std::hint::black_box(8));
        std::io::Write::write(&mut std::io::stdout(), &memory).map(drop)
    },
};

/// All attempts. Targets: `open-target`, `open-for-writing`, `truncate`, `change-mode`, `remove`, `move`, `link` and
/// `nameless-file` a file that there is; `open-key`, `open-cache-entry` and `list-cache` the key of a cache, an entry and its
/// directory, which are hidden from a device child; `create-file` and `make-directory` a name in a directory; `connect-tcp` an
/// address that listens; `connect-unix` and `connect-abstract` the name of a socket that listens. The others have none.
pub const ATTEMPTS: &[EscapeAttempt] = &[
    but_for_the_device(ordinary("open-passwd", |_| read("/etc/passwd".as_ref()))),
    but_for_the_device(ordinary("open-target", read)),
    ordinary("list-root", |_| std::fs::read_dir("/").map(drop)),
    ordinary("open-key", read),
    ordinary("open-cache-entry", read),
    ordinary("list-cache", |target| std::fs::read_dir(target).map(drop)),
    privileged("open-disk", |_| match disk() {
        Some(path) => read(path.as_ref()),
        None => Err(Error::from_raw_os_error(libc::EACCES)),
    }),
    ordinary("open-for-writing", |target| std::fs::OpenOptions::new().append(true).open(target).map(drop)),
    ordinary("create-file", |target| std::fs::write(target, "made")),
    ordinary("make-directory", |target| std::fs::create_dir(target)),
    ordinary("truncate", |target| {
        let path = c_string(target)?;
        call(libc::SYS_truncate, [path.as_ptr() as c_long, 0, 0, 0, 0, 0])
    }),
    ordinary("change-mode", |target| {
        let path = c_string(target)?;
        call(libc::SYS_fchmodat, [libc::AT_FDCWD.into(), path.as_ptr() as c_long, 0o600, 0, 0, 0])
    }),
    ordinary("remove", |target| std::fs::remove_file(target)),
    ordinary("move", |target| std::fs::rename(target, Path::new(target).with_extension("moved"))),
    ordinary("link", |target| std::fs::hard_link(target, Path::new(target).with_extension("linked"))),
    ordinary("nameless-file", |target| {
        let directory = Path::new(target).parent().unwrap_or(Path::new("."));
        std::fs::OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).open(directory).map(drop)
    }),
    but_for_the_device(ordinary("own-memory", |_| read("/proc/self/mem".as_ref()))),
    ordinary("parent-environment", |_| read(parent_file("environ").as_ref())),
    privileged("parent-memory", |_| read(parent_file("mem").as_ref())),
    ordinary("connect-tcp", |target| std::net::TcpStream::connect(&*target.to_string_lossy()).map(drop)),
    ordinary("listen-tcp", |_| std::net::TcpListener::bind("127.0.0.1:0").map(drop)),
    ordinary("send-udp", |_| {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
        socket.send_to(&[0], socket.local_addr()?).map(drop)
    }),
    ordinary("connect-unix", |target| UnixStream::connect(target).map(drop)),
    ordinary("connect-abstract", |target| {
        UnixStream::connect_addr(&SocketAddr::from_abstract_name(target.as_bytes())?).map(drop)
    }),
    ordinary("ask-kernel-by-netlink", |_| {
        call(libc::SYS_socket, [libc::AF_NETLINK.into(), libc::SOCK_RAW.into(), 0, 0, 0, 0])
    }),
    ordinary("fork", |_| new_process(libc::SYS_clone, [libc::SIGCHLD.into(), 0, 0, 0, 0, 0])),
    ordinary("fork-by-newer-call", |_| {
        let mut arguments = [0u64; 11];
        arguments[4] = u64::from(libc::SIGCHLD.unsigned_abs());
        new_process(libc::SYS_clone3, [arguments.as_ptr() as c_long, 88, 0, 0, 0, 0])
    }),
    ordinary("exec", |_| {
        let (path, nothing) = (c_string("/bin/true".as_ref())?, [null::<c_void>()]);
        let list = nothing.as_ptr() as c_long;
        call(libc::SYS_execve, [path.as_ptr() as c_long, list, list, 0, 0, 0])
    }),
    ordinary("exec-from-memory", |_| {
        let name = c_string("made".as_ref())?;
        let file = answer(libc::SYS_memfd_create, [name.as_ptr() as c_long, 0, 0, 0, 0, 0])?;
        let nothing = [null::<c_void>()];
        let (list, empty) = (nothing.as_ptr() as c_long, c_string("".as_ref())?);
        call(libc::SYS_execveat, [file, empty.as_ptr() as c_long, list, list, libc::AT_EMPTY_PATH.into(), 0])
    }),
    but_for_the_device(ordinary("memory-file", |_| {
        let name = c_string("made".as_ref())?;
        call(libc::SYS_memfd_create, [name.as_ptr() as c_long, 0, 0, 0, 0, 0])
    })),
    but_for_the_device(ordinary("start-thread", |_| match std::thread::Builder::new().spawn(|| {}) {
        Ok(thread) => thread.join().map_err(|_| Error::from_raw_os_error(libc::EINVAL)),
        Err(error) => Err(error),
    })),
    privileged("attach-to-parent", |_| call(libc::SYS_ptrace, [libc::PTRACE_SEIZE.into(), parent(), 0, 0, 0, 0])),
    privileged("read-parent", |_| across_processes(libc::SYS_process_vm_readv)),
    privileged("write-parent", |_| across_processes(libc::SYS_process_vm_writev)),
    ordinary("signal-parent", |_| call(libc::SYS_kill, [parent(), 0, 0, 0, 0, 0])),
    ordinary("signal-all", |_| call(libc::SYS_kill, [-1, 0, 0, 0, 0, 0])),
    ordinary("signal-thread-of-parent", |_| call(libc::SYS_tgkill, [parent(), parent(), 0, 0, 0, 0])),
    ordinary("hold-parent", |_| {
        let descriptor = answer(libc::SYS_pidfd_open, [parent(), 0, 0, 0, 0, 0])?;
        call(libc::SYS_pidfd_send_signal, [descriptor, 0, 0, 0, 0, 0])
    }),
    ordinary("limit-parent", |_| {
        let mut limits = [0u64; 2];
        call(libc::SYS_prlimit64, [parent(), libc::RLIMIT_AS.into(), 0, limits.as_mut_ptr() as c_long, 0, 0])
    }),
    privileged("io-uring", |_| {
        let mut parameters = [0u8; 120];
        call(libc::SYS_io_uring_setup, [4, parameters.as_mut_ptr() as c_long, 0, 0, 0, 0])
    }),
    privileged("userfaultfd", |_| call(libc::SYS_userfaultfd, [libc::O_CLOEXEC.into(), 0, 0, 0, 0, 0])),
    privileged("performance-counter", |_| {
        let attributes = [0u8; 128];
        call(libc::SYS_perf_event_open, [attributes.as_ptr() as c_long, 0, -1, -1, 0, 0])
    }),
    privileged("load-bpf", |_| call(libc::SYS_bpf, [0, 0, 0, 0, 0, 0])),
    privileged("load-module", |_| call(libc::SYS_finit_module, [-1, 0, 0, 0, 0, 0])),
    privileged("new-namespace", |_| call(libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0, 0, 0, 0])),
    privileged("other-namespace", |_| call(libc::SYS_setns, [-1, 0, 0, 0, 0, 0])),
    privileged("change-root", |_| {
        let path = c_string("/".as_ref())?;
        call(libc::SYS_chroot, [path.as_ptr() as c_long, 0, 0, 0, 0, 0])
    }),
    privileged("mount", |_| {
        let (path, kind) = (c_string("/".as_ref())?, c_string("no such file system".as_ref())?);
        call(libc::SYS_mount, [path.as_ptr() as c_long, path.as_ptr() as c_long, kind.as_ptr() as c_long, 0, 0, 0])
    }),
    privileged("keep-key", |_| call(libc::SYS_keyctl, [0, -3, 0, 0, 0, 0])),
    ordinary("shared-segment", |_| {
        let segment = answer(libc::SYS_shmget, [libc::IPC_PRIVATE.into(), 4096, 0o600, 0, 0, 0])?;
        call(libc::SYS_shmctl, [segment, libc::IPC_RMID.into(), 0, 0, 0, 0])
    }),
];

fn read(path: &OsStr) -> Result<()> {
    let mut byte = [0];
    let count = std::fs::File::open(path)?.read(&mut byte);
    // Whatever is read of it, it was opened.
    count.map(drop).or(Ok(()))
}

/// A disk, if any is to be seen.
fn disk() -> Option<std::path::PathBuf> {
    let devices = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let mut disks = devices.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device()));
    disks.next().map(|entry| entry.path())
}

fn parent() -> c_long {
    rustix::process::getppid().map_or(1, |parent| parent.as_raw_nonzero().get()).into()
}

fn parent_file(name: &str) -> String {
    format!("/proc/{}/{name}", parent())
}

fn c_string(text: &OsStr) -> Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

/// One byte at an address that no process has: the kernel looks at permissions first.
fn across_processes(number: c_long) -> Result<()> {
    let mut byte = 0u8;
    let own = [&raw mut byte as u64, 1];
    let other = [1u64, 1];
    call(number, [parent(), own.as_ptr() as c_long, 1, other.as_ptr() as c_long, 1, 0])
}

/// A call that returns twice if it works; the new process ends at once.
fn new_process(number: c_long, arguments: [c_long; 6]) -> Result<()> {
    match answer(number, arguments)? {
        // SAFETY: it ends the process, in which nothing else runs.
        0 => unsafe { libc::_exit(0) },
        _ => Ok(()),
    }
}

fn call(number: c_long, arguments: [c_long; 6]) -> Result<()> {
    answer(number, arguments).map(drop)
}

fn answer(number: c_long, [a, b, c, d, e, f]: [c_long; 6]) -> Result<c_long> {
    // SAFETY: whoever calls this holds what the arguments point to, and this process does nothing after the call but end.
    match unsafe { libc::syscall(number, a, b, c, d, e, f) } {
        -1 => Err(Error::last_os_error()),
        answer => Ok(answer),
    }
}
