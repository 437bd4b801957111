//! Where episodes of training loops are worked on.

use super::ServeArguments;
use super::samples::ServedSamples;
use crate::commands::device_facts;
use crate::commands::guide::GUIDE;
use crate::commands::source::sdk_directory;
use crate::exit::Stop;
use crate::meant::reference_pass;
use passhost_agent_tools::{CliRunner, DeviceGate};
use passhost_child::device::Device;
use passhost_child::{beside_this_executable, cores};
use passhost_result::Policy;
use passhost_serve::SessionStore;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

/// Files of episodes, in the directory of data.
const FILES: &str = "episodes";

pub fn open(arguments: &ServeArguments, samples: &ServedSamples, devices: &[Device]) -> Result<SessionStore, Stop> {
    let cores = cores::beside(devices);
    let all = available_parallelism().map_or(1, NonZeroUsize::get);
    let there_are = if cores.is_empty() { all } else { cores.len() };
    let builds = arguments.episodes.builds.map_or(there_are / 2, usize::from).max(1);
    let runner = CliRunner {
        program: beside_this_executable("passhost"),
        // Evaluations are the queue's.
        eval: vec![],
        check: check(arguments, devices)?,
        withheld: vec![],
        policy: policy(arguments)?,
        cores,
        // Commands and evaluations are kept apart by the session store.
        gate: Arc::new(DeviceGate::new(false)),
        stop: Arc::new(|| false),
    };
    let paths = samples.iter().map(|(name, sample)| (name.clone(), sample.path.clone())).collect();
    let files = arguments.data.join(FILES);
    let hidden =
        [Some(arguments.data.clone()), Some(sdk_directory()), Some(std::env::temp_dir()), std::env::home_dir()];
    let hidden = hidden.into_iter().flatten().collect();
    SessionStore::open(runner, GUIDE, reference_pass("autofuse"), paths, &files, hidden, builds)
        .map_err(|error| Stop::usage(format!("cannot use the directory `{}`: {error}", files.display())))
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

/// What a check has of the evaluation that would follow it: the limits of the plugin, its confinement, and the device
/// that it is told of, which is the CPU where workers have the devices.
fn check(arguments: &ServeArguments, devices: &[Device]) -> Result<Vec<String>, Stop> {
    let facts = devices.first().map(|device| device_facts(&arguments.data, device)).transpose()?;
    let measure = &arguments.measure;
    let facts = facts.unwrap_or_else(|| ["--device", "cpu"].map(str::to_owned).to_vec());
    Ok([facts, measure.limits.options(), measure.confinement.options()].concat())
}
