//! Graphs from edges.

use vyre::prelude::*;

/// Offsets and targets of a graph whose edges are pairs in any order, as [`vyre::Csr::from_edges`] makes them: the edges
/// of a node stay in the order in which they were given.
///
/// - in: `source` and `target`, of `pairs` elements each; a source that is not below `rows` traps
/// - out: `offsets`, of `rows + 1` elements; `targets`, of `pairs`; `pair`, of as many: which pair each edge was
#[wave_graph(export)]
#[pass(id = "standard.csr_from_edges", unproven)]
pub mod csr_from_edges {
    #[include(key = source, value = number, sorted = sources, values = pair, n = pairs, after(look))]
    pub use crate::sort_by_key as sort;

    pub struct Data {
        #[input(per = pairs)]
        source: u32,
        #[input(per = pairs)]
        target: u32,
        #[output(per = rows + 1)]
        offsets: u32,
        #[output(per = pairs)]
        targets: u32,
        #[output(per = pairs)]
        pair: u32,
        pairs: u32,
        rows: u32,
        #[scratch(per = pairs)]
        number: u32,
        #[scratch(per = pairs)]
        sources: u32,
    }

    #[wave(range(pairs))]
    fn look(i: Index, source: &u32, offsets: &Buf<u32>, number: &mut u32) {
        assert!(*source < offsets.len() - 1, "a source is not below `rows`");
        *number = i;
    }

    /// The number of sources below a row, by halving.
    #[wave(range(rows + 1), after(sort))]
    fn find(row: Index, sources: &Buf<u32>, offsets: &mut u32) {
        let (mut low, mut high) = (0, sources.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if sources[middle] < row {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        *offsets = low;
    }

    #[wave(range(pairs), after(sort))]
    fn follow(pair: &u32, target: &Buf<u32>, targets: &mut u32) {
        *targets = target[*pair];
    }
}

/// The edges of a graph the other way round. (A `#[topology(reverse_of = graph)]` is built by the session, on the host,
/// and can be swept. This one is for where the graph is data of a pass.)
///
/// - in: `graph`
/// - out: `offsets`, of an element more than there are nodes; `sources`, of an element for each edge: the nodes from
///   which edges lead to a node, ascending; `edge`: which edge of `graph` each of them is
#[wave_graph(export)]
#[pass(id = "standard.transpose", unproven)]
pub mod transpose {
    #[include(
        source = to, target = from, offsets = offsets, targets = sources, pair = edge,
        pairs = edge(graph), rows = node, after(take)
    )]
    pub use super::csr_from_edges as csr;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node + 1)]
        offsets: u32,
        #[output(per = edge(graph))]
        sources: u32,
        #[output(per = edge(graph))]
        edge: u32,
        #[scratch(per = edge(graph))]
        to: u32,
        #[scratch(per = edge(graph))]
        from: u32,
    }

    #[wave(edges(graph))]
    fn take(e: Edge, to: &mut u32, from: &mut u32) {
        *to = e.dst;
        *from = e.src;
    }
}
