//! Passes built from passes.

use vyre::prelude::*;
use vyre_tests::{backend_tests, graphs};

const UNSEEN: u32 = u32::MAX;

mod passes {
    /// Search for what a source reaches.
    pub(crate) mod search {
        use vyre::prelude::*;

        const FAR: u32 = u32::MAX;

        #[device]
        fn next(depth: u32) -> u32 {
            depth + 1
        }

        #[wave_graph]
        #[pass(id = "test.search", unproven)]
        pub(crate) mod bfs {
            pub(crate) struct Data {
                #[topology]
                graph: Csr,
                #[frontier]
                front: Frontier,
                #[output(per = node, init = FAR)]
                dist: u32,
                source: u32,
            }

            #[wave(nodes)]
            fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
                *dist = FAR;
                if v == source {
                    *dist = 0;
                    front.push(v);
                }
            }

            #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000)]
            mod levels {
                #[wave(edges(graph, from = front))]
                fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
                    if dist[e.dst].compare_exchange(FAR, next(round)) {
                        front.push(e.dst);
                    }
                }
            }
        }
    }
}

/// Nodes that reach the entry's end, and how far those are that do not: two searches over two graphs, then a count.
#[wave_graph]
#[pass(id = "test.between", unproven)]
mod between {
    #[include(graph = back, source = end)]
    use super::passes::search::bfs as backward;
    #[include(graph = graph, source = entry, dist = depth)]
    use super::passes::search::bfs as forward;

    struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[output(per = node, init = FAR)]
        depth: u32,
        #[scratch(per = node)]
        order: u32,
        #[reduce(count)]
        count: u64,
        entry: u32,
        end: u32,
    }

    const FAR: u32 = super::UNSEEN;

    #[wave(nodes)]
    fn clear(v: Node, order: &mut u32) {
        *order = v;
    }

    #[wave(nodes, after(backward, forward, clear))]
    fn tally(v: Node, depth: &u32, backward_dist: &u32, order: &u32, count: &Reduce<Count>) {
        if *order == v && *depth != FAR && *backward_dist != FAR {
            count.inc();
        }
    }
}

fn included_graphs_run_with_names_of_their_own(runtime: &Runtime) {
    let edges = [(0, 1), (1, 2), (2, 3), (1, 4), (5, 3)];
    let graph = Csr::from_edges(6, &edges).unwrap();
    let mut session = between::Session::new(runtime, &graph).unwrap();
    let out = session.run(between::Run { entry: 0, end: 3 }).unwrap();
    assert_eq!(out.depth, [0, 1, 2, 3, 2, UNSEEN]);
    assert_eq!(out.backward_dist, [3, 2, 1, 0, UNSEEN, 1]);
    assert_eq!(out.count, 4);
}

/// Two searches and nothing else.
#[wave_graph]
mod both {
    #[include(graph = backward, source = exit)]
    use super::passes::search::bfs as first;
    #[include(graph = forward, source = entry)]
    use super::passes::search::bfs as second;

    pub(crate) struct Data {
        #[topology]
        forward: Csr,
        #[topology]
        backward: Csr,
        entry: u32,
        exit: u32,
    }
}

fn a_graph_can_be_its_included_graphs_alone(runtime: &Runtime) {
    let forward = Csr::from_edges(3, &[(0, 1), (1, 2)]).unwrap();
    let backward = forward.reverse();
    let topology = both::Topology {
        forward: &forward,
        backward: &backward,
    };
    let mut session = both::Session::new(runtime, topology).unwrap();
    let out = session.run(both::Run { entry: 1, exit: 1 }).unwrap();
    assert_eq!(out.first_dist, [1, 0, UNSEEN]);
    assert_eq!(out.second_dist, [UNSEEN, 0, 1]);
    assert_eq!(out.report.rounds, [2, 2]);
}

/// Searches there and back, for others to include.
#[wave_graph]
pub(crate) mod round_trip {
    #[include(graph = there, source = from)]
    pub(crate) use super::passes::search::bfs as out;
    #[include(graph = back, source = from, dist = home)]
    pub(crate) use super::passes::search::bfs as home;

    pub(crate) struct Data {
        #[topology]
        there: Csr,
        #[topology(reverse_of = there)]
        back: Csr,
        #[output(per = node, init = UNSEEN)]
        home: u32,
        #[output(per = n)]
        seen: u32,
        n: u32,
        from: u32,
    }

    /// How many nodes are so far away.
    #[wave(nodes, after(out))]
    fn look(out_dist: &u32, seen: &Buf<Atomic<u32>>) {
        if *out_dist < seen.len() {
            seen[*out_dist].fetch_add(1);
        }
    }
}

/// Two round trips; the second counts as many distances as there are nodes.
#[wave_graph]
mod two_trips {
    #[include(there = roads, back = against, from = entry, n = 2)]
    use super::round_trip as first;
    #[include(there = roads, back = against, from = exit, n = node, seen = late, home = end)]
    use super::round_trip as second;

    struct Data {
        #[topology]
        roads: Csr,
        #[topology(reverse_of = roads)]
        against: Csr,
        #[output(per = node)]
        late: u32,
        #[output(per = node, init = UNSEEN)]
        end: u32,
        #[output(per = node)]
        sum: u32,
        entry: u32,
        exit: u32,
    }

    use super::UNSEEN;

    #[wave(nodes, after(first))]
    fn between(first_out_dist: &u32, first_home: &u32, sum: &mut u32) {
        *sum = first_out_dist.saturating_add(*first_home);
    }
}

fn included_graphs_include_others(runtime: &Runtime) {
    let roads = Csr::from_edges(5, &[(0, 1), (1, 2), (2, 0), (2, 3)]).unwrap();
    let mut session = two_trips::Session::new(runtime, &roads).unwrap();
    let out = session.run(two_trips::Run { entry: 0, exit: 3 }).unwrap();
    assert_eq!(out.first_out_dist, [0, 1, 2, 3, UNSEEN]);
    assert_eq!(out.first_home, [0, 2, 1, UNSEEN, UNSEEN]);
    assert_eq!(out.first_seen, [1, 1]);
    assert_eq!(out.sum, [0, 3, 3, UNSEEN, UNSEEN]);
    assert_eq!(out.second_out_dist, [UNSEEN, UNSEEN, UNSEEN, 0, UNSEEN]);
    assert_eq!(out.end, [3, 2, 1, 0, UNSEEN]);
    assert_eq!(out.late, [1, 0, 0, 0, 0]);
    assert_eq!(out.report.rounds.len(), 4);
}

/// What a source reaches over roads of some width, for each width.
#[wave_graph]
mod widths {
    pub(crate) struct Data {
        #[topology]
        roads: Csr,
        #[topology(per = edge(roads))]
        width: u32,
        #[scratch(per = 1)]
        level: u32,
        #[output(per = node)]
        reached: u32,
        #[output(per = node)]
        far: u32,
        entry: u32,
        levels: u32,
    }

    #[device]
    fn is_wide(e: Edge, width: &u32, level: &Buf<u32>) -> bool {
        if e.src == e.dst {
            return false;
        }
        *width > level[0]
    }

    #[fixpoint(until(round + 1 == levels), max_rounds = 100)]
    mod narrower {
        #[wave(once)]
        fn set(round: Round, level: &Buf<Atomic<u32>>) {
            level[0].store(round);
        }

        #[include(graph = roads, source = entry, edges = is_wide, after(set))]
        use super::super::passes::search::bfs;

        #[wave(nodes, after(bfs))]
        fn add(bfs_dist: &u32, reached: &mut u32, far: &mut u32) {
            if *bfs_dist != u32::MAX {
                *reached += 1;
                *far += *bfs_dist;
            }
        }
    }
}

/// A search around closed places, beside one that is not.
#[wave_graph]
mod detour {
    #[include(graph = roads, source = entry, edges = is_open)]
    use super::passes::search::bfs as around;
    #[include(graph = roads, source = entry)]
    use super::passes::search::bfs as through;

    const ENDS: u32 = 2;

    pub(crate) struct Data {
        #[topology]
        roads: Csr,
        #[input(per = node)]
        closed: [u32; 2],
        #[input(per = edge(roads))]
        surface: (u32, bool),
        most: u32,
        entry: u32,
        #[output(per = node)]
        longer: u32,
    }

    #[device]
    fn is_open(
        e: Edge,
        closed: &Records<[u32; 2]>,
        surface: &Records<(u32, bool)>,
        most: u32,
    ) -> bool {
        let ends = [e.src, e.dst];
        let mut sum = 0;
        for k in 0..ENDS {
            for times in closed.get(ends[k as usize]) {
                sum += times;
            }
        }
        sum <= most && surface.get(e.index) != (3, true)
    }

    #[wave(nodes, after(around, through))]
    fn compare(around_dist: &u32, through_dist: &u32, longer: &mut u32) {
        *longer = *around_dist - *through_dist;
    }
}

/// The edges that are left.
fn left(graph: &Csr, is_left: impl Fn(u32, u32, u32) -> bool) -> Csr {
    let mut edges = Vec::new();
    for src in 0..graph.node_count() as u32 {
        let of = graph
            .edges(src)
            .into_iter()
            .filter(|&e| is_left(e, src, graph.target(e)));
        edges.extend(of.map(|e| (src, graph.target(e))));
    }
    Csr::from_edges(graph.node_count(), &edges).expect("edges name nodes")
}

fn included_graphs_sweep_the_edges_that_are_left(runtime: &Runtime) {
    for roads in [graphs::wide(2_000, true), graphs::random_graph(600, 4_000)] {
        let nodes = roads.node_count();
        let width: Vec<u32> = (0..roads.edge_count() as u32).map(|e| e % 7).collect();
        let topology = widths::Topology {
            roads: &roads,
            width: &width,
        };
        let mut session = widths::Session::new(runtime, topology).expect("it fits");
        for (entry, levels) in [(0, 1), (5, 4), (0, 8)] {
            let out = session.run(widths::Run { entry, levels }).expect("it runs");
            let (mut reached, mut far) = (vec![0; nodes], vec![0; nodes]);
            for level in 0..levels {
                let wide = left(&roads, |e, src, dst| {
                    src != dst && width[e as usize] > level
                });
                for (v, dist) in graphs::distances(&wide, entry).into_iter().enumerate() {
                    if dist != UNSEEN {
                        reached[v] += 1;
                        far[v] += dist;
                    }
                }
            }
            assert_eq!((out.reached, out.far), (reached, far), "{entry}, {levels}");
        }
        let closed: Vec<[u32; 2]> = (0..nodes as u32)
            .map(|v| [u32::from(v % 5 == 1), u32::from(v % 7 == 1)])
            .collect();
        let surface: Vec<(u32, bool)> = (0..roads.edge_count() as u32)
            .map(|e| (e % 5, e % 2 == 1))
            .collect();
        let mut session = detour::Session::new(runtime, &roads).expect("it fits");
        for most in [0, 1, 3] {
            let run = detour::Run {
                closed: &closed,
                surface: &surface,
                most,
                entry: 0,
            };
            let out = session.run(run).expect("it runs");
            let open = |e: u32, src: u32, dst: u32| {
                let times = [src, dst].map(|v| closed[v as usize].iter().sum::<u32>());
                times[0] + times[1] <= most && e % 10 != 3
            };
            let around = graphs::distances(&left(&roads, open), 0);
            let through = graphs::distances(&roads, 0);
            let longer: Vec<u32> = around.iter().zip(&through).map(|(a, b)| a - b).collect();
            assert_eq!(out.longer, longer, "{most}");
            assert_eq!((out.around_dist, out.through_dist), (around, through));
        }
    }
}

#[test]
fn the_plan_shows_both_names_of_a_wave() {
    let plan = two_trips::PLAN.to_string();
    for name in [
        "first::out::relax",
        "second::home::levels",
        "first::look",
        "second_out_front",
    ] {
        assert!(plan.contains(name), "{name} in {plan}");
    }
}

#[test]
fn the_plan_shows_where_a_wave_comes_from() {
    let plan = between::PLAN.to_string();
    for name in [
        "backward::init",
        "forward::levels",
        "forward::relax",
        "backward_front",
        "tally",
    ] {
        assert!(plan.contains(name), "{name} in {plan}");
    }
    println!("{plan}");
}

/// Included below: what marked nodes reach, told in every way in which a pass gives back.
#[wave_graph]
pub mod flood {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[input(per = node)]
        seeds: u32,
        #[input(per = node, bits = 40)]
        mask: Bits,
        #[output(per = node)]
        reached: u32,
        #[output(per = node)]
        kept: u32,
        #[list(capacity = node, output)]
        order: List<u32>,
        #[reduce(count)]
        many: u64,
    }

    #[wave(nodes)]
    fn begin(v: Node, seeds: &u32, reached: &mut u32, front: &Push) {
        if *seeds > 0 {
            *reached = 1;
            front.push(v);
        }
    }

    #[fixpoint(after(begin), until(front.is_empty()))]
    mod spread {
        #[wave(edges(graph, from = front))]
        fn flow(e: Edge, reached: &Buf<Atomic<u32>>, front: &Push) {
            if reached[e.dst].compare_exchange(0, 1) {
                front.push(e.dst);
            }
        }
    }

    #[wave(nodes, after(spread))]
    fn tell(
        v: Node,
        reached: &u32,
        mask: &Bits,
        kept: &mut u32,
        order: &Append<u32>,
        many: &Reduce<Count>,
    ) {
        *kept = mask.count(v);
        if *reached > 0 {
            order.append(v);
            many.inc();
        }
    }
}

/// A flood in each round, from doors that are shut when a round begins, of whose results this graph gives none back.
#[wave_graph]
pub mod rooms {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node, reset = round)]
        doors: u32,
        #[scratch(per = node, bits = 40, init = true, reset = round)]
        locks: Bits,
        #[output(per = node)]
        sizes: u32,
        #[output(per = node)]
        locked: u32,
    }

    #[fixpoint(until(round == 2))]
    mod phases {
        #[wave(nodes)]
        fn open(v: Node, round: Round, doors: &mut u32, locks: &Bits) {
            if v % 3 == round {
                *doors = 1;
            }
            locks.unset(v, round);
        }

        #[include(graph = graph, seeds = doors, mask = locks, reached = _, order = _, many = _, after(open))]
        use super::super::flood;

        #[wave(nodes, after(flood))]
        fn sum(
            flood_reached: &u32,
            flood_kept: &u32,
            flood_many: u64,
            sizes: &mut u32,
            locked: &mut u32,
        ) {
            *sizes += *flood_reached * flood_many as u32;
            *locked += *flood_kept;
        }
    }
}

/// The same once, of whose results this graph gives one back.
#[wave_graph]
pub mod yard {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        doors: u32,
        #[input(per = node, bits = 40)]
        locks: Bits,
    }

    #[include(graph = graph, seeds = doors, mask = locks, reached = _, kept = _, order = _)]
    use super::flood;
}

fn results_of_included_graphs_may_be_private(runtime: &Runtime) {
    let graph = Csr::from_edges(7, &[(0, 1), (1, 4), (2, 2), (5, 6)]).expect("edges name nodes");
    let mut session = rooms::Session::new(runtime, &graph).expect("it fits");
    for _ in 0..2 {
        let out = session.run(rooms::Run {}).expect("it ends");
        let rooms::Output {
            sizes,
            locked,
            flood_kept,
            report: _,
        } = out;
        // From 0, 3 and 6: 0, 1, 3, 4, 6. From 1 and 4: 1, 4. From 2 and 5: 2, 5, 6.
        assert_eq!(sizes, [5, 7, 3, 5, 7, 3, 8]);
        assert_eq!((locked, flood_kept), (vec![3 * 39; 7], vec![39; 7]));
    }
    let mut session = yard::Session::new(runtime, &graph).expect("it fits");
    let out = session.run(yard::Run {
        doors: &[1, 0, 0, 0, 0, 1, 0],
        locks: &[0; 14],
    });
    let yard::Output {
        flood_many,
        report: _,
    } = out.expect("it ends");
    assert_eq!(flood_many, 5);
}

#[test]
fn what_is_included_runs_alone_as_before() {
    let graph = Csr::from_edges(3, &[(0, 1)]).unwrap();
    let mut session = passes::search::bfs::Session::new(&Runtime::native(), &graph).unwrap();
    let out = session.run(passes::search::bfs::Run { source: 0 }).unwrap();
    assert_eq!(out.dist, [0, 1, UNSEEN]);
}

backend_tests!(
    included_graphs_run_with_names_of_their_own,
    a_graph_can_be_its_included_graphs_alone,
    included_graphs_include_others,
    included_graphs_sweep_the_edges_that_are_left,
    results_of_included_graphs_may_be_private,
);
