//! `passhost agent export DIR`

use super::AgentExportArguments;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::output::{json, print};
use crate::terminal::Terminal;
use passhost_agent::export::harbor::{HarborTask, tasks};
use passhost_agent::export::{ExportFilter, export, why_empty};
use passhost_corpus::packing::{Form, convert};
use passhost_corpus::{new_directory, write_whole};
use passhost_sample::{GRAPH_FILES, SampleText, is_packed};
use std::fs::Permissions;
use std::io::Error;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

pub fn run(arguments: &AgentExportArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let filter =
        ExportFilter { best: arguments.best, only_right: arguments.only_right, no_findings: arguments.no_findings };
    let Some(format) = arguments.format else { return folders(arguments, &filter, terminal) };
    let recorded = passhost_agent::run::files(&arguments.directory);
    CommandFiles::default().writes("--out", &arguments.out).reads("the run", &recorded).check()?;
    let (settings, recorded) = passhost_agent::run::read(&arguments.directory)?;
    let lines = export(&settings, &recorded, format, &filter);
    if lines.is_empty() {
        terminal.complain(&why_empty(&recorded, &filter));
    }
    let lines = lines.into_iter().map(|line| json(&line.to_string()));
    match &arguments.out {
        Some(path) => {
            let text: String = lines.map(|line| line + "\n").collect();
            write_whole(path, &text)?;
        }
        None => print(lines),
    }
    Ok(Exit::Success)
}

/// Harbor's tasks, in a new directory.
fn folders(arguments: &AgentExportArguments, filter: &ExportFilter, terminal: &Terminal) -> Result<Exit, Stop> {
    let out = arguments.out.as_deref();
    let out =
        out.ok_or_else(|| Stop::usage("tasks of Harbor are folders; name a directory for them with --out DIR"))?;
    let (settings, recorded) = passhost_agent::run::read(&arguments.directory)?;
    let tasks = tasks(&arguments.directory, &settings, &recorded, filter)?;
    if tasks.is_empty() {
        terminal.complain(&why_empty(&recorded, filter));
    }
    new_directory(out)?;
    for task in &tasks {
        write(task, &out.join(&task.name))?;
    }
    print([format!("{} tasks in {}", tasks.len(), out.display())]);
    Ok(Exit::Success)
}

fn write(task: &HarborTask, folder: &Path) -> Result<(), Stop> {
    let written = || -> std::io::Result<()> {
        for (path, text) in &task.texts {
            let path = folder.join(path);
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(&path, text)?;
            if path.extension().is_some_and(|ending| ending == "sh") {
                std::fs::set_permissions(&path, Permissions::from_mode(0o755))?;
            }
        }
        let (sample, places) = &task.sample;
        places.iter().try_for_each(|place| copy(sample, &folder.join(place)))
    };
    written().map_err(|error| {
        let (sample, folder) = (task.sample.0.display(), folder.display());
        Stop::usage(format!("cannot write the task `{folder}` with the sample `{sample}`: {error}"))
    })
}

/// The texts that a sample names, in the form that it has: nothing else of its directory belongs to a task.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let sample = SampleText::open(from).map_err(Error::other)?;
    if is_packed(from) {
        return convert(from, Form::Packed, to).map(drop).map_err(Error::other);
    }
    std::fs::create_dir_all(to)?;
    let mut list = String::new();
    for (index, variant) in sample.variants().iter().enumerate() {
        list += &format!("{}\n", variant.name);
        let folder = to.join(&variant.name);
        std::fs::create_dir_all(&folder)?;
        let mut texts = GRAPH_FILES.iter().filter_map(|file| Some((file, sample.text(index, file)?)));
        texts.try_for_each(|(file, text)| std::fs::write(folder.join(file), text))?;
    }
    if list == ".\n" { Ok(()) } else { std::fs::write(to.join("graph_list.txt"), list) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_sample_is_copied_in_its_form_without_what_it_does_not_name() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for file in [
            "task/a/model.py",
            "task/a/weight_meta.py",
            "task/notes",
            "secret",
            "graphs/b/model.py",
            "graphs/b/weight_meta.py",
        ] {
            std::fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            std::fs::write(at(file), file).unwrap();
        }
        std::fs::write(at("task/graph_list.txt"), "a\ngraphs/b\n").unwrap();
        // The link that tasks of a checkout have, and those that lead to what is none of theirs.
        symlink("../graphs", at("task/graphs")).unwrap();
        symlink(at("secret"), at("task/a/graph_net.json")).unwrap();
        symlink(at("secret"), at("task/other")).unwrap();
        symlink("/dev/zero", at("task/a/input_meta.py")).unwrap();
        copy(&at("task"), &at("to/task")).unwrap();
        let hash = |path: &Path| SampleText::open(path).unwrap().sha256().to_owned();
        assert_eq!(hash(&at("to/task")), hash(&at("task")));
        for absent in ["notes", "other", "a/graph_net.json", "a/input_meta.py"] {
            assert!(!at("to/task").join(absent).exists(), "{absent}");
        }
        convert(&at("to/task"), Form::Packed, &at("packed")).unwrap();
        copy(&at("packed"), &at("to/packed")).unwrap();
        assert_eq!(std::fs::read(at("to/packed")).unwrap(), std::fs::read(at("packed")).unwrap());
        copy(&at("graphs/b"), &at("to/b")).unwrap();
        assert_eq!(hash(&at("to/b")), hash(&at("graphs/b")));
    }
}
