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
use crate::stages::{Trail, TypedVariant, VerifiedRewrite, secret};
use passhost_child::LoadedPlugin;
use passhost_ir::Graph;
use passhost_protocol::reader::VariantChange;
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
    pub shapes: Vec<HiddenSize>,
    /// Why there are fewer than the policy asks for.
    pub note: Option<String>,
}

/// A graph in other sizes, and what the pass made of it.
pub(crate) struct HiddenSize {
    pub record: HiddenShape,
    pub end: Result<VerifiedRewrite, Failure>,
}

/// The search for other sizes of one variant.
pub(crate) struct HiddenSearch<'a, 's> {
    pub checker: &'a mut Checker<'s>,
    pub plugin: &'a mut LoadedPlugin,
    pub sample: &'a mut Sample,
    /// Of the variant.
    pub index: usize,
    pub trail: &'a Trail<'s>,
    pub original: &'a Graph,
}

impl HiddenSearch<'_, '_> {
    /// Chooses as many sizes as the policy asks for, by this seed if it is given, and checks the pass on them.
    ///
    /// # Errors
    ///
    /// If no seed can be had.
    pub fn run(mut self, seed: Option<u64>) -> Result<Hidden, Failure> {
        let config = &self.checker.supervisor.config;
        let wanted = config.policy.rules().hidden_shapes as usize;
        if wanted == 0 {
            return Ok(Hidden::default());
        }
        let seed = seed.map_or_else(|| secret(config), Ok)?;
        let mut hidden = Hidden { seed: Some(seed), ..Hidden::default() };
        let mut account = Account::new(self.checker.supervisor.reading_limit());
        let candidates = match self.candidates(seed, &mut account) {
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
            match self.choose(sizes, &mut account) {
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
    fn candidates(&mut self, seed: u64, account: &mut Account) -> Result<Vec<Symbols>, String> {
        let limit = self.checker.supervisor.reading_limit();
        let mut infer = account.pays(&mut self.checker.types);
        let symbols = self.sample.symbols(&mut infer, limit);
        let symbols = infer.end().map_or(Ok(symbols), |trouble| Err(trouble.to_string()))?;
        let symbols = symbols.map_err(|error| error.to_string())?;
        let own = symbols.get(self.index).filter(|own| !own.is_empty());
        let own = own.ok_or("the graph has neither symbols nor arguments with an extent above 1")?;
        Ok(sizes::draw(own, &symbols, seed))
    }

    /// The graph in these sizes with what the pass makes of it, or why the sample does not have them.
    fn choose(&mut self, sizes: Symbols, account: &mut Account) -> Result<HiddenSize, String> {
        let HiddenSearch { checker, sample, .. } = self;
        let (inputs, limit) = (checker.supervisor.config.inputs, checker.supervisor.reading_limit());
        let change = VariantChange { symbols: sizes, dtype: None };
        let mut infer = account.pays(&mut checker.types);
        let read = sample.read_changed(self.index, &change, inputs, &mut infer, limit);
        let read = infer.end().map_or(Ok(read), |trouble| Err(trouble.to_string()))?;
        let said = |reason: String| format!("{}: {reason}", described(&change.symbols));
        let read = read.map_err(|error| said(error.to_string()))?.map_err(said)?;
        let (bytes, limit) = (bytes(&read.program), bytes(self.original).saturating_mul(2).max(BYTES));
        if bytes > limit {
            return Err(said(format!("its tensors have {bytes} bytes; at most {limit} are tried")));
        }
        // What a trail says goes nowhere: the record of a hidden size says what counts.
        let mut trail = self.trail.aside();
        let typed = TypedVariant::new(read, &mut trail);
        let end = match typed.and_then(|typed| checker.verified(self.plugin, typed, &mut trail)) {
            Err(stopped) if stopped.failure.blame == Blame::Sample => return Err(said(stopped.failure.message)),
            end => end.map_err(|stopped| stopped.failure),
        };
        let rewrite_sha256 = trail.entry.rewrite.map(|rewrite| rewrite.sha256);
        let record = HiddenShape { sizes: change.symbols, rewrite_sha256, ..HiddenShape::default() };
        Ok(HiddenSize { record, end })
    }
}

/// Of all values of a graph.
fn bytes(graph: &Graph) -> u64 {
    graph.values.iter().fold(0, |sum, value| sum.saturating_add(value.ty.bytes()))
}
