//! A job on its way into the database.

use super::connections::{Connection, Repeat};
use super::stored::TO_STORE;
use super::{Postgres, count, statements};
use crate::record::sha256;
use crate::{NewJob, Objects, QueueError, Ticket};
use ::postgres::types::ToSql;
use std::time::Instant;

/// What is put in, and hashes of it. Done twice, it is one job, by its ticket.
pub struct Submission<'a> {
    client: &'a str,
    key: Option<&'a str>,
    job: &'a NewJob<'a>,
    payload: Vec<u8>,
    hash: String,
    object: String,
    ticket: Ticket,
}

impl<'a> Submission<'a> {
    pub fn new(
        queue: &Postgres,
        client: &'a str,
        key: Option<&'a str>,
        job: &'a NewJob<'_>,
    ) -> Result<Submission<'a>, QueueError> {
        let (payload, ticket) = (job.payload(), Ticket::random(queue.name.as_deref().unwrap_or_default())?);
        let (hash, object) = (sha256(&payload), sha256(job.bytes));
        Ok(Submission { client, key, job, payload, hash, object, ticket })
    }
}

impl Postgres {
    /// Puts a job in. `None` if its bytes are not there and are not given.
    pub(super) fn try_submission(
        &self,
        submission: &Submission<'_>,
        bytes: Option<&[u8]>,
    ) -> Result<Option<Ticket>, QueueError> {
        self.connections.run(Repeat::Safe, |connection, _| self.submit(connection, submission, bytes))
    }

    /// Stores the bytes of a job, and puts it in.
    pub(super) fn store_submission(
        &self,
        objects: &Objects,
        submission: &Submission<'_>,
    ) -> Result<Option<Ticket>, QueueError> {
        let (object, bytes) = (&submission.object, submission.job.bytes);
        self.query(statements::STORE, &[object, &(bytes.len() as i64)])?;
        objects.put(object, bytes, Instant::now() + TO_STORE)?;
        self.connections.run(Repeat::Safe, |connection, _| {
            connection.batch("BEGIN")?;
            let put =
                connection.query(statements::STORED, &[object]).and_then(|_| self.submit(connection, submission, None));
            // Another job that has the key needs no bytes of this one.
            let is_put = put.as_ref().is_ok_and(|put| put.as_ref() == Some(&submission.ticket));
            connection.batch(if is_put { "COMMIT" } else { "ROLLBACK" })?;
            put
        })
    }

    fn submit(
        &self,
        connection: &mut Connection,
        submission: &Submission<'_>,
        bytes: Option<&[u8]>,
    ) -> Result<Option<Ticket>, QueueError> {
        let Submission { client, key, job, payload, hash, object, ticket } = submission;
        let limits = [self.limits.waiting, self.limits.waiting_of_client, self.limits.bytes_of_client];
        let [most, own, held] = limits.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let values: [&(dyn ToSql + Sync); 12] = [
            &ticket.as_str(),
            client,
            key,
            hash,
            &(payload.len() as i64),
            &job.head,
            &job.needs,
            object,
            &bytes,
            &most,
            &own,
            &held,
        ];
        for row in connection.query(statements::SUBMIT, &values)? {
            match row.try_get(0)? {
                "known" if row.try_get::<_, &str>(2)? == hash => return Ok(Some(Ticket(row.try_get(1)?))),
                "known" => return Err(QueueError::KeyReused(Ticket(row.try_get(1)?))),
                "room" => self.limits.check_room(count(&row, 3)?, count(&row, 4)?, count(&row, 5)?, payload)?,
                "put" => return Ok(Some(ticket.clone())),
                _ => {}
            }
        }
        Ok(None)
    }
}
