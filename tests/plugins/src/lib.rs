//! Plugins that misbehave, one per example, for the end-to-end tests. They use the raw bindings: the guest SDK would not
//! let most of this pass. Outside WebAssembly this crate is empty.

#[cfg(target_arch = "wasm32")]
wit_bindgen::generate!({ world: "plugin", path: "../../wit", pub_export_macro: true, default_bindings_module: "passhost_hostile_plugins" });

/// Makes a plugin of a function from a graph to a rewrite.
#[cfg(target_arch = "wasm32")]
#[macro_export]
macro_rules! hostile {
    ($run:expr) => {
        struct Hostile;

        impl $crate::exports::passhost::pass::pass::Guest for Hostile {
            fn describe() -> $crate::exports::passhost::pass::pass::PassInfo {
                $crate::exports::passhost::pass::pass::PassInfo {
                    // Escapes in a name must not reach a terminal.
                    name: "\u{1b}[31mhostile".into(),
                    version: "0".into(),
                    description: "misbehaves".into(),
                }
            }

            fn run(
                graph: $crate::passhost::pass::types::Graph,
                _device: $crate::passhost::pass::types::DeviceFacts,
            ) -> Result<$crate::exports::passhost::pass::pass::Rewrite, String> {
                let run: fn(
                    $crate::passhost::pass::types::Graph,
                ) -> Result<$crate::passhost::pass::types::Graph, String> = $run;
                Ok($crate::exports::passhost::pass::pass::Rewrite { graph: run(graph)?, refusals: vec![] })
            }
        }

        $crate::export!(Hostile);
    };
}

/// Building blocks of hostile graphs.
#[cfg(target_arch = "wasm32")]
pub mod build {
    use crate::passhost::pass::types::{
        Arg, AtenCall, Dtype, Graph, IndexExpr, InputDecl, Inst, Kernel, KernelCall, LoadOp, Node, NodeKind, Op,
        OpName, Outside, Store, TensorType, Value,
    };

    /// Replaces what defines the first output by a call of `name.overload` with these arguments.
    pub fn replace_output_by_op(mut graph: Graph, name: &str, overload: &str, args: Vec<Arg>) -> Graph {
        let output = graph.outputs[0];
        let op = OpName { name: name.into(), overload: overload.into() };
        replace(&mut graph, output, NodeKind::Aten(AtenCall { op, args }));
        graph
    }

    /// Replaces what defines the first output by a kernel that copies the first input of the same shape, changed by
    /// `change`.
    pub fn replace_output_by_copy(mut graph: Graph, change: impl FnOnce(&mut Kernel)) -> Graph {
        let output = graph.outputs[0];
        let ty = graph.values[output as usize].ty.clone();
        let same = |value: &u32| graph.values[*value as usize].ty.shape == ty.shape;
        let input = graph.inputs.iter().copied().find(same).unwrap_or(graph.inputs[0]);
        let mut kernel = copy_kernel(ty.dtype, &ty.shape);
        change(&mut kernel);
        replace(&mut graph, output, NodeKind::Kernel(KernelCall { kernel, inputs: vec![input] }));
        graph
    }

    /// Inserts a call of `name.overload` before all nodes but those inserted before; returns its result, which has this
    /// type.
    pub fn insert_op(
        graph: &mut Graph,
        inserted: &mut usize,
        (name, overload): (&str, &str),
        args: Vec<Arg>,
        dtype: Dtype,
        shape: &[i64],
    ) -> u32 {
        let value = graph.values.len() as u32;
        let mut strides = vec![1; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim] * shape[dim];
        }
        graph.values.push(Value {
            name: format!("inserted_{inserted}"),
            ty: TensorType { dtype, shape: shape.to_vec(), strides },
        });
        let op = OpName { name: name.into(), overload: overload.into() };
        let id = graph.nodes.iter().map(|node| node.id + 1).max().unwrap_or(0);
        let kind = NodeKind::Aten(AtenCall { op, args });
        graph.nodes.insert(*inserted, Node { id, kind, outputs: vec![value] });
        *inserted += 1;
        value
    }

    /// The largest input, its element type and its number of elements.
    pub fn largest_input(graph: &Graph) -> (u32, Dtype, i64) {
        let numel = |value: u32| graph.values[value as usize].ty.shape.iter().product::<i64>();
        let largest = graph.inputs.iter().copied().max_by_key(|&value| numel(value)).unwrap_or(0);
        (largest, graph.values[largest as usize].ty.dtype, numel(largest))
    }

    /// A kernel that copies a tensor.
    pub fn copy_kernel(dtype: Dtype, shape: &[i64]) -> Kernel {
        let axes: Vec<u32> = (0..shape.len() as u32).collect();
        Kernel {
            parallel: shape.to_vec(),
            reduce: vec![],
            inputs: vec![InputDecl { dtype, shape: shape.to_vec() }],
            index: axes.iter().map(|&axis| IndexExpr::Axis(axis)).collect(),
            body: vec![Inst { dtype, op: Op::Load(LoadOp { input: 0, index: axes.clone(), outside: Outside::Clamp }) }],
            stores: vec![Store { value: 0, order: axes, shape: shape.to_vec() }],
            operations: vec![],
        }
    }

    fn replace(graph: &mut Graph, output: u32, kind: NodeKind) {
        let id = graph.nodes.iter().map(|node| node.id + 1).max().unwrap_or(0);
        let position = graph.nodes.iter().position(|node| node.outputs.contains(&output)).unwrap_or(0);
        graph.nodes[position] = Node { id, kind, outputs: vec![output] };
        // What is left without a reader goes, so that each plugin is caught for what it is about.
        loop {
            let read: Vec<u32> = graph.nodes.iter().flat_map(operands).chain(graph.outputs.iter().copied()).collect();
            let before = graph.nodes.len();
            graph.nodes.retain(|node| node.outputs.iter().any(|value| read.contains(value)));
            if graph.nodes.len() == before {
                break;
            }
        }
        compact(graph);
    }

    fn operands(node: &Node) -> Vec<u32> {
        match &node.kind {
            NodeKind::Kernel(call) => call.inputs.clone(),
            NodeKind::Aten(call) => call
                .args
                .iter()
                .flat_map(|arg| match arg {
                    Arg::Value(value) => vec![*value],
                    Arg::Values(values) => values.clone(),
                    Arg::OptionalValues(values) => values.iter().flatten().copied().collect(),
                    _ => vec![],
                })
                .collect(),
        }
    }

    /// Drops values that nothing defines any more and renumbers the others.
    fn compact(graph: &mut Graph) {
        let mut kept: Vec<u32> = graph.inputs.clone();
        kept.extend(graph.nodes.iter().flat_map(|node| node.outputs.clone()));
        let new = |old: u32| kept.iter().position(|&value| value == old).unwrap_or(0) as u32;
        for node in &mut graph.nodes {
            match &mut node.kind {
                NodeKind::Kernel(call) => call.inputs.iter_mut().for_each(|value| *value = new(*value)),
                NodeKind::Aten(call) => {
                    for arg in &mut call.args {
                        match arg {
                            Arg::Value(value) => *value = new(*value),
                            Arg::Values(values) => values.iter_mut().for_each(|value| *value = new(*value)),
                            Arg::OptionalValues(values) => {
                                values.iter_mut().flatten().for_each(|value| *value = new(*value));
                            }
                            _ => {}
                        }
                    }
                }
            }
            node.outputs.iter_mut().for_each(|value| *value = new(*value));
        }
        graph.inputs.iter_mut().for_each(|value| *value = new(*value));
        graph.outputs.iter_mut().for_each(|value| *value = new(*value));
        graph.values = kept.iter().map(|&value| graph.values[value as usize].clone()).collect();
    }
}
