//! What holds AS back: the right graphs by their speedups, how far each is from its reference time, and what its rewrite
//! leaves to the library.

use crate::entry::GraphItem;
use crate::library::calls_of;
use crate::light::Floor;
use crate::part::MeanSpeedup;
use crate::place::GraphPlace;
use passhost_result::document::Launch;
use passhost_score::VariantOutcome;
use serde::Serialize;

/// The right graphs of an entrant, and how much faster each could be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Headroom {
    /// Of what times and references are.
    pub clock: Clock,
    /// The right graphs, the lowest speedup first.
    pub graphs: Vec<RightGraph>,
    /// Those of them whose rewrites leave calls to the library.
    pub with_calls: Option<MeanSpeedup>,
    /// Those whose rewrites leave none: kernels and views alone.
    pub without_calls: Option<MeanSpeedup>,
}

/// By which clock something is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Wall clock, with a wait for the device.
    Wall,
    /// The device's own time. It is that of captured programs, which have no reference time by wall clock.
    Device,
}

/// A right graph, and how much faster it could be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RightGraph {
    /// Which.
    pub place: GraphPlace,
    /// How many times as fast as eager it is by wall clock, as it is scored.
    pub speedup: f64,
    /// What it takes, where that is known by the clock.
    pub measured: Option<GraphTime>,
    /// What it would take at its reference time: [`Floor::wall_us`], or [`Floor::device_us`] of the device's own time.
    pub at_reference: Option<GraphTime>,
    /// The ops that the rewrite leaves to the library, in the order of the calls, an op as often as it is called. `None` where
    /// the document does not have the graphs.
    pub library_calls: Option<Vec<String>>,
}

/// A time, and what it makes of eager's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GraphTime {
    /// Microseconds.
    pub us: f64,
    /// How many times as fast as eager that is, by the same clock.
    pub speedup: f64,
}

impl Headroom {
    /// Of the right ones of some graphs, whose programs are launched so.
    pub(crate) fn of(items: &[&GraphItem<'_>], launch: Launch) -> Headroom {
        let clock = match launch {
            Launch::Stream => Clock::Wall,
            Launch::Graph => Clock::Device,
        };
        let right = items.iter().filter(|item| item.is_right());
        let mut graphs: Vec<RightGraph> = right.filter_map(|item| RightGraph::of(item, clock)).collect();
        graphs.sort_by(|one, two| one.speedup.total_cmp(&two.speedup).then_with(|| one.place.cmp(&two.place)));
        let mean = |with: bool| {
            let is_one =
                |graph: &&RightGraph| graph.library_calls.as_ref().is_some_and(|calls| calls.is_empty() != with);
            MeanSpeedup::of(graphs.iter().filter(is_one).map(|graph| graph.speedup))
        };
        Headroom { clock, with_calls: mean(true), without_calls: mean(false), graphs }
    }
}

impl RightGraph {
    fn of(item: &GraphItem<'_>, clock: Clock) -> Option<RightGraph> {
        let Some(VariantOutcome::Compared { speedup, .. }) = item.outcome else { return None };
        let measured = measured(item, speedup, clock);
        let floor = Floor::of(item.document, item.variant);
        let reference = floor.and_then(|floor| match clock {
            Clock::Wall => floor.wall_us,
            Clock::Device => Some(floor.device_us),
        });
        let at = |us: f64| measured.map(|measured| GraphTime { us, speedup: measured.speedup * measured.us / us });
        Some(RightGraph {
            place: GraphPlace::of(item),
            speedup,
            measured,
            at_reference: reference.and_then(at),
            library_calls: calls_of(item),
        })
    }
}

impl RightGraph {
    /// What the rewrite leaves to the library in words: `2 linear, bmm`, each op once, in the order of the first calls.
    pub fn library_calls_text(&self) -> Option<String> {
        let mut ops: Vec<(&str, usize)> = vec![];
        for call in self.library_calls.as_ref()? {
            match ops.iter_mut().find(|(op, _)| op == call) {
                Some((_, times)) => *times += 1,
                None => ops.push((call, 1)),
            }
        }
        let text = |(op, times): &(&str, usize)| if *times == 1 { (*op).to_owned() } else { format!("{times} {op}") };
        Some(if ops.is_empty() { "none".to_owned() } else { ops.iter().map(text).collect::<Vec<_>>().join(", ") })
    }
}

/// What a graph takes by a clock, and how many times as fast as eager that is.
fn measured(item: &GraphItem<'_>, speedup: f64, clock: Clock) -> Option<GraphTime> {
    let timing = item.measured()?;
    match clock {
        Clock::Wall => Some(GraphTime { us: timing.rewritten_us, speedup }),
        // Of processes, which may be against an eager that was not measured beside them.
        Clock::Device => {
            let speedup = item.device.as_ref()?.estimate(1.0).speedup;
            Some(GraphTime { us: timing.rewritten_device_us?, speedup })
        }
    }
}
