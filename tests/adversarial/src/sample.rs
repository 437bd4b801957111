//! The sample of a case.

use crate::case::corpus;
use crate::{Case, Trouble};
use adversarial_guest::{Step, steps};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A sample, and the directory that holds it if it was made.
pub struct Found {
    pub path: PathBuf,
    _made: Option<TempDir>,
}

/// Finds or makes the sample of a case: its own directory `sample`, what `sample.make` says, one of the corpus, or
/// variants of a shipped one.
pub fn of(case: &Case) -> Result<Found, Trouble> {
    let own = case.path.join("sample");
    let recipe = case.path.join("sample.make");
    if own.exists() {
        return Ok(Found { path: own, _made: None });
    }
    if recipe.exists() {
        let made = tempfile::tempdir()?;
        let path = made.path().join("sample");
        fs::create_dir(&path)?;
        for step in steps(&fs::read_to_string(&recipe)?) {
            make(&path, &step).map_err(|error| format!("{}: line {}: {error}", recipe.display(), step.line))?;
        }
        return Ok(Found { path, _made: Some(made) });
    }
    let name = case.expect.sample.as_deref().ok_or("the case names no sample and has none of its own")?;
    let shared = corpus().join("samples").join(name);
    if shared.exists() {
        return Ok(Found { path: shared, _made: None });
    }
    let variants: Vec<&str> = case.expect.variants.iter().map(String::as_str).collect();
    let made = passhost_tests::sample_with(name, &variants);
    Ok(Found { path: made.path().into(), _made: Some(made) })
}

/// One step of a recipe: `copy NAME` of the corpus, `write FILE` with the lines below it, `link FILE TARGET`,
/// `grow FILE BYTES`, `fifo FILE`. A line `repeat COUNT TEXT` stands for so many.
fn make(directory: &Path, step: &Step<'_>) -> Result<(), Trouble> {
    let words: Vec<&str> = step.words().collect();
    match (step.verb, words.as_slice()) {
        ("copy", [name]) => {
            for file in fs::read_dir(corpus().join("samples").join(name))? {
                let file = file?;
                fs::copy(file.path(), directory.join(file.file_name()))?;
            }
        }
        ("write", [file]) => fs::write(directory.join(file), written(step.block)?)?,
        ("link", [file, target]) => {
            let _ = fs::remove_file(directory.join(file));
            std::os::unix::fs::symlink(target, directory.join(file))?;
        }
        ("grow", [file, _]) => {
            let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(directory.join(file))?;
            file.set_len(step.number(1)? as u64)?;
        }
        ("fifo", [file]) => {
            let _ = fs::remove_file(directory.join(file));
            crate::file::make_fifo(&directory.join(file))?;
        }
        _ => return Err(format!("there is no step `{} {}`", step.verb, step.rest).into()),
    }
    Ok(())
}

/// The lines of a block, without the indent of its first.
fn written(block: &str) -> Result<String, Trouble> {
    let indent = block.len() - block.trim_start().len();
    let mut text = String::new();
    for line in block.lines() {
        let line = line.get(indent..).unwrap_or_default();
        match line.trim_start().strip_prefix("repeat ").and_then(|rest| rest.split_once(' ')) {
            Some((count, rest)) => {
                let space = &line[..line.len() - line.trim_start().len()];
                text.push_str(&format!("{space}{rest}\n").repeat(count.parse()?));
            }
            None => text.push_str(&format!("{line}\n")),
        }
    }
    Ok(text)
}
