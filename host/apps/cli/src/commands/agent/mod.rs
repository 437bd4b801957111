//! `passhost agent`

mod export;
mod page;
pub mod scores;
mod show;

use crate::arguments::{DeviceArguments, device_name, duration, number, one_of, policy};
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::interrupt;
use crate::meant;
use crate::output::write_and_print;
use crate::private;
use crate::terminal::{Terminal, Tone};
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use passhost_agent::attempt::{AttemptError, Budget};
use passhost_agent::export::Format;
use passhost_agent::run::{AgentRunError, AgentSettings, AttemptJob, RunEvent, RunWorkers, SCHEMA, SETTINGS};
use passhost_agent::trajectory::TrajectoryLine;
use passhost_agent::{ApiKey, Endpoint, Patience, Style};
use passhost_agent_tools::{CliRunner, DeviceGate};
use passhost_child::{beside_this_executable, cores};
use passhost_result::untrusted::one_line;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct AgentArguments {
    #[command(subcommand)]
    pub command: Option<AgentCommand>,
    #[command(flatten)]
    pub run: AgentRunArguments,
}

#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Makes training data of the attempts in a directory
    Export(AgentExportArguments),
    /// Prints what the attempts in a directory score, or writes a page of all that was said, built and measured
    Show(AgentShowArguments),
}

#[derive(Debug, Args)]
pub struct AgentRunArguments {
    /// The model, as the endpoint names it
    #[arg(long, value_name = "NAME", required = true)]
    pub model: Option<String>,
    /// An endpoint that speaks OpenAI's chat completions, without /chat/completions
    #[arg(long, value_name = "URL", required = true, value_parser = base_url)]
    pub base_url: Option<String>,
    /// Samples, lists of samples, or directories that hold some
    #[arg(long, value_name = "LIST|DIR", required = true, num_args = 1..)]
    pub samples: Vec<PathBuf>,
    /// The directory that keeps everything
    #[arg(long, value_name = "DIR", default_value = "agent")]
    pub out: PathBuf,
    /// Goes on with the run in that directory: nothing that was answered or measured is asked or measured again
    #[arg(long)]
    pub resume: bool,
    /// Attempts on each sample
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub attempts: u32,
    /// Attempts side by side; one evaluation is measured at a time all the same
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub parallel: u16,
    /// A file with the endpoint's key
    #[arg(long, value_name = "FILE", conflicts_with = "api_key_variable")]
    pub api_key_file: Option<PathBuf>,
    /// A variable with the endpoint's key; without this and without a file, no key is sent
    #[arg(long, value_name = "NAME")]
    pub api_key_variable: Option<String>,
    /// Tells of the tools in the prompt, and reads calls from text: for endpoints that take no tools
    #[arg(long)]
    pub plain_text: bool,
    /// Has answers come in pieces: for endpoints that give up on long ones otherwise
    #[arg(long)]
    pub stream: bool,
    /// How freely the model picks its words; the endpoint's own default if absent
    #[arg(long, value_name = "T", value_parser = number)]
    pub temperature: Option<f64>,
    #[command(flatten)]
    pub budget: AgentBudget,
    #[command(flatten)]
    pub patience: PatienceArguments,
    #[command(flatten)]
    pub evaluation: EvaluationArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
    /// Writes the scores here; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Budget of an attempt")]
pub struct AgentBudget {
    /// Calls of tools
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: u32,
    /// Tokens of requests and answers together
    #[arg(long, value_name = "N")]
    pub budget_tokens: Option<u64>,
    /// Wall clock of answers and calls together
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget_time: Option<Duration>,
    /// Wall clock with the device held
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget_device: Option<Duration>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Patience with the endpoint")]
pub struct PatienceArguments {
    /// Requests for one answer, where the endpoint is busy, fails, or breaks off
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub tries: u32,
    /// What is waited before the second, twice as long before each further one; `Retry-After` comes first
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub retry_delay: Duration,
    /// Wall clock of one request
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub answer_timeout: Duration,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Evaluations")]
pub struct EvaluationArguments {
    /// What is allowed, asked and counted: open, kernels, strict, or a file (docs/checking.md)
    #[arg(long, value_name = "NAME|FILE", value_parser = policy_name)]
    pub policy: Option<String>,
    /// Wall clock of a variant on the device
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub eval_budget: Option<Duration>,
    /// Where the machine is busy, tries a variant again for so long before it is not measured
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub wait: Option<Duration>,
    /// Scores what was measured while the machine was busy: for tests and debugging
    #[arg(long)]
    pub accept_noise: bool,
    /// The smallest variant of each element type, one round of inputs: to try things out
    #[arg(long)]
    pub quick: bool,
}

/// An endpoint, to which the client adds the path of its requests.
fn base_url(text: &str) -> Result<String, String> {
    match text.trim_end_matches('/').strip_suffix("/chat/completions") {
        Some(base) => Err(format!("the program adds /chat/completions itself; write {base}")),
        None => Ok(text.to_owned()),
    }
}

/// The name of a policy, or of its file.
fn policy_name(text: &str) -> Result<String, String> {
    policy(text).map(|_| text.to_owned())
}

impl EvaluationArguments {
    /// The policy, as `passhost eval` and `passhost show` take it.
    pub fn rules(&self) -> Vec<String> {
        let named = self.policy.as_ref().map(|name| ["--policy".to_owned(), name.clone()]);
        named.into_iter().flatten().collect()
    }

    /// The others, as `passhost eval` takes them.
    pub fn options(&self) -> Vec<String> {
        let milliseconds = |time: &Duration| format!("{}ms", time.as_millis());
        let valued = [
            ("--budget", self.eval_budget.as_ref().map(milliseconds)),
            ("--wait", self.wait.as_ref().map(milliseconds)),
        ];
        let flags = [("--accept-noise", self.accept_noise), ("--quick", self.quick)];
        let valued = valued.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?])).flatten();
        valued.chain(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name.to_owned())).collect()
    }
}

/// What is made of a run: lines of a format, or the folders of Harbor's tasks.
pub type Exported = std::option::Option<Format>;

#[derive(Debug, Args)]
pub struct AgentExportArguments {
    /// The directory of a run
    pub directory: PathBuf,
    /// What is made of it
    #[arg(long, value_name = "FORMAT", required = true, value_parser = formats())]
    pub format: Exported,
    /// Where it goes, a JSON value a line, to standard output if absent; a new directory for Harbor's tasks
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// So many attempts of each sample, the best
    #[arg(long, value_name = "K")]
    pub best: Option<usize>,
    /// Only attempts whose pass is right on every variant
    #[arg(long)]
    pub only_right: bool,
    /// Only attempts in whose pass the integrity checks found nothing
    #[arg(long)]
    pub no_findings: bool,
}

#[derive(Debug, Args)]
pub struct AgentShowArguments {
    /// The directory of a run
    pub directory: PathBuf,
    /// Writes a page for a browser here: turns, code with what changed, verdicts, rewards; `-` for standard output, then without
    /// a table
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
}

/// Of an export; none is Harbor's tasks, which are folders.
fn formats() -> impl TypedValueParser<Value = Option<Format>> {
    one_of([
        ("sft", "Conversations with tools, for fine-tuning", Some(Format::Sft)),
        ("rl", "Steps with rewards, for reinforcement learning", Some(Format::Rl)),
        ("preference", "Pairs of a better and a worse conversation", Some(Format::Preference)),
        ("atif", "Harbor's trajectories, ATIF 1.4", Some(Format::Atif)),
        ("harbor", "Harbor's tasks, a folder for each sample, with the best pass as the solution", None),
    ])
}

pub fn run(arguments: &AgentArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    match &arguments.command {
        Some(AgentCommand::Export(arguments)) => export::run(arguments, terminal),
        Some(AgentCommand::Show(arguments)) => show::run(arguments, terminal),
        None => attempts(&arguments.run, terminal),
    }
}

impl From<AgentRunError> for Stop {
    fn from(error: AgentRunError) -> Stop {
        let is_hosts = matches!(error, AgentRunError::File(..) | AgentRunError::Trajectory(_));
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
    private::directory("--out", &arguments.out, SETTINGS)?;
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
    let (runner, fusion) = (runner(arguments)?, meant::reference_pass("autofuse"));
    let workers = RunWorkers {
        endpoint: &endpoint,
        runner: &runner,
        guide: super::guide::GUIDE,
        fusion: fusion.as_deref(),
        parallel: arguments.parallel.into(),
    };
    let all = run.work(&workers, &hear);
    drop(run);
    let curve = scores::read(&arguments.out)?;
    write_and_print(&arguments.json, &curve, scores::render(&curve, terminal))?;
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
    let opened = super::open_device(&arguments.device, |setup| setup)?;
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
