//! Samples: texts and directories of the shipped ones with something changed, read in this process and by reader
//! children.

mod files;
mod text;

use crate::random::Random;
use crate::target::{Outcome, Target, variant};
use files::Tree;
use passhost_child::{Confinement, Memo, TypesClient, TypesSession};
use passhost_ir::{OpTable, functionalise, verify_graph};
use passhost_protocol::reader::{SampleError, VariantChange};
use passhost_sample::{InputMode, SampleText};
use passhost_supervisor::{OpenError, ReadError};
use passhost_tests::repository;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Wall clock that a reader child may take for a variant.
const READING: Duration = Duration::from_secs(60);

/// The files of one graph of a shipped sample.
#[derive(Debug, Clone)]
struct Graph {
    model: Vec<u8>,
    weights: Vec<u8>,
    constraints: Vec<u8>,
}

/// The graphs of all shipped samples, and those of the attacks.
fn shipped() -> Result<Vec<Graph>, String> {
    let roots = ["samples", "tests/adversarial/samples"].map(|root| repository().join(root));
    let found = passhost_sample::find_all(roots.iter().map(PathBuf::as_path)).map_err(|error| error.to_string())?;
    let mut graphs = vec![];
    for named in found.samples {
        let sample = SampleText::open(&named.path).map_err(|error| error.to_string())?;
        let read = |index, file| sample.text(index, file).unwrap_or_default().into_bytes();
        graphs.extend((0..sample.variants().len()).map(|index| Graph {
            model: read(index, "model.py"),
            weights: read(index, "weight_meta.py"),
            constraints: read(index, "input_tensor_constraints.py"),
        }));
    }
    Ok(graphs)
}

/// A graph with something changed in one or two of its files.
fn changed(graphs: &[Graph], random: &mut Random) -> Graph {
    let mut graph = random.pick(graphs).clone();
    let other = random.pick(graphs);
    for _ in 0..=random.below(2) {
        match random.below(10) {
            0 | 1 => graph.weights = text::changed(&graph.weights, &other.weights, random),
            2 => graph.constraints = text::changed(&graph.constraints, &other.constraints, random),
            _ => graph.model = text::changed(&graph.model, &other.model, random),
        }
    }
    graph
}

/// Types from a types child, which is asked once for each question.
fn types() -> TypesClient {
    TypesClient::new(Arc::new(Memo::default()), Confinement::default())
}

/// The reader in this process.
pub struct Samples {
    graphs: Vec<Graph>,
    folder: TempDir,
    types: TypesClient,
}

/// Files of a graph, and what is asked about it.
pub struct Case {
    graph: Graph,
    mode: InputMode,
    /// A size or an element type that the graph is to have instead.
    change: Option<VariantChange>,
}

impl Samples {
    /// With the samples of the repository.
    ///
    /// # Errors
    ///
    /// If there are none, or there is no directory to write to.
    pub fn new() -> Result<Samples, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Samples { graphs: shipped()?, folder, types: types() })
    }

    fn read(folder: &Path, case: &Case, types: &mut TypesSession<'_>) -> Result<String, SampleError> {
        let sample = SampleText::open(folder)?;
        if let Some(change) = &case.change {
            let reading = sample.reading(0, types)?;
            return Ok(match sample.vary(0, &reading, change, types) {
                Ok(_) => "varied".into(),
                Err(refusal) => format!("not varied: {}", variant(&refusal)),
            });
        }
        let read = sample.load(0, case.mode, types)?;
        Ok(match functionalise(&read.program, OpTable::sample()) {
            Ok(_) => "read".into(),
            Err(error) => format!("read, not functional: {}", variant(&error)),
        })
    }
}

impl Target for Samples {
    type Case = Case;

    fn make(&mut self, random: &mut Random) -> Case {
        let graph = changed(&self.graphs, random);
        let mode = *random.pick(&[InputMode::Fresh, InputMode::Published]);
        let change = random.chance(15).then(|| {
            let symbol = format!("s{}", random.below(3));
            let to = if random.chance(80) { random.between(1, 40) } else { random.integer() };
            let dtype = *random.pick(&[None, Some(passhost_ir::Dtype::F16), Some(passhost_ir::Dtype::Bf16)]);
            let symbols = if random.chance(70) { [(symbol, to)].into() } else { [].into() };
            VariantChange { symbols, dtype }
        });
        Case { graph, mode, change }
    }

    fn run(&mut self, case: &Case) -> Outcome {
        let Graph { model, weights, constraints } = &case.graph;
        for (name, contents) in
            [("model.py", model), ("weight_meta.py", weights), ("input_tensor_constraints.py", constraints)]
        {
            std::fs::write(self.folder.path().join(name), contents).map_err(|error| error.to_string())?;
        }
        let mut types = self.types.session();
        let read = Samples::read(self.folder.path(), case, &mut types);
        if let Some(trouble) = types.end() {
            return Err(format!("nobody knows types: {trouble}"));
        }
        Ok(read.unwrap_or_else(|error| refused(&error)))
    }

    fn written(&self, case: &Case) -> Vec<u8> {
        let Graph { model, weights, constraints } = &case.graph;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (model, weights, constraints) = (text(model), text(weights), text(constraints));
        format!("# {:?}, {:?}\n{model}\n# weights\n{weights}\n# constraints\n{constraints}", case.mode, case.change)
            .into_bytes()
    }
}

fn refused(error: &SampleError) -> String {
    format!("refused: {}", variant(error))
}

/// Reader children.
pub struct Reader {
    graphs: Vec<Graph>,
    types: TypesClient,
}

impl Reader {
    /// With the samples of the repository.
    ///
    /// # Errors
    ///
    /// If there are none.
    pub fn new() -> Result<Reader, String> {
        Ok(Reader { graphs: shipped()?, types: types() })
    }
}

impl Target for Reader {
    type Case = Tree;

    fn make(&mut self, random: &mut Random) -> Tree {
        Tree::draw(&self.graphs, random)
    }

    fn run(&mut self, tree: &Tree) -> Outcome {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        tree.write(folder.path()).map_err(|error| format!("cannot write the case: {error}"))?;
        let mut sample = match passhost_supervisor::Sample::open(&folder.path().join("sample"), Confinement::default())
        {
            Ok(sample) => sample,
            Err(OpenError::Sample(error)) => return Ok(format!("not opened: {}", variant(&error))),
            Err(OpenError::Reader(error)) => return Err(error.to_string()),
        };
        if let Some(lost) = sample.lost() {
            return Err(lost.message.clone());
        }
        let (mut read, mut refusal) = (0, None);
        for index in 0..sample.variants().len() {
            match sample.read(index, InputMode::Fresh, &mut self.types.session(), READING) {
                Ok(variant) => {
                    verify_graph(&variant.program, OpTable::sample()).map_err(|error| error.to_string())?;
                    read += 1;
                }
                Err(ReadError::Sample(error)) => refusal = Some(refused(&error)),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(match refusal {
            None => "read".into(),
            Some(refusal) if read == 0 => refusal,
            Some(_) => "read in part".into(),
        })
    }

    fn written(&self, tree: &Tree) -> Vec<u8> {
        format!("{tree:?}\n").into_bytes()
    }
}
