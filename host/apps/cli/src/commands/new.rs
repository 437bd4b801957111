//! `passhost new NAME`

use super::source::sdk_source;
use crate::exit::{Exit, Stop};
use crate::output::print;
use clap::Args;
use std::path::Path;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct NewArguments {
    /// The directory to make, whose name is that of the pass
    pub path: PathBuf,
    /// A clone of passhost, or its installed source, which the crate's tests compile
    #[arg(long, value_name = "DIR")]
    pub source: Option<PathBuf>,
}

/// The files of a new crate. What stands between `@` is replaced.
const FILES: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("../templates/new/Cargo.toml")),
    (".cargo/config.toml", include_str!("../templates/new/config.toml")),
    ("src/lib.rs", include_str!("../templates/new/src/lib.rs")),
    ("tests/rewrites.rs", include_str!("../templates/new/tests/rewrites.rs")),
    ("sample/graph_list.txt", include_str!("../templates/new/sample/graph_list.txt")),
    ("sample/small/model.py", MODEL),
    ("sample/small/weight_meta.py", include_str!("../templates/new/sample/small/weight_meta.py")),
    ("sample/large/model.py", MODEL),
    ("sample/large/weight_meta.py", include_str!("../templates/new/sample/large/weight_meta.py")),
];

/// Both variants of the sample are the same program.
const MODEL: &str = include_str!("../templates/new/sample/model.py");

pub fn run(arguments: &NewArguments) -> Result<Exit, Stop> {
    let path = &arguments.path;
    let name = path.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name)).ok_or_else(|| {
        Stop::usage(format!("`{}` is no name of a crate; use small letters, digits and hyphens", path.display()))
    })?;
    let source = arguments.source.clone().map_or_else(sdk_source, Ok)?;
    let sdk = source.join("guest-sdk").canonicalize();
    let sdk = sdk.map_err(|_| Stop::usage(format!("no source of the SDK in `{}`", source.display())))?;
    if path.exists() {
        return Err(Stop::usage(format!("`{}` is there already; give another name", path.display())));
    }
    let fill = |text: &str| {
        let sdk = sdk.display().to_string();
        text.replace("@NAME@", name).replace("@CRATE@", &name.replace('-', "_")).replace("@SDK@", &sdk)
    };
    for (file, text) in FILES {
        write(&path.join(file), &fill(text))?;
    }
    // The dependencies that the SDK was tried with, where it has them written down.
    if let Ok(lock) = std::fs::read_to_string(source.join("Cargo.lock")) {
        write(&path.join("Cargo.lock"), &lock)?;
    }
    let shown = path.display();
    print([
        format!("{shown}: a pass in src/lib.rs, its test, and a sample that it makes one kernel of"),
        format!("  passhost eval {shown} {shown}/sample    builds it in a sandbox and scores it"),
        format!("  cargo test --manifest-path {shown}/Cargo.toml    tests it natively"),
    ]);
    Ok(Exit::Success)
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(fits) && name.len() <= 60
}

fn write(path: &Path, text: &str) -> Result<(), Stop> {
    let directory = path.parent().unwrap_or(path);
    let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| Stop::usage(format!("cannot write `{}`: {error}", path.display())))
}
