//! What was met before: a result counts once, and so does a measurement, whatever job it is signed under.

use crate::job::JobId;
use crate::statement::Statement;
use passhost_result::untrusted::one_line;
use std::collections::HashMap;

/// Evaluations and measurements that were met, and where each was met first: of several that are the same the first counts.
#[derive(Debug, Default)]
pub struct Met {
    jobs: HashMap<JobId, String>,
    /// By plugin, sample, graph and seed, which nobody draws twice.
    seeds: HashMap<[String; 4], String>,
}

/// Why a result is one that was met before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Repetition {
    /// Its evaluation was met.
    #[error("job {job} was met before, in {first}: a result counts once")]
    Job {
        /// The evaluation.
        job: JobId,
        /// Where.
        first: String,
    },
    /// One of its measurements was met, under another job.
    #[error("its graph `{graph}` has the seed of the result in {first}: a measurement counts once")]
    Seed {
        /// The graph.
        graph: String,
        /// Where.
        first: String,
    },
}

impl Met {
    /// Why a result was met before, if it was. Else notes it as met at this place.
    ///
    /// # Errors
    ///
    /// If it was. Then nothing of it is noted.
    pub fn meet(&mut self, statement: &Statement, place: &str) -> Result<(), Repetition> {
        self.repetition(statement).map_or(Ok(()), Err)?;
        self.jobs.insert(statement.job.clone(), place.to_owned());
        self.seeds.extend(seeds(statement).map(|key| (key, place.to_owned())));
        Ok(())
    }

    /// Why a result was met before, if it was.
    pub fn repetition(&self, statement: &Statement) -> Option<Repetition> {
        if let Some(first) = self.jobs.get(&statement.job) {
            return Some(Repetition::Job { job: statement.job.clone(), first: first.clone() });
        }
        let (graph, first) = seeds(statement).find_map(|key| {
            let first = self.seeds.get(&key)?;
            Some((one_line(&key[2], 100), first.clone()))
        })?;
        Some(Repetition::Seed { graph, first })
    }
}

/// By what the measurements of a result are known.
fn seeds(statement: &Statement) -> impl Iterator<Item = [String; 4]> {
    let job = &statement.document.job;
    let seeded = statement.document.variants.iter().filter_map(|variant| Some((variant, variant.seed?)));
    seeded.map(|(variant, seed)| {
        [&job.plugin_sha256, &job.sample_sha256, &variant.name, &seed.to_string()].map(Clone::clone)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_made_documents::{document, right};
    use std::collections::BTreeMap;

    fn statement(plugin: &str, seeds: &[u64]) -> Statement {
        let variants = seeds.iter().zip(["a", "b"]).map(|(&seed, name)| {
            let mut variant = right(name, 2.0);
            variant.seed = Some(seed);
            variant
        });
        let document = document(plugin, "sample", variants.collect());
        let job = JobId::random().unwrap();
        Statement { job, batch: None, signed_at: 1, author: None, programs: BTreeMap::new(), document }
    }

    #[test]
    fn an_evaluation_and_a_measurement_are_met_once() {
        let mut met = Met::default();
        let one = statement("pass", &[7, 8]);
        assert_eq!(met.meet(&one, "one.jsonl"), Ok(()));
        let job = met.meet(&one, "two.jsonl").unwrap_err();
        assert_eq!(job, Repetition::Job { job: one.job, first: "one.jsonl".into() });
        // Under another job, with one graph measured anew.
        let seed = met.meet(&statement("pass", &[9, 8]), "two.jsonl").unwrap_err();
        assert_eq!(seed, Repetition::Seed { graph: "b".into(), first: "one.jsonl".into() });
        // What was refused takes nothing from others; another plugin may draw what it likes.
        assert_eq!(met.meet(&statement("pass", &[9, 10]), "three.jsonl"), Ok(()));
        assert_eq!(met.meet(&statement("other", &[7, 8]), "four.jsonl"), Ok(()));
    }
}
