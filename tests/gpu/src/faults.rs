//! Faults of a GPU during an evaluation by the real programs: no memory left, an op that takes the context down. Each ends
//! in a document that blames who did it, and the next evaluation is as if nothing had happened.

use anyhow::{Context, Result, bail, ensure};
use cudarc::driver::result;
use passhost_kernels::cuda::Gpu;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const MIB: usize = 1 << 20;
/// Memory that is left free: too little for a context, for some of the processes of an evaluation, for all of them.
const LEFT: [usize; 7] = [0, 200, 450, 700, 1200, 2000, 4000];

/// A lookup of rows that are not there: on a GPU an assertion of the kernel fails, and the context is gone.
const MODEL: &str = "import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = torch.nn.functional.embedding(in_0, in_1, None, None, 2.0, False, False)
        return (tmp_0,)
";
const WEIGHTS: &str = "class Program_weight_tensor_meta_in_0:
\tname = \"in_0\"
\tshape = [4]
\tdtype = \"torch.int64\"
\tdevice = \"cuda:0\"
\tmean = None
\tstd = None
\tdata = [0, 3, 700000, 900000]


class Program_weight_tensor_meta_in_1:
\tname = \"in_1\"
\tshape = [10, 8]
\tdtype = \"torch.float32\"
\tdevice = \"cuda:0\"
\tmean = 0.0
\tstd = 1.0
\tdata = None
";

/// The programs and what they evaluate.
pub(crate) struct Evaluation<'a> {
    pub(crate) passhost: &'a Path,
    pub(crate) plugin: &'a Path,
    pub(crate) sample: &'a Path,
}

/// How an evaluation ended.
struct End {
    code: i32,
    document: Option<Value>,
    errors: String,
    seconds: f64,
}

impl End {
    /// Whose doing, and what was said; of an evaluation that opened no device, what was printed.
    fn said(&self) -> (&str, &str) {
        let failure = self.document.as_ref().and_then(|document| {
            let variants = document["variants"].as_array()?.iter().map(|variant| &variant["failure"]);
            std::iter::once(&document["failure"]).chain(variants).find(|failure| !failure.is_null())
        });
        match failure {
            Some(failure) => (failure["blame"].as_str().unwrap_or("?"), failure["message"].as_str().unwrap_or("?")),
            None if self.document.is_some() => ("nobody", ""),
            None => ("host", self.errors.lines().last().unwrap_or("")),
        }
    }
}

impl Evaluation<'_> {
    fn run(&self, sample: &Path) -> Result<End> {
        let json = std::env::temp_dir().join(format!("passhost-faults-{}.json", std::process::id()));
        let started = Instant::now();
        let output = Command::new(self.passhost)
            .args(["eval", "--device", "cuda", "--budget", "100ms", "--json"])
            .arg(&json)
            .args([self.plugin, sample])
            .output()
            .with_context(|| format!("starting {}", self.passhost.display()))?;
        let document = fs::read_to_string(&json).ok().and_then(|text| serde_json::from_str(&text).ok());
        let _ = fs::remove_file(&json);
        let code = output.status.code().context("passhost was killed")?;
        let errors = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Ok(End { code, document, errors, seconds: started.elapsed().as_secs_f64() })
    }

    /// That nothing is left of a fault.
    fn works(&self) -> Result<()> {
        let end = self.run(self.sample)?;
        ensure!(end.code == 0, "an evaluation after the fault ends with {}: {:?}", end.code, end.said());
        Ok(())
    }
}

/// All faults, a line for each.
pub(crate) fn run(gpu: &Gpu, evaluation: &Evaluation<'_>) -> Result<()> {
    evaluation.works().context("before any fault")?;
    for left in LEFT {
        let end = {
            let _taken = Taken::all_but(gpu, left * MIB)?;
            evaluation.run(evaluation.sample)?
        };
        let (blame, message) = end.said();
        println!("{left:5} MiB free: exit {}, {blame}, {:.1} s: {message}", end.code, end.seconds);
        let scored = end.code == 0 && blame == "nobody";
        ensure!(scored || (end.code == 3 && blame == "host"), "a full GPU is nobody's doing but the host's");
    }
    evaluation.works().context("after a full GPU")?;
    let end = evaluation.run(&lost_rows()?)?;
    let (blame, message) = end.said();
    println!("rows that are not there: exit {}, {blame}, {:.1} s: {message}", end.code, end.seconds);
    ensure!(end.code == 2 && blame == "sample", "the reference's fault is the sample's doing");
    evaluation.works().context("after a context was lost")?;
    println!("evaluations after each work");
    Ok(())
}

/// A sample whose reference takes the context down.
fn lost_rows() -> Result<PathBuf> {
    let directory = std::env::temp_dir().join(format!("passhost-faults-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    fs::write(directory.join("model.py"), MODEL)?;
    fs::write(directory.join("weight_meta.py"), WEIGHTS)?;
    Ok(directory)
}

/// Memory of the GPU that nobody else gets.
struct Taken(Vec<u64>);

impl Taken {
    /// Takes pieces until no more than `left` bytes are free.
    fn all_but(gpu: &Gpu, left: usize) -> Result<Taken> {
        let _current = gpu.enter()?;
        let mut taken = Taken(vec![]);
        let mut piece = 16 << 30;
        while piece >= MIB {
            let (free, _) = result::mem_get_info()?;
            if free <= left {
                return Ok(taken);
            }
            // SAFETY: fresh memory, freed when this is dropped and touched by nobody.
            match unsafe { result::malloc_sync(piece.min(free - left)) } {
                Ok(address) => taken.0.push(address),
                Err(_) => piece /= 2,
            }
        }
        if taken.0.is_empty() {
            bail!("no memory of the GPU can be taken");
        }
        Ok(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        for address in self.0.drain(..) {
            // SAFETY: allocated by this. There is nothing to do about an error.
            let _ = unsafe { result::free_sync(address) };
        }
    }
}
