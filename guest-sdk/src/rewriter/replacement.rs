//! Putting a kernel of the author's in the place of nodes.

use super::{EditError, Rewriter};
use crate::lower::{KernelBuilder, KernelOutput, Lowered, stored_type};
use passhost_ir::{Kernel, NodeId, TensorType, ValueId, kernel, parse_kernel};

/// What a kernel is made of: a [`Kernel`], a [`KernelBuilder`], or the text of one.
pub trait IntoKernel {
    /// The kernel, if the verifier accepts it.
    fn into_kernel(self) -> Result<Kernel, EditError>;
}

impl IntoKernel for Kernel {
    fn into_kernel(self) -> Result<Kernel, EditError> {
        kernel::verify(&self)?;
        Ok(self)
    }
}

impl IntoKernel for KernelBuilder {
    fn into_kernel(self) -> Result<Kernel, EditError> {
        Ok(self.finish()?)
    }
}

impl IntoKernel for &str {
    fn into_kernel(self) -> Result<Kernel, EditError> {
        parse_kernel(self)?.into_kernel()
    }
}

impl IntoKernel for String {
    fn into_kernel(self) -> Result<Kernel, EditError> {
        self.as_str().into_kernel()
    }
}

impl Rewriter {
    /// Puts a kernel in the place of `nodes`: `inputs` are its operands, `outputs` those results of the nodes that it
    /// stores, in the order of its inputs and stores. Nodes that an input comes from stay, and so do those of which something
    /// else still reads another result, with what they need. The kernel is verified, and held against the types of all of these.
    ///
    /// ```
    /// # use passhost_guest_sdk::prelude::*;
    /// # let graph = Graph::parse("graph(%x: f32[8]) {
    /// #   %a: f32[8] = aten::mul.Tensor(%x, %x)
    /// #   %b: f32[8] = aten::neg(%a)
    /// #   return (%b)
    /// # }")?;
    /// # let (x, b) = (graph.inputs[0], graph.outputs[0]);
    /// # let mut rewriter = Rewriter::new(graph);
    /// let kernel = "space p0=8
    ///     in x0: f32[8]
    ///     i0 = p0
    ///     v0: f32 = load x0[i0] clamp
    ///     v1: f32 = mul v0, v0
    ///     v2: f32 = neg v1
    ///     out v2 over [p0] as [8]";
    /// rewriter.replace_with(&[NodeId(0), NodeId(1)], kernel, [x], [b])?;
    /// # assert_eq!(rewriter.graph().nodes.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace_with(
        &mut self,
        nodes: &[NodeId],
        kernel: impl IntoKernel,
        inputs: impl Into<Vec<ValueId>>,
        outputs: impl Into<Vec<ValueId>>,
    ) -> Result<NodeId, EditError> {
        let (kernel, inputs, outputs) = (kernel.into_kernel()?, inputs.into(), outputs.into());
        self.check_exists(&inputs)?;
        self.check_exists(&outputs)?;
        let nodes = self.no_longer_read(nodes, &inputs, &outputs)?;
        let outputs = outputs.into_iter().map(|value| KernelOutput::of(&self.graph, value)).collect();
        self.replace(&Lowered { kernel, inputs, outputs, nodes, covered: vec![] })
    }

    /// Those of `nodes` that nothing needs once `outputs` come from a kernel that reads `inputs`.
    fn no_longer_read(
        &self,
        nodes: &[NodeId],
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Result<Vec<NodeId>, EditError> {
        if let Some(missing) = nodes.iter().find(|&&id| self.node(id).is_none()) {
            return Err(EditError::NoSuchNode(*missing));
        }
        let mut is_read = vec![false; self.graph.values.len()];
        let read = |values: &[ValueId], is_read: &mut Vec<bool>| {
            values.iter().filter(|value| !outputs.contains(value)).for_each(|value| is_read[value.index()] = true);
        };
        read(&self.graph.outputs, &mut is_read);
        read(inputs, &mut is_read);
        let mut gone = Vec::new();
        for node in self.graph.nodes.iter().rev() {
            if nodes.contains(&node.id) && !node.outputs.iter().any(|output| is_read[output.index()]) {
                gone.push(node.id);
            } else {
                read(&node.operands(), &mut is_read);
            }
        }
        gone.reverse();
        Ok(gone)
    }

    /// That a kernel stores what its results are.
    pub(super) fn check_results(&self, lowered: &Lowered) -> Result<(), EditError> {
        let types = lowered.kernel.output_types();
        if types.len() != lowered.outputs.len() {
            return Err(EditError::ResultCount(types.len(), lowered.outputs.len()));
        }
        for (ty, output) in types.into_iter().zip(&lowered.outputs) {
            let expected = self.graph.ty(output.value);
            let dense = stored_type(expected);
            if ty.dtype != dense.dtype || ty.shape != dense.shape {
                return Err(self.stored(output.value, &ty, &dense));
            }
        }
        Ok(())
    }

    fn stored(&self, value: ValueId, found: &TensorType, dense: &TensorType) -> EditError {
        let expected = self.graph.ty(value);
        let remedy = if found.dtype != dense.dtype {
            format!("cast to {} before `out`", dense.dtype)
        } else if dense.shape == expected.shape {
            "name the shape that it has behind `as`".to_owned()
        } else {
            format!("its dimensions lie in memory in another order, so store it as {dense}")
        };
        EditError::Stored {
            value: self.graph.value(value).name.clone(),
            expected: format!("{expected}; {remedy}"),
            found: found.to_string(),
        }
    }
}
