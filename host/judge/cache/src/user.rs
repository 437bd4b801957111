//! The caches that the programs of one user share.

use crate::Cache;
use std::path::PathBuf;

/// Compiled plugins.
pub const PLUGINS: &str = "artefacts";
/// Kernels that are compiled for a GPU.
pub const KERNELS: &str = "kernels";
/// Rewrites of graphs in PyTorch, and names of passes.
pub const REWRITES: &str = "rewrites";
/// What workers got from an object store.
pub const OBJECTS: &str = "objects";

/// Where they are: in `$XDG_CACHE_HOME/passhost`, and `~/.cache/passhost`. The first is used.
pub fn cache_directories() -> Vec<PathBuf> {
    directories("XDG_CACHE_HOME", ".cache")
}

/// The directories called `passhost` in the one that a variable names, and in one of the user's home.
pub fn directories(variable: &str, in_home: &str) -> Vec<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let bases = [absolute(variable), absolute("HOME").map(|home| home.join(in_home))];
    bases.into_iter().flatten().map(|base| base.join("passhost")).collect()
}

/// All caches and their keys, which no child may read.
pub fn paths() -> Vec<PathBuf> {
    let of =
        |directory: PathBuf| [PLUGINS, KERNELS, REWRITES, OBJECTS].map(|name| Cache::paths_of(&directory.join(name)));
    cache_directories().into_iter().flat_map(of).flatten().collect()
}

/// One of them, or why there is none: whoever asks goes on without it.
pub fn open(name: &str) -> Result<Cache, String> {
    let directories = cache_directories();
    let directory = directories.first().ok_or("neither XDG_CACHE_HOME nor HOME is set")?;
    Cache::open(&directory.join(name)).map_err(|error| error.to_string())
}
