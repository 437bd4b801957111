//! Plugin files: components that a tool draws, and real plugins with something changed. They are put to the static
//! checks in this process, and to the compiler and the runtime where every plugin is, in a guest child.

mod anatomy;
mod bytes;
mod drawn;
mod run;

pub(crate) use bytes::changed;
pub use run::{Compile, Run, Validate};

use crate::random::Random;
use anatomy::Plugin;
use std::path::PathBuf;

/// Plugins that cases are made from: those of the repository, the smallest first.
const PLUGINS: [&str; 6] =
    ["noop", "adversarial_guest", "autofuse", "masked_mean_pool", "fuse_norms", "fuse_pointwise"];

/// Draws plugin files.
pub(crate) struct Source {
    plugins: Vec<Plugin>,
}

impl Source {
    /// Reads the plugins.
    ///
    /// # Errors
    ///
    /// If one was not built.
    pub(crate) fn new() -> Result<Source, String> {
        let read = |name: &&str| {
            let path = directory().join(format!("{name}.wasm"));
            let wasm = std::fs::read(&path).map_err(|error| {
                format!(
                    "cannot read {}: {error}; run `make plugins hostile-plugins`, or set PASSHOST_PLUGINS",
                    path.display()
                )
            })?;
            Plugin::new(wasm).map_err(|error| format!("{}: {error}", path.display()))
        };
        Ok(Source { plugins: PLUGINS.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// A plugin, mostly the smallest: a case takes as long as its plugin is large.
    fn plugin(&self, random: &mut Random) -> &Plugin {
        if random.chance(80) { &self.plugins[0] } else { random.pick(&self.plugins) }
    }

    /// Any bytes that somebody may give as a plugin.
    pub(crate) fn any(&self, random: &mut Random) -> Vec<u8> {
        match random.below(10) {
            0 | 1 => drawn::component(random),
            2 => drawn::module(random),
            3 | 4 => bytes::changed(self.plugin(random).wasm.clone(), random),
            5 => self.plugin(random).with_other_sections(random),
            6 => self.plugin(random).with_other_names(random),
            _ => self.valid(random),
        }
    }

    /// A component that mostly passes the static checks: a plugin that does something else.
    pub(crate) fn valid(&self, random: &mut Random) -> Vec<u8> {
        let plugin = self.plugin(random);
        match random.below(5) {
            0 => plugin.with_module(&drawn::core_module(random), true),
            1 => plugin.with_other_data(random),
            2 => plugin.with_other_encodings(random),
            _ => plugin.with_other_code(random),
        }
    }
}

/// Where plugins lie: where the tests are told, or below the directory of this program's build.
fn directory() -> PathBuf {
    std::env::var_os("PASSHOST_PLUGINS").map_or_else(
        || {
            let program = std::env::current_exe().unwrap_or_default();
            program.parent().map(|programs| programs.join("../wasm32-wasip2/plugin")).unwrap_or_default()
        },
        PathBuf::from,
    )
}
