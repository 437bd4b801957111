//! What a plugin may take, and how it must be confined.

use super::{duration, size};
use clap::Args;
use passhost_child::Confinement;
use passhost_result::{GuestLimits, milliseconds};
use std::time::Duration;

#[derive(Debug, Args)]
pub struct ConfinementArguments {
    /// Refuses where the kernel cannot confine child processes fully, instead of going on all the same
    #[arg(long)]
    pub require_confinement: bool,
}

impl ConfinementArguments {
    /// The same on a command line.
    pub fn options(&self) -> Vec<String> {
        self.require_confinement.then(|| "--require-confinement".to_owned()).into_iter().collect()
    }

    /// How child processes must be confined.
    pub fn mode(&self) -> Confinement {
        if self.require_confinement { Confinement::Required } else { Confinement::WherePossible }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of the plugin")]
pub struct LimitArguments {
    /// WebAssembly fuel of one call, about one unit per instruction
    #[arg(long, value_name = "UNITS", default_value_t = GuestLimits::default().fuel)]
    pub limit_fuel: u64,
    /// Linear memory
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size)]
    pub limit_memory: u64,
    /// WebAssembly stack
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = size)]
    pub limit_stack: u64,
    /// Wall clock of one call
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub limit_deadline: Duration,
    /// Log and standard error of one call
    #[arg(long, value_name = "SIZE", default_value = "64K", value_parser = size)]
    pub limit_log: u64,
    /// What one call may return
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size)]
    pub limit_output: u64,
    /// Questions about types, on top of ten for each node of the graph
    #[arg(long, value_name = "COUNT", default_value_t = GuestLimits::default().infer_calls)]
    pub limit_infer_calls: u64,
    /// Wall clock of the host's answers to a pass on one graph
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub limit_answers: Duration,
    /// The plugin file
    #[arg(long, value_name = "SIZE", default_value = "32M", value_parser = size)]
    pub limit_wasm: u64,
    /// Wall clock of compiling the plugin
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub limit_compile: Duration,
}

impl LimitArguments {
    /// The same on a command line.
    pub fn options(&self) -> Vec<String> {
        let option = |(name, value, unit)| [format!("--limit-{name}"), format!("{value}{unit}")];
        named(&self.limits()).into_iter().flat_map(option).collect()
    }

    /// Which limit of a result is above these, and what raises it.
    pub fn exceeded_by(&self, recorded: &GuestLimits) -> Option<String> {
        let mut pairs = named(recorded).into_iter().zip(named(&self.limits()));
        let ((name, recorded, unit), (_, own, _)) = pairs.find(|((_, recorded, _), (_, own, _))| recorded > own)?;
        let option = format!("--limit-{name} {recorded}{unit}");
        Some(format!("its limit of {name} is {recorded}{unit}, at most {own}{unit} are allowed; {option} allows it"))
    }

    /// The limits in the form that the guest child takes.
    pub fn limits(&self) -> GuestLimits {
        GuestLimits {
            fuel: self.limit_fuel,
            memory: self.limit_memory,
            stack: self.limit_stack,
            deadline_ms: milliseconds(self.limit_deadline),
            log: self.limit_log,
            output: self.limit_output,
            infer_calls: self.limit_infer_calls,
            answers_ms: milliseconds(self.limit_answers),
            wasm: self.limit_wasm,
            compile_ms: milliseconds(self.limit_compile),
            ..GuestLimits::default()
        }
    }
}

/// What the options are called, with the values of some limits and their units.
fn named(limits: &GuestLimits) -> [(&'static str, u64, &'static str); 10] {
    [
        ("fuel", limits.fuel, ""),
        ("memory", limits.memory, ""),
        ("stack", limits.stack, ""),
        ("deadline", limits.deadline_ms, "ms"),
        ("log", limits.log, ""),
        ("output", limits.output, ""),
        ("infer-calls", limits.infer_calls, ""),
        ("answers", limits.answers_ms, "ms"),
        ("wasm", limits.wasm, ""),
        ("compile", limits.compile_ms, "ms"),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    #[test]
    fn limits_and_confinement_of_a_server_are_those_of_its_checks() {
        let given = "--limit-fuel 1 --limit-memory 2K --limit-stack 3K --limit-deadline 4ms --limit-log 5K --limit-output 6K \
                     --limit-infer-calls 7 --limit-answers 8s --limit-wasm 9K --limit-compile 10s";
        for required in [&[][..], &["--require-confinement"]] {
            let words = "passhost serve S --clients C --data D".split(' ').chain(given.split_whitespace());
            let Command::Serve(serve) = Cli::try_parse_from(words.chain(required.iter().copied())).unwrap().command
            else {
                panic!("it is `serve`")
            };
            let (limits, confinement) = (&serve.measure.limits, &serve.measure.confinement);
            let options = [limits.options(), confinement.options()].concat();
            let words = "passhost show S --after P".split(' ').map(str::to_owned).chain(options);
            let Command::Show(show) = Cli::try_parse_from(words).unwrap().command else { panic!("it is `show`") };
            assert_eq!(show.limits.limits(), limits.limits());
            assert_eq!(show.confinement.mode(), confinement.mode());
            let expected = GuestLimits { fuel: 1, memory: 2048, stack: 3072, infer_calls: 7, ..limits.limits() };
            assert_eq!(limits.limits(), expected);
        }
    }
}
