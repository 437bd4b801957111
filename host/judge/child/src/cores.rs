//! Which cores time, and which do everything else meanwhile.

use crate::device::Device;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Cores that a device's children time on and that nothing else of an evaluation uses; none where every core is needed, or
/// the system does not say which there are. A CPU is timed on as many cores as it has threads, a GPU by one thread. A GPU of
/// another number may be timed at the same time, by another evaluation too: none takes the core of one with a lower number,
/// nor a core that shares what computes with it. Evaluations that see one GPU each share a core if their GPUs have the same
/// [number](gpu_number), as parts of a GPU do.
pub fn for_timing(gpu: Option<u32>, threads: u32) -> Vec<u32> {
    let wanted = if gpu.is_some() { 1 } else { threads as usize };
    let mut left = allowed();
    for _ in 0..gpu.unwrap_or(0) {
        let taken = left.split_off(left.len().saturating_sub(wanted));
        let twins: Vec<u32> = taken.into_iter().flat_map(twins).collect();
        left.retain(|core| !twins.contains(core));
    }
    if wanted >= left.len() { vec![] } else { left.split_off(left.len() - wanted) }
}

/// The cores that are left for checking while these time; none if there are none to spare. A core that shares what
/// computes with one that times is not to spare.
pub fn for_checking(timing: &[u32]) -> Vec<u32> {
    if timing.is_empty() {
        return vec![];
    }
    let twins: Vec<u32> = timing.iter().flat_map(|&core| twins(core)).collect();
    allowed().into_iter().filter(|core| !timing.contains(core) && !twins.contains(core)).collect()
}

/// The cores that other work of this machine may keep to, so that it may go on while any of these devices is timed. None
/// where it must wait: a CPU is timed with all that its cores share, and where a GPU has no core to itself, whoever asks it
/// for runs has to share one.
pub fn beside(devices: &[Device]) -> Vec<u32> {
    if devices.iter().any(|device| device.gpu().is_none()) {
        return vec![];
    }
    left(&devices.iter().map(Device::cores).collect::<Vec<_>>())
}

/// The cores that are left where each of several devices times on cores of its own; none where one of them has none.
fn left(timing: &[Vec<u32>]) -> Vec<u32> {
    if timing.iter().any(Vec::is_empty) { vec![] } else { for_checking(&timing.concat()) }
}

/// Cores that a thread keeps to, with what it starts meanwhile, until this is dropped.
#[derive(Debug)]
pub struct PinnedCores(Option<CpuSet>);

impl PinnedCores {
    /// Keeps the calling thread to these cores; to those that it has where there are none.
    pub fn to(cores: &[u32]) -> PinnedCores {
        let before = if cores.is_empty() { None } else { sched_getaffinity(None).ok() };
        if before.is_some() {
            keep_to(cores);
        }
        PinnedCores(before)
    }
}

impl Drop for PinnedCores {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = sched_setaffinity(None, before);
        }
    }
}

/// Keeps the calling thread to these cores, and threads and children that it starts from now on. Where that is not allowed,
/// they stay where they are.
pub fn keep_to(cores: &[u32]) {
    let _ = sched_setaffinity(None, &set_of(cores));
}

/// Keeps another process to these cores, and what it starts from now on; false where that is not allowed.
pub fn keep_process_to(process: u32, cores: &[u32]) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_some_and(|process| sched_setaffinity(Some(process), &set_of(cores)).is_ok())
}

fn set_of(cores: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core as usize));
    set
}

/// The cores that this process may use.
pub fn allowed() -> Vec<u32> {
    let set = sched_getaffinity(None);
    set.map_or_else(
        |_| vec![],
        |set| (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).map(|core| core as u32).collect(),
    )
}

/// The number by which a GPU gets its cores. CUDA's number, `shown`, counts the GPUs that a process sees, so that each may be
/// 0. The driver's tells it from all others, and is taken where there are cores for all GPUs that the driver names.
pub fn gpu_number(uuid: &str, shown: u32) -> u32 {
    let gpus = std::fs::read_dir("/proc/driver/nvidia/gpus").into_iter().flatten().flatten();
    let told = gpus.filter_map(|gpu| std::fs::read_to_string(gpu.path().join("information")).ok());
    let has_cores = |last| !for_timing(Some(last), 1).is_empty();
    number_of(uuid, &told.collect::<Vec<_>>(), has_cores).unwrap_or(shown)
}

/// The same of what the driver tells of each GPU. All GPUs are numbered by it, or none is: two must not share a core.
fn number_of(uuid: &str, told: &[String], has_cores: impl Fn(u32) -> bool) -> Option<u32> {
    let field = |text: &str, name: &str| Some(text.lines().find_map(|line| line.strip_prefix(name))?.trim().to_owned());
    let number = |text: &String| field(text, "Device Minor:")?.parse().ok();
    let last = told.iter().filter_map(number).max()?;
    let own = told.iter().find(|text| field(text, "GPU UUID:").as_deref() == Some(uuid))?;
    number(own).filter(|_| has_cores(last))
}

/// Cores that share what computes with this one.
fn twins(core: u32) -> Vec<u32> {
    let path = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
    std::fs::read_to_string(path).map_or_else(|_| vec![], |list| parse_list(&list))
}

/// `0-2,8` as 0, 1, 2 and 8.
fn parse_list(list: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_read() {
        assert_eq!(parse_list("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(parse_list("5\n"), [5]);
        assert_eq!(parse_list(""), Vec::<u32>::new());
    }

    #[test]
    fn a_gpu_has_the_number_that_the_driver_gives_it() {
        let gpu =
            |number: u32| format!("Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-{number}\nDevice Minor: \t {number}\n");
        let told = [gpu(3), gpu(1), "GPU UUID: \t GPU-2\n".to_owned()];
        let up_to =
            |most: u32| ["GPU-1", "GPU-3", "GPU-2", "GPU"].map(|uuid| number_of(uuid, &told, |last| last <= most));
        assert_eq!(up_to(3), [Some(1), Some(3), None, None]);
        assert_eq!(up_to(2), [None; 4], "where the last has no core, none is numbered so");
        assert_eq!(number_of("GPU-1", &[], |_| true), None);
        assert_eq!(gpu_number("GPU-that-is-not-there", 5), 5);
    }

    #[test]
    fn timing_takes_as_many_cores_as_threads_and_leaves_one() {
        let all = allowed().len();
        assert_eq!(for_timing(None, all as u32), Vec::<u32>::new());
        assert_eq!(for_timing(Some(0), all as u32).len(), usize::from(all > 1));
        let one = for_timing(None, 1);
        assert_eq!(one.len(), usize::from(all > 1));
        assert!(for_checking(&one).iter().all(|core| !one.contains(core)));
        assert_eq!(for_checking(&[]), Vec::<u32>::new());
    }

    #[test]
    fn what_goes_on_beside_devices_that_are_timed_keeps_off_the_cores_of_all() {
        let all = allowed();
        let (Some(&first), Some(&last)) = (all.first(), all.last()) else { return };
        let left_of = left(&[vec![first], vec![last]]);
        assert!(!left_of.contains(&first) && !left_of.contains(&last), "{left_of:?}");
        assert_eq!(left_of, for_checking(&[first, last]));
        // One that shares its core with everything else, or that is not there.
        assert_eq!([left(&[vec![first], vec![]]), left(&[])], [Vec::<u32>::new(), vec![]]);
    }

    #[test]
    fn a_thread_keeps_to_cores_for_a_while() {
        let all = allowed();
        let Some(&first) = all.first() else { return };
        let kept = PinnedCores::to(&[first]);
        assert_eq!(allowed(), [first]);
        drop(kept);
        drop(PinnedCores::to(&[]));
        assert_eq!(allowed(), all);
    }

    #[test]
    fn devices_that_time_at_once_have_cores_of_their_own() {
        let all: Vec<u32> = (0..4).flat_map(|number| for_timing(Some(number), 1)).collect();
        let apart = |(position, core): (usize, &u32)| !all[..position].contains(core);
        assert!(all.iter().enumerate().all(apart), "{all:?}");
        assert!(all.len() < allowed().len().max(1), "one core is left for everything else: {all:?}");
    }
}
