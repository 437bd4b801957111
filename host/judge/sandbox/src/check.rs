//! What can be said about a plugin without compiling it: that it is a component, for this interface, and imports
//! nothing but what a pass may use.
//!
//! This is for the author's sake as much as for safety: each refusal names one thing in one sentence. What holds a
//! plugin is the linker, which offers nothing outside of [`ALLOWED`], and a test keeps the two equal.

use passhost_protocol::guest::{GuestFailure, Limit};
use passhost_result::GuestLimits;
use wasmparser::component_types::ComponentEntityType;
use wasmparser::types::TypesRef;
use wasmparser::{Parser, Payload, ValidPayload, Validator, WasmFeatures};

/// The version of `passhost:pass` in `wit/pass.wit`.
pub const INTERFACE_VERSION: &str = "0.2.1";

/// The package of the interface between host and plugin.
const PACKAGE: &str = "passhost:pass";

/// The version of WASI that the guests of a Rust toolchain use. Any `0.2.x` is accepted.
pub(crate) const WASI_VERSION: &str = "0.2.0";

/// Every interface that a plugin may import and the functions in it. Resources and types need no mention.
pub const ALLOWED: &[(&str, &[&str])] = &[
    ("passhost:pass/types", &[]),
    ("passhost:pass/host", &["infer", "may-insert", "log"]),
    ("wasi:cli/environment", &["get-environment", "get-arguments", "initial-cwd"]),
    ("wasi:cli/exit", &["exit"]),
    ("wasi:cli/stdin", &["get-stdin"]),
    ("wasi:cli/stdout", &["get-stdout"]),
    ("wasi:cli/stderr", &["get-stderr"]),
    ("wasi:cli/terminal-input", &[]),
    ("wasi:cli/terminal-output", &[]),
    ("wasi:cli/terminal-stdin", &["get-terminal-stdin"]),
    ("wasi:cli/terminal-stdout", &["get-terminal-stdout"]),
    ("wasi:cli/terminal-stderr", &["get-terminal-stderr"]),
    ("wasi:clocks/monotonic-clock", &["now", "resolution"]),
    ("wasi:clocks/wall-clock", &["now", "resolution"]),
    ("wasi:io/error", &["[method]error.to-debug-string"]),
    ("wasi:io/poll", &["[method]pollable.ready", "[method]pollable.block", "poll"]),
    (
        "wasi:io/streams",
        &[
            "[method]input-stream.read",
            "[method]input-stream.blocking-read",
            "[method]input-stream.subscribe",
            "[method]output-stream.check-write",
            "[method]output-stream.write",
            "[method]output-stream.blocking-write-and-flush",
            "[method]output-stream.flush",
            "[method]output-stream.blocking-flush",
            "[method]output-stream.subscribe",
        ],
    ),
    ("wasi:random/insecure-seed", &["insecure-seed"]),
];

/// The longest piece of a plugin's own text that a message repeats, in characters.
const SHOWN: usize = 200;

/// The start of a text that a plugin chose, short enough to be shown.
pub(crate) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// What a component imports and exports at its outermost level.
struct ComponentNames {
    imports: Vec<String>,
    exports: Vec<String>,
}

/// Checks the bytes of a plugin file. Function bodies are left to the compiler, which validates them.
pub fn check(wasm: &[u8], limits: &GuestLimits) -> Result<(), GuestFailure> {
    if wasm.len() as u64 > limits.wasm {
        return Err(GuestFailure::Limit { limit: Limit::Wasm, value: limits.wasm });
    }
    if !wasm.starts_with(b"\0asm") {
        return Err(GuestFailure::NotComponent(
            "the file does not start with `\\0asm`; give the .wasm file that the build for wasm32-wasip2 makes".into(),
        ));
    }
    if Parser::is_core_wasm(wasm) {
        return Err(GuestFailure::NotComponent("this is a core module; build for wasm32-wasip2".into()));
    }
    let malformed = |error: wasmparser::BinaryReaderError| {
        GuestFailure::NotComponent(format!("{}; the file is damaged or incomplete", cut(&error.to_string(), SHOWN)))
    };
    let names = names(wasm).map_err(malformed)?;
    check_versions(&names)?;
    let mut forbidden = names.imports.iter().filter(|name| allowed_functions(name).is_none());
    if let Some(name) = forbidden.next() {
        return Err(GuestFailure::ForbiddenImport(cut(name, SHOWN)));
    }
    let wanted = format!("{PACKAGE}/pass@{INTERFACE_VERSION}");
    if !names.exports.iter().any(|name| interface(name) == "passhost:pass/pass") {
        return Err(GuestFailure::MissingExport(wanted));
    }
    let mut refusal = None;
    validate_types(wasm, |types| {
        refusal = names.imports.iter().find_map(|name| forbidden_item(name, types));
    })
    .map_err(malformed)?;
    refusal.map_or(Ok(()), |name| Err(GuestFailure::ForbiddenImport(cut(&name, SHOWN))))
}

/// The names of the component's own imports and exports; those of components inside it are its own affair.
fn names(wasm: &[u8]) -> wasmparser::Result<ComponentNames> {
    let mut names = ComponentNames { imports: vec![], exports: vec![] };
    let mut depth = 0usize;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports {
                    names.imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(exports) if depth == 0 => {
                for export in exports {
                    names.exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

/// Validates everything but function bodies and shows the types of the outermost component.
fn validate_types(wasm: &[u8], mut inspect: impl FnMut(TypesRef<'_>)) -> wasmparser::Result<()> {
    let mut validator = Validator::new_with_features(WasmFeatures::default());
    for payload in Parser::new(0).parse_all(wasm) {
        // The last `End` is that of the component itself.
        if let ValidPayload::End(types) = validator.payload(&payload?)? {
            inspect(types.as_ref());
        }
    }
    Ok(())
}

/// `wasi:io/poll@0.2.6` without the version.
fn interface(name: &str) -> &str {
    name.split_once('@').map_or(name, |(interface, _)| interface)
}

fn version(name: &str) -> &str {
    name.split_once('@').map_or("", |(_, version)| version)
}

/// Versions agree if they have the same major and minor number. Before 1.0.0 a new minor version may change anything,
/// and a new patch version may only add, which the linker then finds missing by name.
fn compatible(found: &str, wanted: &str) -> bool {
    let minor = |version: &str| -> Option<(u64, u64)> {
        let mut parts = version.split('.').map(|part| part.parse().ok());
        let (major, minor, _patch) = (parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some((major, minor))
    };
    minor(found).is_some_and(|found| minor(wanted) == Some(found))
}

fn check_versions(names: &ComponentNames) -> Result<(), GuestFailure> {
    let mut ours = names
        .imports
        .iter()
        .chain(&names.exports)
        .filter(|name| interface(name).strip_prefix(PACKAGE).is_some_and(|rest| rest.starts_with('/')));
    match ours.find(|name| !compatible(version(name), INTERFACE_VERSION)) {
        None => Ok(()),
        Some(name) => {
            let found = match version(name) {
                "" => "(no version)".to_owned(),
                found => cut(found, SHOWN),
            };
            Err(GuestFailure::Version { found, wanted: INTERFACE_VERSION.into() })
        }
    }
}

/// The functions that a plugin may import from the interface of this name, `None` if it may not import it at all.
fn allowed_functions(name: &str) -> Option<&'static [&'static str]> {
    let (_, functions) = ALLOWED.iter().find(|(allowed, _)| *allowed == interface(name))?;
    let wanted = if name.starts_with("wasi:") { WASI_VERSION } else { INTERFACE_VERSION };
    compatible(version(name), wanted).then_some(*functions)
}

/// The first item of an allowed interface that is not allowed itself.
fn forbidden_item(name: &str, types: TypesRef<'_>) -> Option<String> {
    let allowed = allowed_functions(name)?;
    let Some(ComponentEntityType::Instance(instance)) = types.component_item_for_import(name).map(|item| item.ty)
    else {
        return Some(name.to_owned());
    };
    let permitted = |item: &str, ty: ComponentEntityType| match ty {
        ComponentEntityType::Func(_) => allowed.contains(&item),
        ComponentEntityType::Type { .. } => true,
        _ => false,
    };
    let (item, _) = types[instance].exports.iter().find(|(name, item)| !permitted(name, item.ty))?;
    Some(format!("{name}#{item}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_wit_package() {
        let wit = include_str!("../../../../wit/pass.wit");
        assert!(wit.contains(&format!("package {PACKAGE}@{INTERFACE_VERSION};")));
    }

    #[test]
    fn versions_agree_up_to_the_patch_level() {
        for (found, expected) in [
            ("0.1.0", true),
            ("0.1.7", true),
            ("0.2.0", false),
            ("1.1.0", false),
            ("0.1", false),
            ("0.1.0.0", false),
            ("0.1.0-rc", false),
            ("", false),
        ] {
            assert_eq!(compatible(found, "0.1.0"), expected, "{found}");
        }
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        assert_eq!(cut("häßlich", 2), "hä...");
        assert_eq!(cut("kurz", 4), "kurz");
    }
}
