//! Jobs that another host runs again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engines;

use engines::{Database, LEASE, Place as _, Server};
use passhost_queue::{
    Canary, Delivered, Judge, Judged, NewJob, Postgres, Queue, QueueLimits, Rerun, SIGNED, Taken, Ticket,
    UntriedResults, Worker,
};
use std::time::Duration;

/// Wants all results again, from a host of the same kind.
struct All;

impl Judge for All {
    fn check(&self, _: &Delivered) -> Result<(), String> {
        Ok(())
    }

    fn rerun(&self, delivered: &Delivered) -> Option<Rerun> {
        let needs = [&delivered.needs[..], &["device=cpu".to_owned()]].concat();
        Some(Rerun { needs, draws: b"draws".to_vec() })
    }

    fn difference(&self, first: &[u8], second: &[u8]) -> Option<String> {
        let [first, second] = [first, second].map(String::from_utf8_lossy);
        (first != second && first != "any" && second != "any").then(|| format!("{first} and {second}"))
    }
}

struct Fleet {
    place: Database,
    queue: Postgres,
}

impl Fleet {
    /// With workers on these hosts.
    fn new(test: &str, hosts: &[&str]) -> Option<Fleet> {
        let place = Database::new(test)?;
        let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap();
        hosts.iter().for_each(|host| drop(queue.check_in(&worker(host)).unwrap()));
        Some(Fleet { place, queue })
    }

    fn take(&self, host: &str) -> Option<Taken> {
        let taken = self.queue.take_as(&worker(host), LEASE).unwrap()?;
        self.queue.begin(&taken.lease).unwrap();
        Some(taken)
    }

    /// The host ends its next job.
    fn ends(&self, host: &str, result: &str) -> Taken {
        let taken = self.take(host).unwrap();
        self.queue.finish(&taken.lease, result.as_bytes()).unwrap();
        assert_eq!(self.queue.judge(&All).unwrap(), Judged { accepted: 1, refused: 0 });
        self.place.pass(Duration::from_secs(1));
        taken
    }

    fn submit(&self) -> Ticket {
        let job = NewJob { bytes: b"job", needs: &[SIGNED.to_owned()], ..NewJob::default() };
        self.queue.submit_job("alice", None, &job).unwrap()
    }

    fn revoked(&self, ticket: &Ticket) -> Option<String> {
        self.queue.look("alice", ticket).unwrap().unwrap().revoked
    }

    fn quarantined(&self) -> Vec<(String, String)> {
        self.queue.fleet().unwrap().quarantined.into_iter().map(|of| (of.host, of.reason)).collect()
    }

    /// How many results were compared, and what is said of those that differ.
    fn compared(&self) -> (u64, Vec<String>) {
        let fleet = self.queue.fleet().unwrap();
        assert_eq!(fleet.disagreements, fleet.last_disagreements.len() as u64);
        (fleet.reruns, fleet.last_disagreements.into_iter().map(|of| of.reason).collect())
    }
}

/// Results of a host with `device=cpu` that no other tried, and that wait for one.
fn untried(host: &str, results: u64, waiting: u64) -> UntriedResults {
    UntriedResults { host: host.to_owned(), kind: "device=cpu".to_owned(), results, waiting }
}

fn worker(host: &str) -> Worker {
    let offers = [SIGNED, "device=cpu"].map(str::to_owned).to_vec();
    Worker { name: host.to_owned(), host: host.to_owned(), offers }
}

#[test]
fn a_job_runs_again_on_another_host_and_its_client_does_not_wait_for_that() {
    let Some(fleet) = Fleet::new("again", &["one", "two"]) else { return };
    let (ticket, share) = (fleet.submit(), || fleet.queue.share("alice").unwrap().held);
    let first = fleet.ends("one", "fast");
    assert_eq!((&first.lease.ticket, first.draws), (&ticket, None));
    let (held, status) = (share(), fleet.queue.look("alice", &ticket).unwrap().unwrap());
    assert_eq!((status.outcome.as_deref(), status.revoked), (Some(&b"fast"[..]), None));
    assert_eq!(fleet.queue.fleet().unwrap().oldest, None, "no client waits for it");
    fleet.place.pass(Duration::from_secs(10_000));
    assert_eq!(fleet.take("one"), None, "however long it waits");
    // A client that removes its result takes nothing from the comparison.
    assert!(fleet.queue.remove("alice", &ticket).unwrap());
    let second = fleet.take("two").unwrap();
    assert_eq!((&*second.payload, second.draws.as_deref()), (&b"job"[..], Some(&b"draws"[..])));
    assert!(second.lease.ticket != ticket && held > share());
    // Its host gives it up, and nobody counts that as the doing of the first.
    fleet.queue.give_up(&second.lease, "no room", b"").unwrap();
    fleet.place.pass(2 * LEASE);
    fleet.ends("two", "fast");
    assert_eq!((fleet.compared(), fleet.quarantined()), ((1, vec![]), vec![]));
    assert_eq!(fleet.queue.counts().unwrap().waiting, 0);
}

#[test]
fn a_few_results_of_a_host_that_is_alone_of_its_kind_wait_for_another_and_the_rest_are_counted() {
    let Some(fleet) = Fleet::new("alone", &["one"]) else { return };
    let said = || fleet.queue.fleet().unwrap().untried;
    let end = |times: usize| {
        for _ in 0..times {
            fleet.submit();
            fleet.ends("one", "fast");
        }
    };
    end(1);
    // Neither a host that takes nothing nor one of another kind is a second one.
    fleet.queue.drain("two", true).unwrap();
    fleet.queue.check_in(&worker("two")).unwrap();
    fleet.queue.check_in(&Worker { offers: vec![SIGNED.to_owned()], ..worker("three") }).unwrap();
    end(20);
    assert_eq!((said(), fleet.take("one")), (vec![untried("one", 5, 16)], None));
    // A second one tries them.
    fleet.queue.drain("two", false).unwrap();
    fleet.queue.check_in(&worker("two")).unwrap();
    fleet.ends("two", "fast");
    assert_eq!((said(), fleet.compared()), (vec![untried("one", 5, 15)], (1, vec![])));
    for _ in 0..70 {
        fleet.queue.check_in(&worker("two")).unwrap();
        end(1);
    }
    assert_eq!(said(), [untried("one", 26, 64)]);
    // What nobody takes is forgotten, and counted as well.
    fleet.place.pass(Duration::from_secs(1000));
    fleet.queue.forget(Duration::from_secs(500)).unwrap();
    assert_eq!((fleet.queue.counts().unwrap().waiting, said()), (0, vec![untried("one", 90, 0)]));
}

#[test]
fn a_second_run_that_no_host_could_do_is_counted_once_as_not_tried() {
    let Some(fleet) = Fleet::new("given_up", &["one", "two", "three", "four"]) else { return };
    fleet.submit();
    fleet.ends("one", "fast");
    for host in ["two", "three", "four"] {
        fleet.queue.give_up(&fleet.take(host).unwrap().lease, "no room", b"").unwrap();
    }
    let said = || fleet.queue.fleet().unwrap().untried;
    assert_eq!(said(), [untried("one", 1, 0)]);
    fleet.place.pass(Duration::from_secs(1000));
    fleet.queue.forget(Duration::from_secs(500)).unwrap();
    assert_eq!((fleet.queue.counts().unwrap().ended, said()), (0, vec![untried("one", 1, 0)]));
}

#[test]
fn two_hosts_that_disagree_are_both_named_and_the_result_counts_no_more() {
    let Some(fleet) = Fleet::new("two_hosts", &["one", "two"]) else { return };
    let ticket = fleet.submit();
    fleet.ends("one", "fast");
    assert_eq!(fleet.revoked(&ticket), None);
    fleet.ends("two", "slow");
    let why = format!("the results of one and two for job {ticket} differ: fast and slow");
    assert_eq!(fleet.revoked(&ticket).as_ref(), Some(&why));
    assert_eq!((fleet.compared(), fleet.quarantined()), ((1, vec![why]), vec![]));
    assert_eq!(fleet.queue.counts().unwrap().waiting, 0);
}

#[test]
fn a_third_run_that_comes_to_nothing_leaves_no_doubtful_result() {
    let Some(fleet) = Fleet::new("undecided", &["one", "two", "three"]) else { return };
    let hosts = || {
        let ticket = fleet.submit();
        fleet.queue.check_in(&worker("three")).unwrap();
        fleet.ends("one", "fast");
        fleet.ends("two", "slow");
        assert_eq!((fleet.revoked(&ticket), fleet.queue.counts().unwrap().waiting), (None, 1));
        ticket
    };
    let lost = hosts();
    for _ in 0..10 {
        fleet.take("three");
        fleet.place.pass(Duration::from_secs(200));
        assert_eq!(fleet.take("one"), None, "it ran the job");
    }
    assert_eq!(fleet.queue.counts().unwrap().waiting, 0);
    assert!(fleet.revoked(&lost).is_some());
    let forgotten = hosts();
    fleet.place.pass(Duration::from_secs(1000));
    fleet.queue.forget(Duration::from_secs(500)).unwrap();
    let revoked = fleet.queue.revoked().unwrap().into_iter().map(|of| (of.ticket, of.host, of.reason));
    let why = |ticket: &Ticket| format!("the results of one and two for job {ticket} differ: fast and slow");
    let expected = [lost, forgotten].map(|ticket| (ticket.clone(), "one".to_owned(), why(&ticket)));
    assert_eq!(revoked.collect::<Vec<_>>(), expected);
}

#[test]
fn a_third_host_decides_who_is_quarantined() {
    let Some(fleet) = Fleet::new("third", &["one", "two", "three"]) else { return };
    let good = || {
        let canary = Canary { device: "cpu".to_owned(), is_good: true, report: String::new() };
        fleet.queue.report_canary(&worker("one"), &canary).unwrap();
        fleet.place.pass(Duration::from_secs(1));
    };
    let hosts = |results: [&str; 3]| {
        let ticket = fleet.submit();
        for (host, result) in ["one", "two", "three"].into_iter().zip(results) {
            fleet.queue.check_in(&worker("three")).unwrap();
            assert_eq!(fleet.revoked(&ticket), None, "it is not decided");
            let taken = fleet.ends(host, result);
            assert_eq!(taken.draws.is_some(), host != "one");
        }
        ticket
    };
    // What it did before its last good canary counts.
    let kept = fleet.submit();
    fleet.ends("one", "fast");
    fleet.ends("two", "fast");
    good();
    let late = fleet.submit();
    fleet.ends("one", "any");
    fleet.ends("two", "any");
    let lie = hosts(["fast", "slow", "slow"]);
    let why = format!("the result of one for job {lie} differs from those of two and three: fast and slow");
    assert_eq!(fleet.quarantined(), [("one".to_owned(), why.clone())]);
    let revoked = [&kept, &late, &lie].map(|ticket| fleet.revoked(ticket));
    assert_eq!(revoked, [None, Some(why.clone()), Some(why.clone())]);
    assert_eq!(fleet.compared(), (4, vec![why]));
    fleet.queue.drain("one", false).unwrap();
    // The second one lies, and the client's result stands.
    let right = hosts(["slow", "fast", "slow"]);
    let why = format!("the result of two for job {right} differs from those of one and three: fast and slow");
    assert_eq!((fleet.quarantined(), fleet.revoked(&right)), (vec![("two".to_owned(), why)], None));
    fleet.queue.drain("two", false).unwrap();
    // All differ: nobody can say who is wrong.
    let open = hosts(["1", "2", "3"]);
    let why = format!("the results of one, two and three for job {open} all differ: 1 and 3");
    assert_eq!((fleet.quarantined(), fleet.revoked(&open)), (vec![], Some(why)));
    let near = hosts(["1", "2", "any"]);
    let why = format!("the results of one and two for job {near} differ, and that of three agrees with both");
    assert_eq!((fleet.quarantined(), fleet.revoked(&near)), (vec![], None));
    assert!(fleet.compared().1.contains(&why));
}

#[test]
fn a_user_of_the_database_for_workers_learns_of_a_second_run_what_it_has_in_common_with_the_first() {
    let Some(server) = Server::shared("a_user_of_the_database_for_workers_learns") else { return };
    let owner = server.schema("rerun_roles");
    let queue = Postgres::open(&owner, QueueLimits::default()).unwrap();
    Database { address: owner.clone() }.execute("CREATE ROLE again LOGIN; SELECT allow_worker('again')");
    let address = owner.replace("user=postgres", "dbname=postgres user=again");
    let own = Postgres::open(&address, QueueLimits::default()).unwrap();
    queue.check_in(&worker("two")).unwrap();
    queue
        .submit_job("alice", None, &NewJob { bytes: b"job", needs: &[SIGNED.to_owned()], ..NewJob::default() })
        .unwrap();
    for (host, draws) in [("one", None), ("two", Some(&b"draws"[..]))] {
        let taken = own.take_as(&worker(host), LEASE).unwrap().unwrap();
        assert_eq!(taken.draws.as_deref(), draws);
        own.finish(&taken.lease, host.as_bytes()).unwrap();
        assert_eq!(queue.judge(&All).unwrap().accepted, 1);
    }
    assert_eq!(queue.fleet().unwrap().disagreements, 1);
}
