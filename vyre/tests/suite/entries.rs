//! Graphs that are included in fixpoints: each round runs them.

use vyre::prelude::*;
use vyre_tests::{backend_tests, graphs};

pub mod parts {
    use vyre::prelude::*;

    /// A search of some steps, which leaves its frontier as it is then.
    #[wave_graph]
    pub mod bfs {
        pub const FAR: u32 = u32::MAX;

        pub struct Data {
            #[topology]
            graph: Csr,
            #[frontier]
            front: Frontier,
            #[input(per = node)]
            start: u32,
            #[output(per = node, init = FAR)]
            dist: u32,
            #[scratch(per = node, bits = 40, init = true)]
            missing: Bits,
            #[scratch(per = 2, init = (3, 5))]
            looked: (u32, u64),
            #[output(per = 3)]
            looks: u64,
            #[reduce(count)]
            seeds: u64,
            #[reduce(max)]
            farthest: u32,
            steps: u32,
        }

        #[wave(nodes)]
        fn init(
            v: Node,
            start: &u32,
            dist: &mut u32,
            missing: &Bits,
            front: &Push,
            seeds: &Reduce<Count>,
        ) {
            if *start == 1 {
                *dist = 0;
                missing.unset(v, 1);
                front.push(v);
                seeds.inc();
            }
        }

        /// Asks for a reduction that the graph owns, or the fixpoint in which it is included.
        #[fixpoint(after(init), until(front.is_empty() || round + 1 >= steps && seeds > 0))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
                if dist[e.dst].compare_exchange(FAR, round + 1) {
                    front.push(e.dst);
                }
            }

            #[wave(once)]
            fn look(looked: &Records<(u32, u64)>, looks: &Buf<Atomic<u64>>) {
                let (a, b) = looked.get(1);
                looks[0].fetch_add(u64::from(a) + b);
                looks[1].fetch_add(1);
            }

            #[wave(once, after(look))]
            fn spoil(looked_0: &Buf<Atomic<u32>>) {
                looked_0[1].store(9);
            }
        }

        /// What is pushed here is swept in no round of this entry.
        #[wave(nodes, after(levels))]
        fn tail(
            v: Node,
            dist: &u32,
            missing: &Bits,
            farthest: &Reduce<Max<u32>>,
            looks: &Buf<Atomic<u64>>,
            front: &Push,
        ) {
            if *dist != FAR {
                farthest.max(*dist);
                front.push(v);
            }
            looks[2].fetch_add(40 - u64::from(missing.count(v)));
        }
    }

    /// Doubles a value some times, by two buffers that trade places.
    #[wave_graph]
    pub mod doubled {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[scratch(per = node, init = 1)]
            now: u64,
            #[scratch(per = node, init = 1)]
            next: u64,
            #[output(per = node)]
            last: u64,
            turns: u32,
        }

        #[fixpoint(until(round + 1 == turns), swap(now, next))]
        mod rounds {
            #[wave(nodes)]
            fn double(v: Node, now: &Buf<u64>, next: &mut u64) {
                *next += 2 * now[v];
            }
        }

        #[wave(nodes, after(rounds))]
        fn give(now: &u64, last: &mut u64) {
            *last += *now;
        }
    }
}

/// In each phase a search from another node.
#[wave_graph]
pub mod searches {
    pub struct Data {
        #[topology]
        roads: Csr,
        #[scratch(per = node)]
        chosen: u32,
        #[output(per = node)]
        reached: u32,
        #[output(per = node)]
        kept: u32,
        #[output(per = phases_left)]
        farthest: u32,
        phases_left: u32,
    }

    #[fixpoint(until(round + 1 == phases_left || bfs_seeds == 0), max_rounds = 1_000)]
    mod phases {
        #[include(graph = roads, start = chosen, after(choose))]
        use super::super::parts::bfs;

        #[wave(nodes)]
        fn choose(v: Node, phases: Round, chosen: &mut u32) {
            *chosen = u32::from(v == 2 * phases);
        }

        #[wave(nodes, after(bfs))]
        fn count(bfs_dist: &u32, phases: Round, reached: &Buf<Atomic<u32>>) {
            if *bfs_dist != u32::MAX {
                reached[phases].fetch_add(1);
            }
        }

        #[wave(once, after(bfs))]
        fn note(phases: Round, bfs_farthest: u32, farthest: &Buf<Atomic<u32>>) {
            farthest[phases].store(bfs_farthest);
        }
    }

    #[wave(nodes, after(phases))]
    fn keep(bfs_dist: &u32, kept: &mut u32) {
        *kept = *bfs_dist;
    }
}

/// Distances of at most some steps.
fn distances(graph: &Csr, source: usize, steps: u32) -> Vec<u32> {
    let mut dist = vec![u32::MAX; graph.node_count()];
    let Some(first) = dist.get_mut(source) else {
        return dist;
    };
    *first = 0;
    let mut front = vec![source as u32];
    for round in 0..steps {
        let mut next = Vec::new();
        for v in front {
            for w in graph.neighbors(v) {
                if dist[w as usize] == u32::MAX {
                    dist[w as usize] = round + 1;
                    next.push(w);
                }
            }
        }
        front = next;
    }
    dist
}

fn each_round_runs_the_included_graph(runtime: &Runtime) {
    let all = [
        graphs::chain(1),
        graphs::chain(9),
        graphs::chain(3_000),
        graphs::random_graph(500, 3_000),
    ];
    for graph in &all {
        let nodes = graph.node_count();
        let mut session = searches::Session::new(runtime, graph).expect("it fits");
        for (bfs_steps, phases_left) in [(1, 3), (2, 1), (3, nodes.min(9) as u32), (2, 6)] {
            let run = searches::Run {
                bfs_steps,
                phases_left,
            };
            let out = session.run(run).expect("it runs");
            let ends = (0..phases_left).find(|&p| 2 * p as usize >= nodes || p + 1 == phases_left);
            let phases = ends.expect("the last one ends it") + 1;
            let found = |p: u32| distances(graph, 2 * p as usize, bfs_steps);
            let mut farthest = vec![0; phases_left as usize];
            let mut reached = vec![0; nodes];
            for p in 0..phases {
                let near = found(p).into_iter().filter(|&d| d != u32::MAX);
                if let Some(count) = reached.get_mut(p as usize) {
                    *count = near.clone().count() as u32;
                }
                farthest[p as usize] = near.max().unwrap_or(0);
            }
            assert_eq!(out.reached, reached);
            assert_eq!(out.farthest, farthest);
            // Outputs and reductions are those of the last entry; rounds add up.
            let last = found(phases - 1);
            assert_eq!(out.bfs_dist, last);
            assert_eq!(out.kept, last);
            let seeds = u64::from(2 * (phases as usize - 1) < nodes);
            assert_eq!(out.bfs_seeds, seeds);
            assert_eq!(out.bfs_farthest, farthest[phases as usize - 1]);
            let [sum, rounds, holes] = out.bfs_looks[..] else {
                panic!("{:?}", out.bfs_looks);
            };
            assert_eq!((sum, holes), (8 + 14 * (rounds - 1), seeds));
            assert_eq!(out.report.rounds[0], u64::from(phases));
            assert!(out.report.rounds[1] >= rounds);
            if phases == 1 {
                assert_eq!(out.report.rounds[1], rounds);
            }
        }
    }
}

/// Two buffers that trade places begin anew wherever their memory is.
#[wave_graph]
pub mod powers {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        sum: u64,
    }

    #[fixpoint(until(round == 4), max_rounds = 10)]
    mod phases {
        #[include(graph = graph)]
        use super::super::parts::doubled;

        #[wave(nodes, after(doubled))]
        fn add(doubled_last: &u64, sum: &mut u64) {
            *sum += *doubled_last;
        }
    }
}

fn buffers_that_trade_places_begin_anew(runtime: &Runtime) {
    let graph = graphs::chain(70);
    let mut session = powers::Session::new(runtime, &graph).expect("it fits");
    for doubled_turns in [1, 2, 3, 6] {
        let out = session.run(powers::Run { doubled_turns }).expect("it runs");
        let (mut now, mut next) = (1, 1);
        for _ in 0..doubled_turns {
            next += 2 * now;
            (now, next) = (next, now);
        }
        assert_eq!(out.doubled_last, vec![now; 70]);
        assert_eq!(out.sum, vec![5 * now; 70]);
    }
}

pub mod more {
    use vyre::prelude::*;

    /// Looks from each of the first nodes, and has a part of its own that another graph may include.
    #[wave_graph]
    pub mod looks {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[scratch(per = node)]
            chosen: u32,
            #[scratch(per = node)]
            by: u32,
            #[output(per = node)]
            seen: u32,
            count: u32,
        }

        #[include(graph = graph)]
        pub use super::super::parts::doubled;

        #[fixpoint(until(round + 1 == count), max_rounds = 100)]
        mod turns {
            #[include(graph = graph, start = chosen, after(choose))]
            pub use super::super::super::parts::bfs as near;

            #[wave(nodes)]
            fn choose(v: Node, round: Round, chosen: &mut u32) {
                *chosen = u32::from(v == round);
            }

            #[wave(nodes, after(near))]
            fn mark(near_dist: &u32, by: &mut u32) {
                *by += u32::from(*near_dist != u32::MAX);
            }
        }

        #[wave(nodes, after(turns))]
        fn give(by: &u32, seen: &mut u32) {
            *seen += *by;
        }
    }
}

/// Fixpoints in included graphs have includes of their own.
#[wave_graph]
pub mod nested {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        sum: u64,
        most: u32,
    }

    #[fixpoint(until(round + 1 == most), max_rounds = 10)]
    mod outer {
        #[fixpoint(until(round == outer), max_rounds = 10)]
        mod inner {
            #[include(graph = graph)]
            use super::super::super::more::looks;

            #[wave(nodes, after(looks))]
            fn add(
                looks_seen: &u32,
                looks_doubled_last: &u64,
                looks_near_dist: &u32,
                sum: &mut u64,
            ) {
                *sum += u64::from(*looks_seen) + 1_000 * *looks_doubled_last;
                *sum += u64::from(*looks_near_dist == 0) * 1_000_000;
            }
        }
    }
}

fn what_is_included_in_included_graphs_runs_anew(runtime: &Runtime) {
    let graph = graphs::random_graph(60, 150);
    let mut session = nested::Session::new(runtime, &graph).expect("it fits");
    for most in [1, 3] {
        let run = nested::Run {
            looks_count: 4,
            looks_doubled_turns: 1,
            looks_near_steps: 2,
            most,
        };
        let out = session.run(run).expect("it runs");
        let entries = u64::from((1..=most).sum::<u32>());
        let seen = |v: usize| {
            let near = (0..4).filter(|&s| distances(&graph, s, 2)[v] != u32::MAX);
            near.count() as u64
        };
        let sum = |v: usize| entries * (seen(v) + 3_000 + u64::from(v == 3) * 1_000_000);
        assert!(
            out.sum.iter().copied().eq((0..60).map(sum)),
            "{:?}",
            out.sum
        );
        assert_eq!(out.report.rounds[0], u64::from(most));
    }
}

pub mod bounded {
    use vyre::prelude::*;

    /// Counts down.
    #[wave_graph]
    pub mod countdown {
        pub const MOST: u32 = 4;

        pub struct Data {
            #[output(per = 1)]
            left: u32,
            #[input(per = 1)]
            from: u32,
            #[reduce(max)]
            more: u32,
        }

        #[wave(once)]
        fn begin(from: &Buf<u32>, left: &Buf<Atomic<u32>>) {
            left[0].store(from[0]);
        }

        #[fixpoint(after(begin), until(more == 0), max_rounds = MOST)]
        mod steps {
            #[wave(once)]
            fn step(left: &Buf<Atomic<u32>>, more: &Reduce<Max<u32>>) {
                more.max(left[0].fetch_sub(1) - 1);
            }
        }
    }
}

/// The limit of rounds is for each entry.
#[wave_graph]
pub mod limited {
    pub struct Data {
        #[scratch(per = 1)]
        from: u32,
        last: u32,
    }

    #[fixpoint(until(round == last), max_rounds = 10)]
    mod phases {
        #[include(from = from, after(choose))]
        use super::super::bounded::countdown;

        #[wave(once)]
        fn choose(round: Round, from: &Buf<Atomic<u32>>) {
            from[0].store(round + 1);
        }
    }
}

fn each_entry_has_the_limit_of_rounds(runtime: &Runtime) {
    let mut session = limited::Session::new(runtime, ()).expect("it fits");
    let out = session.run(limited::Run { last: 3 }).expect("it runs");
    assert_eq!(out.report.rounds, [4, 10]);
    assert_eq!(out.countdown_left, [0]);
    let trap = session
        .run(limited::Run { last: 4 })
        .expect_err("five rounds are too many");
    assert!(trap.to_string().contains("4 rounds"), "{trap}");
}

pub mod by_parts {
    use vyre::prelude::*;

    /// Two steps from some nodes, in each part by itself; what is found last waits.
    #[wave_graph]
    pub mod flood {
        pub struct Data {
            #[topology]
            cfg: Csr,
            #[topology(parts_of = cfg)]
            funcs: Parts,
            #[frontier(unique)]
            front: Frontier,
            #[input(per = node)]
            start: u32,
            #[output(per = node)]
            level: u32,
        }

        #[wave(nodes)]
        fn begin(v: Node, start: &u32, level: &mut u32, front: &Push) {
            if *start == 1 {
                *level = 1;
                front.push(v);
            }
        }

        #[fixpoint(after(begin), per = funcs, until(round == 1))]
        mod steps {
            #[wave(edges(cfg, from = front))]
            fn step(e: Edge, round: Round, level: &Buf<Atomic<u32>>, front: &Push) {
                if level[e.dst].compare_exchange(0, round + 2) {
                    front.push(e.dst);
                }
            }
        }
    }
}

/// A graph with a local fixpoint in a fixpoint, and a graph in a local fixpoint.
#[wave_graph]
pub mod parted {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = cfg)]
        funcs: Parts,
        #[scratch(per = node)]
        start: u32,
        #[output(per = node)]
        sum: u64,
    }

    #[fixpoint(until(round == 2))]
    mod phases {
        #[include(cfg = cfg, funcs = funcs, start = start, after(choose))]
        use super::super::by_parts::flood;

        #[wave(nodes)]
        fn choose(v: Node, phases: Round, start: &mut u32) {
            *start = u32::from(v % 10 == 2 - phases);
        }
    }

    #[fixpoint(per = funcs, until(round == 1))]
    mod each {
        #[include(graph = cfg)]
        use super::super::parts::doubled;

        #[wave(nodes, after(doubled))]
        fn add(doubled_last: &u64, sum: &mut u64) {
            *sum += *doubled_last;
        }
    }
}

fn parts_begin_anew(runtime: &Runtime) {
    let cfg = graphs::chains(40, 10);
    let funcs = Parts::from_sizes([10; 4]).expect("40 nodes");
    let topology = parted::Topology {
        cfg: &cfg,
        funcs: &funcs,
    };
    let mut session = parted::Session::new(runtime, topology).expect("it fits");
    for doubled_turns in [1, 2] {
        let out = session.run(parted::Run { doubled_turns }).expect("it runs");
        let last = [3, 7][doubled_turns as usize - 1];
        assert_eq!(out.doubled_last, vec![last; 40]);
        assert_eq!(out.sum, vec![2 * last; 40]);
        // From the first node of each part, two steps.
        let level = |v: usize| [1, 2, 3].get(v % 10).copied().unwrap_or(0);
        assert!(out.flood_level.iter().copied().eq((0..40).map(level)));
    }
}

backend_tests!(
    each_round_runs_the_included_graph,
    buffers_that_trade_places_begin_anew,
    what_is_included_in_included_graphs_runs_anew,
    each_entry_has_the_limit_of_rounds;
    cpus: parts_begin_anew
);

#[test]
fn plans_show_what_an_entry_fills() {
    let plan = searches::PLAN.to_string();
    let filled = plan
        .lines()
        .find(|l| l.contains("filled each round of phases"));
    let filled = filled.unwrap_or_else(|| panic!("{plan}"));
    // The distances, two of 4 and 8 bytes, and three of 8.
    assert!(filled.contains("4 B x nodes + 48 B"), "{filled}");
    assert!(
        plan.contains("flips with bfs::levels, empty with phases"),
        "{plan}"
    );
    assert!(plan.contains("bfs::relax"), "{plan}");
}
