//! `passhost agent`

mod export;
pub mod scores;

use crate::arguments::{AgentArguments, AgentCommand, AgentRunArguments, device_name};
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::interrupt;
use crate::output::{print, write_json};
use crate::private;
use crate::terminal::{Terminal, Tone};
use passhost_agent::attempt::{AttemptError, Budget};
use passhost_agent::run::{AgentRunError, AgentSettings, AttemptJob, RunEvent, SCHEMA, SETTINGS};
use passhost_agent::trajectory::TrajectoryLine;
use passhost_agent::{ApiKey, Endpoint, Patience, Style};
use passhost_agent_tools::{CliRunner, DeviceGate};
use passhost_child::{Confinement, beside_this_executable, cores};
use passhost_result::untrusted::one_line;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

pub fn run(arguments: &AgentArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    match &arguments.command {
        Some(AgentCommand::Export(arguments)) => export::run(arguments),
        None => attempts(&arguments.run, terminal),
    }
}

impl From<AgentRunError> for Stop {
    fn from(error: AgentRunError) -> Stop {
        let is_hosts = matches!(error, AgentRunError::File { .. } | AgentRunError::Trajectory(_));
        Stop::new(if is_hosts { Exit::Host } else { Exit::Usage }, error)
    }
}

fn attempts(arguments: &AgentRunArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let recorded = passhost_agent::run::files(&arguments.out);
    let files = || CommandFiles::default().writes("--json", &arguments.json).reads("the run", &recorded);
    files().reads("the key", &arguments.api_key_file).reads_samples(&arguments.samples).check()?;
    let endpoint = endpoint(arguments)?;
    let samples = super::named_samples(&arguments.samples, terminal)?;
    files().reads_samples(samples.iter().map(|sample| &sample.path)).check()?;
    let samples = samples.into_iter().map(|named| named.path).collect();
    interrupt::watch();
    let settings = settings(arguments, samples);
    private::directory(&arguments.out, SETTINGS).map_err(|error| {
        let place = arguments.out.display();
        Stop::usage(format!(
            "cannot make the directory `{place}` its user's alone: {error}; name another directory by --out DIR"
        ))
    })?;
    let run = passhost_agent::run::AgentRun::open(&arguments.out, settings, arguments.resume)?;
    let worst = AtomicU8::new(0);
    let hear = |event: &RunEvent<'_>| match event {
        RunEvent::Line(job, line) if !arguments.quiet => {
            said(job, line).iter().for_each(|text| terminal.complain(text));
        }
        RunEvent::Line(..) => {}
        RunEvent::Failed(job, error) => {
            worst.fetch_max(blame(error), Ordering::Relaxed);
            if !error.is_stop() {
                let text = format!("{}: {error}", place(job));
                terminal.complain(&format!("{} {text}", terminal.paint(Tone::Bad, "error:")));
            }
        }
    };
    let runner = runner(arguments)?;
    let all = run.work(&endpoint, &runner, super::guide::GUIDE, arguments.parallel.into(), &hear);
    drop(run);
    let curve = scores::read(&arguments.out)?;
    if let Some(path) = &arguments.json {
        write_json(path, &curve)?;
    }
    if arguments.json.as_deref() != Some("-".as_ref()) {
        print(scores::render(&curve, terminal));
    }
    Ok(match worst.into_inner() {
        _ if interrupt::count() > 0 => Exit::Interrupted(interrupt::last()),
        _ if all => Exit::Success,
        OF_USAGE => Exit::Usage,
        _ => Exit::Host,
    })
}

/// What an error weighs: trouble of the host more than that of a sample.
const OF_USAGE: u8 = 1;
const OF_HOST: u8 = 2;

fn blame(error: &AttemptError) -> u8 {
    if error.is_usage() { OF_USAGE } else { OF_HOST }
}

fn settings(arguments: &AgentRunArguments, samples: Vec<PathBuf>) -> AgentSettings {
    let budget = &arguments.budget;
    let seconds = |time: std::time::Duration| time.as_secs_f64();
    AgentSettings {
        schema: SCHEMA.to_owned(),
        host: env!("CARGO_PKG_VERSION").to_owned(),
        model: arguments.model.clone().unwrap_or_default(),
        has_tools: !arguments.plain_text,
        temperature: arguments.temperature,
        samples,
        attempts: arguments.attempts,
        budget: Budget {
            steps: budget.max_steps,
            tokens: budget.budget_tokens,
            seconds: budget.budget_time.map(seconds),
            device_seconds: budget.budget_device.map(seconds),
        },
        options: [device(arguments), arguments.evaluation.rules(), arguments.evaluation.options()].concat(),
    }
}

/// Options of commands that open the device.
fn device(arguments: &AgentRunArguments) -> Vec<String> {
    let choice = device_name(arguments.device.device);
    let threads = arguments.device.threads.map(|threads| ["--threads".to_owned(), threads.to_string()]);
    ["--device".to_owned(), choice].into_iter().chain(threads.into_iter().flatten()).collect()
}

/// The device is opened once, before anything is asked of the model: to see that it can be used, which cores evaluations
/// leave to others, and what a pass that is checked is told of it. Whatever is opened later would take time of it while
/// evaluations are timed.
fn runner(arguments: &AgentRunArguments) -> Result<CliRunner, Stop> {
    let opened = super::open_device(&arguments.device, Confinement::default(), None)?;
    let cores = cores::beside(std::slice::from_ref(&opened));
    Ok(CliRunner {
        program: beside_this_executable("passhost"),
        policy: arguments.evaluation.rules(),
        eval: [device(arguments), arguments.evaluation.options()].concat(),
        check: super::device_facts(&arguments.out, &opened)?,
        withheld: arguments.api_key_variable.iter().cloned().collect(),
        gate: Arc::new(DeviceGate::new(cores.is_empty())),
        cores,
        stop: Arc::new(|| interrupt::count() > 0),
    })
}

fn endpoint(arguments: &AgentRunArguments) -> Result<Endpoint, Stop> {
    let text = match (&arguments.api_key_file, &arguments.api_key_variable) {
        (Some(path), _) => Some(
            std::fs::read_to_string(path)
                .map_err(|error| Stop::usage(format!("cannot read the key from `{}`: {error}", path.display())))?,
        ),
        (None, Some(name)) => Some(std::env::var(name).map_err(|_| {
            Stop::usage(format!("no key in the variable `{}`; set it, or name a file", one_line(name, 60)))
        })?),
        (None, None) => None,
    };
    let usage = |error| Stop::new(Exit::Usage, error);
    let key = text.map(|text| ApiKey::new(&text)).transpose().map_err(usage)?;
    let style = Style {
        model: arguments.model.clone().unwrap_or_default(),
        has_tools: !arguments.plain_text,
        streams: arguments.stream,
        temperature: arguments.temperature,
    };
    let asked = &arguments.patience;
    let patience = Patience { tries: asked.tries, delay: asked.retry_delay, timeout: asked.answer_timeout };
    Endpoint::new(arguments.base_url.as_deref().unwrap_or_default(), key, style, patience).map_err(usage)
}

fn place(job: &AttemptJob) -> String {
    format!("{}, attempt {}", job.sample_name(), job.attempt)
}

/// What is said of a line while attempts go on.
fn said(job: &AttemptJob, line: &TrajectoryLine) -> Option<String> {
    let text = match line {
        TrajectoryLine::Begin { .. } => "begins".to_owned(),
        TrajectoryLine::Call { call, text, .. } => {
            format!("{}: {}", one_line(&call.function.name, 30), one_line(text.lines().next().unwrap_or(""), 100))
        }
        TrajectoryLine::Message { .. } => "called nothing".to_owned(),
        TrajectoryLine::End { why, score, .. } => format!("ends ({why}), score {score:.3}"),
        TrajectoryLine::Answer { .. } => return None,
    };
    Some(format!("{}: {text}", place(job)))
}
