//! What the numbers of the page mean, and where they come from.

use super::{NAME, Origin, SENTENCE, conditions};
use crate::{Markup, html, untrusted};
use passhost_report::Contest;

/// What a score of this name is, in a sentence: a graph that is not right counts as so much.
pub fn in_short(score: &str, failed: f64) -> Markup {
    html! {
        (score) " is the geometric mean over graphs of the speedup over eager PyTorch; a graph that is not right counts as " (failed) ". "
    }
}

pub(super) fn reading(contests: &[Contest<'_>]) -> Markup {
    let options = contests.first().map(|contest| contest.conditions.options);
    let has_floor = contests.iter().flat_map(|contest| &contest.rows).any(|row| row.floor.is_some());
    html! {
        details {
            summary { "What the words and numbers mean, and on what was measured" }
            dl {
                dt { "plugin, sample, graph" }
                dd { "A plugin holds a compiler pass, which rewrites a graph: a piece of a PyTorch model. A sample is a graph in several \
                      sizes and element types. Eager is PyTorch without a compiler." }
                dt { "right" }
                dd { "every output agrees with eager at t = −5, the default of " code { "torch.testing" } ", in every round of inputs, \
                      which were drawn after the rewrite was fixed." }
                dt { "ES(t), AS" }
                dd {
                    "ES(t) is the geometric mean over graphs of the speedup over eager, where a graph that is not right within t counts as b"
                    @if let Some(options) = options { " = " (options.b) }
                    ". AS weighs ES(t) over t. Both are those of PassNet and GraphNet."
                }
                dt { "AS strict" }
                dd { "forgives nothing, and counts as failed what is wrong on edge-case inputs that eager is right on." }
                dt { "device time" }
                dd {
                    "what the device alone takes, without the host's part of a call. Columns of it are left out where it could not be told in every process. "
                    @if !has_floor { "Speed of light needs the bytes of a graph and a GPU's bandwidth, which these results do not have." }
                }
                dt { "intervals" }
                dd { "95%, Student's t over processes: what would come out if the same graphs were measured again on hosts as they were. One in twenty misses. By wall clock runs of a noisy host differ by more. They say nothing of other graphs." }
                dt { "decided" }
                dd { "every process by itself says so, beyond what equal measurements differ by; at most one of a thousand such verdicts on \
                      equal programs is wrong." }
                dt { "baselines" }
                dd { "what PyTorch offers in place of a plugin. Where some are shown, all speedups are against eager called from Python." }
            }
            @if contests.len() > 1 { p { "Results of different conditions answer different questions, and are not put into one ranking." } }
            @for contest in contests {
                p { (conditions(contest)) ": measured on " @for machine in &contest.machines { (untrusted(machine, SENTENCE)) "; " }
                    "speedups are against " (contest.conditions.eager) "." }
            }
        }
    }
}

pub(super) fn origin(contests: &[Contest<'_>], origin: &Origin) -> Markup {
    html! {
        p {
            "Made by passhost " (origin.version) " from "
            @for (at, file) in origin.files.iter().enumerate() { @if at > 0 { ", " } (untrusted(file, 2 * NAME)) }
            ". The numbers of this page follow from these documents; " code { "passhost verify FILE" } " computes them again."
        }
        details {
            summary { "Plugins by their SHA-256" }
            ul {
                @for contender in contests.iter().flat_map(|contest| &contest.contenders) {
                    li { (untrusted(&contender.summary.entrant.name, NAME)) ": " code { (untrusted(&contender.summary.entrant.plugin_sha256, 80)) } }
                }
            }
        }
    }
}
