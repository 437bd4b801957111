//! From the source of a pass to a component, without cargo: one call of rustc against an SDK that was compiled before.
//!
//! Nobody trusts the source, and rustc is not made for such sources. It runs in a process of its own that
//! `passhost-confine` sandboxes, started and ended by the program `passhost-builder`: it reads its own files, the
//! [`Sdk`] and a copy of the [`PassSource`], writes to one directory, and starts nothing but the linker. What it makes
//! is as untrusted as any component: whether a pass may have it, the guest child decides.
//!
//! ```no_run
//! use passhost_builder::{BuildLimits, Confinement, PassSource, Sdk, build};
//!
//! let sdk = Sdk::open(&Sdk::installed())?;
//! let source = PassSource::read("fuse_gate.rs".as_ref())?;
//! let built = build(&sdk, &source, BuildLimits::default(), Confinement::Required)?;
//! std::fs::write("fuse_gate.wasm", built.component)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cargo;
mod compile;
mod diagnostic;
mod error;
mod remove;
mod sdk;
mod setup;
mod source;
mod text;
mod warden;

pub use compile::{Built, build};
pub use diagnostic::{Diagnostic, Excerpt, Level};
pub use error::{BuildError, RefusalReason, SdkError, SourceError, SourceRefusal};
pub use passhost_child::Confinement;
pub use passhost_protocol::builder::BuildLimits;
pub use remove::remove_all;
pub use sdk::Sdk;
pub use source::PassSource;
