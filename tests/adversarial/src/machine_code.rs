//! Machine code for all cases at the price of one compilation.
//!
//! The plugins of two cases differ in the text of their script and in nothing else, and so does the machine code that the
//! compiler makes of them. So the generic guest is compiled once, the script is written into its machine code as it is
//! into the component, and the result lies in a cache of the corpus's own before the case is played. A test holds that
//! the compiler gives the same bytes.

use crate::{Trouble, plugin};
use passhost_cache::{Cache, CacheKey};
use passhost_child::guest::Guest;
use passhost_child::{Child, Confinement, Plugin};
use passhost_protocol::guest::FromGuest;
use passhost_result::GuestLimits;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A child that has nothing to do but start.
const START: Duration = Duration::from_secs(10);

/// The machine code of the generic guest, and a cache for that of the cases.
pub struct MachineCode {
    directory: TempDir,
    cache: Cache,
    engine: String,
    generic: Vec<u8>,
}

impl MachineCode {
    /// Compiles the generic guest.
    ///
    /// # Errors
    ///
    /// If it has not been built, or cannot be compiled.
    pub fn new() -> Result<MachineCode, Trouble> {
        let directory = tempfile::tempdir()?;
        let cache = Cache::open(&artefacts(directory.path()))?;
        let engine = engine()?;
        let guest = plugin::read(&plugin::with_script("")?)?;
        Guest::load(&guest, GuestLimits::default(), Some(&cache), Confinement::default())?;
        let generic = cache.get(&key(&guest, &engine)).ok_or("the compiled guest is not in the cache")?;
        Ok(MachineCode { directory, cache, engine, generic })
    }

    /// A user's cache directory with the cache in it, where `passhost` looks for it.
    pub fn user_cache(&self) -> &Path {
        self.directory.path()
    }

    /// The cache once more.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open_cache(&self) -> Result<Cache, Trouble> {
        Ok(Cache::open(&artefacts(self.directory.path()))?)
    }

    /// Has the machine code ready of the guest with this script in it.
    ///
    /// # Errors
    ///
    /// If the script does not fit.
    pub fn prepare(&self, script: &str) -> Result<(), Trouble> {
        let guest = plugin::read(&plugin::with_script(script)?)?;
        let code = plugin::written(&self.generic, script)?;
        self.cache.put(&key(&guest, &self.engine), &code);
        Ok(())
    }

    /// Whether the compiler makes of a script what [`MachineCode::prepare`] does.
    ///
    /// # Errors
    ///
    /// If it cannot be compiled.
    pub fn is_what_the_compiler_makes(&self, script: &str) -> Result<bool, Trouble> {
        let empty = tempfile::tempdir()?;
        let cache = Cache::open(&artefacts(empty.path()))?;
        let guest = plugin::read(&plugin::with_script(script)?)?;
        Guest::load(&guest, GuestLimits::default(), Some(&cache), Confinement::default())?;
        let compiled = cache.get(&key(&guest, &self.engine)).ok_or("the compiled guest is not in the cache")?;
        self.prepare(script)?;
        Ok(self.cache.get(&key(&guest, &self.engine)) == Some(compiled))
    }
}

/// Where `passhost` keeps compiled plugins in a user's cache directory.
fn artefacts(user_cache: &Path) -> PathBuf {
    user_cache.join("passhost/artefacts")
}

/// The name under which the supervisor looks for a plugin's machine code.
fn key(plugin: &Plugin, engine: &str) -> CacheKey {
    CacheKey::of(&[b"wasm", plugin.sha256.as_bytes(), engine.as_bytes()])
}

/// What a guest child says of the engine that it has.
fn engine() -> Result<String, Trouble> {
    let mut child: Child<FromGuest> = Child::start("guest", "passhost-guest", None, &[])?;
    match child.receive(Instant::now() + START)? {
        FromGuest::Hello { engine, .. } => Ok(engine),
        other => Err(format!("a guest child begins with {other:?}").into()),
    }
}
