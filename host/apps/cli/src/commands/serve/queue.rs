//! The queue of a server: a file in its directory of data, or a database that other servers may use, too.

use super::ServeArguments;
use crate::exit::{Exit, Stop};
use crate::terminal::Terminal;
use passhost_cache::user;
use passhost_queue::{Embedded, ObjectError, Objects, Postgres, Queue, QueueError, QueueLimits};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

/// The file of what waits, in the directory of data.
pub const FILE: &str = "queue.redb";
/// Bytes of a job besides those of its submission, at most.
pub const HEAD: usize = 64 << 10;

/// Opens it for so many clients, and submissions of so many bytes.
pub fn open(
    arguments: &ServeArguments,
    clients: usize,
    body: usize,
    terminal: &Terminal,
) -> Result<Arc<dyn Queue>, Stop> {
    // With what stands before the bytes of a submission.
    let payload = body.saturating_add(HEAD);
    let (waiting_of_client, bytes_of_client) = (arguments.waiting, arguments.disk);
    let limits = QueueLimits { waiting_of_client, bytes_of_client, payload, ..Default::default() };
    if let Some(address) = &arguments.queue {
        return Ok(Arc::new(database(address, limits, objects(&arguments.objects)?)?));
    }
    allow_disk(clients as u64, arguments.disk, &arguments.data)?;
    let place = arguments.data.join(FILE);
    let queue = Embedded::open(&place, limits).map_err(stopped)?;
    if queue.is_begun_anew() {
        terminal.complain(&format!(
            "the queue `{}` was removed, emptied or replaced since the last start: what was in it is lost, and its clients are told so",
            place.display()
        ));
    }
    Ok(Arc::new(queue))
}

/// The queue in the database of this address, or of the address in this file.
pub fn database(address: &str, limits: QueueLimits, objects: Option<Objects>) -> Result<Postgres, Stop> {
    let text = match address_file(address) {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|error| Stop::usage(format!("cannot read the file `{address}`: {error}")))?,
        None => address.to_owned(),
    };
    let queue = Postgres::open(text.trim(), limits).map_err(stopped)?;
    Ok(match objects {
        Some(objects) => queue.with_objects(objects),
        None => queue,
    })
}

/// The object store of this address, with a cache of what comes from it.
pub fn objects(address: &Option<String>) -> Result<Option<Objects>, Stop> {
    let Some(address) = address else { return Ok(None) };
    let objects = Objects::open(address, |name| std::env::var(name).ok()).map_err(|error| stopped(error.into()))?;
    Ok(Some(objects.with_cache(user::open(user::OBJECTS).ok())))
}

/// The directory of objects, if they are in one.
pub fn objects_directory(address: &Option<String>) -> Option<&Path> {
    address.as_deref().filter(|address| !address.contains("://")).map(Path::new)
}

fn stopped(error: QueueError) -> Stop {
    match error {
        QueueError::InUse(_)
        | QueueError::Open { .. }
        | QueueError::Database(_)
        | QueueError::Object(ObjectError::Address { .. } | ObjectError::Refused { .. }) => {
            Stop::new(Exit::Usage, error)
        }
        error => Stop::new(Exit::Host, error),
    }
}

/// The file of the address of a database, where it is not on the command line.
pub fn address_file(address: &str) -> Option<&Path> {
    Some(Path::new(address)).filter(|path| path.is_file())
}

/// Makes sure that the disk has the room that every client may take.
fn allow_disk(clients: u64, disk: u64, data: &Path) -> Result<(), Stop> {
    let Some(free) = passhost_queue::free(data) else { return Ok(()) };
    // What the queue has already is used again.
    let held = std::fs::metadata(data.join(FILE)).map_or(0, |file| 512 * file.blocks());
    let (needed, found) = (clients.saturating_mul(disk), free.saturating_add(held));
    if needed <= found {
        return Ok(());
    }
    let place = data.display();
    Err(Stop::usage(format!(
        "{clients} clients with {disk} bytes each need {needed} bytes at `{place}`, and the disk has {found}; lower --disk to {} or less, or make room",
        found / clients.max(1)
    )))
}
