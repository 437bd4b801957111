//! What every evaluation works with, and what it is made of: samples are opened, variants checked, and what passed the
//! check measured.

use crate::event::EvaluationEvent;
use passhost_cache::Cache;
use passhost_child::{Confinement, LoadedPlugin, Memo, Plugin, TypesClient};
use passhost_policy::Policy;
use passhost_result::{GuestLimits, InputMode, SandboxProfile, Settings};
use passhost_score::Options;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Wall clock for reading a variant, where none is given: a whole model takes a tenth of a second.
const READ: Duration = Duration::from_secs(120);

/// What holds for every evaluation.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Limits of the guest.
    pub limits: GuestLimits,
    /// How to measure.
    pub settings: Settings,
    /// Constants of the score.
    pub options: Options,
    /// What is allowed, asked and counted.
    pub policy: Policy,
    /// How inputs are drawn.
    pub inputs: InputMode,
    /// A seed for debugging in place of the operating system's.
    pub seed: Option<u64>,
    /// Wall clock of one step of the device child; derived from the budget if absent.
    pub timeout: Option<Duration>,
    /// For how long a variant that could not be measured is tried again.
    pub wait: Duration,
    /// How many submissions of one author share the error of the verdict; 0 is 1.
    pub submissions: u32,
    /// How the guest and types children must be confined. Samples and devices are opened with
    /// their own.
    pub confinement: Confinement,
}

impl Config {
    /// What the policy does not allow of the rest, in words.
    pub fn contradiction(&self) -> Option<String> {
        let published = self.inputs == InputMode::Published && !self.policy.rules().published_inputs;
        let name = self.policy.name();
        published.then(|| {
            format!(
                "the policy `{name}` draws fresh inputs alone: published ones contain constants that a pass can know; \
                 leave out --inputs published, or choose another policy"
            )
        })
    }
}

/// Evaluates plugins on samples. One serves several threads; each of them has children of its own.
pub struct Supervisor {
    pub(crate) config: Config,
    pub(crate) cache: Option<Cache>,
    memo: Arc<Memo>,
    /// What keeps the types children in, once one has said so.
    pub(crate) types_profile: OnceLock<SandboxProfile>,
    watch: Box<dyn Fn(&EvaluationEvent) + Send + Sync>,
}

impl Supervisor {
    /// One without a cache of compiled plugins, which nobody watches.
    pub fn new(config: Config) -> Supervisor {
        Supervisor {
            config,
            cache: None,
            memo: Arc::default(),
            types_profile: OnceLock::new(),
            watch: Box::new(|_| {}),
        }
    }

    /// Keeps compiled plugins in `cache`.
    #[must_use]
    pub fn with_cache(mut self, cache: Cache) -> Supervisor {
        self.cache = Some(cache);
        self
    }

    /// Tells `watch` what happens, from whichever thread it happens on.
    #[must_use]
    pub fn watched_by(mut self, watch: impl Fn(&EvaluationEvent) + Send + Sync + 'static) -> Supervisor {
        self.watch = Box::new(watch);
        self
    }

    /// What holds for every evaluation.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Loads a plugin in a child of its own.
    pub fn load(&self, plugin: Plugin) -> LoadedPlugin {
        LoadedPlugin::load(plugin, self.config.limits, self.cache.as_ref(), self.config.confinement)
    }

    /// A types child of its own, which starts when it is needed; what it learns serves all.
    pub fn types(&self) -> TypesClient {
        TypesClient::new(Arc::clone(&self.memo), self.config.confinement)
    }

    /// Wall clock for reading a variant. A short limit for the device is none for the reader.
    pub fn reading_limit(&self) -> Duration {
        self.config.timeout.unwrap_or(READ).max(READ)
    }

    pub(crate) fn tell(&self, event: &EvaluationEvent) {
        (self.watch)(event);
    }

    /// Says what keeps a types child in, once it runs.
    pub(crate) fn keep_profile(&self, types: &TypesClient) {
        if let Some(profile) = types.profile() {
            // Another checker may have said so already, of the same kernel.
            let _ = self.types_profile.set(profile);
        }
    }
}
