//! Reading the files of a sample, which lie in a directory or are packed in one file. Nothing outside that directory is
//! opened, with one exception: the tasks of a PassNet checkout share one directory of graphs, to which each of them has a
//! link.

use crate::list::{LIST_BYTES, entries, plain};
use crate::packed::{Packed, is_packed};
use crate::text::{cannot_open, read_text};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use passhost_protocol::reader::SampleError;
use std::path::{Component, Path, PathBuf};

/// The file that makes a directory a graph.
const MODEL: &str = "model.py";
/// The file that makes a directory a task.
const GRAPHS: &str = "graph_list.txt";
/// The file of a graph that names its symbols.
pub const CONSTRAINTS: &str = "input_tensor_constraints.py";
/// The files of a graph that are read.
pub const GRAPH_FILES: [&str; 6] =
    [MODEL, "weight_meta.py", "input_meta.py", CONSTRAINTS, "graph_hash.txt", "graph_net.json"];
/// The directory of a task's graphs, and of all graphs of a checkout.
const SHARED: &str = "graphs";
/// The files of a sample that is open, with the paths of its graphs.
#[derive(Debug)]
pub struct SampleFiles {
    /// For messages.
    pub path: PathBuf,
    place: SampleStorage,
    /// Paths of graph folders, relative to the sample; `.` for a graph folder by itself.
    pub graphs: Vec<PathBuf>,
}

/// Where files lie.
#[derive(Debug)]
enum SampleStorage {
    Directory {
        dir: Dir,
        /// What the link `graphs` leads to, if it is one.
        shared: Option<Dir>,
    },
    Packed(Packed),
}

/// Whether a directory looks like a task or a graph, or a file like one that is packed.
pub fn is_sample(path: &Path) -> bool {
    [MODEL, GRAPHS].iter().any(|name| path.join(name).exists()) || is_packed(path)
}

/// Whether a file has the name of one of a task's or a graph's.
pub fn is_of_a_sample(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == GRAPHS || GRAPH_FILES.iter().any(|own| name == *own))
}

impl SampleFiles {
    /// Opens a sample: a task, or a graph folder.
    pub fn open(path: &Path) -> Result<SampleFiles, SampleError> {
        let place = if is_packed(path) {
            SampleStorage::Packed(Packed::open(path)?)
        } else {
            let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(cannot_open(path))?;
            let shared = shared_graphs(path).and_then(|path| Dir::open_ambient_dir(path, ambient_authority()).ok());
            SampleStorage::Directory { dir, shared }
        };
        let mut files = SampleFiles { path: path.into(), place, graphs: vec![] };
        if files.has(MODEL) {
            files.graphs.push(PathBuf::from("."));
            return Ok(files);
        }
        if !files.has(GRAPHS) {
            return Err(SampleError::NoSample(path.display().to_string()));
        }
        let list = files.read(Path::new(GRAPHS), LIST_BYTES)?;
        let file = files.shown(Path::new(GRAPHS));
        files.graphs = entries(&list, &file)?;
        let leads_out =
            |graph: &&PathBuf| !graph.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        match files.graphs.iter().find(leads_out) {
            Some(graph) => {
                let reason = format!("`{}` leads out of the sample's directory", graph.display());
                Err(SampleError::Read { file, reason })
            }
            None => Ok(files),
        }
    }

    fn has(&self, name: &str) -> bool {
        match &self.place {
            SampleStorage::Directory { dir, .. } => dir.exists(name),
            SampleStorage::Packed(packed) => packed.text(name).is_some(),
        }
    }

    /// A file's path as the user would find it.
    pub fn shown(&self, file: &Path) -> String {
        plain(&self.path.join(file)).display().to_string()
    }

    /// A text file of at most `limit` bytes, by its path in the sample.
    pub fn read(&self, file: &Path, limit: u64) -> Result<String, SampleError> {
        let failed = |reason: String| SampleError::Read { file: self.shown(file), reason };
        let (dir, inside) = match &self.place {
            SampleStorage::Packed(packed) => {
                let text = plain(file).to_str().and_then(|file| packed.text(file)).map(str::to_owned);
                return text.ok_or_else(|| failed("the packed sample has no such file".into()));
            }
            SampleStorage::Directory { dir, shared } => match (shared, file.strip_prefix(SHARED)) {
                (Some(shared), Ok(inside)) => (shared, inside),
                _ => (dir, file),
            },
        };
        // Each call resolves every link inside that directory's own tree or fails. Opening a pipe would wait for a writer.
        let metadata = dir.metadata(inside).map_err(|error| failed(error.to_string()))?;
        if !metadata.is_file() {
            return Err(failed("it is not a regular file".into()));
        }
        let opened = dir.open(inside).map_err(|error| failed(error.to_string()))?;
        read_text(opened, limit, || self.shown(file))
    }
}

/// What a sample at `path` is read from, directories or a file, by which a process that reads it can be confined to them.
pub fn places(path: &Path) -> Vec<PathBuf> {
    std::iter::once(path.to_owned()).chain(shared_graphs(path)).collect()
}

/// The directory that a task's link `graphs` leads to, if it is a directory `graphs` beside one of the directories that
/// the task lies in: `../../graphs`. A link to anything else is treated as every link is, and leads nowhere outside.
fn shared_graphs(task: &Path) -> Option<PathBuf> {
    let link = std::fs::read_link(task.join(SHARED)).ok()?;
    let mut parts = link.components().rev();
    let beside = parts.next() == Some(Component::Normal(SHARED.as_ref()))
        && parts.all(|part| part == Component::ParentDir)
        && link.components().count() > 1;
    // From where the task really lies, as the system follows the link.
    let target = task.canonicalize().ok()?.join(link);
    beside.then_some(target)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::text::FILE_BYTES;
    use std::os::unix::fs::symlink;

    #[test]
    fn tasks_of_a_checkout_share_its_graphs_and_reach_nothing_else() {
        let checkout = tempfile::tempdir().unwrap();
        let (root, task) = (checkout.path(), checkout.path().join("samples/set/ab"));
        for folder in ["graphs/g/0", "other/g/0", "samples/set/ab"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["graphs/g/0/model.py", "other/g/0/model.py", "graphs/secret"] {
            std::fs::write(root.join(file), file).unwrap();
        }
        std::fs::write(task.join(GRAPHS), "graphs/g/0\n").unwrap();
        symlink("../../secret", root.join("graphs/g/out.py")).unwrap();
        symlink("../secret", root.join("graphs/g/in.py")).unwrap();
        for (link, found) in [
            ("../../../graphs", Some("graphs/g/0/model.py")),
            ("../../../other", None),
            ("../../../graphs/../other", None),
            ("../../../graphs/g", None),
            ("/graphs", None),
            ("graphs", None),
            (root.join("graphs").to_str().unwrap(), None),
        ] {
            let _ = std::fs::remove_file(task.join(SHARED));
            symlink(link, task.join(SHARED)).unwrap();
            let read = SampleFiles::open(&task).unwrap().read(Path::new("graphs/g/0/model.py"), FILE_BYTES);
            assert_eq!(read.ok().as_deref(), found, "{link}");
        }
        let _ = std::fs::remove_file(task.join(SHARED));
        symlink("../../../graphs", task.join(SHARED)).unwrap();
        let directory = SampleFiles::open(&task).unwrap();
        assert!(directory.read(Path::new("graphs/g/in.py"), FILE_BYTES).is_ok());
        assert!(directory.read(Path::new("graphs/g/out.py"), FILE_BYTES).is_err());
        assert!(directory.read(Path::new("graphs/../../secret"), FILE_BYTES).is_err());
    }
}
