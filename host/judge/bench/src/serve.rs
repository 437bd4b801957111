//! The message loop of the device child.

use crate::device::BenchDevice;
use crate::link::{Link, compiler};
use crate::once;
use crate::session::ReferenceSession;
use crate::steady::Steady;
use passhost_confine::{ConfineError, SandboxProfile, device as confinement, process};
use passhost_ir::NodeId;
use passhost_protocol::FrameError;
use passhost_protocol::device::{
    DeviceChoice, DeviceStage, EvaluationReport, FromDevice, ReferenceError, RewriteError, RewriteJob, RewriteTask,
    ToDevice,
};
use passhost_result::{DeviceInfo, Launch};
use passhost_torch::OutOfMemory;
use std::fs::File;
use std::io::Stdin;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Why the child stopped serving.
#[derive(Debug, thiserror::Error)]
pub enum DeviceServeError {
    /// The supervisor is gone or sent something malformed.
    #[error("{0}")]
    Frame(#[from] FrameError),
    /// The process could not be set up.
    #[error("cannot set up the device process: {0}")]
    Setup(#[from] rustix::io::Errno),
    /// The process still has rights that it must not have.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// A request came before the one it depends on.
    #[error("the supervisor sent `{0}` out of turn")]
    UnexpectedMessage(&'static str),
}

/// Serves the supervisor until it closes the pipe.
///
/// # Errors
///
/// If the pipe breaks, or a message is malformed or out of turn.
pub fn serve() -> Result<(), DeviceServeError> {
    let messages = set_up()?;
    let link = Arc::new(Link::new(std::io::stdin(), messages));
    let mut device: Option<Rc<BenchDevice>> = None;
    let mut reference: Option<ReferenceSession> = None;
    let mut directory: Option<PathBuf> = None;
    loop {
        let request = match link.receive() {
            Err(FrameError::Closed) => return Ok(()),
            request => request?,
        };
        let asked = device.clone().inspect(|device| drop(device.restart()));
        let reply = match request {
            ToDevice::Open { device: choice, threads, launch, files, hidden, check_on_cpu } => {
                let profile = enclose(files.as_ref(), &hidden)?;
                directory = files;
                match open((choice, launch), threads, &link) {
                    Ok((opened, info)) => {
                        let opened = Rc::new(if check_on_cpu { opened.checked_by_cpu() } else { opened });
                        let gpu = opened.properties();
                        device = Some(opened);
                        FromDevice::Opened { device: info, profile, gpu }
                    }
                    Err(reason) => {
                        link.send(&FromDevice::Unusable(reason))?;
                        return Ok(());
                    }
                }
            }
            ToDevice::Load { program, inputs, seed } => {
                // The old program's memory is free before the new one's is taken.
                reference = None;
                let device = device.as_ref().ok_or(DeviceServeError::UnexpectedMessage("Load"))?;
                let loaded =
                    caught(|| ReferenceSession::load(device, program, inputs, seed, |stage| link.announce(stage)));
                let loaded = loaded.unwrap_or_else(|message| Err(ReferenceError::Memory(message)));
                FromDevice::Loaded(loaded.map(|(loaded, report)| {
                    reference = Some(loaded);
                    report
                }))
            }
            ToDevice::Rewrite(task, job) => {
                let reference = reference.as_ref().ok_or(DeviceServeError::UnexpectedMessage("Rewrite"))?;
                of_rewrite(reference, &job, task, &|stage| link.announce(stage))
            }
            ToDevice::Run { program, inputs, seed } => match &device {
                Some(device) => {
                    let ran = caught(|| once::run(device, &program, &inputs, seed, directory.as_deref()));
                    FromDevice::Ran(ran.unwrap_or_else(|message| Err(ReferenceError::Memory(message).into())))
                }
                None => return Err(DeviceServeError::UnexpectedMessage("Run")),
            },
            ToDevice::Draw { seed, rounds } => {
                let given = reference.as_ref().zip(directory.as_deref());
                let (reference, directory) = given.ok_or(DeviceServeError::UnexpectedMessage("Draw"))?;
                let drawn = caught(|| reference.write_inputs(directory, seed, rounds));
                FromDevice::Drawn(drawn.unwrap_or_else(|message| Err(ReferenceError::Memory(message).into())))
            }
            ToDevice::Judge(run) => {
                let reference = reference.as_ref().ok_or(DeviceServeError::UnexpectedMessage("Judge"))?;
                let judged = caught(|| reference.judge_external(&run));
                let judged = judged.unwrap_or_else(|message| EvaluationReport::failed(full(message)));
                FromDevice::Evaluated(Box::new(judged))
            }
            ToDevice::Compiled(_) => return Err(DeviceServeError::UnexpectedMessage("Compiled")),
        };
        if let Some(device) = &asked {
            link.send(&FromDevice::Spent(device.restart()))?;
        }
        let lost = device.as_ref().is_some_and(|device| device.is_lost());
        if let (Some(reference), false) = (&reference, lost) {
            reference.give_back();
        }
        if lost {
            link.send(&FromDevice::Lost)?;
        }
        link.send(&reply)?;
        if lost {
            // Every further call would fail, and releasing what the device holds as well.
            std::process::exit(0);
        }
    }
}

/// Does something with a rewrite of the loaded program.
fn of_rewrite(
    reference: &ReferenceSession,
    job: &RewriteJob,
    task: RewriteTask,
    stage: &dyn Fn(DeviceStage),
) -> FromDevice {
    match task {
        RewriteTask::Evaluate => {
            let evaluated = caught(|| reference.evaluate(job, stage));
            let evaluated = evaluated.unwrap_or_else(|message| EvaluationReport::failed(full(message)));
            FromDevice::Evaluated(Box::new(evaluated))
        }
        RewriteTask::Time { passes_at, cores } => {
            let steady = Steady::on(&cores, reference.is_on_gpu());
            let timed = caught(|| reference.time(job, passes_at, stage));
            drop(steady);
            FromDevice::Timed(timed.unwrap_or_else(|message| Err(full(message).into())).map(Box::new))
        }
        RewriteTask::Tune(known) => {
            stage(DeviceStage::Tuning);
            let tuned = caught(|| reference.tune(job, &known));
            FromDevice::Tuned(tuned.unwrap_or_else(|message| Err(full(message))))
        }
        RewriteTask::Trace(shown_by) => {
            // What fails here ran before: it says nothing of the rewrite.
            let traced = caught(|| reference.trace(job, &shown_by).ok().flatten());
            FromDevice::Traced(traced.unwrap_or_default())
        }
    }
}

/// What `work` gives, or that the device has no memory left for copies of our own. Any other panic ends the process.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match panic.downcast::<OutOfMemory>() {
        Ok(memory) => memory.0,
        Err(other) => resume_unwind(other),
    })
}

/// No memory for what a rewrite runs on.
fn full(message: String) -> RewriteError {
    RewriteError::Memory { node: NodeId(0), op: "a copy of tensors".into(), message }
}

/// Prepares the process; returns where messages leave it.
pub(crate) fn set_up() -> Result<File, DeviceServeError> {
    // The supervisor's death ends this process whatever libtorch is doing.
    process::die_with_parent()?;
    // Messages leave by a descriptor of their own: what libraries print goes to standard error.
    let messages = File::from(rustix::io::dup(rustix::stdio::stdout())?);
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(messages)
}

/// Confines the process: before a thread is started, and before a GPU is opened.
pub(crate) fn enclose(files: Option<&PathBuf>, hidden: &[PathBuf]) -> Result<SandboxProfile, ConfineError> {
    confinement::before_opening(files.cloned().into_iter().collect(), hidden)
}

fn open(
    (choice, launch): (DeviceChoice, Launch),
    threads: Option<u32>,
    link: &Arc<Link<Stdin, File>>,
) -> Result<(BenchDevice, DeviceInfo), String> {
    let gpu = |index| BenchDevice::gpu(index, |capability| compiler(link, capability));
    let available = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let threads = threads.unwrap_or(available);
    passhost_torch::process::set_threads(threads);
    // For drawing inputs and comparing outputs. It fails only where a pool exists already.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global();
    let (device, note) = match choice {
        DeviceChoice::Cpu => (BenchDevice::cpu(), String::new()),
        DeviceChoice::Auto if !confinement::gpu_present() => (BenchDevice::cpu(), String::new()),
        DeviceChoice::Auto => match gpu(0) {
            Ok(device) => (device, String::new()),
            Err(reason) => (BenchDevice::cpu(), format!("a GPU is present and cannot be used: {reason}")),
        },
        DeviceChoice::Cuda(index) => match gpu(index) {
            Ok(device) => (device, String::new()),
            Err(reason) => return Err(format!("cuda:{index} cannot be used: {reason}; `--device cpu` needs no GPU")),
        },
    };
    let [name, product, id] = device.names().unwrap_or_else(|| ["cpu".into(), processor(), "cpu".into()]);
    let settings = if name == "cpu" { String::new() } else { passhost_torch::gpu_settings() };
    let info = DeviceInfo {
        device: name,
        name: product,
        id,
        facts: device.facts(threads, launch)?,
        threads,
        torch: passhost_torch::version(),
        settings,
        note,
    };
    Ok((device, info))
}

fn processor() -> String {
    let name = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

#[cfg(test)]
#[allow(clippy::panic, reason = "work panics on purpose")]
mod tests {
    use super::*;

    #[test]
    fn a_panic_for_want_of_memory_is_told_and_any_other_goes_on_whatever_it_says() {
        let memory = OutOfMemory("Tried to allocate 3 GiB".to_owned());
        let said = caught(|| std::panic::panic_any(memory));
        assert_eq!(said, Err::<(), _>("Tried to allocate 3 GiB".to_owned()));
        assert_eq!(caught(|| 7), Ok(7));
        for other in ["index out of bounds", "this text has the words out of memory"] {
            assert!(catch_unwind(|| caught(|| std::panic::panic_any(other.to_owned()))).is_err(), "{other}");
        }
    }
}
