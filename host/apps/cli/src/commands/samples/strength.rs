//! `passhost samples strength LIST|DIR...`

use crate::arguments::{DeviceArguments, MeasureArguments, ProgressArguments, duration};
use crate::commands::{named_samples, open_device, supervisor};
use crate::exit::{Exit, OrStop, Stop};
use crate::files::CommandFiles;
use crate::output::write_and_print;
use crate::progress::WorkProgress;
use crate::terminal::Terminal;
use clap::Args;
use passhost_child::device::DeviceSetup;
use passhost_corpus::split::write_list;
use passhost_report::short_names;
use passhost_result::untrusted::one_line;
use passhost_result::{Strength, UnusualRound};
use passhost_supervisor::{MutantCounts, MutantFate, Sample, TriedMutant, VariantStrength};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Args)]
pub struct StrengthArguments {
    /// Samples, lists of samples, or directories that hold some
    #[arg(required = true, value_name = "LIST|DIR")]
    pub paths: Vec<PathBuf>,
    /// Mutants that are tried of each variant, of every class before two of one
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub mutants: u32,
    /// Compositions of two classes that are tried besides
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub compositions: u32,
    /// Time for the mutants of one variant. What has no time is not tried, and does not count
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = duration)]
    pub within: Duration,
    /// Only variants with this in their names. May be given several times
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// Writes every mutant that was tried here; to standard output for `-`
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Writes a list of the samples in which no mutant survives here, for boards under `strict`
    #[arg(long, value_name = "FILE")]
    pub without_survivors: Option<PathBuf>,
    #[command(flatten)]
    pub measure: MeasureArguments,
    #[command(flatten)]
    pub progress: ProgressArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
}

/// What `--json` has.
#[derive(Serialize)]
struct StrengthReport {
    schema: &'static str,
    /// Of the mutants that chose no rounds.
    strength: Strength,
    /// Of all mutants.
    killed: usize,
    equivalent: usize,
    survived: usize,
    failed: usize,
    variants: Vec<VariantReport>,
}

#[derive(Serialize)]
struct VariantReport {
    sample: String,
    variant: String,
    /// Of the mutants that chose no rounds.
    strength: Strength,
    mutants: Vec<MutantReport>,
}

#[derive(Serialize)]
struct MutantReport {
    class: String,
    at: String,
    /// Whether rounds were chosen by it, so that it does not count for the strength.
    chooses: bool,
    fate: &'static str,
    /// The rounds beside the ordinary ones that refuse it; where none is named, ordinary ones do.
    rounds: Vec<UnusualRound>,
    why: Option<String>,
}

pub fn run(arguments: &StrengthArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let files = || CommandFiles::default().writes("--json", &arguments.json).reads_samples(&arguments.paths);
    let files = || files().writes("--without-survivors", &arguments.without_survivors);
    files().check()?;
    let named = named_samples(&arguments.paths, terminal)?;
    files().reads_samples(named.iter().map(|sample| &sample.path)).check()?;
    let progress = WorkProgress::new(terminal, arguments.progress, named.len());
    progress.step("starting the device");
    let confinement = arguments.measure.confinement.mode();
    let mut device = open_device(&arguments.device, |setup| DeviceSetup { confinement, ..setup })?;
    let supervisor = supervisor(arguments.measure.config(1)?, terminal);
    let mut checker = supervisor.checker(device.info().facts);
    let (single, composed) = (arguments.mutants as usize, arguments.compositions as usize);
    let counts = MutantCounts { single, composed, within: arguments.within };
    let mut found = vec![];
    for named in &named {
        let mut sample = Sample::open(&named.path, confinement).or_stop(Exit::Usage)?;
        if !arguments.variants.is_empty() {
            sample.choose(&arguments.variants).map_err(Stop::usage)?;
        }
        let name = named.path.display().to_string();
        for index in sample.chosen() {
            progress.step(&format!("{} {}", one_line(&name, 60), one_line(&sample.variants()[index], 60)));
            let strength = checker.strength(&mut device, &mut sample, index, counts);
            let strength = strength.unwrap_or_else(|failure| VariantStrength {
                variant: sample.variants()[index].clone(),
                tried: vec![],
                strength: Strength { undetermined: Some(failure.message), ..Strength::default() },
            });
            found.push((named.path.clone(), strength));
        }
        sample.close();
    }
    progress.clear();
    if let Some(list) = &arguments.without_survivors {
        let title = "Samples whose graphs have no mutant that survives: `passhost samples strength`";
        write_list(list, title, &without_survivors(&found))?;
    }
    write_and_print(&arguments.json, &report(&found), render(&found, terminal))?;
    Ok(Exit::Success)
}

/// How many mutants had each fate: killed, equivalent, survived, failed.
fn counted<'t>(tried: impl IntoIterator<Item = &'t TriedMutant>) -> [usize; 4] {
    let mut counts = [0; 4];
    for mutant in tried {
        counts[match mutant.fate {
            MutantFate::Killed(_) => 0,
            MutantFate::Equivalent(_) => 1,
            MutantFate::Survived => 2,
            MutantFate::Failed(_) => 3,
        }] += 1;
    }
    counts
}

fn render(found: &[(PathBuf, VariantStrength)], terminal: &Terminal) -> Vec<String> {
    let short = |sample: &Path, variant: &str| {
        let same = found.iter().filter(|(other, _)| other == sample).map(|(_, of)| of.variant.as_str());
        let names: Vec<&str> = same.collect();
        let at = names.iter().position(|name| *name == variant).unwrap_or_default();
        short_names(&names).get(at).map_or_else(|| variant.to_owned(), ToString::to_string)
    };
    let row = |(sample, of): &(PathBuf, VariantStrength)| {
        let variant = short(sample, &of.variant);
        let sample = sample.file_name().unwrap_or_default().to_string_lossy();
        let said = one_line(&of.strength.to_string(), 100);
        vec![one_line(&sample, 40), one_line(&variant, 60), said]
    };
    let mut lines = terminal.headed(&["sample", "variant", "strength"], &found.iter().map(row).collect::<Vec<_>>());
    let mut classes: BTreeMap<&str, Vec<&TriedMutant>> = BTreeMap::new();
    for mutant in found.iter().flat_map(|(_, of)| &of.tried) {
        let class = if mutant.class.contains(" + ") { "compositions of two" } else { mutant.class.as_str() };
        classes.entry(class).or_default().push(mutant);
    }
    let rows: Vec<Vec<String>> = classes
        .iter()
        .map(|(class, tried)| {
            let counts = counted(tried.iter().copied());
            [vec![(*class).to_owned()], counts.map(|count| count.to_string()).to_vec()].concat()
        })
        .collect();
    lines.push(String::new());
    lines.extend(terminal.headed(&["class", "killed", "equivalent", "survived", "did not run"], &rows));
    lines.push(String::new());
    let (all, half) = (all_of(found), "of the half that no round was chosen by, and compositions");
    lines.extend(terminal.wrap(&format!("strength: {all}, {half}"), ""));
    lines
}

fn all_of(found: &[(PathBuf, VariantStrength)]) -> Strength {
    let none = || Strength { undetermined: Some("no variant has a mutant".to_owned()), ..Strength::default() };
    Strength::of_all(found.iter().map(|(_, of)| &of.strength)).unwrap_or_else(none)
}

/// Samples in which no mutant survives, of either half, and some variant's strength is determined.
fn without_survivors(found: &[(PathBuf, VariantStrength)]) -> Vec<&Path> {
    let mut samples: BTreeMap<&Path, (bool, bool)> = BTreeMap::new();
    for (sample, of) in found {
        let [.., survived, _] = counted(&of.tried);
        let (is_known, survives) = samples.entry(sample).or_default();
        *is_known |= of.strength.undetermined.is_none();
        *survives |= survived > 0;
    }
    samples.into_iter().filter(|(_, (is_known, survives))| *is_known && !survives).map(|(sample, _)| sample).collect()
}

fn report(found: &[(PathBuf, VariantStrength)]) -> StrengthReport {
    let [killed, equivalent, survived, failed] = counted(found.iter().flat_map(|(_, of)| &of.tried));
    let mutant = |tried: &TriedMutant| {
        let (fate, why) = match &tried.fate {
            MutantFate::Killed(_) => ("killed", None),
            MutantFate::Equivalent(rule) => ("equivalent", Some(rule.clone())),
            MutantFate::Survived => ("survived", None),
            MutantFate::Failed(why) => ("did not run", Some(why.clone())),
        };
        let rounds = tried.killed_in().to_vec();
        MutantReport { class: tried.class.clone(), at: tried.at.clone(), chooses: tried.chooses, fate, rounds, why }
    };
    let variants = found.iter().map(|(sample, of)| VariantReport {
        sample: sample.display().to_string(),
        variant: of.variant.clone(),
        strength: of.strength.clone(),
        mutants: of.tried.iter().map(mutant).collect(),
    });
    let variants = variants.collect();
    let (schema, strength) = ("passhost.samples.strength/2", all_of(found));
    StrengthReport { schema, strength, killed, equivalent, survived, failed, variants }
}
