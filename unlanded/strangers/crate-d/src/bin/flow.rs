//! Maximum flow by push-relabel, relabelled from time to time by searches in the residual graph.

use crate_d::*;
use std::{collections::VecDeque, process::ExitCode};
use vyre::{Csr, prelude::*};

/// A search that knows nothing of flows.
#[wave_graph]
#[pass(id = "d.bfs", unproven)]
pub mod bfs {
    pub const FAR: u32 = u32::MAX;

    pub struct Data {
        #[topology] graph: Csr,
        #[frontier] front: Frontier,
        #[output(per = node, init = FAR)] dist: u32,
        root: u32,
    }

    #[wave(once)]
    fn begin(root: u32, dist: &Buf<Atomic<u32>>, front: &Push) {
        dist[root].store(0);
        front.push(root);
    }

    #[fixpoint(after(begin), until(front.is_empty()), max_rounds = 4_294_967_294)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn visit(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(FAR, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// `net` has each edge of the network and its way back; `back` is the other one of the two.
#[wave_graph]
#[pass(id = "d.flow", unproven, same_result(excess = "what arrives at the sink is the maximum flow, the rest is back at the source"))]
pub mod flow {
    pub struct Data {
        #[topology] net: Csr,
        #[topology(per = edge(net))] back: u32,
        #[topology(per = edge(net))] capacity: u32,
        #[output(per = edge(net))] room: u32,
        #[output(per = node)] excess: u64,
        #[scratch(per = node)] height: u32,
        #[frontier(unique)] active: Frontier,
        #[reduce(or)] more: bool,
        source: u32,
        sink: u32,
        every: u32,                          // rounds between searches
    }

    /// Searches go against the edges: whether there is room the other way.
    #[device]
    fn has_room(_e: Edge, back: &u32, room: &Buf<u32>) -> bool {
        room[*back] > 0
    }

    #[wave(edges(net))]
    fn begin(e: Edge, capacity: &u32, source: u32, room: &mut u32) {
        *room = if e.src == source { 0 } else { *capacity };
    }

    #[wave(once, after(begin))]
    fn open(
        net: &Csr, back: &Buf<u32>, capacity: &Buf<u32>, source: u32, sink: u32,
        room: &Buf<Atomic<u32>>, excess: &Buf<Atomic<u64>>, active: &Push,
    ) {
        for e in net.edges(source) {
            let w = net.target(e);
            room[back[e]].fetch_add(capacity[e]);
            excess[w].fetch_add(u64::from(capacity[e]));
            if capacity[e] > 0 && w != source && w != sink {
                active.push(w);
            }
        }
    }

    #[fixpoint(after(open), until(!more), max_rounds = 4_294_967_295)]
    mod phases {
        #[include(graph = net, root = sink, edges = has_room)]
        use super::super::bfs as to_sink;
        #[include(graph = net, root = source, edges = has_room)]
        use super::super::bfs as to_source;

        #[wave(nodes, after(to_sink, to_source))]
        fn measure(v: Node, source: u32, to_sink_dist: &Buf<u32>, to_source_dist: &u32, height: &mut u32) {
            let n = to_sink_dist.len();
            let far = to_sink_dist[v];
            *height = if v == source {
                n
            } else if far != u32::MAX {
                far
            } else {
                n + n.min(*to_source_dist)
            };
        }

        #[fixpoint(after(measure), until(active.is_empty() || round + 1 == every), max_rounds = 4_294_967_295)]
        mod rounds {
            #[wave(items(active))]
            fn push(
                v: Node, net: &Csr, back: &Buf<u32>, height: &Buf<u32>, source: u32, sink: u32,
                room: &Buf<Atomic<u32>>, excess: &Buf<Atomic<u64>>, active: &Push,
            ) {
                let all = excess[v].load();
                let mut left = all;
                for e in net.edges(v) {
                    if left == 0 {
                        break;
                    }
                    let w = net.target(e);
                    let free = room[e].load();
                    if free > 0 && height[v] == height[w] + 1 {
                        let part = left.min(u64::from(free));
                        room[e].fetch_sub(part as u32);
                        room[back[e]].fetch_add(part as u32);
                        excess[w].fetch_add(part);
                        left -= part;
                        if w != source && w != sink {
                            active.push(w);
                        }
                    }
                }
                excess[v].fetch_sub(all - left);
            }

            /// Neighbours may be raised at the same time: heights only grow, so each stays valid.
            #[wave(items(active), after(push))]
            fn raise(v: Node, net: &Csr, excess: &u64, room: &Buf<u32>, height: &Buf<Atomic<u32>>, active: &Push) {
                if *excess > 0 {
                    let mut least = u32::MAX;
                    for e in net.edges(v) {
                        if room[e] > 0 {
                            least = least.min(height[net.target(e)].load());
                        }
                    }
                    height[v].fetch_max(least.saturating_add(1));
                    active.push(v);
                }
            }
        }

        #[wave(nodes, after(rounds))]
        fn look(v: Node, source: u32, sink: u32, excess: &u64, more: &Reduce<Or<bool>>) {
            more.or(*excess > 0 && v != source && v != sink);
        }
    }
}

struct Net {
    graph: Csr,
    back: Vec<u32>,
    capacity: Vec<u32>,
}

impl Net {
    /// By hand: each edge and its way back, and which edge is whose.
    fn new(n: u32, edges: &[(u32, u32)], capacity: &[u32]) -> Result<Net, Anything> {
        let both: Vec<(u32, u32)> = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        let (graph, from) = Csr::from_edges_indexed(n as usize, &both)?;
        let mut place = vec![0; both.len()];
        for (e, &k) in from.iter().enumerate() {
            place[k as usize] = e as u32;
        }
        let back = from.iter().map(|&k| place[k as usize ^ 1]).collect();
        let capacity = from.iter().map(|&k| if k % 2 == 0 { capacity[k as usize / 2] } else { 0 }).collect();
        Ok(Net { graph, back, capacity })
    }

    fn topology(&self) -> flow::Topology<'_> {
        flow::Topology { net: &self.graph, back: &self.back, capacity: &self.capacity }
    }

    /// Whether it is a flow of that value, and has a cut as large.
    fn proves(&self, out: &flow::Output, source: u32, sink: u32, value: u64) -> Result<(), String> {
        let n = self.graph.node_count();
        let mut gain = vec![0i64; n];
        for v in 0..n as u32 {
            for e in self.graph.edges(v).iter() {
                let (k, b) = (e as usize, self.back[e as usize] as usize);
                if out.room[k] as u64 + out.room[b] as u64 != self.capacity[k] as u64 + self.capacity[b] as u64 {
                    return Err(format!("edge {e} and its way back have other room than capacity"));
                }
                let sent = i64::from(self.capacity[k]) - i64::from(out.room[k]);
                gain[v as usize] -= sent.max(0);
                gain[self.graph.target(e) as usize] += sent.max(0);
            }
        }
        for v in 0..n {
            let expected = match v as u32 {
                v if v == sink => value as i64,
                v if v == source => -(value as i64),
                _ => 0,
            };
            if gain[v] != expected {
                return Err(format!("node {v} keeps {} and not {expected}", gain[v]));
            }
        }
        if out.excess[sink as usize] != value {
            return Err(format!("{} at the sink, and not {value}", out.excess[sink as usize]));
        }
        // No way from the source to the sink is left.
        let mut seen = vec![false; n];
        seen[source as usize] = true;
        let mut queue = VecDeque::from([source]);
        while let Some(v) = queue.pop_front() {
            for e in self.graph.edges(v).iter() {
                let w = self.graph.target(e);
                if out.room[e as usize] > 0 && !seen[w as usize] {
                    seen[w as usize] = true;
                    queue.push_back(w);
                }
            }
        }
        if seen[sink as usize] { Err("a way with room is left".to_owned()) } else { Ok(()) }
    }
}

/// Dinic's algorithm, on lists of its own.
fn dinic(n: u32, edges: &[(u32, u32)], capacity: &[u32], source: u32, sink: u32) -> u64 {
    let n = n as usize;
    let mut at: Vec<Vec<usize>> = vec![Vec::new(); n];
    let (mut to, mut room) = (Vec::new(), Vec::new());
    for (&(a, b), &c) in edges.iter().zip(capacity) {
        at[a as usize].push(to.len());
        to.push(b as usize);
        room.push(u64::from(c));
        at[b as usize].push(to.len());
        to.push(a as usize);
        room.push(0);
    }
    let (source, sink) = (source as usize, sink as usize);
    let mut total = 0;
    loop {
        let mut level = vec![usize::MAX; n];
        level[source] = 0;
        let mut queue = VecDeque::from([source]);
        while let Some(v) = queue.pop_front() {
            for &e in &at[v] {
                if room[e] > 0 && level[to[e]] == usize::MAX {
                    level[to[e]] = level[v] + 1;
                    queue.push_back(to[e]);
                }
            }
        }
        if level[sink] == usize::MAX {
            return total;
        }
        let mut next = vec![0; n];
        let mut path: Vec<usize> = Vec::new();
        loop {
            let v = path.last().map_or(source, |&e| to[e]);
            if v == sink {
                let part = path.iter().map(|&e| room[e]).min().unwrap_or(0);
                for &e in &path {
                    room[e] -= part;
                    room[e ^ 1] += part;
                }
                total += part;
                let first = path.iter().position(|&e| room[e] == 0).unwrap_or(0);
                path.truncate(first);
                continue;
            }
            if let Some(&e) = at[v].get(next[v]) {
                if room[e] > 0 && level[to[e]] == level[v] + 1 {
                    path.push(e);
                } else {
                    next[v] += 1;
                }
            } else if let Some(e) = path.pop() {
                next[to[e ^ 1]] += 1;
            } else {
                break;
            }
        }
    }
}

fn main() -> Result<ExitCode, Anything> {
    let args = Args::new();
    if args.flag("--plan") {
        println!("{}", flow::PLAN);
    }
    let runtime = args.runtime()?;
    let mut random = Random(u64::from(args.number("--seed", 1)));
    let runs = args.number("--runs", 5);
    let mut ok = true;

    for n in [2, 3, 5, 10, 40, 200, 2_000] {
        for (degree, most, every) in [(1, 5, 1), (2, 1, 3), (3, 10, 20), (6, 1_000_000, 7), (8, 4_000_000, 500)] {
            let edges = random_edges(n, n as usize * degree, &mut random);
            let capacity: Vec<u32> = edges.iter().map(|_| random.below(most + 1)).collect();
            let net = Net::new(n, &edges, &capacity)?;
            let mut session = flow::Session::new(&runtime, net.topology())?;
            for (source, sink) in [(0, n - 1), (n / 2, 0)] {
                let value = dinic(n, &edges, &capacity, source, sink);
                let out = session.run(flow::Run { source, sink, every })?;
                if let Err(why) = net.proves(&out, source, sink, value) {
                    println!("wrong: {n} nodes, degree {degree}, {source} to {sink}, every {every}: {why}");
                    ok = false;
                }
            }
        }
    }

    let size = args.number("--size", 100_000);
    let kind = args.text("--graph", "both");
    for name in ["random", "grid"] {
        if kind != "both" && kind != name {
            continue;
        }
        // In a grid the source feeds a column of nodes at the left, and the sink takes from one at the right.
        let (n, edges, usual) = if name == "random" {
            let mut edges = random_edges(size, size as usize * 6, &mut random);
            for _ in 0..size.isqrt() {
                edges.push((0, 2 + random.below(size - 2)));
                edges.push((2 + random.below(size - 2), 1));
            }
            (size, edges, 50)
        } else {
            let side = size.isqrt();
            let grid = grid_edges(side, side).into_iter().map(|(a, b)| (a + 2, b + 2));
            let ends = (0..side).flat_map(|y| [(0, y * side + 2), (y * side + side + 1, 1)]);
            (side * side + 2, grid.chain(ends).collect(), 500)
        };
        let every = args.number("--every", usual);
        let capacity: Vec<u32> = edges
            .iter()
            .map(|&(a, b)| if a == 0 || b == 1 { 1_000 } else { 1 + random.below(100) })
            .collect();
        println!("{name}: {n} nodes, {} edges, a search every {every} rounds", edges.len());
        let (value, time) = timed(|| dinic(n, &edges, &capacity, 0, 1));
        println!("  dinic     {time:.2?}, flow {value}");
        let net = Net::new(n, &edges, &capacity)?;
        let mut session = flow::Session::new(&runtime, net.topology())?;
        let (out, time) = median(&mut session, flow::Run { source: 0, sink: 1, every }, runs)?;
        let good = net.proves(&out, 0, 1, value);
        println!("  push      {time:.2?}, rounds {:?}, {} {}, {:?}", out.report.rounds, out.report.backend,
            out.report.route, good);
        ok &= good.is_ok();
        if args.flag("--explain") {
            println!("{}", session.explain());
        }
    }
    Ok(verdict(ok))
}
