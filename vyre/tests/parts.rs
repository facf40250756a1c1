//! Fixpoints that each part of a graph runs by itself. What they mean is what the same fixpoint means on each part as a
//! graph of its own, so the same pass without parts, on one part after the other, says what is to come out.

#![allow(
    missing_docs,
    reason = "modules of tests, whose passes are public only to be like a user's"
)]

use vyre::core::vir0::container::{decode, encode};
use vyre::core::vir0::disasm;
use vyre::core::vir0::module::{BufferId, Extent, PartsId, Program, Role, Step, TopologyId};
use vyre::core::vir0::scalar::Scalar;
use vyre::core::vir0::verify::verify;
use vyre::prelude::*;
use vyre::{Error, FusedSession, RunError, Sessions, TrapKind};
use vyre_tests::backend_tests;
use vyre_tests::passes::bfs;
use vyre_tests::random::Random;

const FAR: u32 = u32::MAX;

/// One pass, with its parts or without.
macro_rules! flow {
    ($name:ident, { $($parts:tt)* }, { $($per:tt)* }) => {
        #[wave_graph]
        pub mod $name {
            use super::FAR;

            pub struct Data {
                #[topology]
                graph: Csr,
                #[topology(reverse_of = graph)]
                back: Csr,
                $($parts)*
                #[topology(per = edge(graph))]
                weight: u32,
                #[input(per = node)]
                own: u64,
                #[input(per = 3)]
                table: u32,
                #[output(per = node)]
                live: u64,
                #[output(per = node)]
                near: u32,
                #[output(per = node)]
                ahead: u32,
                #[output(per = node)]
                level: u32,
                #[output(per = node)]
                size: u32,
                #[output(per = node, bits = 40)]
                row: Bits,
                #[frontier]
                front: Frontier,
                #[frontier(unique)]
                changed: Frontier,
                #[reduce(sum)]
                moved: u32,
            }

            #[wave(nodes)]
            fn init(
                v: Node, graph: &Csr, own: &u64, live: &mut u64, near: &mut u32, level: &mut u32,
                front: &Push, changed: &Push,
            ) {
                *live = *own;
                *near = FAR;
                *level = FAR;
                changed.push(v);
                if graph.degree(v) == 0 || *own % 5 == 0 {
                    *near = (*own % 7) as u32;
                    *level = 0;
                    front.push(v);
                }
            }

            /// Shortest ways, all nodes at once: what counts is what the round before left.
            #[fixpoint($($per)* after(init), until(moved == 0), swap(near, ahead))]
            mod relax {
                #[wave(nodes)]
                fn step(
                    v: Node, graph: &Csr, weight: &Buf<u32>, table: &Buf<u32>, near: &Buf<u32>, ahead: &mut u32,
                    size: &mut u32, moved: &Reduce<Sum<u32>>,
                ) {
                    let mut best = near[v];
                    for e in graph.edges(v) {
                        let far = near[graph.target(e)];
                        if far != FAR {
                            best = best.min(far + weight[e] + table[weight[e] % 3]);
                        }
                    }
                    if best != near[v] {
                        moved.add(1);
                    }
                    *ahead = best;
                    *size += near.len() * 1000 + weight.len();
                }
            }

            /// A search against the edges.
            #[fixpoint($($per)* after(relax), until(front.is_empty()))]
            mod levels {
                #[wave(edges(back, from = front))]
                fn search(e: Edge, round: Round, level: &Buf<Atomic<u32>>, front: &Push) {
                    if level[e.dst].compare_exchange(FAR, round + 1) {
                        front.push(e.dst);
                    }
                }
            }

            /// What is live: the least fixpoint, whatever the order.
            #[fixpoint($($per)* after(levels), until(changed.is_empty()))]
            mod liveness {
                #[wave(items(changed))]
                fn flow(
                    v: Node, back: &Csr, level: &u32, live: &Buf<Atomic<u64>>, row: &Bits, changed: &Push,
                ) {
                    let mine = live[v].load();
                    row.set(v, *level % 40);
                    for u in back.neighbors(v) {
                        let more = mine & !(1 << (u64::from(u) % 2));
                        if live[u].fetch_or(more) & more != more {
                            changed.push(u);
                        }
                    }
                }
            }
        }
    };
}

flow!(whole, {}, {});
flow!(
    parted,
    { #[topology(parts_of = graph)] parts: Parts, },
    { per = parts, }
);

/// A graph without edges between its parts.
struct Cut {
    graph: Csr,
    parts: Parts,
    weight: Vec<u32>,
    own: Vec<u64>,
}

const TABLE: [u32; 3] = [3, 1, 2];

impl Cut {
    /// Parts with these numbers of nodes.
    fn new(sizes: &[u32], random: &mut Random) -> Cut {
        let parts = Parts::from_sizes(sizes.iter().copied()).unwrap();
        let mut edges = Vec::new();
        for part in 0..parts.len() {
            let nodes = parts.nodes(part);
            for v in nodes.clone() {
                let count = random.below(4);
                edges.extend(
                    (0..count).map(|_| (v, nodes.start + random.below(nodes.len() as u32))),
                );
            }
        }
        let nodes = *parts.offsets().last().unwrap();
        Cut {
            graph: Csr::from_edges(nodes as usize, &edges).unwrap(),
            parts,
            weight: edges.iter().map(|_| 1 + random.below(9)).collect(),
            own: (0..nodes).map(|_| random.bits() & random.bits()).collect(),
        }
    }

    fn session(&self, runtime: &Runtime) -> parted::Session {
        let topology = parted::Topology {
            graph: &self.graph,
            parts: &self.parts,
            weight: &self.weight,
        };
        parted::Session::new(runtime, topology).unwrap()
    }

    fn run(&self) -> parted::Run<'_> {
        parted::Run {
            own: &self.own,
            table: &TABLE,
        }
    }

    /// What the pass without parts gives on each part, with numbers in the order of the fixpoints, put together.
    fn expected(&self) -> parted::Output {
        let mut all = parted::Output::default();
        let mut words = Vec::new();
        all.report.rounds = vec![0; 3];
        for part in 0..self.parts.len() {
            let nodes = self.parts.nodes(part);
            let range = nodes.start as usize..nodes.end as usize;
            let offsets = self.graph.offsets();
            let edges = offsets[range.start] as usize..offsets[range.end] as usize;
            let inside = nodes.clone().flat_map(|v| {
                let start = nodes.start;
                self.graph
                    .neighbors(v)
                    .iter()
                    .map(move |w| (v - start, w - start))
            });
            let inside: Vec<(u32, u32)> = inside.collect();
            let topology = whole::Topology {
                graph: &Csr::from_edges(range.len(), &inside).unwrap(),
                weight: &self.weight[edges],
            };
            let mut session = whole::Session::new(&Runtime::vir0(), topology).unwrap();
            let run = whole::Run {
                own: &self.own[range],
                table: &TABLE,
            };
            let out = session.run(run).unwrap();
            all.live.extend(out.live);
            all.near.extend(out.near);
            all.ahead.extend(out.ahead);
            all.level.extend(out.level);
            all.size.extend(out.size);
            words.extend(out.row.into_words());
            for (most, rounds) in all.report.rounds.iter_mut().zip(out.report.rounds) {
                *most = rounds.max(*most);
            }
        }
        all.row = vyre::core::dsl::Bits::from_words(words, self.own.len() as u32, 40);
        all
    }

    fn check(&self, runtime: &Runtime) {
        let mut session = self.session(runtime);
        let expected = self.expected();
        for _ in 0..2 {
            let out = session.run(self.run()).unwrap();
            self.compare(&out, &expected);
        }
    }

    fn compare(&self, out: &parted::Output, expected: &parted::Output) {
        // How many rounds the last takes depends on the order in a round.
        assert_eq!(out.report.rounds[..2], expected.report.rounds[..2]);
        assert_eq!(out.live, expected.live);
        assert_eq!(out.row, expected.row);
        assert_eq!((&out.near, &out.ahead), (&expected.near, &expected.ahead));
        assert_eq!((&out.level, &out.size), (&expected.level, &expected.size));
    }
}

fn a_part_is_a_graph_of_its_own(runtime: &Runtime) {
    let mut random = Random(4);
    for sizes in [
        &[][..],
        &[0],
        &[1],
        &[0, 0, 1, 0],
        &[5, 0, 1, 7],
        &[3; 200],
        &[1, 300, 0, 2, 40, 1, 1],
    ] {
        Cut::new(sizes, &mut random).check(runtime);
    }
    for _ in 0..20 {
        let parts = random.below(40);
        let sizes: Vec<u32> = (0..parts)
            .map(|_| random.below(30) * random.below(2))
            .collect();
        Cut::new(&sizes, &mut random).check(runtime);
    }
}

fn a_part_of_any_size_has_the_same_meaning(runtime: &Runtime) {
    let mut random = Random(9);
    Cut::new(&[2, 12_000, 0, 10, 3_000, 1], &mut random).check(runtime);
}

fn liveness_is_that_of_global_rounds(runtime: &Runtime) {
    let mut random = Random(7);
    let sizes: Vec<u32> = (0..300).map(|_| random.below(20)).collect();
    let cut = Cut::new(&sizes, &mut random);
    let topology = whole::Topology {
        graph: &cut.graph,
        weight: &cut.weight,
    };
    let run = whole::Run {
        own: &cut.own,
        table: &TABLE,
    };
    let global = whole::Session::new(runtime, topology)
        .unwrap()
        .run(run)
        .unwrap();
    let local = cut.session(runtime).run(cut.run()).unwrap();
    // The kill sets here are of node numbers, which are the part's inside.
    assert_eq!(local.level, global.level);
    assert!(
        global
            .report
            .rounds
            .iter()
            .zip(&local.report.rounds)
            .all(|(g, l)| g >= l)
    );
}

/// Local fixpoints in a fixpoint, with one in them: what a part leaves waits for its next entry.
#[wave_graph]
pub mod nested {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph)]
        parts: Parts,
        #[frontier]
        seeds: Frontier,
        #[output(per = node)]
        seen: u32,
        #[output(per = node)]
        depth: u32,
        #[list(capacity = room, output)]
        log: List<(u32, u32)>,
        #[reduce(sum)]
        total: u32,
        turns: u32,
        room: u32,
    }

    #[wave(nodes)]
    fn start(v: Node, parts: &Buf<u32>, seeds: &Push) {
        for p in 1..parts.len() {
            if parts[p - 1] == v && parts[p] > v {
                seeds.push(v);
            }
        }
    }

    #[fixpoint(after(start), until(round + 1 == turns))]
    mod turns_ {
        #[fixpoint(per = parts, until(seeds.is_empty() || round == 1))]
        mod steps {
            #[wave(items(seeds))]
            fn visit(
                v: Node,
                round: Round,
                graph: &Csr,
                seen: &Buf<Atomic<u32>>,
                seeds: &Push,
                log: &Append<(u32, u32)>,
            ) {
                seen[v].fetch_add(10 + round);
                log.append((v, round));
                for w in graph.neighbors(v) {
                    seeds.push(w);
                }
            }

            #[fixpoint(after(visit), until(round == 2))]
            mod deeper {
                #[wave(nodes)]
                fn count(round: Round, depth: &mut u32) {
                    *depth += 1 + round;
                }
            }
        }

        #[wave(nodes, after(steps))]
        fn add(seen: &u32, total: &Reduce<Sum<u32>>) {
            total.add(*seen);
        }
    }
}

/// Parts that are chains, of these numbers of nodes.
fn chains(sizes: &[u32]) -> (Csr, Parts) {
    let parts = Parts::from_sizes(sizes.iter().copied()).unwrap();
    let mut edges = Vec::new();
    for part in 0..parts.len() {
        let nodes = parts.nodes(part);
        edges.extend(nodes.clone().skip(1).map(|v| (v - 1, v)));
    }
    let nodes = *parts.offsets().last().unwrap();
    (Csr::from_edges(nodes as usize, &edges).unwrap(), parts)
}

fn what_a_part_leaves_waits_for_its_next_entry(runtime: &Runtime) {
    let (graph, parts) = chains(&[4, 0, 1, 7, 2]);
    let topology = nested::Topology {
        graph: &graph,
        parts: &parts,
    };
    let mut session = nested::Session::new(runtime, topology).unwrap();
    let (turns, room) = (3, 100);
    let out = session.run(nested::Run { turns, room }).unwrap();
    // Two steps a turn: nodes 0 to 5 of each part, the steps in turns 0 and 1.
    let step = |at: u32| if at < 6 { 10 + at % 2 } else { 0 };
    let places = (0..parts.len()).flat_map(|p| 0..parts.nodes(p).len() as u32);
    let seen: Vec<u32> = places.clone().map(step).collect();
    assert_eq!(out.seen, seen);
    let mut log = out.log;
    log.sort_unstable();
    // Inside, a node is counted from the part's first.
    let mut logged: Vec<(u32, u32)> = places.filter(|&at| at < 6).map(|at| (at, at % 2)).collect();
    logged.sort_unstable();
    assert_eq!(log, logged);
    // A part takes a round until nothing is pushed, two at most; each has three of the fixpoint in it.
    let rounds = |len: u32| -> u32 {
        let all = (0..turns).map(|turn| match len.saturating_sub(2 * turn) {
            0 | 1 => 1,
            _ => 2,
        });
        all.sum()
    };
    let mut depth = Vec::new();
    for part in 0..parts.len() {
        let len = parts.nodes(part).len() as u32;
        depth.extend(vec![6 * rounds(len); len as usize]);
    }
    assert_eq!(out.depth, depth);
    // A sweep over the frontier each round of each part.
    let activity = out.report.activity.unwrap();
    let sweeps: u32 = (0..parts.len())
        .map(|p| rounds(parts.nodes(p).len() as u32))
        .sum();
    assert_eq!(
        (activity.items, activity.sweeps),
        (logged.len() as u64, sweeps.into())
    );
    assert_eq!(activity.widest, 1);
    // Of several entries, the sum of the most.
    assert_eq!(out.report.rounds, [3, 6, 18]);
    assert_eq!(out.total, seen.iter().sum::<u32>());
}

fn a_list_that_is_too_short_for_all_parts_traps_when_they_have_ended(runtime: &Runtime) {
    let (graph, parts) = chains(&[4, 0, 1, 7, 2]);
    let topology = nested::Topology {
        graph: &graph,
        parts: &parts,
    };
    let mut session = nested::Session::new(runtime, topology).unwrap();
    // Nodes 0 and 1 of each: 2 + 1 + 2 + 2.
    let trap = |out: Result<nested::Output, Error>| match out {
        Err(Error::Trap(trap)) => trap,
        other => panic!("{other:?}"),
    };
    let short = trap(session.run(nested::Run { turns: 1, room: 6 }));
    assert_eq!(
        (
            short.kind,
            short.kernel.as_str(),
            short.index,
            short.len,
            short.part.clone()
        ),
        (TrapKind::ListOverflow, "visit", 7, 6, None)
    );
    // One part alone has too much.
    let short = trap(session.run(nested::Run { turns: 1, room: 1 }));
    let part = short.part.clone().unwrap();
    assert_eq!(
        (part.field.as_str(), part.number, part.nodes),
        ("parts", 0, 0..4)
    );
    assert_eq!(
        (short.kind, short.index, short.len),
        (TrapKind::ListOverflow, 2, 1)
    );
    let fits = session.run(nested::Run { turns: 1, room: 7 }).unwrap();
    assert_eq!(fits.log.len(), 7);
}

/// What can go wrong in a part.
#[wave_graph]
pub mod wrong {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph)]
        parts: Parts,
        #[input(per = node)]
        jump: u32,
        #[input(per = 2)]
        table: u32,
        #[output(per = node)]
        sum: u32,
        #[reduce(count)]
        some: u64,
        most: u32,
    }

    #[wave(nodes)]
    fn init(sum: &mut u32) {
        *sum = 0;
    }

    #[fixpoint(after(init), per = parts, until(round >= most || some == 0), max_rounds = 5)]
    mod rounds {
        #[wave(nodes)]
        fn step(
            v: Node,
            round: Round,
            jump: &Buf<u32>,
            table: &Buf<u32>,
            sum: &mut u32,
            some: &Reduce<Count>,
        ) {
            some.inc();
            assert!(jump[v] != 1_000 + round, "a thousand and the round");
            if jump[v] >= 2_000 {
                *sum = table[jump[v] - 2_000];
            } else if jump[v] < 1_000 {
                *sum = jump[v + jump[v]];
            }
        }
    }
}

fn the_trap_is_that_of_the_lowest_part(runtime: &Runtime) {
    let (graph, parts) = chains(&[3, 0, 2, 4, 1]);
    let topology = wrong::Topology {
        graph: &graph,
        parts: &parts,
    };
    let mut session = wrong::Session::new(runtime, topology).unwrap();
    let mut trap = |jump: [u32; 10], most: u32| {
        let run = wrong::Run {
            jump: &jump,
            table: &[7, 8],
            most,
        };
        match session.run(run) {
            Ok(out) => Err(out.sum),
            Err(Error::Trap(trap)) => {
                Ok((trap.kind, trap.item, trap.index, trap.len, trap.to_string()))
            }
            Err(e) => panic!("{e}"),
        }
    };
    let fine = [1, 0, 2_001, 1, 0, 3, 0, 0, 0, 0];
    assert_eq!(trap(fine, 1), Err(vec![0, 0, 8, 0, 0, 0, 0, 0, 0, 0]));
    // In round 1 of part 2, and in round 0 of the later part 3, whose lane comes first in the order of time.
    let mut asserts = fine;
    (asserts[4], asserts[6]) = (1_001, 1_000);
    let (kind, item, .., text) = trap(asserts, 2).unwrap();
    assert_eq!((kind, item), (TrapKind::Assert, Some(1)));
    assert!(
        text.starts_with(
            "assertion failed: a thousand and the round in `step` at item 1 of part 2 of `parts` (nodes 3 to 4)"
        ),
        "{text}"
    );
    // An element of another part is none of this one.
    let mut outside = fine;
    outside[9] = 1;
    let (kind, item, index, len, text) = trap(outside, 1).unwrap();
    assert_eq!(
        (kind, item, index, len),
        (TrapKind::OutsidePart, Some(0), 1, 1)
    );
    assert!(
        text.starts_with(
            "index 1 is outside of `jump` (per = node, 1 node) in `step` at item 0 of part 4 of `parts` (node 9)"
        ),
        "{text}"
    );
    // What is no part's has its own length.
    outside[5] = 2_002;
    let (kind, item, index, len, _) = trap(outside, 1).unwrap();
    assert_eq!(
        (kind, item, index, len),
        (TrapKind::IndexOutOfBounds, Some(0), 2, 2)
    );
    // The round limit is each part's: that without nodes is done after one.
    let (kind, item, .., text) = trap(fine, 9).unwrap();
    assert_eq!((kind, item), (TrapKind::RoundLimit, None));
    assert!(text.contains("part 0 of `parts` (nodes 0 to 2)"), "{text}");
    assert!(trap(fine, 4).is_err());
}

/// How many steps each node is from the first of its part.
#[wave_graph]
#[pass(id = "test.parts.steps", unproven)]
pub mod steps {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph, crossing = dropped)]
        parts: Parts,
        #[output(per = node)]
        dist: u32,
        #[output(per = node)]
        out: u32,
        #[frontier]
        front: Frontier,
        by: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, parts: &Buf<u32>, dist: &mut u32, front: &Push) {
        *dist = 4_294_967_295;
        for p in 0..parts.len() - 1 {
            if parts[p] == v && parts[p + 1] > v {
                *dist = 0;
                front.push(v);
            }
        }
    }

    #[fixpoint(per = parts, after(init), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, by: u32, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(4_294_967_295, (round + 1) * by) {
                front.push(e.dst);
            }
        }

        #[wave(nodes)]
        fn degrees(v: Node, graph: &Csr, out: &mut u32) {
            *out = graph.degree(v);
        }
    }
}

const UNSEEN: u32 = u32::MAX;

fn crossing_edges_are_refused_or_left_out(runtime: &Runtime) {
    let parts = Parts::new(vec![0, 2, 2, 5]).unwrap();
    let graph = Csr::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)]).unwrap();
    let topology = steps::Topology {
        graph: &graph,
        parts: &parts,
    };
    let mut session = steps::Session::new(runtime, topology).unwrap();
    let out = session.run(steps::Run { by: 3 }).unwrap();
    assert_eq!(out.dist, [0, 3, 0, 3, 6]);
    assert_eq!(out.out, [1, 0, 1, 1, 0]);
    assert_eq!(out.report.rounds, [3]);

    let refused = |graph: &Csr, parts: &Parts| {
        let topology = wrong::Topology { graph, parts };
        wrong::Session::new(runtime, topology)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(&graph, &parts),
        "the parts `parts` are crossed by edge 1 of `graph`, from part 0 to node 2; `crossing = dropped` leaves such \
         edges out"
    );
    assert_eq!(
        refused(&graph, &Parts::new(vec![0, 2]).unwrap()),
        "the parts `parts` end at node 2; `graph` has 5 nodes"
    );
    assert_eq!(
        refused(&graph, &Parts::new(vec![0, 9]).unwrap()),
        "the parts `parts` end at node 9; `graph` has 5 nodes"
    );
    assert_eq!(
        Parts::new(vec![0, 3, 2]).unwrap_err().to_string(),
        "part 1 begins at node 3 and ends at node 2"
    );
    assert_eq!(
        Parts::new(vec![1, 3]).unwrap_err().to_string(),
        "the first part begins at node 1; it must be 0"
    );
    assert_eq!(
        Parts::new(vec![]).unwrap_err().to_string(),
        "bounds are empty; those of no parts are `[0]`"
    );
}

fn sessions_do_with_parts_what_they_do_without(runtime: &Runtime) {
    let (graph, parts) = chains(&[3, 2]);
    let (longer, other) = chains(&[1, 4, 1]);
    let of = |graph, parts| steps::Topology { graph, parts };
    let (first, second) = ([0, 2, 4, 0, 2], [0, 0, 2, 4, 6, 0]);
    let mut session = steps::Session::new(runtime, of(&graph, &parts)).unwrap();
    let series = session
        .run_series([1, 5, 2].map(|by| steps::Run { by }))
        .unwrap();
    assert_eq!(series.dist, first);
    for by in [2, 7] {
        session.submit(steps::Run { by }, 0);
    }
    let batch = session.run_batch().unwrap();
    assert_eq!(batch.results[0].1.as_ref().unwrap().dist, first);
    assert_eq!(batch.results[1].1.as_ref().unwrap().dist, [0, 7, 14, 0, 7]);
    // Another graph has other parts, and a graph that does not fit them leaves the session as it is.
    session.update(of(&longer, &other)).unwrap();
    assert_eq!(session.run(steps::Run { by: 2 }).unwrap().dist, second);
    assert!(session.update(of(&longer, &parts)).is_err());
    assert_eq!(session.run(steps::Run { by: 2 }).unwrap().dist, second);

    let both = [of(&graph, &parts), of(&longer, &other)];
    let mut sessions = Sessions::<steps::Pass>::new(runtime, both).unwrap();
    sessions.submit(1, steps::Run { by: 2 }, 0);
    sessions.submit(0, steps::Run { by: 2 }, 0);
    let batch = sessions.run_batch().unwrap();
    assert_eq!(batch.results[0].1.as_ref().unwrap().dist, second);
    assert_eq!(batch.results[1].1.as_ref().unwrap().dist, first);

    // Each of two passes has its own parts.
    let whole = Parts::from_sizes([6]).unwrap();
    let pair = (of(&longer, &other), of(&longer, &whole));
    let mut fused = FusedSession::<steps::Pass, steps::Pass>::new(runtime, pair, &[]).unwrap();
    let (a, b) = fused
        .run(steps::Run { by: 2 }, steps::Run { by: 2 })
        .unwrap();
    assert_eq!(
        (a.dist, b.dist),
        (
            second.to_vec(),
            vec![0, UNSEEN, UNSEEN, UNSEEN, UNSEEN, UNSEEN]
        )
    );
}

/// Two passes with parts in one: of one graph, and of another.
#[wave_graph]
pub mod twice {
    #[include(graph = graph, parts = parts, by = by)]
    use super::steps as forth;
    #[include(graph = back, by = by)]
    use super::steps as other;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph, crossing = dropped)]
        parts: Parts,
        #[topology]
        back: Csr,
        by: u32,
        #[output(per = node)]
        sum: u32,
    }

    #[wave(nodes, after(forth, other))]
    fn add(forth_dist: &u32, other_dist: &u32, sum: &mut u32) {
        *sum = *forth_dist * 100 + *other_dist;
    }
}

fn passes_with_parts_are_included(runtime: &Runtime) {
    let (graph, parts) = chains(&[3, 2]);
    let (back, other) = chains(&[1, 4]);
    let topology = twice::Topology {
        graph: &graph,
        parts: &parts,
        back: &back,
        other_parts: &other,
    };
    let mut session = twice::Session::new(runtime, topology).unwrap();
    let out = session.run(twice::Run { by: 1 }).unwrap();
    assert_eq!(out.sum, [0, 100, 201, 2, 103]);
}

/// A program that no GPU runs yet goes to the CPU, where there is one beside it.
#[test]
fn a_backend_without_parts_leaves_them_to_another_side() {
    let (graph, parts) = chains(&[3, 2]);
    let topology = || steps::Topology {
        graph: &graph,
        parts: &parts,
    };
    let said = "each of `parts` runs `levels` by itself, which the backend `cuda` does not do yet; `Runtime::auto()` and \
                `Runtime::native()` run it on the CPU";
    let device = vyre_tests::fake();
    match steps::Session::new(&device, topology()) {
        Err(Error::Run(e @ RunError::NoParts { .. })) => assert_eq!(e.to_string(), said),
        other => panic!("{other:?}"),
    }
    assert!(Sessions::<steps::Pass>::new(&device, [topology()]).is_err());
    let module = vyre::cuda::pass_ptx(&steps::PLAN.program(), 2.0, None);
    assert_eq!(module.expect_err("it has parts").to_string(), said);
    let both = || (&graph, topology());
    assert!(FusedSession::<bfs::Pass, steps::Pass>::new(&device, both(), &[]).is_err());

    let runtime = Runtime::among(device, [Runtime::native()]);
    let mut session = steps::Session::new(&runtime, topology()).unwrap();
    assert_eq!(session.backend(), "native");
    for _ in 0..3 {
        assert_eq!(
            session.run(steps::Run { by: 1 }).unwrap().dist,
            [0, 1, 2, 0, 1]
        );
    }
    assert_eq!(session.backend(), "native");
    session.update(topology()).unwrap();
    assert_eq!(
        session.run(steps::Run { by: 2 }).unwrap().dist,
        [0, 2, 4, 0, 2]
    );
    let explained = session.explain().to_string();
    assert!(explained.contains(said), "{explained}");
    let mut sessions = Sessions::<steps::Pass>::new(&runtime, [topology()]).unwrap();
    sessions.submit(0, steps::Run { by: 1 }, 0);
    assert_eq!(
        sessions.run_batch().unwrap().results[0]
            .1
            .as_ref()
            .unwrap()
            .dist,
        [0, 1, 2, 0, 1]
    );
    let mut fused = FusedSession::<bfs::Pass, steps::Pass>::new(&runtime, both(), &[]).unwrap();
    let (_, out) = fused
        .run(bfs::Run { source: 0 }, steps::Run { by: 1 })
        .unwrap();
    assert_eq!(out.dist, [0, 1, 2, 0, 1]);
}

/// Bytecode is held to the rules that the macros have said.
#[test]
fn bytecode_that_breaks_a_rule_is_refused() {
    let program = steps::PLAN.program();
    assert_eq!(verify(&program), Ok(()));
    assert_eq!(decode(&encode(&program)).as_ref(), Ok(&program));
    let text = disasm::program(&program);
    assert!(text.contains("each levels of parts\n"), "{text}");
    assert!(
        text.contains("bounds of parts of graph, crossing edges left out"),
        "{text}"
    );

    let refused = |change: &dyn Fn(&mut Program)| {
        let mut program = program.clone();
        change(&mut program);
        let errors = verify(&program).unwrap_err();
        errors
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    };
    let each = program
        .schedule
        .iter()
        .position(|s| matches!(s, Step::Each(..)))
        .unwrap();
    let Step::Each(fixpoint, bounds) = program.schedule[each] else {
        unreachable!("it is one")
    };
    let dist = BufferId(bounds.0 + 1);
    let said = refused(&|p| p.schedule[each] = Step::Each(fixpoint, dist));
    assert!(said.contains("its parts have no bounds"), "{said}");
    let said = refused(&|p| p.schedule[each] = Step::Each(fixpoint, BufferId(99)));
    assert!(
        said.contains("there is no buffer 99") || said.contains("99"),
        "{said}"
    );
    let said = refused(&|p| p.buffers[dist.index()].extent = Extent::Fixed(5));
    assert!(
        said.contains("a local fixpoint changes a buffer that is no part's"),
        "{said}"
    );
    let said = refused(&|p| p.buffers[dist.index()].role = Role::InOut);
    assert!(
        said.contains("a local fixpoint changes a buffer that is no part's"),
        "{said}"
    );
    let said = refused(&|p| p.frontiers[0].capacity = Extent::Fixed(5));
    assert!(
        said.contains("the capacity of a local fixpoint's frontier is not one of nodes or edges"),
        "{said}"
    );
    let said = refused(&|p| {
        p.buffers[bounds.index()].extent = Extent::Bounds(PartsId(1), TopologyId(0), false);
    });
    assert!(said.contains("these are no bounds of parts"), "{said}");
    let said = refused(&|p| p.buffers[bounds.index()].scalar = Scalar::I32);
    assert!(said.contains("these are no bounds of parts"), "{said}");
}

#[test]
fn the_plan_says_what_runs_part_by_part() {
    let plan = parted::PLAN.to_string();
    for line in [
        "  topology   parts    parts of graph                            4 B x (parts + 1)",
        "  fixpoint relax for each of `parts` (at most 1_000_000 rounds)",
        "  fixpoint levels for each of `parts` (at most 1_000_000 rounds)",
        "  on native  ",
        "  on vir0  ",
    ] {
        assert!(plan.contains(&format!("\n{line}")), "{plan}");
    }
    assert!(!plan.contains("on cuda"), "{plan}");
}

backend_tests!(cpus:
    a_part_is_a_graph_of_its_own,
    a_part_of_any_size_has_the_same_meaning,
    liveness_is_that_of_global_rounds,
    what_a_part_leaves_waits_for_its_next_entry,
    a_list_that_is_too_short_for_all_parts_traps_when_they_have_ended,
    the_trap_is_that_of_the_lowest_part,
    crossing_edges_are_refused_or_left_out,
    sessions_do_with_parts_what_they_do_without,
    passes_with_parts_are_included,
);
