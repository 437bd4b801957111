//! Which results of workers count: those that an enrolled host signed, for that job, with the programs that it was submitted for.

use super::{offers, reruns};
use crate::exit::{Exit, OrStop, Stop};
use passhost_queue::{Delivered, Judge, Rerun};
use passhost_result::untrusted::one_line;
use passhost_sign::{Signed, TrustedKeys, read};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Keys whose names are those of hosts.
struct HostJudge {
    hosts: TrustedKeys,
    /// The share of results that another host evaluates again.
    rerun: Option<f64>,
}

/// Judges by the keys of this file, and has this share of the results evaluated again.
pub fn judge(path: &Path, rerun: Option<f64>) -> Result<Arc<dyn Judge>, Stop> {
    let hosts = TrustedKeys::read(path).or_stop(Exit::Usage)?;
    Ok(Arc::new(HostJudge { hosts, rerun }))
}

impl Judge for HostJudge {
    fn check(&self, delivered: &Delivered) -> Result<(), String> {
        check(&self.hosts, delivered)
    }

    fn rerun(&self, delivered: &Delivered) -> Option<Rerun> {
        reruns::drawn(self.rerun?, delivered)
    }

    fn difference(&self, first: &[u8], second: &[u8]) -> Option<String> {
        reruns::difference(first, second)
    }
}

fn check(hosts: &TrustedKeys, Delivered { ticket, host, needs, outcome }: &Delivered) -> Result<(), String> {
    let Signed { statement, signer } = read(outcome).map_err(|error| error.to_string())?;
    // By the clock of the server: whoever holds a key writes any time.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(u64::MAX, |now| now.as_secs());
    let key = hosts.trust(signer, now).map_err(|error| error.to_string())?;
    if key.name != *host {
        return Err(format!("it was signed with the key of {}, and delivered by {}", key.name, one_line(host, 80)));
    }
    if statement.job.to_string() != ticket.as_str() {
        return Err(format!("it was signed for job {}, and delivered for job {ticket}", statement.job));
    }
    let programs = offers::of_programs(&statement.programs);
    if !needs.contains(&programs) {
        let expected = needs.iter().find(|need| need.starts_with("programs=")).map_or("none", String::as_str);
        return Err(format!("it was made with `{programs}`, and the job was submitted for `{expected}`"));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_made_documents::{document, right, unmeasured};
    use passhost_queue::Ticket;
    use passhost_sign::{JobId, SecretKey, Statement};
    use std::collections::BTreeMap;

    const JOB: &str = "00112233445566778899aabbccddeeff";

    #[test]
    fn each_result_that_does_not_count_is_refused_by_a_sentence_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let [node, revoked, stranger] =
            ["node", "revoked", "stranger"].map(|name| SecretKey::create(&place.path().join(name)).unwrap());
        let keys = format!("{} node-1\n{} node-1 revoked\n", node.public(), revoked.public());
        let hosts = TrustedKeys::parse(Path::new("hosts"), &keys).unwrap();
        let programs = BTreeMap::from([("passhost".to_owned(), "00".to_owned())]);
        let statement = |job: &str, programs: &BTreeMap<String, String>| Statement {
            job: JobId::try_from(job.to_owned()).unwrap(),
            batch: None,
            signed_at: 0,
            author: None,
            programs: programs.clone(),
            // Whoever ranks results refuses it; whoever asked for it gets it.
            document: document("fuse", "sample", vec![right("a", 2.0), unmeasured("b", "busy")]),
        };
        let line = |key: &SecretKey| statement(JOB, &programs).sign_any(key).unwrap();
        let said = |host: &str, outcome: String| {
            let needs = vec![offers::of_programs(&programs), "policy=open".to_owned()];
            let (ticket, host) = (Ticket::named(JOB), host.to_owned());
            check(&hosts, &Delivered { ticket, host, needs, outcome: outcome.into_bytes() })
        };
        assert_eq!(said("node-1", line(&node)), Ok(()));
        let other = BTreeMap::from([("passhost".to_owned(), "01".to_owned())]);
        let stale = statement(&JOB.replace("00", "11"), &programs).sign_any(&node).unwrap();
        for (host, outcome, sentence) in [
            ("node-1", r#"{"document":null,"trouble":null}"#.to_owned(), "it is not signed: its schema is `none`"),
            ("node-1", line(&node).replace("busy", "idle"), "its signature does not fit: it was changed"),
            ("node-1", line(&stranger), "with a key that is not among the trusted ones: ed25519 "),
            ("node-1", line(&revoked), "with a key of node-1 that was revoked"),
            ("node-2", line(&node), "with the key of node-1, and delivered by node-2"),
            ("node-1", stale, "it was signed for job 11112233445566778899aabbccddeeff, and delivered for job 0011"),
            ("node-1", statement(JOB, &other).sign_any(&node).unwrap(), "`, and the job was submitted for `programs="),
        ] {
            let refusal = said(host, outcome).unwrap_err();
            assert!(refusal.contains(sentence), "{refusal}");
        }
    }
}
