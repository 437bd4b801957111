//! Files that are no files, and the command in a process of its own.

use crate::{Case, Trouble};
use passhost_child::beside_this_executable;
use rustix::fs::{CWD, FileType, Mode};
use rustix::process::{Pid, Signal};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// KiB of address space for the command and each of its children: libtorch maps a lot and fills little of it.
const MEMORY: u64 = 6 << 20;
/// Wall clock of the command.
const LIMIT: Duration = Duration::from_secs(20);

/// How the command ended.
pub struct Ended {
    /// Exit code, `None` if a signal ended it.
    pub code: Option<i32>,
    /// Whether it took too long and was killed.
    pub hung: bool,
    /// What it printed to standard error.
    pub errors: String,
}

/// A pipe with a name, which nobody writes to.
pub fn make_fifo(path: &Path) -> Result<(), Trouble> {
    Ok(rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

/// Runs `passhost` with limits on memory and time.
pub fn run_apart<A: AsRef<std::ffi::OsStr>>(arguments: &[A], user_cache: &Path) -> Result<Ended, Trouble> {
    let program = beside_this_executable("passhost");
    if !program.exists() {
        return Err(format!("no {}: run `make build`", program.display()).into());
    }
    let errors = tempfile::NamedTempFile::new()?;
    let mut process = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\""), "sh"])
        .arg(program)
        .args(arguments)
        .env("XDG_CACHE_HOME", user_cache)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors.reopen()?)
        .process_group(0)
        .spawn()?;
    let group = Pid::from_child(&process);
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || sender.send(process.wait()));
    let in_time = ended.recv_timeout(LIMIT);
    let hung = in_time.is_err();
    let status = match in_time {
        Ok(status) => status?,
        Err(_) => {
            // Its children as well: they may be what hangs.
            rustix::process::kill_process_group(group, Signal::KILL)?;
            ended.recv()??
        }
    };
    let mut text = String::new();
    errors.reopen()?.read_to_string(&mut text)?;
    Ok(Ended { code: status.code(), hung, errors: text })
}

/// What stands in place of a plugin file.
pub enum Odd {
    /// A pipe that nobody writes to.
    Fifo,
    /// A link to this.
    Link(String),
    /// A directory.
    Directory,
    /// So many bytes, none of them written.
    Sparse(u64),
}

/// What `source.file` of a case asks for: `fifo`, `link TARGET`, `directory`, `sparse BYTES`.
pub fn named(case: &Case) -> Result<Option<Odd>, Trouble> {
    let path = case.path.join("source.file");
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path)?;
    Ok(Some(match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["fifo"] => Odd::Fifo,
        ["link", target] => Odd::Link((*target).to_owned()),
        ["directory"] => Odd::Directory,
        ["sparse", bytes] => Odd::Sparse(bytes.parse()?),
        _ => return Err(format!("{}: no such file can be made", path.display()).into()),
    }))
}

impl Odd {
    /// Makes it, and says where.
    pub fn make(&self, directory: &Path) -> Result<PathBuf, Trouble> {
        let path = directory.join("plugin.wasm");
        match self {
            Odd::Fifo => make_fifo(&path)?,
            Odd::Link(target) => std::os::unix::fs::symlink(target, &path)?,
            Odd::Directory => std::fs::create_dir(&path)?,
            Odd::Sparse(bytes) => std::fs::File::create(&path)?.set_len(*bytes)?,
        }
        Ok(path)
    }
}
