//! Executes the tools for one attempt on one sample.

use crate::command_output::CommandOutput;
use crate::effect::{Effect, PassVerdict};
use crate::error::AgentToolsError;
use crate::executor::{BuiltPass, Evaluated, ToolExecutor};
use crate::feedback;
use crate::objects::{Objects, sha256};
use crate::task::{FUSION, TaskFacts};
use crate::tool::{Tool, Which};
use passhost_result::document::Document;
use passhost_result::untrusted::{indented, one_line};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Characters of an answer to the model.
const ANSWER: usize = 32_000;
/// Characters of one line of it.
const LINE: usize = 2_000;
/// Diagnostics of the compiler that are told.
const DIAGNOSTICS: usize = 8;
/// A pass that changes nothing.
const UNCHANGED: &str = "use passhost_guest_sdk::prelude::*;
struct Unchanged;
impl Pass for Unchanged {
    fn info(&self) -> PassInfo { PassInfo::new(\"unchanged\", \"0.1.0\", \"Changes nothing\") }
    fn run(&self, _: &mut Rewriter, _: &DeviceFacts, _: &mut dyn Infer) -> Result<(), PassError> { Ok(()) }
}
register!(Unchanged);
";

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// For the model.
    pub text: String,
    /// What it changed.
    pub effect: Effect,
    /// Wall clock during which the device was held.
    pub device: Duration,
}

impl ToolOutcome {
    /// One that changed nothing.
    pub fn said(text: impl Into<String>) -> ToolOutcome {
        ToolOutcome { text: text.into(), effect: Effect::Nothing, device: Duration::ZERO }
    }
}

/// One attempt on one sample.
#[derive(Debug)]
pub struct AgentTools {
    executor: Arc<dyn ToolExecutor>,
    objects: Objects,
    sample: PathBuf,
    guide: &'static str,
    /// Files of the attempt: a folder for each source, by its hash, with the component and the result.
    directory: PathBuf,
    source: Option<String>,
    verdicts: BTreeMap<String, PassVerdict>,
}

impl AgentTools {
    /// An attempt that has just begun. Files that it makes go to `directory`, texts that others may want to `objects`.
    ///
    /// # Errors
    ///
    /// If the directory cannot be made.
    pub fn open(
        executor: Arc<dyn ToolExecutor>,
        objects: Objects,
        sample: &Path,
        directory: &Path,
        guide: &'static str,
    ) -> Result<AgentTools, AgentToolsError> {
        std::fs::create_dir_all(directory).map_err(AgentToolsError::file(directory))?;
        let (sample, directory) = (sample.into(), directory.into());
        Ok(AgentTools { executor, objects, sample, guide, directory, source: None, verdicts: BTreeMap::new() })
    }

    /// Puts it where a call that was executed before left it.
    pub fn recall(&mut self, effect: &Effect) {
        match effect {
            Effect::Wrote { source } => self.source = Some(source.clone()),
            Effect::Judged { source, verdict } | Effect::Submitted { source, verdict } => {
                self.verdicts.insert(source.clone(), verdict.clone());
            }
            Effect::Nothing | Effect::Built { .. } | Effect::Checked { .. } => {}
        }
    }

    /// The graphs of the sample as text: those whose names contain `variant`, or the first.
    ///
    /// # Errors
    ///
    /// If the sample cannot be used.
    pub fn graphs(&self, variant: Option<&str>) -> Result<String, AgentToolsError> {
        // As one word, so that a text that looks like an option is none.
        let chosen = variant.map(|text| OsString::from(format!("--variant={text}")));
        let words = ["show".into(), self.sample.clone().into_os_string()].into_iter().chain(chosen);
        let ran = self.executor.run(words.collect(), false)?;
        match ran.code() {
            Some(0) => Ok(tidy(&ran.out)),
            _ => Err(ran.trouble()),
        }
    }

    /// Executes a call.
    ///
    /// # Errors
    ///
    /// If the machine is in the way. What the model does wrong is an outcome.
    pub fn execute(&mut self, tool: &Tool) -> Result<ToolOutcome, AgentToolsError> {
        let outcome = match tool {
            Tool::ShowGraph { variant } => self.show(variant.as_deref())?,
            Tool::Ops { name } => self.op(name)?,
            Tool::ReadGuide { section } => ToolOutcome::said(self.guide_section(section.as_deref())),
            Tool::WritePass { source } => self.write(source)?,
            Tool::ShowRefusals {} => self.refusals()?,
            Tool::Build {} => self.build()?,
            Tool::Check {} => self.check()?,
            Tool::Eval {} => self.eval()?,
            Tool::Submit { which } => self.submit(*which)?,
        };
        self.recall(&outcome.effect);
        Ok(ToolOutcome { text: cut(&outcome.text), ..outcome })
    }

    fn show(&self, variant: Option<&str>) -> Result<ToolOutcome, AgentToolsError> {
        match self.graphs(variant) {
            Ok(text) => Ok(ToolOutcome::said(text)),
            // The sample was shown before: what is wrong is the name.
            Err(AgentToolsError::Sample(said)) => Ok(ToolOutcome::said(format!("nothing to show: {said}"))),
            Err(error) => Err(error),
        }
    }

    /// What is known of an op. The name is behind `--`: it is none of an option.
    fn op(&self, name: &str) -> Result<ToolOutcome, AgentToolsError> {
        let ran = self.executor.run(["ops", "--", name].map(OsString::from).to_vec(), false)?;
        match ran.code() {
            Some(0) => Ok(ToolOutcome::said(tidy(&ran.out))),
            Some(2) => Ok(ToolOutcome::said(tidy(&ran.err))),
            _ => Err(ran.trouble()),
        }
    }

    /// A section of the guide by a part of its title, or all of it.
    fn guide_section(&self, section: Option<&str>) -> String {
        let Some(wanted) = section.filter(|text| !text.trim().is_empty()) else { return self.guide.to_owned() };
        let sections: Vec<&str> = self.guide.split("\n## ").skip(1).collect();
        let title = |section: &&&str| section.lines().next().unwrap_or_default().to_lowercase();
        match sections.iter().find(|section| title(section).contains(&wanted.trim().to_lowercase())) {
            Some(found) => format!("## {found}"),
            None => {
                let titles: Vec<&str> = sections.iter().filter_map(|section| section.lines().next()).collect();
                format!("no section has `{}` in its title; there are: {}", one_line(wanted, 60), titles.join(", "))
            }
        }
    }

    fn write(&self, source: &str) -> Result<ToolOutcome, AgentToolsError> {
        let hash = self.objects.put(source).map_err(AgentToolsError::file(&self.directory))?;
        let text = format!("{} lines are written; `build` compiles them", source.lines().count());
        Ok(ToolOutcome { effect: Effect::Wrote { source: hash }, ..ToolOutcome::said(text) })
    }

    fn refusals(&self) -> Result<ToolOutcome, AgentToolsError> {
        let verdict = self.source.as_ref().and_then(|source| self.verdicts.get(source));
        let Some(verdict) = verdict else {
            return Ok(ToolOutcome::said("this source was not evaluated; call `eval` first"));
        };
        Ok(ToolOutcome::said(feedback::refusals(&self.document(verdict)?)))
    }

    /// The result that a verdict is of.
    fn document(&self, verdict: &PassVerdict) -> Result<Document, AgentToolsError> {
        let found = self.objects.get(&verdict.document).and_then(|text| read(&text));
        found.map_err(AgentToolsError::file(&verdict.document))
    }

    fn build(&self) -> Result<ToolOutcome, AgentToolsError> {
        let Some(source) = &self.source else { return Ok(nothing_written()) };
        let ran = self.compile(source)?;
        let path = self.file(source, "wasm");
        let component = match ran.passes()? {
            true => Some(sha256(&std::fs::read(&path).map_err(AgentToolsError::file(&path))?)),
            false => None,
        };
        let text = compiler_said(&ran, component.is_some());
        Ok(ToolOutcome { effect: Effect::Built { source: source.clone(), component }, ..ToolOutcome::said(text) })
    }

    fn compile(&self, source: &str) -> Result<CommandOutput, AgentToolsError> {
        let path = self.file(source, "rs");
        let text = self.objects.get(source).map_err(AgentToolsError::file(&path))?;
        let directory = path.parent().unwrap_or(&self.directory);
        std::fs::create_dir_all(directory)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(AgentToolsError::file(&path))?;
        let out = self.file(source, "wasm");
        let words = ["build".as_ref(), path.as_os_str(), "--out".as_ref(), out.as_os_str()];
        self.executor.run(owned(words.into_iter().chain(["--json", "-"].map(AsRef::as_ref))), false)
    }

    /// The component of the source, or what a build that fails is to the model.
    fn component(&self) -> Result<Result<(String, PathBuf), ToolOutcome>, AgentToolsError> {
        let Some(source) = &self.source else { return Ok(Err(nothing_written())) };
        let path = self.file(source, "wasm");
        if path.is_file() {
            return Ok(Ok((source.clone(), path)));
        }
        let built = self.build()?;
        Ok(match built.effect {
            Effect::Built { component: Some(_), .. } => Ok((source.clone(), path)),
            _ => Err(built),
        })
    }

    fn check(&self) -> Result<ToolOutcome, AgentToolsError> {
        let (source, component) = match self.component()? {
            Ok(component) => component,
            Err(outcome) => return Ok(outcome),
        };
        let words = ["show".as_ref(), self.sample.as_os_str(), "--after".as_ref(), component.as_os_str()];
        let ran = self.executor.run(owned(words.into_iter().chain(["--brief", "--all"].map(AsRef::as_ref))), true)?;
        let passes = ran.passes()?;
        let end = if passes { "check: every graph may run" } else { "check: refused" };
        let (first, rest) = ran.out.split_once('\n').unwrap_or(("changed no graph", &ran.out));
        let text = format!("{}\n{end}\n{}{}", one_line(first, LINE), tidy(rest), tidy(&ran.err));
        // The first line is that of the command, whatever the pass says.
        let changes = !first.starts_with("changed 0 ") && first != "changed no graph";
        let effect = Effect::Checked { source, passes, changes };
        Ok(ToolOutcome { text, effect, device: ran.took })
    }

    /// Measures each source once: another call for the same is told the same.
    fn eval(&self) -> Result<ToolOutcome, AgentToolsError> {
        if let Some(known) = self.source.as_ref().and_then(|source| self.verdicts.get_key_value(source)) {
            return self.evaluated(known);
        }
        let (source, component) = match self.component()? {
            Ok(component) => component,
            Err(outcome) => return Ok(outcome),
        };
        let (verdict, text, device) = self.measure(&source, &component)?;
        Ok(ToolOutcome { text, effect: Effect::Judged { source, verdict }, device })
    }

    /// What was told of a source that was evaluated before.
    fn evaluated(&self, (source, verdict): (&String, &PassVerdict)) -> Result<ToolOutcome, AgentToolsError> {
        let text = feedback::verdict(&self.document(verdict)?);
        let effect = Effect::Judged { source: source.clone(), verdict: verdict.clone() };
        Ok(ToolOutcome { effect, ..ToolOutcome::said(text) })
    }

    fn measure(&self, source: &str, component: &Path) -> Result<(PassVerdict, String, Duration), AgentToolsError> {
        let (document, Evaluated { document: text, device }) = self.judge(source, component)?;
        let hash = self.objects.put(&text).map_err(AgentToolsError::file(component))?;
        Ok((verdict_of(&document, hash), feedback::verdict(&document), device))
    }

    fn judge(&self, source: &str, component: &Path) -> Result<(Document, Evaluated), AgentToolsError> {
        let pass = BuiltPass { source, component, sample: &self.sample };
        let evaluated = self.executor.evaluate(&pass)?;
        let document = read(&evaluated.document).map_err(AgentToolsError::file(component))?;
        // A result that says nothing of the pass is none to be told, kept or paid for.
        AgentToolsError::of_result(&document).map_or(Ok((document, evaluated)), Err)
    }

    /// What there is to know of the sample before a model is asked: evaluates the built-in fusion, if its component is there,
    /// or else a pass that changes nothing.
    ///
    /// # Errors
    ///
    /// If the sample cannot be scored, whatever the pass, or the machine is in the way.
    pub fn facts(&self, fusion: Option<&Path>) -> Result<TaskFacts, AgentToolsError> {
        let document = self.evaluate_first(fusion)?;
        let words = ["samples".as_ref(), "list".as_ref(), self.sample.as_os_str(), "--json".as_ref(), "-".as_ref()];
        let listed = self.executor.run(owned(words.into_iter()), false)?;
        let listed: Value = serde_json::from_str(&listed.out).unwrap_or_default();
        let graphs = listed["samples"][0]["graphs"].as_array().into_iter().flatten();
        Ok(TaskFacts::new(&document, graphs.filter_map(|graph| graph["variant"].as_str())))
    }

    fn evaluate_first(&self, component: Option<&Path>) -> Result<Document, AgentToolsError> {
        if let Some(component) = component {
            // In a folder that no source has: it must not be taken for the component of one. Not `copy`: who may read the
            // file is not as it was.
            let path = self.file(FUSION, "wasm");
            std::fs::create_dir_all(self.directory.join(FUSION))
                .and_then(|()| std::fs::write(&path, std::fs::read(component)?))
                .map_err(AgentToolsError::file(&path))?;
            return Ok(self.judge(FUSION, &path)?.0);
        }
        let source = self.objects.put(UNCHANGED).map_err(AgentToolsError::file(&self.directory))?;
        let path = self.file(&source, "wasm");
        if !path.is_file() {
            let ran = self.compile(&source)?;
            if !ran.passes()? {
                return Err(ran.trouble());
            }
        }
        Ok(self.judge(&source, &path)?.0)
    }

    fn submit(&self, which: Which) -> Result<ToolOutcome, AgentToolsError> {
        let best = self.verdicts.iter().max_by(|(_, one), (_, other)| one.score.total_cmp(&other.score));
        let outcome = match best.filter(|_| which == Which::Best) {
            Some(best) => self.evaluated(best)?,
            None => self.eval()?,
        };
        Ok(match outcome.effect {
            Effect::Judged { source, verdict } => {
                ToolOutcome { effect: Effect::Submitted { source, verdict }, ..outcome }
            }
            _ => ToolOutcome { text: format!("nothing was handed in: {}", outcome.text), ..outcome },
        })
    }

    fn file(&self, source: &str, ending: &str) -> PathBuf {
        self.directory.join(source).join(format!("pass.{ending}"))
    }
}

fn owned<'w>(words: impl Iterator<Item = &'w OsStr>) -> Vec<OsString> {
    words.map(ToOwned::to_owned).collect()
}

fn nothing_written() -> ToolOutcome {
    ToolOutcome::said("no pass is written; call `write_pass` first")
}

fn read(text: &str) -> std::io::Result<Document> {
    serde_json::from_str(text).map_err(Into::into)
}

fn verdict_of(document: &Document, hash: String) -> PassVerdict {
    let scores = document.scores.as_ref();
    PassVerdict {
        score: document.headline().unwrap_or(crate::reward::NOTHING),
        aggregate_score: scores.map_or(crate::reward::NOTHING, |scores| scores.aggregate_score),
        aggregate_score_strict: scores.map_or(crate::reward::NOTHING, |scores| scores.aggregate_score_strict),
        verifies: feedback::verifies(document),
        changes: feedback::changes(document),
        right: feedback::is_right(document),
        findings: feedback::findings(document),
        within: feedback::within(document),
        document: hash,
    }
}

/// The words of the compiler, errors first.
fn compiler_said(ran: &CommandOutput, builds: bool) -> String {
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    let mut text = match builds {
        true => format!("build: ok, {} bytes\n", report["bytes"]),
        false => {
            let message = report["failure"]["message"].as_str().unwrap_or("the source cannot be read");
            format!("build: failed: {}\n", one_line(message, LINE))
        }
    };
    let diagnostics = report["diagnostics"].as_array().map_or(&[][..], Vec::as_slice);
    for diagnostic in diagnostics.iter().take(DIAGNOSTICS) {
        text.push_str(&of_diagnostic(diagnostic));
    }
    if diagnostics.is_empty() && !builds {
        text.push_str(&tidy(&ran.err));
    }
    text
}

/// As rustc prints it: message, place, line, what is meant underlined, notes.
fn of_diagnostic(diagnostic: &Value) -> String {
    let word = |value: &Value| one_line(value.as_str().unwrap_or_default(), LINE);
    let code = diagnostic["code"].as_str().map_or(String::new(), |code| format!("[{}]", one_line(code, 40)));
    let mut text = format!("{}{code}: {}\n", word(&diagnostic["level"]), word(&diagnostic["message"]));
    let related = diagnostic["related"].as_array().into_iter().flatten();
    for place in std::iter::once(&diagnostic["place"]).chain(related).filter(|place| place.is_object()) {
        let (line, column) = (&place["line"], &place["column"]);
        let of = if place["file"] == diagnostic["place"]["file"] { String::new() } else { word(&place["file"]) + ", " };
        text.push_str(&format!("  {of}line {line}, column {column}: {}\n", word(&place["text"])));
        let label = word(&place["label"]);
        if !label.is_empty() {
            text.push_str(&format!("  {label}\n"));
        }
    }
    for note in diagnostic["notes"].as_array().into_iter().flatten() {
        text.push_str(&format!("  {}\n", word(note)));
    }
    text
}

/// Lines without anything that moves a terminal or hides its neighbours.
fn tidy(text: &str) -> String {
    text.lines().map(|line| indented(line, LINE) + "\n").collect()
}

/// The beginning of a text that is too long, and that it is one.
fn cut(text: &str) -> String {
    match text.char_indices().nth(ANSWER) {
        Some((end, _)) => format!("{}\n... cut after {ANSWER} characters", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::reward::Rewards;
    use passhost_made_documents::{document, right};
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    /// Takes sources that are the speedup of their pass for components.
    #[derive(Debug)]
    struct Scripted;

    impl ToolExecutor for Scripted {
        fn run(&self, words: Vec<OsString>, _runs_pass: bool) -> Result<CommandOutput, AgentToolsError> {
            std::fs::copy(&words[1], &words[3]).unwrap();
            let (command, status) = ("build".to_owned(), ExitStatus::from_raw(0));
            Ok(CommandOutput { command, status, out: "{}".into(), err: String::new(), took: Duration::ZERO })
        }

        fn evaluate(&self, pass: &BuiltPass<'_>) -> Result<Evaluated, AgentToolsError> {
            let speedup = std::fs::read_to_string(pass.component).unwrap().parse().unwrap();
            let document = document("p", "s", vec![right("x", speedup)]);
            Ok(Evaluated { document: serde_json::to_string(&document).unwrap(), device: Duration::ZERO })
        }
    }

    #[test]
    fn the_best_evaluated_pass_is_handed_in_where_that_is_asked_for_and_loses_no_reward() {
        for (evaluated, which, expected) in [
            (&["1.5", "3.0", "2.0"][..], Which::Best, "3.0"),
            (&["1.5", "3.0", "2.0"], Which::Current, "2.0"),
            (&[], Which::Best, "2.0"),
        ] {
            let place = tempfile::tempdir().unwrap();
            let objects = Objects::open(&place.path().join("objects")).unwrap();
            let work = place.path().join("work");
            let mut tools = AgentTools::open(Arc::new(Scripted), objects, Path::new("s"), &work, "").unwrap();
            let mut rewards = Rewards::default();
            let mut call = |tool: Tool| {
                let effect = tools.execute(&tool).unwrap().effect;
                let paid = rewards.pay(&effect).total();
                (effect, paid)
            };
            let mut paid = 0.0;
            for source in evaluated.iter().chain(&["2.0"]).map(|&source| source.to_owned()) {
                call(Tool::WritePass { source });
                if !evaluated.is_empty() {
                    paid += call(Tool::Eval {}).1;
                }
            }
            let (effect, last) = call(Tool::Submit { which });
            let Effect::Submitted { source, verdict } = effect else { unreachable!("it is handed in: {effect:?}") };
            assert_eq!(source, sha256(expected.as_bytes()), "{evaluated:?}, {which:?}");
            let settled = rewards.settle(verdict.score).total();
            assert!((paid + last + settled - verdict.score).abs() < 1e-12, "{evaluated:?}, {which:?}");
            assert_eq!(settled < -1e-12, which == Which::Current, "what is taken back: {settled}");
        }
    }
}
