//! The command lines of `passhost serve` and `passhost token`.

use super::bench::{Devices, devices};
use super::{LaunchArguments, MeasureArguments, duration, size};
use clap::Args;
use passhost_serve::EpisodeLimits;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Samples (ours, PassNet's, GraphNet's) or lists of them: those that submissions may be for
    #[arg(required = true, value_name = "LIST|DIR")]
    pub samples: Vec<PathBuf>,
    /// Who may ask, a line each, as `passhost token` prints it
    #[arg(long, value_name = "FILE")]
    pub clients: PathBuf,
    /// Keeps submissions and results in this directory, which is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Where to listen. Requests are not encrypted: other machines should come through a proxy that does that
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8731")]
    pub listen: SocketAddr,
    /// Requests of a client a second; ten times as many at once
    #[arg(long, value_name = "N", default_value = "50")]
    pub rate: NonZeroU32,
    /// Submissions of a client that may wait
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub waiting: u64,
    /// Connections of a client at once, those included on which it waits or hears events
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub connections: u32,
    /// Room on the disk for each client: its submissions that wait, and its results that are kept
    #[arg(long, value_name = "SIZE", default_value = "8G", value_parser = size)]
    pub disk: u64,
    /// Days for which results are kept after their end
    #[arg(long, value_name = "DAYS", default_value_t = 7)]
    pub keep: u32,
    /// How many submissions of one author to a sample share the error of a verdict
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub submissions: u32,
    #[command(flatten)]
    pub episodes: EpisodeArguments,
    #[command(flatten)]
    pub launch: LaunchArguments,
    #[command(flatten)]
    pub measure: MeasureArguments,
    /// auto, cpu, cuda, cuda:N, or several GPUs that work side by side, cuda:0,1
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices)]
    pub device: Devices,
    /// Threads for CPU work, all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Episodes of training loops (docs/openenv.md)")]
pub struct EpisodeArguments {
    /// Calls of tools in an episode
    #[arg(long, value_name = "N", default_value_t = EpisodeLimits::default().steps, value_parser = clap::value_parser!(u32).range(1..))]
    pub episode_steps: u32,
    /// Connections of a client with episodes, among its --connections
    #[arg(long, value_name = "N", default_value_t = EpisodeLimits::default().sessions)]
    pub sessions: usize,
    /// How long a connection with an episode may ask for nothing
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = duration)]
    pub session_idle: Duration,
    /// Builds and checks of episodes at once, half of the cores on which nothing is timed if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub builds: Option<u16>,
}

#[derive(Debug, Args)]
pub struct TokenArguments {
    /// What the server calls the client
    pub name: String,
    /// Lets it see the numbers of the server, too
    #[arg(long)]
    pub operator: bool,
}
