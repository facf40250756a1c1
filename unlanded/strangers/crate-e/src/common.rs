//! Graphs, random numbers, comparisons.
use std::fmt::Debug;
pub use vyre::prelude::*;
pub use vyre::{Error, Trap, TrapKind};

pub struct Rng(pub u64);
impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n.max(1))) as u32
    }
    pub fn vec(&mut self, len: usize, below: u32) -> Vec<u32> {
        (0..len).map(|_| self.below(below)).collect()
    }
    pub fn bools(&mut self, len: usize) -> Vec<bool> {
        (0..len).map(|_| self.below(2) == 1).collect()
    }
}

pub struct G {
    pub name: String,
    pub n: usize,
    /// In the order of the CSR.
    pub edges: Vec<(u32, u32)>,
    pub csr: Csr,
}

impl G {
    pub fn new(name: &str, n: usize, mut edges: Vec<(u32, u32)>) -> G {
        let csr = Csr::from_edges(n, &edges).expect("edges name nodes");
        edges.sort_by_key(|e| e.0);
        G { name: name.into(), n, edges, csr }
    }
    pub fn m(&self) -> usize {
        self.edges.len()
    }
    pub fn out(&self, v: u32) -> impl Iterator<Item = (usize, u32)> + '_ {
        let from = self.edges.partition_point(|e| e.0 < v);
        self.edges[from..].iter().take_while(move |e| e.0 == v).enumerate().map(move |(k, e)| (from + k, e.1))
    }
    /// Distances from several sources over edges for which `f` holds.
    pub fn bfs(&self, sources: &[u32], f: impl Fn(usize, u32, u32) -> bool) -> Vec<u32> {
        let mut dist = vec![u32::MAX; self.n];
        let mut queue = std::collections::VecDeque::new();
        for &s in sources {
            if dist[s as usize] == u32::MAX {
                dist[s as usize] = 0;
                queue.push_back(s);
            }
        }
        while let Some(v) = queue.pop_front() {
            for (e, w) in self.out(v) {
                if f(e, v, w) && dist[w as usize] == u32::MAX {
                    dist[w as usize] = dist[v as usize] + 1;
                    queue.push_back(w);
                }
            }
        }
        dist
    }
}

pub fn random(rng: &mut Rng, n: usize, m: usize) -> G {
    let edges = (0..m).map(|_| (rng.below(n as u32), rng.below(n as u32))).collect();
    G::new(&format!("random {n} {m}"), n, edges)
}

pub fn graphs(rng: &mut Rng, large: bool) -> Vec<G> {
    let mut all = vec![
        G::new("no nodes", 0, vec![]),
        G::new("one node", 1, vec![]),
        G::new("one node, loops", 1, vec![(0, 0); 3]),
        G::new("two nodes, double", 2, vec![(0, 1), (0, 1), (1, 0), (1, 1)]),
        G::new("no edges", 37, vec![]),
    ];
    all.push(random(rng, 7, 20));
    all.push(random(rng, 33, 40));
    all.push(random(rng, 64, 300));
    all.push(random(rng, 300, 900));
    all.push(G::new("chain", 60, (0..59).map(|v| (v, v + 1)).collect()));
    all.push(G::new("star", 700, (1..700).flat_map(|v| [(0, v), (v, 0)]).collect()));
    if large {
        all.push(random(rng, 20_000, 50_000));
        all.push(G::new("large star", 9_000, (1..9_000).flat_map(|v| [(0, v), (v, 0)]).collect()));
    }
    all
}

pub type R = Result<(), String>;

pub fn same<T: PartialEq + Debug>(what: &str, got: &T, expected: &T) -> R {
    if got == expected {
        return Ok(());
    }
    let (got, expected) = (format!("{got:?}"), format!("{expected:?}"));
    let at = got.bytes().zip(expected.bytes()).position(|(a, b)| a != b).unwrap_or(0);
    let cut = |s: &str| s.get(at.saturating_sub(40)..).map(|s| s.chars().take(120).collect::<String>()).unwrap_or_default();
    Err(format!("WRONG {what}: got ..{}.. expected ..{}..", cut(&got), cut(&expected)))
}

/// What a trap says, on a line.
pub fn sign(error: &Error) -> String {
    match error.trap() {
        Some(t) => format!(
            "{:?} kernel {} item {:?} index {} len {} subject {:?} message {:?} site {:?} | {}",
            t.kind, t.kernel, t.item, t.index, t.len, t.subject, t.message, t.site, error
        ),
        None => format!("no trap: {error}"),
    }
}

pub fn fail<T>(what: &str) -> impl Fn(Error) -> String + '_ {
    move |e| {
        let _ = std::marker::PhantomData::<T>;
        format!("ERROR {what}: {e}")
    }
}

pub fn err(e: Error) -> String {
    format!("ERROR {e}")
}
