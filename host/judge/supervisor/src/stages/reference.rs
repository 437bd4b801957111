//! The reference program by itself, what follows from its run, and the seed of its inputs.

use super::Trail;
use crate::event::WorkStage;
use crate::memory::{SMALLER, available, has_room};
use crate::supervisor::Config;
use passhost_child::DOCTOR;
use passhost_child::device::{DeviceChildError, DeviceSession, LoadRequest};
use passhost_protocol::device::{LoadReport, ReferenceError};
use passhost_protocol::reader::SampleVariant;
use passhost_result::Settings;
use passhost_result::document::{Blame, Failure, failure};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What to do where the device has too little memory left.
pub(super) const MORE_MEMORY: &str =
    "free the GPU's memory, or use a larger one, a smaller variant (--variant) or --device cpu";

/// Least budget of a rewrite's intermediates, in bytes.
const REWRITE_BYTES: u64 = 1 << 30;

/// A reference program that has run: what the rewrite is compared with.
pub(crate) struct Reference {
    pub read: Arc<SampleVariant>,
    pub loaded: LoadReport,
    /// What loading took: drawing its inputs, running and timing it.
    pub loading: Duration,
}

impl Reference {
    /// Runs the reference in the first child of the device and keeps it there.
    pub fn load(
        trail: &Trail<'_>,
        session: &mut DeviceSession<'_>,
        read: Arc<SampleVariant>,
    ) -> Result<Reference, Failure> {
        let started = Instant::now();
        let loaded = load(trail, session, 0, &read)?;
        Ok(Reference { read, loaded, loading: started.elapsed() })
    }

    /// Runs it in a child that has lost it, or never had it.
    pub fn load_in(&self, process: usize, trail: &Trail<'_>, session: &mut DeviceSession<'_>) -> Result<(), Failure> {
        load(trail, session, process, &self.read).map(drop)
    }

    /// With the bytes that the intermediates of a rewrite may take.
    pub fn settings(&self, settings: Settings) -> Settings {
        Settings { rewrite_bytes: REWRITE_BYTES.max(self.loaded.peak_bytes.saturating_mul(4)), ..settings }
    }

    /// Twenty times what the same work takes eagerly, what drawing and comparing large tensors takes, plus the budgets and
    /// a generous start; or what was asked for.
    pub fn limit(&self, config: &Config, settings: &Settings) -> Duration {
        let rounds = settings.rounds.saturating_add(Settings::ROUNDS_PER_INPUT * self.read.inputs.len() as u32);
        let runs = u64::from(rounds.saturating_add(settings.warmups));
        let work = Duration::from_nanos(self.loaded.first_ns.saturating_mul(u64::from(Settings::SLOW_FACTOR) * runs));
        // A run of the rewrite, one of eager, one in double precision and the comparisons take as long as drawing does.
        let drawing = self.loading.saturating_mul(4).saturating_mul(rounds);
        let most = Duration::from_secs(600);
        let budgets = 2 * Duration::from_millis(settings.budget_ms);
        config.timeout.unwrap_or(Duration::from_secs(30) + budgets + work.min(most) + drawing.min(most))
    }
}

/// A child that dies is replaced once: what dies twice is the sample's fault.
fn load(
    trail: &Trail<'_>,
    session: &mut DeviceSession<'_>,
    process: usize,
    SampleVariant { program, inputs, .. }: &SampleVariant,
) -> Result<LoadReport, Failure> {
    if session.device().info().device == "cpu" {
        has_room(program, inputs, 1, available()).map_err(|error| failure(Blame::Host, "reference", error, SMALLER))?;
    }
    let config = &trail.supervisor.config;
    let limit = config.timeout.unwrap_or(Duration::from_secs(60));
    let request = LoadRequest { program, inputs, seed: secret(config)? };
    let mut attempt = || session.load(process, request, limit, &mut |stage| trail.reached(WorkStage::Device(stage)));
    let answer = match attempt() {
        Err(DeviceChildError::Child(error)) if !error.is_hosts() => attempt(),
        answer => answer,
    };
    match answer {
        Ok(Ok(loaded)) => Ok(loaded),
        Ok(Err(error @ (ReferenceError::Memory(_) | ReferenceError::TooLarge { .. }))) => {
            Err(failure(Blame::Host, "reference", error, MORE_MEMORY))
        }
        Ok(Err(error)) => Err(failure(Blame::Sample, "reference", error, "the sample's own program does not run here")),
        Err(DeviceChildError::Child(error)) if !error.is_hosts() => {
            let message = format!("{error}, twice, while running the sample's own program");
            Err(failure(Blame::Sample, "reference", message, "try a smaller sample or a longer --timeout"))
        }
        Err(error) => Err(failure(Blame::Host, "reference", error, DOCTOR)),
    }
}

/// A seed from the operating system, or the one given for debugging.
pub(crate) fn secret(config: &Config) -> Result<u64, Failure> {
    match config.seed {
        Some(seed) => Ok(seed),
        None => getrandom::u64().map_err(|error| {
            let message = format!("the operating system gives no random numbers: {error}");
            failure(Blame::Host, "seed", message, DOCTOR)
        }),
    }
}
