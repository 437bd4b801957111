//! `passhost eval PLUGIN SAMPLE...`

use crate::arguments::EvalArguments;
use crate::output::{print, write_json};
use crate::terminal::{Terminal, Tone, wrap};
use crate::{Exit, Stop};
use passhost_score::Options;
use passhost_supervisor::document::{Blame, Document};
use passhost_supervisor::{Checking, Config, Event, OpenError, Plugin, Sample, Supervisor};

pub fn run(arguments: &EvalArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let limits = arguments.limits.limits();
    let plugin = Plugin::read(&arguments.plugin, limits.wasm).map_err(|error| Stop::new(Exit::Usage, error))?;
    let options = arguments.score.over(Options::default());
    // Constants outside their range would otherwise show only after minutes of measuring.
    passhost_score::score(&[passhost_score::VariantOutcome::Failed(passhost_score::FailureClass::Accuracy)], &options)
        .map_err(|error| Stop::new(Exit::Usage, error))?;
    let config = Config {
        limits,
        settings: arguments.settings(),
        options,
        policy: arguments.policy.clone(),
        inputs: arguments.inputs.into(),
        seed: arguments.seed,
        timeout: arguments.timeout,
        wait: arguments.wait.unwrap_or_default(),
        submissions: arguments.submissions,
        confinement: arguments.walls.confinement(),
    };
    if let Some(contradiction) = config.contradiction() {
        return Err(Stop::usage(contradiction));
    }
    let samples = open_samples(arguments, terminal)?;
    let line = *terminal;
    let mut supervisor = Supervisor::new(config).watched_by(move |event| show(event, &line));
    match super::open_cache() {
        Ok(cache) => supervisor = supervisor.with_cache(cache),
        Err(reason) => terminal.complain(&terminal.paint(Tone::Dim, &format!("no plugin cache: {reason}"))),
    }
    terminal.progress("loading the plugin");
    let mut plugin = supervisor.load(plugin);
    let refusal = plugin.guest().err().cloned();
    if let Some(failure) = refusal.as_ref().filter(|failure| failure.blame == Blame::Host) {
        return Err(Stop { exit: Exit::Host, error: anyhow::anyhow!("{}; {}", failure.message, failure.hint) });
    }

    let mut documents = vec![];
    if let Some(failure) = refusal {
        terminal.clear_progress();
        print(["device: none used, the plugin does not load".to_owned()]);
        for sample in &samples {
            finish(supervisor.refused(&plugin, &failure, sample), &mut documents, arguments, terminal)?;
        }
        return Ok(worst(&documents, arguments));
    }

    // libtorch starts in both children at once.
    let mut types = supervisor.types();
    let _ = types.start();
    terminal.progress("starting the device");
    let mut device = super::open_device(&arguments.device, arguments.walls.confinement())?;
    let mut checker = supervisor.checker(plugin, device.info().facts).with_types(types);
    terminal.clear_progress();
    print([super::device_line(device.info())]);
    supervisor.evaluate(&mut checker, samples, &mut device, Checking::Between, |document| {
        finish(document, &mut documents, arguments, terminal)
    })?;
    if documents.len() > 1 {
        print([String::new()]);
        print(wrap(&crate::table::total(&documents), terminal.width(), ""));
    }
    Ok(worst(&documents, arguments))
}

/// Every sample that the paths name, each opened so that a wrong path shows before anything is measured.
fn open_samples(arguments: &EvalArguments, terminal: &Terminal) -> Result<Vec<Sample>, Stop> {
    let mut samples = vec![];
    for path in &arguments.samples {
        terminal.progress(&format!("reading {}", path.display()));
        for path in passhost_sample::find(path).map_err(|error| Stop::new(Exit::Usage, error))? {
            let sample = Sample::open(&path, arguments.walls.confinement()).map_err(|error| match error {
                OpenError::Sample(error) => Stop::new(Exit::Usage, error),
                OpenError::Reader(error) => Stop::new(Exit::Host, error),
            })?;
            samples.push(sample);
        }
    }
    // A process for each of many samples is too many: they are opened again when it is their turn.
    if samples.len() > 1 {
        samples.iter_mut().for_each(Sample::close);
    }
    terminal.clear_progress();
    Ok(samples)
}

/// Shows where the evaluation stands. Remarks and lost children are in the document.
fn show(event: &Event, terminal: &Terminal) {
    let (place, what) = match event {
        Event::Reached { place, step } => (place, step.to_string()),
        Event::Waiting { place } => (place, "waiting for another evaluation on this device".to_owned()),
        Event::ChildReplaced { .. } | Event::Note { .. } => return,
    };
    let at = format!("{} {}/{} {}", place.sample, place.position + 1, place.count, place.variant);
    terminal.progress(&format!("{at}: {what}"));
}

/// Prints a document and writes all so far, so that an interrupted run keeps what it has.
fn finish(
    document: Document,
    documents: &mut Vec<Document>,
    arguments: &EvalArguments,
    terminal: &Terminal,
) -> Result<(), Stop> {
    terminal.clear_progress();
    if !documents.is_empty() {
        print([String::new()]);
    }
    print(crate::table::render(&document, terminal));
    documents.push(document);
    let Some(path) = &arguments.json else { return Ok(()) };
    match documents.as_slice() {
        [one] => write_json(path, one),
        all => write_json(path, &all),
    }
}

/// The exit code for all documents: the host's trouble before the sample's before the plugin's.
fn worst(documents: &[Document], arguments: &EvalArguments) -> Exit {
    documents.iter().map(|document| exit(document, arguments.fail_under)).max().unwrap_or(Exit::Success)
}

fn exit(document: &Document, fail_under: Option<f64>) -> Exit {
    match document.blame {
        Some(Blame::Host) => Exit::Host,
        Some(Blame::Sample) => Exit::Usage,
        Some(Blame::Plugin) => Exit::Plugin,
        None => match (document.headline(), fail_under) {
            (Some(score), Some(threshold)) if score < threshold => Exit::Plugin,
            (Some(_), _) => Exit::Success,
            (None, _) => Exit::Host,
        },
    }
}
