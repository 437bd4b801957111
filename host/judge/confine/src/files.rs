//! Which files a process may touch: Landlock.

use crate::ConfineError;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};
use std::path::{Path, PathBuf};

/// The newest version that the rules here are written for. An older kernel enforces what it knows of it: the filters on
/// system calls keep what is newer than version 1 from every child by themselves.
const ABI_KNOWN: ABI = ABI::V7;

/// The files that a process may touch. There are no others.
#[derive(Debug, Default)]
pub(crate) struct FileAccess {
    /// Below these, files may be read and directories listed.
    pub readable: Vec<PathBuf>,
    /// These may be started as programs, and read.
    pub executable: Vec<PathBuf>,
    /// Below these, directories may be listed.
    pub listable: Vec<PathBuf>,
    /// Below these, files may be changed, made and removed as well.
    pub writable: Vec<PathBuf>,
    /// These devices may be written and controlled, and what is below these directories.
    pub devices: Vec<PathBuf>,
}

impl FileAccess {
    /// Keeps this thread, and those it starts, from all other files, from TCP, and from signals and abstract sockets of
    /// other processes. A path that there is not allows nothing. Returns the version that is in force, if any is.
    pub(crate) fn enforce(&self) -> Result<Option<u32>, ConfineError> {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let write = AccessFs::from_all(ABI_KNOWN) & !BitFlags::from(AccessFs::Execute);
        let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        let restricted = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI_KNOWN))?
            .handle_access(AccessNet::from_all(ABI_KNOWN))?
            .scope(Scope::from_all(ABI_KNOWN))?
            .create()?
            .add_rules(rules(&self.readable, read))?
            .add_rules(rules(&self.executable, AccessFs::ReadFile | AccessFs::Execute))?
            .add_rules(rules(&self.listable, AccessFs::ReadDir.into()))?
            .add_rules(rules(&self.writable, write & !BitFlags::from(AccessFs::IoctlDev)))?
            .add_rules(rules(&self.devices, device))?
            .restrict_self()?;
        Ok(match (restricted.ruleset, restricted.landlock) {
            (RulesetStatus::NotEnforced, _) => None,
            (_, LandlockStatus::Available { effective_abi, .. }) => Some((effective_abi as u32).min(ABI_KNOWN as u32)),
            _ => None,
        })
    }
}

type PathRule = Result<landlock::PathBeneath<landlock::PathFd>, landlock::RulesetError>;

fn rules(paths: &[PathBuf], access: BitFlags<AccessFs>) -> impl Iterator<Item = PathRule> {
    path_beneath_rules(paths.iter().map(PathBuf::as_path).collect::<Vec<&Path>>(), access)
}
