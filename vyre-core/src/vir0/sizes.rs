//! The numbers that symbolic sizes (nodes, edges of a topology, a scalar) stand for in a session or a run.

use super::length::NoValue;
use super::module::{BufferId, Extent, LengthId, Program, ScalarId, Width, row_words};

/// Real sizes of a session and a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Nodes of the node set.
    pub nodes: u64,
    /// Edges by topology.
    pub edges: Vec<u64>,
    /// Raw bits of the run's scalars; empty before a run.
    pub scalars: Vec<u64>,
    /// By [`PartsId`](super::module::PartsId): what the parts are like. Nothing where no session says.
    pub parts: Vec<PartSizes>,
    /// Raw bits of the scalars that the session was given: lengths know them before a run, and a run has no others.
    pub of_session: Vec<(ScalarId, u64)>,
}

/// How nodes are cut into parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSizes {
    /// How many there are.
    pub count: u64,
    /// Nodes of the one that has most.
    pub most_nodes: u64,
    /// Edges of the one that has most.
    pub most_edges: u64,
}

impl Sizes {
    /// What lengths see of a scalar: the low 32 bits; `None` where neither session nor run says.
    fn scalar(&self, id: ScalarId) -> Option<u32> {
        let mut given = self.of_session.iter();
        let given = given.find(|(of, _)| *of == id).map(|(_, bits)| bits);
        let bits = given.or_else(|| self.scalars.get(id.index()));
        bits.map(|&bits| bits as u32)
    }

    /// The bits of a row; `None` when they depend on a scalar and none are set.
    pub fn width(&self, program: &Program, width: Width) -> Option<u32> {
        match width {
            Width::Fixed(bits) => Some(bits),
            Width::Constant(c) => Some(program.constants[c.index()].bits as u32),
            Width::Scalar(s) => self.scalar(s),
        }
    }

    /// Nodes and bits of a row of each buffer of bit rows, by buffer.
    pub fn rows(&self, program: &Program) -> Vec<(BufferId, u32, u32)> {
        let buffers = (0..=u16::MAX).map(BufferId).zip(&program.buffers);
        buffers
            .filter_map(|(id, b)| match b.extent {
                Extent::NodeBits(width) => {
                    Some((id, self.nodes as u32, self.width(program, width)?))
                }
                _ => None,
            })
            .collect()
    }

    /// The value of a computed length; `Ok(None)` when it depends on a scalar and none are set.
    pub fn computed(&self, program: &Program, id: LengthId) -> Result<Option<u64>, NoValue> {
        let of = |value| match value {
            // The verifier refuses these in a length: it goes no deeper.
            Extent::Computed(_) | Extent::NodeBits(_) => None,
            value => self.resolve(program, value),
        };
        let length = program.lengths.get(id.index());
        length.map_or(Ok(None), |length| length.value(of))
    }

    /// Whether every length of the program is known.
    pub fn know(&self, program: &Program) -> bool {
        let mut extents = program.extents();
        extents.all(|(_, extent)| self.resolve(program, extent).is_some())
    }

    fn nodes_and_edges(&self) -> u64 {
        let edges = self.edges.iter();
        edges.fold(self.nodes, |a, &e| a.saturating_add(e))
    }

    /// The number of elements an extent stands for; `None` when it depends on a scalar and none are set, or when it is
    /// computed and has no value, which [`check_columns`](crate::run::args::check_columns) refuses.
    pub fn resolve(&self, program: &Program, extent: Extent) -> Option<u64> {
        match extent {
            Extent::Fixed(n) => Some(n),
            Extent::Constant(c) => program.constants.get(c.index()).map(|c| c.bits),
            Extent::Scalar(s) => self.scalar(s).map(u64::from),
            Extent::NodeBits(width) => self
                .width(program, width)
                .and_then(|w| self.nodes.checked_mul(row_words(w).into())),
            Extent::Computed(id) => self.computed(program, id).ok().flatten(),
            Extent::Nodes => Some(self.nodes),
            Extent::Edges(t) => self.edges.get(t.index()).copied(),
            Extent::Bounds(parts, ..) => {
                let parts = self.parts.get(parts.index());
                Some(parts.map_or(0, |p| p.count.saturating_add(1)))
            }
            Extent::NodesPlusEdges => Some(self.nodes_and_edges()),
            Extent::NodesTimes(times) => {
                let nodes = self.nodes.saturating_mul(times.into());
                Some(nodes.min(self.nodes_and_edges()))
            }
        }
    }
}
