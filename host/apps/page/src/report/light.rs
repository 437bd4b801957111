//! How far from what the device allows, and what that is.

use super::scores::share;
use super::{is_captured, named};
use crate::{Cell, Column, Markup, Table, html, number};
use passhost_report::{CALL_US, Contest, ContestEntrant, ContestRow, FloorShare, KERNEL_US};

pub(super) fn light(contest: &Contest<'_>, position: usize) -> Markup {
    let floors: Vec<&ContestRow<'_>> = contest.rows.iter().filter(|row| row.is_shared && row.floor.is_some()).collect();
    if floors.is_empty() {
        return html! {};
    }
    html! {
        (derivation(floors.len(), contest))
        (shares(contest, position))
    }
}

fn derivation(floors: usize, contest: &Contest<'_>) -> Markup {
    let shared = contest.rows.iter().filter(|row| row.is_shared).count();
    let example = contest.rows.iter().filter(|row| row.is_shared).find_map(|row| Some((row.floor?, row.bytes?)));
    html! {
        p {
            "The floor of a graph is what one kernel would take on the device that reads each input and writes each output once, at \
             the nominal bandwidth: " (KERNEL_US) " µs + bytes / bandwidth. Speed of light is the floor over the device's time, in the \
             geometric mean of the right graphs: 100% is as fast as the device can."
        }
        p {
            @if is_captured(contest) {
                "Programs are captured in CUDA graphs here; what it takes at least to launch one was not measured, so that there is no \
                 reference time by wall clock."
            } @else {
                "By wall clock there is a reference time, " (CALL_US) " µs + bytes / bandwidth, which is no bound."
            }
        }
        ul {
            li { "bytes: inputs and outputs of the graph, as its document records; known of " (floors) " of " (shared) " graphs" }
            @if let Some((floor, bytes)) = example {
                li {
                    "bandwidth: the driver's, as the document records of the device; " (number::bytes(bytes)) " take "
                    (number::microseconds(floor.bytes_us)) " µs, which gives " (number::microseconds(floor.device_us)) " µs on the device"
                    @if let Some(wall_us) = floor.wall_us { " and " (number::microseconds(wall_us)) " µs end to end" }
                }
            }
            li {
                (KERNEL_US) " µs: an empty kernel between two events"
                @if !is_captured(contest) { "; " (CALL_US) " µs: one that is launched between two waits" }
                ". Measured once on an H200, and not recorded in documents: on another GPU a yardstick, not a bound"
            }
            li { "what is calculated is taken to cost nothing: documents record no operations. Graphs with products of matrices or \
                  convolutions cannot reach 100%" }
            li { "what fits the second-level cache may be read faster than memory: on the device such graphs can be beyond 100%" }
        }
    }
}

fn shares(contest: &Contest<'_>, position: usize) -> Markup {
    let beyond = |share: Option<FloorShare>| {
        let count = share.map(|share| share.beyond as f64);
        (Column::number("beyond 100%"), Cell::maybe(count, |count| number::grouped(count as u64)))
    };
    let row = |(at, one): (usize, &ContestEntrant)| {
        let mut cells = vec![
            (Column::text("plugin or baseline"), Cell::name(named(at, one))),
            (Column::measured("speed of light", "device time"), share(one, one.light.device)),
            beyond(one.light.device),
        ];
        if !is_captured(contest) {
            let over_time = Column::measured("reference over time", "end to end");
            cells.extend([(over_time, share(one, one.light.wall)), beyond(one.light.wall)]);
        }
        cells
    };
    let caption = html! { "Speed of light on the graphs that each has right" };
    Table::of(format!("light-numbers-{position}"), caption, contest.contenders.iter().enumerate(), row).markup()
}
