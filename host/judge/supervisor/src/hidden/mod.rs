//! Hidden shapes: the pass on sizes of a graph that it cannot know of. They are chosen after the rewrite of the recorded
//! graph is hashed, checked like any variant, and run for correctness alone.
//!
//! Wrong or refused there is the plugin's, and counts in AS strict. A graph that a pass leaves as it is is right; sizes
//! that the sample does not allow, or that its own program is of no use in, are the sample's and no finding.

mod run;
mod sizes;

pub(crate) use run::run;

use crate::account::Account;
use crate::checker::Checker;
use crate::sample::Sample;
use crate::stages::{Read, Trail, Verified, secret};
use passhost_child::LoadedPlugin;
use passhost_ir::Graph;
use passhost_protocol::reader::Change;
use passhost_result::Symbols;
use passhost_result::document::{Blame, Failure, HiddenShape, described};
use passhost_result::untrusted::one_line;

/// Bytes of tensors that any graph may have in another size; one with more may have twice as many.
const BYTES: u64 = 16 << 20;

/// What was chosen for one variant.
#[derive(Default)]
pub(crate) struct Hidden {
    /// Of the sizes; none where no sizes are asked for.
    pub seed: Option<u64>,
    pub shapes: Vec<Chosen>,
    /// Why there are fewer than the policy asks for.
    pub note: Option<String>,
}

/// A graph in other sizes, and what the pass made of it.
pub(crate) struct Chosen {
    pub record: HiddenShape,
    pub end: Result<Verified, Failure>,
}

/// Chooses as many sizes of variant `index` as the policy asks for, by this seed if it is given, and checks the pass on them.
///
/// # Errors
///
/// If no seed can be had.
pub(crate) fn check<'s>(
    checker: &mut Checker<'s>,
    plugin: &mut LoadedPlugin,
    sample: &mut Sample,
    index: usize,
    trail: &Trail<'s>,
    original: &Graph,
    seed: Option<u64>,
) -> Result<Hidden, Failure> {
    let wanted = checker.supervisor.config.policy.rules().hidden_shapes as usize;
    if wanted == 0 {
        return Ok(Hidden::default());
    }
    let seed = seed.map_or_else(|| secret(&checker.supervisor.config), Ok)?;
    let mut hidden = Hidden { seed: Some(seed), ..Hidden::default() };
    let mut account = Account::new(checker.supervisor.reading_limit());
    let candidates = match candidates(checker, sample, index, seed, &mut account) {
        Ok(candidates) => candidates,
        Err(reason) => {
            hidden.note = Some(format!("no hidden size was tried: {reason}"));
            return Ok(hidden);
        }
    };
    let mut refusal = None;
    for sizes in candidates {
        if hidden.shapes.len() == wanted {
            break;
        }
        let change = Change { symbols: sizes, dtype: None };
        let read = read(checker, sample, index, &change, original, &mut account);
        match read.and_then(|read| choose(checker, plugin, read, trail.aside(), change.symbols)) {
            Ok(chosen) => hidden.shapes.push(chosen),
            Err(reason) => refusal = Some(reason),
        }
    }
    if hidden.shapes.len() < wanted {
        let (tried, reason) = (hidden.shapes.len(), refusal.unwrap_or_else(|| "no other sizes are close".into()));
        hidden.note = Some(format!("{tried} of {wanted} hidden sizes were tried: {}", one_line(&reason, 300)));
    }
    Ok(hidden)
}

/// The sizes to try, or why there are none.
fn candidates(
    checker: &mut Checker<'_>,
    sample: &mut Sample,
    index: usize,
    seed: u64,
    account: &mut Account,
) -> Result<Vec<Symbols>, String> {
    let limit = checker.supervisor.reading_limit();
    let mut infer = account.pays(&mut checker.types);
    let symbols = sample.symbols(&mut infer, limit);
    if let Some(trouble) = infer.end() {
        return Err(trouble.to_string());
    }
    let symbols = symbols.map_err(|error| error.to_string())?;
    let own = symbols.get(index).filter(|own| !own.is_empty());
    let own = own.ok_or("the graph has neither symbols nor arguments with an extent above 1")?;
    Ok(sizes::draw(own, &symbols, seed))
}

/// The graph in these sizes, or why the sample does not have them.
fn read(
    checker: &mut Checker<'_>,
    sample: &mut Sample,
    index: usize,
    change: &Change,
    original: &Graph,
    account: &mut Account,
) -> Result<Read, String> {
    let (inputs, limit) = (checker.supervisor.config.inputs, checker.supervisor.reading_limit());
    let mut infer = account.pays(&mut checker.types);
    let read = sample.read_changed(index, change, inputs, &mut infer, limit);
    if let Some(trouble) = infer.end() {
        return Err(trouble.to_string());
    }
    let said = |reason: String| format!("{}: {reason}", described(&change.symbols));
    let read = read.map_err(|error| said(error.to_string()))?.map_err(said)?;
    let (bytes, limit) = (bytes(&read.program), bytes(original).saturating_mul(2).max(BYTES));
    if bytes > limit {
        return Err(said(format!("its tensors have {bytes} bytes; at most {limit} are tried")));
    }
    Ok(Read::changed(read))
}

/// What the pass makes of the graph in these sizes, or why the sample is of no use in them. What a trail says goes nowhere:
/// the record of a hidden size says what counts.
fn choose<'s>(
    checker: &mut Checker<'s>,
    plugin: &mut LoadedPlugin,
    read: Read,
    mut trail: Trail<'s>,
    sizes: Symbols,
) -> Result<Chosen, String> {
    let typed = read.typed(&mut trail);
    let verified = typed.and_then(|typed| checker.verified(plugin, typed, &mut trail));
    let (rewrite, end) = match verified {
        Ok(verified) => (Some(verified.rewrite.clone()), Ok(verified)),
        Err(stopped) if stopped.failure.blame == Blame::Sample => {
            return Err(format!("{}: {}", described(&sizes), stopped.failure.message));
        }
        Err(stopped) => (stopped.said.rewrite, Err(stopped.failure)),
    };
    let rewrite_sha256 = rewrite.map(|rewrite| rewrite.sha256);
    Ok(Chosen { record: HiddenShape { sizes, rewrite_sha256, ..HiddenShape::default() }, end })
}

/// Of all values of a graph.
fn bytes(graph: &Graph) -> u64 {
    graph.values.iter().fold(0, |sum, value| sum.saturating_add(value.ty.bytes()))
}
