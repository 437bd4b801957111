//! The command line of `passhost bench`.

use super::{LaunchArguments, MeasureArguments, ProgressArguments, SignArguments};
use clap::Args;
use passhost_protocol::device::DeviceChoice;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct BenchArguments {
    /// Plugins, then samples, lists of samples, or directories that hold some
    #[arg(required = true, value_name = "PLUGIN... LIST|DIR")]
    pub paths: Vec<PathBuf>,
    /// Keeps each result in this file, a JSON value a line, as soon as it is there
    #[arg(long, value_name = "FILE", default_value = "bench.jsonl")]
    pub out: PathBuf,
    /// Goes on with the batch in that file: what has ended is not done again
    #[arg(long)]
    pub resume: bool,
    /// Only variants with this in their names: a part of a folder's name, or folders as in float16/s0-1, the last by its
    /// beginning. May be given several times
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// How many submissions of one author share the error of a verdict; as many as there are plugins if absent
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub submissions: Option<u32>,
    /// Stops at the first trouble of the host; otherwise the others are evaluated
    #[arg(long)]
    pub fail_fast: bool,
    #[command(flatten)]
    pub sign: SignArguments,
    #[command(flatten)]
    pub launch: LaunchArguments,
    #[command(flatten)]
    pub measure: MeasureArguments,
    #[command(flatten)]
    pub progress: ProgressArguments,
    /// auto, cpu, cuda, cuda:N, or several GPUs that work side by side, cuda:0,1
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices)]
    pub device: Devices,
    /// Threads for CPU work, all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

/// Devices that work side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Devices(pub Vec<DeviceChoice>);

/// One device, or several GPUs.
pub fn devices(text: &str) -> Result<Devices, String> {
    let Some((first, others)) = text.split_once(',') else { return Ok(Devices(vec![super::device(text)?])) };
    let wrong = || format!("`{text}` are no devices; write cuda:0,1 for the first two GPUs");
    let numbers = first.strip_prefix("cuda:").into_iter().chain(others.split(','));
    let numbers: Vec<u32> = numbers.map(|number| number.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if !first.starts_with("cuda:") || sorted.len() != numbers.len() {
        return Err(wrong());
    }
    Ok(Devices(numbers.into_iter().map(DeviceChoice::Cuda).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_gpus_have_numbers_and_each_its_own() {
        let cuda = |numbers: &[u32]| Ok(Devices(numbers.iter().copied().map(DeviceChoice::Cuda).collect()));
        assert_eq!(devices("cuda:0,1"), cuda(&[0, 1]));
        assert_eq!(devices("cuda:3"), cuda(&[3]));
        assert_eq!(devices("cpu"), Ok(Devices(vec![DeviceChoice::Cpu])));
        for bad in ["cuda:0,0", "cpu,cuda:0", "cuda,1", "cuda:0,", "0,1"] {
            assert!(devices(bad).is_err(), "{bad}");
        }
    }
}
