//! `passhost worker LIST|DIR... --queue ADDRESS`

pub mod canary;

use super::keygen::check_name;
use super::serve::evaluator::Evaluator;
use super::serve::samples::{ServedSamples, by_name};
use super::serve::server_name::{NAME, server_name};
use super::serve::{config, host, offers, queue};
use super::signing::{SignArguments, Signer};
use crate::arguments::{Devices, LaunchArguments, MeasureArguments, devices, duration, label};
use crate::exit::{Exit, OrStop, Stop};
use crate::output::print;
use crate::terminal::Terminal;
use crate::{interrupt, private};
use canary::CanaryFile;
use clap::Args;
use passhost_child::device::Device;
use passhost_queue::{QueueLimits, SIGNED, Ticket, UnmetNeeds, Worker, random_hexadecimal};
use passhost_result::untrusted::one_line;
use passhost_serve::{GradingEvent, GradingSettings, ShutdownMode, Sign, work_alone};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug, Args)]
pub struct WorkerArguments {
    /// The samples of the servers whose submissions it evaluates
    #[arg(required = true, value_name = "LIST|DIR")]
    pub samples: Vec<PathBuf>,
    /// The PostgreSQL database of the queue: postgres://USER@HOST/DATABASE, or a file with that and a password
    #[arg(long, value_name = "ADDRESS|FILE")]
    pub queue: String,
    /// The directory or bucket in which the servers keep large submissions and results (`passhost serve --objects`)
    #[arg(long, value_name = "DIR|s3://BUCKET/PREFIX")]
    pub objects: Option<String>,
    /// Labels of this worker, for submissions that need some (`passhost serve --labels`)
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = label)]
    pub labels: Vec<String>,
    /// What its host is called, in `serve --hosts` and by `fleet status`; as the system is called, if absent
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Signs each result with this key of `passhost keygen`, for servers that believe enrolled hosts alone (`serve --hosts`)
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,
    /// Evaluates a pass whose ratio is known at the start and then every --canary-interval: a JSON file with `plugin`, `sample` and
    /// `ratios`. If the ratio is another, the host is quarantined, and its results since the last time are revoked
    #[arg(long, value_name = "FILE")]
    pub canary: Option<PathBuf>,
    /// How often that is
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub canary_interval: Duration,
    /// Keeps its name in this directory: what it held when it was killed waits again as soon as it starts again
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Submissions of one client for one sample that it takes at once, so that the sample is read once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub batch: u16,
    /// How long a submission is held without a word of this worker until another one may have it
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = duration)]
    pub lease: Duration,
    /// After SIGTERM: how long the submission that is being evaluated may take until it is given back
    #[arg(long, value_name = "TIME", default_value = "25s", value_parser = duration)]
    pub grace: Duration,
    /// As of the servers: how many submissions of one author to a sample share the error of a verdict
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub submissions: u32,
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

pub fn run(arguments: &WorkerArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let samples = Arc::new(by_name(super::named_samples(&arguments.samples, terminal)?)?);
    let config = config(&arguments.measure, &arguments.launch, arguments.submissions, &arguments.device)?;
    arguments.host.iter().try_for_each(|name| check_name("--host", name))?;
    let signer = Signer::new(&SignArguments { sign: arguments.sign.clone(), author: None }, &[])?.map(Arc::new);
    signer.iter().try_for_each(|signer| signer.apart_from(samples.values().map(|sample| sample.path.as_path())))?;
    let (name, _file) = match &arguments.data {
        Some(data) => {
            private::directory("--data", data, NAME)?;
            server_name(data).map(|(name, file)| (name, Some(file)))?
        }
        None => (random_hexadecimal::<8>().or_stop(Exit::Host)?, None),
    };
    // Each client gets its turn, however many workers there are.
    let payload = usize::try_from(config.limits.wasm).unwrap_or(usize::MAX).saturating_add(queue::HEAD);
    let limits = QueueLimits { running_of_client: u64::MAX, payload, ..QueueLimits::default() };
    let database = queue::database(&arguments.queue, limits, queue::objects(&arguments.objects)?)?;
    let host = arguments.host.clone().unwrap_or_else(host);
    let mut worker = Worker { name, host, offers: offers::of_server(&config, &samples)? };
    worker.offers.extend(offers::of_labels(&arguments.labels).chain(offers::of_objects(&arguments.objects)));
    worker.offers.extend(signer.iter().map(|_| SIGNED.to_owned()));
    let supervisor = Arc::new(super::supervisor(config, terminal));
    let (launch, confinement) = (arguments.launch.launch, arguments.measure.confinement.mode());
    let own = queue::address_file(&arguments.queue).into_iter().chain(arguments.data.as_deref());
    let own = own.chain(queue::objects_directory(&arguments.objects)).chain(signer.as_deref().map(Signer::key_path));
    let devices = super::open_devices(&arguments.device.0, arguments.threads, launch, confinement, own)?;
    devices.iter().try_for_each(|device| arguments.launch.allowed_on(device.info()))?;
    if let Some(path) = &arguments.canary {
        check_canary(path, &samples, &devices).map_err(Stop::usage)?;
    }
    print(devices.iter().map(|device| super::device_line(device.info())));
    print([format!("worker {} on {}, {} samples", worker.name, worker.host, samples.len())]);
    let mut offers = worker.offers.clone();
    offers.extend(devices.iter().map(offers::of_device));
    let graders = Evaluator::all(&supervisor, &samples, devices, confinement, arguments.canary.as_deref());
    interrupt::watch();
    let ends = OnceCell::new();
    let mode = || match interrupt::count() {
        0 => ShutdownMode::GoOn,
        1 if ends.get_or_init(|| Instant::now() + arguments.grace) > &Instant::now() => ShutdownMode::End,
        _ => ShutdownMode::EndNow,
    };
    let sign = signer.map(|signer| -> Arc<Sign> {
        Arc::new(move |job: &Ticket, document: &str| signer.line_of_job(job.as_str(), document))
    });
    let (lease, batch) = (arguments.lease, usize::from(arguments.batch));
    let settings = GradingSettings { lease, batch, holds_results: true, sign, canary: arguments.canary_interval };
    let log = WorkerLog { offers, said: Mutex::default() };
    work_alone(Arc::new(database), worker, settings, graders, mode, move |event| log.say(&event))
        .or_stop(Exit::Host)?;
    Ok(Exit::Interrupted(interrupt::last()))
}

/// Refuses a canary that this worker cannot evaluate.
fn check_canary(path: &Path, samples: &ServedSamples, devices: &[Device]) -> Result<(), String> {
    let (file, _) = CanaryFile::read(path)?;
    if !samples.contains_key(&file.sample) {
        let sample = one_line(&file.sample, 80);
        return Err(format!("the canary's sample `{sample}` is none of this worker's samples; name it, too"));
    }
    devices.iter().try_for_each(|device| file.ratio(device.info()).map(drop))
}

/// What a worker says: a line for each submission, and one where something changes.
struct WorkerLog {
    offers: Vec<String>,
    said: Mutex<LastSaid>,
}

#[derive(Default)]
struct LastSaid {
    is_away: bool,
    no_canary: Option<String>,
    is_drained: bool,
    quarantine: Option<String>,
    lacks_canary: Option<String>,
    refused: Vec<Ticket>,
}

impl WorkerLog {
    fn say(&self, event: &GradingEvent<'_>) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            GradingEvent::Graded { ticket, time, trouble, .. } => {
                let seconds = time.as_secs_f64();
                print([match trouble {
                    None => format!("{ticket}: evaluated in {seconds:.1} s"),
                    Some(why) => format!("{ticket}: left to another host: {}", one_line(why, 400)),
                }]);
            }
            GradingEvent::Refused(ticket) => {
                print([format!("{ticket}: result refused: it was cancelled, or given to another worker")]);
            }
            GradingEvent::Away(error) => {
                if !std::mem::replace(&mut said.is_away, true) {
                    print([format!("the queue is away, results are held: {}", one_line(&error.to_string(), 400))]);
                }
            }
            GradingEvent::Canary(canary) => {
                said.no_canary = None;
                let end = if canary.is_good { "" } else { "; nothing is taken" };
                print([format!("canary on {}: {}{end}", one_line(&canary.device, 80), one_line(&canary.report, 400))]);
            }
            GradingEvent::NoCanary(why) => {
                if said.no_canary.as_deref() != Some(*why) {
                    print([format!("the canary was not measured, nothing is taken before: {}", one_line(why, 400))]);
                    said.no_canary = Some((*why).to_owned());
                }
            }
            GradingEvent::CheckedIn(check_in) => {
                said.is_away = false;
                if let Some(why) = check_in.quarantine.as_ref().filter(|why| said.quarantine.as_ref() != Some(*why)) {
                    print([format!("this host is quarantined, nothing is taken: {}", one_line(why, 400))]);
                }
                said.quarantine.clone_from(&check_in.quarantine);
                if let Some(why) = check_in.lacks_canary.as_ref().filter(|why| said.lacks_canary.as_ref() != Some(*why))
                {
                    print([format!("nothing is taken: {}", one_line(why, 400))]);
                }
                said.lacks_canary.clone_from(&check_in.lacks_canary);
                if check_in.is_drained != said.is_drained {
                    said.is_drained = check_in.is_drained;
                    let what = if said.is_drained { "nothing is taken" } else { "submissions are taken again" };
                    print([format!("the operator changed whether this host is drained: {what}")]);
                }
                let refused: Vec<Ticket> = check_in.unmet.iter().map(|unmet| unmet.first.clone()).collect();
                if refused != said.refused {
                    print(check_in.unmet.iter().map(|unmet| self.refusal(unmet)));
                    said.refused = refused;
                }
            }
        }
    }

    /// That it leaves jobs to others, and what they need that it has not.
    fn refusal(&self, UnmetNeeds { needs, waiting, first }: &UnmetNeeds) -> String {
        let missing = needs.iter().filter(|need| !self.offers.contains(need)).map(|need| {
            let kind = need.split('=').next().unwrap_or_default();
            let own = self.offers.iter().find(|offer| kind != "label" && offer.split('=').next() == Some(kind));
            let own = own.map_or("not".to_owned(), |own| format!("`{own}`"));
            format!("needs `{need}`, and this worker has {own}")
        });
        let missing: Vec<String> = missing.collect();
        one_line(&format!("{first}: refused, it {}; {waiting} such wait for another worker", missing.join(", ")), 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_refuses_is_named_with_what_it_has_not() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let log = WorkerLog { offers: texts(&["programs=1", "policy=open"]), said: Mutex::default() };
        let needs = texts(&["policy=open", "programs=2", "label=h200"]);
        let unmet = UnmetNeeds { needs, waiting: 3, first: Ticket::named("job") };
        assert_eq!(
            log.refusal(&unmet),
            "job: refused, it needs `programs=2`, and this worker has `programs=1`, needs `label=h200`, and this worker has not; \
             3 such wait for another worker"
        );
    }
}
