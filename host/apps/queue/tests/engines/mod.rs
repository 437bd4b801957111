//! The engines that the tests are about, each with a clock that they move. PostgreSQL is a server of their own.

#![allow(dead_code, reason = "each test uses some of it")]

use passhost_queue::{Embedded, Postgres, Queue, QueueClock, QueueLimits, Worker};
use postgres::{Client, NoTls};
use std::cell::Cell;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;
use tempfile::TempDir;

pub const LEASE: Duration = Duration::from_secs(60);

thread_local! {
    /// Milliseconds since 1970, as each test has them.
    pub static WALL: Cell<u64> = const { Cell::new(1_000_000_000_000) };
    /// Milliseconds that nobody sets.
    static ELAPSED: Cell<u64> = const { Cell::new(5_000) };
}

pub const CLOCK: QueueClock = QueueClock { wall_ms: || WALL.get(), elapsed_ms: || ELAPSED.get() };

/// Where a test has a queue.
pub trait Place {
    fn open(&self, limits: QueueLimits) -> Box<dyn Queue>;

    /// Time passes.
    fn pass(&self, time: Duration);

    /// The process that has the queue is gone, and another one opens it. What ran waits again.
    fn restart(&self, queue: Box<dyn Queue>, limits: QueueLimits) -> Box<dyn Queue>;
}

pub struct File(pub TempDir);

impl File {
    pub fn new() -> File {
        File(tempfile::tempdir().unwrap())
    }
}

impl Place for File {
    fn open(&self, limits: QueueLimits) -> Box<dyn Queue> {
        Box::new(Embedded::open_at(&self.0.path().join("queue"), limits, CLOCK).unwrap())
    }

    fn pass(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap();
        WALL.set(WALL.get() + time);
        ELAPSED.set(ELAPSED.get() + time);
    }

    fn restart(&self, queue: Box<dyn Queue>, limits: QueueLimits) -> Box<dyn Queue> {
        drop(queue);
        self.open(limits)
    }
}

/// A database server, which ends with the process that started it.
pub struct Server {
    pub directory: String,
    programs: PathBuf,
    _stdin: ChildStdin,
}

/// Makes a database, starts its server, and stops it when nobody holds the other end of the standard input.
const RUN: &str = r#"
set -e
cd /tmp
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
# A signal to all processes of a terminal ends the server, too.
trap : INT TERM HUP
"$1/initdb" -D "$directory/data" -U postgres -A trust -E UTF8 --locale=C --no-sync > "$directory/log"
echo "unix_socket_directories = '$directory'
listen_addresses = ''
fsync = off
max_connections = 200" >> "$directory/data/postgresql.conf"
eval "$2"
"$1/pg_ctl" -D "$directory/data" -l "$directory/log" -w start > /dev/null
echo "$directory"
read -r _ || true
"$1/pg_ctl" -D "$directory/data" -m immediate stop > /dev/null 2>&1
"#;

impl Server {
    /// Starts one; why not, where there is no PostgreSQL.
    pub fn start() -> Result<Server, String> {
        Server::start_with("")
    }

    /// As [`Server::start`], of a database that a script of the shell changes in `$directory/data`.
    pub fn start_with(script: &str) -> Result<Server, String> {
        if std::env::var_os("CI").is_some() {
            return Err("servers are not started in CI".to_owned());
        }
        let programs = programs().ok_or("no /usr/lib/postgresql/*/bin/initdb of version 15 or newer")?;
        let mut command = unprivileged("sh");
        command.args(["-c", RUN, "sh"]).arg(&programs).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("cannot start a server: {error}"))?;
        let mut directory = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut directory).unwrap();
        if directory.is_empty() {
            return Err("PostgreSQL does not start here".to_owned());
        }
        Ok(Server { directory: directory.trim_end().to_owned(), programs, _stdin: process.stdin.take().unwrap() })
    }

    /// The server of all tests of this process. Says why a test is skipped without one.
    pub fn shared(test: &str) -> Option<&'static Server> {
        static SHARED: LazyLock<Result<Server, String>> = LazyLock::new(Server::start);
        SHARED.as_ref().map_err(|why| eprintln!("skipped: {test}: {why}")).ok()
    }

    /// The address of a schema, which is made.
    pub fn schema(&self, name: &str) -> String {
        let address = format!("host={} user=postgres", self.directory);
        let mut client = Client::connect(&address, NoTls).unwrap();
        client.batch_execute(&format!("CREATE SCHEMA {name}")).unwrap();
        format!("{address} options='-c search_path={name}'")
    }

    /// Ends all connections as a crash does, and starts again.
    pub fn restart(&self) {
        self.stop();
        self.start_again();
    }

    /// Ends all connections as a crash does.
    pub fn stop(&self) {
        self.control("stop -m immediate");
    }

    pub fn start_again(&self) {
        self.control("start");
    }

    fn control(&self, how: &str) {
        let data = Path::new(&self.directory).join("data");
        let mut command = unprivileged("sh");
        command.args(["-c", &format!(r#"cd /tmp; "$1/pg_ctl" -D "$2" -l "$2/log" -w {how}"#), "sh"]);
        let status = command.arg(&self.programs).arg(data).stdout(Stdio::null()).status().unwrap();
        assert!(status.success());
    }
}

fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok().filter(|version| *version >= 15);
    let newest = versions.filter_map(|entry| entry.ok().map(|entry| entry.path())).max_by_key(version)?;
    version(&newest)?;
    Some(newest.join("bin")).filter(|programs| programs.join("initdb").exists())
}

/// A command without the rights of root, with which PostgreSQL refuses to run.
fn unprivileged(program: &str) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = if users.lines().any(|line| line.starts_with("postgres:")) { "postgres" } else { "nobody" };
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={user}"), &format!("--regid={}", group(user)), "--clear-groups", program]);
    command
}

fn group(user: &str) -> &str {
    if user == "postgres" { user } else { "nogroup" }
}

/// A schema of its own, with a clock that stands still until it is moved.
pub struct Database {
    pub address: String,
}

impl Database {
    pub fn new(test: &str) -> Option<Database> {
        let database = Database { address: Server::shared(test)?.schema(test) };
        drop(database.open(QueueLimits::default()));
        database.pass(Duration::ZERO);
        Some(database)
    }

    pub fn execute(&self, sql: &str) {
        Client::connect(&self.address, NoTls).unwrap().batch_execute(sql).unwrap();
    }
}

impl Place for Database {
    fn open(&self, limits: QueueLimits) -> Box<dyn Queue> {
        Box::new(Postgres::open(&self.address, limits).unwrap())
    }

    fn pass(&self, time: Duration) {
        WALL.set(WALL.get() + u64::try_from(time.as_millis()).unwrap());
        self.execute(&format!(
            "CREATE OR REPLACE FUNCTION queue_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
                'SELECT timestamptz ''epoch'' + {} * interval ''1 millisecond'''",
            WALL.get()
        ));
    }

    fn restart(&self, queue: Box<dyn Queue>, limits: QueueLimits) -> Box<dyn Queue> {
        drop(queue);
        self.pass(LEASE + Duration::from_millis(1));
        let queue = self.open(limits);
        // Whoever takes next puts back what ran.
        queue.take_batch(&Worker::default(), 0, LEASE).unwrap();
        queue
    }
}

/// Each of these is a test of both engines.
#[macro_export]
macro_rules! of_both_engines {
    ($($test:ident),* $(,)?) => {
        mod embedded { $(#[test] fn $test() { super::$test(&super::engines::File::new()); })* }
        mod postgres { $(#[test] fn $test() {
            if let Some(place) = super::engines::Database::new(stringify!($test)) { super::$test(&place); }
        })* }
    };
}
