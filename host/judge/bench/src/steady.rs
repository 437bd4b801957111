//! Threads that keep to cores of their own while something is timed.

use rustix::process::Pid;
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};

/// Threads that were moved, and where they were allowed to run before. They are again once this is dropped.
pub struct Steady(Vec<(Pid, CpuSet)>);

impl Steady {
    /// Keeps threads to these cores: those that there are, or only the calling one. Where that is not allowed, or there are no
    /// cores, they stay where they are.
    pub fn on(cores: &[u32], calling_thread_only: bool) -> Steady {
        let mut set = CpuSet::new();
        cores.iter().for_each(|&core| set.set(core as usize));
        let threads = match (cores.is_empty(), calling_thread_only) {
            (true, _) => vec![],
            (false, true) => vec![gettid()],
            (false, false) => all_threads(),
        };
        let mut moved = vec![];
        for thread in threads {
            if let Ok(before) = sched_getaffinity(Some(thread))
                && sched_setaffinity(Some(thread), &set).is_ok()
            {
                moved.push((thread, before));
            }
        }
        Steady(moved)
    }
}

impl Drop for Steady {
    fn drop(&mut self) {
        for (thread, before) in &self.0 {
            // A thread that has ended needs nothing.
            let _ = sched_setaffinity(Some(*thread), before);
        }
    }
}

fn all_threads() -> Vec<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads.filter_map(|thread| Pid::from_raw(thread.file_name().to_str()?.parse().ok()?)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn cores() -> Vec<u32> {
        let set = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU as u32).filter(|&core| set.is_set(core as usize)).collect()
    }

    #[test]
    fn threads_are_where_they_were_afterwards() {
        let before = cores();
        let last = *before.last().unwrap();
        let steady = Steady::on(&[last], true);
        assert_eq!(cores(), [last]);
        drop(steady);
        assert_eq!(cores(), before);
        drop(Steady::on(&[], true));
        assert_eq!(cores(), before);
    }
}
