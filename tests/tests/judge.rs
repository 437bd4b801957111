//! The example of `host/judge/supervisor` runs: a plugin is judged without the command, while another is checked. The other one
//! takes long, and knows what grew.

use passhost_child::Plugin;
use passhost_child::device::{Device, DeviceSetup, LoadRequest};
use passhost_ir::{Draw, Graph, InputSpec};
use passhost_protocol::device::DeviceChoice;
use passhost_result::Settings;
use passhost_supervisor::batch::{
    BatchEvent, BatchLine, BatchWork, Checking, Finished, Header, PluginEntry, SampleEntry,
};
use passhost_supervisor::{Config, Supervisor};
use passhost_tests::{SMALL, plugin, sample_with};
use std::convert::Infallible;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[path = "../../host/judge/supervisor/examples/judge.rs"]
#[allow(dead_code, reason = "its `main` is for the command line")]
mod example;

#[path = "../../host/judge/supervisor/examples/soak.rs"]
#[allow(dead_code, reason = "its `main` is for the command line")]
mod soak;

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
        assert!(variant.passes_at.is_some_and(|t| t <= -5) && variant.timing.is_some(), "{variant:?}");
        assert!(variant.seed.is_some(), "{variant:?}");
    }
    assert_eq!(refusals.len(), 3);
    for refusal in refusals {
        assert!(refusal.as_ref().is_some_and(|message| message.contains("output")), "{refusal:?}");
    }
}

#[test]
fn samples_that_are_checked_beside_a_measurement_have_the_same_verdicts_in_the_same_order() {
    let names = ["se-gate-add-relu", "single-gelu", "pointwise-chain"];
    let samples = names.map(|name| sample_with(name, SMALL));
    let settings = Settings { budget_ms: 5, accept_noise: true, ..Settings::default() };
    let supervisor = Supervisor::new(Config { settings, ..Config::default() });
    let plugin = Plugin::read(&plugin("fuse-pointwise"), supervisor.config().limits.wasm);
    // One thread leaves a core to check on, where there are two.
    let device = Device::open(DeviceSetup::new(DeviceChoice::Cpu, Some(1)));
    assert!(plugin.is_ok() && device.is_ok(), "{:?} {:?}", plugin.err(), device.err());
    let (Ok(plugin), Ok(mut device)) = (plugin, device) else { return };
    let mut header = Header::new(supervisor.config());
    header.devices = vec![device.info().clone()];
    let (path, sha256) = (plugin.path.clone(), plugin.sha256.clone());
    header.plugins = vec![PluginEntry { path, sha256, info: None, failure: None, baseline: None }];
    let entry = |path: String| SampleEntry { path, groups: vec![], place: None };
    header.samples = samples.iter().map(|folder| entry(folder.path().display().to_string())).collect();
    // What does not depend on time: of each variant which it is, and what the pass made of it.
    let mut evaluate = |checking: Checking| {
        let (finished, stop) = (Finished::default(), AtomicBool::new(false));
        let work = BatchWork {
            header: &header,
            plugins: std::slice::from_ref(&plugin),
            finished: &finished,
            checking,
            stop: &stop,
        };
        let mut found = vec![];
        let hear = |event| {
            if let BatchEvent::Line { sample, line: BatchLine::Variant(line) } = event {
                let variant = line.variant;
                assert!(!variant.outputs.is_empty(), "{variant:?}");
                let rewrite = variant.rewrite.map(|rewrite| rewrite.sha256);
                found.push((sample, variant.name, variant.class, rewrite));
            }
            Ok::<(), Infallible>(())
        };
        assert!(supervisor.bench(&work, std::slice::from_mut(&mut device), hear).is_ok());
        found
    };
    let between = evaluate(Checking::Between);
    assert_eq!(between.len(), 3 * names.len(), "{between:?}");
    assert_eq!(evaluate(Checking::Beside(2)), between);
}

#[test]
fn a_program_that_a_child_holds_or_loaded_ahead_is_not_run_again() {
    const LIMIT: Duration = Duration::from_secs(60);
    let program =
        |op: &str| Graph::parse(&format!("graph(%x: f32[8]) {{\n%y: f32[8] = aten::{op}(%x)\nreturn (%y)\n}}"));
    let (relu, exp) = (program("relu"), program("exp"));
    assert!(relu.is_ok() && exp.is_ok(), "{relu:?} {exp:?}");
    let (Ok(relu), Ok(exp)) = (relu, exp) else { return };
    let draw = Draw::Normal { mean: 0.0, std: 1.0 };
    let inputs = [InputSpec { name: "x".into(), ty: relu.ty(relu.inputs[0]).clone(), draw, min: None, max: None }];
    let device = Device::open(DeviceSetup::new(DeviceChoice::Cpu, Some(1)));
    assert!(device.is_ok(), "{:?}", device.err());
    let Ok(mut device) = device else { return };
    let request = |program| LoadRequest { program, inputs: &inputs, seed: 1 };
    // How many stages the child reached.
    let load = |device: &mut Device, process: usize, program| {
        let mut stages = 0;
        let loaded = device.session().load(process, request(program), LIMIT, &mut |_| stages += 1);
        assert!(matches!(loaded, Ok(Ok(_))), "{loaded:?}");
        stages
    };
    assert_eq!([&relu, &relu, &exp, &relu].map(|program| load(&mut device, 0, program)), [1, 0, 1, 1]);
    assert_eq!(load(&mut device, 1, &relu), 1);
    device.session().begin_loads(request(&exp));
    assert_eq!(load(&mut device, 1, &exp), 0, "it was loaded ahead");
    device.session().begin_loads(request(&relu));
    device.session().finish_loads(LIMIT);
    assert_eq!([&relu, &exp].map(|program| load(&mut device, 1, program)), [0, 1]);
}

#[test]
fn a_soak_says_what_grew() {
    use soak::Held;
    let now = Held::now();
    assert!(now.memory > 1 << 20 && now.files > 2 && !now.processes.is_empty(), "{now:?}");
    let early = Held {
        processes: [("passhost-device".to_owned(), 3)].into(),
        memory: 500 << 20,
        files: 40,
        gpu_mebibytes: 2000,
    };
    assert_eq!(early.growth(&early), Vec::<String>::new());
    let slightly = Held { memory: 520 << 20, gpu_mebibytes: 2050, files: 39, ..early.clone() };
    assert_eq!(slightly.growth(&early), Vec::<String>::new());
    let stray = Held {
        processes: [("passhost-device".to_owned(), 3), ("passhost-guest".to_owned(), 1)].into(),
        memory: 700 << 20,
        files: 41,
        gpu_mebibytes: 4000,
    };
    assert_eq!(stray.growth(&early).len(), 4);
}
