//! The types of `wit/pass.wit` as wasmtime sees them. [`crate::convert`] turns them into the host's own.
#![allow(missing_docs, reason = "generated")]

wasmtime::component::bindgen!({ path: "../../../wit", world: "plugin" });
