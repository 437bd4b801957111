//! The tables of the file, and the one way to change what a job stands in.

use crate::record::{ClientLine, JobRecord, sha256};
use crate::{JOB, JobState, QueueError, Ticket};
use redb::{ReadableTable, ReadableTableMetadata as _, Table, TableDefinition, TableError, WriteTransaction};
use std::collections::BTreeMap;

pub const JOBS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("jobs");
const PAYLOADS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("payloads");
pub const OUTCOMES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("outcomes");
/// By client and number: the ticket.
pub const WAITING: TableDefinition<'_, (&str, u64), &str> = TableDefinition::new("waiting");
/// The tickets.
pub const RUNNING: TableDefinition<'_, &str, ()> = TableDefinition::new("running");
/// As older versions kept them: by when a lease ran out, or zero, and ticket.
const RUNNING_BY_LEASE: TableDefinition<'_, (u64, &str), ()> = TableDefinition::new("running");
/// By the time of the end on the queue's own clock, and ticket.
pub const ENDED: TableDefinition<'_, (u64, &str), ()> = TableDefinition::new("ended");
/// By client and key: the ticket.
const KEYS: TableDefinition<'_, (&str, &str), &str> = TableDefinition::new("keys");
/// By client: see [`ClientLine`].
pub const LINES: TableDefinition<'_, &str, (u64, u64, u64)> = TableDefinition::new("lines");
/// By client: the bytes of its jobs, as limits count them.
pub const BYTES: TableDefinition<'_, &str, u64> = TableDefinition::new("bytes");
/// By what it is: the name of the queue.
const NAMES: TableDefinition<'_, &str, &str> = TableDefinition::new("names");
/// The key of the queue's own name.
const OWN: &str = "queue";
/// The last number that was given, by what for.
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");

/// What numbers count.
#[derive(Clone, Copy)]
pub enum Sequence {
    Job,
    Turn,
    /// Milliseconds of the queue's own clock, as they were when a job ended or was forgotten last.
    Clock,
}

impl Sequence {
    fn name(self) -> &'static str {
        match self {
            Sequence::Job => "job",
            Sequence::Turn => "turn",
            Sequence::Clock => "clock",
        }
    }
}

/// All tables, in a transaction that changes them. Each is opened where it is used.
pub struct Tables<'t>(&'t WriteTransaction);

impl<'t> Tables<'t> {
    pub fn new(transaction: &'t WriteTransaction) -> Tables<'t> {
        Tables(transaction)
    }

    fn open<K: redb::Key + 'static, V: redb::Value + 'static>(
        &self,
        table: TableDefinition<'static, K, V>,
    ) -> Result<Table<'t, K, V>, QueueError> {
        Ok(self.0.open_table(table)?)
    }

    /// Makes those that are not there yet, so that whoever reads finds each, and gives those of an older version today's form.
    pub fn make(&self) -> Result<(), QueueError> {
        self.upgrade()?;
        drop((self.open(JOBS)?, self.open(PAYLOADS)?, self.open(OUTCOMES)?, self.open(KEYS)?, self.open(BYTES)?));
        drop((self.open(WAITING)?, self.open(RUNNING)?, self.open(ENDED)?, self.open(LINES)?));
        Ok(())
    }

    fn upgrade(&self) -> Result<(), QueueError> {
        let running: Vec<String> = match self.0.open_table(RUNNING_BY_LEASE) {
            Err(TableError::TableTypeMismatch { .. }) => return Ok(()),
            opened => {
                opened?.iter()?.map(|entry| Ok(entry?.0.value().1.to_owned())).collect::<Result<_, QueueError>>()?
            }
        };
        self.0.delete_table(RUNNING_BY_LEASE)?;
        let mut table = self.open(RUNNING)?;
        for ticket in &running {
            table.insert(ticket.as_str(), ())?;
        }
        Ok(())
    }

    /// The record of a job, if there is such a job.
    pub fn record(&self, ticket: &Ticket) -> Result<Option<JobRecord>, QueueError> {
        self.open(JOBS)?.get(ticket.as_str())?.map(|bytes| JobRecord::read(bytes.value())).transpose()
    }

    /// The record of a job that can be read. What points to one that cannot is removed.
    pub fn readable(&mut self, ticket: &Ticket) -> Result<Option<JobRecord>, QueueError> {
        match self.record(ticket) {
            Ok(None) | Err(QueueError::Record) => self.strike(ticket).map(|()| None),
            record => record,
        }
    }

    /// Gives a job the key by which its client may ask for it again.
    pub fn set_key(&mut self, client: &str, key: &str, ticket: &Ticket) -> Result<(), QueueError> {
        self.open(KEYS)?.insert((client, key), ticket.as_str())?;
        Ok(())
    }

    /// The bytes of a job that has not ended, if they are those that were submitted.
    pub fn payload(&self, ticket: &Ticket, record: &JobRecord) -> Result<Option<Vec<u8>>, QueueError> {
        let payload = self.open(PAYLOADS)?.get(ticket.as_str())?.map(|payload| payload.value().to_vec());
        Ok(payload.filter(|payload| sha256(payload) == record.sha256))
    }

    /// The queue's own name. A file that has none gets this one.
    pub fn name(&mut self, new: &str) -> Result<String, QueueError> {
        if let Some(name) = self.open(NAMES)?.get(OWN)? {
            return Ok(name.value().to_owned());
        }
        self.open(NAMES)?.insert(OWN, new)?;
        Ok(new.to_owned())
    }

    /// The job that a client gave a key to.
    pub fn ticket_of(&self, client: &str, key: &str) -> Result<Option<Ticket>, QueueError> {
        Ok(self.open(KEYS)?.get((client, key))?.map(|ticket| Ticket::named(ticket.value())))
    }

    /// The jobs whose keys begin so.
    pub fn tickets_of(&self, keys: &str) -> Result<Vec<Ticket>, QueueError> {
        let mut tickets = vec![];
        for entry in self.open(KEYS)?.iter()? {
            let (key, ticket) = entry?;
            if key.value().1.starts_with(keys) {
                tickets.push(Ticket::named(ticket.value()));
            }
        }
        Ok(tickets)
    }

    /// Adds a new job.
    pub fn add(&mut self, ticket: &Ticket, record: &JobRecord, payload: &[u8]) -> Result<(), QueueError> {
        self.insert(ticket, record)?;
        self.open(PAYLOADS)?.insert(ticket.as_str(), payload)?;
        self.count(&record.client, payload.len() as u64 + JOB, 0)
    }

    /// Keeps what came of a job.
    pub fn keep(&mut self, ticket: &Ticket, record: &JobRecord, outcome: &[u8]) -> Result<(), QueueError> {
        self.open(OUTCOMES)?.insert(ticket.as_str(), outcome)?;
        self.count(&record.client, outcome.len() as u64, 0)
    }

    /// Bytes that a client has.
    pub fn bytes(&self, client: &str) -> Result<u64, QueueError> {
        Ok(self.open(BYTES)?.get(client)?.map_or(0, |bytes| bytes.value()))
    }

    fn count(&mut self, client: &str, more: u64, less: u64) -> Result<(), QueueError> {
        // A file in which they were not counted from the beginning has more than it says.
        match self.bytes(client)?.saturating_add(more).saturating_sub(less) {
            0 => drop(self.open(BYTES)?.remove(client)?),
            bytes => drop(self.open(BYTES)?.insert(client, bytes)?),
        }
        Ok(())
    }

    /// Puts a job where its state says.
    fn insert(&mut self, ticket: &Ticket, record: &JobRecord) -> Result<(), QueueError> {
        self.enter(ticket, record)?;
        self.open(JOBS)?.insert(ticket.as_str(), record.bytes().as_slice())?;
        Ok(())
    }

    /// Moves a job from where its record says to where the changed record says. Bytes that nobody needs any more go.
    pub fn change(&mut self, ticket: &Ticket, before: &JobRecord, after: &JobRecord) -> Result<(), QueueError> {
        self.leave(ticket, before)?;
        self.insert(ticket, after)?;
        if after.state.is_end() {
            let payload = self.open(PAYLOADS)?.remove(ticket.as_str())?.map_or(0, |payload| payload.value().len());
            self.count(&after.client, 0, payload as u64)?;
        }
        Ok(())
    }

    /// Removes a job that has ended.
    pub fn remove(&mut self, ticket: &Ticket, record: &JobRecord) -> Result<(), QueueError> {
        self.leave(ticket, record)?;
        self.open(JOBS)?.remove(ticket.as_str())?;
        let outcome = self.open(OUTCOMES)?.remove(ticket.as_str())?.map_or(0, |outcome| outcome.value().len());
        self.count(&record.client, 0, outcome as u64 + JOB)?;
        if let Some(key) = &record.key {
            self.open(KEYS)?.remove((record.client.as_str(), key.as_str()))?;
        }
        Ok(())
    }

    fn enter(&mut self, ticket: &Ticket, record: &JobRecord) -> Result<(), QueueError> {
        let (mut line, name) = (self.line(&record.client)?, ticket.as_str());
        match record.state {
            JobState::Waiting => {
                line.waiting += 1;
                self.open(WAITING)?.insert((record.client.as_str(), record.number), name)?;
            }
            JobState::Running => {
                line.running += 1;
                self.open(RUNNING)?.insert(name, ())?;
            }
            JobState::Finished | JobState::Cancelled | JobState::Lost => {
                self.open(ENDED)?.insert((record.place_ms(), name), ())?;
            }
        }
        self.set_line(&record.client, line)
    }

    fn leave(&mut self, ticket: &Ticket, record: &JobRecord) -> Result<(), QueueError> {
        let (mut line, name) = (self.line(&record.client)?, ticket.as_str());
        let count = match record.state {
            JobState::Waiting => {
                self.open(WAITING)?.remove((record.client.as_str(), record.number))?;
                Some(&mut line.waiting)
            }
            JobState::Running => {
                self.open(RUNNING)?.remove(name)?;
                Some(&mut line.running)
            }
            JobState::Finished | JobState::Cancelled | JobState::Lost => {
                self.open(ENDED)?.remove((record.place_ms(), name))?;
                None
            }
        };
        if let Some(count) = count {
            *count = count.checked_sub(1).ok_or(QueueError::Damaged("a client has fewer jobs than there are"))?;
        }
        self.set_line(&record.client, line)
    }

    /// The line of a client. Who comes anew has had its turn as late as anybody: else whoever sends one job at a time would
    /// always come before those who wait.
    pub fn line(&self, client: &str) -> Result<ClientLine, QueueError> {
        let last = self.last(Sequence::Turn)?.unwrap_or(0);
        let known = self.open(LINES)?.get(client)?.map(|line| line.value().into());
        Ok(known.unwrap_or(ClientLine { last, ..ClientLine::default() }))
    }

    /// A client without a job has no line.
    pub fn set_line(&mut self, client: &str, line: ClientLine) -> Result<(), QueueError> {
        if line.waiting + line.running == 0 {
            self.open(LINES)?.remove(client)?;
        } else {
            self.open(LINES)?.insert(client, <(u64, u64, u64)>::from(line))?;
        }
        Ok(())
    }

    /// Jobs that wait, of all clients.
    pub fn waiting(&self) -> Result<u64, QueueError> {
        Ok(self.open(WAITING)?.len()?)
    }

    /// Clients in the order of their turns: of those with a job that waits and fewer running ones than this, the one with the fewest,
    /// and among those the one whose turn was longest ago.
    pub fn next_clients(&self, running_limit: u64) -> Result<Vec<String>, QueueError> {
        let mut clients = vec![];
        for entry in self.open(LINES)?.iter()? {
            let (client, line) = entry?;
            let line = ClientLine::from(line.value());
            if line.waiting > 0 && line.running < running_limit {
                clients.push((line.running, line.last, client.value().to_owned()));
            }
        }
        clients.sort();
        Ok(clients.into_iter().map(|(.., client)| client).collect())
    }

    /// The job of a client that waits longest and needs nothing but this, and its number. One whose record cannot be read is among
    /// them.
    pub fn first_of(&self, client: &str, offers: &[String]) -> Result<Option<(u64, Ticket)>, QueueError> {
        for entry in self.open(WAITING)?.range((client, 0)..=(client, u64::MAX))? {
            let (place, ticket) = entry?;
            let ticket = Ticket::named(ticket.value());
            match self.record(&ticket) {
                Ok(Some(record)) if !record.needs.iter().all(|need| offers.contains(need)) => {}
                Ok(_) | Err(QueueError::Record) => return Ok(Some((place.value().1, ticket))),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Removes what points to a job whose record cannot be read. What is kept under its name stays, and says that it is lost.
    pub fn strike(&mut self, ticket: &Ticket) -> Result<(), QueueError> {
        self.open(RUNNING)?.retain(|name, ()| name != ticket.as_str())?;
        self.open(ENDED)?.retain(|(_, name), ()| name != ticket.as_str())?;
        self.open(OUTCOMES)?.remove(ticket.as_str())?;
        self.open(PAYLOADS)?.remove(ticket.as_str())?;
        self.recount()
    }

    /// Counts the jobs of each client, where a record that would say whose it was cannot be read.
    fn recount(&mut self) -> Result<(), QueueError> {
        let mut lines = BTreeMap::<String, ClientLine>::new();
        for entry in self.open(WAITING)?.iter()? {
            lines.entry(entry?.0.value().0.to_owned()).or_default().waiting += 1;
        }
        for ticket in self.running()? {
            match self.record(&ticket) {
                Ok(Some(record)) => lines.entry(record.client).or_default().running += 1,
                Ok(None) | Err(QueueError::Record) => {}
                Err(error) => return Err(error),
            }
        }
        let last = self.last(Sequence::Turn)?.unwrap_or(0);
        for (client, line) in &mut lines {
            line.last =
                self.open(LINES)?.get(client.as_str())?.map_or(last, |known| ClientLine::from(known.value()).last);
        }
        self.open(LINES)?.retain(|_, _| false)?;
        lines.iter().try_for_each(|(client, line)| self.set_line(client, *line))?;
        self.recount_bytes()
    }

    /// Counts the bytes of each client. A job whose record cannot be read is its client's as long as it waits, and nobody's
    /// then.
    fn recount_bytes(&mut self) -> Result<(), QueueError> {
        let mut clients = BTreeMap::<String, String>::new();
        for entry in self.open(WAITING)?.iter()? {
            let (place, ticket) = entry?;
            clients.insert(ticket.value().to_owned(), place.value().0.to_owned());
        }
        let mut bytes = BTreeMap::<String, u64>::new();
        for entry in self.open(JOBS)?.iter()? {
            let (ticket, record) = entry?;
            let ticket = ticket.value();
            let known = JobRecord::read(record.value()).map(|record| record.client).ok();
            let Some(client) = known.or_else(|| clients.remove(ticket)) else { continue };
            let payload = self.open(PAYLOADS)?.get(ticket)?.map_or(0, |payload| payload.value().len());
            let outcome = self.open(OUTCOMES)?.get(ticket)?.map_or(0, |outcome| outcome.value().len());
            *bytes.entry(client).or_default() += JOB + (payload + outcome) as u64;
        }
        self.open(BYTES)?.retain(|_, _| false)?;
        for (client, bytes) in bytes {
            self.open(BYTES)?.insert(client.as_str(), bytes)?;
        }
        Ok(())
    }

    /// Jobs that run.
    pub fn running(&self) -> Result<Vec<Ticket>, QueueError> {
        self.open(RUNNING)?.iter()?.map(|entry| Ok(Ticket::named(entry?.0.value()))).collect()
    }

    /// Jobs that ended before this time.
    pub fn ended(&self, before_ms: u64) -> Result<Vec<Ticket>, QueueError> {
        let found = self.open(ENDED)?;
        found.range(..(before_ms, ""))?.map(|entry| Ok(Ticket::named(entry?.0.value().1))).collect()
    }

    /// The next number.
    pub fn number(&mut self, number: Sequence) -> Result<u64, QueueError> {
        let next = self.last(number)?.unwrap_or(0) + 1;
        self.set(number, next)?;
        Ok(next)
    }

    /// The number that was kept last.
    pub fn last(&self, number: Sequence) -> Result<Option<u64>, QueueError> {
        Ok(self.open(NUMBERS)?.get(number.name())?.map(|last| last.value()))
    }

    /// Keeps a number.
    pub fn set(&mut self, number: Sequence, value: u64) -> Result<(), QueueError> {
        self.open(NUMBERS)?.insert(number.name(), value)?;
        Ok(())
    }
}
