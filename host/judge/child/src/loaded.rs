//! A plugin that a child has loaded.

use crate::failure::guest_failure;
use crate::guest::{Guest, GuestError};
use crate::plugin::Plugin;
use crate::process::Confinement;
use passhost_cache::Cache;
use passhost_result::document::Failure;
use passhost_result::{GuestLimits, PassInfo, SandboxProfile};

/// A plugin that has been looked at once: loaded, or refused for the same reason on every sample.
pub struct LoadedPlugin {
    plugin: Plugin,
    info: Option<PassInfo>,
    confinement: Confinement,
    guest: Result<Guest, Failure>,
}

impl LoadedPlugin {
    /// Loads the plugin in a child of its own, confined as it must be.
    pub fn load(plugin: Plugin, limits: GuestLimits, cache: Option<&Cache>, confinement: Confinement) -> LoadedPlugin {
        let mut info = None;
        let guest = load_guest(&plugin, limits, cache, confinement).and_then(|mut guest| {
            let mut described = guest.describe();
            if matches!(described, Err(GuestError::Child(_))) {
                // As where it dies while it loads.
                guest = load_guest(&plugin, limits, cache, confinement)?;
                described = guest.describe();
            }
            info = Some(described.map_err(|error| guest_failure("describe", error))?);
            Ok(guest)
        });
        LoadedPlugin { plugin, info, confinement, guest }
    }

    /// A plugin that there is not, because no component came of its source.
    pub fn refused(plugin: Plugin, failure: Failure) -> LoadedPlugin {
        LoadedPlugin { plugin, info: None, confinement: Confinement::default(), guest: Err(failure) }
    }

    /// Replaces the child by a fresh one.
    pub fn reload(&mut self, limits: GuestLimits, cache: Option<&Cache>) {
        self.guest = load_guest(&self.plugin, limits, cache, self.confinement);
    }

    /// What it was loaded from.
    pub fn file(&self) -> &Plugin {
        &self.plugin
    }

    /// What the plugin says of itself, if it loads.
    pub fn info(&self) -> Option<&PassInfo> {
        self.info.as_ref()
    }

    /// What keeps the child in, if there is one.
    pub fn profile(&self) -> Option<SandboxProfile> {
        self.guest.as_ref().ok().map(|guest| guest.profile)
    }

    /// The child, or why there is none.
    ///
    /// # Errors
    ///
    /// If the plugin could not be loaded.
    pub fn guest(&mut self) -> Result<&mut Guest, &Failure> {
        self.guest.as_mut().map_err(|failure| &*failure)
    }
}

fn load_guest(
    plugin: &Plugin,
    limits: GuestLimits,
    cache: Option<&Cache>,
    confinement: Confinement,
) -> Result<Guest, Failure> {
    match Guest::load(plugin, limits, cache, confinement) {
        // A child that dies while it loads is tried once more: then it is the plugin that kills it.
        Err(GuestError::Child(_)) => Guest::load(plugin, limits, cache, confinement),
        loaded => loaded,
    }
    .map_err(|error| guest_failure("load", error))
}
