//! What lowering asks of a graph again and again.

use super::LowerError;
use super::contraction::tile::Tile;
use super::footprint::Footprint;
use super::group::Group;
use super::node_call::NodeCall;
use super::recipe::{RuleReading, readings, recipe};
use super::rule::{Recipe, Rule};
use crate::args::Args;
use crate::index::Index;
use crate::links::Links;
use crate::view::{self, View};
use passhost_ir::{DeviceKind, Graph, Node, NodeKind, ValueId};
use std::cell::OnceCell;

/// What a node reduces for each of its results.
type Footprints = Vec<Result<Option<Footprint>, LowerError>>;

/// A graph that does not change, with what was found out about it.
pub(crate) struct GraphAnalysis<'a> {
    pub(crate) graph: &'a Graph,
    /// What of it lowers.
    groups: &'a [Group],
    /// Where eager runs it, where that is known.
    pub(crate) device: Option<DeviceKind>,
    pub(crate) links: Links<'a>,
    views: Vec<OnceCell<bool>>,
    recipes: Vec<OnceCell<Result<Recipe, LowerError>>>,
    footprints: Vec<OnceCell<Footprints>>,
    /// For each node what its rule reads for each of its results.
    readings: Vec<OnceCell<Vec<Vec<RuleReading>>>>,
    /// For each value what it is a view of.
    steps: Vec<OnceCell<Option<View>>>,
    roots: Vec<OnceCell<View>>,
    /// For each node what it is in tiles.
    tiles: Vec<OnceCell<Option<Tile>>>,
}

impl<'a> GraphAnalysis<'a> {
    /// Of a graph of which the ops in some groups lower.
    pub(crate) fn of(graph: &'a Graph, groups: &'a [Group]) -> GraphAnalysis<'a> {
        GraphAnalysis {
            graph,
            groups,
            device: None,
            links: Links::of(graph),
            views: vec![OnceCell::new(); graph.nodes.len()],
            recipes: graph.nodes.iter().map(|_| OnceCell::new()).collect(),
            footprints: graph.nodes.iter().map(|_| OnceCell::new()).collect(),
            readings: graph.nodes.iter().map(|_| OnceCell::new()).collect(),
            steps: vec![OnceCell::new(); graph.values.len()],
            roots: vec![OnceCell::new(); graph.values.len()],
            tiles: vec![OnceCell::new(); graph.nodes.len()],
        }
    }

    /// The same where kernels are to round as eager does on a device.
    pub(super) fn on(self, device: DeviceKind) -> GraphAnalysis<'a> {
        GraphAnalysis { device: Some(device), ..self }
    }

    pub(super) fn node(&self, position: usize) -> &'a Node {
        &self.graph.nodes[position]
    }

    /// Whether anything reads a value.
    pub(super) fn is_read(&self, value: ValueId) -> bool {
        self.links.uses.is_output(value) || !self.links.uses.readers(value).is_empty()
    }

    /// The op of the node at a position.
    pub(super) fn name(&self, position: usize) -> String {
        match &self.node(position).kind {
            NodeKind::Aten { op, .. } => op.to_string(),
            NodeKind::Kernel { .. } => "a kernel".to_owned(),
        }
    }

    /// Whether all results of the node at a position are views.
    pub(super) fn is_view(&self, position: usize) -> bool {
        let is_view = || self.node(position).outputs.iter().all(|&output| self.step(output).is_some());
        *self.views[position].get_or_init(is_view)
    }

    /// What a value is a view of, one step back: [`view::step`].
    pub(super) fn step(&self, value: ValueId) -> Option<&View> {
        let position = self.links.definitions[value.index()]?;
        self.steps[value.index()].get_or_init(|| view::step(self.graph, self.node(position), value)).as_ref()
    }

    /// What a value is a view of, all the way back: [`view::root`].
    pub(crate) fn root(&self, value: ValueId) -> &View {
        self.roots[value.index()].get_or_init(|| match self.step(value) {
            None => View { source: value, coordinates: Index::axes(&self.graph.ty(value).shape) },
            Some(view) => {
                let root = self.root(view.source);
                View { source: root.source, coordinates: root.at(&view.coordinates) }
            }
        })
    }

    /// What the lowering makes of the node at a position.
    pub(super) fn recipe(&self, position: usize) -> Result<&Recipe, &LowerError> {
        let recipe = || recipe(self.graph, self.node(position), self.groups);
        self.recipes[position].get_or_init(recipe).as_ref()
    }

    /// Whether the lowering of the node at a position reduces, normalises or adds up products.
    pub(super) fn is_reduction(&self, position: usize) -> bool {
        self.recipe(position).is_ok_and(Recipe::is_reduction)
    }

    /// The elements that a node reduces for its `output`-th result; `None` if it does not reduce.
    pub(super) fn footprint(&self, position: usize, output: usize) -> Result<Option<&Footprint>, &LowerError> {
        let recipe = self.recipe(position)?;
        let found = self.footprints[position].get_or_init(|| self.footprints_of(position, recipe));
        found.get(output).map_or(Ok(None), |found| found.as_ref().map(Option::as_ref))
    }

    /// What the products of a node are in tiles, if the device has kernels for them.
    pub(super) fn tile(&self, position: usize) -> Option<&Tile> {
        self.tiles[position].get_or_init(|| Tile::of(self, position)).as_ref()
    }

    fn footprints_of(&self, position: usize, recipe: &Recipe) -> Footprints {
        let node = self.node(position);
        let (footprint, op) = match (recipe, &node.kind) {
            (Recipe::Rule(Rule { footprint: Some(footprint), .. }, _), NodeKind::Aten { op, .. }) => (footprint, op),
            (Recipe::Contraction(contraction), _) => {
                let is_tiled = self.tile(position).is_some();
                return vec![Ok(Some(Footprint { is_tiled, ..contraction.footprint() }))];
            }
            _ => return vec![],
        };
        let of = |output| {
            let not_covered = |reason| LowerError::NotCovered(op.to_string(), reason);
            footprint(&NodeCall::of(self.graph, node, output)).map(Some).map_err(not_covered)
        };
        (0..node.outputs.len()).map(of).collect()
    }

    /// What the rule of a node reads for each element of its `output`-th result; nothing if it has no rule.
    pub(super) fn readings(&self, position: usize, output: usize) -> &[RuleReading] {
        let Ok(Recipe::Rule(rule, _)) = self.recipe(position) else { return &[] };
        let node = self.node(position);
        let of = |output| readings(&NodeCall::of(self.graph, node, output), rule);
        let found = self.readings[position].get_or_init(|| (0..node.outputs.len()).map(of).collect());
        found.get(output).map_or(&[], Vec::as_slice)
    }

    /// The tensor of which a node reduces elements.
    pub(super) fn reduced(&self, position: usize) -> Option<ValueId> {
        match self.recipe(position) {
            Ok(Recipe::Contraction(contraction)) => Some(contraction.factors[0].tensor),
            _ => Args::of(self.node(position)).single_tensors().next().map(|(_, tensor)| tensor),
        }
    }
}
