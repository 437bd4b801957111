//! Evaluates a plugin on a sample many times over, and looks at what that leaves: memory, open files, processes.
//!
//! `cargo run -p passhost-supervisor --example soak -- PLUGIN SAMPLE COUNT [cuda]`

use passhost_child::device::{Device, DeviceSetup};
use passhost_child::{Confinement, Plugin};
use passhost_protocol::device::DeviceChoice;
use passhost_result::Settings;
use passhost_supervisor::{Config, Sample, Supervisor};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Evaluations after which everything that is kept is there.
const WARM: usize = 20;
/// What memory may grow by beyond a twentieth: allocators keep some, and which child was restarted last differs.
const SLACK: u64 = 96 << 20;

/// What this process and its descendants hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Held {
    /// Processes by name.
    pub processes: BTreeMap<String, usize>,
    /// Resident bytes.
    pub memory: u64,
    /// Open files.
    pub files: usize,
    /// Memory of all GPUs that is in use, in MiB; 0 where there is none.
    pub gpu_mebibytes: u64,
}

impl Held {
    /// As the system says now.
    pub fn now() -> Held {
        let mut held = Held { gpu_mebibytes: gpu_mebibytes(), ..Held::default() };
        for process in descendants(std::process::id()) {
            let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name));
                line.map(|value| value.trim_start_matches(':').trim().to_owned()).unwrap_or_default()
            };
            let kibibytes: u64 = field("VmRSS").split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
            held.memory += kibibytes << 10;
            // Of a child that is not dumpable nobody sees the files: its sandbox bounds them.
            held.files += fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count);
            *held.processes.entry(field("Name")).or_default() += 1;
        }
        held
    }

    /// What grew since `before`, in words.
    pub fn growth(&self, before: &Held) -> Vec<String> {
        let mut grown = vec![];
        if self.processes != before.processes {
            grown.push(format!("processes were {:?} and are {:?}", before.processes, self.processes));
        }
        if self.files > before.files {
            grown.push(format!("{} files were open, {} are", before.files, self.files));
        }
        if self.memory > before.memory + before.memory / 20 + SLACK {
            grown.push(format!("memory was {} MiB and is {}", before.memory >> 20, self.memory >> 20));
        }
        if self.gpu_mebibytes > before.gpu_mebibytes + before.gpu_mebibytes / 20 + (SLACK >> 20) {
            grown.push(format!("memory of GPUs was {} MiB and is {}", before.gpu_mebibytes, self.gpu_mebibytes));
        }
        grown
    }
}

/// This process and all that it and its children started.
fn descendants(root: u32) -> Vec<u32> {
    let mut all = vec![root];
    let mut next = 0;
    while let Some(&process) = all.get(next) {
        next += 1;
        let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        for thread in threads {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    all
}

fn gpu_mebibytes() -> u64 {
    let query = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];
    let answer = Command::new("nvidia-smi").args(query).output();
    let text = answer.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse::<u64>().ok()).sum()
}

/// Evaluates `count` times, `tell` hears what is held from time to time. Returns what was held early and at the end.
pub fn soak(
    plugin: &Path,
    sample: &Path,
    count: usize,
    choice: DeviceChoice,
    mut tell: impl FnMut(usize, &Held),
) -> Result<(Held, Held), Box<dyn Error>> {
    let settings = Settings { budget_ms: 5, trials: 12, warmups: 1, rounds: 1, ..Settings::default() };
    let supervisor = Supervisor::new(Config { settings, ..Config::default() });
    let plugin = Plugin::read(plugin, supervisor.config().limits.wasm)?;
    // One thread of the CPU is enough to time what is small; beside a GPU the others compare.
    let threads = (choice == DeviceChoice::Cpu).then_some(1);
    let mut device = Device::open(DeviceSetup::new(choice, threads))?;
    let mut plugin = supervisor.load(plugin);
    let mut checker = supervisor.checker(device.info().facts);
    let (warm, mut last) = (WARM.min(count / 2), Held::default());
    let mut early = Held::default();
    for done in 1..=count {
        let opened = Sample::open(sample, Confinement::default())?;
        let document = supervisor.evaluate(&mut checker, &mut plugin, opened, &mut device);
        if !document.variants.iter().all(|variant| variant.timing.is_some()) {
            let of_variant = document.variants.iter().find_map(|variant| variant.failure.as_ref());
            return Err(format!("not timed: {:?}", of_variant.or(document.failure.as_ref())).into());
        }
        if done == warm || done == count || done % 200 == 0 {
            last = Held::now();
            tell(done, &last);
        }
        if done == warm {
            early = last.clone();
        }
    }
    Ok((early, last))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (plugin, sample, count, choice) = match arguments.as_slice() {
        [plugin, sample, count] => (plugin, sample, count, DeviceChoice::Cpu),
        [plugin, sample, count, device] if device == "cuda" => (plugin, sample, count, DeviceChoice::Cuda(0)),
        _ => return Err("give a plugin, a sample, a number of evaluations, and perhaps `cuda`".into()),
    };
    let (early, last) = soak(plugin.as_ref(), sample.as_ref(), count.parse()?, choice, |done, held| {
        let Held { processes, memory, files, gpu_mebibytes } = held;
        println!(
            "{done:6} evaluations: {} MiB, {files} files, {gpu_mebibytes} MiB of GPUs, {processes:?}",
            memory >> 20
        );
    })?;
    let grown = last.growth(&early);
    if grown.is_empty() {
        println!("nothing grew");
        return Ok(());
    }
    Err(grown.join("; ").into())
}
