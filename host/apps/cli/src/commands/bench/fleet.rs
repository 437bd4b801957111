//! A batch that the workers of a queue evaluate, as jobs of a client of its own.

use crate::arguments::label;
use crate::commands::serve::{offers, queue, samples::by_name};
use crate::exit::{Exit, OrStop, Stop};
use crate::output::print;
use crate::terminal::Terminal;
use clap::Args;
use passhost_child::Plugin;
use passhost_queue::{JobState, NewJob, Postgres, Queue as _, QueueError, QueueLimits, Ticket, WorkerState};
use passhost_result::document::Document;
use passhost_result::untrusted::one_line;
use passhost_sample::Named;
use passhost_serve::{SubmissionKind, head, outcome};
use passhost_sign::{BatchId, JobId};
use passhost_supervisor::Config;
use passhost_supervisor::batch::{ExternalRunner, SampleName};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often all jobs are asked for, of which nobody said that they ended.
const LOOK: Duration = Duration::from_secs(10);
/// Between two tries while the queue is away.
const AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
#[command(next_help_heading = "On a fleet (docs/serve.md)")]
pub struct FleetWork {
    /// Has the workers of this PostgreSQL database evaluate, whose samples and options must be these: postgres://USER@HOST/DATABASE
    /// with the owner of its tables, or a file with that and a password
    #[arg(long, value_name = "ADDRESS|FILE", conflicts_with_all = ["device", "threads", "variants", "sign"])]
    queue: Option<String>,
    /// The directory or bucket in which the workers find large plugins (`passhost worker --objects`)
    #[arg(long, value_name = "DIR|s3://BUCKET/PREFIX", requires = "queue")]
    objects: Option<String>,
    /// Labels that the workers must have (`passhost worker --labels`)
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = label, requires = "queue")]
    labels: Vec<String>,
}

/// A queue, and what its workers must offer.
pub struct Fleet {
    queue: Postgres,
    needs: Vec<String>,
}

impl FleetWork {
    /// Opens the queue, if there is one, and says how many workers take these jobs.
    pub fn open(&self, config: &Config, samples: &[Named], terminal: &Terminal) -> Result<Option<Fleet>, Stop> {
        let Some(address) = &self.queue else { return Ok(None) };
        let mut needs = offers::of_server(config, &by_name(samples.to_vec())?)?;
        needs.extend(offers::of_labels(&self.labels).chain(offers::of_objects(&self.objects)));
        let payload = usize::try_from(config.limits.wasm).unwrap_or(usize::MAX).saturating_add(queue::HEAD);
        let (waiting, bytes) = (u64::MAX, u64::MAX);
        let limits =
            QueueLimits { waiting, waiting_of_client: waiting, bytes_of_client: bytes, payload, ..Default::default() };
        let queue = queue::database(address, limits, queue::objects(&self.objects)?)?;
        let fleet = queue.fleet().or_stop(Exit::Host)?;
        let working = fleet.workers.iter().filter(|worker| fleet.state(worker) == WorkerState::Working);
        match working.filter(|worker| needs.iter().all(|need| worker.offers.contains(need))).count() {
            0 => terminal.complain(
                "no worker takes these jobs now: they wait for one with these programs, options, samples and labels",
            ),
            workers => print([format!("{workers} workers take these jobs")]),
        }
        Ok(Some(Fleet { queue, needs }))
    }
}

/// Jobs of a batch on a queue.
pub struct QueueRunner<'a> {
    fleet: Fleet,
    plugins: &'a [Plugin],
    /// Its name among the clients of the queue, by which a batch that goes on finds its jobs.
    client: String,
    stop: &'a AtomicBool,
    terminal: &'a Terminal,
    jobs: BTreeSet<Ticket>,
    looked: Option<Instant>,
    is_away: bool,
}

impl<'a> QueueRunner<'a> {
    /// Of the batch with this id.
    pub fn new(fleet: Fleet, plugins: &'a [Plugin], id: &str, stop: &'a AtomicBool, terminal: &'a Terminal) -> Self {
        // Not by its id, from which the names of signed results follow: workers learn the names of clients.
        let (client, jobs) = (format!("bench {}", BatchId::of(id)), BTreeSet::new());
        QueueRunner { fleet, plugins, client, stop, terminal, jobs, looked: None, is_away: false }
    }

    /// Removes what the queue keeps of the batch, all of whose jobs have ended.
    pub fn clear(mut self) {
        let keys = format!("{} ", self.client);
        if let Err(error) = self.fleet.queue.withdraw(&keys) {
            self.away(&error);
        }
    }

    /// That the queue cannot be used is said once, and it is tried again.
    fn away(&mut self, error: &QueueError) {
        if !std::mem::replace(&mut self.is_away, true) {
            self.terminal.clear_progress();
            let why = one_line(&error.to_string(), 400);
            self.terminal.complain(&format!("the queue is away and asked again: {why}"));
        }
    }

    /// Jobs that ended: those that were announced, or all if nobody listened or it is time to look.
    fn found(&mut self, wait: Duration) -> Result<Vec<Ticket>, QueueError> {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK)
            && let Some(announced) = self.fleet.queue.wait_for_ends(wait)?
        {
            return Ok(announced.into_iter().filter(|ticket| self.jobs.contains(ticket)).collect());
        }
        let jobs: Vec<&str> = self.jobs.iter().map(Ticket::as_str).collect();
        let ended = self.fleet.queue.ended(&self.client, &jobs)?;
        self.looked = Some(Instant::now());
        Ok(ended)
    }

    /// What came of a job. `None` if it has not ended.
    fn document(&self, ticket: &Ticket) -> Result<Option<Result<Document, String>>, QueueError> {
        let Some(status) = self.fleet.queue.look(&self.client, ticket)? else {
            return Ok(Some(Err("its job is gone from the queue".to_owned())));
        };
        if !status.state.is_end() {
            return Ok(None);
        }
        let is_cancelled = status.state == JobState::Cancelled;
        let outcome = outcome(status);
        let read =
            |text: &str| serde_json::from_str(text).map_err(|error| format!("its result cannot be read: {error}"));
        Ok(Some(match (outcome.document, outcome.trouble) {
            (Some(document), None) => read(document.get()),
            _ if is_cancelled => Err("its job was cancelled".to_owned()),
            (_, why) => Err(why.unwrap_or_else(|| "it has no result".to_owned())),
        }))
    }
}

impl ExternalRunner for QueueRunner<'_> {
    fn submit(&mut self, plugin: usize, sample: &SampleName) -> Result<String, String> {
        let Plugin { sha256, wasm, .. } = &self.plugins[plugin];
        let key = JobId::within(&self.client, &[sha256, &sample.path, &sample.sha256]);
        let key = format!("{} {key}", self.client);
        let head = head(&sample.name, SubmissionKind::Component);
        loop {
            let job = NewJob { head: &head, bytes: wasm, needs: &self.fleet.needs };
            match self.fleet.queue.submit_job(&self.client, Some(&key), &job) {
                Ok(ticket) => {
                    self.jobs.insert(ticket.clone());
                    return Ok(ticket.to_string());
                }
                Err(error) if error.is_passing() && !self.stop.load(Ordering::Relaxed) => {
                    self.away(&error);
                    sleep(AGAIN);
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn ended(&mut self, wait: Duration) -> Vec<(String, Result<Document, String>)> {
        let mut ended = vec![];
        let found = self.found(wait).and_then(|tickets| {
            for ticket in tickets {
                if let Some(document) = self.document(&ticket)? {
                    self.jobs.remove(&ticket);
                    ended.push((ticket.to_string(), document));
                }
            }
            Ok(())
        });
        match found {
            Ok(()) => self.is_away = false,
            Err(error) => {
                self.away(&error);
                // What was announced and not read is found then.
                self.looked = None;
                sleep(AGAIN);
            }
        }
        ended
    }

    fn withdraw(&mut self) -> Vec<String> {
        let is_withdrawn = |ticket: &Ticket| {
            let status = self.fleet.queue.look(&self.client, ticket);
            status.is_ok_and(|status| status.is_some_and(|status| status.state == JobState::Waiting))
                && matches!(self.fleet.queue.cancel(&self.client, ticket), Ok(Some(JobState::Cancelled)))
        };
        let withdrawn: Vec<Ticket> = self.jobs.iter().filter(|ticket| is_withdrawn(ticket)).cloned().collect();
        withdrawn.iter().for_each(|ticket| drop(self.jobs.take(ticket)));
        withdrawn.iter().map(Ticket::to_string).collect()
    }
}
