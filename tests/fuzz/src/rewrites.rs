//! What a pass may return: rewrites of graphs with something changed that no pass of ours would change, put to the
//! verifier as values and as the bytes of the guest child's message.

mod change;

use crate::components::changed;
use crate::graphs::{self, Recorded};
use crate::random::Random;
use crate::target::{Outcome, Target, variant};
use passhost_ir::verify::check_counts;
use passhost_ir::{Graph, GraphError, NodeId, NodeKind, OpTable, verify_rewrite};
use passhost_kernels::CpuKernel;
use passhost_protocol::guest::{FromGuest, GuestRewrite};
use passhost_protocol::{decode, encode};
use passhost_result::{GuestUsage, Refusal};

/// Returned graphs against [`verify_rewrite`].
pub struct Rewrites {
    graphs: Vec<(Graph, Vec<Graph>)>,
    types: Recorded,
}

impl Rewrites {
    /// With graphs and their rewrites.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn new() -> Result<Rewrites, String> {
        Ok(Rewrites { graphs: graphs::rewrites(), types: Recorded::new(&graphs::originals()) })
    }

    fn draw(&self, random: &mut Random) -> (usize, Graph) {
        let at = random.below(self.graphs.len());
        let (_, rewrites) = &self.graphs[at];
        let (mut graph, other) = (random.pick(rewrites).clone(), random.pick(rewrites));
        for _ in 0..=random.below(3) {
            change::change(&mut graph, other, random);
        }
        if random.chance(60) {
            insert_what_changed(&self.graphs[at].0, &mut graph);
        }
        (at, graph)
    }

    fn verify(&mut self, at: usize, graph: &Graph) -> Outcome {
        let original = &self.graphs[at].0;
        let verified = check_counts(original, graph)
            .and_then(|()| verify_rewrite(original, graph, OpTable::insert(), &mut self.types));
        match verified {
            Ok(_) => accepted(graph).map(|()| "accepted".into()),
            Err(GraphError::Kernel(_, source)) => Ok(format!("refused: Kernel, {}", variant(&source.rule))),
            Err(GraphError::Node(_, rule)) => Ok(format!("refused: {}", variant(&rule))),
            Err(error) => Ok(format!("refused: {}", variant(&error))),
        }
    }
}

/// Gives nodes that are no longer those of the original ids of their own: else nothing but that would be found.
fn insert_what_changed(original: &Graph, graph: &mut Graph) {
    let mut next = graph.nodes.iter().map(|node| node.id.0).max().unwrap_or(0);
    for node in &mut graph.nodes {
        if let Some(before) = original.nodes.iter().find(|before| before.id == node.id)
            && before.kind != node.kind
        {
            next = next.wrapping_add(1);
            node.id = NodeId(next);
        }
    }
}

/// What must hold of a graph that the verifier accepts: it has a text that reads back as it is, and its kernels compile.
fn accepted(graph: &Graph) -> Result<(), String> {
    let text = graph.to_string();
    let read = Graph::parse(&text).map_err(|error| format!("accepted, and has no text: {error}"))?;
    if read.to_string() != text {
        return Err("accepted, and its text reads as another graph".into());
    }
    for node in &graph.nodes {
        if let NodeKind::Kernel { kernel, .. } = &node.kind {
            CpuKernel::compile(kernel).map_err(|error| format!("accepted, and a kernel does not compile: {error}"))?;
        }
    }
    Ok(())
}

/// A rewrite of one of the graphs.
pub enum Case {
    /// As a value.
    Graph(usize, Graph),
    /// As the bytes of a message.
    Message(usize, Vec<u8>),
}

impl Target for Rewrites {
    type Case = Case;

    fn make(&mut self, random: &mut Random) -> Case {
        let (at, graph) = self.draw(random);
        if random.chance(70) {
            return Case::Graph(at, graph);
        }
        let nodes = graph.nodes.iter().map(|node| node.id).collect();
        let refusals = vec![Refusal { nodes, reason: "none of its business".into() }];
        let rewrite = GuestRewrite { graph, refusals, refusals_left_out: 0 };
        let message = FromGuest::Ran(Ok(rewrite), GuestUsage::default());
        // A graph in memory always has an encoding.
        Case::Message(at, changed(encode(&message).unwrap_or_default(), random))
    }

    fn run(&mut self, case: &Case) -> Outcome {
        match case {
            Case::Graph(at, graph) => self.verify(*at, graph),
            Case::Message(at, bytes) => match decode::<FromGuest>(bytes) {
                Ok(FromGuest::Ran(Ok(mut rewrite), _)) => {
                    rewrite.bound_refusals();
                    self.verify(*at, &rewrite.graph).map(|kind| format!("message, {kind}"))
                }
                Ok(_) => Ok("message of another kind".into()),
                Err(_) => Ok("no message".into()),
            },
        }
    }

    fn written(&self, case: &Case) -> Vec<u8> {
        match case {
            Case::Graph(at, graph) => format!("# of graph {at}\n{graph:#?}\n").into_bytes(),
            Case::Message(_, bytes) => bytes.clone(),
        }
    }
}
