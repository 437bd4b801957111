//! How much memory there is, and whether a program has room in it before it runs.

use passhost_ir::verify::check_bytes;
use passhost_ir::{Graph, InputSpec};
use std::path::Path;

/// Files of a container: its limit, what it uses, and of what; and how lines of the last begin that say what of it the kernel
/// takes back when it is needed.
const GROUPS: [([&str; 3], [&str; 2]); 2] = [
    (["memory.max", "memory.current", "memory.stat"], ["inactive_file ", "active_file "]),
    (
        ["memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"],
        ["total_inactive_file ", "total_active_file "],
    ),
];

/// Bytes that new work can have: what the kernel calls available, within what the container has left of its limit if there
/// is one. `None` where the system does not say.
pub fn available() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| available_in(&text))?;
    Some(left_of_group(Path::new("/sys/fs/cgroup")).map_or(machine, |left| left.min(machine)))
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What the least limit below a directory of control groups leaves.
fn left_of_group(directory: &Path) -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).ok();
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let left = |([limit, used, stat], freed): ([&str; 3], [&str; 2])| {
        // One without a limit says `max`.
        let limit = number(&read(limit)?)?;
        let stat = read(stat).unwrap_or_default();
        let bytes = |line: &str| freed.iter().find_map(|name| number(line.strip_prefix(name)?));
        let freed: u64 = stat.lines().filter_map(bytes).sum();
        let used = read(used).and_then(|used| number(&used)).unwrap_or(0).saturating_sub(freed);
        Some(limit.saturating_sub(used))
    };
    GROUPS.into_iter().filter_map(left).min()
}

/// Why a program is not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the sample's tensors take about {needed} bytes where it is checked, and the machine has {available} left: it is not run"
)]
pub(crate) struct TooLittle {
    needed: u64,
    available: u64,
}

/// What to do about it.
pub(crate) const SMALLER: &str =
    "use a smaller variant (--variant), a machine with more memory, or a container with a higher limit";

/// Whether so many processes at once can check a program in `available` bytes.
///
/// # Errors
///
/// If they cannot: by how much.
pub(crate) fn has_room(
    program: &Graph,
    inputs: &[InputSpec],
    processes: u32,
    available: Option<u64>,
) -> Result<(), TooLittle> {
    let needed = check_bytes(program, inputs, true).saturating_mul(processes.into());
    match available.filter(|&available| needed > available) {
        Some(available) => Err(TooLittle { needed, available }),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::{Draw, TensorType};

    #[test]
    fn available_memory_is_read_from_the_kernels_table() {
        let text = "MemTotal:       24000000 kB\nMemAvailable:       1000 kB\n";
        assert_eq!(available_in(text), Some(1_024_000));
        assert_eq!(available_in("MemTotal: 5 kB\n"), None);
        assert!(available().is_some_and(|bytes| bytes > 0));
    }

    #[test]
    fn a_container_leaves_its_limit_less_what_it_uses_for_good() {
        let left = |files: &[(&str, &str)]| {
            let group = tempfile::tempdir().unwrap();
            std::fs::create_dir(group.path().join("memory")).unwrap();
            files.iter().for_each(|(name, text)| std::fs::write(group.path().join(name), text).unwrap());
            left_of_group(group.path())
        };
        let stat = "anon 5\ninactive_file 150\nactive_file 50\nworkingset_refault_file 90\n";
        let used = [("memory.current", "700\n"), ("memory.stat", stat)];
        assert_eq!(left(&[&used[..], &[("memory.max", "1000\n")]].concat()), Some(500));
        assert_eq!(left(&[&used[..], &[("memory.max", "600\n")]].concat()), Some(100));
        assert_eq!(left(&[&used[..], &[("memory.max", "max\n")]].concat()), None);
        assert_eq!(left(&[("memory.max", "1000\n")]), Some(1000));
        let old = [("memory/memory.limit_in_bytes", "900\n"), ("memory/memory.usage_in_bytes", "400\n")];
        assert_eq!(left(&old), Some(500));
        // What is below it in the tree counts, too.
        let stat = "active_file 1\ntotal_inactive_file 30\ntotal_active_file 40\n";
        assert_eq!(left(&[&old[..], &[("memory/memory.stat", stat)]].concat()), Some(570));
        assert_eq!(left(&[]), None);
    }

    #[test]
    fn a_program_that_memory_has_no_room_for_is_refused_by_its_types() {
        // Eight GiB that come of two numbers.
        let text = "graph(%x: f32[2]) {
  %a: f32[1073741824,2] = aten::expand(%x, [1073741824, 2])
  %b: f32[1073741824,2] = aten::relu(%a)
  return (%b)
}
";
        let graph = Graph::parse(text).unwrap();
        let ty: TensorType = graph.ty(graph.inputs[0]).clone();
        let draw = Draw::Normal { mean: 0.0, std: 1.0 };
        let inputs = [InputSpec { name: "x".into(), ty, draw, min: None, max: None }];
        let error = has_room(&graph, &inputs, 1, Some(16 << 30)).unwrap_err();
        assert!(error.needed > 24 << 30 && error.available == 16 << 30, "{error}");
        assert!(error.to_string().contains(&format!("about {} bytes", error.needed)), "{error}");
        assert_eq!(has_room(&graph, &inputs, 1, Some(1 << 40)), Ok(()));
        assert!(has_room(&graph, &inputs, 40, Some(1 << 40)).is_err());
        assert_eq!(has_room(&graph, &inputs, 1, None), Ok(()), "where nobody says how much there is");
    }
}
