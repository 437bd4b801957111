//! The first stage: a variant is read and typed, the pass rewrites it, and what it returned is verified. Nothing here
//! needs a device, and several checkers may work at once.

use crate::account::Account;
use crate::event::{Event, VariantPlace, WorkStage};
use crate::hidden::{self, Hidden};
use crate::rewrite::{excerpt, pay, refused_graph, rewrite};
use crate::sample::{ReadError, Sample};
use crate::supervisor::Supervisor;
use passhost_child::{Ahead, ChildError, DOCTOR, ForGpu, LoadedPlugin, Types, UNCONFINED};
use passhost_ir::verify::{RewriteSummary, check_own_calls, verify_rewrite};
use passhost_ir::{
    DeviceFacts, Graph, NodeId, NodeKind, OpTable, TensorType, Unscorable, constant_nodes, functionalise, kernel,
    returns_views_alone, varying,
};
use passhost_policy::Inserted;
use passhost_protocol::device::Draws;
use passhost_protocol::{Stopwatch, reader};
use passhost_result::document::{Blame, Failure, Variant, failure};
use passhost_result::untrusted::one_line;
use passhost_result::verdict::empty;
use passhost_result::{InputMode, OtherRounds, TunedKernel, Work};
use passhost_score::FailureClass;
use std::collections::HashSet;
use std::time::Duration;

/// Remarks about the kernels of one rewrite.
const REMARKS: usize = 8;

/// One who checks: plugins in guest children, one of which has its turn, and a types child.
pub struct Checker<'s> {
    pub(crate) supervisor: &'s Supervisor,
    pub(crate) plugins: Turns,
    pub(crate) types: Types,
    /// What the pass is told of the device that its rewrites will run on.
    pub(crate) device: DeviceFacts,
    /// Of an evaluation that is repeated.
    recorded: Vec<Seeds>,
    ahead: Option<Ahead>,
}

/// Plugins, one of which has its turn.
pub(crate) struct Turns {
    all: Vec<LoadedPlugin>,
    turn: usize,
}

impl Turns {
    fn own(&self) -> &LoadedPlugin {
        &self.all[self.turn]
    }

    pub fn own_mut(&mut self) -> &mut LoadedPlugin {
        &mut self.all[self.turn]
    }
}

/// What a variant that is judged a second time has from the first: seeds, `None` where one is drawn, and schedules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seeds {
    /// Of the inputs.
    pub inputs: Option<u64>,
    /// Of the hidden sizes.
    pub hidden: Option<u64>,
    /// The rounds beside the ordinary ones.
    pub others: Option<OtherRounds>,
    /// Kernels whose schedules were measured, and which each has.
    pub tuned: Vec<TunedKernel>,
}

/// A variant that has been checked, and waits to be measured.
pub struct Checked {
    pub(crate) place: VariantPlace,
    pub(crate) variant: Variant,
    /// `None` if it could not be read: then the end is a failure.
    pub(crate) read: Option<reader::Variant>,
    pub(crate) end: Result<Verified, Refused>,
    pub(crate) hidden: Hidden,
    /// Its inputs, where an evaluation is repeated, or other plugins are tried on the same ones.
    pub(crate) draws: Option<Draws>,
    /// The schedules of its kernels, where an evaluation is repeated.
    pub(crate) tuned: Vec<TunedKernel>,
}

/// A rewrite that may run.
pub(crate) struct Verified {
    pub graph: Graph,
    pub summary: RewriteSummary,
    /// What its author should know of it.
    pub notes: Vec<String>,
}

/// Why there is none.
#[derive(Clone)]
pub(crate) struct Refused {
    pub class: FailureClass,
    pub failure: Failure,
}

/// A variant that was read, or why it was not. No plugin has seen it.
#[derive(Clone)]
pub(crate) struct Reading {
    pub place: VariantPlace,
    pub variant: Variant,
    pub read: Result<reader::Variant, Failure>,
}

/// A variant that cannot be used, whatever the plugin does.
fn unusable(place: VariantPlace, variant: Variant, failure: Failure) -> Checked {
    let end = Err(Refused { class: FailureClass::Reference, failure });
    Checked { place, variant, read: None, end, hidden: Hidden::default(), draws: None, tuned: vec![] }
}

impl Checked {
    /// Why there is nothing to measure, as far as that is known without a device.
    pub fn failure(&self) -> Option<&Failure> {
        self.end.as_ref().err().map(|refused| &refused.failure)
    }

    /// The verified rewrite.
    pub fn graph(&self) -> Option<&Graph> {
        self.end.as_ref().ok().map(|verified| &verified.graph)
    }

    /// The reference program with its inputs, if it could be read.
    pub fn read(&self) -> Option<&reader::Variant> {
        self.read.as_ref()
    }
}

impl<'s> Checker<'s> {
    pub(crate) fn new(supervisor: &'s Supervisor, plugin: LoadedPlugin, device: DeviceFacts) -> Checker<'s> {
        let plugins = Turns { all: vec![plugin], turn: 0 };
        Checker { supervisor, plugins, types: supervisor.types(), device, recorded: vec![], ahead: None }
    }

    /// One without a plugin, who only reads.
    pub(crate) fn reader(supervisor: &'s Supervisor, device: DeviceFacts) -> Checker<'s> {
        let plugins = Turns { all: vec![], turn: 0 };
        Checker { supervisor, plugins, types: supervisor.types(), device, recorded: vec![], ahead: None }
    }

    /// With more plugins, which are checked when it is their turn.
    #[must_use]
    pub(crate) fn with_others(mut self, plugins: impl IntoIterator<Item = LoadedPlugin>) -> Checker<'s> {
        self.plugins.all.extend(plugins);
        self
    }

    /// Gives the turn to plugin `turn`, counted from the one that the checker was made with.
    pub(crate) fn take_turn(&mut self, turn: usize) {
        assert!(turn < self.plugins.all.len(), "there is no plugin {turn}");
        self.plugins.turn = turn;
    }

    /// The plugin whose turn it is.
    pub fn plugin(&self) -> &LoadedPlugin {
        self.plugins.own()
    }

    /// With a types child that may have been started ahead of the first question, so that it gets ready while something
    /// else does.
    #[must_use]
    pub fn with_types(mut self, types: Types) -> Checker<'s> {
        self.types = types;
        self
    }

    /// The types child, for whoever checks next.
    pub fn into_types(self) -> Types {
        self.types
    }

    /// Compiles kernels for a GPU before they are measured, where they are kept.
    #[must_use]
    pub fn compiling_ahead(mut self, gpu: Option<ForGpu>) -> Checker<'s> {
        self.ahead = gpu.map(Ahead::new);
        self
    }

    /// With the seeds of an evaluation that is repeated, one for each variant.
    #[must_use]
    pub fn with_seeds(mut self, recorded: Vec<Seeds>) -> Checker<'s> {
        self.recorded = recorded;
        self
    }

    pub(crate) fn recorded(&self, index: usize) -> Seeds {
        self.recorded.get(index).cloned().unwrap_or_default()
    }

    /// Checks variant `index` of a sample.
    ///
    /// # Panics
    ///
    /// If there is no such variant.
    pub fn check(&mut self, sample: &mut Sample, index: usize) -> Checked {
        let reading = self.read_variant(sample, index);
        self.check_read(sample, index, reading)
    }

    /// Reads variant `index` of a sample, for as many plugins as there are.
    ///
    /// # Panics
    ///
    /// If there is no such variant.
    pub(crate) fn read_variant(&mut self, sample: &mut Sample, index: usize) -> Reading {
        let name = &sample.variants()[index];
        let mut variant = empty(name);
        let place = VariantPlace {
            sample: one_line(sample.name(), 80),
            variant: one_line(name, 60),
            position: index,
            count: sample.variants().len(),
        };
        self.supervisor.reached(&place, WorkStage::Reading);
        let mut stopwatch = Stopwatch::start();
        let read = self.read(sample, index);
        stopwatch.charge(Work::Read);
        variant.spent_us = stopwatch.stop();
        let read = read.and_then(|mut read| {
            self.notes(&mut variant, &place, read.notes.iter().cloned());
            let varies = self.leave_out_fixed(&mut read, &mut variant, &place);
            variant.describe(&read.program);
            varies.and_then(|()| must_calculate(&read.program)).map(|()| read)
        });
        self.keep_walls();
        Reading { place, variant, read }
    }

    /// Checks the plugin whose turn it is on variant `index` of a sample, which was read.
    pub(crate) fn check_read(&mut self, sample: &mut Sample, index: usize, reading: Reading) -> Checked {
        let Reading { place, mut variant, read } = reading;
        let read = match read {
            Ok(read) => read,
            Err(failure) => return unusable(place, variant, failure),
        };
        let mut end = self.check_program(&read.program, &mut variant, &place);
        self.note_of(&end, &mut variant, &place);
        let hidden = self.hidden(sample, index, &place, &read, &mut end);
        self.notes(&mut variant, &place, hidden.note.clone());
        self.keep_walls();
        let Seeds { inputs, others, tuned, .. } = self.recorded(index);
        let draws = inputs.map(|seed| Draws { seed, are_shared: false, others });
        Checked { place, variant, read: Some(read), end, hidden, draws, tuned }
    }

    /// Says what keeps the types child in, once there is one.
    fn keep_walls(&self) {
        if let Some(walls) = self.types.walls() {
            // Another checker may have said so already, of the same kernel.
            let _ = self.supervisor.types_walls.set(walls);
        }
    }

    /// The pass on other sizes, where the rewrite of the recorded ones is hashed, may run and changes something.
    fn hidden(
        &mut self,
        sample: &mut Sample,
        index: usize,
        place: &VariantPlace,
        read: &reader::Variant,
        end: &mut Result<Verified, Refused>,
    ) -> Hidden {
        let Ok(Verified { summary: RewriteSummary { pass_miss: false, .. }, .. }) = &*end else {
            return Hidden::default();
        };
        hidden::check(self, sample, index, &read.program, place).unwrap_or_else(|failure| {
            *end = Err(Refused { class: FailureClass::Runtime, failure: *failure });
            Hidden::default()
        })
    }

    /// Takes outputs away that are the same in every draw. Inputs that are drawn as published are left as they are.
    pub(crate) fn leave_out_fixed(
        &self,
        read: &mut reader::Variant,
        variant: &mut Variant,
        place: &VariantPlace,
    ) -> Result<(), Failure> {
        let drawn: Vec<bool> = read.inputs.iter().map(|input| !input.is_fixed()).collect();
        // A program without a functional form is refused where that is needed.
        let Ok(Some(varying)) = varying(&read.program, &drawn, OpTable::sample()) else { return Ok(()) };
        if self.supervisor.config.inputs == InputMode::Published {
            return Ok(());
        }
        if varying.program.outputs.is_empty() {
            let hint = "record inputs whose values nothing of the graph was built on";
            return Err(failure(Blame::Sample, "sample", Unscorable::Fixed, hint));
        }
        let names = varying.left_out.iter().map(|&at| {
            let value = &read.program.values[read.program.outputs[at].index()];
            format!(
                "output {at} (%{}) is the same in every draw of the inputs: it is left out and gives no points",
                value.name
            )
        });
        self.notes(variant, place, names.collect::<Vec<_>>());
        read.program = varying.program;
        Ok(())
    }

    /// Checks it again where a run gave values of other types than inferred.
    pub(crate) fn check_again(&mut self, checked: &mut Checked, found: &[TensorType]) {
        let Some(read) = &mut checked.read else { return };
        let mut notes = vec![];
        for (value, found) in read.program.values.iter_mut().zip(found) {
            if value.ty != *found {
                notes.push(format!(
                    "bug of passhost: %{} was inferred as {}, the run gave {found}",
                    value.name, value.ty
                ));
                value.ty = found.clone();
            }
        }
        if notes.is_empty() {
            return;
        }
        // Who makes another rewrite does so before its inputs are drawn.
        checked.draws = checked.draws.filter(|draws| !draws.are_shared);
        checked.variant.describe(&read.program);
        (checked.variant.rewrite, checked.variant.usage) = (None, None);
        self.notes(&mut checked.variant, &checked.place, notes);
        checked.end = self.check_program(&read.program, &mut checked.variant, &checked.place);
        self.note_of(&checked.end, &mut checked.variant, &checked.place);
    }

    fn read(&mut self, sample: &mut Sample, index: usize) -> Result<reader::Variant, Failure> {
        let (inputs, limit) = (self.supervisor.config.inputs, self.supervisor.reading_limit());
        let read = sample.read(index, inputs, &mut Account::new(limit).pays(&mut self.types), limit);
        if let Some(trouble) = self.types.take_trouble() {
            let unconfined = matches!(trouble, ChildError::Unconfined { .. });
            return Err(failure(Blame::Host, "sample", trouble, if unconfined { UNCONFINED } else { DOCTOR }));
        }
        read.map_err(|error| match error {
            ReadError::Sample(error) => {
                failure(Blame::Sample, "sample", error, "`passhost show SAMPLE` reads it alone")
            }
            ReadError::Lost(error) => {
                let message = format!("{error}, twice, while reading the sample");
                failure(Blame::Sample, "sample", message, "leave this sample out, and report it")
            }
            ReadError::Reader(error) => failure(Blame::Host, "sample", error, DOCTOR),
            ReadError::Changed => {
                failure(Blame::Sample, "sample", ReadError::Changed, "leave its files alone meanwhile")
            }
        })
    }

    pub(crate) fn check_program(
        &mut self,
        program: &Graph,
        variant: &mut Variant,
        place: &VariantPlace,
    ) -> Result<Verified, Refused> {
        let functional = functionalise(program, OpTable::sample()).map_err(|error| {
            let hint = "this form of in-place writing is not supported yet";
            Refused { class: FailureClass::Reference, failure: failure(Blame::Sample, "sample", error, hint) }
        })?;
        self.supervisor.reached(place, WorkStage::Rewriting);
        let mut stopwatch = Stopwatch::start();
        let mut account = Account::new(Duration::from_millis(self.supervisor.config.limits.answers_ms));
        let graph = rewrite(self, &functional.graph, variant, place, &mut account)?;
        stopwatch.charge(Work::Rewrite);
        self.supervisor.reached(place, WorkStage::Verifying);
        let mut types = account.pays(&mut self.types);
        let verified = verify_rewrite(&functional.graph, &graph, OpTable::insert(), &mut types);
        pay(self, &account)?;
        let summary = verified.map_err(|error| refused_graph(&error, &graph, variant))?;
        let constants = said_of_constants(constant_nodes(&graph, &functional.graph).len());
        let notes = constants.into_iter().chain(remarks(&graph, &functional.graph, &self.device)).collect();
        self.allow(&functional.graph, &graph, variant)?;
        stopwatch.charge(Work::Verify);
        if let Some(ahead) = self.ahead.as_mut().filter(|_| !summary.pass_miss) {
            ahead.compile(&mut self.types, &graph, self.supervisor.config.settings.tune);
            stopwatch.charge(Work::CompileAhead);
        }
        variant.spent_us.join(&stopwatch.stop());
        if let Some(rewrite) = &mut variant.rewrite {
            rewrite.kernels = graph.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Kernel { .. })).count();
            rewrite.pass_miss = summary.pass_miss;
        }
        Ok(Verified { graph, summary, notes })
    }

    /// Holds a verified rewrite against the policy.
    fn allow(&self, original: &Graph, rewritten: &Graph, variant: &mut Variant) -> Result<(), Refused> {
        let policy = &self.supervisor.config.policy;
        if policy.rules().inserted == Inserted::Listed {
            return Ok(());
        }
        check_own_calls(original, rewritten).map_err(|error| {
            variant.excerpt = excerpt(&error, rewritten);
            let message = format!("the policy `{}` does not allow this: {error}", policy.name());
            let hint = "docs/policies.md says what it allows; `passhost show --after` prints the graph";
            Refused { class: FailureClass::Compile, failure: failure(Blame::Plugin, "policy", message, hint) }
        })
    }

    /// Notes what is worth knowing of a rewrite, once.
    fn note_of(&self, end: &Result<Verified, Refused>, variant: &mut Variant, place: &VariantPlace) {
        if let Ok(Verified { notes, .. }) = end {
            let new: Vec<String> = notes.iter().filter(|note| !variant.notes.contains(note)).cloned().collect();
            self.notes(variant, place, new);
        }
    }

    pub(crate) fn notes(&self, variant: &mut Variant, place: &VariantPlace, notes: impl IntoIterator<Item = String>) {
        for note in notes {
            self.supervisor.tell(&Event::Note { place: place.clone(), text: one_line(&note, 600) });
            variant.notes.push(note);
        }
    }
}

/// What the author of inserted kernels should look at.
fn remarks(rewritten: &Graph, original: &Graph, device: &DeviceFacts) -> Vec<String> {
    let known: HashSet<NodeId> = original.nodes.iter().map(|node| node.id).collect();
    let mut found = vec![];
    for node in rewritten.nodes.iter().filter(|node| !known.contains(&node.id)) {
        let NodeKind::Kernel { kernel, .. } = &node.kind else { continue };
        let Ok(facts) = kernel::verify(kernel) else { continue };
        let remarks = kernel::remarks(kernel, &facts, device);
        found.extend(remarks.into_iter().map(|remark| format!("kernel {}: {remark}", node.id)));
        if found.len() >= REMARKS {
            break;
        }
    }
    found.truncate(REMARKS);
    found
}

/// Refuses a program of views: there is nothing that a pass could make faster.
fn must_calculate(program: &Graph) -> Result<(), Failure> {
    if !returns_views_alone(program, OpTable::sample()) {
        return Ok(());
    }
    let hint = "leave this graph out, or record one that calculates something";
    Err(failure(Blame::Sample, "sample", Unscorable::ViewsAlone, hint))
}

/// What a result says of inserted nodes that no input reaches.
fn said_of_constants(count: usize) -> Option<String> {
    let (nodes, depend) = if count == 1 { ("node", "depends") } else { ("nodes", "depend") };
    let text = format!("{count} inserted {nodes} {depend} on no input: calculated once, before anything is timed");
    (count > 0).then_some(text)
}
