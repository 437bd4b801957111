//! `passhost agent export DIR`

use super::AgentExportArguments;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::output::{json, print};
use crate::terminal::Terminal;
use passhost_agent::export::harbor::{HarborTask, tasks};
use passhost_agent::export::{ExportFilter, export, why_empty};
use passhost_corpus::{new_directory, write_whole};
use std::fs::Permissions;
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

/// A file, or all that is in a directory; links as what they lead to.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        return std::fs::copy(from, to).map(drop);
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_copied_packed_and_as_a_directory() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir_all(at("whole/graph")).unwrap();
        for file in ["whole/graph/model.py", "packed"] {
            std::fs::write(at(file), file).unwrap();
        }
        for (sample, file, copied) in
            [("whole", "whole/graph/model.py", "to/whole/graph/model.py"), ("packed", "packed", "to/packed")]
        {
            copy(&at(sample), &at("to").join(sample)).unwrap();
            assert_eq!(std::fs::read_to_string(at(copied)).unwrap(), file);
        }
    }
}
