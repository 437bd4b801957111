//! What several commands take, and how values are read.

pub mod after_help;
#[cfg(test)]
mod documented;
mod groups;
mod launch;
mod limits;
mod measure;
mod policy;
pub mod refused;

pub use launch::LaunchArguments;
pub use limits::{ConfinementArguments, LimitArguments};
pub use measure::{MeasureArguments, ProgressArguments};
pub use policy::policy;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fundu::{DurationParser, TimeUnit};
use passhost_protocol::device::DeviceChoice;
use passhost_sample::InputMode;
use passhost_score::{Interpretation, Options};
use std::time::Duration;

#[derive(Debug, Args)]
pub struct ScoreOptions {
    /// Score of a failed variant, above 0 and at most 1; that of a result where one is read, else 0.1, if absent
    #[arg(long, value_name = "B", value_parser = number)]
    pub b: Option<f64>,
    /// Penalty exponent of slowdowns; that of a result where one is read, else 0, if absent
    #[arg(long, value_name = "P", value_parser = number)]
    pub p: Option<f64>,
    /// From which tolerance on which failures count as a speedup of 1; that of a result where one is read, else default, if
    /// absent
    #[arg(long, value_parser = one_of([("default", "", Interpretation::Default), ("mismatch-extended", "", Interpretation::MismatchExtended)]))]
    pub interpretation: Option<Interpretation>,
}

#[derive(Debug, Args)]
pub struct DeviceArguments {
    /// auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = device)]
    pub device: DeviceChoice,
    /// Threads for CPU work, all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

impl ScoreOptions {
    /// The constants given, over `base` where one is not.
    pub fn over(&self, base: Options) -> Options {
        Options {
            b: self.b.unwrap_or(base.b),
            p: self.p.unwrap_or(base.p),
            interpretation: self.interpretation.unwrap_or(base.interpretation),
        }
    }
}

/// `500ms`, `2s`, `1.5s`, `3m`; a bare number means seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let units = [TimeUnit::MilliSecond, TimeUnit::Second, TimeUnit::Minute, TimeUnit::Hour];
    let parsed =
        DurationParser::with_time_units(&units).parse(text).ok().and_then(|time| Duration::try_from(time).ok());
    let time = parsed.ok_or_else(|| format!("`{text}` is no time; write 500ms, 2s or 3m"))?;
    if !(Duration::from_millis(1)..=Duration::from_secs(86_400)).contains(&time) {
        return Err(format!("`{text}` is not between 1ms and one day"));
    }
    Ok(time)
}

/// One of some values by their names, each with what help says of it.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, &'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<(&str, &str, T)> = values.into_iter().collect();
    let possible = |(name, help, _): &(&'static str, &'static str, T)| match *help {
        "" => PossibleValue::new(*name),
        help => PossibleValue::new(*name).help(help),
    };
    let names = PossibleValuesParser::new(values.iter().map(possible).collect::<Vec<_>>());
    names.try_map(move |name| {
        let found = values.iter().find(|(known, ..)| *known == name).map(|(_, _, value)| value.clone());
        found.ok_or("it is none of these")
    })
}

/// How inputs are drawn.
pub fn inputs() -> impl TypedValueParser<Value = InputMode> {
    one_of([
        ("fresh", "Drawn around the recorded statistics, never constant", InputMode::Fresh),
        ("published", "As the published loaders draw them", InputMode::Published),
    ])
}

/// How inputs are drawn, as it is written.
pub fn inputs_name(inputs: InputMode) -> &'static str {
    match inputs {
        InputMode::Fresh => "fresh",
        InputMode::Published => "published",
    }
}

/// `65536`, `64K`, `256M`, `1G`: bytes, powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let parsed = parse_size::Config::new().with_binary().parse_size(text);
    parsed.map_err(|_| format!("`{text}` is no size; write 64K, 256M or 1G"))
}

/// A number that others can be held against.
pub fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("`{text}` is no number; write 0.9"))
}

/// A share that leaves something on both sides.
pub fn fraction(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| format!("`{text}` is no share between 0 and 1; write 0.2"))
}

/// A device as it is written.
pub fn device_name(device: DeviceChoice) -> String {
    match device {
        DeviceChoice::Auto => "auto".to_owned(),
        DeviceChoice::Cpu => "cpu".to_owned(),
        DeviceChoice::Cuda(index) => format!("cuda:{index}"),
    }
}

fn device(text: &str) -> Result<DeviceChoice, String> {
    match text {
        "auto" => Ok(DeviceChoice::Auto),
        "cpu" => Ok(DeviceChoice::Cpu),
        "cuda" => Ok(DeviceChoice::Cuda(0)),
        _ => text
            .strip_prefix("cuda:")
            .and_then(|index| index.parse().ok())
            .map(DeviceChoice::Cuda)
            .ok_or_else(|| format!("`{text}` is no device; write auto, cpu, cuda or cuda:1")),
    }
}

/// Devices that work side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Devices(pub Vec<DeviceChoice>);

/// As [`devices`], or no device at all.
pub fn devices_or_none(text: &str) -> Result<Devices, String> {
    if text == "none" { Ok(Devices(vec![])) } else { devices(text) }
}

/// A name for some workers.
pub fn label(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if (1..=64).contains(&text.len()) && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err(format!("`{text}` is no label; use at most 64 letters, digits and `-_.`"))
}

/// One device, or several GPUs.
pub fn devices(text: &str) -> Result<Devices, String> {
    let Some((first, others)) = text.split_once(',') else { return Ok(Devices(vec![device(text)?])) };
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
    use crate::cli::{Cli, Command};
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_sizes_and_devices_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        for bad in ["", "s", "-1s", "0s", "3 weeks", "nan", "1e99s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert_eq!(size("64K"), Ok(65_536));
        assert_eq!(size("1G"), Ok(1 << 30));
        for bad in ["", "K", "-1", "99999999999G"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(number("-0.5"), Ok(-0.5));
        for bad in ["", "nan", "inf", "half"] {
            assert!(number(bad).is_err(), "{bad}");
        }
        assert_eq!(device("cuda:3"), Ok(DeviceChoice::Cuda(3)));
        assert!(device("tpu").is_err());
    }

    #[test]
    fn limits_default_to_those_of_the_protocol() {
        let cli = Cli::parse_from(["passhost", "check", "x.wasm"]);
        let Command::Check(arguments) = cli.command else { unreachable!("`check` was parsed") };
        assert_eq!(arguments.limits.limits(), passhost_result::GuestLimits::default());
    }

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
