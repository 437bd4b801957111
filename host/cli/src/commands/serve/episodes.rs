//! Where episodes of training loops are worked on.

use super::Samples;
use crate::Stop;
use crate::arguments::ServeArguments;
use crate::commands::guide::GUIDE;
use passhost_protocol::device::DeviceChoice;
use passhost_serve::{EpisodeLimits, Episodes, Shop};
use passhost_supervisor::Policy;
use passhost_supervisor::child::beside_this_executable;
use passhost_supervisor::device::Device;
use passhost_workshop::{Machinery, Turns};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

/// Files of episodes, in the directory of data.
const FILES: &str = "episodes";

pub fn open(arguments: &ServeArguments, samples: &Samples, devices: &[Device]) -> Result<Episodes, Stop> {
    let asked = &arguments.episodes;
    let limits = EpisodeLimits {
        sessions: asked.sessions,
        steps: asked.episode_steps,
        idle: asked.session_idle,
        ..EpisodeLimits::default()
    };
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    let builds = asked.builds.map_or(cores / 2, usize::from).max(1);
    let machinery = Machinery {
        program: beside_this_executable("passhost"),
        device: device(arguments),
        // Evaluations are the queue's.
        eval: vec![],
        withheld: vec![],
        policy: policy(arguments)?,
        // Commands and evaluations are kept apart by the shop.
        turns: Arc::new(Turns::new(false)),
        stop: Arc::new(|| false),
    };
    let is_shared = devices.iter().any(|device| device.gpu().is_none());
    let paths = samples.iter().map(|(name, sample)| (name.clone(), sample.path.clone())).collect();
    let files = arguments.data.join(FILES);
    let shop = Shop::open(machinery, GUIDE, paths, &files, builds, is_shared)
        .map_err(|error| Stop::usage(format!("cannot use the directory `{}`: {error}", files.display())))?;
    Ok(Episodes { limits, shop })
}

/// The policy, for commands that verify: under its name, or as a file of its text beside what is served.
fn policy(arguments: &ServeArguments) -> Result<Vec<String>, Stop> {
    let policy = &arguments.measure.policy;
    let named = match Policy::built_in(policy.name()) {
        Ok(_) => policy.name().to_owned(),
        Err(_) => {
            let file = arguments.data.join("policy.json");
            let failed = |error| Stop::usage(format!("cannot write the file `{}`: {error}", file.display()));
            std::fs::write(&file, policy.text()).map_err(failed)?;
            file.display().to_string()
        }
    };
    Ok(vec!["--policy".to_owned(), named])
}

/// Options of commands that open the device: a pass is told what its rewrite will run on.
fn device(arguments: &ServeArguments) -> Vec<String> {
    let choice = match arguments.device.0.first() {
        Some(DeviceChoice::Cuda(index)) => format!("cuda:{index}"),
        Some(DeviceChoice::Cpu) => "cpu".to_owned(),
        Some(DeviceChoice::Auto) | None => "auto".to_owned(),
    };
    let threads = arguments.threads.map(|threads| ["--threads".to_owned(), threads.to_string()]);
    ["--device".to_owned(), choice].into_iter().chain(threads.into_iter().flatten()).collect()
}
