//! One evaluation: the stages from a sample and a plugin to a result document, and who is to blame when one fails.

use crate::device::{Device, DeviceError};
use crate::document::{Blame, Document, Failure, Job, Limits, Rewrite, SCHEMA, Status, Timing, Variant, quartiles_us};
use crate::guest::{Guest, GuestError, Plugin, hex};
use crate::untrusted::one_line;
use passhost_cache::Cache;
use passhost_ir::verify::{RewriteSummary, verify_rewrite};
use passhost_ir::{DeviceFacts, Graph, NodeKind, OpTable, functionalise};
use passhost_protocol::device::{Evaluation, Loaded, ReferenceError, RewriteError, Settings, TimingReport};
use passhost_protocol::guest::{GuestFailure, GuestLimits, GuestUsage, PassInfo};
use passhost_sample::{InputMode, Sample};
use passhost_score::{
    Bootstrap, FailureClass, Options, Timings, VariantOutcome, confidence, score, variant_right_from,
};
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};

/// Least budget of a rewrite's intermediates, in bytes.
const REWRITE_BYTES: u64 = 1 << 30;

/// What holds for every evaluation of a command.
#[derive(Debug, Clone)]
pub struct Config {
    /// Limits of the guest.
    pub limits: GuestLimits,
    /// How to measure.
    pub settings: Settings,
    /// Constants of the score.
    pub options: Options,
    /// How inputs are drawn.
    pub inputs: InputMode,
    /// A seed for debugging in place of the operating system's.
    pub seed: Option<u64>,
    /// Wall clock of one step of the device child; derived from the budget if absent.
    pub timeout: Option<Duration>,
}

/// What an evaluation works with.
pub struct Host<'a> {
    /// Runs programs.
    pub device: &'a mut Device,
    /// Compiled plugins.
    pub cache: Option<&'a Cache>,
    /// What holds for every evaluation.
    pub config: &'a Config,
    /// Hears which variant is worked on.
    pub progress: &'a mut dyn FnMut(usize, usize, &str),
}

/// A plugin that has been looked at once: loaded, or refused for the same reason on every sample.
pub struct LoadedPlugin {
    plugin: Plugin,
    info: Option<PassInfo>,
    guest: Result<Guest, Failure>,
}

impl LoadedPlugin {
    /// Loads the plugin in a child of its own.
    pub fn load(plugin: Plugin, limits: GuestLimits, cache: Option<&Cache>) -> LoadedPlugin {
        let mut info = None;
        let guest = load_guest(&plugin, limits, cache).and_then(|mut guest| {
            info = Some(guest.describe().map_err(|error| guest_failure("describe", error))?);
            Ok(guest)
        });
        LoadedPlugin { plugin, info, guest }
    }

    /// What the plugin says of itself, if it loads.
    pub fn info(&self) -> Option<&PassInfo> {
        self.info.as_ref()
    }

    /// The child, or why there is none.
    pub fn guest(&mut self) -> Result<&mut Guest, &Failure> {
        self.guest.as_mut().map_err(|failure| &*failure)
    }
}

fn load_guest(plugin: &Plugin, limits: GuestLimits, cache: Option<&Cache>) -> Result<Guest, Failure> {
    match Guest::load(plugin, limits, cache) {
        // A child that dies while it loads is tried once more: then it is the plugin that kills it.
        Err(GuestError::Child(_)) => Guest::load(plugin, limits, cache),
        loaded => loaded,
    }
    .map_err(|error| guest_failure("load", error))
}

/// What a failure of the guest child means. Only what happened twice, or what the child itself reports, is charged to
/// the plugin.
pub fn guest_failure(stage: &str, error: GuestError) -> Failure {
    let (blame, hint) = match &error {
        GuestError::Plugin(failure) => match failure {
            GuestFailure::Host(_) => (Blame::Host, "run `passhost doctor`"),
            failure => (Blame::Plugin, hint(failure)),
        },
        GuestError::Child(_) => (Blame::Plugin, "the process that runs it died twice; report a crash of the sandbox"),
        GuestError::OutOfTurn => (Blame::Host, "report this"),
    };
    Failure { blame, stage: stage.into(), message: one_line(&error.to_string(), 600), hint: hint.into() }
}

fn hint(failure: &GuestFailure) -> &'static str {
    use passhost_protocol::guest::Limit;
    match failure {
        GuestFailure::NotComponent(_) => "build the pass as a cdylib for the target wasm32-wasip2",
        GuestFailure::Version { .. } => "rebuild the pass with the guest SDK of this host's version",
        GuestFailure::ForbiddenImport(_) => {
            "a pass has no files, sockets, clocks or environment; remove the code that needs them"
        }
        GuestFailure::MissingExport(_) => "register the pass with passhost_guest_sdk::register!",
        GuestFailure::Compile(_) => "check that the file is whole and built for WebAssembly 2.0 without extensions",
        GuestFailure::Limit { limit, .. } => match limit {
            Limit::Fuel => "the pass may loop; else raise --limit-fuel",
            Limit::Memory => "the pass may leak; else raise --limit-memory",
            Limit::Tables => "the module's tables are too large for a pass",
            Limit::Stack => "the pass may recurse without end; else raise --limit-stack",
            Limit::Deadline => "the pass may loop; else raise --limit-deadline",
            Limit::Log => "log less, or raise --limit-log",
            Limit::Output => "return a smaller graph, or raise --limit-output",
            Limit::InferCalls => "ask for each type once and keep it, or raise --limit-infer-calls",
            Limit::Wasm => "build with the profile `plugin`, or raise --limit-wasm",
            Limit::Compile => "make the module smaller, or raise --limit-compile",
        },
        GuestFailure::Trap { .. } => "see the log of the pass; `passhost show` runs it alone",
        GuestFailure::Refused(_) => "the message is the pass's own",
        GuestFailure::Malformed(_) => "build the returned graph with the guest SDK's editor",
        GuestFailure::Host(_) => "run `passhost doctor`",
    }
}

/// What became of one variant: its entry in the document, what the score counts, and the times behind it.
struct Judged {
    variant: Variant,
    /// `None` where the host is to blame, so that nothing may be scored.
    outcome: Option<VariantOutcome>,
    timings: Option<Timings>,
}

/// Evaluates the plugin on every variant of a sample.
pub fn evaluate(plugin: &mut LoadedPlugin, sample: &Sample, host: &mut Host<'_>) -> Document {
    let count = sample.variants().len();
    let mut judged = Vec::new();
    for index in 0..count {
        let name = sample.variants()[index].name.clone();
        (host.progress)(index, count, &name);
        judged.push(judge(plugin, sample, index, host));
    }
    let device = Some(host.device.info().clone());
    assemble(plugin, sample, host.config, device, judged)
}

/// The document for a plugin that cannot be loaded: every variant fails alike, and nothing needs to run for that.
pub fn refused(plugin: &LoadedPlugin, failure: &Failure, sample: &Sample, config: &Config) -> Document {
    let judged = sample
        .variants()
        .iter()
        .map(|variant| failed(empty(&variant.name), FailureClass::Compile, failure.clone()))
        .collect();
    assemble(plugin, sample, config, None, judged)
}

/// Puts the variants together and scores them.
fn assemble(
    plugin: &LoadedPlugin,
    sample: &Sample,
    config: &Config,
    device: Option<passhost_protocol::device::DeviceInfo>,
    judged: Vec<Judged>,
) -> Document {
    let outcomes: Vec<VariantOutcome> = judged.iter().filter_map(|judged| judged.outcome).collect();
    let timings: Vec<Option<Timings>> =
        judged.iter().filter(|judged| judged.outcome.is_some()).map(|judged| judged.timings.clone()).collect();
    let variants: Vec<Variant> = judged.into_iter().map(|judged| judged.variant).collect();
    let compared = variants.iter().any(|variant| !variant.outputs.is_empty());
    // The plugin's failures stand for an evaluation before the sample's: they are what a score is for.
    let failure = if compared {
        None
    } else {
        [Blame::Plugin, Blame::Host, Blame::Sample].into_iter().find_map(|blame| {
            variants.iter().filter_map(|variant| variant.failure.clone()).find(|failure| failure.blame == blame)
        })
    };
    // A sample that fails as a whole has no score; neither has one on which the host gave up.
    let scorable = outcomes.len() == variants.len() && failure.as_ref().is_none_or(|f| f.blame == Blame::Plugin);
    let scores = if scorable { score(&outcomes, &config.options).ok() } else { None };
    let confidence =
        scores.as_ref().and_then(|_| confidence(&outcomes, &timings, &config.options, &Bootstrap::default()).ok());
    let host_failed = variants.iter().find_map(|v| v.failure.clone().filter(|f| f.blame == Blame::Host));
    let failure = failure.or(if scorable { None } else { host_failed });
    Document {
        schema: SCHEMA.into(),
        job: Job {
            plugin: plugin.plugin.path.clone(),
            plugin_sha256: plugin.plugin.sha256.clone(),
            plugin_info: plugin.info.clone(),
            sample: sample.name().to_owned(),
            sample_sha256: sample.sha256().to_owned(),
            host: env!("CARGO_PKG_VERSION").into(),
            device,
            fixed_seed: config.seed.is_some(),
        },
        status: if failure.is_some() { Status::Failed } else { Status::Scored },
        blame: failure.as_ref().map(|failure| failure.blame),
        failure,
        limits: Limits { guest: config.limits, measurement: config.settings },
        variants,
        options: config.options,
        outcomes,
        scores,
        confidence,
    }
}

fn empty(name: &str) -> Variant {
    Variant {
        name: name.to_owned(),
        class: None,
        failure: None,
        rewrite: None,
        usage: None,
        outputs: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        trivial: None,
        right_from: None,
        seed: None,
        timing: None,
    }
}

/// A variant that gave nothing to compare.
fn failed(mut variant: Variant, class: FailureClass, failure: Failure) -> Judged {
    let outcome = (failure.blame != Blame::Host).then_some(VariantOutcome::Failed(class));
    variant.class = Some(class);
    variant.failure = Some(failure);
    Judged { variant, outcome, timings: None }
}

fn failure(blame: Blame, stage: &str, message: impl std::fmt::Display, hint: &str) -> Failure {
    Failure { blame, stage: stage.into(), message: one_line(&message.to_string(), 600), hint: hint.into() }
}

/// A reference program that has run: what the pass will see and what it is compared with.
struct Reference {
    program: Graph,
    functional: Graph,
    inputs: Vec<passhost_ir::InputSpec>,
    loaded: Loaded,
    /// What loading took: drawing its inputs, running and timing it.
    loading: Duration,
    notes: Vec<String>,
}

fn judge(plugin: &mut LoadedPlugin, sample: &Sample, index: usize, host: &mut Host<'_>) -> Judged {
    let mut variant = empty(&sample.variants()[index].name);
    let reference = match reference(sample, index, host) {
        Ok(reference) => reference,
        Err(failure) => return failed(variant, FailureClass::Reference, *failure),
    };
    variant.notes.extend(reference.notes.iter().cloned());

    let (graph, usage) = match rewrite(plugin, &reference, host, &mut variant) {
        Ok(rewrite) => rewrite,
        Err(refusal) => return failed(variant, refusal.0, refusal.1),
    };
    variant.usage = Some(usage);
    let summary = match verify_rewrite(&reference.functional, &graph, OpTable::insert(), host.device) {
        Ok(summary) => summary,
        Err(error) => {
            let hint = "`passhost show --after` prints the graph that the pass returned";
            return failed(variant, FailureClass::Compile, failure(Blame::Plugin, "verify", error, hint));
        }
    };
    record_rewrite(&mut variant, &graph, &summary);
    measure(variant, &reference, &graph, &summary, host)
}

/// Reads a variant, runs its reference and makes the graph that the pass sees.
fn reference(sample: &Sample, index: usize, host: &mut Host<'_>) -> Result<Reference, Box<Failure>> {
    let read = sample
        .load(index, host.config.inputs, host.device)
        .map_err(|error| failure(Blame::Sample, "sample", error, "`passhost show SAMPLE` reads it alone"))?;
    let mut program = read.program;
    let mut notes = read.notes;
    let started = Instant::now();
    let loaded = load_reference(&program, &read.inputs, host)?;
    let loading = started.elapsed();
    for (value, found) in program.values.iter_mut().zip(&loaded.types) {
        if value.ty != *found {
            notes.push(format!("bug of passhost: %{} was inferred as {}, the run gave {found}", value.name, value.ty));
            value.ty = found.clone();
        }
    }
    let functional = functionalise(&program, OpTable::sample()).map_err(|error| {
        failure(Blame::Sample, "sample", error, "this form of in-place writing is not supported yet")
    })?;
    Ok(Reference { program, functional: functional.graph, inputs: read.inputs, loaded, loading, notes })
}

/// Runs the reference. A child that dies is replaced once: what dies twice is the sample's fault.
fn load_reference(
    program: &Graph,
    inputs: &[passhost_ir::InputSpec],
    host: &mut Host<'_>,
) -> Result<Loaded, Box<Failure>> {
    let settings = host.config.settings;
    let limit = host.config.timeout.unwrap_or(Duration::from_secs(60)) + 2 * Duration::from_millis(settings.budget_ms);
    let seed = secret(host.config)?;
    let mut attempt = || host.device.load(program, inputs, seed, settings, limit);
    let answer = match attempt() {
        Err(DeviceError::Child(_)) => attempt(),
        answer => answer,
    };
    match answer {
        Ok(Ok(loaded)) => Ok(loaded),
        Ok(Err(error @ ReferenceError::Memory { .. })) => {
            let hint = "free the GPU's memory, or use another one or --device cpu";
            Err(failure(Blame::Host, "reference", error, hint).into())
        }
        Ok(Err(error)) => {
            Err(failure(Blame::Sample, "reference", error, "the sample's own program does not run here").into())
        }
        Err(error @ DeviceError::Child(_)) => {
            let message = format!("{error}, twice, while running the sample's own program");
            Err(failure(Blame::Sample, "reference", message, "try a smaller sample or a longer --timeout").into())
        }
        Err(error) => Err(failure(Blame::Host, "reference", error, "run `passhost doctor`").into()),
    }
}

/// A seed from the operating system, or the one given for debugging.
fn secret(config: &Config) -> Result<u64, Box<Failure>> {
    match config.seed {
        Some(seed) => Ok(seed),
        None => getrandom::u64().map_err(|error| {
            let message = format!("the operating system gives no random numbers: {error}");
            failure(Blame::Host, "seed", message, "run `passhost doctor`").into()
        }),
    }
}

/// Runs the pass twice and returns what it made of the graph.
fn rewrite(
    plugin: &mut LoadedPlugin,
    reference: &Reference,
    host: &mut Host<'_>,
    variant: &mut Variant,
) -> Result<(Graph, GuestUsage), (FailureClass, Failure)> {
    let calls = 10 * reference.functional.nodes.len() as u64 + host.config.limits.infer_calls;
    let mut run = |variant: &mut Variant| {
        let compile = |failure| (FailureClass::Compile, failure);
        let answer = match run_once(plugin, &reference.functional, calls, host) {
            // A child that dies is replaced once: a pass that kills it twice has done it itself.
            Err(GuestError::Child(error)) => {
                let note = format!("{error}; the pass was run again in a fresh one");
                plugin.guest = load_guest(&plugin.plugin, host.config.limits, host.cache);
                let again = run_once(plugin, &reference.functional, calls, host);
                if again.is_ok() {
                    variant.notes.push(note);
                }
                again
            }
            answer => answer,
        };
        match answer {
            Ok((Ok(rewrite), usage)) => Ok((rewrite, usage)),
            Ok((Err(error), usage)) => {
                variant.usage = Some(usage);
                Err(compile(guest_failure("rewrite", GuestError::Plugin(error))))
            }
            Err(error) => {
                // Whatever state the child is in, the next variant starts with a fresh one.
                plugin.guest = load_guest(&plugin.plugin, host.config.limits, host.cache);
                Err(compile(guest_failure("rewrite", error)))
            }
        }
    };
    let (first, usage) = run(variant)?;
    let (second, _) = run(variant)?;
    if first != second {
        let message = "two runs of the pass on the same graph gave different rewrites";
        let hint = "a pass must be a pure function; do not iterate over hash maps with random keys";
        return Err((FailureClass::Integrity, failure(Blame::Plugin, "rewrite", message, hint)));
    }
    variant.rewrite = Some(Rewrite {
        sha256: rewrite_sha256(&first.graph, host.device.info().facts),
        nodes_before: reference.functional.nodes.len(),
        nodes_after: first.graph.nodes.len(),
        kernels: 0,
        pass_miss: false,
        refusals: first.refusals,
    });
    Ok((first.graph, usage))
}

type Answer = (Result<passhost_protocol::guest::Rewrite, GuestFailure>, GuestUsage);

fn run_once(plugin: &mut LoadedPlugin, graph: &Graph, calls: u64, host: &mut Host<'_>) -> Result<Answer, GuestError> {
    match &mut plugin.guest {
        Ok(guest) => {
            let facts = host.device.info().facts;
            guest.run(graph, facts, calls, host.device)
        }
        Err(failure) => Err(GuestError::Plugin(GuestFailure::Host(failure.message.clone()))),
    }
}

/// Names a rewrite: by its text form and the facts of the device that it was made for.
fn rewrite_sha256(graph: &Graph, device: DeviceFacts) -> String {
    hex(&Sha256::digest(format!("{graph}\n{device}\n")))
}

fn record_rewrite(variant: &mut Variant, graph: &Graph, summary: &RewriteSummary) {
    if let Some(rewrite) = &mut variant.rewrite {
        rewrite.kernels = graph.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Kernel { .. })).count();
        rewrite.pass_miss = summary.pass_miss;
    }
}

/// Sends the verified rewrite to the device and judges what comes back.
fn measure(
    mut variant: Variant,
    reference: &Reference,
    graph: &Graph,
    summary: &RewriteSummary,
    host: &mut Host<'_>,
) -> Judged {
    let mut settings = host.config.settings;
    settings.rewrite_bytes = REWRITE_BYTES.max(reference.loaded.peak_bytes.saturating_mul(4));
    let timed = !summary.pass_miss || settings.time_pass_miss;
    // The rewrite is hashed and verified by now: only now may the seed of its inputs exist.
    let seed = match secret(host.config) {
        Ok(seed) => seed,
        Err(error) => return failed(variant, FailureClass::Runtime, *error),
    };
    variant.seed = Some(seed);
    let limit = host.config.timeout.unwrap_or_else(|| evaluation_limit(reference, &settings));
    let in_place = passhost_ir::in_place_nodes(&reference.program, OpTable::sample());
    let evaluation = match host.device.evaluate(graph, &in_place, seed, settings, timed, limit) {
        Ok(evaluation) => evaluation,
        Err(DeviceError::Child(error)) => {
            let stage = host.device.stage().map_or("start".into(), |stage| stage.to_string());
            return blame_for_death(variant, error, &stage, reference, host);
        }
        Err(error) => {
            let failure = failure(Blame::Host, "evaluation", error, "run `passhost doctor`");
            return failed(variant, FailureClass::Runtime, failure);
        }
    };
    if let Some(error) = &evaluation.error {
        let class = match error {
            RewriteError::Op { .. } => FailureClass::Runtime,
            RewriteError::WrongType { .. } => FailureClass::TypeMismatch,
        };
        let hint = "the reference runs on the same inputs; check the operands of the inserted node";
        return failed(variant, class, failure(Blame::Plugin, "plan", error, hint));
    }
    judge_evaluation(variant, evaluation, summary)
}

/// Twenty times what the same work takes eagerly, what drawing and comparing large tensors takes, plus the budgets and a
/// generous start.
fn evaluation_limit(reference: &Reference, settings: &Settings) -> Duration {
    let rounds = settings.rounds.saturating_add(reference.inputs.len() as u32);
    let runs = u64::from(rounds.saturating_add(settings.warmups));
    let work =
        Duration::from_nanos(reference.loaded.slowest_ns.saturating_mul(u64::from(Settings::SLOW_FACTOR) * runs));
    // A run of the rewrite, one of eager, one in double precision and the comparisons take as long as drawing does.
    let drawing = reference.loading.saturating_mul(4).saturating_mul(rounds);
    let most = Duration::from_secs(600);
    Duration::from_secs(30) + 8 * Duration::from_millis(settings.budget_ms) + work.min(most) + drawing.min(most)
}

/// The device child died or overran while it ran the rewrite: whether eager alone survives says whose doing it was.
fn blame_for_death(
    variant: Variant,
    error: crate::child::ChildError,
    stage: &str,
    reference: &Reference,
    host: &mut Host<'_>,
) -> Judged {
    match load_reference(&reference.program, &reference.inputs, host) {
        Ok(_) => {
            let message = format!("{error} while running the rewrite; the reference alone runs");
            let hint = "an inserted op or kernel crashes or hangs; take them out one by one";
            failed(variant, FailureClass::Runtime, failure(Blame::Plugin, stage, message, hint))
        }
        Err(other) => failed(variant, FailureClass::Reference, *other),
    }
}

fn judge_evaluation(mut variant: Variant, evaluation: Evaluation, summary: &RewriteSummary) -> Judged {
    let right_from = variant_right_from(evaluation.outputs.iter().map(|output| output.right_from));
    let timings = evaluation.timing.as_ref().and_then(timings);
    variant.timing = evaluation.timing.and_then(timing);
    variant.findings = evaluation.findings.iter().map(ToString::to_string).collect();
    variant.notes.extend(evaluation.notes);
    variant.trivial = evaluation.trivial;
    variant.right_from = right_from;
    let non_finite = evaluation.outputs.iter().any(|output| output.non_finite > 0);
    variant.outputs = evaluation.outputs;

    let mut fail = |class, message: String, hint: &str| {
        variant.class = Some(class);
        variant.failure = Some(failure(Blame::Plugin, "correctness", message, hint));
        VariantOutcome::Failed(class)
    };
    let outcome = if summary.pass_miss {
        let message = "the rewrite has no kernel and calls the same ops, or more: nothing that counts was changed";
        fail(FailureClass::PassMiss, message.into(), "see the refusals of the pass: `passhost show --after`")
    } else if let Some(finding) = variant.findings.first().cloned() {
        fail(FailureClass::Integrity, finding, "the outputs do not follow from the inputs as the reference's do")
    } else if non_finite && right_from.is_none() {
        let message = "an output is NaN or infinite where the reference is finite";
        fail(FailureClass::NanInf, message.into(), "see the first wrong element of each output")
    } else {
        match variant.timing.as_ref().map(|timing| timing.speedup) {
            Some(speedup) => {
                if right_from.is_none_or(|t| t > -5) {
                    variant.class = Some(FailureClass::Accuracy);
                }
                let trivial_right_at_minus_2 = variant.trivial.is_some();
                VariantOutcome::Compared { speedup, right_from, trivial_right_at_minus_2 }
            }
            None => {
                let failure = failure(Blame::Host, "timing", "no times were measured", "report this");
                variant.failure = Some(failure);
                return Judged { variant, outcome: None, timings: None };
            }
        }
    };
    let timings = timings.filter(|_| matches!(outcome, VariantOutcome::Compared { .. }));
    Judged { variant, outcome: Some(outcome), timings }
}

/// The eager series that counts: the one with the smaller median.
fn eager_that_counts(report: &TimingReport) -> &[u64] {
    let median = |samples: &[u64]| quartiles_us(samples).map_or(f64::INFINITY, |quartiles| quartiles[1]);
    let alone = &report.eager_alone_ns;
    if median(alone) < median(&report.eager_ns) { alone } else { &report.eager_ns }
}

fn timings(report: &TimingReport) -> Option<Timings> {
    let seconds = |samples: &[u64]| samples.iter().map(|&ns| ns as f64 * 1e-9).collect::<Vec<_>>();
    (!report.rewritten_ns.is_empty())
        .then(|| Timings { eager: seconds(eager_that_counts(report)), rewritten: seconds(&report.rewritten_ns) })
}

fn timing(report: TimingReport) -> Option<Timing> {
    let eager = quartiles_us(eager_that_counts(&report))?;
    let rewritten = quartiles_us(&report.rewritten_ns)?;
    let (alone, beside) = (quartiles_us(&report.eager_alone_ns)?[1], quartiles_us(&report.eager_ns)?[1]);
    let cold = quartiles_us(&report.eager_cold_ns).zip(quartiles_us(&report.rewritten_cold_ns));
    Some(Timing {
        eager_us: eager[1],
        eager_drift: (alone / beside).max(beside / alone),
        rewritten_us: rewritten[1],
        eager_iqr_us: eager[2] - eager[0],
        rewritten_iqr_us: rewritten[2] - rewritten[0],
        speedup: eager[1] / rewritten[1],
        speedup_cold: cold.map(|(eager, rewritten)| eager[1] / rewritten[1]),
        samples: report,
    })
}
