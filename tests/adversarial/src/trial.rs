//! Plays a case.

use crate::machine_code::MachineCode;
use crate::{Case, Trouble, file, plugin, sample};
use passhost_cache::Cache;
use passhost_child::device::{Device, DeviceSetup, LoadRequest};
use passhost_child::{Confinement, Plugin};
use passhost_protocol::device::{DeviceChoice, Draws, RewriteJob};
use passhost_result::document::{Document, Failure};
use passhost_result::{OtherRounds, Policy, Settings};
use passhost_supervisor::{Config, OpenError, Sample, Supervisor};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Draws of the inputs under which nothing may be found of an honest pass.
const SEEDS: u64 = 20;

/// Wall clock of one step of the device child.
const STEP: Duration = Duration::from_secs(60);
/// Of the inputs that cases are judged on.
const SEED: u64 = 12;

/// A supervisor for each policy that is compiled in.
pub struct Supervisors(Vec<Supervisor>);

/// What is needed to play cases one after the other. Several may do so side by side, each with children of its own.
pub struct Bench<'s> {
    supervisors: &'s Supervisors,
    code: &'s MachineCode,
    device: Device,
}

/// What came of a case.
#[derive(Debug, Default)]
pub struct Found {
    /// The document, where there is one.
    pub document: Option<Box<Document>>,
    /// Why plugin or sample was refused before there was one.
    pub refusal: Option<String>,
    /// What is wrong with the host itself: it hung or died.
    pub trouble: Option<String>,
    /// What was found of an honest pass, for each draw of the inputs that found something.
    pub false_findings: Vec<String>,
}

impl Supervisors {
    /// Those for cases, which find the machine code that was made ready for them.
    ///
    /// # Errors
    ///
    /// If the cache cannot be opened.
    pub fn new(code: &MachineCode, budget: Duration) -> Result<Supervisors, Trouble> {
        let budget_ms = budget.as_millis() as u64;
        let one = |name: String| -> Result<Supervisor, Trouble> {
            let policy = Policy::built_in(&name)?;
            // Cases are played side by side: what they say of time is not relied on.
            let edge_case_rounds = policy.rules().edge_case_rounds;
            let settings =
                Settings { warmups: 2, budget_ms, accept_noise: true, edge_case_rounds, ..Settings::default() };
            // The same inputs in every run: an honest pass may round across the tolerance on one draw in a hundred.
            let config = Config { settings, policy, timeout: Some(STEP), seed: Some(SEED), ..Config::default() };
            Ok(Supervisor::new(config).with_cache(code.open_cache()?))
        };
        passhost_policy::names().into_iter().map(one).collect::<Result<_, _>>().map(Supervisors)
    }

    /// The one with the policy of a case.
    fn of(&self, case: &Case) -> Result<&Supervisor, Trouble> {
        let name = case.expect.policy.as_deref().unwrap_or("open");
        let found = self.0.iter().find(|supervisor| supervisor.config().policy.name() == name);
        found.ok_or_else(|| format!("there is no policy `{name}`").into())
    }
}

impl<'s> Bench<'s> {
    /// One with a device child of its own.
    ///
    /// # Errors
    ///
    /// If the device cannot be used.
    pub fn new(
        supervisors: &'s Supervisors,
        code: &'s MachineCode,
        device: DeviceChoice,
    ) -> Result<Bench<'s>, Trouble> {
        // Cases are played side by side: threads of theirs would wait for each other.
        let kernels = Arc::new(Cache::open(&code.user_cache().join("passhost/kernels"))?);
        let setup = DeviceSetup { machine_code: Some(kernels), ..DeviceSetup::new(device, Some(1)) };
        Ok(Bench { supervisors, code, device: Device::open(setup)? })
    }

    /// Plays a case.
    ///
    /// # Errors
    ///
    /// If the case itself is broken, or the host cannot work here.
    pub fn play(&mut self, case: &Case) -> Result<Found, Trouble> {
        let sample = sample::of(case)?;
        let directory = tempfile::tempdir()?;
        if let Some(script) = plugin::script(case)? {
            self.code.prepare(&script)?;
        }
        let path = match file::named(case)? {
            Some(kind) => kind.make(directory.path())?,
            None => {
                let path = directory.path().join("plugin.wasm");
                std::fs::write(&path, plugin::bytes(case)?)?;
                path
            }
        };
        if case.expect.apart {
            return self.apart(&path, &sample.path, &directory.path().join("result.json"));
        }
        let supervisor = self.supervisors.of(case)?;
        let plugin = match Plugin::read(&path, supervisor.config().limits.wasm) {
            Ok(plugin) => plugin,
            Err(error) => return Ok(Found { refusal: Some(error.to_string()), ..Found::default() }),
        };
        let mut found = Found::default();
        match self.judge(supervisor, plugin.clone(), &sample.path)? {
            Ok(document) => found.document = Some(Box::new(document)),
            Err(refusal) => found.refusal = Some(refusal),
        }
        if case.expect.honest {
            found.false_findings = self.other_draws(supervisor, plugin, &sample.path)?;
        }
        Ok(found)
    }

    /// The document, or why there is no sample.
    fn judge(
        &mut self,
        supervisor: &Supervisor,
        plugin: Plugin,
        sample: &Path,
    ) -> Result<Result<Document, String>, Trouble> {
        let sample = match Sample::open(sample, Confinement::default()) {
            Ok(sample) => sample,
            Err(OpenError::Sample(error)) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let mut plugin = supervisor.load(plugin);
        let refused: Option<Failure> = plugin.guest().err().cloned();
        if let Some(failure) = refused {
            return Ok(Ok(supervisor.refused(&plugin, &failure, &sample)));
        }
        let facts = self.device.info().facts;
        let mut checker = supervisor.checker(facts);
        Ok(Ok(supervisor.evaluate(&mut checker, &mut plugin, sample, &mut self.device)))
    }

    /// What is found of a pass under other draws of the inputs: an honest one has nothing to fear from any.
    fn other_draws(&mut self, supervisor: &Supervisor, plugin: Plugin, sample: &Path) -> Result<Vec<String>, Trouble> {
        let mut sample = Sample::open(sample, Confinement::default())?;
        let mut plugin = supervisor.load(plugin);
        let mut checker = supervisor.checker(self.device.info().facts);
        let settings = supervisor.config().settings;
        let mut findings = vec![];
        for variant in 0..sample.variants().len() {
            let checked = checker.check(&mut plugin, &mut sample, variant);
            let (Some(read), Some(rewrite)) = (checked.read(), checked.graph()) else { continue };
            let watch = &mut |_| {};
            let mut session = self.device.session();
            let reference = LoadRequest { program: &read.program, inputs: &read.inputs, seed: 0 };
            session.load(0, reference, STEP, watch)??;
            for seed in 1..=SEEDS {
                let draws = Draws::repeated(seed, OtherRounds::ALL);
                let (rewrite, in_place, schedules) = (rewrite.clone(), vec![], vec![]);
                let job = RewriteJob { rewrite, in_place, schedules, draws, settings };
                let found = session.evaluate(&job, STEP, watch)?;
                findings.extend(found.findings.iter().map(|finding| format!("seed {seed}: {finding}")));
                findings.extend(found.edge_cases.iter().map(|finding| format!("seed {seed}: {finding}")));
                findings.extend(found.error.map(|error| format!("seed {seed}: {error}")));
            }
        }
        Ok(findings)
    }

    /// Has the command judge the plugin.
    fn apart(&self, plugin: &Path, sample: &Path, json: &Path) -> Result<Found, Trouble> {
        let mut arguments = vec!["eval".into(), plugin.as_os_str().to_owned(), sample.as_os_str().to_owned()];
        arguments.extend(["--device", "cpu", "--threads", "1", "--budget", "1ms", "--json"].map(Into::into));
        arguments.push(json.into());
        let ended = file::run_apart(&arguments, self.code.user_cache())?;
        if ended.hung {
            return Ok(Found { trouble: Some("the command hangs".into()), ..Found::default() });
        }
        let document = std::fs::read_to_string(json).ok();
        match (document, ended.code) {
            (Some(text), Some(_)) => Ok(Found { document: Some(serde_json::from_str(&text)?), ..Found::default() }),
            (None, Some(2)) => Ok(Found { refusal: Some(ended.errors), ..Found::default() }),
            (_, code) => {
                let trouble = format!("the command ended with {code:?}: {}", ended.errors);
                Ok(Found { trouble: Some(trouble), ..Found::default() })
            }
        }
    }
}
