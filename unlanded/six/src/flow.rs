//! Maximum flow by push-relabel, with global relabelling every `period` rounds.

use crate::common::{Res, Rng, Settings, measure, say};
use std::collections::VecDeque;
use vyre::prelude::*;

/// How many edges with room lead from each node to the root: a search against the edges.
#[wave_graph(deterministic)]
#[pass(id = "maxflow.toward", unproven)]
pub mod toward {
    pub const FAR: u32 = u32::MAX;

    pub struct Data {
        #[topology] graph: Csr,
        /// The edge the other way, of each edge.
        #[topology(per = edge(graph))] twin: u32,
        #[input(per = edge(graph))] room: u32,
        #[frontier] front: Frontier,
        #[output(per = node, init = FAR)] dist: u32,
        root: Node,
    }

    #[wave(once)]
    fn begin(root: Node, dist: &Buf<Atomic<u32>>, front: &Push) {
        dist[root].store(0);
        front.push(root);
    }

    #[fixpoint(after(begin), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn back(e: Edge, round: Round, twin: &Buf<u32>, room: &Buf<u32>, dist: &Buf<Atomic<u32>>, front: &Push) {
            if room[twin[e.index]] > 0 && dist[e.dst].compare_exchange(FAR, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

#[wave_graph]
#[pass(id = "maxflow.push_relabel", unproven, same_result(
    room = "an edge and its twin are never both used in a round, so what push loads is the item's own",
    value = "as room",
    ahead_dist = "as room",
    behind_dist = "as room",
    open = "as room",
))]
pub mod maxflow {
    use super::toward::FAR;

    pub struct Data {
        #[topology] graph: Csr,
        #[topology(per = edge(graph))] twin: u32,
        #[input(per = edge(graph))] capacity: u32,
        /// What may still flow along each edge.
        #[output(per = edge(graph))] room: u32,
        #[scratch(per = node)] height: u32,
        #[scratch(per = node)] lifted: u32,
        #[scratch(per = node)] excess: u64,
        /// What arrives in a round; the next one takes it.
        #[scratch(per = node)] gain: u64,
        #[frontier(unique)] active: Frontier,
        #[reduce(count)] open: u64,
        #[output(per = 1)] value: u64,
        source: Node,
        sink: Node,
        period: u32,
    }

    /// All edges of the source are full at first.
    #[wave(edges(graph))]
    fn load(
        e: Edge, source: Node, sink: Node, twin: &Buf<u32>, capacity: &Buf<u32>, room: &mut u32,
        gain: &Buf<Atomic<u64>>, active: &Push,
    ) {
        if e.src == e.dst {
            *room = 0;
        } else if e.src == source {
            *room = 0;
            gain[e.dst].fetch_add(u64::from(capacity[e.index]));
            if e.dst != sink && capacity[e.index] > 0 {
                active.push(e.dst);
            }
        } else if e.dst == source {
            *room = capacity[e.index] + capacity[twin[e.index]];
        } else {
            *room = capacity[e.index];
        }
    }

    #[fixpoint(after(load), until(open == 0))]
    mod phases {
        #[include(graph = graph, twin = twin, room = room, root = sink)]
        use super::super::toward as ahead;

        #[include(graph = graph, twin = twin, room = room, root = source)]
        use super::super::toward as behind;

        #[wave(nodes, after(ahead, behind))]
        fn relabel_all(
            v: Node, source: Node, ahead_dist: &Buf<u32>, behind_dist: &u32, height: &mut u32, lifted: &mut u32,
        ) {
            let n = ahead_dist.len();
            if v == source {
                *height = n;
            } else if ahead_dist[v] != FAR {
                *height = ahead_dist[v];
            } else if *behind_dist != FAR {
                *height = n + *behind_dist;
            } else {
                *height = 2 * n;
            }
            *lifted = *height;
        }

        #[fixpoint(after(relabel_all), until(active.is_empty() || round + 1 == period))]
        mod rounds {
            #[wave(items(active))]
            fn collect(lifted: &u32, height: &mut u32, gain: &mut u64, excess: &mut u64) {
                *height = *lifted;
                *excess += *gain;
                *gain = 0;
            }

            /// An edge and its twin are never both used, because one of them leads up.
            #[wave(items(active), after(collect))]
            fn push(
                v: Node, source: Node, sink: Node, graph: &Csr, twin: &Buf<u32>, height: &Buf<u32>,
                room: &Buf<Atomic<u32>>, excess: &mut u64, gain: &Buf<Atomic<u64>>, active: &Push,
            ) {
                for e in graph.edges(v) {
                    if *excess == 0 {
                        break;
                    }
                    let w = graph.target(e);
                    if height[v] == height[w] + 1 {
                        let free = room[e].load();
                        if free > 0 {
                            let amount = (*excess).min(u64::from(free)) as u32;
                            *excess -= u64::from(amount);
                            room[e].store(free - amount);
                            room[twin[e]].fetch_add(amount);
                            gain[w].fetch_add(u64::from(amount));
                            if w != source && w != sink {
                                active.push(w);
                            }
                        }
                    }
                }
                if *excess > 0 {
                    active.push(v);
                }
            }

            #[wave(items(active), after(push))]
            fn relabel(v: Node, graph: &Csr, height: &Buf<u32>, room: &Buf<u32>, excess: &u64, lifted: &mut u32) {
                if *excess > 0 {
                    let mut least = u32::MAX;
                    for e in graph.edges(v) {
                        if room[e] > 0 {
                            least = least.min(height[graph.target(e)] + 1);
                        }
                    }
                    *lifted = least;
                }
            }
        }

        #[wave(nodes, after(rounds))]
        fn look(v: Node, source: Node, sink: Node, excess: &u64, gain: &u64, open: &Reduce<Count>) {
            if v != source && v != sink && *excess + *gain > 0 {
                open.inc();
            }
        }
    }

    #[wave(once, after(phases))]
    fn total(sink: Node, gain: &Buf<u64>, value: &Buf<Atomic<u64>>) {
        value[0].store(gain[sink]);
    }
}

struct Network {
    graph: Csr,
    twin: Vec<u32>,
    capacity: Vec<u32>,
    source: u32,
    sink: u32,
}

impl Network {
    fn new(n: usize, roads: &[(u32, u32, u32)], source: u32, sink: u32) -> Network {
        let mut edges = Vec::new();
        for &(u, v, _) in roads {
            edges.extend([(u, v), (v, u)]);
        }
        let (graph, from) = Csr::from_edges_indexed(n, &edges).unwrap();
        let mut at = vec![0; edges.len()];
        for (e, &k) in from.iter().enumerate() {
            at[k as usize] = e as u32;
        }
        let twin = from.iter().map(|&k| at[k as usize ^ 1]).collect();
        let capacity = from.iter().map(|&k| if k % 2 == 0 { roads[k as usize / 2].2 } else { 0 }).collect();
        Network { graph, twin, capacity, source, sink }
    }

    fn random(n: usize, degree: usize, rng: &mut Rng) -> Network {
        let roads: Vec<_> = (0..n * degree)
            .map(|_| (rng.index(n) as u32, rng.index(n) as u32, rng.index(100) as u32))
            .collect();
        Network::new(n, &roads, 0, n as u32 - 1)
    }

    /// A picture: neighbours are joined both ways, and each pixel to the source or the sink.
    fn grid(w: usize, h: usize, rng: &mut Rng) -> Network {
        let (n, mut roads) = (w * h, Vec::new());
        for y in 0..h {
            for x in 0..w {
                let v = (y * w + x) as u32;
                for (near, next) in [(x + 1 < w, v + 1), (y + 1 < h, v + w as u32)] {
                    if near {
                        roads.push((v, next, rng.index(20) as u32));
                        roads.push((next, v, rng.index(20) as u32));
                    }
                }
                let (a, b) = if rng.index(2) == 0 { (n as u32, v) } else { (v, n as u32 + 1) };
                roads.push((a, b, rng.index(60) as u32));
            }
        }
        Network::new(n + 2, &roads, n as u32, n as u32 + 1)
    }

    /// A long strip from its left end to its right end.
    fn strip(w: usize, h: usize, rng: &mut Rng) -> Network {
        let (n, mut roads) = (w * h, Vec::new());
        for y in 0..h {
            roads.push((n as u32, (y * w) as u32, 200));
            roads.push(((y * w + w - 1) as u32, n as u32 + 1, 200));
            for x in 0..w {
                let v = (y * w + x) as u32;
                if x + 1 < w {
                    roads.push((v, v + 1, 1 + rng.index(100) as u32));
                }
                if h > 1 {
                    roads.push((v, ((y + 1) % h * w + x) as u32, 1 + rng.index(100) as u32));
                }
            }
        }
        Network::new(n + 2, &roads, n as u32, n as u32 + 1)
    }

    /// Dinic's algorithm.
    fn plain(&self) -> u64 {
        let n = self.graph.node_count();
        let mut room = self.capacity.clone();
        if self.source == self.sink {
            return 0;
        }
        let mut total = 0;
        loop {
            let mut level = vec![u32::MAX; n];
            level[self.source as usize] = 0;
            let mut queue = VecDeque::from([self.source]);
            while let Some(v) = queue.pop_front() {
                for e in self.graph.edges(v).iter() {
                    let w = self.graph.target(e);
                    if room[e as usize] > 0 && level[w as usize] == u32::MAX {
                        level[w as usize] = level[v as usize] + 1;
                        queue.push_back(w);
                    }
                }
            }
            if level[self.sink as usize] == u32::MAX {
                return total;
            }
            let mut next: Vec<u32> = (0..n as u32).map(|v| self.graph.edges(v).start).collect();
            let mut path: Vec<u32> = Vec::new();
            let mut v = self.source;
            loop {
                if v == self.sink {
                    let amount = path.iter().map(|&e| room[e as usize]).min().unwrap();
                    for &e in &path {
                        room[e as usize] -= amount;
                        room[self.twin[e as usize] as usize] += amount;
                    }
                    total += u64::from(amount);
                    let cut = path.iter().position(|&e| room[e as usize] == 0).unwrap();
                    v = self.graph.target(self.twin[path[cut] as usize]);
                    path.truncate(cut);
                    continue;
                }
                let e = next[v as usize];
                if e < self.graph.edges(v).end {
                    let w = self.graph.target(e);
                    if room[e as usize] > 0 && level[w as usize] == level[v as usize] + 1 {
                        path.push(e);
                        v = w;
                    } else {
                        next[v as usize] += 1;
                    }
                } else if let Some(e) = path.pop() {
                    v = self.graph.target(self.twin[e as usize]);
                    next[v as usize] += 1;
                } else {
                    break;
                }
            }
        }
    }

    /// Whether this is a flow of its value, and no other is larger.
    fn check(&self, out: &maxflow::Output) -> bool {
        let n = self.graph.node_count();
        let mut balance = vec![0i64; n];
        for v in 0..n as u32 {
            for e in self.graph.edges(v).iter().map(|e| e as usize) {
                if self.graph.target(e as u32) == v {
                    continue;
                }
                let twin = self.twin[e] as usize;
                if out.room[e] + out.room[twin] != self.capacity[e] + self.capacity[twin] {
                    return false;
                }
                balance[v as usize] += i64::from(self.capacity[e]) - i64::from(out.room[e]);
            }
        }
        let value = out.value[0] as i64;
        (0..n as u32).all(|v| {
            balance[v as usize] == if v == self.source { value } else if v == self.sink { -value } else { 0 }
        }) && out.value[0] == self.plain()
    }
}

pub fn small(runtime: &Runtime, rng: &mut Rng) -> Res<bool> {
    let mut good = true;
    for n in [2, 3, 5, 8, 20, 100, 400] {
        for k in 0..if n < 50 { 30 } else { 6 } {
            let network = match k % 3 {
                0 => Network::random(n, 1 + k % 5, rng),
                1 => Network::grid(n.isqrt(), n.isqrt() + 1, rng),
                _ => Network::strip(n.div_ceil(4), n.min(4), rng),
            };
            let topology = maxflow::Topology { graph: &network.graph, twin: &network.twin };
            let mut session = maxflow::Session::new(runtime, topology)?;
            for period in [1, 7, 100] {
                let out = session.run(maxflow::Run {
                    capacity: &network.capacity,
                    source: network.source,
                    sink: network.sink,
                    period,
                })?;
                if !network.check(&out) {
                    println!("maxflow WRONG for n = {n}, k = {k}, period = {period}: {:?}", out.value);
                    good = false;
                }
            }
        }
    }
    Ok(good)
}

pub fn large(runtime: &Runtime, settings: &Settings, rng: &mut Rng) -> Res<bool> {
    let side = settings.size.unwrap_or(62_500).isqrt();
    let network = Network::grid(side, side, rng);
    let topology = maxflow::Topology { graph: &network.graph, twin: &network.twin };
    let mut session = maxflow::Session::new(runtime, topology)?;
    let run = maxflow::Run { capacity: &network.capacity, source: network.source, sink: network.sink, period: 30 };
    let (out, times) = measure(&mut session, settings, |s, out| s.run_into(run, out).map(|()| out.report.clone()))?;
    let good = network.check(&out);
    let what = format!("{} nodes, {} edges, flow {}", network.graph.node_count(), network.graph.edge_count(), out.value[0]);
    say("flow", &what, &times, &out.report, good);
    Ok(good)
}
