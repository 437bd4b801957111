//! Judges a plugin on a sample without the command, while a second plugin is checked.
//!
//! `cargo run -p passhost-supervisor --example judge -- PLUGIN OTHER_PLUGIN SAMPLE`

use passhost_child::device::{Device, DeviceSetup};
use passhost_child::{Confinement, Plugin};
use passhost_protocol::device::DeviceChoice;
use passhost_result::Settings;
use passhost_result::document::Document;
use passhost_supervisor::{Config, Sample, Supervisor};
use std::error::Error;
use std::path::Path;

/// What is known of the two plugins.
#[derive(Debug)]
pub struct Judged {
    /// The result of the first.
    pub document: Document,
    /// For each variant why nothing of the second could be measured, if that is so.
    pub refusals: Vec<Option<String>>,
}

/// Judges `plugin` on a sample while `other` is checked.
pub fn judge(plugin: &Path, other: &Path, sample: &Path) -> Result<Judged, Box<dyn Error>> {
    // The other plugin is checked on the cores that time this one.
    let settings = Settings { budget_ms: 50, accept_noise: true, ..Settings::default() };
    let supervisor = Supervisor::new(Config { settings, ..Config::default() });
    let limit = supervisor.config().limits.wasm;
    let (plugin, other) = (Plugin::read(plugin, limit)?, Plugin::read(other, limit)?);
    let (measured, mut checked) =
        (Sample::open(sample, Confinement::default())?, Sample::open(sample, Confinement::default())?);
    let mut device = Device::open(DeviceSetup::new(DeviceChoice::Cpu, None))?;
    let facts = device.info().facts;
    std::thread::scope(|scope| {
        let check = scope.spawn(|| {
            let (mut checker, mut other) = (supervisor.checker(facts), supervisor.load(other));
            let variants = 0..checked.variants().len();
            let refusal = |index| {
                let checked = checker.check(&mut other, &mut checked, index);
                checked.failure().map(|failure| failure.message.clone())
            };
            variants.map(refusal).collect::<Vec<_>>()
        });
        let (mut checker, mut plugin) = (supervisor.checker(facts), supervisor.load(plugin));
        let document = supervisor.evaluate(&mut checker, &mut plugin, measured, &mut device);
        let refusals = check.join().map_err(|_| Box::<dyn Error>::from("the check panicked"))?;
        Ok(Judged { document, refusals })
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [plugin, other, sample] = arguments.as_slice() else { return Err("give two plugins and a sample".into()) };
    let Judged { document, refusals } = judge(plugin.as_ref(), other.as_ref(), sample.as_ref())?;
    let score = document.scores.map(|scores| scores.aggregate_score);
    println!("{}: AS {score:?}", document.job.plugin);
    for (index, refusal) in refusals.into_iter().enumerate() {
        println!("the other plugin on variant {index}: {}", refusal.unwrap_or_else(|| "may run".into()));
    }
    Ok(())
}
