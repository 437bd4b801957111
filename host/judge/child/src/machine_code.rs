//! Machine code for GPUs, which device children ask for: from a cache, or of a child that makes it of one source.
//!
//! A device child runs what a plugin returned, so that what it says may be a lie one day. It holds no key and offers no
//! machine code: all that it can do is to ask. What is kept is made of the very text that it is found by, in a process
//! that has seen no other text. So whoever asks for strange sources spoils nothing but the machine code of these, which
//! nobody else asks for.

use crate::process::{Child, ChildError, Confinement};
use passhost_cache::{Cache, CacheKey};
use passhost_protocol::compiler::{CompilerSource, FromCompiler, MAX_CODE, MAX_SOURCE};
use passhost_result::SandboxProfile;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Loading a compiler takes a few hundredths of a second; a cold disk may take a thousand times that.
const START: Duration = Duration::from_secs(60);
/// The child in messages.
const NAME: &str = "compiler";

/// Why there is no machine code.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// The child did not start or died.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// Too much is asked for, there is no compiler on this machine, or it does not take the source.
    #[error("{0}")]
    Refused(String),
}

/// Machine code of one source, until a moment.
type CompileOnce = dyn FnOnce(&CompilerSource, Instant) -> Result<Vec<u8>, CodeError> + Send;

/// A compiler that has seen no source yet.
pub struct SourceCompiler {
    /// What machine code depends on besides the source: version and options.
    pub identity: String,
    /// What keeps it in.
    pub profile: Option<SandboxProfile>,
    /// Makes machine code of a source until a moment. There is no second one.
    pub compile: Box<CompileOnce>,
}

/// Starts a compiler.
pub type StartCompiler = Box<dyn FnMut() -> Result<SourceCompiler, CodeError> + Send>;

/// What may be asked for in the course of one request to a device child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    sources: usize,
    bytes: usize,
}

impl Allowance {
    /// Sources: a rewrite that needs more takes longer to compile than any deadline allows.
    pub const SOURCES: usize = 10_000;
    /// Bytes of sources and machine code together.
    pub const BYTES: usize = 512 << 20;

    fn charge(&mut self, sources: usize, bytes: usize) -> Result<(), CodeError> {
        let exhausted = |what, limit: usize| {
            let way_out = "make fewer kernels";
            CodeError::Refused(format!("more than {limit} {what} would be compiled for one rewrite; {way_out}"))
        };
        self.sources = self.sources.checked_sub(sources).ok_or_else(|| exhausted("sources", Allowance::SOURCES))?;
        let what = "bytes of sources and machine code";
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| exhausted(what, Allowance::BYTES))?;
        Ok(())
    }
}

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance { sources: Allowance::SOURCES, bytes: Allowance::BYTES }
    }
}

/// Machine code for whoever asks.
pub struct MachineCode {
    start: StartCompiler,
    cache: Option<Arc<Cache>>,
    /// Started, and given nothing yet.
    waiting: Option<SourceCompiler>,
    /// That of the compiler that was started last.
    identity: Option<String>,
    profile: Option<SandboxProfile>,
}

impl MachineCode {
    /// Compilers are started by `start`, when they are needed; what they make is kept in `cache`.
    pub fn new(start: StartCompiler, cache: Option<Arc<Cache>>) -> MachineCode {
        MachineCode { start, cache, waiting: None, identity: None, profile: None }
    }

    /// What keeps the compilers in, once one was started.
    pub fn profile(&self) -> Option<SandboxProfile> {
        self.profile
    }

    /// Machine code of a source, charged to an allowance before anything is done about it.
    ///
    /// # Errors
    ///
    /// If the source is too long, too much was asked for, or there is no machine code until `deadline`.
    pub fn of(
        &mut self,
        source: &CompilerSource,
        allowance: &mut Allowance,
        deadline: Instant,
    ) -> Result<Vec<u8>, CodeError> {
        let bytes = source.text.len();
        if bytes > MAX_SOURCE {
            return Err(too_long("a source", bytes, MAX_SOURCE));
        }
        allowance.charge(1, bytes)?;
        let code = match self.kept(source)? {
            Some(code) => code,
            None => self.made(source, deadline)?,
        };
        allowance.charge(0, code.len())?;
        Ok(code)
    }

    /// What the cache has. A compiler is started if none has said yet what it is.
    fn kept(&mut self, source: &CompilerSource) -> Result<Option<Vec<u8>>, CodeError> {
        let Some(cache) = self.cache.clone() else { return Ok(None) };
        if self.identity.is_none() {
            self.waiting = Some(self.started()?);
        }
        Ok(self.identity.as_ref().and_then(|identity| cache.get(&key(source, identity))))
    }

    fn made(&mut self, source: &CompilerSource, deadline: Instant) -> Result<Vec<u8>, CodeError> {
        let compiler = match self.waiting.take() {
            Some(compiler) => compiler,
            None => self.started()?,
        };
        let key = key(source, &compiler.identity);
        let code = (compiler.compile)(source, deadline)?;
        if code.len() > MAX_CODE {
            return Err(too_long("machine code", code.len(), MAX_CODE));
        }
        if let Some(cache) = &self.cache {
            cache.put(&key, &code);
        }
        Ok(code)
    }

    fn started(&mut self) -> Result<SourceCompiler, CodeError> {
        let compiler = (self.start)()?;
        (self.identity, self.profile) = (Some(compiler.identity.clone()), compiler.profile);
        Ok(compiler)
    }
}

/// Machine code of a source as a cache has it, or as `make` makes it, which is kept then.
///
/// # Errors
///
/// Those of `make`.
pub fn kept_or_made<E>(
    cache: Option<&Cache>,
    source: &CompilerSource,
    identity: &str,
    make: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    let key = key(source, identity);
    if let Some(code) = cache.and_then(|cache| cache.get(&key)) {
        return Ok(code);
    }
    let code = make()?;
    if let Some(cache) = cache.filter(|_| code.len() <= MAX_CODE) {
        cache.put(&key, &code);
    }
    Ok(code)
}

fn too_long(what: &str, bytes: usize, limit: usize) -> CodeError {
    CodeError::Refused(format!("{what} of {bytes} bytes is longer than the {limit} allowed; split the kernel"))
}

/// By the whole text, and all else that machine code depends on.
fn key(source: &CompilerSource, identity: &str) -> CacheKey {
    let (major, minor) = source.capability;
    CacheKey::of(&[
        b"machine code of one source",
        source.text.as_bytes(),
        &major.to_le_bytes(),
        &minor.to_le_bytes(),
        identity.as_bytes(),
    ])
}

/// Starts a child for each source, confined as it must be.
pub fn processes(confinement: Confinement) -> StartCompiler {
    Box::new(move || start_process(confinement))
}

fn start_process(confinement: Confinement) -> Result<SourceCompiler, CodeError> {
    let mut child: Child<FromCompiler> = Child::start(NAME, "passhost-compiler", None, &["LD_LIBRARY_PATH"])?;
    let (identity, profile) = match child.receive(Instant::now() + START)? {
        FromCompiler::Ready { identity, profile } => (identity, profile),
        FromCompiler::Unusable(reason) => return Err(CodeError::Refused(reason)),
        FromCompiler::Made(_) => return Err(ChildError::UnexpectedMessage(NAME).into()),
    };
    child.hold_to(confinement, profile)?;
    let compile = move |source: &CompilerSource, deadline| {
        child.send(source)?;
        match child.receive(deadline)? {
            FromCompiler::Made(made) => made.map_err(CodeError::Refused),
            _ => Err(ChildError::UnexpectedMessage(NAME).into()),
        }
    };
    Ok(SourceCompiler { identity, profile: Some(profile), compile: Box::new(compile) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A compiler whose machine code names the source, the version and how many compilers were started.
    #[derive(Default, Clone)]
    struct Fake {
        started: Arc<AtomicU32>,
        version: String,
        code: Option<Vec<u8>>,
    }

    impl Fake {
        fn start(&self) -> StartCompiler {
            let fake = self.clone();
            Box::new(move || {
                let (number, fake) = (fake.started.fetch_add(1, Ordering::SeqCst) + 1, fake.clone());
                let identity = fake.version.clone();
                let compile = move |source: &CompilerSource, _| {
                    if source.text == "wrong" {
                        return Err(CodeError::Refused("error: wrong".into()));
                    }
                    let text = format!("{} {:?} by {} {number}", source.text, source.capability, fake.version);
                    Ok(fake.code.unwrap_or(text.into_bytes()))
                };
                Ok(SourceCompiler { identity, profile: None, compile: Box::new(compile) })
            })
        }

        fn started(&self) -> u32 {
            self.started.load(Ordering::SeqCst)
        }
    }

    fn source(text: &str, minor: i32) -> CompilerSource {
        CompilerSource { text: text.into(), capability: (9, minor) }
    }

    fn cache() -> (tempfile::TempDir, Option<Arc<Cache>>) {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::open(&directory.path().join("kernels")).unwrap();
        (directory, Some(Arc::new(cache)))
    }

    fn ask(machine_code: &mut MachineCode, source: &CompilerSource) -> Result<String, String> {
        let code = machine_code.of(source, &mut Allowance::default(), Instant::now());
        code.map(|code| String::from_utf8_lossy(&code).into_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn each_source_has_a_compiler_of_its_own_and_is_compiled_once() {
        let ((_directory, cache), fake) = (cache(), Fake::default());
        let mut machine_code = MachineCode::new(fake.start(), cache.clone());
        for (text, minor, made) in [
            ("a", 0, "a (9, 0) by  1"),
            ("b", 0, "b (9, 0) by  2"),
            ("a", 0, "a (9, 0) by  1"),
            ("a", 1, "a (9, 1) by  3"),
        ] {
            assert_eq!(ask(&mut machine_code, &source(text, minor)).as_deref(), Ok(made));
        }
        // Another device finds it, for the price of learning which compiler it would have.
        let mut machine_code = MachineCode::new(fake.start(), cache);
        assert_eq!(ask(&mut machine_code, &source("b", 0)).as_deref(), Ok("b (9, 0) by  2"));
        assert_eq!(ask(&mut machine_code, &source("a", 0)).as_deref(), Ok("a (9, 0) by  1"));
        assert_eq!(fake.started(), 4);
    }

    #[test]
    fn another_compiler_makes_it_anew() {
        let ((_directory, cache), mut fake) = (cache(), Fake::default());
        assert!(ask(&mut MachineCode::new(fake.start(), cache.clone()), &source("a", 0)).is_ok());
        fake.version = "13.1".into();
        let made = ask(&mut MachineCode::new(fake.start(), cache), &source("a", 0));
        assert_eq!(made.as_deref(), Ok("a (9, 0) by 13.1 2"));
    }

    #[test]
    fn a_refused_source_is_not_kept() {
        let ((_directory, cache), fake) = (cache(), Fake::default());
        let mut machine_code = MachineCode::new(fake.start(), cache);
        for started in 1..3 {
            assert_eq!(ask(&mut machine_code, &source("wrong", 0)), Err("error: wrong".into()));
            assert_eq!(fake.started(), started);
        }
    }

    #[test]
    fn what_a_process_makes_itself_is_kept_for_those_that_ask_and_the_other_way_round() {
        let ((_directory, cache), fake) = (cache(), Fake { version: "1".into(), ..Fake::default() });
        let own = |text, version, made: &[u8]| {
            let make = || if made.is_empty() { Err("not made") } else { Ok(made.to_vec()) };
            kept_or_made(cache.as_deref(), &source(text, 0), version, make)
        };
        assert_eq!(own("a", "1", b"own"), Ok(b"own".to_vec()));
        assert_eq!(own("a", "1", b""), Ok(b"own".to_vec()));
        assert_eq!((own("a", "2", b""), own("b", "1", b"")), (Err("not made"), Err("not made")));
        let mut machine_code = MachineCode::new(fake.start(), cache.clone());
        assert_eq!(ask(&mut machine_code, &source("a", 0)).unwrap(), "own");
        let made = ask(&mut machine_code, &source("b", 0)).unwrap();
        assert_eq!(own("b", "1", b""), Ok(made.into_bytes()));
    }

    #[test]
    fn without_a_cache_it_is_compiled_each_time() {
        let mut machine_code = MachineCode::new(Fake::default().start(), None);
        for number in 1..3 {
            assert_eq!(ask(&mut machine_code, &source("a", 0)), Ok(format!("a (9, 0) by  {number}")));
        }
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_is_compiled_or_kept() {
        let fake = Fake { code: Some(vec![0; MAX_CODE + 1]), ..Fake::default() };
        let (_directory, cache) = cache();
        let mut machine_code = MachineCode::new(fake.start(), cache);
        let error = ask(&mut machine_code, &source(&"x".repeat(MAX_SOURCE + 1), 0)).unwrap_err();
        assert!(error.contains("a source of 4194305 bytes"), "{error}");
        assert_eq!(fake.started(), 0);
        for started in 1..3 {
            let error = ask(&mut machine_code, &source("a", 0)).unwrap_err();
            assert!(error.contains("machine code of 16777217 bytes"), "{error}");
            assert_eq!(fake.started(), started);
        }
    }

    #[test]
    fn an_allowance_ends_after_so_many_sources_or_bytes() {
        let fake = Fake { code: Some(vec![0; 1000]), ..Fake::default() };
        for (mut allowance, answers, what) in [
            (Allowance { sources: 3, bytes: 1 << 20 }, 3, "10000 sources would"),
            (Allowance { sources: 10, bytes: 2500 }, 2, "536870912 bytes of sources and machine code would"),
        ] {
            let mut machine_code = MachineCode::new(fake.start(), None);
            let mut ask = || machine_code.of(&source("a", 0), &mut allowance, Instant::now());
            for _ in 0..answers {
                assert!(ask().is_ok());
            }
            let error = ask().unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
