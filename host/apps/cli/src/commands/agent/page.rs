//! The page of a run: what the model said, what it wrote and changed, and what came of it. All of that is text that nobody
//! trusts.

use crate::table::QUICK;
use passhost_agent::ToolCall;
use passhost_agent::run::{AgentSettings, RecordedAttempt};
use passhost_agent::trajectory::{Spending, TrajectoryLine};
use passhost_agent_tools::{Effect, PassVerdict, Reward};
use passhost_page::report::in_short;
use passhost_page::{Markup, Page, Section, html, number, untrusted, untrusted_lines};
use passhost_result::untrusted::indented;
use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

/// Characters of a name, of a line of code and of a line of words.
const NAME: usize = 80;
const CODE: usize = 240;
const WORDS: usize = 2000;
/// Lines of a source, and of a text.
const SOURCE: usize = 400;
const TEXT: usize = 80;
/// Lines of two sources that are compared.
const COMPARED: usize = 4000;
/// Attempts that are all unfolded.
const OPEN: usize = 3;
/// Answers in an attempt that are shown at each of its ends where there are more than twice as many and some.
const ENDS: usize = 6;
/// Bytes of markup that attempts may take.
const ROOM: usize = 4 << 20;

/// A source of the run by its hash.
pub type ReadSource<'r> = dyn Fn(&str) -> Option<String> + 'r;

/// The page of a run.
pub fn page(settings: &AgentSettings, recorded: &[RecordedAttempt], read: &ReadSource<'_>) -> Page {
    Page {
        title: "A language model writes passes".to_owned(),
        lead: lead(settings, recorded),
        sections: vec![Section::new("attempts", "Attempts", attempts(recorded, read))],
        footer: html! { p { "Made by passhost " (env!("CARGO_PKG_VERSION")) "." } },
    }
}

fn lead(settings: &AgentSettings, recorded: &[RecordedAttempt]) -> Markup {
    let all = settings.samples.len() * settings.attempts as usize;
    let is_ended = |attempt: &&RecordedAttempt| matches!(attempt.lines.last(), Some(TrajectoryLine::End { .. }));
    let has = |flag: &str| settings.options.iter().any(|option| option == flag);
    html! {
        @if has("--quick") { p.bad { strong { "Evaluations were " (QUICK) "." } } }
        @else if has("--accept-noise") { p.bad { strong { "Evaluations accepted noise: not a result to rank." } } }
        p {
            strong { (untrusted(&settings.model, NAME)) } " on " (number::counted(settings.samples.len(), "sample")) ": "
            (recorded.iter().filter(is_ended).count()) " of " (number::counted(all, "attempt")) " have ended. Policy "
            (untrusted(settings.policy(), NAME)) ", at most " (number::counted(settings.budget.steps as usize, "step")) ", which are calls of tools, an attempt."
        }
        p.muted {
            "A pass rewrites graphs of PyTorch so that they run faster. " (in_short("AS", 0.1)) "AS strict forgives nothing. \
             Within 1.3x: the ends of its 95% interval are at most this factor away. The rewards of an attempt add up to its score."
        }
    }
}

fn attempts(recorded: &[RecordedAttempt], read: &ReadSource<'_>) -> Markup {
    let mut room = ROOM;
    let blocks = recorded.iter().map(|one| attempt(one, recorded.len() <= OPEN, read));
    let fits = |block: &Markup| room.checked_sub(block.0.len()).inspect(|left| room = *left).is_some();
    let shown: Vec<Markup> = blocks.filter(fits).collect();
    let left_out = recorded.len() - shown.len();
    html! {
        @if recorded.is_empty() { p { "No attempt has begun; " code { "passhost agent --resume" } " makes them." } }
        @for block in shown { (block) }
        @if left_out > 0 { p { (number::counted(left_out, "attempt")) " more have no room on this page." } }
    }
}

fn attempt(recorded: &RecordedAttempt, is_open: bool, read: &ReadSource<'_>) -> Markup {
    let spent = Spending::of(&recorded.lines);
    let Some(TrajectoryLine::Begin { sample, attempt, device, messages, .. }) = recorded.lines.first() else {
        return html! {};
    };
    let mut source = None;
    // An answer, with what was done until the next one.
    let turns = recorded.lines[1..].chunk_by(|_, next| !matches!(next, TrajectoryLine::Answer { .. }));
    let turns: Vec<Markup> = turns.map(|lines| turn(lines, &mut source, read)).collect();
    let folded = if turns.len() > 2 * ENDS + 1 { ENDS..turns.len() - ENDS } else { 0..0 };
    let list = |from: usize, to: usize| html! { ol.turns start=(from + 1) { @for turn in &turns[from..to] { li { (turn) } } } };
    html! {
        details.attempt open[is_open] {
            summary { strong { (untrusted(sample, NAME)) } ", attempt " (attempt) ": " (end(recorded)) }
            p.muted {
                (number::counted(turns.len(), "answer")) " of the model, " (number::grouped(spent.all_tokens())) " tokens, "
                (format!("{:.0} s, of these {:.0} s with the device ", spent.seconds, spent.device_seconds)) (untrusted(device, NAME))
            }
            details { summary { "The task" } (words(messages.last().map_or("", |message| &message.content))) }
            @if !folded.is_empty() {
                (list(0, folded.start))
                details.folded { summary { "Answers " (folded.start + 1) " to " (folded.end) } (list(folded.start, folded.end)) }
            }
            (list(folded.end, turns.len()))
        }
    }
}

/// How it ended, and with what.
fn end(recorded: &RecordedAttempt) -> Markup {
    match recorded.lines.last() {
        Some(TrajectoryLine::End { why, score, reward, verdict }) => html! {
            (why.to_string()) ", score " (number::score(*score)) @if let Some(verdict) = verdict { ": " (judged(verdict)) } @else { " " } (paid(reward))
        },
        _ => html! { span.muted { "not ended" } },
    }
}

fn turn(lines: &[TrajectoryLine], source: &mut Option<String>, read: &ReadSource<'_>) -> Markup {
    html! {
        @for line in lines {
            @match line {
                TrajectoryLine::Answer { answer, .. } => {
                    @let said = answer.refusal.as_deref().unwrap_or(&answer.message.content);
                    @if !said.trim().is_empty() { (words(said)) }
                }
                TrajectoryLine::Call { call, text, effect, reward, .. } => {
                    p { (called(call)) " " @if let Some(verdict) = effect.verdict() { (judged(verdict)) } (paid(reward)) }
                    @if let Effect::Wrote { source: hash } = effect { (written(source, read(hash))) }
                    (told(text))
                }
                TrajectoryLine::Message { text } => (told(text)),
                TrajectoryLine::Begin { .. } | TrajectoryLine::End { .. } => {}
            }
        }
    }
}

fn called(call: &ToolCall) -> Markup {
    let is_shown = call.function.name != "write_pass" && call.function.arguments != "{}";
    let arguments = if is_shown { &call.function.arguments } else { "" };
    html! { code { (untrusted(&call.function.name, NAME)) " " (untrusted(arguments, CODE)) } }
}

fn judged(verdict: &PassVerdict) -> Markup {
    let (class, word) = if verdict.right { ("good", "right") } else { ("bad", "not right") };
    let within = verdict.within.map(|within| format!(", within {within:.2}x")).unwrap_or_default();
    html! {
        span.(class) { (word) } ", AS " (number::score(verdict.aggregate_score)) ", AS strict " (number::score(verdict.aggregate_score_strict))
        (within) @if verdict.findings > 0 { ", " span.bad { (number::counted(verdict.findings, "finding")) } } " "
    }
}

/// A reward by what it is for, if there is one.
fn paid(reward: &Reward) -> Markup {
    let parts = [("build", reward.build), ("check", reward.check), ("right", reward.right), ("score", reward.score)];
    let parts = parts.iter().filter(|(_, worth)| *worth != 0.0).map(|(name, worth)| format!("{name} {worth:+.2}"));
    let parts: Vec<String> = parts.collect();
    html! { @if !parts.is_empty() { span.muted { "reward: " (parts.join(", ")) } } }
}

/// What the model was told.
fn told(text: &str) -> Markup {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    html! {
        @if rest.is_empty() { p.muted { (untrusted(first, CODE)) } }
        @else { details { summary { (untrusted(first, CODE)) } (untrusted_lines(text, TEXT, CODE)) } }
    }
}

fn words(text: &str) -> Markup {
    html! { div.words { (untrusted_lines(text, TEXT, WORDS)) } }
}

/// A source beside the one before, which it takes the place of.
fn written(before: &mut Option<String>, source: Option<String>) -> Markup {
    let Some(source) = source else { return html! { p.muted { "Its source is not in the run any more." } } };
    let last = before.replace(source.clone());
    let count = |text: &str| text.lines().count();
    match last {
        Some(last) if count(&last) + count(&source) <= COMPARED => diff(&last, &source),
        _ => html! {
            details { summary { "The source, " (number::counted(count(&source), "line")) } (untrusted_lines(&source, SOURCE, CODE)) }
        },
    }
}

fn diff(before: &str, after: &str) -> Markup {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let groups = group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), 2);
    let line = |class: &'static str, mark: char| move |text: &&str| html! { span.(class) { (mark) " " bdi { (indented(text, CODE)) } } "\n" };
    let mut shown: Vec<Markup> = vec![];
    for group in &groups {
        shown
            .push(html! { span.muted { "line " (group.first().map_or(0, |first| first.new_range().start) + 1) } "\n" });
        for operation in group {
            match operation.as_tag_tuple() {
                (DiffTag::Equal, kept, _) => shown.extend(old[kept].iter().map(line("kept", ' '))),
                (_, gone, new_lines) => {
                    shown.extend(old[gone].iter().map(line("bad", '-')));
                    shown.extend(new[new_lines].iter().map(line("good", '+')));
                }
            }
        }
    }
    let more = shown.len().saturating_sub(SOURCE);
    html! {
        @if shown.is_empty() { p.muted { "The same source again." } }
        @else { pre tabindex="0" { @for line in shown.iter().take(SOURCE) { (line) } @if more > 0 { (more) " more lines" } } }
    }
}

#[cfg(test)]
mod tests;
