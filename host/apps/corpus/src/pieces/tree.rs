//! Writes tasks: a folder for each, as PassNet has them, and a list for each kind.

use super::graph_net::Provenance;
use super::names::{Unique, folder, piece};
use crate::decompose::{Kind, Task, covering};
use crate::{CorpusError, new_directory, write_whole};
use passhost_result::is_among;
use passhost_sample::{Constraints, GraphFolder};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The directory that everything is written to.
pub struct Tree {
    path: PathBuf,
    /// Of all tasks, whatever their kind.
    names: Unique,
}

/// A task that was written.
#[derive(Debug, Clone)]
pub struct Written {
    /// Its folder, relative to the directory.
    pub path: String,
    /// Its position among the tasks of its kind.
    pub task: usize,
}

/// Which tasks of a kind are written.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only those whose name contains one of these; all if there is none.
    pub names: Vec<String>,
    /// At most so many, chosen so that many pairs of neighbouring ops occur, rare ones first.
    pub most: Option<usize>,
}

impl Tree {
    /// Makes the directory, which must be new or empty.
    ///
    /// # Errors
    ///
    /// If it is neither, or cannot be made.
    pub fn create(path: &Path) -> Result<Tree, CorpusError> {
        new_directory(path).map(|()| Tree { path: path.into(), names: Unique::default() })
    }

    /// Writes the tasks that are asked for, and the list of them.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(
        &mut self,
        kind: Kind,
        tasks: &[Task],
        models: &BTreeMap<usize, Provenance>,
        selection: &Selection,
    ) -> Result<Vec<Written>, CorpusError> {
        Writer { tree: self, kind, models }.tasks(tasks, selection)
    }
}

struct Writer<'a> {
    tree: &'a mut Tree,
    kind: Kind,
    models: &'a BTreeMap<usize, Provenance>,
}

impl Writer<'_> {
    fn tasks(&mut self, tasks: &[Task], selection: &Selection) -> Result<Vec<Written>, CorpusError> {
        let wanted: Vec<String> = tasks.iter().map(|task| self.name(task, 0)).collect();
        let named: Vec<String> = wanted.into_iter().map(|name| self.tree.names.name(name)).collect();
        let is_wanted = |task: &usize| is_among(&named[*task], &selection.names);
        let wanted: Vec<usize> = (0..tasks.len()).filter(is_wanted).collect();
        let wanted = match selection.most {
            Some(most) => {
                let offered: Vec<&Task> = wanted.iter().map(|&task| &tasks[task]).collect();
                covering(&offered, most).into_iter().map(|chosen| wanted[chosen]).collect()
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
            write_whole(&self.tree.path.join(format!("{}.txt", self.kind.category())), &list)?;
        }
        Ok(written)
    }

    fn task(&self, task: &Task, path: &str) -> Result<(), CorpusError> {
        let root = self.tree.path.join(path);
        let mut graphs = String::new();
        let mut shapes: HashMap<&str, usize> = HashMap::new();
        for (number, variant) in task.variants.iter().enumerate() {
            let dtype = variant.piece.dtype.torch_name();
            let shape = shapes.entry(dtype).or_default();
            let name = self.name(task, number);
            let model = folder(self.model(task, number));
            let graph = format!("graphs/{}/{dtype}/shape-{shape}/{model}/{name}", self.kind.category());
            *shape += 1;
            let graph_net = self.models[&variant.origin.model].graph_net(self.kind, &name, variant)?;
            let piece = &variant.piece;
            let files = GraphFolder {
                program: &piece.program,
                weights: &piece.weights,
                constraints: &Constraints::fixed(&piece.weights),
                graph_net: &graph_net,
            };
            let folder = root.join(&graph);
            files.write(&folder).map_err(CorpusError::write(&folder))?;
            graphs.push_str(&graph);
            graphs.push('\n');
        }
        write_whole(&root.join("graph_list.txt"), &graphs)
    }

    fn model(&self, task: &Task, variant: usize) -> &str {
        self.models.get(&task.variants[variant].origin.model).map_or("", |model| &model.model)
    }

    fn name(&self, task: &Task, variant: usize) -> String {
        piece(self.model(task, variant), &task.variants[variant].label)
    }
}
