//! Evaluations that another host does again: which, with which draws, and what must be alike.

use super::offers;
use passhost_queue::{Delivered, Rerun, random_hexadecimal};
use passhost_result::document::{Document, Variant};
use passhost_result::verify::{Differences, floor_finding, recompute};
use passhost_sign::read;
use passhost_supervisor::Seeds;
use passhost_supervisor::replay::{self, disagreements};

/// How far, in logarithms, two speedups may be apart: so many times the widths of both intervals together.
const WIDTHS: f64 = 3.0;

/// How another host evaluates again what this result is of, if it does: nobody can know that before.
pub fn drawn(share: f64, Delivered { needs, outcome, .. }: &Delivered) -> Option<Rerun> {
    let drawn = u64::from_str_radix(&random_hexadecimal::<8>().ok()?, 16).ok()?;
    if drawn as f64 >= share * 2_f64.powi(64) {
        return None;
    }
    let document = read(outcome).ok()?.statement.document;
    let mut needs = needs.clone();
    let kind = document.job.device.as_ref().map(offers::of_kind);
    needs.extend(kind.filter(|kind| !needs.contains(kind)));
    // All schedules give the same bits: each host chooses its own.
    let seeds = |variant: &Variant| Seeds { tuned: vec![], ..replay::seeds(variant) };
    let seeds: Vec<Seeds> = document.variants.iter().map(seeds).collect();
    Some(Rerun { needs, draws: serde_json::to_vec(&seeds).ok()? })
}

/// The draws of a job: none of a first evaluation.
pub fn seeds(draws: Option<&[u8]>) -> Result<Vec<Seeds>, String> {
    let seeds = draws.map(serde_json::from_slice).transpose();
    seeds.map(Option::unwrap_or_default).map_err(|error| format!("its draws cannot be read: {error}"))
}

/// In what two signed results of the same draws differ that must be alike.
pub fn difference(first: &[u8], second: &[u8]) -> Option<String> {
    let [first, second] = match [read(first), read(second)] {
        [Ok(first), Ok(second)] => [first, second].map(|signed| signed.statement.document),
        [Err(error), _] | [_, Err(error)] => return Some(error.to_string()),
    };
    let mut said = Differences::default();
    let contradiction = |document: &Document| recompute(document).first().map(ToString::to_string);
    said.equal("what contradicts its own trials", &contradiction(&first), &contradiction(&second));
    let plugin = |document: &Document| (document.job.plugin_sha256.clone(), document.job.sample_sha256.clone());
    said.equal("plugin and sample", &plugin(&first), &plugin(&second));
    let rules = |document: &Document| (document.policy.name().to_owned(), document.limits.clone(), document.job.inputs);
    said.equal("policy and limits", &rules(&first), &rules(&second));
    let device = |document: &Document| document.job.device.as_ref().map(|info| (info.facts, info.settings.clone()));
    said.equal("device", &device(&first), &device(&second));
    let names = |document: &Document| document.variants.iter().map(|variant| variant.name.clone()).collect::<Vec<_>>();
    said.equal("variants", &names(&first), &names(&second));
    said.found.extend(disagreements(&first, &second));
    first.variants.iter().zip(&second.variants).for_each(|(first, second)| speedups(first, second, &mut said));
    said.found.first().map(|found| format!("{}: {} and {}", found.item, found.recorded, found.found))
}

/// Times of two hosts differ by more than each measured.
fn speedups(first: &Variant, second: &Variant, said: &mut Differences) {
    let [Some(one), Some(other)] = [first, second].map(|variant| variant.timing.as_ref()) else { return };
    let is_below_floor = |variant| floor_finding(variant).is_some();
    if [one, other].iter().any(|times| times.trouble.is_some()) || is_below_floor(first) || is_below_floor(second) {
        return;
    }
    let widths = one.interval.spread().ln() + other.interval.spread().ln();
    if (one.speedup / other.speedup).ln().abs() > WIDTHS * widths {
        let text = |speedup: f64| format!("{speedup:.3}");
        said.say(format!("{}: speedup", first.name), text(one.speedup), text(other.speedup));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_made_documents::{compared, document, failed, missed, right, unmeasured};
    use passhost_queue::{SIGNED, Ticket};
    use passhost_result::verify::recomputed;
    use passhost_score::FailureClass;
    use passhost_sign::{JobId, SecretKey, Statement};
    use std::collections::BTreeMap;

    fn signed(document: Document) -> Vec<u8> {
        let place = tempfile::tempdir().unwrap();
        let key = SecretKey::create(&place.path().join("key")).unwrap();
        let job = JobId::try_from("00112233445566778899aabbccddeeff".to_owned()).unwrap();
        let (signed_at, programs) = (0, BTreeMap::new());
        let statement = Statement { job, batch: None, signed_at, author: None, programs, document };
        statement.sign_any(&key).unwrap().into_bytes()
    }

    #[test]
    fn what_two_hosts_must_find_alike_is_named_and_what_times_decide_is_not() {
        let made = |speedup| document("fuse", "sample", vec![right("a", speedup), missed("b")]);
        let said = |second: Document| difference(&signed(made(2.0)), &signed(second));
        assert_eq!(said(made(2.0)), None);
        // Intervals of 2% to each side.
        assert_eq!(said(made(2.1)), None);
        assert_eq!(said(made(3.0)).unwrap(), "a: speedup: 2.000 and 3.000");
        let with = |change: &dyn Fn(&mut Document)| {
            let mut document = made(2.0);
            change(&mut document);
            said(recomputed(document).document).unwrap()
        };
        assert_eq!(
            with(&|document| document.variants[0] = compared("a", 2.0, Some(-3))),
            "a: class: None and Some(Accuracy)"
        );
        let crash = |document: &mut Document| document.variants[0] = failed("a", FailureClass::Runtime);
        assert!(with(&crash).starts_with("a: rewrite: Some("), "{}", with(&crash));
        let of_rewrite =
            |document: &mut Document| document.variants[0].rewrite.as_mut().unwrap().sha256 = "b".to_owned();
        assert!(with(&of_rewrite).starts_with("a: rewrite: "), "{}", with(&of_rewrite));
        let of_output = |document: &mut Document| document.variants[0].outputs[0].max_abs = 1e-3;
        assert_eq!(with(&of_output), "a: outputs[0].max_abs: 0 and 0.001");
        assert!(with(&|document| document.limits.measurement.trials += 1).starts_with("policy and limits: "));
        assert!(with(&|document| document.job.plugin_sha256.clear()).starts_with("plugin and sample: "));
        assert!(with(&|document| _ = document.variants.pop()).starts_with("variants: "));
        // A score that does not follow from its trials is that of a host that lies.
        let mut forged = made(2.0);
        forged.scores.as_mut().unwrap().aggregate_score = 9.0;
        assert!(said(forged).unwrap().starts_with("what contradicts its own trials: None and Some("));
        // A host that was busy contradicts nobody.
        let busy = || document("fuse", "sample", vec![unmeasured("a", "busy"), missed("b")]);
        assert_eq!(said(busy()), None);
        assert_eq!(difference(&signed(busy()), &signed(made(2.0))), None);
        let unread = difference(b"{}", &signed(made(2.0))).unwrap();
        assert!(unread.starts_with("it is not signed: "), "{unread}");
    }

    #[test]
    fn a_drawn_evaluation_has_the_draws_of_the_first_and_needs_the_same_kind_of_device() {
        let needs = vec![SIGNED.to_owned(), "device=a processor, 2 threads, torch 2.11.0".to_owned()];
        let delivered = |needs: &[String]| Delivered {
            ticket: Ticket::named("job"),
            host: "host".to_owned(),
            needs: needs.to_vec(),
            outcome: signed(document("fuse", "sample", vec![right("a", 2.0), missed("b")])),
        };
        assert_eq!(drawn(0.0, &delivered(&needs)), None);
        for given in [&needs[..], &needs[..1]] {
            let again = drawn(1.0, &delivered(given)).unwrap();
            assert_eq!(again.needs, needs);
            let found = seeds(Some(&again.draws)).unwrap();
            assert_eq!(found, vec![Seeds { inputs: Some(1), ..Seeds::default() }; 2]);
        }
        let any = delivered(&needs);
        let half = (0..200).filter(|_| drawn(0.5, &any).is_some()).count();
        assert!((60..140).contains(&half), "{half}");
        assert_eq!(seeds(None), Ok(vec![]));
        assert!(seeds(Some(b"{")).unwrap_err().starts_with("its draws cannot be read: "));
    }
}
