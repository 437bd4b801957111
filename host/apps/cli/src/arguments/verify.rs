//! The command line of `passhost verify`.

use super::{DeviceArguments, WallArguments};
use clap::Args;
use passhost_protocol::device::DeviceChoice;
use passhost_result::DeviceInfo;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Results: documents, lists of them, batches, or signed ones, of which no two may be of one job
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// Each result must be signed with one of these keys: lines that `passhost keygen` printed
    #[arg(long, value_name = "KEYS")]
    pub trusted_keys: Option<PathBuf>,
    /// With --trusted-keys, takes results that other programs made than those of this installation
    #[arg(long, requires = "trusted_keys")]
    pub any_host: bool,
    /// The plugin; where the result says that it lies, if absent
    #[arg(long, value_name = "FILE")]
    pub plugin: Option<PathBuf>,
    /// The samples of the result, or lists of them; without one, nothing is run
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub sample: Vec<PathBuf>,
    /// Fails where a result cannot be judged again, which otherwise is a note
    #[arg(long, requires = "sample", conflicts_with = "offline")]
    pub replay: bool,
    /// Runs nothing: scores and verdicts must follow from what is recorded
    #[arg(long)]
    pub offline: bool,
    /// Draws and compares large tensors of a GPU on the CPU, which must give what the GPU gave by itself
    #[arg(long)]
    pub check_on_cpu: bool,
    #[command(flatten)]
    pub device: DeviceArguments,
    #[command(flatten)]
    pub walls: WallArguments,
}

impl VerifyArguments {
    /// The device asked for; where none is, the one that a result was made on, with as many threads.
    pub fn device_like(&self, recorded: Option<&DeviceInfo>) -> DeviceArguments {
        let device = match (self.device.device, recorded) {
            (DeviceChoice::Auto, Some(info)) if info.device == "cpu" => DeviceChoice::Cpu,
            (asked, _) => asked,
        };
        let threads = self.device.threads.or(recorded.map(|info| info.threads).filter(|threads| *threads > 0));
        DeviceArguments { device, threads }
    }
}
