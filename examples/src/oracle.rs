//! Sequential algorithms, written the usual way: what `--check` compares results and times with.

mod programs;

pub use programs::*;

use crate::statements::{Kind, Statements};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};
use vyre::Csr;

/// Distance of a node that no path reaches.
pub const UNREACHED: u32 = u32::MAX;

/// Levels of a breadth-first search with a queue.
///
/// ```
/// use vyre::Csr;
/// use vyre_examples::oracle::{UNREACHED, bfs};
/// let g = Csr::from_edges(4, &[(0, 1), (1, 2), (0, 2)]).unwrap();
/// assert_eq!(bfs(&g, 0), [0, 1, 1, UNREACHED]);
/// ```
pub fn bfs(graph: &Csr, source: u32) -> Vec<u32> {
    let mut dist = vec![UNREACHED; graph.node_count()];
    let mut queue = VecDeque::from([source]);
    dist[source as usize] = 0;
    while let Some(v) = queue.pop_front() {
        let next = dist[v as usize] + 1;
        for t in graph.neighbors(v) {
            if dist[t as usize] == UNREACHED {
                dist[t as usize] = next;
                queue.push_back(t);
            }
        }
    }
    dist
}

/// Shortest distances by Dijkstra's algorithm with a binary heap. Distances of 2^32 - 1 and more count as unreached.
///
/// ```
/// use vyre::Csr;
/// use vyre_examples::oracle::{UNREACHED, dijkstra};
/// let g = Csr::from_edges(4, &[(0, 1), (0, 2), (1, 2)]).unwrap();
/// assert_eq!(dijkstra(&g, &[2, 9, 3], 0), [0, 2, 5, UNREACHED]);
/// ```
pub fn dijkstra(graph: &Csr, weights: &[u32], source: u32) -> Vec<u32> {
    let mut dist = vec![UNREACHED; graph.node_count()];
    let mut heap = BinaryHeap::from([(Reverse(0u32), source)]);
    dist[source as usize] = 0;
    while let Some((Reverse(d), v)) = heap.pop() {
        if d > dist[v as usize] {
            continue;
        }
        for e in graph.edges(v) {
            let t = graph.target(e);
            let next = d.saturating_add(weights[e as usize]);
            if next < dist[t as usize] {
                dist[t as usize] = next;
                heap.push((Reverse(next), t));
            }
        }
    }
    dist
}

/// All pairs of nodes with a path from the first to the second, of one edge or more: in order, by a search from each
/// node.
///
/// ```
/// use vyre::Csr;
/// let g = Csr::from_edges(4, &[(0, 1), (1, 2), (2, 1)]).unwrap();
/// assert_eq!(vyre_examples::oracle::closure(&g), [[0, 1], [0, 2], [1, 1], [1, 2], [2, 1], [2, 2]]);
/// ```
pub fn closure(graph: &Csr) -> Vec<[u32; 2]> {
    let nodes = graph.node_count() as u32;
    // Which search has seen a node last.
    let mut seen = vec![None; graph.node_count()];
    let mut pairs = Vec::new();
    let mut open = Vec::new();
    for from in 0..nodes {
        let first = pairs.len();
        open.push(from);
        while let Some(v) = open.pop() {
            for to in graph.neighbors(v) {
                if seen[to as usize] != Some(from) {
                    seen[to as usize] = Some(from);
                    pairs.push([from, to]);
                    open.push(to);
                }
            }
        }
        pairs[first..].sort_unstable();
    }
    pairs
}

/// Which objects each variable may point to, in order, by sets of each variable that grow along what is assigned, one
/// variable after the other.
///
/// ```
/// use vyre_examples::{oracle, statements::Statements};
/// let program = Statements::parse("p = &x\nq = &y\n*p = q\nr = *p").unwrap();
/// let names = |[a, b]: [u32; 2]| format!("{} {}", program.name(a), program.name(b));
/// let found: Vec<String> = oracle::points_to(&program).into_iter().map(names).collect();
/// assert_eq!(found, ["p x", "x y", "q y", "r y"]);
/// ```
pub fn points_to(program: &Statements) -> Vec<[u32; 2]> {
    let variables = program.variables();
    let mut points: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); variables];
    let mut flows: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); variables];
    let (mut loads, mut stores) = (vec![Vec::new(); variables], vec![Vec::new(); variables]);
    // Variables that may point to more than those that what is assigned from them has seen.
    let mut open: BTreeSet<u32> = BTreeSet::new();
    for &(kind, to, from) in program.all() {
        match kind {
            Kind::Address => {
                points[to as usize].insert(from);
                open.insert(to);
            }
            Kind::Copy => {
                flows[from as usize].insert(to);
            }
            Kind::Load => loads[from as usize].push(to),
            Kind::Store => stores[to as usize].push(from),
        }
    }
    while let Some(v) = open.pop_first() {
        let objects = points[v as usize].clone();
        for &object in &objects {
            for &to in &loads[v as usize] {
                if flows[object as usize].insert(to) {
                    open.insert(object);
                }
            }
            for &from in &stores[v as usize] {
                if flows[from as usize].insert(object) {
                    open.insert(from);
                }
            }
        }
        for &to in &flows[v as usize] {
            let known = points[to as usize].len();
            points[to as usize].extend(&objects);
            if points[to as usize].len() > known {
                open.insert(to);
            }
        }
    }
    let all = (0..).zip(&points);
    all.flat_map(|(v, objects)| objects.iter().map(move |&object| [v, object]))
        .collect()
}

/// The coarsest strong bisimulation: of each state the least one of its class. Classes part until the states of each have
/// the same set of moves, a label and the class that it leads to.
///
/// ```
/// use vyre::Csr;
/// // 0 and 1 both lead to an end; that 0 does so twice does not count. 2 leads there by another label.
/// let g = Csr::from_edges(5, &[(0, 3), (0, 4), (1, 3), (2, 3)]).unwrap();
/// assert_eq!(vyre_examples::oracle::bisimulation(&g, &[7, 7, 7, 8]), [0, 0, 2, 3, 3]);
/// ```
pub fn bisimulation(graph: &Csr, labels: &[u32]) -> Vec<u32> {
    let nodes = graph.node_count();
    let mut class = vec![0; nodes];
    let mut classes = nodes.min(1);
    loop {
        let mut least: HashMap<(u32, Vec<(u32, u32)>), u32> = HashMap::new();
        let new = (0..nodes as u32).map(|v| {
            let edges = graph.offsets()[v as usize] as usize..;
            let moves = edges.zip(graph.neighbors(v));
            let mut moves: Vec<(u32, u32)> = moves
                .map(|(edge, to)| (labels[edge], class[to as usize]))
                .collect();
            moves.sort_unstable();
            moves.dedup();
            *least.entry((class[v as usize], moves)).or_insert(v)
        });
        class = new.collect();
        // Classes only part, so as many as before are the same ones.
        if least.len() == classes {
            return class;
        }
        classes = least.len();
    }
}

/// All pairs of nodes of the same generation: other targets of one node, and targets of two nodes of the same generation.
/// In order, by a search over pairs without regard to which node is the first.
///
/// ```
/// use vyre::Csr;
/// // Two children, of whom each has one, and both have another one together.
/// let g = Csr::from_edges(6, &[(0, 1), (0, 2), (1, 3), (2, 4), (1, 5), (2, 5)]).unwrap();
/// let siblings = [[1, 2], [2, 1]];
/// let cousins = [[3, 4], [3, 5], [4, 3], [4, 5], [5, 3], [5, 4], [5, 5]];
/// assert_eq!(vyre_examples::oracle::same_generation(&g), [&siblings[..], &cousins].concat());
/// ```
pub fn same_generation(graph: &Csr) -> Vec<[u32; 2]> {
    let nodes = graph.node_count() as u32;
    // Row `x` has a bit for each `y` up to `x`.
    let mut found: Vec<Vec<u64>> = (0..nodes).map(|_| Vec::new()).collect();
    let mut open = Vec::new();
    let mut find = |x: u32, y: u32, open: &mut Vec<(u32, u32)>| {
        let (x, y) = (x.max(y), x.min(y));
        let row = &mut found[x as usize];
        row.resize(x as usize / 64 + 1, 0);
        let (word, bit) = (&mut row[y as usize / 64], 1 << (y % 64));
        if *word & bit == 0 {
            *word |= bit;
            open.push((x, y));
        }
    };
    for parent in 0..nodes {
        for x in graph.neighbors(parent) {
            let smaller = graph.neighbors(parent).iter().filter(|&y| y < x);
            smaller.for_each(|y| find(x, y, &mut open));
        }
    }
    while let Some((a, b)) = open.pop() {
        for x in graph.neighbors(a) {
            for y in graph.neighbors(b) {
                find(x, y, &mut open);
            }
        }
    }
    let mut pairs = Vec::new();
    for (x, row) in (0..nodes).zip(&found) {
        for (first, &word) in (0..).step_by(64).zip(row) {
            for y in (0..64).filter(|bit| word >> bit & 1 == 1) {
                let y: u32 = first + y;
                pairs.push([x, y]);
                if x != y {
                    pairs.push([y, x]);
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// The smallest node of each node's weakly connected component, by union-find with path halving.
///
/// ```
/// use vyre::Csr;
/// let g = Csr::from_edges(5, &[(4, 1), (3, 4)]).unwrap();
/// assert_eq!(vyre_examples::oracle::components(&g), [0, 1, 2, 1, 1]);
/// ```
pub fn components(graph: &Csr) -> Vec<u32> {
    let nodes = graph.node_count() as u32;
    let mut parent: Vec<u32> = (0..nodes).collect();
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    for v in 0..nodes {
        for t in graph.neighbors(v) {
            let (a, b) = (root(&mut parent, v), root(&mut parent, t));
            // The smaller root stays one, so that a root is its component's smallest node.
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    (0..nodes).map(|v| root(&mut parent, v)).collect()
}

/// Core numbers by peeling in rising order of degree; edges count where they end.
///
/// ```
/// use vyre::Csr;
/// // A triangle with a tail, both directions.
/// let pairs = [(0, 1), (1, 2), (2, 0), (2, 3)];
/// let edges: Vec<_> = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
/// let g = Csr::from_edges(4, &edges).unwrap();
/// assert_eq!(vyre_examples::oracle::cores(&g), [2, 2, 2, 1]);
/// ```
pub fn cores(graph: &Csr) -> Vec<u32> {
    let nodes = graph.node_count() as u32;
    let mut degree = vec![0u32; nodes as usize];
    for v in 0..nodes {
        for t in graph.neighbors(v) {
            degree[t as usize] += 1;
        }
    }
    let most = degree.iter().copied().max().unwrap_or(0);
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); most as usize + 1];
    for v in 0..nodes {
        buckets[degree[v as usize] as usize].push(v);
    }
    let mut core = vec![u32::MAX; nodes as usize];
    for k in 0..=most {
        while let Some(v) = buckets[k as usize].pop() {
            if core[v as usize] != u32::MAX {
                continue;
            }
            core[v as usize] = k;
            for t in graph.neighbors(v) {
                let t = t as usize;
                if core[t] == u32::MAX && degree[t] > k {
                    degree[t] -= 1;
                    buckets[degree[t] as usize].push(t as u32);
                }
            }
        }
    }
    core
}

/// Luby's algorithm with the draws of the `mis` example: 1 for each chosen node.
///
/// ```
/// use vyre::Csr;
/// use vyre_examples::oracle::{luby, not_maximal};
/// let g = Csr::from_edges(3, &[(0, 1), (1, 2)]).unwrap();
/// assert_eq!(not_maximal(&g, &luby(&g, 1)), None);
/// assert_eq!(not_maximal(&g, &[1, 1, 0]).unwrap(), "nodes 0 and 1 are both chosen and share an edge");
/// assert_eq!(not_maximal(&g, &[1, 0, 0]).unwrap(), "node 2 could be added");
/// ```
pub fn luby(graph: &Csr, seed: u32) -> Vec<u32> {
    let draw = |v: u32, round: u32| {
        let mut h = (u64::from(round) << 32 | u64::from(v)) ^ u64::from(seed).rotate_left(17);
        h = (h ^ h >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h = (h ^ h >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        (h & 0xffff_ffff_0000_0000) | u64::from(v)
    };
    let nodes = graph.node_count() as u32;
    let edges = || {
        (0..nodes).flat_map(|v| {
            graph
                .neighbors(v)
                .iter()
                .map(move |t| (v as usize, t as usize))
        })
    };
    let mut state = vec![None; nodes as usize];
    for round in 0.. {
        if state.iter().all(Option::is_some) {
            break;
        }
        let mut best = vec![0u64; nodes as usize];
        for (v, t) in edges() {
            if v == t {
                best[v] = u64::MAX;
            } else if state[v].is_none() && state[t].is_none() {
                best[t] = best[t].max(draw(v as u32, round));
                best[v] = best[v].max(draw(t as u32, round));
            }
        }
        for v in 0..nodes {
            // A node with an edge to itself has drawn, like all others, but is never chosen.
            match &mut state[v as usize] {
                undecided @ None if best[v as usize] == u64::MAX => *undecided = Some(false),
                undecided @ None if draw(v, round) > best[v as usize] => *undecided = Some(true),
                _ => {}
            }
        }
        for (v, t) in edges() {
            if state[v] == Some(true) && state[t].is_none() {
                state[t] = Some(false);
            }
            if state[t] == Some(true) && state[v].is_none() {
                state[v] = Some(false);
            }
        }
    }
    state
        .into_iter()
        .map(|s| u32::from(s == Some(true)))
        .collect()
}

/// What keeps the chosen nodes (1) from being a maximal independent set.
pub fn not_maximal(graph: &Csr, chosen: &[u32]) -> Option<String> {
    let mut covered: Vec<bool> = chosen.iter().map(|&c| c == 1).collect();
    for v in 0..graph.node_count() as u32 {
        for t in graph.neighbors(v) {
            let (a, b) = (chosen[v as usize] == 1, chosen[t as usize] == 1);
            if a && b {
                return Some(format!(
                    "nodes {v} and {t} are both chosen and share an edge"
                ));
            }
            covered[t as usize] |= a || v == t;
            covered[v as usize] |= b || v == t;
        }
    }
    let free = covered.iter().position(|&c| !c)?;
    Some(format!("node {free} could be added"))
}

/// A minimum spanning forest by Kruskal's algorithm, the edge of lower index first among equal weights: 1 for each edge
/// of it.
///
/// ```
/// use vyre::Csr;
/// let g = Csr::from_edges(3, &[(0, 1), (0, 2), (1, 2)]).unwrap();
/// assert_eq!(vyre_examples::oracle::spanning_forest(&g, &[5, 1, 2]), [0, 1, 1]);
/// ```
pub fn spanning_forest(graph: &Csr, weights: &[u32]) -> Vec<u32> {
    let nodes = graph.node_count() as u32;
    let mut edges: Vec<(u32, u32, u32, u32)> = (0..nodes)
        .flat_map(|v| graph.edges(v).iter().map(move |e| (e, v)))
        .map(|(e, v)| (weights[e as usize], e, v, graph.target(e)))
        .collect();
    edges.sort_unstable();
    let mut parent: Vec<u32> = (0..nodes).collect();
    let mut chosen = vec![0; edges.len()];
    for (_, e, a, b) in edges {
        let mut roots = [a, b];
        for v in &mut roots {
            while parent[*v as usize] != *v {
                parent[*v as usize] = parent[parent[*v as usize] as usize];
                *v = parent[*v as usize];
            }
        }
        if roots[0] != roots[1] {
            parent[roots[0] as usize] = roots[1];
            chosen[e as usize] = 1;
        }
    }
    chosen
}

/// Shortest distances by the Bellman-Ford algorithm (`i64::MAX` without a path); `None` when a cycle of negative length
/// can be reached.
///
/// ```
/// use vyre::Csr;
/// use vyre_examples::oracle::bellman_ford;
/// let g = Csr::from_edges(3, &[(0, 1), (1, 2), (2, 1)]).unwrap();
/// assert_eq!(bellman_ford(&g, &[4, -3, 3], 0), Some(vec![0, 4, 1]));
/// assert_eq!(bellman_ford(&g, &[4, -3, 2], 0), None);
/// ```
pub fn bellman_ford(graph: &Csr, weights: &[i32], source: u32) -> Option<Vec<i64>> {
    let nodes = graph.node_count() as u32;
    let mut dist = vec![i64::MAX; nodes as usize];
    dist[source as usize] = 0;
    for _ in 0..=nodes {
        let mut shrank = false;
        for v in 0..nodes {
            let near = dist[v as usize];
            if near == i64::MAX {
                continue;
            }
            for e in graph.edges(v) {
                let far = near + i64::from(weights[e as usize]);
                let t = graph.target(e) as usize;
                if far < dist[t] {
                    dist[t] = far;
                    shrank = true;
                }
            }
        }
        if !shrank {
            return Some(dist);
        }
    }
    None
}

/// How many shortest paths from the sources go through each node, by Brandes' algorithm, with a queue and a stack.
///
/// ```
/// use vyre::Csr;
/// // Two ways around from 0 to 3, then on to 4.
/// let g = Csr::from_edges(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]).unwrap();
/// assert_eq!(vyre_examples::oracle::betweenness(&g, &[0, 2]), [0.0, 1.0, 1.0, 2.0, 0.0]);
/// ```
pub fn betweenness(graph: &Csr, sources: &[u32]) -> Vec<f64> {
    let nodes = graph.node_count();
    let mut score = vec![0.0; nodes];
    for &source in sources {
        let mut dist = vec![UNREACHED; nodes];
        let mut paths = vec![0.0; nodes];
        let mut share = vec![0.0; nodes];
        (dist[source as usize], paths[source as usize]) = (0, 1.0);
        // Nodes in the order of the search: a queue on the way there, a stack on the way back.
        let mut order = vec![source];
        let mut next = 0;
        while let Some(&v) = order.get(next) {
            next += 1;
            for t in graph.neighbors(v) {
                let (v, t) = (v as usize, t as usize);
                if dist[t] == UNREACHED {
                    dist[t] = dist[v] + 1;
                    order.push(t as u32);
                }
                if dist[t] == dist[v] + 1 {
                    paths[t] += paths[v];
                }
            }
        }
        for &v in order.iter().rev() {
            for t in graph.neighbors(v) {
                let (v, t) = (v as usize, t as usize);
                if dist[t] == dist[v] + 1 {
                    share[v] += paths[v] / paths[t] * (1.0 + share[t]);
                }
            }
            if v != source {
                score[v as usize] += share[v as usize];
            }
        }
    }
    score
}

/// Describes the first place where sums of floats differ by more than rounding, relative to their size.
///
/// ```
/// use vyre_examples::oracle::not_close;
/// assert_eq!(not_close(&[1.0, 0.0], &[1.0 + 1e-12, 0.0], 1e-9), None);
/// assert_eq!(not_close(&[1.0, 2.0], &[1.0, 2.5], 1e-9).unwrap(), "value of 1 is 2, not 2.5");
/// ```
pub fn not_close(ours: &[f64], expected: &[f64], bound: f64) -> Option<String> {
    if ours.len() != expected.len() {
        return Some(format!(
            "{} values instead of {}",
            ours.len(),
            expected.len()
        ));
    }
    // A NaN is close to nothing.
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= bound * b.abs().max(1.0);
    let at = ours.iter().zip(expected).position(|pair| !close(pair))?;
    Some(format!(
        "value of {at} is {}, not {}",
        ours[at], expected[at]
    ))
}

/// Bytes of each of four classes in each line, by one scan with an automaton: `table[state * 256 + byte]` has the
/// byte's class in the upper half and the next state in the lower one.
///
/// ```
/// // State 1 is within brackets; class 1 is what stands there.
/// let mut table = vec![0; 4096];
/// table[256..512].fill(0x11);
/// (table[b'[' as usize], table[256 + b']' as usize]) = (1, 0);
/// let lines = vyre_examples::oracle::classes(b"ab[c\nd]", &table);
/// assert_eq!(lines, [[3, 1, 0, 0], [1, 1, 0, 0]]);
/// ```
pub fn classes(text: &[u8], table: &[u8]) -> Vec<[u32; 4]> {
    let mut lines = vec![[0; 4]];
    let mut state = 0;
    for &byte in text {
        let entry = table[state * 256 + usize::from(byte)];
        state = usize::from(entry & 15);
        if byte == b'\n' {
            lines.push([0; 4]);
        } else if let Some(line) = lines.last_mut() {
            line[usize::from(entry >> 4)] += 1;
        }
    }
    lines
}

/// Parameters of [`pagerank`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRank {
    /// Probability of following an edge.
    pub damping: f32,
    /// Iteration stops when the ranks moved by less than this in sum.
    pub tolerance: f32,
    /// Iteration stops here at the latest.
    pub max_rounds: u32,
}

/// PageRank by power iteration; the rank of nodes without out-edges spreads over all nodes. Sums to 1. Sums over nodes
/// are taken in f64, so that this is the more exact side of a comparison.
///
/// ```
/// use vyre::Csr;
/// use vyre_examples::oracle::{PageRank, pagerank};
/// let ring = Csr::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]).unwrap();
/// let parameters = PageRank { damping: 0.85, tolerance: 1e-6, max_rounds: 100 };
/// assert_eq!(pagerank(&ring, parameters), [0.25; 4]);
/// ```
pub fn pagerank(graph: &Csr, parameters: PageRank) -> Vec<f32> {
    let nodes = graph.node_count();
    let incoming = graph.reverse();
    let start = 1.0 / nodes as f64;
    let damping = f64::from(parameters.damping);
    let mut rank = vec![start as f32; nodes];
    let mut share = vec![0f32; nodes];
    for _ in 0..parameters.max_rounds {
        let mut dangling = 0f64;
        for v in 0..nodes {
            match graph.degree(v as u32) {
                0 => dangling += f64::from(rank[v]),
                degree => share[v] = rank[v] / degree as f32,
            }
        }
        let base = (1.0 - damping) * start + damping * dangling * start;
        let mut moved = 0f64;
        for (v, rank) in (0u32..).zip(&mut rank) {
            let shares = incoming
                .neighbors(v)
                .iter()
                .map(|u| f64::from(share[u as usize]));
            let next = (base + damping * shares.sum::<f64>()) as f32;
            moved += f64::from((next - *rank).abs());
            *rank = next;
        }
        if moved < f64::from(parameters.tolerance) {
            break;
        }
    }
    rank
}
