//! Where machine code comes from, as executors see it.

use super::nvrtc::{Cubin, Nvrtc, NvrtcError};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Threads that compile at the same time, at most: each takes about 100 MB.
const THREADS: usize = 16;

type Make = dyn Fn(&str) -> Result<Cubin, NvrtcError> + Send + Sync;

/// Makes machine code of sources for one GPU: with NVRTC in this process, or by asking somebody else.
pub struct Compiler(Box<Make>);

impl Compiler {
    /// NVRTC in this process, for a compute capability, major and minor. The library is looked for in `directories`, then
    /// where the system finds libraries.
    pub fn new(capability: (i32, i32), directories: &[PathBuf]) -> Result<Compiler, NvrtcError> {
        let nvrtc = Nvrtc::load(directories)?;
        Ok(Compiler::asking(move |source| nvrtc.compile(source, capability)))
    }

    /// Whoever answers `ask`: a cache, or another process. What comes back is executed.
    pub fn asking(ask: impl Fn(&str) -> Result<Cubin, NvrtcError> + Send + Sync + 'static) -> Compiler {
        Compiler(Box::new(ask))
    }

    /// The same, having compiled these sources, several at a time. What goes wrong here goes wrong again where it is needed, and
    /// is told there.
    #[must_use]
    pub fn ahead(self, sources: &BTreeSet<String>) -> Compiler {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let (left, made) = (Mutex::new(sources.iter()), Mutex::new(HashMap::new()));
        let next = || lock(&left).next();
        let work = || {
            while let Some(source) = next() {
                if let Ok(cubin) = self.compile(source) {
                    lock(&made).insert(source.clone(), cubin);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..sources.len().min(cores).min(THREADS) {
                // With fewer threads it takes longer.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        Compiler::asking(move |source| made.get(source).cloned().map_or_else(|| self.compile(source), Ok))
    }

    /// Machine code of a source.
    pub fn compile(&self, source: &str) -> Result<Cubin, NvrtcError> {
        (self.0)(source)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compiler")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_was_compiled_ahead_is_not_compiled_again_unless_it_failed() {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        let compiler = Compiler::asking(move |source| {
            lock(&log).push(source.to_owned());
            let is_first = lock(&log).iter().filter(|asked| *asked == source).count() == 1;
            match source {
                "fails at first" if is_first => Err(NvrtcError::NotHad { reason: "no room".into() }),
                _ => Ok(Cubin(source.into())),
            }
        });
        let sources: BTreeSet<String> =
            (0..40).map(|number| number.to_string()).chain(["fails at first".into()]).collect();
        let compiler = compiler.ahead(&sources);
        assert_eq!(lock(&asked).iter().collect::<BTreeSet<_>>(), sources.iter().collect());
        assert_eq!(lock(&asked).len(), sources.len(), "each once");
        for source in sources.iter().chain(&sources) {
            assert_eq!(compiler.compile(source).unwrap().0, source.as_bytes());
        }
        let again = lock(&asked).split_off(sources.len());
        assert_eq!(again, ["fails at first"; 2], "it is asked for where it is needed");
        assert_eq!(compiler.compile("another").unwrap().0, b"another");
    }
}
