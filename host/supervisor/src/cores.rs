//! Which cores time, and which do everything else meanwhile.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Cores that a device's children time on and that nothing else of an evaluation uses; none where every core is needed, or
/// the system does not say which there are. A CPU is timed on as many cores as it has threads, a GPU by one thread. Where
/// so many devices before this one time at the same time, it takes none of theirs, nor a core that shares what computes
/// with one of theirs.
pub(crate) fn for_timing(is_gpu: bool, threads: u32, before: u32) -> Vec<u32> {
    let wanted = if is_gpu { 1 } else { threads as usize };
    let mut left = allowed();
    for _ in 0..before {
        let taken = left.split_off(left.len().saturating_sub(wanted));
        let twins: Vec<u32> = taken.into_iter().flat_map(twins).collect();
        left.retain(|core| !twins.contains(core));
    }
    if wanted >= left.len() { vec![] } else { left.split_off(left.len() - wanted) }
}

/// The cores that are left for checking while these time; none if there are none to spare. A core that shares what
/// computes with one that times is not to spare.
pub(crate) fn for_checking(timing: &[u32]) -> Vec<u32> {
    if timing.is_empty() {
        return vec![];
    }
    let twins: Vec<u32> = timing.iter().flat_map(|&core| twins(core)).collect();
    allowed().into_iter().filter(|core| !timing.contains(core) && !twins.contains(core)).collect()
}

/// Keeps the calling thread to these cores, and threads and children that it starts from now on. Where that is not allowed,
/// they stay where they are.
pub(crate) fn keep_to(cores: &[u32]) {
    let _ = sched_setaffinity(None, &set_of(cores));
}

/// Keeps another process to these cores, and what it starts from now on; false where that is not allowed.
pub(crate) fn keep_process_to(process: Pid, cores: &[u32]) -> bool {
    sched_setaffinity(Some(process), &set_of(cores)).is_ok()
}

fn set_of(cores: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core as usize));
    set
}

/// The cores that this process may use.
pub(crate) fn allowed() -> Vec<u32> {
    let set = sched_getaffinity(None);
    set.map_or_else(
        |_| vec![],
        |set| (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).map(|core| core as u32).collect(),
    )
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
    fn timing_takes_as_many_cores_as_threads_and_leaves_one() {
        let all = allowed().len();
        assert_eq!(for_timing(false, all as u32, 0), Vec::<u32>::new());
        assert_eq!(for_timing(true, all as u32, 0).len(), usize::from(all > 1));
        let one = for_timing(false, 1, 0);
        assert_eq!(one.len(), usize::from(all > 1));
        assert!(for_checking(&one).iter().all(|core| !one.contains(core)));
        assert_eq!(for_checking(&[]), Vec::<u32>::new());
    }

    #[test]
    fn devices_that_time_at_once_have_cores_of_their_own() {
        let all: Vec<u32> = (0..4).flat_map(|before| for_timing(true, 1, before)).collect();
        let apart = |(position, core): (usize, &u32)| !all[..position].contains(core);
        assert!(all.iter().enumerate().all(apart), "{all:?}");
        assert!(all.len() < allowed().len().max(1), "one core is left for everything else: {all:?}");
    }
}
