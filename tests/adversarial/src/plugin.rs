//! The plugin of a case: a copy of the generic guest with the case's script in it, a component written as text, or bytes.

use crate::{Case, Trouble};
use adversarial_guest::{MAGIC, ROOM, steps};
use passhost_child::Plugin;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The name of the component that plays scripts.
const GUEST: &str = "adversarial_guest.wasm";

/// The bytes of a case's plugin. A case without a source has the plugin that fuses whatever it finds.
pub fn bytes(case: &Case) -> Result<Vec<u8>, Trouble> {
    let read = |name: &str| std::fs::read_to_string(case.path.join(name));
    let exists = |name: &str| case.path.join(name).exists();
    if exists("source.wat") {
        return Ok(wat::parse_str(read("source.wat")?)?);
    }
    if exists("source.edit") {
        return edited(&read("source.edit")?);
    }
    with_script(&script(case)?.unwrap_or_default())
}

/// The script of a case, where its plugin is the guest with that in it.
pub fn script(case: &Case) -> Result<Option<String>, Trouble> {
    let other = ["source.wat", "source.edit", "source.file"].iter().any(|name| case.path.join(name).exists());
    match case.path.join("source.script") {
        _ if other => Ok(None),
        path if path.exists() => Ok(Some(std::fs::read_to_string(path)?)),
        _ => Ok(Some("fuse\n".to_owned())),
    }
}

/// The guest with a script in its buffer.
pub fn with_script(script: &str) -> Result<Vec<u8>, Trouble> {
    written(guest()?, script)
}

/// A component, or machine code, with a script in the guest's buffer.
pub fn written(bytes: &[u8], script: &str) -> Result<Vec<u8>, Trouble> {
    let room = ROOM - MAGIC.len();
    if script.len() > room {
        return Err(format!("a script has at most {room} bytes").into());
    }
    let mut places = places_of(bytes, MAGIC);
    let at = places.next().ok_or("there is no buffer for a script")? + MAGIC.len();
    if places.next().is_some() {
        return Err("there are two buffers for a script".into());
    }
    let mut bytes = bytes.to_vec();
    bytes[at..at + script.len()].copy_from_slice(script.as_bytes());
    Ok(bytes)
}

/// The plugin of these bytes.
pub fn read(wasm: &[u8]) -> Result<Plugin, Trouble> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(wasm)?;
    Ok(Plugin::read(file.path(), u64::MAX)?)
}

/// Where a text stands.
fn places_of<'a>(bytes: &'a [u8], text: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let starts = bytes.iter().enumerate().filter(|(_, byte)| Some(*byte) == text.first());
    starts.map(|(at, _)| at).filter(|&at| bytes[at..].starts_with(text))
}

/// The guest with the edits of a text: `truncate BYTES`, `append COUNT`, `replace OLD NEW`.
fn edited(text: &str) -> Result<Vec<u8>, Trouble> {
    let mut wasm = with_script("fuse\n")?;
    for step in steps(text) {
        let number = || step.number(0).map_err(Trouble::from);
        match (step.verb, step.words().collect::<Vec<_>>().as_slice()) {
            ("truncate", _) => wasm.truncate(number()?),
            ("append", _) => wasm.extend(std::iter::repeat_n(0, number()?)),
            ("replace", [old, new]) => replace(&mut wasm, old.as_bytes(), new.as_bytes())?,
            _ => return Err(format!("line {}: there is no edit `{}`", step.line, step.verb).into()),
        }
    }
    Ok(wasm)
}

/// Replaces a text wherever it stands by another of its length.
fn replace(wasm: &mut [u8], old: &[u8], new: &[u8]) -> Result<(), Trouble> {
    if old.len() != new.len() || old.is_empty() {
        return Err("a text is replaced by another of the same length".into());
    }
    let places: Vec<usize> = places_of(wasm, old).collect();
    if places.is_empty() {
        return Err(format!("the guest has no `{}`", String::from_utf8_lossy(old)).into());
    }
    places.into_iter().for_each(|at| wasm[at..at + new.len()].copy_from_slice(new));
    Ok(())
}

fn guest() -> Result<&'static [u8], Trouble> {
    static GUEST_BYTES: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();
    let read = || {
        let path = guest_path().ok_or_else(|| format!("no {GUEST}: run `make plugins hostile-plugins`"))?;
        std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    GUEST_BYTES.get_or_init(read).as_deref().map_err(|error| error.clone().into())
}

/// Where `make hostile-plugins` puts the guest: in `PASSHOST_PLUGINS`, or beside the programs of this build.
fn guest_path() -> Option<PathBuf> {
    let named = std::env::var_os("PASSHOST_PLUGINS").map(|base| Path::new(&base).join(GUEST));
    let program = std::env::current_exe().unwrap_or_default();
    let beside = program.ancestors().map(|directory| directory.join("wasm32-wasip2/plugin").join(GUEST));
    named.into_iter().chain(beside).find(|path| path.exists())
}
