//! Writes tasks: a folder for each, as PassNet has them, and a list for each kind.

use super::graph_net::Provenance;
use super::names::{Unique, folder, piece};
use super::shown;
use crate::arguments::DecomposeArguments;
use crate::output::{new_directory, write_whole};
use crate::{Exit, Stop};
use anyhow::Context;
use passhost_sample::decompose::{Kind, Task, covering};
use passhost_sample::{Constraints, GraphFolder};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The directory that everything is written to.
pub struct Tree(PathBuf);

/// A task that was written.
#[derive(Debug, Clone)]
pub struct Written {
    /// Its folder, relative to the directory.
    pub path: String,
    /// Its position among the tasks of its kind.
    pub task: usize,
}

impl Tree {
    /// Makes the directory, which must be new or empty.
    pub fn create(path: &Path) -> Result<Tree, Stop> {
        match new_directory(path) {
            Ok(()) => Ok(Tree(path.into())),
            Err(error) => Err(Stop { exit: Exit::Usage, error }),
        }
    }

    /// Writes the tasks that are asked for, and the list of them.
    pub fn write(
        &self,
        kind: Kind,
        tasks: &[Task],
        models: &BTreeMap<usize, Provenance>,
        arguments: &DecomposeArguments,
    ) -> Result<Vec<Written>, Stop> {
        let writer = Writer { tree: self, kind, models };
        writer.tasks(tasks, arguments).map_err(|error| Stop { exit: Exit::Usage, error })
    }
}

struct Writer<'a> {
    tree: &'a Tree,
    kind: Kind,
    models: &'a BTreeMap<usize, Provenance>,
}

impl Writer<'_> {
    fn tasks(&self, tasks: &[Task], arguments: &DecomposeArguments) -> anyhow::Result<Vec<Written>> {
        let mut names = Unique::default();
        let named: Vec<String> = tasks.iter().map(|task| names.name(self.name(task, 0))).collect();
        let is_wanted = |name: &str| arguments.name.is_empty() || arguments.name.iter().any(|text| name.contains(text));
        let wanted: Vec<usize> = (0..tasks.len()).filter(|&task| is_wanted(&named[task])).collect();
        let wanted = match arguments.max {
            Some(most) => {
                let offered: Vec<&Task> = wanted.iter().map(|&task| &tasks[task]).collect();
                covering(&offered, most as usize).into_iter().map(|chosen| wanted[chosen]).collect()
            }
            None => wanted,
        };
        let mut written = vec![];
        for task in wanted {
            let path = format!("{}/{}/{}", self.kind.category(), folder(self.model(&tasks[task], 0)), named[task]);
            self.task(&tasks[task], &path)?;
            written.push(Written { path, task });
        }
        if !written.is_empty() {
            let list: String = written.iter().map(|written| format!("{}\n", written.path)).collect();
            write_whole(&self.tree.0.join(format!("{}.txt", self.kind.category())), &list)?;
        }
        Ok(written)
    }

    fn task(&self, task: &Task, path: &str) -> anyhow::Result<()> {
        let root = self.tree.0.join(path);
        let mut graphs = String::new();
        let mut shapes: HashMap<&str, usize> = HashMap::new();
        for (number, variant) in task.variants.iter().enumerate() {
            let dtype = variant.piece.dtype.torch_name();
            let shape = shapes.entry(dtype).or_default();
            let name = self.name(task, number);
            let model = folder(self.model(task, number));
            let graph = format!("graphs/{}/{dtype}/shape-{shape}/{model}/{name}", self.kind.category());
            *shape += 1;
            let provenance = self.models.get(&variant.origin.model).context("a piece of no model")?;
            let graph_net = provenance.graph_net(self.kind, &name, variant)?;
            let piece = &variant.piece;
            let files = GraphFolder {
                program: &piece.program,
                weights: &piece.weights,
                constraints: &Constraints::fixed(&piece.weights),
                graph_net: &graph_net,
            };
            files.write(&root.join(&graph)).with_context(|| format!("cannot write `{}`", shown(&root.join(&graph))))?;
            graphs.push_str(&graph);
            graphs.push('\n');
        }
        write_whole(&root.join("graph_list.txt"), &graphs)
    }

    fn model(&self, task: &Task, variant: usize) -> &str {
        self.models.get(&task.variants[variant].origin.model).map_or("", |model| &model.model)
    }

    fn name(&self, task: &Task, variant: usize) -> String {
        piece(self.model(task, variant), &task.variants[variant].origin)
    }
}
