//! `passhost eval PLUGIN SAMPLE...`

use crate::arguments::EvalArguments;
use crate::document::{Blame, Document};
use crate::evaluate::{Config, Host, LoadedPlugin, evaluate, refused};
use crate::guest::Plugin;
use crate::output::{print, write_json};
use crate::terminal::{Terminal, Tone, wrap};
use crate::{Exit, Stop};
use passhost_score::Options;
use std::cell::RefCell;
use std::rc::Rc;

pub fn run(arguments: &EvalArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let limits = arguments.limits.limits();
    let plugin = Plugin::read(&arguments.plugin, limits.wasm).map_err(Stop::usage)?;
    let options = arguments.score.over(Options::default());
    // Constants outside their range would otherwise show only after minutes of measuring.
    passhost_score::score(&[passhost_score::VariantOutcome::Failed(passhost_score::FailureClass::Accuracy)], &options)
        .map_err(|error| Stop::new(Exit::Usage, error))?;
    let samples = super::open_samples(&arguments.samples, terminal)?;
    let config = Config {
        limits,
        settings: arguments.settings(),
        options,
        inputs: arguments.inputs.into(),
        seed: arguments.seed,
        timeout: arguments.timeout,
    };
    let cache = match super::open_cache() {
        Ok(cache) => Some(cache),
        Err(reason) => {
            eprintln!("{}", terminal.paint(Tone::Dim, &format!("no plugin cache: {reason}")));
            None
        }
    };
    terminal.progress("loading the plugin");
    let mut plugin = LoadedPlugin::load(plugin, limits, cache.as_ref());
    let refusal = plugin.guest().err().cloned();
    if let Some(failure) = refusal.as_ref().filter(|failure| failure.blame == Blame::Host) {
        return Err(Stop { exit: Exit::Host, error: anyhow::anyhow!("{}; {}", failure.message, failure.hint) });
    }

    let mut documents = vec![];
    if let Some(failure) = refusal {
        terminal.clear_progress();
        print(["device: none used, the plugin does not load".to_owned()]);
        for sample in &samples {
            finish(refused(&plugin, &failure, sample, &config), &mut documents, arguments, terminal)?;
        }
        return Ok(worst(&documents, arguments));
    }

    // The stage that the device reports and the variant that the evaluation is at share one line.
    let position = Rc::new(RefCell::new(String::new()));
    let (shown, line) = (Rc::clone(&position), *terminal);
    terminal.progress("starting the device");
    let mut device = super::open_device(&arguments.device, move |stage| {
        line.progress(&format!("{}: {stage}", shown.borrow()));
    })?;
    terminal.clear_progress();
    print([super::device_line(device.info())]);
    for sample in &samples {
        let mut progress = |index: usize, count: usize, name: &str| {
            let text = format!("{} {}/{count} {}", sample.name(), index + 1, crate::untrusted::one_line(name, 60));
            terminal.progress(&text);
            position.replace(text);
        };
        let mut host = Host { device: &mut device, cache: cache.as_ref(), config: &config, progress: &mut progress };
        let document = evaluate(&mut plugin, sample, &mut host);
        finish(document, &mut documents, arguments, terminal)?;
    }
    if documents.len() > 1 {
        print([String::new()]);
        print(wrap(&crate::table::total(&documents), terminal.width(), ""));
    }
    Ok(worst(&documents, arguments))
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
    let written = match documents.as_slice() {
        [one] => write_json(path, one),
        all => write_json(path, &all),
    };
    written.map_err(|error| Stop::new(Exit::Usage, error))
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
        None => {
            let score = document.scores.as_ref().map(|scores| scores.aggregate_score);
            match (score, fail_under) {
                (Some(score), Some(threshold)) if score < threshold => Exit::Plugin,
                (Some(_), _) => Exit::Success,
                (None, _) => Exit::Host,
            }
        }
    }
}
