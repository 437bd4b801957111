//! Plugins are timed against eager in libtorch, baselines against eager called from Python. Where both were measured on the
//! same machine, all are put against Python's.

use crate::conditions::Eager;
use crate::entry::{EntrantResults, GraphItem, sample_key};
use crate::part::MeanSpeedup;
use passhost_result::document::Timing;
use passhost_result::timing::EagerTimes;
use passhost_score::{Repeats, VariantOutcome};
use std::collections::HashMap;

/// A graph, by content of the sample and path, on a device of this name with so many threads.
type TimedGraph<'a> = (&'a str, &'a str, Option<(&'a str, u32)>);

/// What eager called from Python takes on a graph, beside each of the baselines.
#[derive(Default)]
struct Times {
    wall: Vec<Time>,
    device: Vec<Time>,
}

/// What eager takes by one clock.
struct Time {
    /// The median over all processes, microseconds.
    us: f64,
    /// By how much each process is off: logarithms, which sum to 0.
    off: Vec<f64>,
}

impl Time {
    fn new(us: f64, ln_of_processes: &[f64]) -> Time {
        let middle = ln_of_processes.iter().sum::<f64>() / ln_of_processes.len() as f64;
        Time { us, off: ln_of_processes.iter().map(|ln| ln - middle).collect() }
    }

    /// Eager beside what a graph became, by wall clock and by the device's time.
    fn of(item: &GraphItem<'_>, timing: &Timing) -> (Time, Option<Time>) {
        let on = item.document.job.device.as_ref().map_or("cpu", |device| &device.device);
        let times = EagerTimes::of(timing, on, item.document.limits.measurement.accept_noise);
        let device = timing.eager_device_us.zip(times.device).map(|(us, processes)| Time::new(us, &processes));
        (Time::new(times.us, &times.wall), device)
    }

    /// The geometric mean; `None` of none. Where numbers of processes differ, nothing is known of single ones.
    fn mean(times: &[Time]) -> Option<Time> {
        let us = mean(&times.iter().map(|time| time.us).collect::<Vec<_>>())?;
        let processes = times.first()?.off.len();
        if times.iter().any(|time| time.off.len() != processes) {
            return Some(Time { us, off: vec![] });
        }
        let of_process = |at: usize| times.iter().map(|time| time.off[at]).sum::<f64>() / times.len() as f64;
        Some(Time { us, off: (0..processes).map(of_process).collect() })
    }

    /// What puts speedups that are against `own` against this.
    fn over(&self, own: &Time) -> EagerFactor {
        let of_all = self.us / own.us;
        let has_processes = self.off.len() == own.off.len();
        let each = |(at, own): (usize, &f64)| of_all.ln() + if has_processes { self.off[at] - own } else { 0.0 };
        EagerFactor { of_all, ln_of_processes: own.off.iter().enumerate().map(each).collect(), has_processes }
    }
}

/// One eager over another one.
struct EagerFactor {
    of_all: f64,
    /// The logarithm for each process: that of all of them where there are not as many of both.
    ln_of_processes: Vec<f64>,
    has_processes: bool,
}

/// All entries against eager called from Python, if any is, and what was done in words. A graph that no baseline has times
/// of becomes one that was not measured.
pub(crate) fn against_python<'a>(entries: &[EntrantResults<'a>]) -> (Vec<EntrantResults<'a>>, Option<String>) {
    let mut rebased = entries.to_vec();
    let is_python = |entry: &EntrantResults<'_>| entry.conditions.eager == Eager::Python;
    if entries.iter().all(is_python) || !entries.iter().any(is_python) {
        return (rebased, None);
    }
    let mut times: HashMap<TimedGraph<'_>, Times> = HashMap::new();
    for item in entries.iter().filter(|entry| is_python(entry)).flat_map(|entry| &entry.items) {
        if let Some(timing) = item.measured() {
            let known = times.entry(key(item)).or_default();
            let (wall, device) = Time::of(item, timing);
            known.wall.push(wall);
            known.device.extend(device);
        }
    }
    let mut factors = vec![];
    for entry in rebased.iter_mut().filter(|entry| !is_python(entry)) {
        entry.conditions.eager = Eager::Python;
        for item in &mut entry.items {
            let Some(factor) = rebase(item, times.get(&key(item))) else { continue };
            entry.scoring.has_intervals &= factor.has_processes;
            factors.push(factor.of_all);
        }
    }
    let remark = mean(&factors).map(|mean| {
        format!(
            "speedups of plugins, which were timed against {}, are put against {}: its time beside the baselines, {mean:.2} times as long, over {} graphs",
            Eager::Libtorch,
            Eager::Python,
            factors.len()
        )
    });
    (rebased, remark)
}

/// Puts the times of a graph against those that Python took; returns how many times as long that is by wall clock. Each
/// process of the plugin is put against one of Python's, so that what either differ by is in the interval, and falls out
/// where two plugins are held against each other.
fn rebase(item: &mut GraphItem<'_>, times: Option<&Times>) -> Option<EagerFactor> {
    let own = item.variant.timing.as_ref().map(|timing| Time::of(item, timing));
    let (own_wall, own_device) = own.map_or((None, None), |(wall, device)| (Some(wall), device));
    let Some(VariantOutcome::Compared { speedup, .. }) = &mut item.outcome else { return None };
    let over = |python: Option<Time>, own: Option<Time>| Some(python?.over(&own?));
    let wall = over(times.and_then(|times| Time::mean(&times.wall)), own_wall);
    let device = over(times.and_then(|times| Time::mean(&times.device)), own_device);
    match &wall {
        Some(wall) => *speedup *= wall.of_all,
        None => item.outcome = None,
    }
    let moved = |repeats: Option<Repeats>, by: Option<&EagerFactor>| repeats?.moved(&by?.ln_of_processes);
    item.wall = moved(item.wall.take(), wall.as_ref());
    item.device = moved(item.device.take(), device.as_ref());
    wall
}

fn key<'a>(item: &GraphItem<'a>) -> TimedGraph<'a> {
    let device = item.document.job.device.as_ref().map(|device| (device.name.as_str(), device.threads));
    (sample_key(item.document), &item.variant.name, device)
}

/// The geometric mean; `None` of none.
fn mean(values: &[f64]) -> Option<f64> {
    MeanSpeedup::of(values.iter().copied()).map(|mean| mean.speedup)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::{Apart, EntrantComparison, GraphFilter, Sourced, compare, entries};
    use passhost_made_documents::{baseline, document, right};
    use passhost_result::document::{Document, Launch};
    use passhost_score::{Interval, Verdict};

    /// Eager of each process takes so many times as long, and all that depends on it with it.
    fn eager_in_processes(mut document: Document, factors: [f64; 3]) -> Document {
        for timing in document.variants.iter_mut().filter_map(|variant| variant.timing.as_mut()) {
            for (process, factor) in timing.processes.iter_mut().zip(factors) {
                let alone = process.control.iter_mut().flat_map(|block| [&mut block.eager_ns, &mut block.other_ns]);
                let beside = process.pairs.iter_mut().map(|block| &mut block.eager_ns);
                for time in alone.chain(beside).flatten() {
                    *time = (*time as f64 * factor) as u64;
                }
            }
        }
        document
    }

    fn found(documents: &[Document]) -> EntrantComparison {
        let documents = documents.iter().map(|document| Sourced::new("one", document.clone()));
        let documents: Vec<_> = documents.collect();
        compare(&entries(&documents, Apart::Files, &GraphFilter::default())).unwrap()
    }

    fn interval(comparison: &EntrantComparison) -> Option<Interval> {
        comparison.standings[0].part.wall.as_ref().unwrap().confidence.map(|confidence| confidence.aggregate_score)
    }

    #[test]
    fn eager_that_a_rewrite_slowed_down_is_what_it_takes_alone() {
        let eager = baseline("eager", Launch::Stream, "one", vec![right("x", 1.0)], 1.5);
        let plugin = document("one", "one", vec![right("x", 2.0)]);
        let mut slowing = plugin.clone();
        // Its speedup says already that it gains nothing by that, and so does the time that it is against.
        let timing = slowing.variants[0].timing.as_mut().unwrap();
        for time in
            timing.processes.iter_mut().flat_map(|process| &mut process.pairs).flat_map(|block| &mut block.eager_ns)
        {
            *time = *time * 5 / 4;
        }
        let score = |plugin: &Document| {
            let found = found(&[plugin.clone(), eager.clone()]);
            found.standings[0].part.wall.as_ref().unwrap().aggregate_score
        };
        assert!((score(&plugin) - 3.0).abs() < 1e-5, "{}", score(&plugin));
        assert!((score(&slowing) - 3.0).abs() < 1e-5, "{}", score(&slowing));
        // By the first rules it is the time beside the rewrite.
        let timing = slowing.variants[0].timing.as_mut().unwrap();
        timing.rules = 1;
        timing.processes.iter_mut().for_each(|process| process.device = None);
        assert!((score(&slowing) - 3.0).abs() < 1e-5, "{}", score(&slowing));
    }

    #[test]
    fn what_eager_differs_by_between_processes_is_in_the_interval_of_one_and_not_of_two_against_each_other() {
        let plugin = |name: &str, speedup| document(name, "one", vec![right("x", speedup)]);
        let (one, two) = (plugin("one", 2.0), plugin("two", 3.0));
        let eager = baseline("eager", Launch::Stream, "one", vec![right("x", 1.0)], 1.5);
        let steady = found(&[one.clone(), two.clone(), eager.clone()]);
        let python = [0.9, 1.0, 1.1];
        let moved = found(&[one.clone(), two.clone(), eager_in_processes(eager.clone(), python)]);
        let [narrow, wide] = [&steady, &moved].map(|comparison| interval(comparison).unwrap().spread());
        // Student's t for three processes that are a tenth apart: 4.303 * 0.1005 / sqrt 3.
        assert!(narrow < 1.05 && (1.2..1.4).contains(&wide), "{narrow} {wide}");
        let against = |comparison: &EntrantComparison| {
            let ratio = comparison.standings[1].against_first.as_ref().unwrap().scores.aggregate_score;
            (ratio.verdict, [ratio.ratio, ratio.interval.unwrap().spread()].map(|value| (value * 1e9).round()))
        };
        assert_eq!(against(&steady), against(&moved));
        // Eager of its own moves the plugin's processes as well, and the two go together: its rewrite took as long.
        let own = eager_in_processes(one.clone(), python);
        assert!(interval(&found(&[own, eager.clone()])).unwrap().spread() < narrow * 1.01);
        // Of two processes of Python's and three of a plugin nothing is known together, but of two plugins it is.
        let mut fewer = eager;
        fewer.variants[0].timing.as_mut().unwrap().processes.pop();
        let fewer = found(&[one, two, fewer]);
        assert_eq!(interval(&fewer), None);
        assert_eq!(against(&steady), against(&fewer));
        let baseline = fewer.standings[2].against_first.as_ref().unwrap().scores.aggregate_score;
        assert_eq!((baseline.interval, baseline.verdict), (None, Verdict::Undecided));
    }
}
