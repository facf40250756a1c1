//! Random numbers (splitmix64) and random graphs, the same in every run.

use vyre::Csr;

/// A splitmix64 generator, which begins at this seed.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n)) as u32
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether an event happens that has a probability of `percent` in a hundred.
    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// An edge of an R-MAT graph (a = 0.57, b = 0.19, c = 0.19, d = 0.05) of 2^scale nodes.
    fn edge(&mut self, scale: u32) -> (u32, u32) {
        let (mut v, mut w) = (0, 0);
        for _ in 0..scale {
            let x = self.unit();
            (v, w) = (v << 1, w << 1);
            if x >= 0.95 {
                (v, w) = (v | 1, w | 1);
            } else if x >= 0.76 {
                v |= 1;
            } else if x >= 0.57 {
                w |= 1;
            }
        }
        (v, w)
    }
}

/// `edges` edges of an R-MAT graph; those that leave the nodes are drawn again.
pub(crate) fn directed(nodes: u32, edges: usize, seed: u64) -> Vec<(u32, u32)> {
    let mut rng = Rng(seed);
    let scale = nodes.next_power_of_two().ilog2();
    let drawn = std::iter::repeat_with(|| rng.edge(scale));
    let inside = drawn.filter(|&(v, w)| v < nodes && w < nodes);
    inside.take(edges).collect()
}

/// The undirected edges `(v, w)` with `v < w` of `draws` draws of an R-MAT graph of 2^scale nodes, sorted, each once.
pub(crate) fn undirected(scale: u32, draws: usize, seed: u64) -> Vec<(u32, u32)> {
    let mut rng = Rng(seed);
    each_once((0..draws).map(|_| rng.edge(scale)))
}

/// The same of `draws` uniform draws.
pub(crate) fn uniform(nodes: u32, draws: usize, seed: u64) -> Vec<(u32, u32)> {
    let mut rng = Rng(seed);
    each_once((0..draws).map(|_| (rng.below(nodes), rng.below(nodes))))
}

fn each_once(edges: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
    let ends = edges.filter(|(v, w)| v != w);
    let mut edges: Vec<(u32, u32)> = ends.map(|(v, w)| (v.min(w), v.max(w))).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// An undirected R-MAT graph: both directions of each edge, neighbours sorted.
pub(crate) fn rmat(scale: u32, edge_factor: usize, seed: u64) -> Csr {
    let edges = undirected(scale, edge_factor << scale, seed);
    let mut both: Vec<(u32, u32)> = edges.iter().flat_map(|&(v, w)| [(v, w), (w, v)]).collect();
    both.sort_unstable();
    Csr::from_edges(1 << scale, &both).expect("edges name nodes")
}
