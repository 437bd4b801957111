//! `passhost show SAMPLE [--after PLUGIN]`

use crate::arguments::ShowArguments;
use crate::evaluate::{LoadedPlugin, guest_failure};
use crate::guest::{GuestError, Plugin};
use crate::output::print;
use crate::terminal::{Terminal, Tone};
use crate::untrusted;
use crate::{Exit, Stop};
use passhost_ir::verify::verify_rewrite;
use passhost_ir::{OpTable, functionalise};
use passhost_sample::InputMode;

/// Lines of a plugin's log that are shown.
const LOG_LINES: usize = 50;

pub fn run(arguments: &ShowArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let samples = super::open_samples(std::slice::from_ref(&arguments.sample), terminal)?;
    let limits = arguments.limits.limits();
    let cache = super::open_cache().ok();
    let mut plugin = match &arguments.after {
        Some(path) => {
            let plugin = Plugin::read(path, limits.wasm).map_err(Stop::usage)?;
            Some(LoadedPlugin::load(plugin, limits, cache.as_ref()))
        }
        None => None,
    };
    let mut device = super::open_device(&arguments.device, |_| {})?;
    let mut shown = 0;
    let mut exit = Exit::Success;
    for sample in &samples {
        for (index, variant) in sample.variants().iter().enumerate() {
            if arguments.variant.as_ref().is_some_and(|text| !variant.name.contains(text.as_str())) {
                continue;
            }
            if shown > 0 && !arguments.all && arguments.variant.is_none() {
                continue;
            }
            shown += 1;
            let read =
                sample.load(index, InputMode::Fresh, &mut device).map_err(|error| Stop::new(Exit::Usage, error))?;
            let name = untrusted::one_line(&format!("{} {}", sample.name(), variant.name), 200);
            print([terminal.paint(Tone::Strong, &format!("# {name}"))]);
            if arguments.reference {
                print([read.program.to_string()]);
                continue;
            }
            let functional =
                functionalise(&read.program, OpTable::sample()).map_err(|error| Stop::new(Exit::Usage, error))?;
            print([functional.graph.to_string()]);
            let Some(plugin) = &mut plugin else { continue };
            let calls = 10 * functional.graph.nodes.len() as u64 + limits.infer_calls;
            let answer = match plugin.guest() {
                Ok(guest) => {
                    let facts = device.info().facts;
                    guest.run(&functional.graph, facts, calls, &mut device)
                }
                Err(failure) => return Err(refused(failure)),
            };
            let (rewrite, usage) = answer.map_err(|error| refused(&guest_failure("rewrite", error)))?;
            print(
                untrusted::lines(&usage.log, LOG_LINES)
                    .into_iter()
                    .map(|line| terminal.paint(Tone::Dim, &format!("# log: {line}"))),
            );
            let rewrite = rewrite.map_err(|error| refused(&guest_failure("rewrite", GuestError::Plugin(error))))?;
            for refusal in &rewrite.refusals {
                let nodes: Vec<String> = refusal.nodes.iter().map(ToString::to_string).collect();
                let reason = untrusted::one_line(&refusal.reason, 200);
                print([terminal.paint(Tone::Dim, &format!("# left alone {}: {reason}", nodes.join(" ")))]);
            }
            print([terminal.paint(Tone::Strong, "# after"), untrusted_graph(&rewrite.graph)]);
            let verified = verify_rewrite(&functional.graph, &rewrite.graph, OpTable::insert(), &mut device);
            match verified {
                Ok(_) => print([terminal.paint(Tone::Good, &format!("# verified; fuel {}", usage.fuel))]),
                Err(error) => {
                    exit = Exit::Plugin;
                    let text = untrusted::one_line(&error.to_string(), 600);
                    print([terminal.paint(Tone::Bad, &format!("# refused: {text}"))]);
                }
            }
        }
    }
    if shown == 0 {
        return Err(Stop::usage("no variant has that in its name; leave out --variant to see the first"));
    }
    Ok(exit)
}

fn refused(failure: &crate::document::Failure) -> Stop {
    let exit = if failure.blame == crate::document::Blame::Plugin { Exit::Plugin } else { Exit::Host };
    Stop { exit, error: anyhow::anyhow!("{}; {}", failure.message, failure.hint) }
}

/// A graph that has not been verified may hold any text in its names.
fn untrusted_graph(graph: &passhost_ir::Graph) -> String {
    graph
        .to_string()
        .lines()
        .map(|line| {
            let indent: String = line.chars().take_while(|c| *c == ' ').collect();
            format!("{indent}{}\n", untrusted::one_line(line, 4000))
        })
        .collect::<String>()
        .trim_end()
        .to_owned()
}
