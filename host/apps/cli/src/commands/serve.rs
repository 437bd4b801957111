//! `passhost serve LIST|DIR... --clients FILE --data DIR`, and `passhost token NAME`

mod episodes;
pub mod evaluator;
mod hosts;
pub mod offers;
pub mod queue;
mod reruns;
pub mod samples;
pub mod server_name;

use crate::arguments::{Devices, LaunchArguments, MeasureArguments, devices_or_none, duration, fraction, label, size};
use crate::exit::{Exit, OrStop, Stop};
use crate::interrupt;
use crate::output::{is_lost, print};
use crate::private;
use crate::terminal::Terminal;
use clap::Args;
use evaluator::Evaluator;
use passhost_queue::{Judge, SIGNED, Worker};
use passhost_result::untrusted::one_line;
use passhost_serve::{ClientRole, Clients, EpisodeLimits, ServedSite, ServerInfo, ServerLimits, ShutdownMode, Token};
use passhost_supervisor::Config;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use samples::by_name;
use server_name::server_name;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
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
    /// Queues in this PostgreSQL database, which other servers may use, too, in place of a file in --data:
    /// postgres://USER@HOST/DATABASE, or a file with that and a password
    #[arg(long, value_name = "ADDRESS|FILE")]
    pub queue: Option<String>,
    /// Keeps submissions and results of 64 KiB and more in a directory that all machines share, or in S3, in place of the database
    #[arg(long, value_name = "DIR|s3://BUCKET/PREFIX", requires = "queue")]
    pub objects: Option<String>,
    /// Labels that workers of its submissions must have (`passhost worker --labels`)
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = label, requires = "queue")]
    pub labels: Vec<String>,
    /// Results count if a worker signed them with a key of this file, under the name of its host: lines that `passhost keygen`
    /// prints. For a server without a device
    #[arg(long, value_name = "FILE", requires = "queue")]
    pub hosts: Option<PathBuf>,
    /// Share of the results of --hosts that another host evaluates again: 0.02. If a third host agrees with one of them, the other one is
    /// quarantined
    #[arg(long, value_name = "SHARE", value_parser = fraction)]
    pub rerun: Option<f64>,
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
    /// auto, cpu, cuda, cuda:N, several GPUs that work side by side, cuda:0,1, or none: workers on --queue have devices
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices_or_none)]
    pub device: Devices,
    /// Threads for CPU work, all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Episodes of training loops (docs/agent.md)")]
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

/// Files that the server has open besides connections, at most: its queue, pipes of children, what it reads.
const OWN_FILES: usize = 256;
const DAY: Duration = Duration::from_secs(24 * 3600);

pub fn run(arguments: &ServeArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let samples = Arc::new(by_name(super::named_samples(&arguments.samples, terminal)?)?);
    if arguments.device.0.is_empty() && arguments.queue.is_none() {
        return Err(Stop::usage("without a device nobody evaluates; name a queue that workers share by --queue"));
    }
    if arguments.hosts.is_some() && !arguments.device.0.is_empty() {
        return Err(Stop::usage(
            "--hosts is about results of workers, and this server evaluates itself; add --device none",
        ));
    }
    if arguments.measure.seed.is_some() {
        let why = "clients would read it in their first result, and know the inputs of the next";
        return Err(Stop::usage(format!("--seed is not for a server: {why}")));
    }
    let judge = judge(arguments)?;
    let config = config(&arguments.measure, &arguments.launch, arguments.submissions, &arguments.device)?;
    let (body, policy) = (config.limits.wasm, config.policy.name().to_owned());
    let body = usize::try_from(body).unwrap_or(usize::MAX);
    let limits = ServerLimits {
        connections: arguments.connections as usize,
        body,
        receiving: ServerLimits::default().receiving.max(body),
        rate: arguments.rate,
        keep: DAY * arguments.keep,
        episodes: EpisodeLimits {
            sessions: arguments.episodes.sessions,
            steps: arguments.episodes.episode_steps,
            idle: arguments.episodes.session_idle,
            ..EpisodeLimits::default()
        },
        ..ServerLimits::default()
    };
    let clients = Clients::read(&arguments.clients, &limits).or_stop(Exit::Usage)?;
    allow_files(clients.len(), &limits)?;
    private::directory("--data", &arguments.data, queue::FILE)?;
    let queue = queue::open(arguments, clients.len(), body, terminal)?;
    let (name, _data) = server_name(&arguments.data)?;
    let listener = TcpListener::bind(arguments.listen);
    let listener = listener.map_err(|error| {
        let address = arguments.listen;
        Stop::usage(format!("cannot listen at {address}: {error}; name a free address of this machine by --listen"))
    })?;
    let mut worker = Worker { name, host: host(), offers: vec![] };
    if arguments.queue.is_some() {
        worker.offers = offers::of_server(&config, &samples)?;
        worker.offers.extend(offers::of_labels(&arguments.labels).chain(offers::of_objects(&arguments.objects)));
        worker.offers.extend(judge.iter().map(|_| SIGNED.to_owned()));
    }
    let supervisor = Arc::new(super::supervisor(config, terminal));
    let (launch, confinement) = (arguments.launch.launch, arguments.measure.confinement.mode());
    // Their children reach neither what others submitted nor who may ask, nor the database.
    let own = [arguments.data.as_path(), arguments.clients.as_path()];
    let own = own.into_iter().chain(arguments.queue.as_deref().and_then(queue::address_file));
    let own = own.chain(queue::objects_directory(&arguments.objects));
    let devices = super::open_devices(&arguments.device.0, arguments.threads, launch, confinement, own)?;
    devices.iter().try_for_each(|device| arguments.launch.allowed_on(device.info()))?;
    print(devices.iter().map(|device| super::device_line(device.info())));
    let names = devices.iter().map(|device| device.info().name.clone()).collect();
    let kinds: BTreeSet<String> = devices.iter().map(offers::of_device).collect();
    if arguments.queue.is_some() && kinds.len() == 1 {
        worker.offers.extend(kinds);
    }
    let site = ServedSite {
        worker,
        samples: samples.iter().map(|(name, sample)| (name.clone(), sample.groups.clone())).collect(),
        clients,
        about: ServerInfo { host: env!("CARGO_PKG_VERSION").to_owned(), devices: names, policy },
        limits,
        sessions: episodes::open(arguments, &samples, &devices)?,
        judge,
    };
    let graders = Evaluator::all(&supervisor, &samples, devices, confinement, None);
    interrupt::watch();
    let address = listener.local_addr().unwrap_or(arguments.listen);
    print([format!("listening at http://{address}, {} samples", samples.len())]);
    let mode = || match interrupt::count() {
        0 => ShutdownMode::GoOn,
        1 => ShutdownMode::End,
        _ => ShutdownMode::EndNow,
    };
    passhost_serve::serve(listener, site, queue, graders, mode).or_stop(Exit::Host)?;
    Ok(Exit::Interrupted(interrupt::last()))
}

/// What judges the results of workers, where these must be signed.
fn judge(arguments: &ServeArguments) -> Result<Option<Arc<dyn Judge>>, Stop> {
    if let (Some(_), None) = (arguments.rerun, &arguments.hosts) {
        let missing = match arguments.queue {
            None => "another host evaluates again, and the queue in --data has one host; name a database by --queue",
            Some(_) => "a disagreement names the host, which nobody knows of an unsigned result; add --hosts FILE",
        };
        return Err(Stop::usage(format!("--rerun: {missing}")));
    }
    arguments.hosts.as_deref().map(|hosts| hosts::judge(hosts, arguments.rerun)).transpose()
}

/// What holds for every evaluation of a queue.
pub fn config(
    measure: &MeasureArguments,
    launch: &LaunchArguments,
    submissions: u32,
    devices: &Devices,
) -> Result<Config, Stop> {
    launch.config(measure.config(submissions)?, &devices.0)
}

/// What the machine is called.
pub fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// Makes sure that every client can have its connections: each is an open file.
fn allow_files(clients: usize, limits: &ServerLimits) -> Result<(), Stop> {
    let needed = (clients * limits.connections + limits.unauthenticated + OWN_FILES) as u64;
    let now = getrlimit(Resource::Nofile);
    if now.current.is_none_or(|files| files >= needed) {
        return Ok(());
    }
    let more = Rlimit { current: Some(needed), ..now };
    setrlimit(Resource::Nofile, more).map_err(|_| {
        let (found, own) = (now.maximum.unwrap_or_default(), limits.connections);
        Stop::usage(format!(
            "{clients} clients with {own} connections each need {needed} open files, and the system allows {found}; lower --connections, or raise `ulimit -n`"
        ))
    })
}

pub fn token(arguments: &TokenArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let name = &arguments.name;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) {
        let shown = one_line(name, 80);
        return Err(Stop::usage(format!("`{shown}` is no name for a client; use letters, digits and `-_.@`")));
    }
    let token = Token::random().map_err(|error| Stop::host(format!("the system gives no random bytes: {error}")))?;
    let role = if arguments.operator { ClientRole::Operator } else { ClientRole::Client };
    print([token.line(name, role)]);
    if is_lost() {
        // A token that no file knows is of no use.
        return Ok(Exit::Host);
    }
    terminal.complain("the line above is for the file of clients; this is the token, which is shown once:");
    terminal.complain(token.secret());
    Ok(Exit::Success)
}
