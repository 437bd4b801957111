//! The example of `host/supervisor` runs: a plugin is judged without the command, while another is checked.

use passhost_tests::{SMALL, plugin, sample_with};

#[path = "../../host/supervisor/examples/judge.rs"]
#[allow(dead_code, reason = "its `main` is for the command line")]
mod example;

#[test]
fn a_plugin_is_judged_while_another_is_checked() {
    let sample = sample_with("se-gate-add-relu", SMALL);
    let judged = example::judge(&plugin("fuse-pointwise"), &plugin("drops_an_output"), sample.path());
    assert!(judged.is_ok(), "{judged:?}");
    let Ok(example::Judged { document, refusals }) = judged else { return };
    assert_eq!(document.job.plugin_info.map(|info| info.name).as_deref(), Some("fuse-pointwise"));
    assert!(document.scores.is_some_and(|scores| scores.aggregate_score > 0.0), "{:?}", document.failure);
    assert_eq!(document.variants.len(), 3);
    for variant in &document.variants {
        assert!(variant.right_from.is_some_and(|t| t <= -5) && variant.timing.is_some(), "{variant:?}");
        assert!(variant.seed.is_some(), "{variant:?}");
    }
    assert_eq!(refusals.len(), 3);
    for refusal in refusals {
        assert!(refusal.as_ref().is_some_and(|message| message.contains("output")), "{refusal:?}");
    }
}
