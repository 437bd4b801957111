//! Sources in place of plugins: where the SDK is, and what a source becomes.

mod op_names;

use crate::exit::{Exit, OrStop, Stop};
use crate::meant;
use crate::terminal::Terminal;
use passhost_builder::{
    BuildError, BuildLimits, Built, Confinement, Diagnostic, PassSource, Sdk, SourceError, SourceRefusal,
};
use passhost_child::{LoadedPlugin, Plugin, beside_this_executable};
use passhost_result::document::{Blame, Failure};
use passhost_supervisor::Supervisor;
use std::path::{Path, PathBuf};

/// Names the directory of a compiled SDK in place of the installation's.
const VARIABLE: &str = "PASSHOST_SDK";
/// Where the source of the SDK lies in an installation, from the directory above that of this program.
const INSTALLED_SOURCE: &str = "share/passhost/source";

/// Where the compiled SDK is, or goes.
pub fn sdk_directory() -> PathBuf {
    std::env::var_os(VARIABLE).map_or_else(Sdk::installed, PathBuf::from)
}

/// The source of the SDK: that of the installation, or of the clone around this program or the current directory.
pub fn sdk_source() -> Result<PathBuf, Stop> {
    let program = beside_this_executable("passhost");
    let prefix = program.parent().and_then(Path::parent).map(|prefix| prefix.join(INSTALLED_SOURCE));
    let here = std::env::current_dir().unwrap_or_default();
    let clones = program.ancestors().chain(here.ancestors()).map(Path::to_path_buf);
    let found = prefix.into_iter().chain(clones).find(|place| place.join("guest-sdk/Cargo.toml").is_file());
    found.ok_or_else(|| {
        Stop::usage("no source of the SDK beside this program; name a clone of passhost by --source DIR")
    })
}

/// A source that cannot be read, as it stands in documents.
pub fn unread(error: &SourceError) -> Failure {
    let hint = "THREAT_MODEL.md says what a source may be made of".to_owned();
    Failure { blame: Blame::Plugin, stage: "source".to_owned(), message: error.to_string(), hint }
}

/// The end of a command whose source cannot be read.
pub fn stop(error: SourceError) -> Stop {
    let exit = if error.is_authors() { Exit::Plugin } else { Exit::Usage };
    Stop { exit, error: anyhow::Error::new(error).context("plugin (source)") }
}

/// Compiles a source. What is wrong with it is a value, names of ops that no graph has included; no SDK, no confinement
/// and the like stop the command.
pub fn compile(
    source: &PassSource,
    limits: BuildLimits,
    confinement: Confinement,
) -> Result<Result<Built, SourceRefusal>, Stop> {
    let sdk = Sdk::open(&sdk_directory()).or_stop(Exit::Host)?;
    let unknown = op_names::unknown_ops(source);
    match passhost_builder::build(&sdk, source, limits, confinement) {
        Ok(mut built) => {
            built.warnings.splice(0..0, unknown);
            Ok(Ok(built))
        }
        Err(BuildError::Refused(mut refusal)) => {
            refusal.diagnostics.extend(unknown);
            Ok(Err(*refusal))
        }
        Err(error) => Err(Stop::new(Exit::Host, error)),
    }
}

/// What is read of a source or a component: of the directory of a crate, what is beside these is nobody's source.
pub fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.into()];
    }
    ["src", "Cargo.toml"].into_iter().map(|name| path.join(name)).filter(|path| path.exists()).collect()
}

/// What a user gave as a plugin.
pub enum GivenPlugin {
    /// A component, or a source that became one.
    Plugin(Plugin),
    /// A source that became none, with the hash of its text and nothing in it.
    Refused(Plugin, Failure),
}

impl GivenPlugin {
    /// Compiles a source. What is wrong with it, and what the compiler warns of, is said on standard error as well.
    fn compiled(path: &Path, terminal: &Terminal) -> Result<GivenPlugin, Stop> {
        let name = path.display().to_string();
        let source = match PassSource::read(path) {
            Ok(source) => source,
            // Of a text that nobody has read, what is wrong with it stands for it.
            Err(error) if error.is_authors() => {
                let nothing = Plugin { wasm: vec![], ..Plugin::new(name, error.to_string().into()) };
                return Ok(GivenPlugin::Refused(nothing, unread(&error)));
            }
            Err(error) => return Err(stop(error)),
        };
        Ok(match compile(&source, BuildLimits::default(), Confinement::Required)? {
            Ok(built) => {
                lines(&built.warnings, 0).iter().for_each(|line| terminal.complain(line));
                GivenPlugin::Plugin(Plugin::new(name, built.component))
            }
            Err(refusal) => {
                lines(&refusal.diagnostics, refusal.left_out).iter().for_each(|line| terminal.complain(line));
                GivenPlugin::Refused(Plugin { wasm: vec![], ..Plugin::new(name, source.text()) }, failure(&refusal))
            }
        })
    }

    /// Reads a component, or compiles a source, where a refusal is a result.
    pub fn read(path: &Path, limit: u64, terminal: &Terminal) -> Result<GivenPlugin, Stop> {
        meant::check_there([path], "")?;
        if PassSource::is_meant_by(path) {
            return GivenPlugin::compiled(path, terminal);
        }
        super::read_plugin(path, limit).map(GivenPlugin::Plugin)
    }

    /// Loads it in a child, if there is anything to load.
    pub fn load(self, supervisor: &Supervisor) -> LoadedPlugin {
        match self {
            GivenPlugin::Plugin(plugin) => supervisor.load(plugin),
            GivenPlugin::Refused(plugin, failure) => LoadedPlugin::refused(plugin, failure),
        }
    }
}

/// Reads a component, or compiles a source, where a refusal ends the command.
pub fn plugin(path: &Path, limit: u64, terminal: &Terminal) -> Result<Plugin, Stop> {
    meant::check_there([path], "")?;
    if !PassSource::is_meant_by(path) {
        return Plugin::read(path, limit).or_stop(Exit::Usage);
    }
    match GivenPlugin::compiled(path, terminal)? {
        GivenPlugin::Plugin(plugin) => Ok(plugin),
        GivenPlugin::Refused(plugin, failure) => {
            Err(Stop::plugin(format!("plugin ({}): {}: {}", failure.stage, plugin.path, failure.message)))
        }
    }
}

/// A refusal as it stands in documents.
pub fn failure(refusal: &SourceRefusal) -> Failure {
    let first = refusal.diagnostics.first().map(|first| match &first.place {
        Some(place) => format!(": {}:{}: {}", place.file, place.line, first.message),
        None => format!(": {}", first.message),
    });
    Failure {
        blame: Blame::Plugin,
        stage: "build".to_owned(),
        message: format!("{refusal}{}", first.unwrap_or_default()),
        hint: "`passhost build` shows all that the compiler says".to_owned(),
    }
}

/// Diagnostics as a terminal shows them.
pub fn lines(diagnostics: &[Diagnostic], left_out: usize) -> Vec<String> {
    let more = (left_out > 0).then(|| format!("... and {left_out} more"));
    diagnostics.iter().flat_map(Diagnostic::lines).chain(more).collect()
}
