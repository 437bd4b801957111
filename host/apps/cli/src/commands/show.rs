//! `passhost show SAMPLE [--after PLUGIN]`

mod brief;
mod changes;
mod kernels;

use self::brief::{ShownRewrite, brief};
use crate::arguments::{ConfinementArguments, DeviceArguments, LimitArguments, policy};
use crate::exit::{Exit, OrStop, Stop};
use crate::meant;
use crate::output::{print, print_text};
use crate::terminal::{Terminal, Tone};
use clap::Args;
use passhost_child::device::DeviceSetup;
use passhost_child::guest::GuestError;
use passhost_child::{LoadedPlugin, TypesClient, guest_failure};
use passhost_ir::verify::{GraphError, check_counts, check_own_calls, verify_rewrite};
use passhost_ir::{DeviceFacts, Graph, OpTable, functionalise};
use passhost_protocol::device::GpuProperties;
use passhost_protocol::open_regular;
use passhost_result::{GuestLimits, InputMode, Inserted, Policy, is_among, untrusted};
use passhost_supervisor::{Account, Config, ReadError, Sample, Supervisor, infer_calls};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// A sample
    pub sample: PathBuf,
    /// A plugin: also prints the graph it makes, what it logged and what it left alone. The graph that it gets alone if
    /// absent
    #[arg(long, value_name = "PLUGIN", value_parser = meant::plugin_parser())]
    pub after: Option<PathBuf>,
    /// Only the variants with this in their names, the first variant if absent: a part of a folder's name, or folders as in
    /// float16/s0-1, the last by its beginning. May be given several times
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// All variants instead of the first
    #[arg(long)]
    pub all: bool,
    /// The program as the sample has it, in-place ops included
    #[arg(long)]
    pub reference: bool,
    /// Which rewrites may run: open, kernels, strict, or a file (docs/checking.md)
    #[arg(long, value_name = "NAME|FILE", default_value = "open", requires = "after", value_parser = policy)]
    pub policy: Policy,
    #[command(flatten)]
    pub parts: RewriteParts,
    #[command(flatten)]
    pub device: DeviceArguments,
    /// Tells the plugin of this device, and opens none: JSON as `job.device.facts` of a result document
    #[arg(long, value_name = "FILE", requires = "after", conflicts_with_all = ["device", "threads"])]
    pub device_facts: Option<PathBuf>,
    #[command(flatten)]
    pub confinement: ConfinementArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// What of a rewrite is shown in place of all of it.
#[derive(Debug, Clone, Copy, Args)]
pub struct RewriteParts {
    /// Which nodes the plugin took away and which it put in, in place of both graphs
    #[arg(long, requires = "after")]
    pub diff: bool,
    /// How many graphs it changes and which nodes it took away and put in, once where that differs in sizes alone, and what it
    /// left alone in graphs that it does not change
    #[arg(long, requires = "after", conflicts_with_all = ["diff", "kernels", "cuda", "reference"])]
    pub brief: bool,
    /// Its kernels alone, with the bytes that each moves, its operations, and what these take on the device at least
    #[arg(long, requires = "after")]
    pub kernels: bool,
    /// The CUDA C++ that its kernels become: for the GPU of --device, or where there is none for an H100
    #[arg(long, requires = "after")]
    pub cuda: bool,
}

impl RewriteParts {
    /// Whether any part is asked for.
    pub fn any(self) -> bool {
        self.diff || self.brief || self.kernels || self.cuda
    }
}

/// Lines of a plugin's log that are shown.
const LOG_LINES: usize = 50;
/// Characters of a line of a graph.
const LINE: usize = 4000;

pub fn run(arguments: &ShowArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    meant::check_there([arguments.sample.as_path()], meant::NO_SAMPLE)?;
    let paths = passhost_sample::find(&arguments.sample).or_stop(Exit::Usage)?;
    let limits = arguments.limits.limits();
    let confinement = arguments.confinement.mode();
    let mut supervisor = Supervisor::new(Config { limits, confinement, ..Config::default() });
    if let Ok(cache) = super::open_cache() {
        supervisor = supervisor.with_cache(cache);
    }
    let mut types = supervisor.types();
    let mut after = match &arguments.after {
        Some(path) => {
            let plugin = super::source::plugin(path, limits.wasm, terminal)?;
            Some((supervisor.load(plugin), target(arguments)?))
        }
        None => None,
    };
    let (mut shown, mut names) = (0, vec![]);
    let mut exit = Exit::Success;
    let mut briefly = vec![];
    let most = if arguments.all || !arguments.variants.is_empty() { usize::MAX } else { 1 };
    for path in &paths {
        if shown >= most {
            break;
        }
        let mut sample = Sample::open(path, confinement)?;
        if let Some(failure) = sample.lost() {
            return Err(failure.into());
        }
        names.extend(sample.variants().iter().cloned());
        for index in 0..sample.variants().len().min(most) {
            let name = sample.variants()[index].clone();
            if !is_among(&name, &arguments.variants) {
                continue;
            }
            shown += 1;
            let title = untrusted::one_line(&format!("{} {name}", sample.name()), 200);
            let mut session = types.session();
            let program = sample.read(index, InputMode::Fresh, &mut session, supervisor.reading_limit());
            let trouble = session.end();
            let program = program.map_err(|error| match (trouble, error) {
                (Some(trouble), _) => Stop::new(Exit::Host, trouble),
                (None, ReadError::Reader(error)) => Stop::new(Exit::Host, error),
                (None, error) => Stop::new(Exit::Usage, error),
            })?;
            let program = program.program;
            let is_brief = arguments.parts.brief;
            print((!is_brief).then(|| terminal.paint(Tone::Strong, &format!("# {title}"))));
            if arguments.reference {
                print_text(&program.to_string());
                continue;
            }
            let functional = functionalise(&program, OpTable::sample()).or_stop(Exit::Usage)?;
            if !arguments.parts.any() {
                print_text(&functional.graph.to_string());
            }
            if let Some((plugin, target)) = &mut after {
                let (target, parts, policy) = (*target, arguments.parts, &arguments.policy);
                let shown = ShownRewrite { name, ..ShownRewrite::default() };
                let mut view = RewriteView { target, parts, policy, limits, types: &mut types, terminal, shown };
                let ended = view.show_after(plugin, &functional.graph, &title);
                briefly.push(view.shown);
                if !is_brief {
                    print(briefly.drain(..).flat_map(ShownRewrite::lines));
                } else if ended.is_err() {
                    print(brief(&briefly));
                }
                exit = exit.max(ended?);
            }
        }
    }
    if arguments.parts.brief {
        print(brief(&briefly));
    }
    if shown == 0 {
        let text = arguments.variants.first().map_or("", String::as_str);
        let hint = meant::variant(text, names.iter().map(String::as_str));
        return Err(Stop::usage(format!("no variant has `{}` in its name; {hint}", untrusted::one_line(text, 80))));
    }
    Ok(exit)
}

/// What a rewrite will run on.
#[derive(Clone, Copy)]
struct ShowTarget {
    facts: DeviceFacts,
    gpu: Option<GpuProperties>,
}

/// The device that the pass is told of: one that is there, or one that somebody described.
fn target(arguments: &ShowArguments) -> Result<ShowTarget, Stop> {
    let Some(path) = &arguments.device_facts else {
        let confinement = arguments.confinement.mode();
        let device = super::open_device(&arguments.device, |setup| DeviceSetup { confinement, ..setup })?;
        return Ok(ShowTarget { facts: device.info().facts, gpu: device.gpu() });
    };
    let read = open_regular(path).and_then(std::io::read_to_string);
    let facts = read.and_then(|text| serde_json::from_str(&text).map_err(Into::into));
    let facts = facts.map_err(|error| {
        let path = path.display();
        Stop::usage(format!("`{path}` has no facts of a device: {error}; expected `job.device.facts` of a result"))
    })?;
    Ok(ShowTarget { facts, gpu: None })
}

/// How rewrites are made and shown.
struct RewriteView<'a> {
    target: ShowTarget,
    parts: RewriteParts,
    policy: &'a Policy,
    limits: GuestLimits,
    types: &'a mut TypesClient,
    terminal: &'a Terminal,
    shown: ShownRewrite,
}

impl RewriteView<'_> {
    /// Takes down what a plugin makes of a graph, what it logged and what it left alone, and whether that may run.
    /// `title` names the sample and the variant.
    fn show_after(&mut self, plugin: &mut LoadedPlugin, graph: &Graph, title: &str) -> Result<Exit, Stop> {
        let RewriteView { target, limits, terminal, .. } = *self;
        let mut account = Account::new(Duration::from_millis(limits.answers_ms));
        let calls = infer_calls(graph, limits.infer_calls);
        let inserts = self.policy.rules().inserted == Inserted::Listed;
        let answer = match plugin.guest() {
            Ok(guest) => guest.run(graph, target.facts, inserts, calls, &mut account.pays(self.types)),
            Err(failure) => return Err(failure.into()),
        };
        let stop = |error| Stop::of(&guest_failure("rewrite", error), format!("{title}: "));
        let (rewrite, usage) = answer.map_err(stop)?;
        let log = untrusted::lines(&usage.log, LOG_LINES);
        let log = log.into_iter().map(|line| terminal.paint(Tone::Dim, &format!("# log: {line}")));
        self.shown.said.extend(log);
        let rewrite = rewrite.map_err(|error| stop(GuestError::Plugin(error)))?;
        for refusal in &rewrite.refusals {
            let nodes: Vec<String> = refusal.nodes.iter().map(ToString::to_string).collect();
            let reason = untrusted::one_line(&refusal.reason, 200);
            let left = terminal.paint(Tone::Dim, &format!("# left alone {}: {reason}", nodes.join(" ")));
            self.shown.said.push(left);
        }
        check_counts(graph, &rewrite.graph).or_stop(Exit::Plugin)?;
        self.show_rewrite(graph, &rewrite.graph);
        let verified = verify_rewrite(graph, &rewrite.graph, OpTable::insert(), &mut account.pays(self.types));
        match verified {
            Ok(summary) => self.shown.is_changed = !summary.pass_miss,
            Err(error) => return Ok(self.refuse(&error.to_string(), &error, &rewrite.graph)),
        }
        if !inserts && let Err(error) = check_own_calls(graph, &rewrite.graph) {
            let why = format!("the policy `{}` does not allow this: {error}", self.policy.name());
            return Ok(self.refuse(&why, &error, &rewrite.graph));
        }
        if self.parts.cuda {
            let cuda = kernels::cuda(&rewrite.graph, target.gpu, self.types, terminal);
            self.shown.body.extend(cuda);
        }
        self.shown.end.push(terminal.paint(Tone::Good, &format!("# verified; fuel {}", usage.fuel)));
        Ok(Exit::Success)
    }

    /// Says why a rewrite may not run, and shows where.
    fn refuse(&mut self, why: &str, error: &GraphError, rewrite: &Graph) -> Exit {
        let text = untrusted::one_line(why, 600);
        self.shown.is_changed = true;
        self.shown.end.push(self.terminal.paint(Tone::Bad, &format!("# refused: {text}")));
        let excerpt = error.excerpt(rewrite);
        self.shown.end.extend(excerpt.iter().map(|line| format!("#   {}", untrusted::indented(line, 200))));
        Exit::Plugin
    }

    /// All of a rewrite, or the parts that were asked for.
    fn show_rewrite(&mut self, before: &Graph, after: &Graph) {
        let RewriteView { terminal, parts, target, .. } = *self;
        let body = &mut self.shown.body;
        if !parts.any() {
            body.push(terminal.paint(Tone::Strong, "# after"));
            body.extend(after.to_string().lines().map(|line| untrusted::indented(line, LINE)));
        }
        if parts.diff {
            body.push(terminal.paint(Tone::Strong, "# changes"));
        }
        if parts.diff || parts.brief {
            let lines = changes::changes(before, after);
            let is_shown = |line: &&String| parts.diff || !line.starts_with(' ');
            body.extend(lines.iter().filter(is_shown).map(|line| coloured(line, terminal)));
        }
        if parts.kernels {
            body.push(terminal.paint(Tone::Strong, "# kernels"));
            body.extend(kernels::kernels(after, &target.facts, terminal));
        }
    }
}

/// A line of changes, fit for a terminal.
fn coloured(line: &str, terminal: &Terminal) -> String {
    let (mark, rest) = line.split_at_checked(2).unwrap_or((line, ""));
    let text = format!("{mark}{}", untrusted::indented(rest, LINE));
    match mark {
        "+ " => terminal.paint(Tone::Good, &text),
        "- " => terminal.paint(Tone::Bad, &text),
        _ => text,
    }
}
