//! Hidden shapes: the pass on sizes of a graph that it cannot know of. They are chosen after the rewrite of the recorded
//! graph is hashed, checked like any variant, and run for correctness alone.
//!
//! Wrong or refused there is the plugin's, and counts in AS strict. A graph that a pass leaves as it is is right; sizes
//! that the sample does not allow, or that its own program is of no use in, are the sample's and no finding.

mod run;
mod sizes;

pub(crate) use run::run;

use crate::account::Account;
use crate::check::{Checker, Refused, Verified};
use crate::event::VariantPlace;
use crate::reference::secret;
use crate::sample::Sample;
use passhost_ir::Graph;
use passhost_protocol::reader::{self, Change};
use passhost_result::Symbols;
use passhost_result::document::{Blame, Failure, HiddenShape, described};
use passhost_result::untrusted::one_line;
use passhost_result::verdict::empty;

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
    pub read: reader::Variant,
    pub end: Result<Verified, Refused>,
}

/// Chooses as many sizes of variant `index` as the policy asks for, and checks the pass on them.
///
/// # Errors
///
/// If no seed can be had.
pub(crate) fn check(
    checker: &mut Checker<'_>,
    sample: &mut Sample,
    index: usize,
    original: &Graph,
    place: &VariantPlace,
) -> Result<Hidden, Box<Failure>> {
    let wanted = checker.supervisor.config.policy.rules().hidden_shapes as usize;
    if wanted == 0 {
        return Ok(Hidden::default());
    }
    let seed = match checker.recorded(index).hidden {
        Some(seed) => seed,
        None => secret(&checker.supervisor.config)?,
    };
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
        match choose(checker, sample, index, original, place, sizes, &mut account) {
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
    let symbols = sample.symbols(&mut account.pays(&mut checker.types), limit).map_err(|error| error.to_string())?;
    let own = symbols.get(index).filter(|own| !own.is_empty());
    let own = own.ok_or("the graph has neither symbols nor arguments with an extent above 1")?;
    Ok(sizes::draw(own, &symbols, seed))
}

/// The graph in these sizes with what the pass makes of it, or why the sample does not have them.
fn choose(
    checker: &mut Checker<'_>,
    sample: &mut Sample,
    index: usize,
    original: &Graph,
    place: &VariantPlace,
    sizes: Symbols,
    account: &mut Account,
) -> Result<Chosen, String> {
    let (inputs, limit) = (checker.supervisor.config.inputs, checker.supervisor.reading_limit());
    let change = Change { symbols: sizes, dtype: None };
    let read = sample.read_changed(index, &change, inputs, &mut account.pays(&mut checker.types), limit);
    if let Some(trouble) = checker.types.take_trouble() {
        return Err(trouble.to_string());
    }
    let said = |reason: String| format!("{}: {reason}", described(&change.symbols));
    let mut read = read.map_err(|error| said(error.to_string()))?.map_err(said)?;
    let (bytes, limit) = (bytes(&read.program), bytes(original).saturating_mul(2).max(BYTES));
    if bytes > limit {
        return Err(said(format!("its tensors have {bytes} bytes; at most {limit} are tried")));
    }
    // What a document says of a variant goes nowhere: the record of a hidden size says what counts.
    let mut scratch = empty(&place.variant);
    checker.leave_out_fixed(&mut read, &mut scratch, place).map_err(|failure| said(failure.message))?;
    let end = checker.check_program(&read.program, &mut scratch, place);
    if let Err(Refused { failure: Failure { blame: Blame::Sample, message, .. }, .. }) = &end {
        return Err(said(message.clone()));
    }
    let rewrite_sha256 = scratch.rewrite.map(|rewrite| rewrite.sha256);
    let record = HiddenShape { sizes: change.symbols, rewrite_sha256, ..HiddenShape::default() };
    Ok(Chosen { record, read, end })
}

/// Of all values of a graph.
fn bytes(graph: &Graph) -> u64 {
    graph.values.iter().fold(0, |sum, value| sum.saturating_add(value.ty.bytes()))
}
