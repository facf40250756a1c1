//! Heat: what of a pass's bytecode its runs have executed most, as far as that can be known without counting on the way.
//!
//! A run says how many rounds its fixpoints had and how many items its frontiers held. With the sizes, that gives how
//! many items each kernel was run on, and so how many words. Branches and loops in a kernel are not looked at, and where
//! several waves sweep frontiers, their items are taken to be shared evenly.
//!
//! ```
//! use vyre_core::plan::heat::Heat;
//! use vyre_core::vir0::module::Program;
//! // A program without kernels stays cold.
//! let (program, mut heat) = (Program::default(), Heat::default());
//! heat.add(&program, &Default::default(), &[], 1_000_000);
//! assert_eq!(heat.hot(&program, 1), (0, 0));
//! ```

use crate::vir0::flow::op;
use crate::vir0::isa::Op;
use crate::vir0::module::{Program, Wave};
use crate::vir0::sizes::Sizes;
use std::collections::BTreeMap;

/// Items that each kernel of a pass was run on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heat {
    items: Vec<u64>,
}

impl Heat {
    /// Takes a run into account, by its rounds of each fixpoint and the items of all its sweeps over frontiers.
    pub fn add(&mut self, program: &Program, sizes: &Sizes, rounds: &[u64], frontier_items: u64) {
        self.items.resize(program.kernels.len(), 0);
        let sweeps_frontier = |wave: &&Wave| wave.domain.frontier().is_some();
        let frontiers = program.waves.iter().filter(sweeps_frontier).count() as u64;
        for wave in &program.waves {
            let edges = wave.domain.topology().map(|t| sizes.edges[t.index()]);
            let items = match (edges, wave.domain.frontier()) {
                (degree, Some(_)) => {
                    let degree = degree.map_or(1, |edges| edges / sizes.nodes.max(1)).max(1);
                    (frontier_items / frontiers).saturating_mul(degree)
                }
                (edges, None) => {
                    let count = wave.domain.count();
                    let count = count.and_then(|extent| sizes.resolve(program, extent));
                    // What lists held is not counted.
                    let each = edges.or(count).unwrap_or(0);
                    let times = wave.fixpoint.and_then(|f| rounds.get(f.index()));
                    each.saturating_mul(times.copied().unwrap_or(1))
                }
            };
            let sum = &mut self.items[wave.kernel.index()];
            *sum = sum.saturating_add(items);
        }
    }

    /// Words that were executed, each once for each item.
    pub fn words(&self, program: &Program) -> u64 {
        let each = program.kernels.iter().zip(&self.items);
        let words = each.map(|(kernel, items)| items.saturating_mul(kernel.code.len() as u64));
        words.fold(0, u64::saturating_add)
    }

    /// Opcodes, and kernels, that were executed at least `from` times: a kernel once for each item and word.
    pub fn hot(&self, program: &Program, from: u64) -> (u32, u32) {
        let mut opcodes: BTreeMap<Op, u64> = BTreeMap::new();
        let mut kernels = 0;
        for (kernel, &items) in program.kernels.iter().zip(&self.items) {
            let words = items.saturating_mul(kernel.code.len() as u64);
            kernels += u32::from(words >= from.max(1));
            for word in &kernel.code {
                let sum = opcodes.entry(op(word)).or_default();
                *sum = sum.saturating_add(items);
            }
        }
        let hot = opcodes.values().filter(|&&times| times >= from.max(1));
        (hot.count() as u32, kernels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vir0::isa::Word;
    use crate::vir0::module::{
        Domain, Extent, FixpointId, FrontierId, ItemRows, Kernel, KernelId, TopologyId,
    };

    fn kernel(ops: &[Op]) -> Kernel {
        let word = |&op: &Op| Word {
            op: op as u8,
            ..Word::default()
        };
        Kernel {
            code: ops.iter().map(word).collect(),
            name: String::new(),
            rows: 1,
            frames: 0,
            item: ItemRows::default(),
            uniforms: Vec::new(),
            sites: Vec::new(),
        }
    }

    fn wave(kernel: u16, domain: Domain, fixpoint: Option<FixpointId>) -> Wave {
        Wave {
            name: String::new(),
            kernel: KernelId(kernel),
            domain,
            accesses: Vec::new(),
            fixpoint,
            after: Vec::new(),
        }
    }

    #[test]
    fn kernels_heat_up_by_what_was_swept() {
        let (fixpoint, edges) = (FixpointId(0), TopologyId(0));
        let program = Program {
            kernels: vec![
                kernel(&[Op::Ld32, Op::St32, Op::Ret]),
                kernel(&[Op::Ld32, Op::Ret]),
                kernel(&[Op::Add32, Op::Ret]),
            ],
            waves: vec![
                wave(0, Domain::Range(Extent::Fixed(50)), None),
                wave(1, Domain::Nodes, Some(fixpoint)),
                wave(2, Domain::EdgesFrom(edges, FrontierId(0)), Some(fixpoint)),
            ],
            ..Program::default()
        };
        let sizes = Sizes {
            nodes: 10,
            edges: vec![30],
            ..Sizes::default()
        };
        let mut heat = Heat::default();
        assert_eq!((heat.hot(&program, 1), heat.words(&program)), ((0, 0), 0));
        // 50 indices; 10 nodes in each of 4 rounds; 7 items of a frontier with 3 edges each.
        heat.add(&program, &sizes, &[4], 7);
        assert_eq!(heat.items, [50, 40, 21]);
        // Loads 90 times, stores 50, additions 21, returns 111; words 150, 80 and 42.
        let hot = [21, 22, 50, 51, 80, 81, 90, 91, 111, 112, 150, 151];
        let hot = hot.map(|from| heat.hot(&program, from));
        let expected = [(4, 3), (3, 3), (3, 2), (2, 2), (2, 2), (2, 1)];
        assert_eq!(hot[..6], expected);
        assert_eq!(hot[6..], [(2, 1), (1, 1), (1, 1), (0, 1), (0, 1), (0, 0)]);
        heat.add(&program, &sizes, &[4], 7);
        assert_eq!(heat.items, [100, 80, 42]);
        assert_eq!(heat.words(&program), 2 * (150 + 80 + 42));
    }
}
