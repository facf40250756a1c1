//! Anticipable expressions and the latest places for them: lazy code motion, 64 expressions a word.

use crate::common::{Res, Rng, Settings, measure, say};
use vyre::prelude::*;

/// "And" dataflow along `graph`: what holds before a node is what leaves all of its predecessors, and
/// `adds | before & !loses` leaves it. At nodes without predecessors `edge` holds.
#[wave_graph(deterministic)]
#[pass(id = "flow.meet", unproven)]
pub mod meet {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology] against: Csr,
        #[input(per = node)] adds: u64,
        #[input(per = node)] loses: u64,
        #[input(per = 1)] edge: u64,
        #[output(per = node)] before: u64,
        #[frontier(unique)] changed: Frontier,
    }

    #[wave(nodes)]
    fn begin(v: Node, against: &Csr, edge: &Buf<u64>, before: &mut u64, changed: &Push) {
        *before = if against.degree(v) == 0 { edge[0] } else { u64::MAX };
        changed.push(v);
    }

    #[fixpoint(after(begin), until(changed.is_empty()))]
    mod rounds {
        #[wave(edges(graph, from = changed))]
        fn hand_on(e: Edge, adds: &Buf<u64>, loses: &Buf<u64>, before: &Buf<Atomic<u64>>, changed: &Push) {
            let kept = adds[e.src] | before[e.src].load() & !loses[e.src];
            if before[e.dst].fetch_and(kept) & !kept != 0 {
                changed.push(e.dst);
            }
        }
    }
}

/// Which expressions to evaluate where: as late as possible, but no path evaluates more often than before.
#[wave_graph]
#[pass(id = "flow.motion", unproven)]
pub mod motion {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        pub node: Node,
        pub word: u32,
        pub bits: u64,
    }

    pub struct Data {
        #[topology] flow: Csr,
        #[topology(reverse_of = flow)] back: Csr,
        #[input(per = node * words)] uses: u64,
        #[input(per = node * words)] kills: u64,
        #[scratch(per = 1)] none: u64,
        #[scratch(per = 1, init = u64::MAX)] all: u64,
        #[scratch(per = node)] used: u64,
        #[scratch(per = node)] killed: u64,
        #[scratch(per = node)] evaluated: u64,
        #[scratch(per = node)] earliest: u64,
        #[scratch(per = node)] delayed: u64,
        #[scratch(per = node)] ready: u64,
        #[scratch(per = node)] latest: u64,
        #[output(per = node * words)] anticipated: u64,
        #[output(per = node * words)] latest_points: u64,
        /// Uses that read what was evaluated before.
        #[output(per = node * words)] replaced: u64,
        #[list(capacity = node * words, output)] inserted: List<Point>,
        #[reduce(sum)] insertions: u64,
        words: u32,
    }

    #[fixpoint(until(round + 1 == words))]
    mod blocks {
        #[wave(nodes)]
        fn pick(
            v: Node, blocks: Round, words: u32, uses: &Buf<u64>, kills: &Buf<u64>, used: &mut u64, killed: &mut u64,
        ) {
            *used = uses[v * words + blocks];
            *killed = kills[v * words + blocks];
        }

        #[include(graph = back, against = flow, adds = used, loses = killed, edge = none, after(pick))]
        use super::super::meet as busy;

        #[wave(nodes, after(busy))]
        fn evaluate(
            v: Node, blocks: Round, words: u32, used: &u64, killed: &u64, busy_before: &u64, evaluated: &mut u64,
            anticipated: &Buf<Atomic<u64>>,
        ) {
            let here = *used | *busy_before & !*killed;
            anticipated[v * words + blocks].fetch_or(here);
            *evaluated = here & !*killed;
        }

        #[include(graph = flow, against = back, adds = evaluated, loses = killed, edge = none, after(evaluate))]
        use super::super::meet as available;

        #[wave(nodes, after(available))]
        fn start(
            used: &u64, killed: &u64, busy_before: &u64, available_before: &u64, earliest: &mut u64, delayed: &mut u64,
        ) {
            *earliest = (*used | *busy_before & !*killed) & !*available_before;
            *delayed = *earliest & !*used;
        }

        #[include(graph = flow, against = back, adds = delayed, loses = used, edge = none, after(start))]
        use super::super::meet as postponable;

        #[wave(nodes, after(postponable))]
        fn gather(earliest: &u64, postponable_before: &u64, ready: &mut u64) {
            *ready = *earliest | *postponable_before;
        }

        #[wave(nodes, after(gather))]
        fn stop(v: Node, flow: &Csr, used: &u64, ready: &Buf<u64>, latest: &mut u64) {
            let mut further = u64::MAX;
            for w in flow.neighbors(v) {
                further &= ready[w];
            }
            *latest = ready[v] & (*used | !further);
        }

        /// What nobody uses before it is evaluated again, as the complement of a union.
        #[include(graph = back, against = flow, adds = latest, loses = used, edge = all, after(stop))]
        use super::super::meet as idle;

        #[wave(nodes, after(idle))]
        fn place(
            v: Node, blocks: Round, words: u32, used: &u64, latest: &u64, idle_before: &u64,
            latest_points: &Buf<Atomic<u64>>, replaced: &Buf<Atomic<u64>>, inserted: &Append<Point>,
        ) {
            let bits = *latest & !*idle_before;
            latest_points[v * words + blocks].fetch_or(*latest);
            replaced[v * words + blocks].fetch_or(*used & !(*latest & *idle_before));
            if bits != 0 {
                inserted.append(Point { node: v, word: blocks, bits });
            }
        }
    }

    #[wave(items(inserted), after(blocks))]
    fn count(at: Point, insertions: &Reduce<Sum<u64>>) {
        insertions.add(u64::from(at.bits.count_ones()));
    }
}

struct Code {
    flow: Csr,
    uses: Vec<u64>,
    kills: Vec<u64>,
}

/// A random graph from node 0 on, whose edges into joins are split.
fn random(n: usize, words: usize, local: bool, rng: &mut Rng) -> Code {
    let mut base = Vec::new();
    for v in 1..n {
        let from = if local { v - 1 - rng.index(v.min(3)) } else { rng.index(v) };
        base.push((from as u32, v as u32));
        if rng.index(3) == 0 {
            let from = if local { (v + 20).min(n - 1) - rng.index(v.min(40)) } else { rng.index(n) };
            base.push((from as u32, v as u32));
        }
    }
    let mut entering = vec![0; n];
    for &(_, v) in &base {
        entering[v as usize] += 1;
    }
    let mut total = n as u32;
    let mut edges = Vec::new();
    for &(u, v) in &base {
        if entering[v as usize] > 1 {
            edges.extend([(u, total), (total, v)]);
            total += 1;
        } else {
            edges.push((u, v));
        }
    }
    let some = |rng: &mut Rng, real: bool| if real { rng.next() & rng.next() & rng.next() } else { 0 };
    let slots = total as usize * words;
    let uses = (0..slots).map(|k| some(rng, k / words < n)).collect();
    let kills = (0..slots).map(|k| some(rng, k / words < n) & rng.next()).collect();
    Code { flow: Csr::from_edges(total as usize, &edges).unwrap(), uses, kills }
}

/// The equations of Aho, Lam, Sethi and Ullman, 9.5, one word, each by sweeps over all nodes.
fn plain(flow: &Csr, back: &Csr, uses: &[u64], kills: &[u64]) -> [Vec<u64>; 4] {
    let n = flow.node_count();
    let all = |row: &mut dyn Iterator<Item = u64>, none: u64| row.reduce(|a, b| a & b).unwrap_or(none);
    let settle = |down: bool, start: u64, step: &dyn Fn(usize, &[u64]) -> u64| {
        let mut x = vec![start; n];
        loop {
            let mut changed = false;
            for k in 0..n {
                let v = if down { k } else { n - 1 - k };
                let new = step(v, &x);
                changed |= new != x[v];
                x[v] = new;
            }
            if !changed {
                return x;
            }
        }
    };
    let next = |v: usize| flow.neighbors(v as u32).iter().map(|w| w as usize).collect::<Vec<_>>();
    let before = |v: usize| back.neighbors(v as u32).iter().map(|w| w as usize).collect::<Vec<_>>();
    // At the beginning of each node.
    let anticipated = settle(false, !0, &|v, x| uses[v] | all(&mut next(v).iter().map(|&w| x[w]), 0) & !kills[v]);
    // At the end of each node.
    let available = settle(true, !0, &|v, x| {
        (anticipated[v] | all(&mut before(v).iter().map(|&w| x[w]), 0)) & !kills[v]
    });
    let earliest: Vec<u64> =
        (0..n).map(|v| anticipated[v] & !all(&mut before(v).iter().map(|&w| available[w]), 0)).collect();
    let postponable = settle(true, !0, &|v, x| {
        (earliest[v] | all(&mut before(v).iter().map(|&w| x[w]), 0)) & !uses[v]
    });
    let ready: Vec<u64> =
        (0..n).map(|v| earliest[v] | all(&mut before(v).iter().map(|&w| postponable[w]), 0)).collect();
    let latest: Vec<u64> =
        (0..n).map(|v| ready[v] & (uses[v] | !all(&mut next(v).iter().map(|&w| ready[w]), !0))).collect();
    let used_out = |v: usize, x: &[u64]| next(v).iter().fold(0, |a, &w| a | x[w]);
    let used = settle(false, 0, &|v, x| (uses[v] | used_out(v, x)) & !latest[v]);
    let inserted = (0..n).map(|v| latest[v] & used_out(v, &used)).collect();
    let replaced = (0..n).map(|v| uses[v] & (!latest[v] | used_out(v, &used))).collect();
    [anticipated, latest, inserted, replaced]
}

fn check(code: &Code, words: usize, out: &motion::Output, rng: &mut Rng) -> bool {
    let (n, back) = (code.flow.node_count(), code.flow.reverse_indexed().0);
    let mut inserted = vec![0; n * words];
    for point in &out.inserted {
        inserted[point.node as usize * words + point.word as usize] |= point.bits;
    }
    let mut ok = out.insertions == inserted.iter().map(|bits| u64::from(bits.count_ones())).sum::<u64>();
    for word in 0..words {
        let column = |all: &[u64]| all.iter().skip(word).step_by(words).copied().collect::<Vec<u64>>();
        let expected = plain(&code.flow, &back, &column(&code.uses), &column(&code.kills));
        let found = [&out.anticipated, &out.latest_points, &inserted, &out.replaced].map(|all| column(all));
        ok &= found == expected;
    }
    // Walks: a use that is replaced finds its value, and no walk that ends evaluates more often than before.
    for _ in 0..200 {
        let (mut v, word) = (0, rng.index(words));
        let mut valid = 0u64;
        let mut counts = [(0u32, 0u32); 64];
        for _ in 0..200 {
            let at = v as usize * words + word;
            valid |= inserted[at];
            ok &= out.replaced[at] & !valid == 0;
            let kept = code.uses[at] & !out.replaced[at];
            for (bit, count) in counts.iter_mut().enumerate() {
                count.0 += (code.uses[at] >> bit & 1) as u32;
                count.1 += ((inserted[at] | kept) >> bit & 1) as u32;
            }
            valid &= !code.kills[at];
            let next = code.flow.neighbors(v);
            if next.is_empty() {
                ok &= counts.iter().all(|&(before, after)| after <= before);
                break;
            }
            v = next.at(rng.index(next.len() as usize) as u32);
        }
    }
    ok
}

pub fn small(runtime: &Runtime, rng: &mut Rng) -> Res<bool> {
    let mut good = true;
    for n in [1, 2, 3, 5, 8, 20, 100, 1000, 4000] {
        for k in 0..if n < 50 { 20 } else { 4 } {
            let words = 1 + k % 3;
            let code = random(n, words, k % 2 == 0, rng);
            let mut session = motion::Session::new(runtime, &code.flow)?;
            let run = motion::Run { uses: &code.uses, kills: &code.kills, words: words as u32 };
            if !check(&code, words, &session.run(run)?, rng) {
                println!("motion WRONG for n = {n}, {words} words");
                good = false;
            }
        }
    }
    Ok(good)
}

pub fn large(runtime: &Runtime, settings: &Settings, rng: &mut Rng) -> Res<bool> {
    let words = 4;
    let code = random(settings.size.unwrap_or(100_000), words, true, rng);
    let mut session = motion::Session::new(runtime, &code.flow)?;
    let run = motion::Run { uses: &code.uses, kills: &code.kills, words: words as u32 };
    let (out, times) = measure(&mut session, settings, |s, out| s.run_into(run, out).map(|()| out.report.clone()))?;
    let good = check(&code, words, &out, rng);
    let what = format!("{} nodes, {} edges, 256 expressions", code.flow.node_count(), code.flow.edge_count());
    say("motion", &what, &times, &out.report, good);
    Ok(good)
}
