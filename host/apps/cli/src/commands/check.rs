//! `passhost check PLUGIN`

use crate::arguments::{ConfinementArguments, LimitArguments};
use crate::exit::{Exit, Stop};
use crate::meant;
use crate::output::print;
use crate::terminal::{Terminal, Tone};
use clap::Args;
use passhost_child::LoadedPlugin;
use passhost_result::untrusted::one_line;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The plugin: a WebAssembly component, its source (a .rs file or the directory of a crate), or the name of a reference pass
    #[arg(value_parser = meant::plugin_parser())]
    pub plugin: PathBuf,
    #[command(flatten)]
    pub confinement: ConfinementArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

pub fn run(arguments: &CheckArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let limits = arguments.limits.limits();
    let plugin = super::source::plugin(&arguments.plugin, limits.wasm, terminal)?;
    let size = plugin.wasm.len();
    let sha256 = plugin.sha256.clone();
    let cache = super::open_cache().ok();
    let mut loaded = LoadedPlugin::load(plugin, limits, cache.as_ref(), arguments.confinement.mode());
    let info = loaded.info().cloned();
    match loaded.guest() {
        Ok(guest) => {
            let how = if guest.from_cache { "loaded from the cache" } else { "checked and compiled" };
            let info = info.unwrap_or_default();
            print([
                format!("{}  {}", terminal.paint(Tone::Good, "ok"), arguments.plugin.display()),
                format!("name         {} {}", one_line(&info.name, 60), one_line(&info.version, 30)),
                format!("description  {}", one_line(&info.description, 120)),
                format!("size         {size} bytes, sha256 {sha256}"),
                format!("confinement  {}", guest.profile),
                format!("load         {how} in {:.1} ms", guest.load_us as f64 / 1e3),
            ]);
            Ok(Exit::Success)
        }
        Err(failure) => Err(Stop::of(failure, format!("{}: ", arguments.plugin.display()))),
    }
}
