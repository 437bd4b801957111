//! The graph under construction: adds ops with their inferred types.

use super::arguments::Arguments;
use super::known::KnownTensors;
use super::numbers;
use super::overload::{resolve, returns_several};
use super::unsupported::Unsupported;
use crate::value::{PyValue, RandomTensor};
use passhost_ir::{Arg, Dtype, Graph, Infer, Node, NodeId, NodeKind, Schema, TensorType, ValueId};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Values of a graph: the largest real ones have some ten thousand.
const VALUES: usize = 1 << 20;

/// Where an input of the graph comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum InputSource {
    /// The parameter of `forward` at this position.
    Parameter(usize),
    /// Random numbers that the model draws: they become an input, so that two programs see the same.
    Random(RandomTensor),
}

/// A graph under construction.
pub struct GraphBuilder<'i> {
    infer: &'i mut dyn Infer,
    pub graph: Graph,
    pub sources: Vec<InputSource>,
    pub known: KnownTensors,
    names: HashSet<String>,
}

impl<'i> GraphBuilder<'i> {
    /// An empty graph whose types come from `infer`.
    pub fn new(infer: &'i mut dyn Infer) -> GraphBuilder<'i> {
        GraphBuilder {
            infer,
            graph: Graph::default(),
            sources: vec![],
            known: KnownTensors::default(),
            names: HashSet::new(),
        }
    }

    /// The type of a tensor.
    pub fn ty(&self, value: ValueId) -> &TensorType {
        self.graph.ty(value)
    }

    /// The type of an argument that must be a tensor.
    pub fn ty_of(&self, value: &PyValue) -> Result<&TensorType, Unsupported> {
        let tensor =
            value.tensor().ok_or_else(|| Unsupported(format!("a {} where a tensor is needed", value.kind())))?;
        Ok(self.ty(tensor))
    }

    /// The shape of an argument that must be a tensor.
    pub fn shape_of(&self, value: &PyValue) -> Result<Vec<i64>, Unsupported> {
        Ok(self.ty_of(value)?.shape.clone())
    }

    /// Adds an input.
    pub fn input(&mut self, name: &str, ty: TensorType, source: InputSource) -> ValueId {
        let value = self.define(name, ty);
        self.graph.inputs.push(value);
        self.sources.push(source);
        value
    }

    /// Random numbers that are read become an input.
    pub fn materialise(&mut self, random: RandomTensor) -> PyValue {
        let name = format!("random_{}", self.graph.values.len());
        PyValue::Tensor(self.input(&name, random.ty.clone(), InputSource::Random(random)))
    }

    /// Calls `aten::name` with positional arguments.
    pub fn op(&mut self, name: &str, positional: impl Into<Vec<PyValue>>) -> Result<PyValue, Unsupported> {
        self.call(name, None, Arguments { positional: positional.into(), keyword: vec![] })
    }

    /// Calls `aten::name` with positional and keyword arguments.
    pub fn op_with(
        &mut self,
        name: &str,
        positional: impl Into<Vec<PyValue>>,
        keyword: impl IntoIterator<Item = (&'static str, PyValue)>,
    ) -> Result<PyValue, Unsupported> {
        let keyword = keyword.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        self.call(name, None, Arguments { positional: positional.into(), keyword })
    }

    /// Calls the overload of `aten::name` that fits; `only` names the one that must.
    pub fn call(&mut self, name: &str, only: Option<&str>, arguments: Arguments) -> Result<PyValue, Unsupported> {
        let (schema, args) = match resolve(name, only, &arguments) {
            Ok(found) => found,
            Err(error) => match numbers::in_place_of_tensors(self, name, &arguments)? {
                Some(arguments) => resolve(name, only, &arguments)?,
                None => return Err(error),
            },
        };
        let typed = self.typed(&args);
        self.push(schema, args, &typed)
    }

    /// `x[indices]`, `None` for the dimensions that stay whole. How many elements a mask selects must be known.
    pub fn gather(&mut self, x: PyValue, indices: Vec<PyValue>) -> Result<PyValue, Unsupported> {
        let arguments = Arguments { positional: vec![x, PyValue::List(indices)], keyword: vec![] };
        let (schema, args) = resolve("index", Some("Tensor"), &arguments)?;
        let mut typed = self.typed(&args);
        if let (Some(Arg::OptionalValues(values)), Some(Arg::OptionalValues(types))) = (args.get(1), typed.get_mut(1)) {
            for (value, ty) in values.iter().zip(types) {
                if let (Some(value), Some(ty)) = (value, ty)
                    && ty.dtype == Dtype::Bool
                {
                    *ty = self.selected(*value, ty)?;
                }
            }
        }
        self.push(schema, args, &typed)
    }

    /// The type of the index that selects the same as a mask of one dimension.
    fn selected(&mut self, mask: ValueId, ty: &TensorType) -> Result<TensorType, Unsupported> {
        let elements = self.known.read(mask).filter(|_| ty.rank() == 1).ok_or_else(|| {
            Unsupported("a mask as an index: the size of the result depends on data that is not recorded".into())
        })?;
        let count = elements.iter().filter(|&&element| element != 0.0).count();
        Ok(TensorType::contiguous(Dtype::I64, [i64::try_from(count).unwrap_or(i64::MAX)]))
    }

    fn typed(&self, args: &[Arg]) -> Vec<Arg<TensorType>> {
        args.iter().map(|arg| arg.map(|&value| self.graph.ty(value).clone())).collect()
    }

    fn push(
        &mut self,
        schema: &'static Schema,
        args: Vec<Arg>,
        typed: &[Arg<TensorType>],
    ) -> Result<PyValue, Unsupported> {
        if let Some(value) = args.iter().flat_map(Arg::values).find(|&&value| self.known.is_lost(value)) {
            return Err(self.lost(*value));
        }
        let types = self.infer.infer(&schema.op, typed).map_err(Unsupported::infer)?;
        if self.graph.values.len() + types.len() > VALUES {
            return Err(Unsupported(format!("the graph would have more than {VALUES} values")));
        }
        let outputs: Vec<ValueId> = types
            .into_iter()
            .map(|ty| {
                let name = format!("v_{}", self.graph.values.len());
                self.define(&name, ty)
            })
            .collect();
        self.known.note(schema, &args, &outputs, &self.graph);
        let id = NodeId(u32::try_from(self.graph.nodes.len()).unwrap_or(u32::MAX));
        let kind = NodeKind::Aten { op: schema.op.clone(), args };
        self.graph.nodes.push(Node { id, kind, outputs: outputs.clone() });
        Ok(match &outputs[..] {
            [one] if !returns_several(schema) => PyValue::Tensor(*one),
            _ => PyValue::List(outputs.into_iter().map(PyValue::Tensor).collect()),
        })
    }

    /// Why nobody may read a value that [`KnownTensors::lose`] was told of.
    pub fn lost(&self, value: ValueId) -> Unsupported {
        let name = &self.graph.value(value).name;
        Unsupported(format!(
            "`{name}` is read after a norm in training mode has updated it, and the graph has no op for that update; let \
             the norm keep no running statistics, or do not read them"
        ))
    }

    /// A new value under a name of the sample's, made unique and plain. Of a long name the end is left, which says most.
    fn define(&mut self, name: &str, ty: TensorType) -> ValueId {
        let mut plain = passhost_ir::parameter_name(name);
        plain.retain(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        while let Some(more) = plain.len().checked_sub(48 + 1) {
            plain.drain(..=plain.find('.').unwrap_or(more));
        }
        if !passhost_ir::is_value_name(&plain) || self.names.contains(&plain) {
            plain = format!("v_{}", self.graph.values.len());
            while self.names.contains(&plain) {
                plain.push('_');
            }
        }
        self.names.insert(plain.clone());
        self.graph.add_value(plain, ty)
    }

    /// Gives a value that a call has just defined the name that the sample gives it.
    pub fn rename(&mut self, value: &PyValue, name: &str) {
        let PyValue::Tensor(id) = value else { return };
        let fresh = self.graph.value(*id).name.starts_with("v_") && !self.names.contains(name);
        let plain = (1..=60).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if fresh && plain {
            self.names.insert(name.to_owned());
            name.clone_into(&mut self.graph.values[id.index()].name);
        }
    }
}
