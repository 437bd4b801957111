//! What each tensor holds at one point of the program, as values of the functional graph.
//!
//! A write gives one tensor a new value. That tensor is then *ahead* of the one that it is a view of, and so is every
//! view in between. Nothing else happens until somebody reads another tensor of the same memory: only then the new value
//! is put back, view by view, into the nearest tensor that both are views of, and what is read is made from that again.
//! Reads of what was written, and of views of it, cost nothing.

use super::draft::FunctionalDraft;
use super::error::{FunctionalError, MAX_VIEWS};
use super::tensors::Tensors;
use crate::{Graph, NodeId, NodeKind, TensorType, ValueId};

/// The memory of a program while it is followed from node to node.
pub(super) struct ProgramMemory<'a> {
    pub(super) program: &'a Graph,
    pub(super) tensors: &'a Tensors,
    /// The graph so far.
    pub(super) draft: FunctionalDraft,
    states: Vec<TensorState>,
    storages: Vec<Storage>,
    clock: u64,
}

/// What is known of a tensor.
#[derive(Debug, Clone, Default)]
struct TensorState {
    /// The value that it is. `None` where each of its names still is one.
    value: Option<ValueId>,
    /// Its elements with other strides than it must have: good for being put back only.
    loose: Option<ValueId>,
    /// Changes with the value.
    version: u64,
    /// The version of the tensor that this is a view of, at which the two agreed.
    agreed: u64,
    /// The write to the memory up to which the value is known to be right.
    checked: u64,
}

/// What is known of the memory of a tensor that is no view.
#[derive(Debug, Clone, Default)]
struct Storage {
    /// The tensor that holds the last write: what was written, or what that was put back into.
    ahead: usize,
    /// When it was last written to; 0 for never.
    written: u64,
    /// The last write.
    writer: Option<MemoryWrite>,
    /// A write to memory that may be this.
    doubt: Option<MemoryWrite>,
}

/// A node that writes, and to what.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryWrite {
    /// The position of the node.
    pub(super) position: usize,
    /// What it overwrites.
    pub(super) target: ValueId,
}

/// Who reads: a node, or the list of outputs.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueRead {
    /// The node; `None` for the outputs.
    pub(super) node: Option<NodeId>,
    /// What is read.
    pub(super) value: ValueId,
}

/// A version that no tensor has.
const NEVER: u64 = u64::MAX;

impl<'a> ProgramMemory<'a> {
    pub(super) fn new(program: &'a Graph, tensors: &'a Tensors) -> ProgramMemory<'a> {
        let count = tensors.count();
        let storage = |ahead| Storage { ahead, ..Storage::default() };
        ProgramMemory {
            program,
            tensors,
            draft: FunctionalDraft::new(program),
            states: vec![TensorState::default(); count],
            storages: (0..count).map(storage).collect(),
            clock: 0,
        }
    }

    /// The type of a tensor.
    pub(super) fn ty(&self, tensor: usize) -> &'a TensorType {
        self.program.ty(self.name(tensor))
    }

    /// The first value that names a tensor.
    pub(super) fn name(&self, tensor: usize) -> ValueId {
        ValueId(u32::try_from(tensor).unwrap_or(u32::MAX))
    }

    /// The value of a tensor that is up to date.
    pub(super) fn value(&self, tensor: usize) -> ValueId {
        self.states[tensor].value.unwrap_or(self.name(tensor))
    }

    /// Whether the memory of a tensor has been written to.
    pub(super) fn is_written(&self, tensor: usize) -> bool {
        self.storages[self.tensors.get(tensor).root].written > 0
    }

    /// The value that now holds what the program reads.
    pub(super) fn read(&mut self, read: ValueRead) -> Result<ValueId, FunctionalError> {
        let tensor = self.tensors.tensor(read.value);
        let storage = &self.storages[self.tensors.get(tensor).root];
        if let Some(doubt) = storage.doubt {
            return Err(self.shared(doubt, read));
        }
        if storage.written > 0 && self.states[tensor].checked != storage.written {
            self.refresh(tensor, read)?;
        }
        Ok(self.states[tensor].value.unwrap_or(read.value))
    }

    /// Brings a tensor and all that it is a view of, up to what is ahead, up to date. Returns its value.
    pub(super) fn refresh(&mut self, tensor: usize, read: ValueRead) -> Result<ValueId, FunctionalError> {
        let root = self.tensors.get(tensor).root;
        let mut path = loop {
            let ahead = self.storages[root].ahead;
            let is_loose = self.states[ahead].loose.is_some();
            match self.path(tensor, ahead, read)? {
                Some(path) if !is_loose => break path,
                _ => self.write_back(ahead, read)?,
            }
        };
        while let Some(tensor) = path.pop() {
            let Some(view) = &self.tensors.get(tensor).view else { continue };
            let version = self.states[view.of].version;
            if self.states[tensor].agreed != version {
                let value = self.view_again(tensor, view, read)?;
                self.set(tensor, value, true);
                self.states[tensor].agreed = version;
            }
            self.states[tensor].checked = self.storages[root].written;
        }
        self.states[tensor].checked = self.storages[root].written;
        Ok(self.value(tensor))
    }

    /// The views from a tensor up to, but without, another one, if it is a view of that.
    fn path(&self, tensor: usize, ahead: usize, read: ValueRead) -> Result<Option<Vec<usize>>, FunctionalError> {
        let levels = self.tensors.get(tensor).depth.checked_sub(self.tensors.get(ahead).depth);
        let mut path = Vec::new();
        let mut current = tensor;
        for _ in 0..levels.unwrap_or(0) {
            if path.len() == MAX_VIEWS {
                return Err(FunctionalError(format!(
                    "{} uses `%{}`, more than {MAX_VIEWS} views away from the tensor that its memory was last read or \
                     written as; make views of that tensor, not of its views",
                    reader(read),
                    self.name_of(read.value)
                )));
            }
            path.push(current);
            current = self.tensors.get(current).view.as_ref().map_or(current, |view| view.of);
        }
        Ok((current == ahead).then_some(path))
    }

    /// Puts the value of the tensor that is ahead into the one that it is a view of, which then is ahead.
    fn write_back(&mut self, tensor: usize, read: ValueRead) -> Result<(), FunctionalError> {
        // What is no view is never loose, and every tensor of its memory is a view of it.
        let Some(view) = &self.tensors.get(tensor).view else { return Err(self.not_writable(tensor, read)) };
        let whole = self.value(view.of);
        let loose = self.states[tensor].loose.take();
        let value = loose.unwrap_or(self.value(tensor));
        let new = self.scattered(tensor, view, value, read)?;
        let is_exact = self.draft.ty(new) == self.ty(view.of);
        let is_root = self.tensors.get(view.of).view.is_none();
        let new = if is_root && !is_exact { self.draft.convert(new, whole) } else { new };
        self.set(view.of, new, is_root || is_exact);
        self.states[tensor].agreed = if loose.is_none() { self.states[view.of].version } else { NEVER };
        let root = self.tensors.get(tensor).root;
        self.storages[root].ahead = view.of;
        Ok(())
    }

    /// Gives a tensor another value, or one with other strides than it must have.
    fn set(&mut self, tensor: usize, value: ValueId, is_exact: bool) {
        let version = self.tick();
        let state = &mut self.states[tensor];
        (state.value, state.loose) = if is_exact { (Some(value), None) } else { (state.value, Some(value)) };
        state.version = version;
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Takes note that a tensor, which was just refreshed, now has another value. A value with other strides than the
    /// tensor has, or one that belongs to somebody else, is only good for being put back.
    pub(super) fn write(&mut self, tensor: usize, value: ValueId, write: MemoryWrite, is_own: bool) {
        let is_exact = is_own && self.draft.ty(value) == self.ty(tensor);
        self.set(tensor, value, is_exact);
        let root = self.tensors.get(tensor).root;
        let written = self.tick();
        let storage = &mut self.storages[root];
        (storage.ahead, storage.written, storage.writer) = (tensor, written, Some(write));
        if is_exact {
            self.states[tensor].checked = written;
        }
        for &relative in self.tensors.relatives(root) {
            let exists = self.tensors.get(relative).made_by.is_none_or(|made_by| made_by < write.position);
            if relative != root && exists {
                self.storages[relative].doubt = Some(write);
            }
        }
    }

    /// Takes note that a node of the program defines a value. Its operands are up to date.
    pub(super) fn define(&mut self, value: ValueId) {
        let tensor = self.tensors.tensor(value);
        let Some(view) = &self.tensors.get(tensor).view else { return };
        if self.name(tensor) == value {
            self.states[tensor].agreed = self.states[view.of].version;
            self.states[tensor].checked = self.storages[self.tensors.get(tensor).root].written;
        }
    }

    /// The error of a read of what a write may have changed, in a way that is not known.
    pub(super) fn shared(&self, write: MemoryWrite, read: ValueRead) -> FunctionalError {
        let (written, other, reader) = (self.overwriting(write), self.name_of(read.value), reader(read));
        let by = self.maker(self.tensors.tensor(read.value));
        let node = self.program.nodes.get(write.position).map_or(NodeId(0), |node| node.id);
        FunctionalError(format!(
            "{written}, whose memory `%{other}` may share and which {reader} reads later; what `{by}` makes of overwritten \
             memory cannot be followed: clone `%{other}` before node {node}"
        ))
    }

    /// The error of a write to the memory of `tensor` through a view that leads nowhere.
    pub(super) fn not_writable(&self, tensor: usize, read: ValueRead) -> FunctionalError {
        let (write, reader) = (self.overwriting(self.last_write(tensor, read)), reader(read));
        let (other, through) = (self.name_of(read.value), self.maker(tensor));
        FunctionalError(format!(
            "{write}, memory that {reader} reads later as `%{other}`; writes through `{through}` are not supported: write \
             to the tensor that it is a view of, or to a clone"
        ))
    }

    /// A write, for a message.
    pub(super) fn overwriting(&self, write: MemoryWrite) -> String {
        let value = self.name_of(write.target);
        let node = self.program.nodes.get(write.position);
        let (id, op) = node.map_or((NodeId(0), String::new()), |node| (node.id, op_name(&node.kind)));
        format!("node {id} (`{op}`) overwrites `%{value}`")
    }

    /// The op that made a tensor.
    fn maker(&self, tensor: usize) -> String {
        let node = self.tensors.get(tensor).made_by.and_then(|position| self.program.nodes.get(position));
        node.map_or_else(|| "aten::alias".to_owned(), |node| op_name(&node.kind))
    }

    /// The last write to the memory of a tensor.
    pub(super) fn last_write(&self, tensor: usize, read: ValueRead) -> MemoryWrite {
        let writer = self.storages[self.tensors.get(tensor).root].writer;
        writer.unwrap_or(MemoryWrite { position: 0, target: read.value })
    }

    pub(super) fn name_of(&self, value: ValueId) -> String {
        self.program.value(value).name.clone()
    }
}

/// What a node calls, for a message.
fn op_name(kind: &NodeKind) -> String {
    match kind {
        NodeKind::Aten { op, .. } => op.to_string(),
        NodeKind::Kernel { .. } => "kernel".into(),
    }
}

fn reader(read: ValueRead) -> String {
    read.node.map_or("the list of outputs".to_owned(), |node| format!("node {node}"))
}
