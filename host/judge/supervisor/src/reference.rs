//! The reference program by itself, and the seed of its inputs.

use crate::event::{Event, VariantPlace, WorkStage};
use crate::memory::{SMALLER, available, has_room};
use crate::supervisor::{Config, Supervisor};
use passhost_child::device::{Device, DeviceError, LoadRequest};
use passhost_protocol::device::{Loaded, ReferenceError};
use passhost_protocol::reader::Variant;
use passhost_result::document::{Blame, Failure, failure};
use passhost_result::untrusted::one_line;
use std::time::Duration;

/// What to do where the device has too little memory left.
pub(crate) const MORE_MEMORY: &str =
    "free the GPU's memory, or use a larger one, a smaller variant (--variant) or --device cpu";

/// Runs the reference in a child of the device and keeps it there. A child that dies is replaced once: what dies twice is the sample's fault.
pub(crate) fn load_reference(
    supervisor: &Supervisor,
    device: &mut Device,
    process: usize,
    Variant { program, inputs, .. }: &Variant,
    place: &VariantPlace,
) -> Result<Loaded, Box<Failure>> {
    if device.info().device == "cpu" {
        has_room(program, inputs, 1, available()).map_err(|error| failure(Blame::Host, "reference", error, SMALLER))?;
    }
    let config = &supervisor.config;
    let limit = config.timeout.unwrap_or(Duration::from_secs(60));
    let request = LoadRequest { program, inputs, seed: secret(config)? };
    let mut attempt =
        || device.load(process, request, limit, &mut |stage| supervisor.reached(place, WorkStage::Device(stage)));
    let answer = match attempt() {
        Err(DeviceError::Child(error)) => {
            let message = one_line(&error.to_string(), 600);
            supervisor.tell(&Event::ChildReplaced { place: place.clone(), message });
            attempt()
        }
        answer => answer,
    };
    match answer {
        Ok(Ok(loaded)) => Ok(loaded),
        Ok(Err(error @ ReferenceError::Memory { .. })) => {
            Err(failure(Blame::Host, "reference", error, MORE_MEMORY).into())
        }
        Ok(Err(error @ ReferenceError::TooLarge { .. })) => {
            Err(failure(Blame::Host, "reference", error, MORE_MEMORY).into())
        }
        Ok(Err(error)) => {
            Err(failure(Blame::Sample, "reference", error, "the sample's own program does not run here").into())
        }
        Err(error @ DeviceError::Child(_)) => {
            let message = format!("{error}, twice, while running the sample's own program");
            Err(failure(Blame::Sample, "reference", message, "try a smaller sample or a longer --timeout").into())
        }
        Err(error) => Err(failure(Blame::Host, "reference", error, "run `passhost doctor`").into()),
    }
}

/// A seed from the operating system, or the one given for debugging.
pub(crate) fn secret(config: &Config) -> Result<u64, Box<Failure>> {
    match config.seed {
        Some(seed) => Ok(seed),
        None => getrandom::u64().map_err(|error| {
            let message = format!("the operating system gives no random numbers: {error}");
            failure(Blame::Host, "seed", message, "run `passhost doctor`").into()
        }),
    }
}
