//! `--launch stream|graph`

use crate::Stop;
use clap::{Args, ValueEnum};
use passhost_protocol::device::{DeviceChoice, DeviceInfo, Launch};
use passhost_supervisor::Config;

#[derive(Debug, Args)]
pub struct LaunchArguments {
    /// How eager and the rewrite are launched where they are timed; results of the two are never one number
    #[arg(long, value_enum, default_value_t = LaunchArgument::Stream)]
    launch: LaunchArgument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LaunchArgument {
    /// One launch after the other, as published
    Stream,
    /// Each captured in one CUDA graph, its inputs where they are
    Graph,
}

impl LaunchArguments {
    /// Settings with this launch. A device that was asked for and cannot do it is a usage error before anything starts.
    pub fn config(&self, config: Config, devices: &[DeviceChoice]) -> Result<Config, Stop> {
        let launch = self.launch();
        if launch == Launch::Graph && devices.contains(&DeviceChoice::Cpu) {
            return Err(needs_gpu());
        }
        let settings = passhost_protocol::device::Settings { launch, ..config.settings };
        Ok(Config { settings, ..config })
    }

    /// The same of a device that was found.
    pub fn allowed_on(&self, device: &DeviceInfo) -> Result<(), Stop> {
        if self.launch() == Launch::Graph && device.device == "cpu" { Err(needs_gpu()) } else { Ok(()) }
    }

    fn launch(&self) -> Launch {
        match self.launch {
            LaunchArgument::Stream => Launch::Stream,
            LaunchArgument::Graph => Launch::Graph,
        }
    }
}

fn needs_gpu() -> Stop {
    Stop::usage(
        "`--launch graph` captures programs in CUDA graphs and needs a GPU, the device is cpu; leave it out, or use \
         --device cuda",
    )
}
