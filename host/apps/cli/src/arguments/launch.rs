//! `--launch stream|graph` and `--tune`: how kernels are run.

use crate::exit::Stop;
use clap::Args;
use passhost_protocol::device::DeviceChoice;
use passhost_result::{DeviceInfo, Launch, Settings};
use passhost_supervisor::Config;

#[derive(Debug, Args)]
pub struct LaunchArguments {
    /// How eager and the rewrite are launched where they are timed; results of the two are never one number
    #[arg(long, default_value = "stream", value_parser = super::one_of([
        ("stream", "Stream launch, as published: each kernel by a call of its own", Launch::Stream),
        ("graph", "Each captured in one CUDA graph, its inputs where they are", Launch::Graph),
    ]))]
    pub launch: Launch,
    /// Measures the kernels of each rewrite on a GPU in up to 8 schedules that give the same bits, once it is verified, and
    /// runs each in the fastest; what was measured is kept. Results with and without it are never one number
    #[arg(long)]
    tune: bool,
}

impl LaunchArguments {
    /// Settings with these. A device that was asked for and cannot do it is a usage error before anything starts.
    pub fn config(&self, config: Config, devices: &[DeviceChoice]) -> Result<Config, Stop> {
        if self.launch == Launch::Graph && devices.contains(&DeviceChoice::Cpu) {
            return Err(needs_gpu());
        }
        let settings = Settings { launch: self.launch, tune: self.tune, ..config.settings };
        Ok(Config { settings, ..config })
    }

    /// The same of a device that was found.
    pub fn allowed_on(&self, device: &DeviceInfo) -> Result<(), Stop> {
        if self.launch == Launch::Graph && device.device == "cpu" { Err(needs_gpu()) } else { Ok(()) }
    }

    /// What of it changes nothing on a device that was found.
    pub fn note(&self, device: &DeviceInfo) -> Option<&'static str> {
        let note = "--tune has nothing to choose on the cpu, where kernels have one schedule each";
        (self.tune && device.device == "cpu").then_some(note)
    }
}

fn needs_gpu() -> Stop {
    Stop::usage(
        "`--launch graph` captures programs in CUDA graphs and needs a GPU, the device is cpu; leave it out, or use \
         --device cuda",
    )
}
