//! What was found against what must be.

use crate::{Expectation, Found};
use passhost_result::document::{Document, Failure, HiddenShapes, Variant};
use passhost_score::{Options, score};

/// Kinds of findings, and words that each of them alone has in the document.
const FINDINGS: [(&str, &str); 7] = [
    ("input changed", "was changed by the rewrite"),
    ("guard zone", "guard zones around allocations"),
    ("unwritten", "that were never written"),
    ("insensitive", "redrawn at 8 times its scale"),
    ("precision", "against a double precision run"),
    ("timed run differs", "a timed run gave a different output"),
    ("below floor", "is below the floor"),
];

/// The kinds of what was found in any variant.
pub fn kinds(document: &Document) -> Vec<&'static str> {
    let found = |words: &str| document.variants.iter().flat_map(|variant| &variant.findings).any(|f| f.contains(words));
    let domain = document.variants.iter().any(|variant| !variant.edge_cases.is_empty());
    let kinds = FINDINGS.into_iter().filter(|(_, words)| found(words)).map(|(kind, _)| kind);
    let hidden = document.variants.iter().filter_map(|variant| variant.hidden.as_ref());
    let hidden = hidden.flat_map(HiddenShapes::findings).next().is_some();
    kinds.chain(domain.then_some("domain")).chain(hidden.then_some("hidden shape")).collect()
}

/// The variant that stands for the document: the first that failed, else the first that is wrong on unusual inputs, else
/// the first.
fn worst(document: &Document) -> Option<&Variant> {
    let variants = || document.variants.iter();
    let failed = variants().find(|variant| variant.class.is_some());
    failed.or_else(|| variants().find(|variant| !variant.edge_cases.is_empty())).or(document.variants.first())
}

/// The verdict in one word, as expectations have it.
pub fn of(found: &Found) -> String {
    match (&found.document, &found.trouble) {
        (_, Some(_)) => "trouble".into(),
        (None, None) => "unusable".into(),
        (Some(document), None) => match worst(document) {
            Some(Variant { class: Some(class), .. }) => class.to_string(),
            _ if document.failure.is_some() => "reference".into(),
            Some(variant) if !variant.edge_cases.is_empty() => "domain".into(),
            _ => "right".into(),
        },
    }
}

/// Whether a case ended as it must.
///
/// # Errors
///
/// In words, what was expected and what was found.
pub fn check(expect: &Expectation, found: &Found) -> Result<(), String> {
    let verdict = of(found);
    if verdict != expect.verdict {
        return Err(format!("expected the verdict `{}`, found `{verdict}`", expect.verdict));
    }
    let message = message(found);
    if let Some(words) = expect.says.as_ref().filter(|words| !message.contains(words.as_str())) {
        return Err(format!("expected `{words}` in the message, found `{message}`"));
    }
    if let Some(first) = found.false_findings.first() {
        return Err(format!("{} false findings of an honest pass, the first: {first}", found.false_findings.len()));
    }
    let Some(document) = &found.document else { return Ok(()) };
    if let Some(kind) = expect.finding.as_deref().filter(|kind| !kinds(document).contains(kind)) {
        return Err(format!("expected a finding `{kind}`, found {:?}", kinds(document)));
    }
    if expect.finding.is_none() && !kinds(document).is_empty() {
        return Err(format!("expected no finding, found {:?}", kinds(document)));
    }
    let blame = failure(document).map(|failure| failure.blame.to_string());
    if blame != expect.blame {
        return Err(format!("expected the blame to be {:?}, found {blame:?}", expect.blame));
    }
    gains_nothing(document)
}

/// What is wrong scores b in AS strict, however fast it is.
fn gains_nothing(document: &Document) -> Result<(), String> {
    if document.outcomes.len() != document.variants.len() {
        return Ok(());
    }
    let options = Options::default();
    for (variant, outcome) in document.variants.iter().zip(&document.outcomes).filter(|(one, _)| is_wrong(one)) {
        let strict = score(&[*outcome], &options).map_or(f64::NAN, |scores| scores.aggregate_score_strict);
        if (strict - options.b).abs() > 1e-9 {
            return Err(format!("{} is wrong, and its AS strict is {strict:.3}", variant.name));
        }
    }
    Ok(())
}

fn is_wrong(variant: &Variant) -> bool {
    variant.class.is_some() || !variant.edge_cases.is_empty()
}

/// The failure that stands for the document.
pub fn failure(document: &Document) -> Option<&Failure> {
    worst(document).and_then(|variant| variant.failure.as_ref()).or(document.failure.as_ref())
}

/// What is said of the failure.
pub fn message(found: &Found) -> String {
    let failure = found.document.as_ref().and_then(|document| failure(document));
    let other = found.trouble.as_ref().or(found.refusal.as_ref());
    failure.map(|failure| failure.message.clone()).or_else(|| other.cloned()).unwrap_or_default()
}
